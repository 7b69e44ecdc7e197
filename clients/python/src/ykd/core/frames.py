# SPDX-License-Identifier: Apache-2.0
"""Frames of the Scalability Protocols (section "Transport" of docs/protocol.md)."""
from __future__ import annotations

import struct
from ..errors import BadBytes

OUR_GREETING = b"\0SP\0\0\x30\0\0"
THEIR_GREETING = b"\0SP\0\0\x31\0\0"
NUMBER_BIT = 0x80000000  # set in every request number
NUMBER_SIZE = 4
IPC_MARK = b"\x01"


def encode_frame(number: int, message: bytes, ipc: bool) -> bytes:
    """The bytes of a request; `number` is its request number without the highest bit."""
    head = struct.pack(">QI", NUMBER_SIZE + len(message), NUMBER_BIT | number)
    return (IPC_MARK if ipc else b"") + head + message


class FrameReader:
    """Takes the bytes of one connection in parts of any size and gives the replies that are whole.

    It keeps at most one frame of `largest` bytes, and what was received behind it.
    """

    def __init__(self, ipc: bool, largest: int) -> None:
        self._mark = IPC_MARK if ipc else b""
        self._largest = largest
        self._bytes = bytearray()
        self.greeted = False

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Each reply that is whole now: its request number, without the highest bit, and its message.

        Raises BadBytes when the peer is no REP socket, or a frame is malformed or too large: cut the connection then.
        """
        self._bytes += data
        if not self.greeted and not self._greeting():
            return []
        found, at = [], 0
        while True:
            start, end = self._next(at)
            if start == at or end > len(self._bytes):
                break
            (number,) = struct.unpack_from(">I", self._bytes, start)
            if not number & NUMBER_BIT:
                raise BadBytes(f"a reply with the request number {number:#x}, whose highest bit is not set")
            found.append((number & ~NUMBER_BIT, bytes(memoryview(self._bytes)[start + NUMBER_SIZE:end])))
            at = end
        del self._bytes[:at]
        return found

    def _greeting(self) -> bool:
        got = bytes(self._bytes[:len(THEIR_GREETING)])
        if not THEIR_GREETING.startswith(got):
            raise BadBytes(f"the peer greeted with {got.hex(' ')}: it is not ykd, or TLS is spoken on one side only")
        if len(got) < len(THEIR_GREETING):
            return False
        del self._bytes[:len(THEIR_GREETING)]
        self.greeted = True
        return True

    def _next(self, at: int) -> tuple[int, int]:
        """Where the frame at `at` has its request number, and where it ends; (at, at) while its head is not whole."""
        start = at + len(self._mark) + 8
        if self._mark and len(self._bytes) > at and self._bytes[at] != self._mark[0]:
            raise BadBytes(f"a frame begins with the byte {self._bytes[at]:#04x} and not with 0x01")
        if len(self._bytes) < start:
            return at, at
        (size,) = struct.unpack_from(">Q", self._bytes, start - 8)
        if not NUMBER_SIZE <= size <= self._largest:
            raise BadBytes(f"a frame of {size} bytes; a reply has {NUMBER_SIZE} to {self._largest}")
        return start, start + size
