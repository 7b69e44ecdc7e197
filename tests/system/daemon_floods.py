# SPDX-License-Identifier: Apache-2.0
"""Floods and extremes that held in the attack on revision 3a08490, each in a short form: what comes in numbers stays in
bounds and goes again, and nobody else waits for it. Each test is named after its row."""
from daemon_support import *
from daemon_support.attacks import *

import hashlib

MOST, LEAST = (1 << 63) - 1, -(1 << 63) + 1
MANY = 4000  # asks and applications in one request


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def synced(client, rm="rm:1"):
    client.get("Sync", {"rmID": rm})


def submit(client, applications):
    """(id, queue, user) of each; in requests of MANY."""
    for start in range(0, len(applications), MANY):
        client.change("UpdateApplication", {"rmID": "rm:1", "new": [
            {"applicationID": name, "queueName": queue, "ugi": {"user": user, "groups": ["g-" + user]}}
            for name, queue, user in applications[start:start + MANY]]})


def remove(client, names):
    for start in range(0, len(names), MANY):
        client.change("UpdateApplication", {"rmID": "rm:1", "remove": [
            {"applicationID": name, "partitionName": "default"} for name in names[start:start + MANY]]})


def pages(client, what, **more):
    """The elements of all pages; of nodes and allocations those in their partitions."""
    found, query = [], {"what": what, "limit": 1000, **more}
    while True:
        reply = client.get("Dump", query)
        found += reply["data"]
        if reply["complete"]:
            return found
        query = {**query, "cursor": reply["cursor"]}


def users(client):
    return sorted(one["userName"] for part in client.dump("users") for one in part.get("users", [part]))


def is_healthy(client):
    reply = client.get("Health", {"run": True})
    check(reply["Healthy"], [one for one in reply["HealthChecks"] if not one["Succeeded"]])


def test_quantities_at_the_ends_of_the_integers():
    with Daemon() as daemon:
        rm = Rm(daemon)
        capacity = lambda: rm.dump("partitions")[0]["capacity"].get("capacity", {})
        rm.nodes(*({"nodeID": f"n{i}", "schedulableResource": {"vcore": MOST, "memory": MOST}} for i in range(3)))
        rm.applications({"applicationID": "app"})
        told = rm.asks({"allocationKey": "low", "resourceAsk": {"vcore": LEAST}},
                       {"allocationKey": "zero", "resourceAsk": {"vcore": 0}},
                       {"allocationKey": "none", "resourceAsk": {}},
                       {"allocationKey": "negative", "resourceAsk": {"vcore": -1, "memory": MOST}})
        codes = {one["allocationKey"]: one["code"] for one in listed(told, "UpdateAllocation", "rejected")}
        check(codes == {"low": 1031, "zero": 1030, "none": 1030, "negative": 1031}, codes)
        rm.asks(*({"allocationKey": f"most{i}", "resourceAsk": {"vcore": MOST}} for i in range(4)))
        until("one is placed: more the cluster does not have", lambda: rm.client.get("Status")["counts"]["allocations"] == 1)
        is_healthy(rm.client)
        for i in range(2):
            check(capacity() == {"vcore": MOST, "memory": MOST}, capacity())
            rm.send("UpdateNode", nodes=[{"nodeID": f"n{i}", "action": 4}])
        rm.send("UpdateNode", nodes=[{"nodeID": "n2", "action": 2, "schedulableResource": {"vcore": 7000}}])
        check(capacity() == {"vcore": 7000}, "a sum that had no room was taken from:", capacity())
        rm.send("UpdateNode", nodes=[{"nodeID": "n2", "action": 4}])
        check(capacity() == {}, capacity())
        is_healthy(rm.client)


def test_asks_without_measure_do_not_hide_those_of_others():
    with Daemon() as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "small"})
        rm.applications({"applicationID": "app"}, {"applicationID": "other", "queueName": "root.b"})
        rm.asks({"applicationID": "other", "allocationKey": "k", "resourceAsk": {"vcore": 2000}})
        rm.asks(*({"allocationKey": f"most{i}", "resourceAsk": {"vcore": MOST}} for i in range(2)))
        rm.send("UpdateAllocation", releases={"allocationAsksToRelease": [
            {"applicationID": "app", "allocationKey": f"most{i}", "partitionName": "default"} for i in range(2)]})
        check(rm.client.get("Status")["counts"]["pendingAsks"] == 1)
        rm.nodes({"nodeID": "large", "schedulableResource": {"vcore": 2000}})
        until("the other one's ask is placed", lambda: rm.client.get("Status")["counts"]["allocations"] == 1)


def test_apps_of_users_of_their_own():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        with Bystander(daemon) as bystander:
            submit(client, [(f"app-{i}", "root.a", f"u{i}") for i in range(20_000)])
            synced(client)
            check(client.get("Status")["counts"]["applications"] == 20_000)
            client.change("UnregisterResourceManager", {"rmID": "rm:1", "force": True})
        check(bystander.longest < 10.0, "a ping took", bystander.longest)
        check(client.get("Status")["counts"]["applications"] == 0)
        client.register()
        check(users(client) == [], "users are left")


def test_user_apps_that_come_and_go_leave_the_users_of_those_that_stay():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": "n1", "action": 1, "schedulableResource": {"vcore": 1_000_000}}]})
        for lap in range(5):
            names = [f"app-{lap}-{i}" for i in range(1000)]
            submit(client, [(name, "root.a", "u" + name) for name in names])
            client.change("UpdateAllocation", {"rmID": "rm:1", "asks": [
                {"allocationKey": "k", "applicationID": name, "resourceAsk": {"vcore": 1}} for name in names]})
            placed = lambda: client.get("Status")["counts"]["allocations"]
            until("all are placed", lambda wanted=1000 + 50 * lap: placed() == wanted)
            remove(client, names[50:])
            synced(client)
        left = users(client)
        check(len(left) == 250 and all(name.startswith("uapp-") for name in left), len(left))
        remove(client, [f"app-{lap}-{i}" for lap in range(5) for i in range(50)])
        synced(client)
        check(users(client) == [], users(client)[:5])


def test_types_beyond_64_are_not_taken_in():
    with Daemon() as daemon:
        rm = Rm(daemon)
        rm.client.cluster()
        before = resident(daemon)
        told = rm.nodes(*({"nodeID": f"m{n}", "schedulableResource": {f"type-{n}-{i}": 1 for i in range(10)}}
                          for n in range(1000)))
        rejected = listed(told, "UpdateNode", "rejected")
        check(990 <= len(rejected) < 1000, len(rejected))
        check(all("at most 64 resource types" in one["reason"] for one in rejected), rejected[0])
        for lap in range(20):
            told = rm.asks(*({"allocationKey": f"a{lap}-{i}", "resourceAsk": {f"{lap}-{i}-" + "x" * 100: 1}} for i in range(1000)))
            rejected = listed(told, "UpdateAllocation", "rejected")
            check(len(rejected) >= 900, len(rejected))
            check(all("at most 64 resource types" in one["reason"] for one in rejected), rejected[0])
        rm.send("UpdateAllocation", releases={"allocationsToRelease": [], "allocationAsksToRelease": []})
        told = rm.asks({"allocationKey": "good", "resourceAsk": {"vcore": 1}})
        until("the good one is placed", lambda: rm.client.get("Status")["counts"]["allocations"] == 1)
        check(resident(daemon) < before + (200 << 20), "memory grew by", resident(daemon) - before)


def test_attributes_of_a_node_are_those_it_was_given_last():
    with Daemon() as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n"})
        before = resident(daemon)
        for lap in range(100):
            rm.client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
                {"nodeID": "n", "action": 2, "attributes": {f"a-{lap}-{i}": "v" * 20 for i in range(1000)}}]})
        synced(rm.client)
        attributes = rm.dump("node", node="n")["attributes"]
        check(sum(name.startswith("a-99-") for name in attributes) == 1000, len(attributes))
        check(not any(name.startswith("a-98-") for name in attributes), "those of before stayed")
        check(resident(daemon) < before + (64 << 20), "memory grew by", resident(daemon) - before)


def test_ended_rejected_and_events_level_off():
    with Daemon() as daemon:
        client = daemon.client()
        client.register(extraConfig={"event.ringBufferCapacity": "1000"})
        for lap in range(3):
            submit(client, [(f"app-{lap}-{i}", "root.nowhere." + "x" * 50, "u" * 60) for i in range(4000)])
        synced(client)
        rejected = pages(client, "apps", state="rejected")
        check(len(rejected) == 10_000, len(rejected), "rejected ones are kept")
        check(all(not one["applicationID"].startswith("app-0-1999") for one in rejected), "the oldest stayed")
        events = client.get("Events", {"count": 10_000})
        check(len(events["EventRecords"]) <= 1000, len(events["EventRecords"]), "events are kept")
        is_healthy(client)


def slow_configurations():
    laughs = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    head = "partitions:\n  - name: default\n    queues:\n      - name: root\n"
    yield "laughs", laughs
    yield "brackets", "[" * 200_000
    yield "braces", "partitions: " + "{a: " * 50_000
    yield "anchors", "".join(f"k{i}: &a{i} x\n" for i in range(50_000))
    yield "aliases", "a: &a x\nb: [" + ", ".join(["*a"] * 50_000) + "]\n"
    yield "a long line", head + "        submitacl: '" + "a," * 500_000 + "'\n"
    yield "a long key", "x" * 1_000_000 + ": 1\n"
    yield "many queues", head + "        queues:\n" + "".join(f"          - name: q{i}\n" for i in range(20_000))
    yield "deep queues", head + "".join("  " * (i + 4) + "queues:\n" + "  " * (i + 4) + f"- name: q{i}\n" for i in range(200))
    pattern = "(" * 20 + "a*" + ")*" * 20 + "b"
    yield "expressions", head + "    placementrules:\n" + "".join(
        f"      - name: provided\n        filter:\n          type: allow\n          users: ['{pattern}{i}']\n" for i in range(200))


def test_configs_made_to_be_slow():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        with Bystander(daemon) as bystander:
            for name, text in slow_configurations():
                begin = time.monotonic()
                reply = client.ask("ValidateConfiguration", {"config": text})
                check(reply["ok"] or reply["err"]["name"] in ("E_CONFIG_INVALID", "E_LIMIT", "E_TOO_LARGE"), name, reply.get("err"))
                print(" ", name, f"{time.monotonic() - begin:.2f} s")
        check(bystander.longest < 10.0, "a ping took", bystander.longest)
        check(resident(daemon) < (2 << 30), "memory grew to", resident(daemon))


def stranger_of(port):
    stranger = Client(("127.0.0.1", port))
    stranger.hello(role="rm", token="two")
    return stranger


def test_isolation_nothing_of_another_is_changed():
    rm = {"rmID": "rm:1"}
    mutating = [
        ("RegisterResourceManager", {"config": CONFIG}), ("UnregisterResourceManager", {"force": True}),
        ("UpdateConfiguration", {"config": CONFIG}), ("Reload", {}), ("SetExtraConfig", {"extraConfig": {}}),
        ("UpdateNode", {"nodes": [{"nodeID": "n1", "action": 4}]}),
        ("UpdateApplication", {"remove": [{"applicationID": "app", "partitionName": "default"}]}),
        ("UpdateApplication", {"new": [{"applicationID": "x", "queueName": "root.a", "ugi": {"user": "u"}}]}),
        ("UpdateAllocation", {"releases": {"allocationsToRelease": [
            {"applicationID": "app", "allocationKey": "k", "terminationType": 1}]}}),
        ("UpdateAllocation", {"asks": [{"allocationKey": "z", "applicationID": "app", "resourceAsk": {"vcore": 1}}]})]
    reading = [("Poll", {"streamEpoch": 1, "ack": 0, "waitMs": 0}), ("Sync", {}), ("StreamLog", {}), ("Dump", {"what": "apps"}),
               ("Dump", {"what": "config"}), ("Explain", {"what": "queue", "queue": "root.a"})]
    tokens = "".join(f"rm {pattern} {sha256(secret)}\n" for pattern, secret in (("rm:*", "one"), ("other-*", "two")))
    port = free_port()
    with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens", files={"tokens": tokens}) as daemon:
        owner = Client(("127.0.0.1", port))
        owner.hello(role="rm", token="one")
        owner.register()
        owner.cluster()
        owner.asks("k")
        until("k is placed", lambda: owner.get("Status")["counts"]["allocations"] == 1)
        synced(owner)
        before = [owner.dump(what, rmID="rm:1") for what in ("apps", "nodes", "queues", "config")]
        for kind, body in mutating:
            for more in ({}, {"impersonate": True}):
                stranger = stranger_of(port)  # a number is used up, or not
                stranger.refused("E_FORBIDDEN", kind, {**rm, **body, **more}, mutating=True)
        stranger = stranger_of(port)
        for kind, body in reading:
            reply = stranger.ask(kind, {**rm, **body})
            check(not reply["ok"] and reply["err"]["name"] in ("E_FORBIDDEN", "E_BAD_STATE"), kind, reply)
        thief = Client(daemon.path)
        thief.sid = owner.sid
        thief.refused("E_AUTH", "Ping")
        check(before == [owner.dump(what, rmID="rm:1") for what in ("apps", "nodes", "queues", "config")], "something changed")


def cpu_seconds(daemon):
    with open(f"/proc/{daemon.process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_nodes_that_go_before_anything_is_asked_for():
    """None is filed before the first ask; taking them away again cost the square of their number."""
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        names, spent = [f"n{i}" for i in range(200_000)], []
        for action, order in ((1, names), (4, names[::-1])):
            begin = cpu_seconds(daemon)
            for start in range(0, len(order), 20_000):
                client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
                    {"nodeID": name, "action": action, "schedulableResource": {"vcore": 1}} for name in order[start:start + 20_000]]})
            synced(client)
            spent.append(cpu_seconds(daemon) - begin)
        check(client.get("Status")["counts"]["nodes"] == 0)
        check(spent[1] < 4 * spent[0] + 1, "processor seconds to add and to remove:", spent)


def test_a_user_in_many_queues_is_shown():
    """Each of its applications was looked for in all queues: with 100,000 of them that took a minute."""
    config = CONFIG.replace("partitions:\n  - name: default\n", "partitions:\n  - name: default\n    placementrules:\n"
                            "      - {name: provided, create: true}\n").replace("- name: b", "- {name: b, parent: true}")
    with Daemon() as daemon:
        client = daemon.client()
        begin = cpu_seconds(daemon)
        client.register(config=config, detached={"confirmReleases": True})
        client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": "n1", "action": 1, "schedulableResource": {"vcore": 1_000_000}}]})
        names = [f"app-{i}" for i in range(30_000)]
        submit(client, [(name, f"root.b.q{name}", "u") for name in names])
        for start in range(0, len(names), MANY):
            client.change("UpdateAllocation", {"rmID": "rm:1", "asks": [
                {"allocationKey": "k", "applicationID": name, "resourceAsk": {"vcore": 1}} for name in names[start:start + MANY]]})
        until("all are placed", lambda: client.get("Status")["counts"]["allocations"] == len(names), 60)
        placing, begin = cpu_seconds(daemon) - begin, cpu_seconds(daemon)
        (user,) = client.dump("users")
        showing = cpu_seconds(daemon) - begin
        (b,) = [one for one in user["queues"]["children"] if one["queuePath"] == "root.b"]
        check(len(b["children"]) == len(names) and all(len(one["runningApplications"]) == 1 for one in b["children"]))
        check(showing < placing, "processor seconds to place and to show:", placing, showing)


main(globals())
