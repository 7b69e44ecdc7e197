# SPDX-License-Identifier: Apache-2.0
"""Detached resource managers that come back after a restart of the daemon (ykd --state, I-387)."""
import contextlib
import glob
import resource
import sqlite3

from daemon_support import *
from daemon_support.books import line_hash
from daemon_support.service_manager import next_told, notify_socket

STATE = ("--state", "@.")
RUNNING, FAILED = 1, 3
TWO_QUEUES = CONFIG.replace("- name: b", "- name: b2")


class Detached:
    """A detached resource manager as one-shot commands use it: each step in a session of its own."""

    def __init__(self, daemon, rm="rm:1", config=CONFIG, **more):
        self.daemon, self.rm = daemon, rm
        self.change("RegisterResourceManager", {"version": "7", "detached": {}, **({"config": config} if config else {}), **more})

    def change(self, kind, body):
        client = self.daemon.client()
        reply = client.change(kind, {"rmID": self.rm, **body})
        client.close()
        return reply

    def get(self, kind, body=None):
        client = self.daemon.client()
        reply = client.get(kind, {"rmID": self.rm, **(body or {})})
        client.close()
        return reply

    def send(self, kind, **body):
        self.change(kind, body)
        self.get("Sync")

    def node(self, name, vcore=1000, action=1, **more):
        self.send("UpdateNode", nodes=[{"nodeID": name, "action": action, "schedulableResource": {"vcore": vcore}, **more}])

    def app(self, name="app", queue="root.a", **more):
        self.send("UpdateApplication", new=[{"applicationID": name, "queueName": queue, "ugi": {"user": "u"}, **more}])

    def ask(self, *keys, vcore=10, app="app", **more):
        self.send("UpdateAllocation", asks=[{"allocationKey": key, "applicationID": app, "resourceAsk": {"vcore": vcore}, **more}
                                            for key in keys])

    def release(self, key, app="app"):
        self.send("UpdateAllocation", releases={"allocationsToRelease": [{"applicationID": app, "allocationKey": key}]})

    def dump(self, what, **more):
        return self.get("Dump", {"what": what, **more})["data"]

    def state(self):
        return self.get("Ping")["state"]

    def contents(self):
        """What it has, without what a restart may change."""
        nodes = {node["nodeID"]: (node["capacity"], node.get("occupied"), node["schedulable"], node.get("attributes"))
                 for group in self.dump("nodes") for node in group["nodesInfo"]}
        apps = {}
        for app in self.dump("apps"):
            whole = self.dump("app", application=app["applicationID"])
            apps[app["applicationID"]] = (
                whole["queueName"], whole["submissionTime"] // 10**9,
                sorted((one["allocationKey"], one["nodeId"], str(one["resource"]), one["priority"], one["requestTime"] // 10**9)
                       for one in whole.get("allocations", [])),
                sorted((one["allocationKey"], str(one["resource"]), one["priority"], one["requestTime"] // 10**9)
                       for one in whole.get("requests", [])))
        return nodes, apps


def filled(daemon, **more):
    rm = Detached(daemon, **more)
    rm.node("n1", attributes={"zone": "z1"})
    rm.node("n2", action=6)  # drained
    rm.node("n3", vcore=5)
    rm.send("UpdateAllocation", allocations=[{"allocationKey": "daemonset", "nodeID": "n1", "allocationTags": {"foreign": "default"},
                                              "resourcePerAlloc": {"vcore": 7}}])
    rm.app(tags={"namespace": "x"})
    rm.app("other", "root.b")
    rm.ask("a1", "a2", priority=3)
    rm.ask("waits", vcore=5000, tags={"creationTime": "1700000000"})
    rm.ask("gone")
    rm.release("gone")
    until("all is placed", lambda: len(rm.dump("app", application="app").get("allocations", [])) == 2)
    return rm


def sum_of(*texts):
    """The checksum of a configuration in the books."""
    total = 0
    for text in texts:
        total = (total * 1099511628211 + line_hash(str(text))) % 2**64
    return total - 2**64 if total >= 2**63 else total


def kept_files(daemon):
    return glob.glob(daemon.folder + "/books/*.books")


def test_a_detached_rm_survives_any_end_of_the_daemon():  # I-265 to I-267, I-387
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
        with Daemon(*STATE) as daemon:
            rm = filled(daemon)
            before = rm.contents()
            for _ in range(2):
                daemon.restart(number)
                check(rm.state() == RUNNING, rm.state())
                check(rm.contents() == before, rm.contents(), "is not", before)
            rm.ask("later")
            until("it goes on", lambda: len(rm.dump("app", application="app")["allocations"]) == 3)
            rm.release("a1")
            rm.send("UpdateNode", nodes=[{"nodeID": "n2", "action": 4}, {"nodeID": "n3", "action": 4}])
            rm.send("UpdateApplication", remove=[{"applicationID": "other"}])
            rm.ask("waits", vcore=6000)
            before = rm.contents()
            daemon.restart(number)
            check(rm.contents() == before, rm.contents(), "is not", before)
            check([one["allocationKey"] for one in rm.dump("app", application="app")["requests"]] == ["waits"])
            check(rm.get("Health")["Healthy"])


def test_of_two_elements_about_one_thing_the_one_that_was_refused_leaves_no_trace():  # I-114, I-265
    with Daemon(*STATE) as daemon:
        rm = filled(daemon)
        twice = lambda key, *amounts: [{"allocationKey": key, "applicationID": "app", "resourceAsk": {"vcore": amount}}
                                       for amount in amounts]
        rm.send("UpdateAllocation", asks=twice("first", 0, 20_000) + twice("second", 20_000, 0) + twice("both", 0, 0))
        rm.send("UpdateNode", nodes=[{"nodeID": "n1", "action": 2, "schedulableResource": {"vcore": amount}} for amount in (-1, 900)])
        before = rm.contents()
        daemon.restart(signal.SIGKILL)
        check(rm.state() == RUNNING, rm.state())
        check(rm.contents() == before, rm.contents(), "and not", before)


def test_it_goes_on_with_the_configuration_that_was_active():  # I-265, I-266
    with Daemon(*STATE, "--config", "@queues.yaml", files={"queues.yaml": CONFIG}) as daemon:
        rm = filled(daemon, config=None)
        sent = Detached(daemon, "rm:2")
        sent.change("UpdateConfiguration", {"config": TWO_QUEUES, "source": "two.yaml"})
        daemon.write("queues.yaml", TWO_QUEUES)
        daemon.restart()
        queues = lambda one: [queue["queuename"] for queue in one.dump("queues")[0]["children"]]
        check(queues(rm) == ["root.a", "root.b"] and queues(sent) == ["root.a", "root.b2"], queues(rm), queues(sent))
        check("goes on with the configuration that was active" in daemon.text(), "it says that the file differs")
        check(len(sent.get("Dump", {"what": "confighistory"})["data"]) == 2, "the history is kept")
        rm.change("Reload", {})
        check("root.b2" in queues(rm), "the file is followed as before")
        daemon.restart()
        check("root.b2" in queues(rm) and "has changed since" not in daemon.text(), queues(rm))
        check(rm.state() == RUNNING and rm.dump("app", application="other")["queueName"] == "root.@recovery@", "its queue went")


def test_who_leaves_is_forgotten():  # I-268
    with Daemon(*STATE) as daemon:
        rm = filled(daemon)
        Detached(daemon, "other")
        check(len(kept_files(daemon)) == 2, kept_files(daemon))
        rm.change("UnregisterResourceManager", {"force": True})
        check(len(kept_files(daemon)) == 1, kept_files(daemon))
        rm = Detached(daemon)  # anew, and again: what it had is dropped
        rm.node("n9")
        rm = Detached(daemon)
        daemon.restart()
        check(rm.contents() == ({}, {}), rm.contents())
        daemon.client().register("rm:1")  # a process serves it from now on
        daemon.restart()
        daemon.client().refused("E_RM_UNKNOWN", "Ping", {"rmID": "rm:1"})
        check([one["rmID"] for one in daemon.client().get("Status")["rms"]] == ["other"])


def test_books_that_are_damaged_are_set_aside_and_named():  # I-268
    with Daemon(*STATE) as daemon:
        filled(daemon)
        good = Detached(daemon, "good")
        good.node("n1")
        daemon.signal(signal.SIGTERM)
        daemon.exit_code()
        damaged, = (path for path in kept_files(daemon) if "rm_1" in path)
        with open(damaged, "r+b") as file:
            bytes_ = file.read().replace(b"daemonset", b"DAEMONSET")
            file.seek(0)
            file.write(bytes_)
        daemon.start()
        client = daemon.client()
        client.refused("E_RM_UNKNOWN", "Ping", {"rmID": "rm:1"})
        check(good.state() == RUNNING and len(good.contents()[0]) == 1, "the others come back")
        aside, = glob.glob(damaged + ".damaged-*")
        aside = os.path.basename(aside)
        check(any(aside in line for line in client.get("Status")["degraded"]), client.get("Status")["degraded"])
        check(aside in daemon.text())
        check(Detached(daemon).state() == RUNNING, "it can be registered anew")


def test_books_are_taken_from_this_user_only():  # I-268
    with Daemon(*STATE) as daemon:
        folder = os.path.join(daemon.folder, "books")
        check(os.stat(folder).st_mode & 0o777 == 0o700, "nobody else may look into the books")
        daemon.signal(signal.SIGTERM)
        daemon.exit_code()
        for mode in (0o770, 0o777):
            os.chmod(folder, mode)
            with Daemon("--state", daemon.folder, wait=False) as other:
                check(other.exit_code() == 1)
                check(f"may be written by others (mode {mode:04o}; chmod go-w)" in other.text(), other.text())
        os.chmod(folder, 0o700)
        daemon.start()
        daemon.client().get("Ping")


def test_one_daemon_for_one_directory():  # I-268
    with Daemon(*STATE) as first, Daemon("--state", first.folder, wait=False) as second:
        check(second.exit_code() == 1)
        check("is used by another ykd" in second.text(), second.text())
        first.client().get("Ping")


def test_what_was_given_up_before_it_arrived_is_in_no_books():  # I-226 I-265
    with Daemon(*STATE, "--record", "@") as daemon:
        rm = Detached(daemon, recovery={"id": "by hand"})
        rm.release("gone")
        rm.send("UpdateApplication", remove=[{"applicationID": "left"}])
        rm.send("UpdateNode", nodes=[{"nodeID": "n2", "action": 4}])
        for name in ("n1", "n2"):
            rm.node(name)
        rm.app("left", "root.b")
        rm.app()
        rm.ask("gone", "stays")
        before = rm.contents()
        check("n2" not in str(before) and "left" not in str(before) and "gone" not in str(before), before)
        daemon.restart()
        check(rm.state() == RUNNING, rm.state())
        after = rm.contents()
        check("n2" not in str(after) and "left" not in str(after) and "gone" not in str(after), after)
        check("stays" in str(after), after)


def test_a_daemon_waits_for_the_end_of_the_one_before_it():  # I-268
    with Daemon(*STATE) as first, Daemon("--state", first.folder, wait=False) as second:
        until("the second one waits", lambda: "waiting for its end" in second.text())
        first.end(signal.SIGKILL)
        until("ykd is ready", lambda: "is ready" in second.text())
        second.client().get("Ping")


def test_a_disk_that_is_full_loses_nothing():  # I-267
    with Daemon(*STATE) as daemon:
        rm = filled(daemon)
        soft, hard = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (4096, hard))
        rm.change("UpdateAllocation", {"asks": [{"allocationKey": f"k{i}", "applicationID": "app", "resourceAsk": {"vcore": 1},
                                                 "tags": {"text": "x" * 4000}} for i in range(20)]})
        until("it says so", lambda: any("cannot be written" in line for line in daemon.client().get("Status")["degraded"]))
        check(len(rm.dump("app", application="app")["allocations"]) == 22, "scheduling goes on")
        daemon.client().refused("E_BUSY", "Sync", {"rmID": "rm:1"})
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (soft, hard))
        until("it is written", lambda: not daemon.client().get("Status")["degraded"])
        rm.get("Sync")
        before = rm.contents()
        daemon.restart()
        check(rm.contents() == before)


def test_books_that_could_not_be_restored_are_never_removed():  # I-268
    with Daemon(*STATE) as daemon:
        filled(daemon).get("Sync")
        daemon.signal(signal.SIGTERM)
        daemon.exit_code()
        path, = kept_files(daemon)
        bad = "partitions: 5"
        with contextlib.closing(sqlite3.connect(path)) as books, books:
            for seq, *texts in books.execute("SELECT seq, at, checksum, origin FROM configurations").fetchall():
                books.execute("UPDATE configurations SET text = ?, sum = ? WHERE seq = ?", (bad, sum_of(*texts, bad), seq))
        with open(path, "rb") as file:
            before = file.read()
        daemon.start()
        check("its configuration is refused" in daemon.text(), daemon.text())
        Detached(daemon)
        aside, = glob.glob(path + ".unused-*")
        with open(aside, "rb") as file:
            check(file.read() == before)
        check(aside.rsplit("/", 1)[1] in daemon.text(), daemon.text())
        check(not daemon.client().get("Status")["degraded"])


def test_a_foreign_allocation_that_names_an_application_is_kept():  # I-061, I-265
    with Daemon(*STATE) as daemon:
        rm = filled(daemon)
        for app in ("app", "nobody"):
            rm.send("UpdateAllocation", allocations=[{"allocationKey": "of-" + app, "applicationID": app, "nodeID": "n1",
                                                      "allocationTags": {"foreign": "default"}, "resourcePerAlloc": {"vcore": 3}}])
        before = rm.contents()
        daemon.restart()
        check(rm.state() == RUNNING, rm.state())
        check(rm.contents() == before, rm.contents(), before)


def test_a_stop_without_books_says_what_is_lost():  # I-263
    listener, path = notify_socket()
    with Daemon(env={"NOTIFY_SOCKET": path}) as daemon:
        Detached(daemon, "empty")
        filled(daemon)
        daemon.signal(signal.SIGTERM)
        lost = "3 nodes, 2 applications, 2 allocations and 1 pending ask"
        told = next_told(listener, "STOPPING=1")
        check(told == f"STOPPING=1\nSTATUS=draining; lost without --state: RM rm:1: {lost}", told)
        check(daemon.exit_code() == 0)
        check(f"RM rm:1 is detached: its {lost} are lost now" in daemon.text(), daemon.text())
        check("RM empty is detached" not in daemon.text())


def test_books_that_are_too_much_for_the_daemon_fail_and_are_resolved():  # I-266, I-254, I-268
    for action in ("retry", "reset", "accept", "abort"):
        with Daemon(*STATE) as daemon:
            rm = filled(daemon)
            rm.get("Sync")
            before = rm.contents()
            daemon.signal(signal.SIGTERM)
            daemon.exit_code()
            flags, daemon.flags = daemon.flags, daemon.flags + ["--rm-max", "nodes=1"]
            daemon.start()
            check(rm.state() == FAILED, rm.state())
            check(any("RM rm:1 is Failed" in line for line in daemon.client().get("Status")["degraded"]))
            rm.ask("later")  # it is taken, and kept
            check(rm.change("ResolveRecovery", {"action": action})["state"] == (0 if action == "abort" else RUNNING if action == "accept" else FAILED))
            if action == "abort":
                check(kept_files(daemon) == [], "its books are removed")
                continue
            rm.get("Sync")
            daemon.signal(signal.SIGTERM)
            daemon.exit_code()
            daemon.flags = flags
            daemon.start()
            if action == "accept":
                continue
            check(rm.state() == RUNNING and rm.contents()[0] == before[0], "nothing of it was lost", rm.contents(), before)
            until("what came meanwhile is placed", lambda: len(rm.dump("app", application="app")["allocations"]) == 3)


def test_ten_thousand_allocations():
    with Daemon(*STATE) as daemon:
        rm = Detached(daemon)
        for first in range(0, 1000, 500):
            rm.send("UpdateNode", nodes=[{"nodeID": f"n{i}", "action": 1, "schedulableResource": {"vcore": 100}}
                                         for i in range(first, first + 500)])
        rm.app()
        for first in range(0, 10000, 1000):
            rm.ask(*(f"k{i}" for i in range(first, first + 1000)), vcore=5)
        placed = lambda: daemon.client().get("Status")["counts"]["allocations"]
        until("all are placed", lambda: placed() == 10000)
        rm.get("Sync")
        daemon.restart()
        check(placed() == 10000)
        rm.ask("new", vcore=5)
        until("it goes on", lambda: placed() == 10001)


main(globals())
