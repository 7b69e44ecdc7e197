# SPDX-License-Identifier: Apache-2.0
"""Sending elements, in several requests where one is refused as a whole."""
from __future__ import annotations

from typing import Any, Callable, Generator, Union

from ..errors import Code, Refused, TooLarge
from .effects import Effect, Request
from .outbox import Element, request_of

Part = list[Element]  # the elements of one request
Refusal = Union[TooLarge, Refused]
Procedure = Generator[Effect, Any, Any]


def send(rm_id: str, elements: Part, left_of: Callable[[Part, Refusal], list[Part]],
         accepted: Callable[[Part], None] = lambda part: None) -> Procedure:
    """Sends elements of one kind. `left_of` says what is to be sent yet of a request that was refused, or raises."""
    parts = [elements]
    while parts:
        part = parts.pop(0)
        try:
            yield Request(*request_of(rm_id, part))
        except (TooLarge, Refused) as error:
            parts = left_of(part, error) + parts
        else:
            accepted(part)


def halves(part: Part) -> list[Part]:
    return [part[:len(part) // 2], part[len(part) // 2:]]


def halves_of_too_much(part: Part, error: Refusal) -> list[Part]:
    """Both halves of a request with too much in it. Raises the error when halves would fare no better."""
    if len(part) == 1 or isinstance(error, Refused) and error.code != Code.E_LIMIT:
        raise error
    return halves(part)
