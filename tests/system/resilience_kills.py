# SPDX-License-Identifier: Apache-2.0
"""The short form of tests/soak/kills.py and stops.py: processes that are killed and stopped under load."""
from daemon_support.short_soak import *


def test_killed_at_random_moments():
    short("kills", 5)


def test_stopped_for_longer_than_allowed():
    short("stops", 1)


main(globals())
