# SPDX-License-Identifier: Apache-2.0
"""Reporting again what exists, and the claim that ends it (section "Recovery" of docs/protocol.md)."""
from __future__ import annotations

import dataclasses
from typing import Any, Generator, Mapping, Optional

from ..values import short_partition
from .books import Books
from .digest import allocation_line, application_line, digest, line_hash, node_line
from .effects import Effect, Request
from .outbox import MOST_IN_BATCH, Element
from .sending import halves_of_too_much, send
from .wire import CREATE, CREATE_DRAIN, DECOMISSION, PARTITION_ATTRIBUTE, allocation_map

KINDS = ("applications", "nodes", "allocations")  # in the order in which they are best reported
Procedure = Generator[Effect, Any, Any]
Name = tuple[str, ...]  # partition and ids


@dataclasses.dataclass
class Snapshot:
    """What the books had when a recovery began: by kind the element of each object, and its hash."""

    elements: dict[str, dict[Name, Element]]
    hashes: dict[str, dict[Name, int]]
    asks: list[Element]

    def expected(self) -> dict[str, int]:
        return {kind: len(found) for kind, found in self.elements.items()}

    def digests(self) -> dict[str, int]:
        return {kind: digest(found.values()) for kind, found in self.hashes.items()}


def _capacity(node: Mapping[str, Any]) -> dict[str, int]:
    """As the daemon counts it: resources that come in devices have the sum of these."""
    return {**(node.get("schedulableResource") or {}), **{name: sum(sizes) for name, sizes in (node.get("devices") or {}).items()}}


def snapshot_of(books: Books) -> Snapshot:
    """Costs about 10 µs for each object."""
    made = Snapshot({kind: {} for kind in KINDS}, {kind: {} for kind in KINDS}, [Element("asks", ask) for ask in books.asks.values()])
    for name, application in books.applications.items():
        made.elements["applications"][name] = Element("new", application.map)
        made.hashes["applications"][name] = line_hash(application_line(*name))
    for name, node in books.nodes.items():
        made.elements["nodes"][name] = Element("nodes", {**node.map, "action": CREATE if node.schedulable else CREATE_DRAIN})
        made.hashes["nodes"][name] = line_hash(node_line(*name, _capacity(node.map), node.schedulable))
    for key, record in books.allocations.items():
        one = record.allocation
        made.elements["allocations"][key] = Element("allocations", allocation_map(one))
        made.hashes["allocations"][key] = line_hash(allocation_line(*key, one.node_id, one.resources, one.placeholder))
    return made


def replay(rm_id: str, snapshot: Snapshot) -> Procedure:
    """Reports everything."""
    for kind in KINDS:
        yield from _send(rm_id, list(snapshot.elements[kind].values()))
    yield from _send(rm_id, snapshot.asks)


def claim(rm_id: str, id: str, snapshot: Snapshot) -> Procedure:
    """Says what was reported, and mends what the daemon has otherwise, until it agrees or gives up. Gives the last report."""
    attempt = 1
    while True:
        report: Mapping[str, Any] = yield Request("RecoveryDone", {
            "rmID": rm_id, "id": id, "attempt": attempt, "expected": snapshot.expected(), "digest": snapshot.digests()})
        if report.get("result") != "retry":
            return report
        for kind in KINDS:
            yield from _mend(rm_id, kind, snapshot)
        attempt += 1


def _mend(rm_id: str, kind: str, snapshot: Snapshot) -> Procedure:
    """Sends what is missing, and removes what is surplus."""
    theirs: dict[Name, int] = {}
    cursor: Optional[str] = None
    while True:
        page: Mapping[str, Any] = yield Request("RecoveryList", {"rmID": rm_id, "kind": kind, "cursor": cursor})
        theirs.update((_name(kind, one), one.get("hash", 0)) for one in page.get("items") or [] if one is not None)
        cursor = page.get("cursor")
        if not cursor:
            break
    mine = snapshot.hashes[kind]
    wrong = [name for name, found in theirs.items() if mine.get(name) != found]
    yield from _send(rm_id, [_removal(kind, name) for name in wrong])
    yield from _send(rm_id, [element for name, element in snapshot.elements[kind].items() if mine[name] != theirs.get(name)])


def _send(rm_id: str, elements: list[Element]) -> Procedure:
    for start in range(0, len(elements), MOST_IN_BATCH):
        yield from send(rm_id, elements[start:start + MOST_IN_BATCH], halves_of_too_much)


def _name(kind: str, one: Mapping[str, Any]) -> Name:
    ids = {"nodes": ("nodeID",), "applications": ("applicationID",), "allocations": ("applicationID", "allocationKey")}[kind]
    return (short_partition(one.get("partitionName")), *(one.get(field) or "" for field in ids))


def _removal(kind: str, name: Name) -> Element:
    if kind == "nodes":
        return Element("nodes", {"nodeID": name[1], "action": DECOMISSION, "attributes": {PARTITION_ATTRIBUTE: name[0]}})
    if kind == "applications":
        return Element("remove", {"partitionName": name[0], "applicationID": name[1]})
    return Element("allocationsToRelease", {"partitionName": name[0], "applicationID": name[1], "allocationKey": name[2],
                                            "terminationType": 1, "message": "not in the books of its resource manager"})
