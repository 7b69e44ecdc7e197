# SPDX-License-Identifier: Apache-2.0
"""What a resource manager is asked to send, as elements of requests: the list and the maps in it."""
from __future__ import annotations

from typing import Any, Iterable, Sequence

from ..checks import LONGEST_MESSAGE, check_identifier, check_optional, check_text, each
from ..values import Allocation, Application, Ask, Node, Release, TerminationType
from .outbox import Element
from .wire import (CREATE, CREATE_DRAIN, DECOMISSION, DRAIN, PARTITION_ATTRIBUTE, SCHEDULABLE, UPDATE, allocation_map, application_map,
                   ask_map, node_map, release_map)

Elements = tuple[str, list[dict[str, Any]]]


def new_nodes(nodes: Iterable[Node]) -> Elements:
    return "nodes", [node_map(node, CREATE if node.schedulable else CREATE_DRAIN) for node in each(Node, nodes)]


def changed_nodes(nodes: Iterable[Node]) -> Elements:
    return "nodes", [node_map(node, UPDATE) for node in each(Node, nodes)]


def drained_nodes(node_ids: Sequence[str], partition: str) -> Elements:
    return _node_actions(node_ids, partition, DRAIN)


def undrained_nodes(node_ids: Sequence[str], partition: str) -> Elements:
    return _node_actions(node_ids, partition, SCHEDULABLE)


def removed_nodes(node_ids: Sequence[str], partition: str) -> Elements:
    return _node_actions(node_ids, partition, DECOMISSION)


def new_applications(applications: Iterable[Application]) -> Elements:
    return "new", [application_map(application) for application in each(Application, applications)]


def removed_applications(application_ids: Sequence[str], partition: str) -> Elements:
    check_identifier("partitionName", partition)
    for one in application_ids:
        check_identifier("applicationID", one)
    return "remove", [{"applicationID": one, "partitionName": partition} for one in application_ids]


def asks(asks: Iterable[Ask]) -> Elements:
    return "asks", [ask_map(ask) for ask in each(Ask, asks)]


def removed_asks(application_id: str, keys: Sequence[str], partition: str) -> Elements:
    return "allocationAsksToRelease", _releases(application_id, keys, partition, "")


def reported_allocations(allocations: Iterable[Allocation]) -> Elements:
    checked = list(each(Allocation, allocations))
    for allocation in checked:
        allocation.check()
    return "allocations", [allocation_map(allocation) for allocation in checked]


def released(application_id: str, keys: Sequence[str], partition: str, message: str) -> Elements:
    return "allocationsToRelease", _releases(application_id, keys, partition, message)


def confirmed(release: Release) -> Elements:
    return "allocationsToRelease", [release_map(release)]


def existing(nodes: Iterable[Node], applications: Iterable[Application], allocations: Iterable[Allocation], pending: Iterable[Ask]) -> list[Element]:
    """All that there was before."""
    lists = (new_applications(applications), new_nodes(nodes), reported_allocations(allocations), asks(pending))
    return [Element(list_name, one) for list_name, maps in lists for one in maps]


def _node_actions(node_ids: Sequence[str], partition: str, action: int) -> Elements:
    check_identifier("partitionName", partition)
    for one in node_ids:
        check_identifier("nodeID", one)
    return "nodes", [{"nodeID": one, "action": action, "attributes": {PARTITION_ATTRIBUTE: partition}} for one in node_ids]


def _releases(application_id: str, keys: Sequence[str], partition: str, message: str) -> list[dict[str, Any]]:
    check_optional("applicationID", application_id)
    check_identifier("partitionName", partition)
    check_text("message", message, LONGEST_MESSAGE)
    for key in keys:
        check_identifier("allocationKey", key)
    return [release_map(Release(application_id, key, TerminationType.STOPPED_BY_RM, partition, message)) for key in keys]
