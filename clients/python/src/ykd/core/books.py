# SPDX-License-Identifier: Apache-2.0
"""What a resource manager has: what it sent, changed by what the daemon answered. A recovery reports this and nothing else.

An object is in the books from the moment at which its request is made: when the daemon is gone then, nobody knows whether it
took the request, and the report that follows says what is true. Each end of an allocation is reported once: an allocation
whose end this side asked for stays among `ending` until that is answered, or until a recovery shows that nobody knows it.
"""
from __future__ import annotations

import dataclasses
from typing import Any, Iterable, Mapping, NamedTuple, Optional

from ..values import ANSWERED, Allocation, Release, TerminationType, short_partition
from .outbox import Element
from .wire import CREATE, CREATE_DRAIN, DECOMISSION, DRAIN, PARTITION_ATTRIBUTE, SCHEDULABLE, UPDATE, allocation_of

Key = tuple[str, str, str]  # partition, application, allocation
Map = Mapping[str, Any]


class Event(NamedTuple):
    """A callback to be called: the name of the method and what it is given."""

    method: str
    argument: Any


@dataclasses.dataclass
class NodeRecord:
    map: dict[str, Any]
    schedulable: bool
    accepted: bool = False


@dataclasses.dataclass
class ApplicationRecord:
    map: dict[str, Any]
    accepted: bool = False


@dataclasses.dataclass
class AllocationRecord:
    allocation: Allocation
    announced: bool  # allocated() was called for it


@dataclasses.dataclass
class Ending:
    release: Release
    record: AllocationRecord


class Books:
    """All objects of one resource manager, by partition and ids."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[str, str], NodeRecord] = {}
        self.applications: dict[tuple[str, str], ApplicationRecord] = {}
        self.asks: dict[Key, dict[str, Any]] = {}
        self.allocations: dict[Key, AllocationRecord] = {}
        self.ending: dict[Key, Ending] = {}
        self.asked_in: dict[Key, int] = {}  # the life in which the daemon asked for the end of an allocation

    def is_empty(self) -> bool:
        """Whether there is nothing to report."""
        return not (self.nodes or self.applications or self.asks or self.allocations)

    def sending(self, elements: Iterable[Element]) -> None:
        """A request with these elements is made."""
        for list_name, element in elements:
            getattr(self, "_sending_" + list_name)(element)

    def announce_all(self) -> None:
        """The caller knows of all that is here."""
        for node in self.nodes.values():
            node.accepted = True
        for application in self.applications.values():
            application.accepted = True
        for allocation in self.allocations.values():
            allocation.announced = True

    def _sending_nodes(self, element: dict[str, Any]) -> None:
        key = (short_partition(element.get("attributes", {}).get(PARTITION_ATTRIBUTE)), element["nodeID"])
        action, record = element["action"], self.nodes.get(key)
        if action in (CREATE, CREATE_DRAIN):
            self.nodes.setdefault(key, NodeRecord(element, action == CREATE))
        elif action == DECOMISSION:
            self.nodes.pop(key, None)
            self._end_all(lambda one: (one.partition, one.node_id) == key, "its node was removed")
        elif record is not None and action == UPDATE:
            record.map = {**record.map, **element}
        elif record is not None and action in (DRAIN, SCHEDULABLE):
            record.schedulable = action == SCHEDULABLE

    def _sending_new(self, element: dict[str, Any]) -> None:
        self.applications.setdefault((element["partitionName"], element["applicationID"]), ApplicationRecord(element))

    def _sending_remove(self, element: dict[str, Any]) -> None:
        key = element["partitionName"], element["applicationID"]
        self.forget_application(*key)
        self._end_all(lambda one: (one.partition, one.application_id) == key, "its application was removed")

    def _sending_asks(self, element: dict[str, Any]) -> None:
        key = _key(element)
        record = self.allocations.get(key)
        if record is None:
            self.asks[key] = element
        else:
            record.allocation = dataclasses.replace(record.allocation, resources=element["resourceAsk"])

    def _sending_allocations(self, element: dict[str, Any]) -> None:
        self.allocations.setdefault(_key(element), AllocationRecord(allocation_of(element), False))

    def _sending_allocationAsksToRelease(self, element: dict[str, Any]) -> None:
        self.asks.pop(_key(element), None)

    def _sending_allocationsToRelease(self, element: dict[str, Any]) -> None:
        key = _key(element)
        if key[2]:
            self.asks.pop(key, None)  # of an ask that was not placed nothing more is said
            self._end(key, TerminationType(element["terminationType"]), element["message"])
            return
        for ask in [ask for ask in self.asks if ask[:2] == key[:2] and not element.get("keepAsks")]:
            del self.asks[ask]
        self._end_all(lambda one: (one.partition, one.application_id) == key[:2], element["message"])

    def _end_all(self, which: Any, message: str) -> None:
        for key in [key for key, record in self.allocations.items() if which(record.allocation)]:
            self._end(key, TerminationType.STOPPED_BY_RM, message)

    def _end(self, key: Key, kind: TerminationType, message: str) -> None:
        record = self.allocations.pop(key, None)
        if record is not None:
            self.ending[key] = Ending(Release(key[1], key[2], kind, key[0], message, record.allocation.node_id), record)

    def forget_application(self, partition: str, application_id: str) -> None:
        """It is over: its asks are, too. Its allocations are released one by one."""
        self.applications.pop((partition, application_id), None)
        for key in [key for key in self.asks if key[:2] == (partition, application_id)]:
            del self.asks[key]

    # --- what the daemon answered ---

    def accepted_release(self, element: dict[str, Any]) -> Optional[Event]:
        """The daemon took a release. It says no more about one that it asked for."""
        if element["terminationType"] not in ANSWERED:
            return None
        ending = self.ending.pop(_key(element), None)
        self.asked_in.pop(_key(element), None)
        return None if ending is None else Event("released", ending.release)

    def refused(self, element: Element) -> None:
        """The daemon refused a request because of this element: it is as it was before."""
        list_name, found = element
        if list_name == "nodes" and found["action"] in (CREATE, CREATE_DRAIN):
            self.nodes.pop((short_partition(found["attributes"].get(PARTITION_ATTRIBUTE)), found["nodeID"]), None)
        elif list_name == "new":
            self.forget_application(found["partitionName"], found["applicationID"])
        elif list_name == "asks":
            self.asks.pop(_key(found), None)
        elif list_name == "allocations":
            self.allocations.pop(_key(found), None)
        elif list_name == "allocationsToRelease":
            self.release_ignored(_key(found), True)

    def release_ignored(self, key: Key, there: bool) -> None:
        """The daemon did not carry out a release. `there`: the allocation is still there."""
        ending = self.ending.pop(key, None)
        if ending is not None and there:
            self.allocations[key] = ending.record

    def asked(self, release: Release, life: int) -> Event:
        """The daemon wants the end of an allocation."""
        self.asked_in[release.partition, release.application_id, release.key] = life
        return Event("stop_requested", release)

    def placed(self, found: Map) -> Optional[Event]:
        """An allocation that was made, or taken over; none for one that was announced before."""
        key = _key(found)
        record = self.allocations.get(key)
        self.asks.pop(key, None)
        if key in self.ending:
            return None
        announced = record is not None and record.announced
        allocation = allocation_of(found)
        self.allocations[key] = AllocationRecord(allocation, True)
        return None if announced else Event("allocated", allocation)

    def gone(self, release: Release) -> Optional[Event]:
        """An allocation, or the ask that it was, has ended; none for one that is not known, or was reported before."""
        key = release.partition, release.application_id, release.key
        known = [self.asks.pop(key, None), self.allocations.pop(key, None), self.ending.pop(key, None)]
        self.asked_in.pop(key, None)
        return Event("released", release) if any(one is not None for one in known) else None

    def node_of(self, found: Map) -> str:
        """The node of the allocation that a map names, or an empty text."""
        key = _key(found)
        if key in self.allocations:
            return self.allocations[key].allocation.node_id
        return self.ending[key].release.node_id if key in self.ending else ""

    def partition_removed(self, partition: str) -> None:
        """All that was in it is gone."""
        tables: tuple[dict[Any, Any], ...] = (self.nodes, self.applications, self.asks, self.allocations, self.ending, self.asked_in)
        for table in tables:
            for key in [key for key in table if key[0] == partition]:
                del table[key]

    def start_anew(self) -> list[Event]:
        """A recovery begins: the daemon will know what is reported and nothing else. What was ending has ended, and so have
        allocations whose node or application is no longer there."""
        for key, record in list(self.allocations.items()):
            one = record.allocation
            owned = not one.application_id or (one.partition, one.application_id) in self.applications
            if not owned or (one.partition, one.node_id) not in self.nodes:
                self._end(key, TerminationType.STOPPED_BY_RM, "its node or application is gone")
        for key in [key for key in self.asks if key[:2] not in self.applications]:
            del self.asks[key]
        events = [Event("released", ending.release) for ending in self.ending.values()]
        self.ending.clear()
        return events


def _key(found: Map) -> Key:
    return short_partition(found.get("partitionName")), found.get("applicationID") or "", found.get("allocationKey") or ""
