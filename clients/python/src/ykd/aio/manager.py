# SPDX-License-Identifier: Apache-2.0
"""A resource manager for programs with asyncio."""
from __future__ import annotations

import asyncio
import inspect
import ssl
import time
from types import TracebackType
from typing import Any, Mapping, Optional, Sequence, Type

from ..addresses import address_for
from ..callbacks import Callbacks
from ..checks import check_type
from ..core import elements
from ..core.effects import Effect, Invoke, Request, Topic
from ..core.manager import ManagerCore, Procedure, Registration
from ..core.session import Options
from ..errors import Closed
from ..values import Allocation, Application, Ask, CoreState, Node, Release
from .link import Link

TIME_LIMIT = 30.0  # seconds
MOST_WAITING = 100_000  # elements


class ResourceManager:
    """As ykd.ResourceManager, with methods that are awaited, for tasks of one event loop. Callbacks may be `async def`: each is awaited
    before the next one is called. It has three tasks and no thread."""

    def __init__(self, address: str, rm_id: str, callbacks: Optional[Callbacks] = None, *, config: Optional[str] = None, version: str = "",
                 policy_group: str = "", extra_config: Optional[Mapping[str, str]] = None, capabilities: Sequence[str] = (),
                 if_registered: str = "drop", recover: bool = False, max_quarantined: int = 0, client: str = "ykd-python",
                 token: Optional[str] = None, tls: Optional[ssl.SSLContext] = None, most_waiting: int = MOST_WAITING) -> None:
        """The arguments of ykd.ResourceManager. Make it where the event loop runs; nothing is sent before start(). Raises what
        ykd.ResourceManager raises."""
        self._callbacks = callbacks or Callbacks()
        check_type("callbacks", self._callbacks, Callbacks)
        where = address_for(address, tls)
        self._core = ManagerCore(
            Registration(rm_id, config, version, policy_group, extra_config, capabilities, if_registered, max_quarantined, recover),
            most_waiting, time.monotonic)
        self._link = Link(where, Options(client, "rm", token, ipc=where.scheme == "ipc"), tls, 2)
        self._link.session.ping_body = {"rmID": rm_id}
        self._waiting: dict[Topic, set[asyncio.Future[None]]] = {topic: set() for topic in Topic}  # done when it has changed
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._closing: Optional[asyncio.Task[None]] = None

    # --- from its start to its end ---

    def restore(self, nodes: Sequence[Node] = (), applications: Sequence[Application] = (), allocations: Sequence[Allocation] = (),
                asks: Sequence[Ask] = ()) -> None:
        """As ykd.ResourceManager.restore()."""
        self._core.restore(elements.existing(nodes, applications, allocations, asks))

    async def start(self, time_limit: float = TIME_LIMIT) -> None:
        """As ykd.ResourceManager.start()."""
        self._core.begin()
        await self._serve(time_limit)

    async def flush(self, time_limit: float = TIME_LIMIT) -> None:
        """As ykd.ResourceManager.flush()."""
        self._outside("flush")
        await self._run(self._core.flush(time_limit))

    async def sync(self, time_limit: float = TIME_LIMIT) -> None:
        """As ykd.ResourceManager.sync()."""
        self._outside("sync")
        await self._run(self._core.sync(time_limit))

    async def leave(self, force: bool = False, time_limit: float = TIME_LIMIT) -> None:
        """As ykd.ResourceManager.leave()."""
        self._outside("leave")
        await self._run(self._core.leave(force, time_limit))
        await self.close()

    async def close(self, time_limit: Optional[float] = None) -> None:
        """As ykd.ResourceManager.close(). It goes on when the caller is cancelled."""
        self._outside("close")
        self._core.stop(Closed(f"resource manager {self._core.registration.rm_id} was closed; make a new one"))
        self._wake()
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._link.close(), name="ykd-close")
        all_over = asyncio.gather(self._closing, *self._tasks.values(), return_exceptions=True)
        _, late = await asyncio.wait((all_over,), timeout=time_limit)  # which cancels nothing
        if late:
            raise self._core.overdue("callbacks did not end")

    async def __aenter__(self) -> "ResourceManager":
        """As ykd.ResourceManager.__enter__()."""
        self._core.begin()
        try:
            await self._serve(TIME_LIMIT)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        """As ykd.ResourceManager.__exit__()."""
        try:
            if kind is None:
                await self.sync()
        except Closed:
            pass
        finally:
            await self.close()

    # --- what it is and has ---

    @property
    def state(self) -> CoreState:
        """As ykd.ResourceManager.state."""
        return self._core.state

    def allocations(self) -> list[Allocation]:
        """As ykd.ResourceManager.allocations()."""
        return [record.allocation for record in self._core.books.allocations.values() if record.announced]

    def pending(self) -> list[tuple[str, str]]:
        """As ykd.ResourceManager.pending()."""
        return [key[1:] for key in self._core.books.asks]

    async def request(self, kind: str, body: Optional[Mapping[str, Any]] = None, time_limit: float = TIME_LIMIT) -> dict[str, Any]:
        """As ykd.ResourceManager.request()."""
        return await self._link.request(kind, body or {}, time_limit)

    async def resolve_recovery(self, action: str, time_limit: float = TIME_LIMIT) -> dict[str, Any]:
        """As ykd.ResourceManager.resolve_recovery()."""
        return await self.request("ResolveRecovery", {"rmID": self._core.registration.rm_id, "action": action}, time_limit)

    # --- nodes ---

    async def add_nodes(self, *nodes: Node, time_limit: Optional[float] = None) -> None:
        """As ykd.ResourceManager.add_nodes()."""
        await self._put(elements.new_nodes(nodes), time_limit)

    async def update_nodes(self, *nodes: Node, time_limit: Optional[float] = None) -> None:
        """As ykd.ResourceManager.update_nodes()."""
        await self._put(elements.changed_nodes(nodes), time_limit)

    async def drain_nodes(self, *node_ids: str, partition: str = "default", time_limit: Optional[float] = None) -> None:
        """Nothing more is placed on these."""
        await self._put(elements.drained_nodes(node_ids, partition), time_limit)

    async def undrain_nodes(self, *node_ids: str, partition: str = "default", time_limit: Optional[float] = None) -> None:
        """The end of drain_nodes()."""
        await self._put(elements.undrained_nodes(node_ids, partition), time_limit)

    async def remove_nodes(self, *node_ids: str, partition: str = "default", time_limit: Optional[float] = None) -> None:
        """Removes nodes; released() follows for what is on them."""
        await self._put(elements.removed_nodes(node_ids, partition), time_limit)

    # --- applications, asks, allocations ---

    async def add_applications(self, *applications: Application, time_limit: Optional[float] = None) -> None:
        """As ykd.ResourceManager.add_applications()."""
        await self._put(elements.new_applications(applications), time_limit)

    async def remove_applications(self, *application_ids: str, partition: str = "default", time_limit: Optional[float] = None) -> None:
        """Removes applications with their asks; released() follows for each of their allocations."""
        await self._put(elements.removed_applications(application_ids, partition), time_limit)

    async def add_asks(self, *asks: Ask, time_limit: Optional[float] = None) -> None:
        """As ykd.ResourceManager.add_asks()."""
        await self._put(elements.asks(asks), time_limit)

    async def remove_asks(self, application_id: str, *keys: str, partition: str = "default", time_limit: Optional[float] = None) -> None:
        """Takes asks back. One that was placed meanwhile stays, and allocated() follows: release it then."""
        await self._put(elements.removed_asks(application_id, keys, partition), time_limit)

    async def report_allocations(self, *allocations: Allocation, time_limit: Optional[float] = None) -> None:
        """As ykd.ResourceManager.report_allocations()."""
        await self._put(elements.reported_allocations(allocations), time_limit)

    async def release(self, application_id: str, *keys: str, partition: str = "default", message: str = "",
                time_limit: Optional[float] = None) -> None:
        """Allocations that have ended: released() follows for each."""
        await self._put(elements.released(application_id, keys, partition, message), time_limit)

    async def confirm(self, release: Release, time_limit: Optional[float] = None) -> None:
        """As ykd.ResourceManager.confirm()."""
        release = self._core.release_for(release)
        await self._put(elements.confirmed(release), time_limit)

    # --- procedures ---

    async def _serve(self, time_limit: float) -> None:
        self._tasks = {name: asyncio.get_running_loop().create_task(self._run(procedure), name=f"ykd-{name}")
                       for name, procedure in self._core.background().items()}
        await self._run(self._core.serving(time_limit))

    async def _put(self, found: elements.Elements, time_limit: Optional[float]) -> None:
        await self._run(self._core.put(*found, 0 if self._in_callback() else time_limit))

    def _in_callback(self) -> bool:
        return asyncio.current_task() is self._tasks.get("callbacks")

    def _outside(self, method: str) -> None:
        if self._in_callback():
            raise RuntimeError(f"{method}() waits for callbacks, so no callback may call it: let another task do so")

    async def _run(self, procedure: Procedure) -> Any:
        """Runs a procedure to its end."""
        answer: Any = None
        error: Optional[BaseException] = None
        while True:
            try:
                effect = procedure.send(answer) if error is None else procedure.throw(error)
            except StopIteration as end:
                return end.value
            finally:
                self._wake()
            answer = error = None
            try:
                answer = await self._perform(effect)
            except BaseException as caught:  # the procedure cleans up
                error = caught

    async def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Request):
            return await self._link.request(effect.kind, effect.body, effect.time_limit, effect.channel)
        if isinstance(effect, Invoke):
            return await self._invoke(effect)
        change = asyncio.get_running_loop().create_future()
        self._waiting[effect.topic].add(change)
        try:
            await asyncio.wait((change,), timeout=effect.seconds)
        finally:
            self._waiting[effect.topic].discard(change)
        return None

    async def _invoke(self, effect: Invoke) -> Any:
        try:
            found = getattr(self._callbacks, effect.event.method)(effect.event.argument)
            return await found if inspect.isawaitable(found) else found
        except asyncio.CancelledError as error:
            if self._tasks["callbacks"].cancelling():
                raise
            raise RuntimeError(f"the callback {effect.event.method}() waited for what was cancelled") from error

    def _wake(self) -> None:
        if self._core.changed:
            for change in [change for topic in self._core.changed for change in self._waiting[topic] if not change.done()]:
                change.set_result(None)
            self._core.changed.clear()
