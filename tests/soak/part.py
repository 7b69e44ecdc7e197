# SPDX-License-Identifier: Apache-2.0
"""What the parts of the soak share: a part is a program `NAME.py --size N --seed N --seconds N` whose last line has its figures,
and a function run(size, seed, seconds), which tests/system calls with a small size."""
import argparse
import statistics
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/system")


class Clock:
    """How long a part may go on."""

    def __init__(self, seconds):
        self.begin, self.seconds = time.monotonic(), seconds

    def passed(self):
        return time.monotonic() - self.begin

    def is_over(self):
        return self.passed() > self.seconds


def spread(seconds):
    """Times in words."""
    if not seconds:
        return "none"
    return f"median {statistics.median(seconds) * 1e3:.0f} ms, longest {max(seconds) * 1e3:.0f} ms"


def of(done, wanted):
    """How much was done of what was wanted."""
    return f"{done}" if done >= wanted else f"{done} of {wanted} (time was up)"


def as_program(run, size, what):
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--size", type=int, default=size, help=f"default {size}")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=36_000.0, help="it ends after so long, whatever was done")
    options = parser.parse_args()
    print("seed", options.seed, flush=True)
    try:
        print(run(options.size, options.seed, options.seconds), flush=True)
    except AssertionError as fault:
        sys.exit(f"it did not hold, with the seed {options.seed}: {fault}")
