# SPDX-License-Identifier: Apache-2.0
"""An administrator's day, played again: each annoyance of the first one by its number, the guesses at commands, and the work-arounds of a
script. Most have tests of their own that look closer: cli_completions, cli_apply, cli_filters, cli_terminals, cli_wait, cli_whoami, daemon_places."""
import contextlib
import json
import os
import re
import signal
import subprocess
import time

from daemon_support import *
from daemon_support.running import PROD_AND_BATCH, YKCTL, Running, told, told_as

def started():
    daemon = Daemon("--config", "@queues.yaml", files={"queues.yaml": PROD_AND_BATCH})
    told(daemon, "rm", "register", "a")
    told(daemon, "node", "add", "w", "--count", "12", "-R", "memory=64Gi,vcore=16")
    told(daemon, "app", "add", "job", "-q", "root.prod")
    return daemon


def answer(daemon, *words, env=None):
    done = subprocess.run([YKCTL, "-s", daemon.path, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout + done.stderr


def test_annoyance_01_names_are_completed():
    with started() as daemon:
        for words, wanted in ((("names", "node"), "w-1"), (("names", "app"), "job"), (("names", "queue"), "root.prod")):
            check(wanted in told(daemon, *words).split(), words, told(daemon, *words))
        daemon.end()
        begun = time.monotonic()
        check(answer(daemon, "names", "node")[1] == "", "silent without a daemon")
        check(time.monotonic() - begun < 2, "and quick")


def test_annoyance_02_quantities_in_files():
    with started() as daemon:
        path = daemon.write("n.yaml", "nodeID: n\nschedulableResource: {memory: 64Gi, vcore: 16}\n")
        check(told(daemon, "node", "add", "-f", path) == "node n added\n", "suffixes")
        check("no fractions: write 1500m" in answer(daemon, "node", "add", "m", "-R", "vcore=1.5")[1], "the way out of a fraction")


def test_annoyance_03_what_is_read_can_be_written():
    with started() as daemon:
        shown = daemon.write("w.yaml", told(daemon, "node", "show", "w-1", "-o", "yaml"))
        check(told(daemon, "apply", "-f", shown) == "node w-1 unchanged\n", "by apply")
        told(daemon, "node", "remove", "w-1")
        check(told(daemon, "node", "add", "-f", shown) == "node w-1 added\n", "by node add")


def test_annoyance_04_help_names_the_global_options_and_has_an_example():
    with started() as daemon:
        said = told(daemon, "node", "list", "--help")
        check("ykctl --help" in said and "xample" in said and "ykctl node list" in said, said)


def test_annoyance_05_lists_fit_80_columns():
    with started() as daemon:
        check(max(map(len, told(daemon, "node", "list").splitlines())) <= 80, told(daemon, "node", "list"))


def test_annoyance_06_filters_and_natural_order():
    with started() as daemon:
        check(told(daemon, "node", "list", "w-1*", "--state", "Active", "--sort-by", "state,name", "-o", "name").split() == ["w-1", "w-10", "w-11", "w-12"], "all of them")
        for kind in ("node", "queue", "app"):
            check(told(daemon, kind, "list").startswith("NAME "), kind)


def test_annoyance_07_everything_can_be_watched():
    with started() as daemon:
        told(daemon, "ask", "add", "job", "--key", "k", "-R", "vcore=1")
        for words in (("status",), ("queue", "tree"), ("health",), ("alloc", "show", "k"), ("node", "show", "w-1"), ("app", "show", "job"),
                      ("explain", "ask", "k"), ("explain", "app", "job"), ("explain", "node", "w-1"), ("explain", "user", "kim", "root.prod")):
            with Running(daemon, *words, "-w", "--interval", "50ms", "-o", "jsonl") as watch:
                until(f"{words} says something", lambda: '"change":"added"' in watch.out)
                watch.signal(15)
                watch.ends(130)


def test_annoyance_08_a_large_application_is_shown_shortly():
    with started() as daemon:
        told(daemon, "ask", "add", "job", "--key", "k", "-n", "150", "-R", "vcore=1")
        told(daemon, "ask", "add", "job", "--key", "w", "-n", "1500", "-R", "vcore=99")
        said = told(daemon, "app", "show", "job")
        check(len(said.splitlines()) < 70 and "... 130 more:  ykctl alloc list --app job" in said and "... 1480 more:  ykctl ask list --app job" in said, said)
        said = told(daemon, "app", "show", "job", "-o", "wide")
        check(said.count(" w-") >= 150 and "more:" not in said, "all with -o wide", said[-300:])
        item = json.loads(told(daemon, "app", "show", "job", "-o", "json"))["item"]
        check(len(item["allocations"]) == 150 and len(item["requests"]) == 1500, "and in JSON")
        told(daemon, "ask", "add", "job", "--key", "x", "-n", "40", "-R", "vcore=1", "--required-node", "w-12")
        check("more:  ykctl alloc list --node w-12" in told(daemon, "node", "show", "w-12") or len(told(daemon, "node", "show", "w-12").splitlines()) < 40, "a node")


def test_annoyance_09_followers_lock_no_admin_out():
    with Daemon("--max-sessions", "16") as daemon:
        followers = []
        while len(followers) < 40:
            try:
                followers.append(daemon.client(role="observer"))
            except AssertionError as refusal:
                check("more than half are not given to one identity" in str(refusal), refusal)
                break
        check(4 < len(followers) <= 8, "they live", len(followers))
        check("no RM is registered" in told(daemon, "status"), "an admin gets in")
    with Daemon("--max-sessions", "16") as daemon:  # those of ykctl, of an administrator
        told(daemon, "rm", "register", "a")
        with contextlib.ExitStack() as ends:
            watching = [ends.enter_context(Running(daemon, *words)) for _ in range(10)
                        for words in (("node", "list", "-w"), ("events", "--follow"), ("queue", "show", "root", "-w"))]
            until("all but as many as may are refused", lambda: sum(bool(one.err) or one.process.poll() is not None for one in watching) == 22)
            check(told(daemon, "rm", "list", "-o", "name") == "a\n", "an administrator gets in")
            with Running(daemon, "audit", "-w") as audit:
                audit.says("RegisterResourceManager", on="out")


def test_annoyance_10_dumb_terminals_and_locales():
    with started() as daemon:
        code, said = answer(daemon, "queue", "tree", env={"LC_ALL": "C"})
        check(code == 0 and said.isascii(), said)
        code, said = answer(daemon, "queue", "tree", env={"LC_ALL": "", "LANG": "", "LC_CTYPE": ""})
        check("\u2514" in said or "\u251c" in said, "a locale that is empty is none", said)
        with Running(daemon, "node", "list", terminal=True) as list_:
            list_.says("w-12", on="out")


def test_annoyance_11_addresses_are_paths_too():
    with started() as daemon:
        check(not daemon.path.startswith("ipc:") and answer(daemon, "ping")[0] == 0, "without ipc://")


def test_annoyance_12_what_exists_is_left_alone():
    with started() as daemon:
        path = daemon.write("w.yaml", "".join(f"- {{nodeID: w-{i}, capacity: {{vcore: 16}}}}\n" for i in range(1, 13)))
        check(told(daemon, "node", "add", "-f", path, "--if-not-exists") == "".join(f"node w-{i} unchanged\n" for i in range(1, 13)), "one after the other")


def test_annoyance_13_a_large_file_is_told_by_one_limit():
    with started() as daemon:
        said = [answer(daemon, "config", "check", daemon.write(f"{size}.yaml", "#" * (size << 20) + "\npartitions: []\n")) for size in (2, 5, 14)]
        check({code for code, _ in said} == {2} or len({re.sub(r"[0-9]+", "N", text) for _, text in said}) == 1, said)


def test_annoyance_14_an_empty_configuration_and_unknown_resources_are_warned_of():
    with started() as daemon:
        code, said = answer(daemon, "config", "check", daemon.write("empty.yaml", ""))
        check(code == 0 and "warning" in said, said)
        text = "partitions: [{name: default, queues: [{name: root, queues: [{name: a, resources: {max: {vcores: 10}}}]}]}]\n"
        code, said = answer(daemon, "config", "check", "--strict", daemon.write("typo.yaml", text))
        check(code == 8 and "vcores" in said and "did you mean" in said, code, said)


def test_annoyance_15_no_go_in_messages():
    with started() as daemon:
        for text in ("partitions: [{name: default, queus: []}]\n",
                     "partitions: [{name: default, queues: [{name: root, queues: [{name: a, resources: {guaranteed: {memory: 200Gi}, max: {memory: 100Gi}}}]}]}]\n"):
            _, said = answer(daemon, "config", "check", daemon.write("bad.yaml", text))
            check("map[" not in said and "configs." not in said and "error" in said.lower() or "bad.yaml:" in said, said)


def test_annoyance_16_a_replay_can_be_ended_with_its_report():
    with started() as daemon:
        folder = daemon.folder + "/trace"
        told(daemon, "replay", "gen", folder, "--nodes", "50", "--pods", "20000")
        trace = ("replay", "--nodes", folder + "/nodes.csv", "--pods", folder + "/pods.csv", "-r", "replayed")
        with Running(daemon, *trace, "--speed", "0.01") as replay:
            until("it plays", lambda: "replayed" in told(daemon, "rm", "list"))
            replay.signal(signal.SIGINT)
            replay.ends(130)
            check("placed" in replay.out, "what was done until then", replay.out, replay.err)
        check("QUEUE_MAX" not in replay.out, "no queue has a max", replay.out)


def test_annoyance_17_a_refusal_names_the_role_and_the_way_out():
    if os.getuid() != 0:
        return
    with Daemon("--socket-mode", "0666") as daemon:
        told(daemon, "rm", "register", "a")
        said = told_as(4321, daemon, "node", "drain", "x", status=5)
        check("needs role rm" in said and "`peers` in ykd.conf(5)" in said, said)


def test_annoyance_18_one_word_for_one_thing():
    with started() as daemon:
        good = daemon.write("good.yaml", "partitions: [{name: default, queues: [{name: root, submitacl: '*'}]}]\n")
        said = subprocess.run([YKD, "--check-config", good], capture_output=True, text=True, check=True)
        check("ok" in said.stdout + said.stderr and "ok" in told(daemon, "config", "check", good), said)


GUESSES = {  # what is typed: what the answer has in it
    "node ls": "w-1", "nodes": "w-1", "apps": "job", "queue ls": "root", "config validate q.yaml": "q.yaml", "app rm nobody": "nobody", "rm ls": "a",
    "node list --sort-by used:desc --columns name,free": "FREE", "squeue": "ykctl app list", "logs": "ykctl events", "stats": "ykctl metrics", "nod list": "did you mean 'node'",
    "node lits": "did you mean 'list'", "apply -f q.yaml": "ykctl config reload -f", "get nodes": "ykctl node list", "describe node w-1": "ykctl node show", "show node": "ykctl node show", "top nodes": "top",
    "create queue x": "queues live in the configuration", "delete queue x": "queues live in the configuration", "drain w-1": "ykctl node drain", "cordon w-1": "ykctl node drain",
    "uncordon w-1": "ykctl node undrain", "node cordon w-1": "w-1", "reload": "ykctl config reload", "reconfigure": "ykctl config reload", "app delete nobody": "nobody",
    "ask delete nobody": "nobody", "node get w-1": "capacity", "node describe w-1": "capacity", "config view": "partitions", "config get": "partitions",
    "queue add x": "queues live in the configuration", "queue set root.x max=3": "queues live in the configuration", "sinfo": "ykctl node list", "whoami": "admin", "auth can-i": "ykctl can-i",
    "info": "ykctl status", "cluster-info": "ykctl status", "api-resources": "ykctl --help", "node list -l k=v": "no nodes", "node list --selector k=v": "no nodes",
    "node list --field-selector a=b": "--state", "node list -o jsonpath={.x}": "--columns", "node list -o custom-columns=A:.x": "--columns", "ask add big --cpu 1": "-R memory=4Gi,vcore=1",
    "node remove w-2": "w-2", "sched step": "--manual-schedule", "audit": "RegisterResourceManager",
    "gpus": "ykctl node show", "device list": "ykctl node show", "node devices w-1": "ykctl node show",
}
SERVER_GUESSES = {"start": "--config", "q.yaml": "--config q.yaml", "-c /no/such.yaml": "/no/such.yaml", "-d": "systemctl start ykd"}


def test_guesses_are_answered():
    with started() as daemon:
        daemon.write("q.yaml", "partitions: [{name: default, queues: [{name: root, submitacl: '*'}]}]\n")
        wrong = []
        for typed, wanted in GUESSES.items():
            done = subprocess.run([YKCTL, "-s", daemon.path, *typed.split()], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, cwd=daemon.folder)
            if wanted not in done.stdout + done.stderr:
                wrong.append((typed, wanted, (done.stdout + done.stderr)[:300]))
        for typed, wanted in SERVER_GUESSES.items():
            done = subprocess.run([YKD, *typed.split()], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, cwd=daemon.folder)
            if wanted not in done.stdout + done.stderr:
                wrong.append((typed, wanted, (done.stdout + done.stderr)[:300]))
        check(not wrong, "\n".join(map(str, wrong)))


main(globals())
