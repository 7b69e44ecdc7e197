# SPDX-License-Identifier: Apache-2.0
"""Addresses of a daemon."""
from __future__ import annotations

import dataclasses
import ssl
from typing import Optional

from .checks import check_type

LONGEST_PATH = 107  # bytes; of a Unix socket on Linux


@dataclasses.dataclass(frozen=True)
class Address:
    """Where a daemon listens: `scheme` is ipc, tcp or tls+tcp; `path` is for ipc, `host` and `port` are for the others."""

    scheme: str
    path: str = ""
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ipc://{self.path}" if self.scheme == "ipc" else f"{self.scheme}://{host}:{self.port}"


def parse_address(text: str) -> Address:
    """The address that `text` means: ipc://PATH, tcp://HOST:PORT or tls+tcp://HOST:PORT, an IPv6 host in brackets.

    Raises ValueError for anything else.
    """
    check_type("address", text, str)
    scheme, found, rest = text.partition("://")
    if not found or scheme not in ("ipc", "tcp", "tls+tcp"):
        raise ValueError(f"address {text!r}: write ipc://PATH, tcp://HOST:PORT or tls+tcp://HOST:PORT")
    if scheme == "ipc":
        if not rest or "\0" in rest or len(rest.encode()) > LONGEST_PATH:
            raise ValueError(f"address {text!r}: the path of a socket has 1 to {LONGEST_PATH} bytes")
        return Address(scheme, path=rest)
    host, found, port = rest.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(f"address {text!r}: write an IPv6 host in brackets, as tcp://[::1]:9810")
    if not found or not host or not (port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        raise ValueError(f"address {text!r}: write {scheme}://HOST:PORT with a port from 1 to 65535; 9810 is the usual one")
    return Address(scheme, host=host, port=int(port))


def address_for(text: str, tls: Optional[ssl.SSLContext]) -> Address:
    """As parse_address(), of a client with this `tls`, which belongs to tls+tcp alone. Raises ValueError for what does not go together."""
    if tls is not None:
        check_type("tls", tls, ssl.SSLContext)
    where = parse_address(text)
    if (where.scheme == "tls+tcp") != (tls is not None):
        raise ValueError(f"address {text}: give tls=ssl.create_default_context(cafile=...) with tls+tcp, and with nothing else")
    return where
