# SPDX-License-Identifier: Apache-2.0
"""What others send does not come back broken (A5), does not fill the log (A6), and commands no terminal (A10); nobody else
chooses which file the daemon writes (A10)."""
from daemon_support import *

import json
import random
import tempfile

C1, OVERRIDE = "\u009b31m", "\u202e"
OBEYED = set(range(0x80, 0xa0)) | set(range(0x202a, 0x202f)) | set(range(0x2066, 0x206a)) | set(range(0x20)) - {10} | {127}


def is_harmless(text):
    return not OBEYED & {ord(letter) for letter in text}


def ykctl(daemon, *words):
    done = subprocess.run([os.path.join(os.environ["YK_BIN"], "ykctl"), "-s", "ipc://" + daemon.path, *words], check=True,
                          capture_output=True, env={**os.environ, "NO_COLOR": "1"})
    return done.stdout.decode()  # strict: UTF-8 it is


def test_replies_about_any_text_are_utf8():  # A5
    letters = ["a", ":", " ", "\n", "- ", "[", "{", "}", "]", '"', "*", "é", "€", "😀", OVERRIDE, "partitions: ", "queues: "]
    randomly = random.Random(12)
    with Daemon() as daemon:
        client = daemon.client()
        reply = client.get("ValidateConfiguration", {"config": "partitions: " + "é" * 8})  # receive() is strict
        check("ééé..." in reply["reason"], reply)
        for _ in range(300):
            text = "partitions: " + "".join(randomly.choice(letters) for _ in range(randomly.randrange(60)))
            reply = client.get("ValidateConfiguration", {"config": text})
            check(all(is_harmless(problem["message"] + problem["path"]) for problem in reply["problems"]), text, reply)
            check(is_harmless(reply["reason"]), text, reply)


def test_one_request_writes_a_bounded_log():  # A6
    unknown = CONFIG + "".join(f"unknown{i}: 1\n" for i in range(3000))
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        before = len(daemon.text())
        for extra in ({"config": unknown, "dryRun": True}, {"config": unknown + "x: 1\n"}, {"config": "x: 1\n" * 150000}):
            client.refused("E_CONFIG_INVALID", "UpdateConfiguration", {"rmID": "rm:1", **extra}, mutating=True)
        client.change("UpdateConfiguration", {"rmID": "rm:1", "config": CONFIG,
                                              "extraConfig": {f"key.{i}." + "k" * 230: "v" for i in range(1000)}})
        until("the last of it is logged", lambda: "and 990 more" in daemon.text())
        check("refused, the old one stays: config:" in daemon.text())
        check(len(daemon.text()) - before < 20000, len(daemon.text()) - before)


def test_what_a_terminal_obeys_is_shown_nowhere():  # A10
    rm = "rm" + C1 + OVERRIDE
    with Daemon() as daemon:
        client = daemon.client()
        client.register(rm=rm)
        client.change("UpdateNode", {"rmID": rm, "nodes": [{"nodeID": "n" + C1 + OVERRIDE, "action": 1, "attributes": {},
                                                             "schedulableResource": {"vcore" + C1: 1000}}]})
        client.get("Sync", {"rmID": rm})
        daemon.signal(signal.SIGUSR1)
        until("the RM is logged", lambda: "inbound 0" in daemon.text())
        check(is_harmless(daemon.text()), repr(daemon.text()))
        for words in (("metrics",), ("dump", "all"), ("status",), ("node", "list"), ("node", "list", "-o", "yaml"),
                      ("node", "list", "-o", "jsonl"), ("node", "list", "-o", "name"), ("config", "show")):
            said = ykctl(daemon, *words)
            check(is_harmless(said), words, [line for line in said.splitlines() if not is_harmless(line)][:3])
        node = json.loads(ykctl(daemon, "node", "list", "-o", "json"))["items"][0]
        check(node["nodeID"] == "n" + C1 + OVERRIDE, node)  # nothing is lost
        check('\\\\u009b' in ykctl(daemon, "metrics"))


def test_links_and_files_of_others_are_not_written_to():  # A10
    if os.geteuid() != 0:
        print("SKIP: only root can make files of another user")
        return
    with Daemon("--log-target", "@ykd.log", wait=False) as daemon:  # for its folder
        until("it logs", lambda: os.path.exists(daemon.folder + "/ykd.log"))
        shared = daemon.folder + "/shared"
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        victim = daemon.write("victim", "precious")
        os.symlink(victim, shared + "/link")
        os.lchown(shared + "/link", 65534, 65534)
        with open(shared + "/file", "w", encoding="utf-8") as file:
            file.write("theirs")
        os.chown(shared + "/file", 65534, 65534)
        os.chmod(shared + "/file", 0o666)
        for flag, name in (("--pidfile", "link"), ("--log-target", "link"), ("--pidfile", "file"), ("--log-target", "file")):
            with Daemon(flag, f"{shared}/{name}", wait=False) as other:
                check(other.exit_code() == 1, flag, name)
                check(f" in {shared}, where everybody may write" in other.text(), other.text())
        for path, text in ((victim, "precious"), (shared + "/file", "theirs")):
            with open(path, encoding="utf-8") as file:
                check(file.read() == text, path)
        os.symlink(victim, daemon.folder + "/mine")  # nobody else could have put it there
        with Daemon("--pidfile", daemon.folder + "/mine") as other:
            with open(victim, encoding="utf-8") as file:
                check(file.read() == f"{other.process.pid}\n")


main(globals())
