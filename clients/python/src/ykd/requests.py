# SPDX-License-Identifier: Apache-2.0
"""Requests as values: their kinds and bodies, as docs/protocol.md has them. Both clients have a method for each."""
from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Optional, Sequence

from .checks import check_list

Map = Mapping[str, Any]


class Request(NamedTuple):
    """A kind, and the body with the fields that were given."""

    kind: str
    body: dict[str, Any]


def _request(kind: str, /, **fields: Any) -> Request:
    return Request(kind, {name: value for name, value in fields.items() if value is not None})


def _list(field: str, values: Sequence[Any]) -> list[Any]:
    check_list(field, values)
    return list(values)


def ping(rm_id: Optional[str]) -> Request:
    return _request("Ping", rmID=rm_id)


def register(rm_id: str, config: Optional[str], version: Optional[str], policy_group: Optional[str], extra_config: Optional[Mapping[str, str]],
             capabilities: Sequence[str], if_registered: Optional[str], recovery: Optional[Map], detached: Optional[Map]) -> Request:
    return _request("RegisterResourceManager", rmID=rm_id, config=config, version=version, policyGroup=policy_group,
                    extraConfig=extra_config, capabilities=_list("capabilities", capabilities), ifRegistered=if_registered, recovery=recovery,
                    detached=detached)


def unregister(rm_id: str, force: bool) -> Request:
    return _request("UnregisterResourceManager", rmID=rm_id, force=force)


def update_nodes(rm_id: str, nodes: Sequence[Map]) -> Request:
    return _request("UpdateNode", rmID=rm_id, nodes=_list("nodes", nodes))


def update_applications(rm_id: str, new: Sequence[Map], remove: Sequence[Map]) -> Request:
    return _request("UpdateApplication", rmID=rm_id, new=_list("new", new), remove=_list("remove", remove))


def update_allocations(rm_id: str, asks: Sequence[Map], allocations: Sequence[Map], releases: Sequence[Map],
                       ask_releases: Sequence[Map]) -> Request:
    return _request("UpdateAllocation", rmID=rm_id, asks=_list("asks", asks), allocations=_list("allocations", allocations),
                    releases={"allocationsToRelease": _list("releases", releases),
                              "allocationAsksToRelease": _list("ask_releases", ask_releases)})


def poll(rm_id: str, stream_epoch: int, ack: int, max_items: int, max_bytes: int, wait_ms: int) -> Request:
    return _request("Poll", rmID=rm_id, streamEpoch=stream_epoch, ack=ack, maxItems=max_items, maxBytes=max_bytes, waitMs=wait_ms)


def call_result(rm_id: str, stream_epoch: int, call: int, result: Optional[Map], error: Optional[str]) -> Request:
    return _request("CallResult", rmID=rm_id, streamEpoch=stream_epoch, call=call, ok=error is None, error=error, result=result)


def sync(rm_id: str, position: Optional[int], asks: Optional[Sequence[Map]]) -> Request:
    return _request("Sync", rmID=rm_id, position=position, asks=None if asks is None else _list("asks", asks))


def recovery_done(rm_id: str, id: str, attempt: int, expected: Map, digest: Map) -> Request:
    return _request("RecoveryDone", rmID=rm_id, id=id, attempt=attempt, expected=expected, digest=digest)


def recovery_list(rm_id: str, kind: str, bucket: Optional[int], cursor: Optional[str], limit: int) -> Request:
    return _request("RecoveryList", rmID=rm_id, kind=kind, bucket=bucket, cursor=cursor, limit=limit)


def resolve_recovery(rm_id: str, action: str) -> Request:
    return _request("ResolveRecovery", rmID=rm_id, action=action)


def update_configuration(rm_id: str, config: Optional[str], policy_group: Optional[str], extra_config: Optional[Mapping[str, str]],
                         dry_run: bool, checksum: Optional[str], source: Optional[str]) -> Request:
    return _request("UpdateConfiguration", rmID=rm_id, config=config, policyGroup=policy_group, extraConfig=extra_config, dryRun=dry_run,
                    checksum=checksum, source=source)


def validate_configuration(config: str, rm_id: Optional[str], diff: bool) -> Request:
    return _request("ValidateConfiguration", config=config, rmID=rm_id, diff=diff)


def reload(rm_id: Optional[str], from_file: bool, dry_run: bool) -> Request:
    return _request("Reload", rmID=rm_id, fromFile=from_file, dryRun=dry_run)


def dump(what: str, cursor: Optional[str], filters: Map) -> Request:
    return _request("Dump", what=what, cursor=cursor, **filters)


def explain(what: str, fields: Map) -> Request:
    return _request("Explain", what=what, **fields)


def events(start: int, count: int, filter: Optional[Map]) -> Request:
    return _request("Events", start=start, count=count, filter=filter)


def stream_log(rm_id: str, after: int, count: int) -> Request:
    return _request("StreamLog", rmID=rm_id, after=after, count=count)


def metrics(prefix: Optional[str], cursor: Optional[str]) -> Request:
    return _request("Metrics", format="map", prefix=prefix, cursor=cursor)


def health(run: bool, invariants: bool) -> Request:
    return _request("Health", run=run, invariants=invariants)
