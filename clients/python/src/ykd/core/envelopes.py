# SPDX-License-Identifier: Apache-2.0
"""Envelopes of requests and replies (section "Messages" of docs/protocol.md)."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Optional

import msgpack

from ..checks import check_type
from ..errors import BadBytes

VERSION = 1


@dataclasses.dataclass(frozen=True)
class Reply:
    """One reply: `body` when it is ok, else `error`. `dup` marks the remembered reply to a request that was sent before."""

    kind: str
    id: int
    ok: bool
    body: dict[str, Any]
    error: dict[str, Any]
    dup: bool


def encode_body(kind: str, body: Mapping[str, Any]) -> bytes:
    """Raises TypeError or ValueError, which name the kind, for a body that msgpack has no form for."""
    check_type("kind", kind, str)
    check_type(f"{kind}: the body", body, Mapping)
    try:
        packed: bytes = msgpack.packb(body)
    except (TypeError, ValueError, OverflowError) as error:
        made = TypeError if isinstance(error, TypeError) else ValueError
        raise made(f"{kind}: the body cannot be sent: {error}; see the types in docs/protocol.md") from error
    return packed


def encode_request(kind: str, id: int, sid: Optional[bytes], seq: Optional[int], ttl: int, body: bytes) -> bytes:
    """The message of a request whose body is packed. `ttl` is in milliseconds."""
    keys: dict[str, Any] = {"v": VERSION, "kind": kind, "id": id, "ttl": ttl}
    if sid is not None:
        keys["sid"] = sid
    if seq is not None:
        keys["seq"] = seq
    packer = msgpack.Packer(autoreset=False)
    packer.pack_map_header(len(keys) + 1)
    for key, value in keys.items():
        packer.pack(key)
        packer.pack(value)
    packer.pack("body")
    head: bytes = packer.bytes()
    return head + body


def decode_reply(message: bytes) -> Reply:
    """Raises BadBytes for what is no reply."""
    try:
        found = msgpack.unpackb(message, ext_hook=_no_extension)
    except Exception as error:  # msgpack raises ValueError, UnicodeDecodeError, its own classes and RecursionError
        raise BadBytes(f"a reply that is no msgpack: {type(error).__name__}: {error}") from error
    if not isinstance(found, dict):
        raise BadBytes("a reply that is no map")
    kind, id, ok = found.get("kind", ""), found.get("id", 0), found.get("ok")
    if not isinstance(kind, str) or not isinstance(id, int) or not isinstance(ok, bool):
        raise BadBytes("a reply without the keys kind, id and ok, or with another type of one")
    body, error_map = ({} if one is None else one for one in (found.get("body"), found.get("err")))
    if not isinstance(body, dict) or not isinstance(error_map, dict):
        raise BadBytes("a reply whose body or err is no map")
    if not ok and not isinstance(error_map.get("code"), int):
        raise BadBytes("a refusal without a code")
    return Reply(kind, id, ok, body, error_map, found.get("dup") is True)


def _no_extension(code: int, data: bytes) -> Any:
    raise ValueError(f"an extension type ({code})")
