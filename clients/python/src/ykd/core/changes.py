# SPDX-License-Identifier: Apache-2.0
"""Requests that change something, in the order of their sequence numbers (section "Sessions and sequence numbers")."""
from __future__ import annotations

import collections
from typing import Iterator, Optional

from ..errors import Code, Refused
from .call import Call, filler

MOST_NUMBERED = 16  # as many replies as the daemon remembers of a session
GAP_PAUSE = 0.1  # seconds, after a gap that the error does not explain


class Changes:
    """`waiting` has no numbers yet. `numbered` was sent, and is not answered: each stays until its number is used up, since
    the daemon carries out nothing behind a number that is missing."""

    def __init__(self) -> None:
        self.next_seq = 1
        self.waiting: collections.deque[Call] = collections.deque()
        self.numbered: list[Call] = []

    def ready(self, now: float) -> Optional[Call]:
        """The next change to send; one that was not sent before gets its number now. None while an earlier one has to wait:
        what is sent behind it would only be held by the daemon."""
        for call in self.numbered:
            if not call.under_way:
                return call if call.retry_at <= now else None
        if self.waiting and len(self.numbered) < MOST_NUMBERED:
            call = self.waiting.popleft()
            call.seq = self.next_seq
            return call
        return None

    def sent(self, call: Call) -> None:
        """It was written: its number is taken."""
        if call.seq == self.next_seq:
            self.next_seq += 1
            self.numbered.append(call)

    def answered(self, call: Call) -> None:
        """Its number is used up."""
        if call in self.numbered:
            self.numbered.remove(call)

    def fill(self, call: Call, id: int) -> None:
        """Puts a filler in the place of a call whose number is perhaps still free."""
        if call in self.numbered and call.seq is not None:
            self.numbered[self.numbered.index(call)] = filler(call.seq, id)

    def gap(self, call: Call, refused: Refused, now: float, new_id: Iterator[int]) -> None:
        """The daemon waits for an earlier number. It is under way, or comes again by itself; where nobody has it, fillers
        use up what is missing."""
        call.retry_at = now
        if call not in self.numbered or self.numbered[0] is not call or call.seq is None:
            return
        expected = refused.details.get("expected")
        if isinstance(expected, int) and 0 < expected < call.seq <= expected + MOST_NUMBERED:
            self.numbered[:0] = [filler(seq, next(new_id)) for seq in range(expected, call.seq)]
        elif expected != call.seq:
            call.retry_at = now + GAP_PAUSE

    def start_anew(self, last_seq: int) -> list[Call]:
        """Another session has begun: gives the calls of the former one, in their order, which are in no list any more."""
        former = [*self.numbered, *self.waiting]
        self.numbered, self.waiting, self.next_seq = [], collections.deque(), last_seq + 1
        return former

    def forget(self, call: Call) -> bool:
        """A call that nobody waits for any more. Whether it was sent: then it goes on, to use up its number."""
        if call in self.numbered:
            call.abandoned = True
            return True
        if call in self.waiting:
            self.waiting.remove(call)
        return False


def leaves_number(refused: Refused) -> bool:
    """Whether a refusal that may not be repeated leaves the number free, or may do so: it came before the body's turn."""
    return refused.code < Code.E_RM_UNKNOWN
