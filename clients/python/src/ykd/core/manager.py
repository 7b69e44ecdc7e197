# SPDX-License-Identifier: Apache-2.0
"""A resource manager as procedures. In the background one registers, recovers and sends what is in the outbox, one polls, and one
calls back; `put`, `serving`, `flush`, `sync` and `leave` are what a caller waits for.

Steps of procedures, and all functions, run one at a time: the driver has one lock, or one thread. `changed` are the topics that
procedures may wait for; the driver wakes them after each step, and clears it.
"""
from __future__ import annotations

import collections
import dataclasses
import logging
import random
import uuid
from typing import Any, Callable, Generator, Iterable, Mapping, Optional, Sequence

from ..checks import (LONGEST_CONFIG, LONGEST_MESSAGE, check_identifier, check_integer, check_list, check_optional, check_text, check_texts,
                      check_type)
from ..errors import Closed, Code, NoAnswer, NotServing, Refused, SessionLost, YkdError
from ..values import ANSWERED, CoreState, Rejection, Release, TerminationType
from . import recovery
from .backoff import Backoff
from .books import Books, Event
from .effects import Effect, Invoke, Request, Topic, Wait
from .items import events_of
from .outbox import WORDS, Element, Outbox, refused_element
from .sending import Part, Refusal, halves, send

LOGGER = logging.getLogger("ykd")
REGISTER_AGAIN = frozenset((Code.E_RM_UNKNOWN, Code.E_RESYNC_REQUIRED, Code.E_SESSION_UNKNOWN, Code.E_ACK_OLD, Code.E_ACK_FUTURE,
                            Code.E_STREAM_EPOCH))
TAKEN_OVER = frozenset((Code.E_SUPERSEDED, Code.E_FORBIDDEN))
POLLS = 1  # the connection of polls and of answers to calls
Procedure = Generator[Effect, Any, Any]


@dataclasses.dataclass
class Registration:
    """What the resource manager says of itself."""

    rm_id: str
    config: Optional[str] = None
    version: str = ""
    policy_group: str = ""
    extra_config: Optional[Mapping[str, str]] = None
    capabilities: Sequence[str] = ()
    if_registered: str = "drop"
    max_quarantined: int = 0
    recover: bool = False  # also the first time
    poll_wait_ms: int = 10_000

    def __post_init__(self) -> None:
        check_identifier("rm_id", self.rm_id)
        check_text("config", "" if self.config is None else self.config, LONGEST_CONFIG)
        check_text("version", self.version, LONGEST_MESSAGE)
        check_optional("policy_group", self.policy_group)
        check_texts("extra_config", {} if self.extra_config is None else self.extra_config)
        check_list("capabilities", self.capabilities)
        for text in (*self.capabilities, self.if_registered):
            check_optional("capabilities, if_registered", text)
        check_integer("max_quarantined", self.max_quarantined, 64)
        check_type("recover", self.recover, bool)


class ManagerCore:
    """The state that both flavours share."""

    def __init__(self, registration: Registration, most_waiting: int, clock: Callable[[], float]) -> None:
        check_integer("most_waiting", most_waiting, 64)
        self.registration = registration
        self.books = Books()
        self.outbox = Outbox(most_waiting)
        self.changed: set[Topic] = set()
        self.life = 0  # one more with every registration
        self.registered = False
        self.recovering = False
        self.stream_epoch = 0
        self.handled = 0  # the last item of this life whose callbacks were called
        self.in_request = False  # elements of the outbox are in a request
        self.begun = False
        self.stopped: Optional[YkdError] = None
        self.state = CoreState.NEW
        # Callbacks to be called: the life that they are of, the item that is handled behind them, and the callback.
        self._queue: collections.deque[tuple[int, Optional[int], Optional[Event]]] = collections.deque()
        self._backoff, self._attempts = Backoff(random.Random()), 0  # of registrations that did not end in serving
        self._leaving = False
        self._called = 0  # how many have left the queue
        self._clock = clock

    # --- what others change ---

    def restore(self, elements: Iterable[Element]) -> None:
        """What exists already, before the first registration: it is reported, and not announced."""
        self.books.sending(elements)
        self.books.announce_all()

    def begin(self) -> None:
        """The driver may run the procedures. Raises RuntimeError the second time."""
        if self.begun:
            raise RuntimeError(f"resource manager {self.registration.rm_id} was already started")
        self.begun = True

    def stop(self, why: YkdError) -> None:
        """No procedure goes on."""
        if self.stopped is None:
            self.stopped = why
            self.registered = False
            self.changed.update(Topic)

    def release_for(self, release: Release) -> Release:
        """The confirmation of a release that the daemon asked for. A daemon that did not ask for it, because another one did,
        gets one of the resource manager's own."""
        check_type("release", release, Release)
        asked = self.books.asked_in.get((release.partition, release.application_id, release.key))
        own = release.termination_type not in ANSWERED or asked != self.life
        return dataclasses.replace(release, termination_type=TerminationType.STOPPED_BY_RM) if own else release

    # --- procedures ---

    def background(self) -> dict[str, Procedure]:
        """The procedures that run until the resource manager has stopped, by their names."""
        found = {"updates": self._updates(), "polls": self._polls(), "callbacks": self._callbacks()}
        return {name: self._guard(name, procedure) for name, procedure in found.items()}

    def _guard(self, name: str, procedure: Procedure) -> Procedure:
        """A fault of this package ends the resource manager, and does not leave it half at work."""
        try:
            yield from procedure
        except BaseException as error:  # also SystemExit and CancelledError
            why = NotServing(f"resource manager {self.registration.rm_id} has stopped because its {name} ended: {error!r}")
            why.__cause__ = error
            self.stop(why)
            if not isinstance(error, Exception):
                raise
            LOGGER.exception("%s", why)

    def _updates(self) -> Procedure:
        """Registers, and sends what is in the outbox."""
        while self.stopped is None:
            try:
                if self._leaving:
                    yield Wait(Topic.OUTBOX)
                    continue
                if not self.registered:
                    yield from self._pause()
                    yield from self._register()
                    self._attempts = 0
                elements = self.outbox.take()
                if elements:
                    yield from self._send(elements)
                else:
                    yield Wait(Topic.OUTBOX)
            except SessionLost:
                self._lost(self.life)
            except Closed as error:
                self.stop(error)
            except Refused as error:
                if error.code in REGISTER_AGAIN:
                    self._lost(self.life)
                else:
                    self._give_up(error)

    def _polls(self) -> Procedure:
        """Takes items into the books as they come, and their callbacks into the queue."""
        while self.stopped is None:
            if not self.registered or self._queue:  # what is not handled would come again at once
                yield Wait(Topic.POLLS)
                continue
            life = self.life
            try:
                reply = yield Request("Poll", {"rmID": self.registration.rm_id, "streamEpoch": self.stream_epoch, "ack": self.handled,
                                               "waitMs": self.registration.poll_wait_ms}, None, POLLS)
            except SessionLost:
                self._lost(life)
            except Closed as error:
                self.stop(error)
            except Refused as error:
                if life == self.life and error.code in REGISTER_AGAIN:
                    self._lost(life)
                elif life == self.life and self.registered:
                    self._give_up(error)
            else:
                self._take(reply.get("items") or [], life)

    def _callbacks(self) -> Procedure:
        """Calls back for what is in the queue, to its end."""
        while self.stopped is None or self._queue:
            if not self._queue:
                yield Wait(Topic.QUEUE)
                continue
            life, number, event = self._queue[0]
            if event is not None:
                yield from self._invoke(event)
            self._queue.popleft()
            self._called += 1
            if number is not None and life == self.life:
                self.handled = number
            if not self._queue:
                self.changed.update((Topic.STATE, Topic.POLLS))
        yield from self._invoke(Event("stopped", self.stopped))

    def serving(self, time_limit: float) -> Procedure:
        """Until it is registered, and has recovered."""
        end = self._clock() + time_limit
        while not self.registered or self.recovering:
            yield from self._wait(end, "it was not registered")

    def flush(self, time_limit: float) -> Procedure:
        """Until the daemon has accepted all that is in the outbox now."""
        end = self._clock() + time_limit
        while self.outbox or self.in_request or not self.registered or self.recovering:
            yield from self._wait(end, f"{len(self.outbox)} elements were not accepted")

    def sync(self, time_limit: float) -> Procedure:
        """Until all of that was carried out, and its callbacks were called."""
        end = self._clock() + time_limit
        while True:
            yield from self.flush(end - self._clock())
            life = self.life
            try:
                reply = yield Request("Sync", {"rmID": self.registration.rm_id}, max(0.001, end - self._clock()))
            except SessionLost:
                self._lost(life)
                continue
            except Refused as error:
                if error.code not in REGISTER_AGAIN:
                    raise
                self._lost(life)
                continue
            queued = self._called + len(self._queue)
            while life == self.life and self.registered and (self.handled < reply.get("streamNext", 0) - 1 or self._called < queued):
                yield from self._wait(end, "callbacks are not handled")
            if life == self.life and self.registered:
                return

    def leave(self, force: bool, time_limit: float) -> Procedure:
        """Until the daemon has no such resource manager any more."""
        end = self._clock() + time_limit
        while True:
            yield from self.sync(end - self._clock())
            life, self._leaving = self.life, True  # a poll may learn of it before this does
            try:
                yield Request("UnregisterResourceManager", {"rmID": self.registration.rm_id, "force": force},
                              max(0.001, end - self._clock()))
            except SessionLost:
                self._lost(life)
            except Refused as error:
                if error.code != Code.E_RM_UNKNOWN:
                    raise
                self._lost(life)
            else:
                self.stop(Closed(f"resource manager {self.registration.rm_id} has left; make a new one"))
                return
            finally:
                self._leaving = False
                self.changed.update(Topic)

    def put(self, list_name: str, maps: list[dict[str, Any]], time_limit: Optional[float]) -> Procedure:
        """Puts elements into the outbox, all or none, when they fit."""
        end = None if time_limit is None else self._clock() + time_limit
        while self.stopped is None and not self.outbox.fits(len(maps)) and (end is None or self._clock() < end):
            yield Wait(Topic.SPACE, None if end is None else end - self._clock())
        if self.stopped is not None:
            raise self.stopped
        self.outbox.add(list_name, maps)
        self.changed.add(Topic.OUTBOX)

    # --- steps ---

    def _wait(self, end: float, what: str) -> Procedure:
        if self.stopped is not None:
            raise self.stopped
        left = end - self._clock()
        if left <= 0:
            raise self.overdue(what)
        yield Wait(Topic.STATE, left)

    def overdue(self, what: str) -> NoAnswer:
        """What to raise when the time limit of a caller is over."""
        return NoAnswer(f"resource manager {self.registration.rm_id}: {what} within the time limit", True)

    def _lost(self, life: int) -> None:
        """The daemon has forgotten the resource manager, if this is about its present life."""
        if life == self.life and self.registered:
            self.registered = False
            self.changed.update((Topic.OUTBOX, Topic.STATE))

    def _give_up(self, error: Refused) -> None:
        taken = "another process has taken it over" if error.code in TAKEN_OVER else "the daemon refuses it"
        why = NotServing(f"resource manager {self.registration.rm_id} has stopped, {taken}: {error}")
        why.__cause__ = error
        self.stop(why)

    def _register(self) -> Procedure:
        """Registers, with a recovery where there is something to report."""
        again = self.life > 0
        recovers = again or self.registration.recover or not self.books.is_empty()
        if recovers:
            self._call_back(self.books.start_anew())
        id = uuid.uuid4().hex
        snapshot = recovery.snapshot_of(self.books)
        body = self._registration_body(snapshot, id if recovers else None, "refuse" if again else self.registration.if_registered)
        try:
            reply = yield Request("RegisterResourceManager", body)
        except Refused as error:
            if not again or error.code != Code.E_BUSY_STATE or error.details.get("streamEpoch") != self.stream_epoch:
                raise
            reply = yield Request("RegisterResourceManager", {**body, "ifRegistered": "drop"})  # it is this one, as it was before
        kept = reply.get("kept") is True
        self.life, self.stream_epoch = self.life + 1, reply.get("streamEpoch", 0)
        self.handled = reply.get("lastAck", 0) if kept else 0
        self.state = CoreState(reply["coreState"]) if reply.get("coreState") in CoreState._value2member_map_ else self.state
        self.registered, self.recovering = True, recovers and not kept
        self.changed.update((Topic.POLLS, Topic.STATE))
        if self.recovering:
            yield from recovery.replay(self.registration.rm_id, snapshot)
            try:
                yield from recovery.claim(self.registration.rm_id, id, snapshot)
            except Refused as error:
                if error.code != Code.E_BAD_STATE:
                    raise
                LOGGER.error("resource manager %s: %s; see ykctl recovery", self.registration.rm_id, error)
            self.recovering = False
            self.changed.add(Topic.STATE)

    def _pause(self) -> Procedure:
        """A registration that fails before it has recovered is tried again at growing intervals."""
        end = self._clock() + (self._backoff.failed() if self._attempts else 0)
        if self._attempts == 0:
            self._backoff.succeeded()
        self._attempts += 1
        while self.stopped is None and self._clock() < end:
            yield Wait(Topic.STATE, end - self._clock())

    def _registration_body(self, snapshot: recovery.Snapshot, recovery_id: Optional[str], if_registered: str) -> dict[str, Any]:
        mine = self.registration
        body: dict[str, Any] = {"rmID": mine.rm_id, "version": mine.version, "policyGroup": mine.policy_group,
                                "capabilities": sorted({"reportIgnored", *mine.capabilities}), "ifRegistered": if_registered}
        if mine.config is not None:
            body["config"] = mine.config
        if mine.extra_config is not None:
            body["extraConfig"] = dict(mine.extra_config)
        if recovery_id is not None:
            body["recovery"] = {"id": recovery_id, "expected": {**snapshot.expected(), "asks": len(snapshot.asks)},
                                "autoAccept": {"maxQuarantined": mine.max_quarantined}}
        return body

    def _send(self, elements: list[Element]) -> Procedure:
        """Sends elements in one request, or in several where one is refused as a whole because of some."""
        self.books.sending(elements)
        self.in_request = True
        self.changed.add(Topic.SPACE)
        try:
            yield from send(self.registration.rm_id, elements, self._without_refused, self._accepted)
        finally:
            self.in_request = False
            if not self.outbox:
                self.changed.add(Topic.STATE)

    def _accepted(self, part: Part) -> None:
        found = [self.books.accepted_release(element.map) for element in part if element.list_name == "allocationsToRelease"]
        self._call_back(event for event in found if event is not None)

    def _without_refused(self, part: Part, error: Refusal) -> list[Part]:
        """What is to be sent yet of a request that was refused: all but the wrong element, or both halves."""
        if isinstance(error, Refused):
            if error.code in REGISTER_AGAIN or error.code in TAKEN_OVER:
                raise error
            code, wrong = error.code, refused_element(part, error.path)
        else:
            code, wrong = Code.E_LIMIT, None
        if wrong is None and len(part) > 1:
            return halves(part)
        wrong = wrong or part[0]
        self.books.refused(wrong)
        ids = wrong.map
        self._call_back([Event("rejected", Rejection(
            WORDS[wrong.list_name], code, str(error), ids.get("nodeID", ""), ids.get("applicationID", ""), ids.get("allocationKey", ""),
            ids.get("partitionName", "default")))])
        rest = [element for element in part if element is not wrong]
        return [rest] if rest else []

    def _take(self, items: list[Mapping[str, Any]], life: int) -> None:
        """Takes items into the books at once; what a former life of the stream said does not count any more."""
        if life != self.life or not self.registered:
            return
        for item in items:
            number = item.get("n", 0)
            if number <= self.handled:
                continue
            events = events_of(item, self.books, life)
            for event in events[:-1]:
                self._queue.append((life, None, event))
            self._queue.append((life, number, events[-1] if events else None))
            for event in events:
                if event.method == "state_changed":
                    self.state = event.argument
        self.changed.add(Topic.QUEUE)

    def _call_back(self, events: Iterable[Event]) -> None:
        """Callbacks that follow from no item."""
        self._queue.extend((self.life, None, event) for event in events)
        self.changed.add(Topic.QUEUE)

    def _invoke(self, event: Event) -> Procedure:
        if event.method == "call":
            yield from self._answer_call(event.argument)
            return
        try:
            yield Invoke(event)
        except Exception as error:
            LOGGER.exception("the callback %s() of resource manager %s raised %r; what it was about counts as handled",
                             event.method, self.registration.rm_id, error)
            yield from self._report_failure(event, error)

    def _report_failure(self, event: Event, error: Exception) -> Procedure:
        try:
            yield Invoke(Event("callback_failed", (event.method, error)))
        except Exception as second:
            LOGGER.exception("callback_failed() of resource manager %s raised %r", self.registration.rm_id, second)

    def _answer_call(self, item: Mapping[str, Any]) -> Procedure:
        answer: dict[str, Any] = {"rmID": self.registration.rm_id, "streamEpoch": self.stream_epoch, "call": item["call"]}
        try:
            result = yield Invoke(Event("call_" + CALLS[item["kind"]], item.get("body") or {}))
            answer.update(ok=True, result=result)
        except Exception as error:
            LOGGER.exception("the call %s to resource manager %s raised %r", item.get("kind"), self.registration.rm_id, error)
            answer.update(ok=False, error=f"{type(error).__name__}: {error}")
        try:
            yield Request("CallResult", answer, item.get("ttl", 10_000) / 1000, POLLS)
        except (YkdError, TypeError, ValueError) as error:
            LOGGER.warning("the answer to the call %s of resource manager %s was not sent: %s", item.get("kind"), self.registration.rm_id, error)


CALLS = {"Predicates": "predicates", "PreemptionPredicates": "preemption_predicates", "UpdateConfiguration": "store_configuration",
         "GetStateDump": "state_dump"}
