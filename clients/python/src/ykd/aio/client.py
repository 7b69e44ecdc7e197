# SPDX-License-Identifier: Apache-2.0
"""A client for programs with asyncio."""
from __future__ import annotations

import ssl
from types import TracebackType
from typing import Any, AsyncIterator, Mapping, Optional, Sequence, Type

from .. import requests
from ..addresses import address_for
from ..core.session import Options
from ..requests import Map, Request
from .link import Link

TIME_LIMIT = 30.0  # seconds
Body = dict[str, Any]


class Client:
    """As ykd.Client, with methods that are awaited, for tasks of one event loop; it has no thread."""

    def __init__(self, address: str, *, role: str = "observer", client: str = "ykd-python", token: Optional[str] = None,
                 tls: Optional[ssl.SSLContext] = None, time_limit: float = TIME_LIMIT, largest_reply: int = 64 << 20) -> None:
        """The arguments of ykd.Client. Make it where the event loop runs. Raises ValueError for an address that is none."""
        where = address_for(address, tls)
        self._link = Link(where, Options(client, role, token, largest_reply, where.scheme == "ipc"), tls)
        self._time_limit = time_limit

    async def request(self, kind: str, body: Optional[Map] = None, *, time_limit: Optional[float] = None) -> Body:
        """As ykd.Client.request()."""
        return await self._link.request(kind, body or {}, self._time_limit if time_limit is None else time_limit)

    async def close(self) -> None:
        """As ykd.Client.close()."""
        await self._link.close()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        await self.close()

    @property
    def hello(self) -> Mapping[str, Any]:
        """As ykd.Client.hello."""
        return self._link.session.hello

    async def _send(self, request: Request) -> Body:
        return await self.request(request.kind, request.body)

    # --- the daemon ---

    async def ping(self, rm_id: Optional[str] = None) -> Body:
        """As ykd.Client.ping()."""
        return await self._send(requests.ping(rm_id))

    async def status(self) -> Body:
        """As ykd.Client.status()."""
        return await self.request("Status")

    async def health(self, run: bool = False, invariants: bool = False) -> Body:
        """As ykd.Client.health()."""
        return await self._send(requests.health(run, invariants))

    async def metrics(self, prefix: Optional[str] = None) -> list[Body]:
        """As ykd.Client.metrics()."""
        families: list[Body] = []
        page = await self._send(requests.metrics(prefix, None))
        while page.get("cursor") and page.get("complete") is False:
            families += page.get("families") or []
            page = await self._send(requests.metrics(prefix, page["cursor"]))
        return families + (page.get("families") or [])

    async def dump(self, what: str, **filters: Any) -> Any:
        """As ykd.Client.dump()."""
        page = await self._send(requests.dump(what, None, filters))
        if page.get("complete") is False:
            raise ValueError(f"dump {what} has several pages: use dump_pages(), or narrow it with partition, queue, application or limit")
        return page.get("data")

    async def dump_pages(self, what: str, **filters: Any) -> AsyncIterator[Any]:
        """As ykd.Client.dump_pages()."""
        cursor: Optional[str] = None
        while True:
            page = await self._send(requests.dump(what, cursor, filters))
            yield page.get("data")
            cursor = page.get("cursor")
            if page.get("complete") is not False or not cursor:
                return

    async def explain(self, what: str, **fields: Any) -> Body:
        """As ykd.Client.explain()."""
        return await self._send(requests.explain(what, fields))

    async def events(self, start: int, count: int = 1000, filter: Optional[Map] = None) -> Body:
        """As ykd.Client.events()."""
        return await self._send(requests.events(start, count, filter))

    # --- configuration ---

    async def validate_configuration(self, config: str, rm_id: Optional[str] = None, diff: bool = False) -> Body:
        """As ykd.Client.validate_configuration()."""
        return await self._send(requests.validate_configuration(config, rm_id, diff))

    async def update_configuration(self, rm_id: str, config: Optional[str] = None, *, policy_group: Optional[str] = None,
                             extra_config: Optional[Mapping[str, str]] = None, dry_run: bool = False, checksum: Optional[str] = None,
                             source: Optional[str] = None) -> Body:
        """As ykd.Client.update_configuration()."""
        return await self._send(requests.update_configuration(rm_id, config, policy_group, extra_config, dry_run, checksum, source))

    async def reload(self, rm_id: Optional[str] = None, from_file: bool = False, dry_run: bool = False) -> Body:
        """As ykd.Client.reload()."""
        return await self._send(requests.reload(rm_id, from_file, dry_run))

    # --- what a resource manager does; ResourceManager does all of it by itself ---

    async def register(self, rm_id: str, config: Optional[str] = None, *, version: Optional[str] = None, policy_group: Optional[str] = None,
                 extra_config: Optional[Mapping[str, str]] = None, capabilities: Sequence[str] = (), if_registered: Optional[str] = None,
                 recovery: Optional[Map] = None, detached: Optional[Map] = None) -> Body:
        """As ykd.Client.register()."""
        return await self._send(
            requests.register(rm_id, config, version, policy_group, extra_config, capabilities, if_registered, recovery, detached))

    async def unregister(self, rm_id: str, force: bool = False) -> Body:
        """As ykd.Client.unregister()."""
        return await self._send(requests.unregister(rm_id, force))

    async def update_nodes(self, rm_id: str, nodes: Sequence[Map]) -> Body:
        """As ykd.Client.update_nodes()."""
        return await self._send(requests.update_nodes(rm_id, nodes))

    async def update_applications(self, rm_id: str, new: Sequence[Map] = (), remove: Sequence[Map] = ()) -> Body:
        """As ykd.Client.update_applications()."""
        return await self._send(requests.update_applications(rm_id, new, remove))

    async def update_allocations(self, rm_id: str, asks: Sequence[Map] = (), allocations: Sequence[Map] = (), releases: Sequence[Map] = (),
                           ask_releases: Sequence[Map] = ()) -> Body:
        """As ykd.Client.update_allocations()."""
        return await self._send(requests.update_allocations(rm_id, asks, allocations, releases, ask_releases))

    async def poll(self, rm_id: str, stream_epoch: int, ack: int, *, max_items: int = 1000, max_bytes: int = 1 << 20, wait_ms: int = 10_000) -> Body:
        """As ykd.Client.poll()."""
        return await self._send(requests.poll(rm_id, stream_epoch, ack, max_items, max_bytes, wait_ms))

    async def call_result(self, rm_id: str, stream_epoch: int, call: int, result: Optional[Map] = None, error: Optional[str] = None) -> Body:
        """As ykd.Client.call_result()."""
        return await self._send(requests.call_result(rm_id, stream_epoch, call, result, error))

    async def sync(self, rm_id: str, position: Optional[int] = None, asks: Optional[Sequence[Map]] = None) -> Body:
        """As ykd.Client.sync()."""
        return await self._send(requests.sync(rm_id, position, asks))

    async def recovery_done(self, rm_id: str, id: str, attempt: int, expected: Map, digest: Map) -> Body:
        """As ykd.Client.recovery_done()."""
        return await self._send(requests.recovery_done(rm_id, id, attempt, expected, digest))

    async def recovery_list(self, rm_id: str, kind: str, *, bucket: Optional[int] = None, cursor: Optional[str] = None, limit: int = 1000) -> Body:
        """As ykd.Client.recovery_list()."""
        return await self._send(requests.recovery_list(rm_id, kind, bucket, cursor, limit))

    async def resolve_recovery(self, rm_id: str, action: str) -> Body:
        """As ykd.Client.resolve_recovery()."""
        return await self._send(requests.resolve_recovery(rm_id, action))

    async def stream_log(self, rm_id: str, after: int, count: int = 1000) -> Body:
        """As ykd.Client.stream_log()."""
        return await self._send(requests.stream_log(rm_id, after, count))
