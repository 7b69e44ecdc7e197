# SPDX-License-Identifier: Apache-2.0
"""Items of the callback stream: what they change in the books, and which callbacks follow from them."""
from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping, Optional

from ..values import ANSWERED, CoreState, short_partition
from .books import Books, Event
from .wire import application_update_of, rejection_of, release_of

Map = Mapping[str, Any]
OVER = frozenset(("Completed", "Failed", "Rejected", "Expired"))  # states after which an application is none
UNKNOWN = 1040  # an allocation that is not there
STAYS = frozenset((1011, 1021, 1033, 1034))  # codes of rejections behind which the object of that name is as it was


def events_of(item: Map, books: Books, life: int) -> list[Event]:
    """The callbacks of an item, in their order. An item of an unknown kind has none."""
    body = item.get("body") or {}
    if item.get("call") is not None:
        return [Event("call", item)]
    if item.get("kind") == "UpdateAllocation":
        return list(_allocations(body, books, life))
    handler = HANDLERS.get(item.get("kind", ""))
    return [] if handler is None else list(handler(body, books))


def _nodes(body: Map, books: Books) -> Iterator[Event]:
    for one in _list(body, "accepted"):
        record = books.nodes.get((short_partition(one.get("partitionName")), one.get("nodeID", "")))
        if record is not None and not record.accepted:
            record.accepted = True
            yield Event("node_accepted", one.get("nodeID", ""))
    for one in _list(body, "rejected"):
        if one.get("code") not in STAYS:
            books.nodes.pop((short_partition(one.get("partitionName")), one.get("nodeID", "")), None)
        yield Event("rejected", rejection_of("node", one))
    for one in _list(body, "failed"):
        yield Event("rejected", rejection_of("node", one))


def _applications(body: Map, books: Books) -> Iterator[Event]:
    for one in _list(body, "accepted"):
        record = books.applications.get((short_partition(one.get("partitionName")), one.get("applicationID", "")))
        if record is not None and not record.accepted:
            record.accepted = True
            yield Event("application_accepted", one.get("applicationID", ""))
    for one in _list(body, "rejected"):
        if one.get("code") not in STAYS:
            books.forget_application(short_partition(one.get("partitionName")), one.get("applicationID", ""))
        yield Event("rejected", rejection_of("application", one))
    for one in _list(body, "updated"):
        update = application_update_of(one)
        if update.state in OVER:
            books.forget_application(update.partition, update.application_id)
        yield Event("application_updated", update)


def _allocations(body: Map, books: Books, life: int) -> Iterator[Event]:
    for one in _list(body, "new"):
        yield from _some(books.placed(one))
    for one in _list(body, "rejected"):
        rejection = rejection_of("ask", one)
        if rejection.code not in STAYS:
            books.asks.pop((rejection.partition, rejection.application_id, rejection.key), None)
        yield Event("rejected", rejection)
    for one in _list(body, "rejectedAllocations"):
        rejection = rejection_of("allocation", one)
        books.allocations.pop((rejection.partition, rejection.application_id, rejection.key), None)
        yield Event("rejected", rejection)
    for one in _list(body, "released"):
        release = release_of(one, books.node_of(one))
        if release.termination_type in ANSWERED:
            yield books.asked(release, life)
        else:
            yield from _some(books.gone(release))
    for one in _list(body, "ignoredReleases"):
        rejection = rejection_of("release", one)
        books.release_ignored((rejection.partition, rejection.application_id, rejection.key), rejection.code != UNKNOWN)
        yield Event("rejected", rejection)


def _notice(body: Map, books: Books) -> Iterator[Event]:
    details = body.get("details") or {}
    if body.get("code") == "PARTITIONS":
        for partition in details.get("removed") or []:
            books.partition_removed(partition)
    if body.get("code") == "STATE" and details.get("new") in CoreState._value2member_map_:
        yield Event("state_changed", CoreState(details["new"]))
    yield Event("notice", body)


def _report(body: Map, books: Books) -> Iterator[Event]:
    if body.get("result") in ("running", "failed"):
        yield Event("recovered" if body["result"] == "running" else "recovery_failed", body)


def _plain(method: str) -> Callable[[Map, Books], Iterator[Event]]:
    return lambda body, books: iter((Event(method, body),))


HANDLERS: dict[str, Callable[[Map, Books], Iterator[Event]]] = {
    "UpdateNode": _nodes, "UpdateApplication": _applications, "Notice": _notice,
    "RecoveryReport": _report, "UpdateContainerSchedulingState": _plain("container_scheduling_state"), "SendEvent": _plain("events"),
    "ReSyncSchedulerCache": _plain("resync_cache"), "Request": _plain("echo")}


def _list(body: Map, name: str) -> list[Map]:
    return [one for one in body.get(name) or [] if one is not None]


def _some(event: Optional[Event]) -> Iterator[Event]:
    if event is not None:
        yield event
