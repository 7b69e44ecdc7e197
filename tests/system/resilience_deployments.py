# SPDX-License-Identifier: Apache-2.0
"""The short form of tests/soak/deployments.py: Deployments under load while daemons are killed and stopped and their databases cannot be reached."""
from daemon_support.short_soak import *


def test_deployments_come_to_what_is_wanted():  # rs R-151
    short("deployments", 300, seconds=24.0)


main(globals())
