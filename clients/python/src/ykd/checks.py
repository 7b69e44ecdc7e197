# SPDX-License-Identifier: Apache-2.0
"""Checks of values before they are sent: one wrong element refuses the whole request that it would be in."""
from __future__ import annotations

import re
from typing import Mapping

LONGEST_IDENTIFIER = 256  # bytes
LONGEST_TEXT = 64 << 10  # bytes, of a tag or attribute
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
MOST, LEAST = (1 << 63) - 1, -(1 << 63)


def check_identifier(field: str, value: str) -> None:
    """Raises TypeError unless it is a text, ValueError for one that is empty, too long or has control characters."""
    if not isinstance(value, str):
        raise TypeError(f"{field} is {value!r}: it must be a text")
    if not value or CONTROL.search(value) or size_of(field, value) > LONGEST_IDENTIFIER:
        raise ValueError(f"{field} {value[:80]!r}: it must have 1 to {LONGEST_IDENTIFIER} bytes and no control characters")


def check_optional(field: str, value: str, longest: int = LONGEST_IDENTIFIER) -> None:
    """As check_identifier, of a text that may be empty, with at most `longest` bytes."""
    if not isinstance(value, str):
        raise TypeError(f"{field} is {value!r}: it must be a text")
    if CONTROL.search(value) or size_of(field, value) > longest:
        raise ValueError(f"{field} {value[:80]!r}: it must have at most {longest} bytes and no control characters")


def size_of(field: str, value: str) -> int:
    """The bytes of a text. Raises ValueError for one that has no form in UTF-8."""
    if value.isascii():
        return len(value)
    try:
        return len(value.encode())
    except UnicodeEncodeError as error:
        raise ValueError(f"{field}: it has no form in UTF-8: {error}") from None


def check_resources(place: str, amounts: Mapping[str, int]) -> None:
    """Raises TypeError unless all amounts are integers, ValueError for one that does not fit 64 bits or has no proper name."""
    for name, amount in amounts.items():
        check_identifier(f"{place}: the name of a resource", name)
        if not isinstance(amount, int) or isinstance(amount, bool):
            raise TypeError(f"{place}: {name} is {amount!r}; it must be an integer: memory in bytes, vcore in thousandths of a core")
        if not LEAST <= amount <= MOST:
            raise ValueError(f"{place}: {name} is {amount}, which does not fit 64 bits")


def check_texts(place: str, texts: Mapping[str, str]) -> None:
    """Raises TypeError unless tags or attributes are texts, ValueError for a key or value that the daemon would refuse."""
    for key, value in texts.items():
        check_identifier(f"{place}: the key of a tag or attribute", key)
        if not isinstance(value, str):
            raise TypeError(f"{place}: {key} is {value!r}: write it as a text")
        if size_of(f"{place}: {key}", value) > LONGEST_TEXT:
            raise ValueError(f"{place}: {key} has more than {LONGEST_TEXT} bytes")
