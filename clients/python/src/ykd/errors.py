# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as exceptions. All of them are YkdError; the message names the thing, the place and the way out."""
from __future__ import annotations

import enum
from typing import Any, Mapping


class Code(enum.IntEnum):
    """The codes of errors (section "Error codes" of docs/protocol.md). A newer daemon may send others: compare numbers."""

    E_DECODE = 100
    E_VERSION = 101
    E_KIND = 102
    E_LIMIT = 103
    E_TOO_LARGE = 104
    E_TYPE = 105
    E_MISSING_FIELD = 106
    E_INVALID = 107
    E_AUTH = 200
    E_FORBIDDEN = 201
    E_SESSION_UNKNOWN = 202
    E_SUPERSEDED = 203
    E_SEQ_OLD = 210
    E_SEQ_GAP = 211
    E_SEQ_CONFLICT = 212
    E_ACK_OLD = 220
    E_ACK_FUTURE = 221
    E_STREAM_EPOCH = 222
    E_RM_UNKNOWN = 300
    E_RESYNC_REQUIRED = 301
    E_BAD_STATE = 302
    E_RECOVERY_REQUIRED = 303
    E_BUSY_STATE = 304
    E_CONFIG_INVALID = 310
    E_CONFIG_SOURCE = 311
    E_CONFIG_STORE = 312
    E_NOT_FOUND = 320
    E_BUSY = 400
    E_TIMEOUT = 401
    E_SHUTTING_DOWN = 402
    E_IN_DOUBT = 403
    E_INTERNAL = 500


class YkdError(Exception):
    """The base of all exceptions of this package but ValueError and TypeError, which are for wrong arguments."""


class Refused(YkdError):
    """The daemon answered a request with an error. The request changed nothing.

    `code` is its number and `name` its name, which are stable; `message` is for people. `path` is the field that is wrong,
    relative to the body, or empty. `retryable` errors are sent again by the client itself, until the time limit of the
    request is over; `retry_after` is what the daemon asked for then, in seconds. `details` depends on the code.
    """

    def __init__(self, kind: str, error: Mapping[str, Any]) -> None:
        self.kind = kind
        self.code = _number(error.get("code"))
        self.name = str(error.get("name") or "")
        self.message = str(error.get("message") or "")
        self.path = str(error.get("path") or "")
        self.retryable = error.get("retryable") is True
        self.retry_after = _number(error.get("retryAfterMs")) / 1000
        details = error.get("details")
        self.details: dict[str, Any] = dict(details) if isinstance(details, dict) else {}
        place = f" at {self.path}" if self.path else ""
        super().__init__(f"{kind} was refused{place}: {self.message} ({self.name}, {self.code})")


class NoAnswer(YkdError):
    """There was no answer within the time limit of the request. `sent` says whether it was sent: if it was and it changes
    something, it may have been carried out, or be carried out yet; look before you repeat it."""

    def __init__(self, message: str, sent: bool) -> None:
        self.sent = sent
        super().__init__(message)


class SessionLost(YkdError):
    """The daemon was restarted or forgot the session before the request was carried out. A new session is opened by the
    next request; a resource manager has to be registered again, and reports everything (ResourceManager does so itself)."""


class OutcomeUnknown(SessionLost):
    """As SessionLost, but the request was sent and its answer was lost: it was carried out or it was not. Look before you
    repeat it."""


class TooLarge(YkdError):
    """The request is larger than the daemon takes (`limits.maxMessage` of Hello). It was not sent: send fewer elements."""


class Closed(YkdError):
    """The client or resource manager was closed, by close() or leave(): make a new one."""


class Full(YkdError):
    """More elements wait to be sent than `most_waiting` of the resource manager permits, and this caller must not wait
    because it is a callback, or its time limit is over. Nothing was taken: send it later."""


class NotServing(YkdError):
    """The resource manager has stopped, for the reason in the message: another process took it over, or a registration
    was refused. `__cause__` is the error of the daemon."""


class BadBytes(YkdError):
    """The peer sent what is no message of the protocol. The connection is cut and made anew; a person sees this as the
    reason of a NoAnswer."""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
