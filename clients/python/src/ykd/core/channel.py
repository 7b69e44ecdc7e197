# SPDX-License-Identifier: Apache-2.0
"""One connection of a session: whether there is one, what is under way on it, and what is to be written to it."""
from __future__ import annotations

import collections
import enum
import math
import random
from typing import Iterator, Optional

from .backoff import Backoff
from .call import Call
from .frames import OUR_GREETING, FrameReader, encode_frame

MOST_READS = 32  # under way; with 16 changes fewer than the 64 that the daemon takes from a connection
MOST_UNWRITTEN = 1 << 20  # bytes; nothing is added while so much waits for the socket
SHAKING_LIMIT = 15.0  # seconds for greeting and Hello
OVERDUE = 15.0  # seconds beyond its ttl after which an answer does not come any more


class State(enum.Enum):
    """DOWN: no connection. CONNECTING: the driver makes one. GREETING, HELLO: not ready for requests. OPEN: ready."""

    DOWN = 0
    CONNECTING = 1
    GREETING = 2
    HELLO = 3
    OPEN = 4


class Channel:
    """The session owns it and decides; this keeps the connection's own state."""

    def __init__(self, ipc: bool, largest_reply: int, chance: random.Random) -> None:
        self._ipc, self._largest = ipc, largest_reply
        self.state = State.DOWN
        self.backoff = Backoff(chance)
        self.act_at = 0.0  # DOWN: when to connect; GREETING, HELLO: when it has taken too long
        self.hello_at = 0.0  # HELLO: when to send it
        self.hello: Optional[Call] = None
        self.reader = FrameReader(ipc, largest_reply)
        self.unwritten = bytearray()
        self.under_way: dict[int, Call] = {}
        self.again: list[Call] = []  # reads that were sent before
        self.queue: collections.deque[Call] = collections.deque()  # reads that were not

    def connected(self, now: float) -> None:
        """A connection was made: the greeting goes first."""
        self.reader = FrameReader(self._ipc, self._largest)
        self.unwritten = bytearray(OUR_GREETING)
        self.state, self.act_at = State.GREETING, now + SHAKING_LIMIT

    def greet(self, now: float) -> None:
        """Hello is to be said."""
        self.state, self.act_at, self.hello_at, self.hello = State.HELLO, now + SHAKING_LIMIT, now, None

    def disconnected(self, now: float) -> None:
        """The connection is gone: what was under way has to be sent again."""
        self.state, self.act_at = State.DOWN, now + self.backoff.failed()
        self.unwritten = bytearray()
        calls, self.under_way = [call for call in self.under_way.values() if call is not self.hello], {}
        self.hello = None
        for call in calls:
            call.under_way, call.uncertain, call.retry_at = False, True, now
            if not call.changes:
                self.again.append(call)

    def write(self, call: Call, message: bytes, now: float) -> None:
        """Puts a request behind what is to be written."""
        self.unwritten += encode_frame(call.id, message, self._ipc)
        self.under_way[call.id] = call
        call.under_way = call.ever_sent = True
        call.sent_at = now

    def may_write(self) -> bool:
        """Whether the socket keeps up."""
        return self.state is State.OPEN and len(self.unwritten) < MOST_UNWRITTEN

    def ready_read(self, now: float) -> Optional[Call]:
        """The next read to send, which is taken out of its list."""
        if sum(not call.changes for call in self.under_way.values()) >= MOST_READS:
            return None
        for at, call in enumerate(self.again):
            if call.retry_at <= now:
                return self.again.pop(at)
        return self.queue.popleft() if self.queue else None

    def dies_at(self) -> float:
        """When the connection counts as dead, since an answer has not come."""
        if self.state in (State.GREETING, State.HELLO):
            return self.act_at
        return min((call.sent_at + call.ttl / 1000 + OVERDUE for call in self.under_way.values()), default=math.inf)

    def reads(self) -> Iterator[Call]:
        """Every read that is not answered."""
        yield from (call for call in self.under_way.values() if not call.changes)
        yield from self.again
        yield from self.queue

    def forget(self, call: Call) -> None:
        """A read that nobody waits for any more."""
        if self.under_way.get(call.id) is call:
            del self.under_way[call.id]
        elif call in self.again:
            self.again.remove(call)
        elif call in self.queue:
            self.queue.remove(call)
