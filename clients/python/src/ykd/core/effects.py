# SPDX-License-Identifier: Apache-2.0
"""What a procedure asks its driver to do. Procedures are generators that yield these and are sent what came of it, so that a
flavour with threads and one with asyncio run the same steps."""
from __future__ import annotations

import dataclasses
import enum
from typing import Any, Optional, Union

from .books import Event


@dataclasses.dataclass(frozen=True)
class Request:
    """Send it; the answer is the body of the reply, or the exception is raised. `time_limit` is in seconds."""

    kind: str
    body: dict[str, Any]
    time_limit: Optional[float] = None
    channel: int = 0


@dataclasses.dataclass(frozen=True)
class Invoke:
    """Call the method of the callbacks; the answer is what it returns, or its exception is raised."""

    event: Event


class Topic(enum.IntEnum):
    """What procedures wait for: elements to send, callbacks to call, their end, space in the outbox, anything else."""

    OUTBOX = 0
    QUEUE = 1
    POLLS = 2
    SPACE = 3
    STATE = 4


@dataclasses.dataclass(frozen=True)
class Wait:
    """Go on when something of the topic has changed, or after `seconds`, or at any time: the procedure looks again."""

    topic: Topic
    seconds: Optional[float] = None


Effect = Union[Request, Invoke, Wait]
