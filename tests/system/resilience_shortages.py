# SPDX-License-Identifier: Apache-2.0
"""The short form of tests/soak/disks.py and shortages.py: no disk, no descriptors, no memory, a clock that jumps."""
from daemon_support.short_soak import *

import disks

disks.enter_own_mounts()


def test_disks():
    short("disks", 2)


def test_shortages():
    short("shortages", 1)


main(globals())
