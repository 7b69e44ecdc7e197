# SPDX-License-Identifier: Apache-2.0
"""What a resource manager is called back with."""
from __future__ import annotations

import logging
from typing import Any, Mapping, Union

from .errors import YkdError
from .values import Allocation, ApplicationUpdate, CoreState, Rejection, Release

Map = Mapping[str, Any]


class Callbacks:
    """Override what you need; every method here but rejected() does nothing. With ykd.aio they may be `async def`.

    They are called one at a time and in the order in which things happened, by one thread (with asyncio: by one task). What one
    does not do before it returns counts as handled all the same; the daemon is told afterwards. One that is slow delays the
    others, and nothing else: the client goes on to show the daemon that it lives. When more than the daemon keeps waits meanwhile
    (`limits.outboundMaxItems`) it stops to place, and in the end everything is reported again. One that raises an exception is
    logged by the logger `ykd` and reported to callback_failed().

    Methods of the resource manager may be called, but those that wait for callbacks: sync(), leave(), close().

    Each allocation is announced once by allocated() and its end once by released(), also across restarts of the daemon.
    """

    def node_accepted(self, node_id: str) -> Any:
        """The daemon has taken a node."""

    def application_accepted(self, application_id: str) -> Any:
        """The daemon has taken an application; it has a queue."""

    def application_updated(self, update: ApplicationUpdate) -> Any:
        """The state of an application is another one; after a restart of the daemon it begins again with Accepted."""

    def allocated(self, allocation: Allocation) -> Any:
        """An ask was placed on a node: start it there. Or an allocation that was reported was taken over."""

    def stop_requested(self, release: Release) -> Any:
        """The daemon wants an allocation stopped (a preempted one, a placeholder): stop it, then call confirm(release)."""

    def released(self, release: Release) -> Any:
        """An allocation is gone: because you released it, confirmed its stop, removed its node or application, or it ended with
        them. An ask that ended before it was placed is reported likewise where the daemon says so."""

    def rejected(self, rejection: Rejection) -> Any:
        """The daemon refused one element; nothing of it was done. Unless this is overridden, the logger `ykd` warns of it."""
        logging.getLogger("ykd").warning("%s %s was rejected: %s", rejection.what,
                                         rejection.key or rejection.application_id or rejection.node_id, rejection.reason)

    def state_changed(self, state: CoreState) -> Any:
        """The daemon's state of this resource manager is another one. SUSPENDED: nothing is placed until it polls again."""

    def recovered(self, report: Map) -> Any:
        """Everything was reported again and the daemon has the same: it places from now on. `report` is a RecoveryReport."""

    def recovery_failed(self, report: Map) -> Any:
        """The daemon could not restore what was reported: nothing is placed. Look at `report`, a RecoveryReport, and use
        resolve_recovery(), or ykctl recovery."""

    def container_scheduling_state(self, state: Map) -> Any:
        """UpdateContainerSchedulingState, with the capability `containerState`."""

    def events(self, events: Map) -> Any:
        """SendEvent, with the capability `events` or `events:all`."""

    def resync_cache(self, cache: Map) -> Any:
        """ReSyncSchedulerCache, with the capability `resyncCache`."""

    def echo(self, request: Map) -> Any:
        """Request, with the capability `echoRequests`."""

    def notice(self, notice: Map) -> Any:
        """Notice: PARTITIONS, SHUTDOWN, STATE (which state_changed() reports, too)."""

    def call_predicates(self, call: Map) -> Any:
        """Predicates, with that capability: returns {"results": [{"nodeID", "fits", "reason"}]}, within the daemon's time limit
        (2 s). An exception counts as a no; so it is with the other calls."""
        raise NotImplementedError("call_predicates() is not written")

    def call_preemption_predicates(self, call: Map) -> Any:
        """PreemptionPredicates, with the capability `preemptionPredicates`: returns {"success", "index"}."""
        raise NotImplementedError("call_preemption_predicates() is not written")

    def call_store_configuration(self, call: Map) -> Any:
        """UpdateConfiguration, with the capability `configStore`: returns {"success", "oldConfig", "reason"}."""
        raise NotImplementedError("call_store_configuration() is not written")

    def call_state_dump(self, call: Map) -> Any:
        """GetStateDump, with the capability `stateDump`: returns {"stateDump": JSON text}."""
        raise NotImplementedError("call_state_dump() is not written")

    def callback_failed(self, failure: tuple[str, Exception]) -> Any:
        """A callback raised an exception: its name and the exception."""

    def stopped(self, why: Union[YkdError, None]) -> Any:
        """The last callback: Closed after close() and leave(), NotServing when another process took the resource manager over or the
        daemon refuses it."""
