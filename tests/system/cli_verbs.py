# SPDX-License-Identifier: Apache-2.0
"""I-357: which requests the verbs of ykctl send. Each changes something by one kind of request, and only by that."""
from daemon_support import *

import json
import re

YKCTL = os.path.join(os.environ["YK_BIN"], "ykctl")
READS = {"Ping", "Status", "Sync", "StreamLog", "Dump", "Events", "Metrics", "Health", "Explain", "RecoveryList",
         "ValidateConfiguration", "EventStream", "McsRead", "McsWatch"}
VERBS = [  # in an order in which each can be done; `changes` is empty for what only looks
    ("RegisterResourceManager", "rm register rm:1 --config @c.yaml"),
    ("UpdateConfiguration", "config reload -f @two.yaml"),
    ("UpdateNode", "node add n1 -R vcore=4"),
    ("UpdateNode", "node drain n1"),
    ("UpdateNode", "node undrain n1"),
    ("UpdateApplication", "app add app --queue root.a"),
    ("UpdateAllocation", "ask add app --key k1 -R vcore=1 --wait"),
    ("UpdateAllocation", "alloc release k1"),
    ("UpdateAllocation", "ask add app --key k2 -R vcore=100"),
    ("UpdateAllocation", "ask remove k2"),
    ("UpdateApplication", "app remove app"),
    ("UpdateNode", "node remove n1"),
    ("Reload", "config reload"),
    ("", "config diff @two.yaml"),
    ("", "status"),
    ("", "health"),
    ("", "metrics"),
    ("", "events"),
    ("", "dump nodes"),
    ("", "rm log"),
    ("UnregisterResourceManager", "rm deregister rm:1 --force"),
    ("RegisterResourceManager", "rm register rm:1 --recovery r1"),
    ("", "recovery list nodes"),
    ("ResolveRecovery", "recovery resolve retry"),
    ("RecoveryDone", "recovery done --id r1 --nodes 0"),
]
DEPLOYMENT_VERBS = [
    ("McsWrite", "deployment create web --replicas 3"),
    ("McsWrite", "deployment scale web 5"),
    ("", "deployment list"),
    ("", "deployment show web"),
    ("", "mcs status"),
    ("McsWrite", "deployment delete web"),
]


def kinds_of(daemon, words):
    words = [word.replace("@", daemon.folder + "/") for word in words.split()]
    done = subprocess.run([YKCTL, "-s", "ipc://" + daemon.path, "--verbose", *words], capture_output=True, text=True, check=False)
    check(done.returncode == 0, words, "ended with", done.returncode, done.stdout, done.stderr)
    return re.findall(r"^ykctl: (\w+) answered", done.stderr, re.M)


def foretold(daemon, words):
    """The kind of request that can-i says a command sends."""
    command = words.split(" -")[0].split(" @")[0]
    said = subprocess.run([YKCTL, "-s", "ipc://" + daemon.path, "can-i", *command.split(), "-o", "json"], capture_output=True, text=True, check=True)
    return json.loads(said.stdout)["item"].get("kind", "")


def play(daemon, verbs):
    for wanted, words in verbs:
        foretells = foretold(daemon, words)
        check(foretells == wanted or (wanted == "Reload" and foretells == "UpdateConfiguration"), words, "was foretold as", foretells)
        changes = set(kinds_of(daemon, words)) - READS
        check(changes == ({wanted} if wanted else set()), words, "sends", changes, "not", wanted)


def test_verbs_send_one_kind_each():  # I-357
    with Daemon(files={"c.yaml": CONFIG, "two.yaml": CONFIG.replace("- name: b", "- name: c")}) as daemon:
        play(daemon, VERBS)
    with Daemon("--settings", "@conf", "--state", "@.", files={"conf": "mcs: {enabled: true}\n"}) as daemon:
        until("MCS runs", lambda: daemon.client().get("McsRead", {"what": "status"})["state"] == "running")
        play(daemon, DEPLOYMENT_VERBS)
    with Daemon("--manual-schedule", "--clock", "virtual") as daemon:
        check(kinds_of(daemon, "sched step") == ["Step"])


main(globals())
