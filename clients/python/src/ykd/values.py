# SPDX-License-Identifier: Apache-2.0
"""What resource managers speak of: nodes, applications, asks, allocations, releases. Field names are those of docs/protocol.md
in Python's style. Amounts of resources are maps from a name to an integer: `memory` in bytes, `vcore` in thousandths of a core,
other names are counters. Partitions are named without their resource manager; the usual one is `default`."""
from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Mapping, Sequence
from typing import Optional, Union

from .checks import check_identifier, check_integer, check_list, check_optional, check_resources, check_texts, check_type

Resources = Mapping[str, int]
LEAST_PRIORITY = -1 << 31


class CoreState(enum.IntEnum):
    """The state of a resource manager in the daemon."""

    NEW = 0
    RUNNING = 1
    RECOVERING = 2
    FAILED = 3
    SUSPENDED = 4
    LOST = 5


class TerminationType(enum.IntEnum):
    """Why an allocation ends. The daemon waits for confirm() after TIMEOUT, PREEMPTED_BY_SCHEDULER and PLACEHOLDER_REPLACED."""

    UNKNOWN = 0
    STOPPED_BY_RM = 1
    TIMEOUT = 2
    PREEMPTED_BY_SCHEDULER = 3
    PLACEHOLDER_REPLACED = 4


ANSWERED = frozenset((TerminationType.TIMEOUT, TerminationType.PREEMPTED_BY_SCHEDULER, TerminationType.PLACEHOLDER_REPLACED))


@dataclasses.dataclass(frozen=True)
class Node:
    """A machine. `resources` is its capacity, `occupied` what others use of it; `devices` are the resources that come in devices, with
    the size of each. Raises ValueError or TypeError for values that the daemon would refuse."""

    node_id: str
    resources: Resources
    attributes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    occupied: Optional[Resources] = None
    partition: str = "default"
    schedulable: bool = True
    devices: Optional[Mapping[str, Sequence[int]]] = None

    def __post_init__(self) -> None:
        check_identifier("nodeID", self.node_id)
        check_identifier("partitionName", self.partition)
        check_resources(f"node {self.node_id}", self.resources)
        if self.occupied is not None:
            check_resources(f"node {self.node_id}", self.occupied)
        if self.devices is not None:
            check_type(f"node {self.node_id}: devices", self.devices, Mapping)
            for name, sizes in self.devices.items():
                check_identifier(f"node {self.node_id}: devices", name)
                check_type(f"node {self.node_id}: devices of {name}", sizes, Sequence)
                for size in sizes:
                    check_integer(f"node {self.node_id}: device of {name}", size, 64)
        check_texts(f"node {self.node_id}", self.attributes)
        check_type("schedulable", self.schedulable, bool)


@dataclasses.dataclass(frozen=True)
class Application:
    """What a user submits. `queue` is where it wants to be, such as root.batch; placement rules decide. `placeholder` is the total
    of all placeholders, for a gang; `execution_timeout_ms` how long those may wait, in milliseconds, 0 for the daemon's 15 minutes."""

    application_id: str
    queue: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    tags: Mapping[str, str] = dataclasses.field(default_factory=dict)
    partition: str = "default"
    execution_timeout_ms: int = 0
    placeholder: Optional[Resources] = None
    gang_style: str = ""

    def __post_init__(self) -> None:
        check_identifier("applicationID", self.application_id)
        check_identifier("partitionName", self.partition)
        check_optional("queueName", self.queue, 1024)
        place = f"application {self.application_id}"
        check_list("groups", self.groups)
        for name in (self.user, self.gang_style, *self.groups):
            check_optional(f"{place}: user, group or gang style", name)
        check_texts(place, self.tags)
        check_integer("execution_timeout_ms", self.execution_timeout_ms, 64)
        if self.placeholder is not None:
            check_resources(place, self.placeholder)


@dataclasses.dataclass(frozen=True, slots=True)
class Ask:
    """A request for one allocation of the size `resources`. `key` is unique within the application. A larger `priority` is more
    important. `required_node` pins it to a node. `allow_preempt_self` says whether it may be preempted, `allow_preempt_other` whether
    others may be for it; None leaves both to the daemon. `devices` states how many devices of a resource it wants, and how much of
    each; otherwise the amount says it."""

    application_id: str
    key: str
    resources: Resources
    priority: int = 0
    tags: Optional[Mapping[str, str]] = None
    required_node: str = ""
    task_group: str = ""
    placeholder: bool = False
    originator: bool = False
    allow_preempt_self: Optional[bool] = None
    allow_preempt_other: Optional[bool] = None
    partition: str = "default"
    devices: Optional[Mapping[str, tuple[int, int]]] = None

    def __post_init__(self) -> None:
        check_identifier("applicationID", self.application_id)
        check_optional("requiredNode", self.required_node)
        _check_common(self)
        for policy in (self.allow_preempt_self, self.allow_preempt_other):
            if policy is not None:
                check_type("allow_preempt_self or allow_preempt_other", policy, bool)
        if self.devices is not None:
            check_type(f"{self.key}: devices", self.devices, Mapping)
            _check_devices(self.key, {name: (stated,) for name, stated in self.devices.items()})


@dataclasses.dataclass(frozen=True, slots=True)
class Allocation:
    """An ask that has a node. An empty `application_id` is that of a foreign allocation, which somebody else placed: its `tags` have
    the key `foreign`. `queue` is written by the daemon. `devices` are those of its node that it has: the index of each, and how much."""

    application_id: str
    key: str
    node_id: str
    resources: Resources
    partition: str = "default"
    priority: int = 0
    tags: Mapping[str, str] = dataclasses.field(default_factory=dict)
    task_group: str = ""
    placeholder: bool = False
    originator: bool = False
    preemption_policy: Optional[Mapping[str, bool]] = None
    queue: str = ""
    devices: Mapping[str, Sequence[tuple[int, int]]] = dataclasses.field(default_factory=dict)

    def check(self) -> None:
        """Raises ValueError or TypeError for values that the daemon would refuse. Those that come from it are not checked."""
        check_optional("applicationID", self.application_id)
        check_optional("nodeID", self.node_id)
        _check_common(self)
        if self.preemption_policy is not None:
            check_type("preemption_policy", self.preemption_policy, Mapping)
            for name, policy in self.preemption_policy.items():
                check_type(f"preemption_policy: {name}", policy, bool)
        _check_devices(self.key, self.devices)


def _check_devices(key: str, devices: Mapping[str, Sequence[tuple[int, int]]]) -> None:
    check_type(f"{key}: devices", devices, Mapping)
    for name, pairs in devices.items():
        check_identifier(f"{key}: devices", name)
        for first, amount in pairs:
            check_integer(f"{key}: devices of {name}", first, 32)
            check_integer(f"{key}: devices of {name}", amount, 64)


def _check_common(one: Union[Ask, Allocation]) -> None:
    check_identifier("allocationKey", one.key)
    check_identifier("partitionName", one.partition)
    check_resources(one.key, one.resources)
    check_integer("priority", one.priority, 32, LEAST_PRIORITY)
    check_optional("taskGroupName", one.task_group)
    check_type("placeholder", one.placeholder, bool)
    check_type("originator", one.originator, bool)
    if one.tags is not None:
        check_texts(one.key, one.tags)


@dataclasses.dataclass(frozen=True, slots=True)
class Release:
    """The end of an allocation, `termination_type` says why; `message` is for people. `node_id` is where it was, empty if this
    resource manager does not know."""

    application_id: str
    key: str
    termination_type: TerminationType
    partition: str = "default"
    message: str = ""
    node_id: str = ""


@dataclasses.dataclass(frozen=True)
class Rejection:
    """One element that was refused: `what` is node, application, ask, allocation or release; `code` and `reason` are the daemon's
    (codes 1000 and above in docs/protocol.md, below it those of the request that it was in)."""

    what: str
    code: int
    reason: str
    node_id: str = ""
    application_id: str = ""
    key: str = ""
    partition: str = "default"


@dataclasses.dataclass(frozen=True)
class ApplicationUpdate:
    """A change of the state of an application, such as Accepted, Running or Completed; `at_ns` is in nanoseconds since 1970."""

    application_id: str
    state: str
    message: str
    at_ns: int
    partition: str = "default"


@functools.lru_cache(1024)
def short_partition(name: Optional[str]) -> str:
    """`default` of `[rm]default`, and of an empty name."""
    return (name.rpartition("]")[2] if name else "") or "default"
