# SPDX-License-Identifier: Apache-2.0
"""A client for programs with threads."""
from __future__ import annotations

import ssl
from types import TracebackType
from typing import Any, Iterator, Mapping, Optional, Sequence, Type

from . import requests
from .addresses import address_for
from .core.session import Options
from .link import Link
from .requests import Map, Request

TIME_LIMIT = 30.0  # seconds
Body = dict[str, Any]


class Client:
    """Requests to a daemon, from any thread. Each waits for its answer.

    The connection is made with the first request, and again whenever it was cut; a request whose answer was lost is sent again with
    its sequence number, so that it is carried out once. Errors that may be repeated (E_BUSY and so on) are, after the pause that the
    daemon wants. A request raises

    - Refused: the daemon's error, with code, name, message, path; one that may be repeated, when the time limit is over,
    - NoAnswer: there was none within `time_limit` seconds,
    - SessionLost: the daemon was restarted, and the request, about a resource manager of the former session, was not carried out;
      OutcomeUnknown: it may have been; the next request opens a new session,
    - TooLarge, Full, Closed; ValueError and TypeError for a body that cannot be sent.

    Bodies and replies are maps with the names of docs/protocol.md: memory in bytes, vcore in thousandths of a core, names that end
    with Ms in milliseconds. It has one thread.
    """

    def __init__(self, address: str, *, role: str = "observer", client: str = "ykd-python", token: Optional[str] = None,
                 tls: Optional[ssl.SSLContext] = None, time_limit: float = TIME_LIMIT, largest_reply: int = 64 << 20) -> None:
        """`role` is observer, rm or admin. `token` is needed on tcp, `tls` for tls+tcp. `time_limit`, in seconds, is that of requests
        without one of their own. `largest_reply` is in bytes, at least 8192, and 2 MiB of who polls.

        Raises ValueError for an address that is none, or tls that does not go with it. Nothing is sent yet.
        """
        where = address_for(address, tls)
        self._link = Link(where, Options(client, role, token, largest_reply, where.scheme == "ipc"), tls)
        self._time_limit = time_limit

    def request(self, kind: str, body: Optional[Map] = None, *, time_limit: Optional[float] = None) -> Body:
        """Any request of docs/protocol.md: the body of its reply. A sequence number is added where the kind needs one."""
        return self._link.request(kind, body or {}, self._time_limit if time_limit is None else time_limit)

    def close(self) -> None:
        """Says Bye; requests that wait end with Closed. Twice is as once."""
        self._link.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    @property
    def hello(self) -> Mapping[str, Any]:
        """The daemon's last answer to Hello (server, limits, features, role); empty before the first request was answered."""
        return self._link.session.hello

    def _send(self, request: Request) -> Body:
        return self.request(request.kind, request.body)

    # --- the daemon ---

    def ping(self, rm_id: Optional[str] = None) -> Body:
        """The state of a resource manager, or of the daemon."""
        return self._send(requests.ping(rm_id))

    def status(self) -> Body:
        """What there is: resource managers, counts, sessions."""
        return self.request("Status")

    def health(self, run: bool = False, invariants: bool = False) -> Body:
        """The last health check, or with `run` one that is made now."""
        return self._send(requests.health(run, invariants))

    def metrics(self, prefix: Optional[str] = None) -> list[Body]:
        """All families of metrics whose names begin with `prefix`, page by page."""
        families: list[Body] = []
        page = self._send(requests.metrics(prefix, None))
        while page.get("cursor") and page.get("complete") is False:
            families += page.get("families") or []
            page = self._send(requests.metrics(prefix, page["cursor"]))
        return families + (page.get("families") or [])

    def dump(self, what: str, **filters: Any) -> Any:
        """The `data` of a Dump that is complete with one page. `filters` are its fields, as rmID="a". Raises ValueError for one that is
        not: use dump_pages()."""
        page = self._send(requests.dump(what, None, filters))
        if page.get("complete") is False:
            raise ValueError(f"dump {what} has several pages: use dump_pages(), or narrow it with partition, queue, application or limit")
        return page.get("data")

    def dump_pages(self, what: str, **filters: Any) -> Iterator[Any]:
        """The `data` of each page of a Dump."""
        cursor: Optional[str] = None
        while True:
            page = self._send(requests.dump(what, cursor, filters))
            yield page.get("data")
            cursor = page.get("cursor")
            if page.get("complete") is not False or not cursor:
                return

    def explain(self, what: str, **fields: Any) -> Body:
        """Why something is as it is: verdict, reasons, details. `what` is app, ask, queue, node, user, config, preemption, placement."""
        return self._send(requests.explain(what, fields))

    def events(self, start: int, count: int = 1000, filter: Optional[Map] = None) -> Body:
        """Events from number `start` on; go on with `ContinueID`."""
        return self._send(requests.events(start, count, filter))

    # --- configuration ---

    def validate_configuration(self, config: str, rm_id: Optional[str] = None, diff: bool = False) -> Body:
        """What a configuration text would do."""
        return self._send(requests.validate_configuration(config, rm_id, diff))

    def update_configuration(self, rm_id: str, config: Optional[str] = None, *, policy_group: Optional[str] = None,
                             extra_config: Optional[Mapping[str, str]] = None, dry_run: bool = False, checksum: Optional[str] = None,
                             source: Optional[str] = None) -> Body:
        """Changes a configuration: the whole text is applied or nothing."""
        return self._send(requests.update_configuration(rm_id, config, policy_group, extra_config, dry_run, checksum, source))

    def reload(self, rm_id: Optional[str] = None, from_file: bool = False, dry_run: bool = False) -> Body:
        """What SIGHUP does."""
        return self._send(requests.reload(rm_id, from_file, dry_run))

    # --- what a resource manager does; ResourceManager does all of it by itself ---

    def register(self, rm_id: str, config: Optional[str] = None, *, version: Optional[str] = None, policy_group: Optional[str] = None,
                 extra_config: Optional[Mapping[str, str]] = None, capabilities: Sequence[str] = (), if_registered: Optional[str] = None,
                 recovery: Optional[Map] = None, detached: Optional[Map] = None) -> Body:
        """Registers a resource manager, which this session owns then: partitions, streamEpoch, coreState."""
        return self._send(requests.register(rm_id, config, version, policy_group, extra_config, capabilities, if_registered, recovery, detached))

    def unregister(self, rm_id: str, force: bool = False) -> Body:
        """Ends it; without `force` E_BUSY_STATE while there are allocations."""
        return self._send(requests.unregister(rm_id, force))

    def update_nodes(self, rm_id: str, nodes: Sequence[Map]) -> Body:
        """NodeInfo maps; `position` says only that they were accepted for processing."""
        return self._send(requests.update_nodes(rm_id, nodes))

    def update_applications(self, rm_id: str, new: Sequence[Map] = (), remove: Sequence[Map] = ()) -> Body:
        """AddApplicationRequest maps, and applications to remove."""
        return self._send(requests.update_applications(rm_id, new, remove))

    def update_allocations(self, rm_id: str, asks: Sequence[Map] = (), allocations: Sequence[Map] = (), releases: Sequence[Map] = (),
                           ask_releases: Sequence[Map] = ()) -> Body:
        """AllocationAsk, Allocation and AllocationRelease maps; the confirmation of a release is a release, too."""
        return self._send(requests.update_allocations(rm_id, asks, allocations, releases, ask_releases))

    def poll(self, rm_id: str, stream_epoch: int, ack: int, *, max_items: int = 1000, max_bytes: int = 1 << 20, wait_ms: int = 10_000) -> Body:
        """Items of the callback stream behind `ack`, the last one that was handled."""
        return self._send(requests.poll(rm_id, stream_epoch, ack, max_items, max_bytes, wait_ms))

    def call_result(self, rm_id: str, stream_epoch: int, call: int, result: Optional[Map] = None, error: Optional[str] = None) -> Body:
        """Answers an item with `call`."""
        return self._send(requests.call_result(rm_id, stream_epoch, call, result, error))

    def sync(self, rm_id: str, position: Optional[int] = None, asks: Optional[Sequence[Map]] = None) -> Body:
        """Waits until the input at `position`, or all that was accepted, is processed."""
        return self._send(requests.sync(rm_id, position, asks))

    def recovery_done(self, rm_id: str, id: str, attempt: int, expected: Map, digest: Map) -> Body:
        """The claim of a recovery: a RecoveryReport."""
        return self._send(requests.recovery_done(rm_id, id, attempt, expected, digest))

    def recovery_list(self, rm_id: str, kind: str, *, bucket: Optional[int] = None, cursor: Optional[str] = None, limit: int = 1000) -> Body:
        """What was restored: a page of nodes, applications or allocations."""
        return self._send(requests.recovery_list(rm_id, kind, bucket, cursor, limit))

    def resolve_recovery(self, rm_id: str, action: str) -> Body:
        """Ends or repeats a recovery: retry, reset, accept, abort."""
        return self._send(requests.resolve_recovery(rm_id, action))

    def stream_log(self, rm_id: str, after: int, count: int = 1000) -> Body:
        """Items of a detached resource manager behind number `after`."""
        return self._send(requests.stream_log(rm_id, after, count))
