# SPDX-License-Identifier: Apache-2.0
"""A session: requests go in, outcomes come out, over connections that may be cut at any time.

The driver of a flavour makes the connections, moves the bytes and calls at the times that `next_wake` says. It calls one
function at a time, gives the time in seconds of a clock that never goes back, and after each takes `completed`.
"""
from __future__ import annotations

import dataclasses
import heapq
import itertools
import random
from typing import Any, Optional

from ..checks import check_identifier, check_integer, check_type
from ..errors import BadBytes, Closed, Code, Full, NoAnswer, OutcomeUnknown, Refused, SessionLost, TooLarge, YkdError
from .call import BOUND, Call
from .changes import Changes, leaves_number
from .channel import Channel, State
from .envelopes import VERSION, Reply, decode_reply, encode_request

MOST_QUEUED = 10_000  # calls that are not answered
MOST_DONE = 100  # calls that are over among the deadlines
NUMBERS = 0x7FFFFFFF
DEFAULT_MAX_MESSAGE = 16 << 20
PING_LIMIT = 10.0
LEAST_REPLY = 8192
NOT_GREETED = "it has not greeted as a ykd"


@dataclasses.dataclass
class Options:
    """What Hello says. `largest_reply` is in bytes."""

    client: str = "ykd-python"
    role: str = "rm"
    token: Optional[str] = None
    largest_reply: int = 64 << 20
    ipc: bool = True

    def __post_init__(self) -> None:
        for name, text in (("client", self.client), ("role", self.role)):
            check_identifier(name, text)
        if self.token is not None:
            check_type("token", self.token, str)
        check_integer("largest_reply", self.largest_reply, 32, LEAST_REPLY)


class Session:
    """One session over `channels` connections; the first one carries the changes and opens the session."""

    def __init__(self, options: Options, channels: int = 1, chance: Optional[random.Random] = None) -> None:
        self._options = options
        self._chance = chance or random.Random()
        self.channels = [Channel(options.ipc, options.largest_reply + 4, self._chance) for _ in range(channels)]
        self._changes = Changes()
        self._ids = itertools.count(1)
        self._deadlines: list[tuple[float, int, Call]] = []
        self._open_calls = 0
        self._last_sent = 0.0
        self._fault = ""  # the last one, for people
        self.generation = 0  # one more with every session
        self.sid: Optional[bytes] = None
        self.boot_id = b""
        self.hello: dict[str, Any] = {}  # the reply to the last one
        self.ping_body: dict[str, Any] = {}
        self.fatal: Optional[Exception] = None  # no request is taken any more
        self.completed: list[Call] = []

    # --- requests ---

    def submit(self, call: Call, now: float) -> None:
        """Takes a call. Raises Full when too many wait, Closed or the refusal of Hello when no more are taken."""
        if self.fatal is not None:
            raise self.fatal
        if self._open_calls >= MOST_QUEUED:
            raise Full(f"{call.kind}: {MOST_QUEUED} requests of this client wait for their answers; wait for some")
        call.id = next(self._ids) & NUMBERS
        if call.time_limit is not None:
            call.deadline = now + call.time_limit
            heapq.heappush(self._deadlines, (call.deadline, call.id, call))
            if len(self._deadlines) > 2 * self._open_calls + MOST_DONE:
                self._deadlines = [entry for entry in self._deadlines if not entry[2].done]
                heapq.heapify(self._deadlines)
        call.counted = True
        self._open_calls += 1
        (self._changes.waiting if call.changes else self.channels[call.channel].queue).append(call)

    def cancel(self, call: Call) -> None:
        """Nobody waits for its outcome any more. What was sent may be carried out all the same."""
        if not call.done:
            self._withdraw(call, "the caller waits no longer")

    def close(self) -> None:
        """Ends: calls that are not answered end with Closed, connections are to be cut."""
        self._stop(Closed("this client is closed; make a new one"))

    # --- connections ---

    def wants_connection(self, number: int, now: float) -> bool:
        """Whether the driver shall connect now. It says connected() or disconnected() in the end."""
        channel = self.channels[number]
        return (self.fatal is None and channel.state is State.DOWN and now >= channel.act_at
                and self._has_say(number))

    def connecting(self, number: int) -> None:
        """The driver has begun to connect."""
        self.channels[number].state = State.CONNECTING

    def connected(self, number: int, now: float) -> None:
        """The connection is there, with TLS where that is spoken."""
        self.channels[number].connected(now)

    def disconnected(self, number: int, why: str, now: float) -> None:
        """It could not be made, or was cut; `why` is for people."""
        channel = self.channels[number]
        self._fault = f"{why}; {NOT_GREETED}" if channel.state is State.GREETING else why
        if channel.state is not State.DOWN:
            channel.disconnected(now)

    def received(self, number: int, data: bytes, now: float) -> None:
        """Bytes came. Raises BadBytes when the connection has to be cut."""
        channel = self.channels[number]
        replies = channel.reader.feed(data)
        if channel.state is State.GREETING and channel.reader.greeted:
            channel.greet(now)
        for request_number, message in replies:
            call = channel.under_way.get(request_number)
            if call is None:
                continue  # the reply to a request that nobody waits for any more
            reply = decode_reply(message)
            if reply.id != call.id and (reply.id != 0 or reply.ok) or reply.kind not in ("", call.kind):
                raise BadBytes(f"a reply to {reply.kind} {reply.id} with the request number of {call.kind} {call.id}")
            del channel.under_way[request_number]
            call.under_way = False
            if call is channel.hello:
                self._hello_answered(channel, call, reply, now)
            else:
                self._answered(channel, call, reply, now)

    def is_dead(self, number: int, now: float) -> bool:
        """Whether the driver shall cut the connection, and say disconnected(), because no answer comes any more."""
        channel = self.channels[number]
        return channel.state not in (State.DOWN, State.CONNECTING) and channel.dies_at() <= now

    def advance(self, now: float) -> None:
        """Does what the time asks for, and gives to `unwritten` what can go. Call it after everything else, and at next_wake."""
        while self._deadlines and (self._deadlines[0][0] <= now or self._deadlines[0][2].done):
            call = heapq.heappop(self._deadlines)[2]
            if not call.done:
                self._withdraw(call, f"no answer within {call.time_limit:g} s")
        for number, channel in enumerate(self.channels):
            if channel.state is State.HELLO and channel.hello is None and channel.hello_at <= now and self._has_say(number):
                self._say_hello(channel, now)
            self._write_ready(number, now)
        self._ping(now)

    def unwritten(self, number: int) -> bytearray:
        """What is to be written to the connection; the driver deletes from it what the socket took."""
        return self.channels[number].unwritten

    def next_wake(self, now: float) -> float:
        """When advance(), wants_connection() and is_dead() are to be asked again, at the latest."""
        times = [self._last_sent + self._ping_every()]
        if self._deadlines:
            times.append(self._deadlines[0][0])
        for number, channel in enumerate(self.channels):
            times.append(channel.dies_at())
            if self._has_say(number):
                times += [channel.act_at, channel.hello_at]
            times += [call.retry_at for call in channel.again]
        times += [call.retry_at for call in self._changes.numbered]
        return min((time for time in times if time > now), default=now + 60)

    # --- what happens to a call ---

    def _write_ready(self, number: int, now: float) -> None:
        channel = self.channels[number]
        while channel.may_write() and self.sid is not None:
            call = (self._changes.ready(now) if number == 0 else None) or channel.ready_read(now)
            if call is None:
                return
            message = encode_request(call.kind, call.id, self.sid, call.seq, call.ttl, call.body)
            most = self.limit("maxMessage", DEFAULT_MAX_MESSAGE)
            if len(message) + 4 > most:
                self._end(call, error=TooLarge(f"{call.kind}: the request has {len(message)} bytes and the daemon takes {most} "
                                               "(limits.maxMessage): send fewer elements in one request"))
                continue
            if call.changes:
                self._changes.sent(call)
            call.generation = self.generation
            self._last_sent = now
            channel.write(call, message, now)

    def _answered(self, channel: Channel, call: Call, reply: Reply, now: float) -> None:
        if reply.ok:
            self._changes.answered(call)
            self._end(call, outcome=reply.body)
            return
        refused = Refused(call.kind, reply.error)
        if refused.code == Code.E_SESSION_UNKNOWN:
            if not call.changes:
                channel.again.append(call)
            if call.generation == self.generation:
                self._lose_session(now)
        elif refused.code == Code.E_SEQ_GAP and call.changes:
            call.uncertain = False
            self._changes.gap(call, refused, now, self._ids)
        elif refused.retryable:
            call.refusal, call.uncertain = refused, False
            call.retry_at = now + channel.backoff.retry(refused.retry_after)
            if not call.changes:
                channel.again.append(call)
            elif call.abandoned:  # its number is free
                call.become_filler()
        else:
            if call.changes and leaves_number(refused) and not call.fills:
                self._changes.fill(call, next(self._ids) & NUMBERS)
            self._changes.answered(call)
            self._end(call, error=refused)

    def _end(self, call: Call, outcome: Optional[dict[str, Any]] = None, error: Optional[Exception] = None) -> None:
        """Gives the call its outcome, unless it has one."""
        if call.done:
            return
        call.done, call.outcome, call.error = True, outcome or {}, error
        if call.counted:
            self._open_calls -= 1
            self.completed.append(call)

    def _withdraw(self, call: Call, why: str) -> None:
        """Nobody waits for it any more. A change that was sent goes on, to use up its number."""
        if not call.changes:
            self.channels[call.channel].forget(call)
        going_on = call.changes and self._changes.forget(call)
        what = "it was sent and may have been carried out" if going_on else "it was not carried out" if call.changes else "ask again"
        if call.refusal is not None and not call.under_way and not call.uncertain:
            self._end(call, error=call.refusal)
        else:
            silent = self.channels[0 if call.changes else call.channel].state is State.GREETING
            fault = self._fault or (f"connected, but {NOT_GREETED}" if silent else "no connection was cut")
            self._end(call, error=NoAnswer(f"{call.kind}: {why}, {what}; {fault}", call.ever_sent))

    # --- sessions ---

    def limit(self, name: str, default: int) -> int:
        """One of the limits of the daemon, or `default` before they are known."""
        value = self.hello.get("limits", {}).get(name, default)
        return value if isinstance(value, int) and value > 0 else default

    def _say_hello(self, channel: Channel, now: float) -> None:
        body: dict[str, Any] = {"min": VERSION, "max": VERSION, "client": self._options.client, "role": self._options.role,
                                "maxMessage": self._options.largest_reply}
        if self._options.token is not None:
            body["token"] = self._options.token
        if self.sid is not None:
            body["resume"] = {"sid": self.sid, "bootID": self.boot_id}
        call = Call("Hello", body)
        call.id, call.generation = next(self._ids) & NUMBERS, self.generation
        channel.hello = call
        channel.write(call, encode_request("Hello", call.id, None, None, call.ttl, call.body), now)

    def _hello_answered(self, channel: Channel, call: Call, reply: Reply, now: float) -> None:
        channel.hello = None
        if not reply.ok:
            refused = Refused("Hello", reply.error)
            self._fault = str(refused)
            if not refused.retryable:
                self._stop(refused)
            channel.hello_at = now + channel.backoff.retry(refused.retry_after)
            return
        body = reply.body
        sid, boot_id = body.get("sid"), body.get("bootID")
        if not isinstance(sid, bytes) or not isinstance(boot_id, bytes) or not isinstance(body.get("limits", {}), dict):
            raise BadBytes("a reply to Hello without sid, bootID or limits")
        if not body.get("resumed"):
            if self.sid is not None and call.generation != self.generation:  # another connection opened a session meanwhile
                channel.hello_at = now
                return
            if self.sid is not None:
                self._lose_session(now)
            last = body.get("lastSeq", 0)
            self._changes.next_seq = (last if isinstance(last, int) else 0) + 1
            self.sid, self.boot_id = sid, boot_id
        self.hello, self._last_sent = body, now
        channel.state = State.OPEN
        channel.backoff.succeeded()

    def _lose_session(self, now: float) -> None:
        """What was said in the former session does not count any more. Bound calls and those that may have been carried out
        end with an error, others go on in the next session."""
        self.sid = None
        self.generation += 1
        if self.channels[0].state is State.OPEN:
            self.channels[0].greet(now)
        for call in self._changes.start_anew(0):
            self._end_former(call)
        for channel in self.channels:
            for call in list(channel.reads()):
                if call.kind in BOUND:
                    self._end_former(call)
                elif call.under_way and call is not channel.hello:
                    channel.forget(call)
                    call.under_way, call.retry_at = False, now
                    channel.again.append(call)

    def _end_former(self, call: Call) -> None:
        self.channels[call.channel].forget(call)
        place = "the daemon was restarted, or forgot the session"
        if call.changes and (call.uncertain or call.under_way):
            self._end(call, error=OutcomeUnknown(f"{call.kind}: {place}; it was sent and may have been carried out: look before "
                                                 "you repeat it"))
        elif call.kind in BOUND:
            self._end(call, error=SessionLost(f"{call.kind}: {place}; it was not carried out: register the resource manager again"))
        elif not call.abandoned:
            call.seq, call.under_way = None, False
            self._changes.waiting.append(call)

    def _has_say(self, number: int) -> bool:
        """Whether the connection may say Hello: only the first one opens a session."""
        return number == 0 or self.sid is not None

    def _ping_every(self) -> float:
        least = min(self.limit("livenessTimeoutMs", 30_000), self.limit("sessionTtlMs", 300_000))
        return max(0.1, least / 3000)

    def _ping(self, now: float) -> None:
        if self.sid is None or self.channels[0].state is not State.OPEN or now < self._last_sent + self._ping_every():
            return
        call = Call("Ping", self.ping_body, PING_LIMIT)
        call.id, self._last_sent = next(self._ids) & NUMBERS, now
        self.channels[0].queue.append(call)
        self._write_ready(0, now)

    def _stop(self, why: YkdError) -> None:
        """No request is taken any more; all calls end with `why`."""
        if self.fatal is None:
            self.fatal = why
        for call in [*self._changes.start_anew(0), *(call for channel in self.channels for call in channel.reads())]:
            self._end(call, error=self.fatal)
