# SPDX-License-Identifier: Apache-2.0
"""The short form of tests/soak/takeovers.py: two daemons on one database, of which the one that leads is killed and stopped under load."""
from daemon_support.short_soak import *


def test_a_leader_is_followed_and_writes_nothing_afterwards():  # rs R-139, rs R-140, rs R-141, rs R-142
    short("takeovers", 5, deployments=300)


main(globals())
