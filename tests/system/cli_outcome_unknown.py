# SPDX-License-Identifier: Apache-2.0
"""A daemon that ends after it took a change, and before it said what came of it: ykctl says that it does not know (I-308)."""
from daemon_support import *
from daemon_support.relay import Relay
from daemon_support.running import Running

UNKNOWN = 6
CHANGES = [["ask", "add", "app", "--key", "k", "-R", "vcore=1"], ["node", "add", "n2", "-R", "vcore=1"],
           ["app", "add", "other", "--queue", "root.a"]]


def after_the_answer(relay, kind, what):
    """Has `what` done when the daemon has taken a request of the kind, before the sender hears of it."""
    asked = set()

    def request(message):
        if message["kind"] == kind:
            asked.add(message["id"])
        return message

    def reply(message):
        if message["id"] in asked:
            asked.clear()
            relay.reply = relay.request = lambda same: same
            what()
        return message
    relay.request, relay.reply = request, reply


def try_all(daemon, what):
    client = daemon.client()
    client.register("rm:1", detached={})
    client.cluster("rm:1")
    client.get("Sync", {"rmID": "rm:1"})
    for kind, words in zip(("UpdateAllocation", "UpdateNode", "UpdateApplication"), CHANGES):
        relay = Relay(daemon)
        after_the_answer(relay, kind, what)
        with Running(daemon, *words, address="ipc://" + relay.path) as command:
            command.says("outcome unknown: ykd took the request, and", "what came of it?")
            command.ends(UNKNOWN)
        relay.close()
        os.unlink(relay.path)
        if daemon.process.poll() is not None:
            daemon.start()


def test_it_was_restarted():
    with Daemon("--state", "@.") as daemon:
        try_all(daemon, daemon.restart)


def test_it_is_gone():
    with Daemon("--state", "@.") as daemon:
        try_all(daemon, daemon.end)


def test_its_numbers_begin_anew():
    """What the new one has taken by then has the same numbers: its answer to them is none to the old one's."""
    with Daemon("--state", "@.") as daemon:
        def restart():
            daemon.restart()
            client = daemon.client()
            for number in range(20):
                client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
                    {"nodeID": f"more-{number}", "action": 1, "schedulableResource": {"vcore": 1}}]})
        try_all(daemon, restart)


main(globals())
