# SPDX-License-Identifier: Apache-2.0
"""The short form of tests/soak/churn.py: a few simulated hours on some nodes."""
from daemon_support.short_soak import *


def test_churn_drifts_nowhere():
    short("churn", 2, nodes=60, rounds=30)


main(globals())
