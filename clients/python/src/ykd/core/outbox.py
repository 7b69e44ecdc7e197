# SPDX-License-Identifier: Apache-2.0
"""What a resource manager has not sent yet, in its order, and the requests that are made of it."""
from __future__ import annotations

import collections
from typing import Any, NamedTuple, Optional

from ..errors import Full

MOST_IN_BATCH = 2000  # elements of one request

# The list that an element is in -> its kind of request, and the place of the list in the order in which the daemon handles them.
LISTS = {
    "nodes": ("UpdateNode", 0),
    "new": ("UpdateApplication", 0), "remove": ("UpdateApplication", 1),
    "allocations": ("UpdateAllocation", 0), "asks": ("UpdateAllocation", 1),
    "allocationAsksToRelease": ("UpdateAllocation", 2), "allocationsToRelease": ("UpdateAllocation", 3)}
WORDS = {"nodes": "node", "new": "application", "remove": "application", "allocations": "allocation", "asks": "ask",
         "allocationAsksToRelease": "release", "allocationsToRelease": "release"}


class Element(NamedTuple):
    """One element of a list of a request."""

    list_name: str
    map: dict[str, Any]


class Outbox:
    """At most `most` elements."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._elements: collections.deque[Element] = collections.deque()

    def __len__(self) -> int:
        return len(self._elements)

    def fits(self, count: int) -> bool:
        """Whether so many more may be added. An empty outbox takes any number that the caller has in memory already."""
        return not self._elements or len(self._elements) + count <= self._most

    def add(self, list_name: str, maps: list[dict[str, Any]]) -> None:
        """Raises Full when they do not fit."""
        if not self.fits(len(maps)):
            raise Full(f"{len(self._elements)} elements wait to be sent and {self._most} may (most_waiting): send more later")
        self._elements.extend(Element(list_name, one) for one in maps)

    def take(self) -> list[Element]:
        """The next elements that go into one request and are handled there in the order in which they were added."""
        taken: list[Element] = []
        kind, rank = "", 0
        while self._elements and len(taken) < MOST_IN_BATCH:
            next_kind, next_rank = LISTS[self._elements[0].list_name]
            if taken and (next_kind != kind or next_rank < rank):
                break
            kind, rank = next_kind, next_rank
            taken.append(self._elements.popleft())
        return taken


def request_of(rm_id: str, elements: list[Element]) -> tuple[str, dict[str, Any]]:
    """The kind and the body of the request with these elements, which are of one kind."""
    body: dict[str, Any] = {"rmID": rm_id}
    for list_name, element in elements:
        place = body.setdefault("releases", {}) if list_name.endswith("ToRelease") else body
        place.setdefault(list_name, []).append(element)
    return LISTS[elements[0].list_name][0], body


def refused_element(elements: list[Element], path: str) -> Optional[Element]:
    """The element that the path of an error names, such as `asks[3].allocationKey`."""
    place, found, rest = path.removeprefix("releases.").partition("[")
    number = rest.partition("]")[0]
    listed = [element for element in elements if element.list_name == place]
    if not found or not number.isdecimal() or int(number) >= len(listed):
        return None
    return listed[int(number)]
