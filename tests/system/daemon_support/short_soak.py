# SPDX-License-Identifier: Apache-2.0
"""The parts of tests/soak in their short form, for tests/system."""
import importlib
import os
import sys

from daemon_support import main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../soak"))


def short(name, size, seed=1, seconds=60.0, **more):
    print(importlib.import_module(name).run(size, seed, seconds, **more), flush=True)


__all__ = ["main", "short"]
