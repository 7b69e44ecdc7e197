# SPDX-License-Identifier: Apache-2.0
"""One request from its submission to its outcome."""
from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

from ..errors import Refused
from .envelopes import encode_body

# Kinds that change something and need a sequence number (column M of docs/protocol.md).
CHANGES = frozenset((
    "RegisterResourceManager", "UnregisterResourceManager", "UpdateAllocation", "UpdateApplication", "UpdateNode",
    "UpdateConfiguration", "Reload", "RecoveryDone", "ResolveRecovery", "Step", "Clock", "SetExtraConfig", "McsWrite", "Shutdown"))
# Kinds that mean nothing in another session, because it owns no resource manager.
BOUND = frozenset((
    "UnregisterResourceManager", "UpdateAllocation", "UpdateApplication", "UpdateNode", "UpdateConfiguration", "RecoveryDone",
    "ResolveRecovery", "Poll", "CallResult", "Sync"))
LONGEST_TTL = 120_000  # milliseconds; the daemon cuts to it
FILLER = ("UpdateNode", encode_body("UpdateNode", {}))


class Call:
    """A request. The session changes it; others read `outcome` and `error` when it is done, which is said by `on_done`.

    `time_limit` is in seconds, None for none. `channel` is the number of the connection that it goes over.
    """

    __slots__ = ("kind", "body", "channel", "time_limit", "deadline", "ttl", "changes", "on_done", "id", "seq", "generation",
                 "ever_sent", "uncertain", "under_way", "sent_at", "retry_at", "abandoned", "fills", "counted", "refusal", "done", "outcome", "error")

    def __init__(self, kind: str, body: Mapping[str, Any], time_limit: Optional[float] = None, channel: int = 0,
                 on_done: Optional[Callable[["Call"], None]] = None) -> None:
        self.kind = kind
        self.body = encode_body(kind, body)
        self.channel = channel
        self.time_limit = time_limit
        self.deadline: Optional[float] = None
        self.ttl = _ttl(body, time_limit)
        self.changes = kind in CHANGES
        self.on_done = on_done
        self.id = 0
        self.seq: Optional[int] = None
        self.generation = 0  # of the session in which it was sent
        self.ever_sent = False
        self.uncertain = False  # it was sent and the connection was cut: it may have been carried out
        self.under_way = False  # on a connection that is there
        self.sent_at = 0.0
        self.retry_at = 0.0
        self.abandoned = False  # nobody waits for it any more; its sequence number has to be used up all the same
        self.fills = False  # it does nothing but use up its number
        self.counted = False  # among the open calls of the session
        self.refusal: Optional[Refused] = None  # it is sent again after that
        self.done = False
        self.outcome: dict[str, Any] = {}
        self.error: Optional[Exception] = None

    def become_filler(self) -> None:
        """Makes it a request that uses up the sequence number and does nothing: it is refused for want of an rmID."""
        self.kind, self.body = FILLER
        self.abandoned = self.fills = True


def filler(seq: int, id: int) -> Call:
    """A request that uses up `seq` and does nothing."""
    made = Call("UpdateNode", {})
    made.become_filler()
    made.seq, made.id = seq, id
    return made


def _ttl(body: Mapping[str, Any], time_limit: Optional[float]) -> int:
    wait = body.get("waitMs", 0)
    least = wait + 5000 if isinstance(wait, int) and wait > 0 else 1
    wanted = 30_000 if time_limit is None else int(time_limit * 1000)
    return max(1, min(LONGEST_TTL, max(least, wanted)))
