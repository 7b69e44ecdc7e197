# SPDX-License-Identifier: Apache-2.0
"""A resource manager for programs with threads."""
from __future__ import annotations

import inspect
import ssl
import threading
import time
from types import TracebackType
from typing import Any, Mapping, Optional, Sequence, Type

from .addresses import address_for
from .callbacks import Callbacks
from .checks import check_type
from .core import elements
from .core.effects import Invoke, Request, Topic, Wait
from .core.manager import ManagerCore, Procedure, Registration
from .core.session import Options
from .errors import Closed
from .link import Link
from .values import Allocation, Application, Ask, CoreState, Node, Release

TIME_LIMIT = 30.0  # seconds
MOST_WAITING = 100_000  # elements


class ResourceManager:
    """Owns nodes and applications and has asks placed. Every method may be called from any thread.

    Methods that add or remove something return when it is in the outbox, and wait while `most_waiting` elements are there; the
    daemon gets it in batches, in order, and what becomes of it comes by callback. When the connection breaks it is made again and
    nothing is lost or done twice. When the daemon was restarted the resource manager registers again and reports what it has.

    It has five threads: two for the connections, one each to send, to poll and to call back.
    """

    def __init__(self, address: str, rm_id: str, callbacks: Optional[Callbacks] = None, *, config: Optional[str] = None, version: str = "",
                 policy_group: str = "", extra_config: Optional[Mapping[str, str]] = None, capabilities: Sequence[str] = (),
                 if_registered: str = "drop", recover: bool = False, max_quarantined: int = 0, client: str = "ykd-python",
                 token: Optional[str] = None, tls: Optional[ssl.SSLContext] = None, most_waiting: int = MOST_WAITING) -> None:
        """Nothing is sent before start().

        `config` is the text of a queue configuration; None for the daemon's. `capabilities` and `if_registered` are those of
        docs/protocol.md, section "Registration"; `reportIgnored` is always among the former. `recover`: register with a recovery
        even when nothing is to be reported. `max_quarantined`: with so many objects in quarantine at most a recovery succeeds.
        `token` is needed on tcp; `tls` is needed for tls+tcp. `most_waiting` is in elements.

        Raises ValueError for an address that is none, tls that does not go with it, and whatever else is out of range, and TypeError
        for arguments of another type.
        """
        self._callbacks = callbacks or Callbacks()
        check_type("callbacks", self._callbacks, Callbacks)
        where = address_for(address, tls)
        self._core = ManagerCore(
            Registration(rm_id, config, version, policy_group, extra_config, capabilities, if_registered, max_quarantined, recover),
            most_waiting, time.monotonic)
        self._link = Link(where, Options(client, "rm", token, ipc=where.scheme == "ipc"), tls, 2)
        self._link.session.ping_body = {"rmID": rm_id}
        self._lock = threading.Lock()  # held at every step of the core
        self._changed = {topic: threading.Condition(self._lock) for topic in Topic}
        self._threads = {name: threading.Thread(target=self._run, args=(procedure,), name=f"ykd-{name}", daemon=True)
                         for name, procedure in self._core.background().items()}

    # --- from its start to its end ---

    def restore(self, nodes: Sequence[Node] = (), applications: Sequence[Application] = (), allocations: Sequence[Allocation] = (),
                asks: Sequence[Ask] = ()) -> None:
        """What this resource manager had before its process was restarted; call it before start(). It is reported with a recovery,
        and no callback announces it again. Raises ValueError and TypeError for what cannot be sent."""
        with self._lock:
            self._core.restore(elements.existing(nodes, applications, allocations, asks))

    def start(self, time_limit: float = TIME_LIMIT) -> None:
        """Registers, and returns when the daemon has it and has recovered it.

        Raises NoAnswer when that takes longer than `time_limit` seconds (it is tried further: wait with sync(), or close()), and
        NotServing when the daemon refuses it: `__cause__` is its error, such as E_AUTH, E_FORBIDDEN or E_CONFIG_INVALID. Raises
        RuntimeError the second time.
        """
        self._begin()
        self._serve(time_limit)

    def flush(self, time_limit: float = TIME_LIMIT) -> None:
        """Returns when the daemon has accepted all that was added. Raises NoAnswer, and Closed or NotServing."""
        self._outside("flush")
        self._run(self._core.flush(time_limit))

    def sync(self, time_limit: float = TIME_LIMIT) -> None:
        """Returns when the daemon has carried out all that was added, and the callbacks of what came of it at once were called. Asks
        may be placed later. Raises NoAnswer, and Closed or NotServing."""
        self._outside("sync")
        self._run(self._core.sync(time_limit))

    def leave(self, force: bool = False, time_limit: float = TIME_LIMIT) -> None:
        """Unregisters behind all that was added, and closes. Without `force` the daemon refuses that while there are allocations:
        Refused with the code E_BUSY_STATE; it goes on then. Raises NoAnswer, and Closed or NotServing."""
        self._outside("leave")
        self._run(self._core.leave(force, time_limit))
        self.close()

    def close(self, time_limit: Optional[float] = None) -> None:
        """Ends without unregistering: the daemon keeps what there is for a while, and suspends it. Waits for callbacks that are under
        way, for `time_limit` seconds at most (None: as long as they take): raises NoAnswer then, and all else has ended. Twice is as
        once."""
        self._outside("close")
        with self._lock:
            self._core.stop(Closed(f"resource manager {self._core.registration.rm_id} was closed; make a new one"))
            self._wake()
        self._link.close()
        end = None if time_limit is None else time.monotonic() + time_limit
        for thread in self._threads.values():
            if thread.is_alive():
                thread.join(None if end is None else max(0.0, end - time.monotonic()))
        if any(thread.is_alive() for thread in self._threads.values()):
            raise self._core.overdue("callbacks did not end")

    def __enter__(self) -> "ResourceManager":
        """As start(), but it is closed when that fails."""
        self._begin()
        try:
            self._serve(TIME_LIMIT)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        """Closes, and before that, unless an exception ends the block, has what was added carried out: see sync(), which may raise."""
        try:
            if kind is None:
                self.sync()
        except Closed:
            pass  # by leave() or close()
        finally:
            self.close()

    # --- what it is and has ---

    @property
    def state(self) -> CoreState:
        """The state in the daemon, as the last callback had it."""
        return self._core.state

    def allocations(self) -> list[Allocation]:
        """A copy of what is allocated, as far as callbacks are under way or were called. Costs about 1 µs for each."""
        with self._lock:
            return [record.allocation for record in self._core.books.allocations.values() if record.announced]

    def pending(self) -> list[tuple[str, str]]:
        """The application and key of each ask that was sent and is not placed. Costs about 1 µs for each."""
        with self._lock:
            return [key[1:] for key in self._core.books.asks]

    def request(self, kind: str, body: Optional[Mapping[str, Any]] = None, time_limit: float = TIME_LIMIT) -> dict[str, Any]:
        """Any other request of docs/protocol.md, in the session of this resource manager. Raises what Client.request() raises."""
        return self._link.request(kind, body or {}, time_limit)

    def resolve_recovery(self, action: str, time_limit: float = TIME_LIMIT) -> dict[str, Any]:
        """ResolveRecovery after recovery_failed(): `action` is retry, reset, accept or abort. Raises what Client.request() raises."""
        return self.request("ResolveRecovery", {"rmID": self._core.registration.rm_id, "action": action}, time_limit)

    # --- nodes ---

    def add_nodes(self, *nodes: Node, time_limit: Optional[float] = None) -> None:
        """Nodes that asks are placed on: node_accepted() or rejected() follows.

        Like all methods below it waits while the outbox is full, for `time_limit` seconds at most (None: as long as it takes), and
        raises Full then; a callback never waits. It raises Closed or NotServing when this resource manager has stopped.
        """
        self._put(elements.new_nodes(nodes), time_limit)

    def update_nodes(self, *nodes: Node, time_limit: Optional[float] = None) -> None:
        """Changes capacity, occupied and attributes of nodes; rejected() follows if that fails."""
        self._put(elements.changed_nodes(nodes), time_limit)

    def drain_nodes(self, *node_ids: str, partition: str = "default", time_limit: Optional[float] = None) -> None:
        """Nothing more is placed on these."""
        self._put(elements.drained_nodes(node_ids, partition), time_limit)

    def undrain_nodes(self, *node_ids: str, partition: str = "default", time_limit: Optional[float] = None) -> None:
        """The end of drain_nodes()."""
        self._put(elements.undrained_nodes(node_ids, partition), time_limit)

    def remove_nodes(self, *node_ids: str, partition: str = "default", time_limit: Optional[float] = None) -> None:
        """Removes nodes; released() follows for what is on them."""
        self._put(elements.removed_nodes(node_ids, partition), time_limit)

    # --- applications, asks, allocations ---

    def add_applications(self, *applications: Application, time_limit: Optional[float] = None) -> None:
        """Submits applications: application_accepted() or rejected() follows."""
        self._put(elements.new_applications(applications), time_limit)

    def remove_applications(self, *application_ids: str, partition: str = "default", time_limit: Optional[float] = None) -> None:
        """Removes applications with their asks; released() follows for each of their allocations."""
        self._put(elements.removed_applications(application_ids, partition), time_limit)

    def add_asks(self, *asks: Ask, time_limit: Optional[float] = None) -> None:
        """Asks for allocations: allocated() or rejected() follows, when there is a place or it is refused. A key that is there changes
        that ask, or the size of the allocation that it became."""
        self._put(elements.asks(asks), time_limit)

    def remove_asks(self, application_id: str, *keys: str, partition: str = "default", time_limit: Optional[float] = None) -> None:
        """Takes asks back. One that was placed meanwhile stays, and allocated() follows: release it then."""
        self._put(elements.removed_asks(application_id, keys, partition), time_limit)

    def report_allocations(self, *allocations: Allocation, time_limit: Optional[float] = None) -> None:
        """Allocations that run already and that the daemon did not make: allocated() or rejected() follows."""
        self._put(elements.reported_allocations(allocations), time_limit)

    def release(self, application_id: str, *keys: str, partition: str = "default", message: str = "",
                time_limit: Optional[float] = None) -> None:
        """Allocations that have ended: released() follows for each. An ask that is not placed is taken back, without a callback."""
        self._put(elements.released(application_id, keys, partition, message), time_limit)

    def confirm(self, release: Release, time_limit: Optional[float] = None) -> None:
        """What stop_requested() asked for is done: released() follows."""
        with self._lock:
            release = self._core.release_for(release)
        self._put(elements.confirmed(release), time_limit)

    # --- procedures ---

    def _begin(self) -> None:
        with self._lock:
            self._core.begin()

    def _serve(self, time_limit: float) -> None:
        for thread in self._threads.values():
            thread.start()
        self._run(self._core.serving(time_limit))

    def _put(self, found: elements.Elements, time_limit: Optional[float]) -> None:
        self._run(self._core.put(*found, 0 if self._in_callback() else time_limit))

    def _in_callback(self) -> bool:
        return threading.current_thread() is self._threads["callbacks"]

    def _outside(self, method: str) -> None:
        if self._in_callback():
            raise RuntimeError(f"{method}() waits for callbacks, so no callback may call it: let another thread do so")

    def _run(self, procedure: Procedure) -> Any:
        """Runs a procedure to its end, in this thread."""
        answer: Any = None
        error: Optional[BaseException] = None
        while True:
            with self._lock:
                try:
                    effect = procedure.send(answer) if error is None else procedure.throw(error)
                    while isinstance(effect, Wait):
                        self._wait(effect)
                        effect = procedure.send(None)
                except StopIteration as end:
                    return end.value
                finally:
                    self._wake()
            answer = error = None
            try:
                answer = self._request(effect) if isinstance(effect, Request) else self._invoke(effect)
            except BaseException as caught:  # the procedure cleans up
                error = caught

    def _wait(self, effect: Wait) -> None:
        self._wake()
        self._changed[effect.topic].wait(effect.seconds)

    def _wake(self) -> None:
        if self._core.changed:
            for topic in self._core.changed:
                self._changed[topic].notify_all()
            self._core.changed.clear()

    def _request(self, effect: Request) -> dict[str, Any]:
        return self._link.request(effect.kind, effect.body, effect.time_limit, effect.channel)

    def _invoke(self, effect: Invoke) -> Any:
        found = getattr(self._callbacks, effect.event.method)(effect.event.argument)
        if inspect.iscoroutine(found):
            found.close()
            raise TypeError(f"the callback {effect.event.method}() is async: use ykd.aio.ResourceManager")
        return found
