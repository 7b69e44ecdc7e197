# SPDX-License-Identifier: Apache-2.0
"""How long to wait before something is tried again."""
from __future__ import annotations

import random

FIRST = 0.05  # seconds
LONGEST = 5.0
RETRY = 0.01  # seconds of jitter at least, after a refusal that may be repeated


class Backoff:
    """Doubles from FIRST to LONGEST with every failure. Half of each pause is chance, so that clients do not come together."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._pause = FIRST

    def succeeded(self) -> None:
        """Begins anew."""
        self._pause = FIRST

    def failed(self) -> float:
        """The pause before the next attempt, in seconds."""
        pause, self._pause = self._pause, min(LONGEST, self._pause * 2)
        return pause * self._chance.uniform(0.5, 1)

    def retry(self, wanted: float) -> float:
        """The pause before a request is sent again that the daemon wants `wanted` seconds later."""
        return wanted + self._chance.uniform(0, max(RETRY, wanted / 2))
