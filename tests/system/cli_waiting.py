# SPDX-License-Identifier: Apache-2.0
"""How long ykctl waits for a daemon that is busy or has gone, and what it says meanwhile (rs R-159, I-356)."""
import socket
import sqlite3
import tempfile
import time

from daemon_support import *
from daemon_support.running import Running, told

SETTINGS = "mcs: {enabled: true, db: {busyTimeout: 100ms}}\n"
WAITS = "; Ctrl-C ends this"


def test_a_command_with_wait_ends_within_its_timeout_also_while_the_daemon_is_busy():
    with Daemon("--state", "@.", "--settings", "@conf", files={"conf": SETTINGS}) as daemon:
        client = daemon.client()
        until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
        client.change("McsWrite", {"verb": "create", "kind": "deployment", "body": {
            "name": "w", "user": "u", "resource": {"vcore": 1000}, "replicas": 0}})
        with sqlite3.connect(daemon.folder + "/mcs.db", isolation_level=None) as foreign:
            foreign.execute("BEGIN IMMEDIATE")
            for words in (("delete", "w"), ("create", "zz"), ("scale", "w", "1")):
                began = time.monotonic()
                with Running(daemon, "deployment", *words, "--wait", "--timeout", "8s") as command:
                    said = command.ends(1, 6)  # 6: its time was over while the daemon had not answered yet
                took = time.monotonic() - began
                check(took < 20, words, "took", took, "s")  # a request alone has 60 s
                check("E_BUSY" in said and said.count("trying again" + WAITS) == 1, said)
            foreign.execute("ROLLBACK")


def test_what_is_adopted_is_waited_for_until_there_is_as_much_as_is_wanted_now():
    with Daemon("--state", "@.", "--settings", "@conf", files={"conf": SETTINGS}) as daemon:
        client = daemon.client()
        until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
        told(daemon, "mcs", "node", "create", "n", "-R", "vcore=100")
        told(daemon, "deployment", "create", "op", "--id", "op-1", "--replicas", "2", "--delete-mode", "orphan", "--wait")
        for wanted in (5, 3):
            told(daemon, "deployment", "delete", "op")
            told(daemon, "deployment", "create", "op", "--id", "op-1", "--adopt", "--replicas", str(wanted), "--delete-mode", "orphan", "--wait")
            item = client.get("McsRead", {"what": "describe", "kind": "deployment", "id": "op-1"})["item"]
            check(item["schedule"]["placed"] == wanted, item)


def test_a_command_ends_within_its_timeout_while_the_database_cannot_be_opened():
    with Daemon("--state", "@.", "--settings", "@conf", files={"conf": SETTINGS, "mcs.db/blocks": ""}) as daemon:
        for words in (("deployment", "list"), ("deployment", "create", "x"), ("mcs", "node", "list")):
            began = time.monotonic()
            with Running(daemon, *words, "--timeout", "3s") as command:
                said = command.ends(1)
            took = time.monotonic() - began
            check(took < 6, words, "took", took, "s")  # what is read was waited for 5 s more
            check("unable to open database file (E_BUSY)" in said, said)


def cut_off(*words):
    """What ykctl says when the daemon goes away while it waits for an answer, and does not come back."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(folder + "/s")
        listener.listen()
        listener.settimeout(DEADLINE)
        with Running(None, "node", "list", "--timeout", "4s", *words, address=f"ipc://{folder}/s") as command:
            peer, _ = listener.accept()
            listener.close()
            peer.close()
            return command.ends(3).replace(folder, "@")


def test_a_daemon_that_has_gone_is_dialled_again_and_that_is_said():
    said = cut_off()
    check(said.count("ykctl: no answer from ipc://@/s; dialling again" + WAITS) == 1, said)
    said = cut_off("--quiet")
    check("dialling again" not in said and "cannot reach ykd" in said, said)


main(globals())
