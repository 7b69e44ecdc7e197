# SPDX-License-Identifier: Apache-2.0
"""The lines and hashes that both sides of a recovery compare (section "Recovery" of docs/protocol.md)."""
from __future__ import annotations

from typing import Iterable, Mapping

MASK = (1 << 64) - 1
START, PRIME = 0xCBF29CE484222325, 0x100000001B3


def node_line(partition: str, node_id: str, capacity: Mapping[str, int], schedulable: bool) -> str:
    return f"N\t{partition}\t{node_id}\t{_amounts(capacity)}\t{int(schedulable)}\n"


def application_line(partition: str, application_id: str) -> str:
    return f"A\t{partition}\t{application_id}\n"


def allocation_line(partition: str, application_id: str, key: str, node_id: str, size: Mapping[str, int], placeholder: bool) -> str:
    return f"L\t{partition}\t{application_id}\t{key}\t{node_id}\t{_amounts(size)}\t{int(placeholder)}\n"


def line_hash(line: str) -> int:
    """FNV-1a with 64 bits, mixed."""
    found = START
    for byte in line.encode():
        found = (found ^ byte) * PRIME & MASK
    found = (found ^ found >> 30) * 0xBF58476D1CE4E5B9 & MASK
    found = (found ^ found >> 27) * 0x94D049BB133111EB & MASK
    return found ^ found >> 31


def digest(hashes: Iterable[int]) -> int:
    """One number for all objects of a kind, whatever their order."""
    return sum(hashes) & MASK


def _amounts(amounts: Mapping[str, int]) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in sorted(amounts, key=str.encode) if amounts[name])
