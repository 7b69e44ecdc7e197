# SPDX-License-Identifier: Apache-2.0
"""No command of ykctl hands on what a terminal obeys, or crashes, whatever a daemon says (A10): through a relay that puts such a text
into every text of every answer, and such a name into every map."""
from daemon_support import *
from daemon_support.hostile import TEXT, files_in, hostile_daemon, judge, try_all
from daemon_support.relay import Spoiling

import shutil
import tempfile


def test_hostile_answers():
    place = tempfile.mkdtemp(prefix="yk.", dir="/tmp")
    try:
        os.mkdir(place + "/records")
        with hostile_daemon(place) as daemon:
            files_in(place, daemon)
            relay = Spoiling(daemon, TEXT)
            judge(try_all(relay.path, place, [("wide", "always"), ("json", "never")]))
            relay.close()
        with hostile_daemon(place) as daemon:
            relay = Spoiling(daemon, TEXT, keys_too=True)
            judge(try_all(relay.path, place, [("wide", "never")]))
            relay.close()
    finally:
        shutil.rmtree(place, ignore_errors=True)


main(globals())
