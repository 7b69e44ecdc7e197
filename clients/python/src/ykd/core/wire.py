# SPDX-License-Identifier: Apache-2.0
"""Values from and to the maps of the protocol. What is empty is left out, as the protocol permits."""
from __future__ import annotations

from typing import Any, Mapping

from ..values import Allocation, Application, ApplicationUpdate, Ask, Node, Rejection, Release, TerminationType, short_partition

Map = Mapping[str, Any]
REQUIRED_NODE = "yunikorn.apache.org/requiredNode"
PARTITION_ATTRIBUTE = "si/node-partition"
CREATE, UPDATE, DRAIN, DECOMISSION, SCHEDULABLE, CREATE_DRAIN = 1, 2, 3, 4, 5, 6


def node_map(node: Node, action: int) -> dict[str, Any]:
    """A NodeInfo for CREATE, CREATE_DRAIN and UPDATE."""
    found = {"nodeID": node.node_id, "action": action, "schedulableResource": dict(node.resources),
             "attributes": {**node.attributes, PARTITION_ATTRIBUTE: node.partition}}
    if node.occupied is not None:
        found["occupiedResource"] = dict(node.occupied)
    if node.devices is not None:
        found["devices"] = {name: list(sizes) for name, sizes in node.devices.items()}
    return found


def application_map(application: Application) -> dict[str, Any]:
    found: dict[str, Any] = {
        "applicationID": application.application_id, "queueName": application.queue, "partitionName": application.partition,
        "ugi": {"user": application.user, "groups": list(application.groups)}, "tags": dict(application.tags),
        "executionTimeoutMilliSeconds": application.execution_timeout_ms, "gangSchedulingStyle": application.gang_style}
    if application.placeholder is not None:
        found["placeholderAsk"] = dict(application.placeholder)
    return found


def ask_map(ask: Ask) -> dict[str, Any]:
    found: dict[str, Any] = {"allocationKey": ask.key, "applicationID": ask.application_id, "resourceAsk": dict(ask.resources)}
    if ask.partition != "default":
        found["partitionName"] = ask.partition
    if ask.priority:
        found["priority"] = ask.priority
    if ask.tags or ask.required_node:
        found["tags"] = {**(ask.tags or {}), **({REQUIRED_NODE: ask.required_node} if ask.required_node else {})}
    if ask.task_group:
        found["taskGroupName"] = ask.task_group
    if ask.placeholder:
        found["placeholder"] = True
    if ask.originator:
        found["originator"] = True
    policy = {"allowPreemptSelf": ask.allow_preempt_self, "allowPreemptOther": ask.allow_preempt_other}
    if any(value is not None for value in policy.values()):
        found["preemptionPolicy"] = {name: value for name, value in policy.items() if value is not None}
    if ask.devices:
        found["devices"] = {name: {"count": count, "each": each} for name, (count, each) in ask.devices.items()}
    return found


def allocation_map(allocation: Allocation) -> dict[str, Any]:
    """An Allocation as the resource manager reports it."""
    found: dict[str, Any] = {
        "allocationKey": allocation.key, "partitionName": allocation.partition, "allocationTags": dict(allocation.tags),
        "resourcePerAlloc": dict(allocation.resources), "nodeID": allocation.node_id, "priority": allocation.priority,
        "taskGroupName": allocation.task_group, "placeholder": allocation.placeholder, "originator": allocation.originator}
    if allocation.application_id:
        found["applicationID"] = allocation.application_id
    if allocation.preemption_policy is not None:
        found["preemptionPolicy"] = dict(allocation.preemption_policy)
    if allocation.devices:
        found["devices"] = {name: [{"index": index, "amount": amount} for index, amount in devices]
                            for name, devices in allocation.devices.items()}
    return found


def release_map(release: Release) -> dict[str, Any]:
    return {"partitionName": release.partition, "applicationID": release.application_id, "allocationKey": release.key,
            "terminationType": int(release.termination_type), "message": release.message}


def allocation_of(found: Map) -> Allocation:
    return Allocation(
        found.get("applicationID") or "", found.get("allocationKey") or "", found.get("nodeID") or "",
        found.get("resourcePerAlloc") or {}, short_partition(found.get("partitionName")), found.get("priority") or 0,
        found.get("allocationTags") or {}, found.get("taskGroupName") or "", bool(found.get("placeholder")),
        bool(found.get("originator")), found.get("preemptionPolicy"), found.get("queueName") or "",
        {name: tuple((each["index"], each["amount"]) for each in devices) for name, devices in (found.get("devices") or {}).items()})


def release_of(found: Map, node_id: str) -> Release:
    number = found.get("terminationType") or 0
    known = number in TerminationType._value2member_map_
    return Release(found.get("applicationID") or "", found.get("allocationKey") or "", TerminationType(number if known else 0),
                   short_partition(found.get("partitionName")), found.get("message") or "", node_id)


def rejection_of(what: str, found: Map) -> Rejection:
    return Rejection(what, found.get("code") or 0, found.get("reason") or "", found.get("nodeID") or "",
                     found.get("applicationID") or "", found.get("allocationKey") or "", short_partition(found.get("partitionName")))


def application_update_of(found: Map) -> ApplicationUpdate:
    return ApplicationUpdate(found.get("applicationID") or "", found.get("state") or "", found.get("message") or "",
                             found.get("stateTransitionTimestamp") or 0, short_partition(found.get("partitionName")))
