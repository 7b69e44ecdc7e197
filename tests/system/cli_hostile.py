# SPDX-License-Identifier: Apache-2.0
"""No command of ykctl hands on what a terminal obeys, whatever names there are in the daemon (A10): every command that the help
knows, in every form of the output, beside names that command a terminal. A command without a line in COMMANDS of
daemon_support/hostile.py fails this test."""
from daemon_support import *
from daemon_support.hostile import COMMANDS, FORMS, NAME, commands, files_in, hostile_daemon, judge, obeyed_in, try_all

import shutil
import tempfile


def test_every_command_is_tried():
    known, tried = set(commands()), set(COMMANDS)
    check(known == tried, "without a line in COMMANDS:", sorted(known - tried), "not in the help:", sorted(tried - known))


def test_hostile_names():
    place = tempfile.mkdtemp(prefix="yk.", dir="/tmp")
    try:
        os.mkdir(place + "/records")
        with hostile_daemon(place) as daemon:
            files_in(place, daemon)
            said = try_all(daemon.path, place, FORMS)
            judge(said)
            node = [text for words, _, text in said if words == ["node", "show", NAME]]
            check(any("x?31m??" in text for text in node) and any("\\u009b" in text for text in node), "the names are not shown at all", node)
            daemon.signal(signal.SIGUSR1)
            check(not obeyed_in(daemon.text()), "the daemon's log", obeyed_in(daemon.text()))
    finally:
        shutil.rmtree(place, ignore_errors=True)


main(globals())
