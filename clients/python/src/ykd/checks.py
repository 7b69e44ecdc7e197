# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments before they are sent: one wrong element refuses the whole request that it would be in. All raise TypeError for
a value of another type, and ValueError for one that the daemon would refuse."""
from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Type, TypeVar

LONGEST_IDENTIFIER = 256  # bytes
LONGEST_TEXT = 64 << 10  # bytes, of a tag or attribute
LARGEST_TEXTS = 256 << 10  # bytes, of all tags or attributes together
LONGEST_MESSAGE = 4 << 10  # bytes, of a text for people
LONGEST_CONFIG = 4 << 20  # bytes
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
MOST = (1 << 63) - 1
T = TypeVar("T")


def check_type(field: str, value: object, kind: Type[Any]) -> None:
    """True and False are no numbers here."""
    if not isinstance(value, kind) or isinstance(value, bool) and kind is int:
        raise TypeError(f"{field} is {value!r:.80}: it must be of the type {kind.__name__}")


def check_identifier(field: str, value: str) -> None:
    """A text that is not empty and has no control characters."""
    if value == "":
        raise ValueError(f"{field} is empty: it must have 1 to {LONGEST_IDENTIFIER} bytes")
    check_optional(field, value)


def check_optional(field: str, value: str, longest: int = LONGEST_IDENTIFIER) -> None:
    """As check_identifier, of a text that may be empty, with at most `longest` bytes."""
    if value == "":
        return
    check_text(field, value, longest)
    if CONTROL.search(value):
        raise ValueError(f"{field} {value[:80]!r}: it must have no control characters")


def check_text(field: str, value: str, longest: int) -> None:
    """One of at most `longest` bytes."""
    if not isinstance(value, str):  # a call less for each text of each ask
        check_type(field, value, str)
    if size_of(field, value) > longest:
        raise ValueError(f"{field} {value[:80]!r}: it must have at most {longest} bytes")


def size_of(field: str, value: str) -> int:
    """The bytes of a text that has a form in UTF-8."""
    if value.isascii():
        return len(value)
    try:
        return len(value.encode())
    except UnicodeEncodeError as error:
        raise ValueError(f"{field}: it has no form in UTF-8: {error}") from None


def check_integer(field: str, value: int, bits: int, least: int = 0) -> None:
    """One from `least` on that fits so many bits, with its sign."""
    check_type(field, value, int)
    most = (1 << bits - 1) - 1
    if not least <= value <= most:
        raise ValueError(f"{field} is {value}: it must be from {least} to {most}")


def check_resources(place: str, amounts: Mapping[str, int]) -> None:
    """Amounts by names."""
    check_type(place, amounts, Mapping)
    for name, amount in amounts.items():
        check_identifier(f"{place}: the name of a resource", name)
        if not isinstance(amount, int) or isinstance(amount, bool):
            raise TypeError(f"{place}: {name} is {amount!r}; it must be an integer: memory in bytes, vcore in thousandths of a core")
        if not 0 <= amount <= MOST:
            raise ValueError(f"{place}: {name} is {amount}: it must be from 0 to {MOST}")


def check_texts(place: str, texts: Mapping[str, str]) -> None:
    """Tags, attributes or settings."""
    check_type(place, texts, Mapping)
    total = 0
    for key, value in texts.items():
        check_identifier(f"{place}: the key of a tag or attribute", key)
        check_type(f"{place}: {key}", value, str)
        size = size_of(f"{place}: {key}", value)
        total += size_of(place, key) + size
        if size > LONGEST_TEXT:
            raise ValueError(f"{place}: {key} has more than {LONGEST_TEXT} bytes")
    if total > LARGEST_TEXTS:
        raise ValueError(f"{place}: all tags or attributes together have {total} bytes: at most {LARGEST_TEXTS} may be")


def check_list(field: str, values: Collection[Any]) -> None:
    """No text and no map, whose letters or keys would count as elements, and no iterator."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Collection):
        raise TypeError(f"{field} is {values!r:.80}: it must be a list")


def each(kind: Type[T], values: Iterable[T]) -> Iterator[T]:
    """All of the values, which must be of that type."""
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(f"{value!r:.80} is no {kind.__name__}; the elements of a list are given one by one, as in add_nodes(*nodes)")
        yield value
