# SPDX-License-Identifier: Apache-2.0
"""whoami, can-i, and what stands below a refusal for lack of a role (annoyance 17 of the administrator's day, missing 9)."""
import hashlib
import json
import subprocess

from daemon_support import *
from daemon_support.running import YKCTL, told, told_as

PEERS = "peers:\n  - {uid: 1234, role: rm, rms: 'mine-*'}\n"


def opened():
    return Daemon("--settings", "@conf", "--socket-mode", "0666", files={"conf": PEERS})


def test_who_and_what():
    with opened() as daemon:
        me = json.loads(told(daemon, "whoami", "-o", "json"))["item"]
        check(me == {"who": f"uid {os.getuid()}", "address": f"uid {os.getuid()}", "role": "admin", "rms": "*", "socket": "ipc://" + daemon.path}, me)
        check("may act for:  every RM" in told(daemon, "whoami"), told(daemon, "whoami"))
        check(told(daemon, "can-i", "config", "reload") == "yes\n", "an admin")
        check("ykctl config reload" in told(daemon, "can-i", "reload", status=2), "what the verb means")
        check("an address?  -s ./s" in told(daemon, "context", "add", "lab", "./s", status=2), "an address without its option")
        if os.getuid() != 0:
            return
        said = told_as(4321, daemon, "whoami")
        check("you:          uid 4321\n" in said and "role:         observer\n" in said and "may act for:  none\n" in said, said)
        said = told_as(4321, daemon, "can-i", "node", "drain", "n-1", status=5)
        check("no: node drain needs role rm, and uid 4321 has observer\n" in said and "`peers` of ykd.conf(5)" in said, said)
        check(told_as(4321, daemon, "can-i", "node", "list") == "yes\n", "all may look")
        item = json.loads(told_as(4321, daemon, "can-i", "deployment", "create", "-o", "json", status=5))["item"]
        check(item == {"command": "deployment create", "allowed": False, "needs": "admin", "role": "observer", "kind": "McsWrite",
                       "reason": "deployment create needs role admin, and uid 4321 has observer"}, item)
        check(told_as(1234, daemon, "can-i", "app", "add") == "yes, for RMs that match mine-*\n", "role rm")
        check(told_as(1234, daemon, "can-i", "app", "add", "-r", "mine-1") == "yes\n", "one of its own")
        said = told_as(1234, daemon, "can-i", "app", "add", "-r", "other", status=5)
        check("no: uid 1234 may act for RMs that match mine-*, and other does not" in said, said)


def test_a_token():
    port = free_port()
    with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens",
                files={"tokens": f"rm mine-* {hashlib.sha256(b'hush').hexdigest()}\n", "token": "hush\n"}) as daemon:
        done = subprocess.run([YKCTL, "-s", f"tcp://127.0.0.1:{port}", "--token-file", daemon.folder + "/token", "whoami"], capture_output=True, text=True, check=True)
        said = done.stdout
        check("you:          token rm mine-* (" in said and "from:         127.0.0.1" in said and "role:         rm\n" in said, said)


def test_the_way_out_of_a_refusal():
    if os.getuid() != 0:
        return
    with opened() as daemon:
        told(daemon, "rm", "register", "a")
        for words in (("node", "add", "n", "-R", "vcore=1"), ("rm", "register", "b"), ("app", "add", "x"), ("deployment", "create", "web")):
            said = told_as(4321, daemon, *words, status=5)
            check("E_FORBIDDEN" in said and "\n  what may you do here?  ykctl whoami" in said and "`peers` in ykd.conf(5)" in said, words, said)


def test_what_is_no_command():
    with opened() as daemon:
        check("there is no command 'nod drain'; did you mean 'node'?" in told(daemon, "can-i", "nod", "drain", status=2), "a word")
        check("what of node? There are: add, list" in told(daemon, "can-i", "node", status=2), "a noun alone")
        check(told(daemon, "can-i", "node", "ls") == "yes\n", "another name of a command")


main(globals())
