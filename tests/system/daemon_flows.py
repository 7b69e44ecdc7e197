# SPDX-License-Identifier: Apache-2.0
"""Flows between RM and daemon (interface.md section 2)."""
from daemon_support import *

import threading

BY_HAND = ("--manual-schedule", "--clock", "virtual")
ALLOCATION, APPLICATION, NODE = "UpdateAllocation", "UpdateApplication", "UpdateNode"


def cluster(rm, vcore=100):
    rm.nodes({"nodeID": "n1", "schedulableResource": {"vcore": vcore}})
    return rm.applications({"applicationID": "app"})


def test_callbacks_come_in_the_order_of_their_causes():  # I-102, I-103, I-114, I-116
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        check(rm.client.change(NODE, {"rmID": "rm:1", "nodes": [
            {"nodeID": name, "action": 1, "schedulableResource": {"vcore": 100}} for name in ("n2", "n1", "n2")]}) == {"position": 2},
              "the reply says only that it was accepted; the registration was the first input")
        rm.client.change(APPLICATION, {"rmID": "rm:1", "new": [
            {"applicationID": app, "queueName": "root.a", "ugi": {"user": "u"}} for app in ("b", "a", "b")]})
        rm.client.change(ALLOCATION, {"rmID": "rm:1", "asks": [
            {"allocationKey": "k", "applicationID": "a", "resourceAsk": {"vcore": size}} for size in (1, 5)]})
        items = rm.told()
        check([kind for kind, _ in items] == [NODE, APPLICATION, APPLICATION], items)
        check([one["nodeID"] for one in items[0][1]["accepted"]] == ["n2", "n1"], items[0])
        check([one["code"] for one in items[0][1]["rejected"]] == [1021], "the second n2", items[0])
        check([one["applicationID"] for one in items[1][1]["accepted"]] == ["b", "a"], items[1])
        check([one["code"] for one in items[1][1]["rejected"]] == [1011], "the second b", items[1])
        check(items[2][1]["updated"][0]["state"] == "Accepted", items[2])
        check(rm.dump("app", application="a")["pendingResource"] == {"vcore": 5}, "the second k is an update")


def test_no_cycle_sees_a_part_of_a_request():  # I-101
    most, rounds = 300, 25

    def play(rm, failures):
        """The node holds one ask. Of those of a request the last one is to be placed first: a cycle that saw a part of them would
        place another one."""
        try:
            rm.nodes({"nodeID": "n", "schedulableResource": {"vcore": 10}})
            for lap in range(rounds):
                app = f"app-{lap}"
                rm.applications({"applicationID": app})
                told = rm.asks(*({"applicationID": app, "allocationKey": f"{lap}-{i}", "priority": i} for i in range(most)))
                while not (placed := listed(told, ALLOCATION, "new")):
                    told = rm.told()
                check(placed[0]["allocationKey"] == f"{lap}-{most - 1}", rm.rm, "placed", placed[0]["allocationKey"], "first")
                rm.send(APPLICATION, remove=[{"applicationID": app, "partitionName": "default"}])
        except BaseException as failure:
            failures.append(failure)
            raise

    with Daemon() as daemon:
        rms, failures = [Rm(daemon, rm=f"rm:{i}") for i in range(2)], []
        threads = [threading.Thread(target=play, args=(rm, failures)) for rm in rms]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(not failures, failures)


def test_nobody_waits_for_an_rm_that_does_not_poll():  # I-105, I-106, I-372
    with Daemon() as daemon:
        deaf, rm = daemon.client(), Rm(daemon, rm="rm:2")
        deaf.register()
        deaf.cluster()
        deaf.asks(*[f"k{i}" for i in range(200)])
        counts = lambda: deaf.get("Status")["counts"]
        until("all are placed without a poll", lambda: counts()["allocations"] == 200)
        cluster(rm)
        rm.asks({"allocationKey": "k"})
        until("another RM goes on", lambda: rm.dump("app", application="app").get("allocations"))


def test_unknown_partitions():  # I-111, I-112
    with Daemon(*BY_HAND) as daemon:
        rm, other = Rm(daemon, capabilities=["reportIgnored"]), Rm(daemon, rm="rm:2")
        cluster(rm)
        cluster(other)
        for partition, code in (("mars", 1000), ("[rm:2]default", 1001)):
            where = {"partitionName": partition}
            items = rm.applications({"applicationID": "x", **where})
            check(listed(items, APPLICATION, "rejected")[0]["code"] == code, items)
            items = rm.asks({"allocationKey": "k", **where})
            check(listed(items, ALLOCATION, "rejected")[0]["code"] == code, items)
            items = rm.send(ALLOCATION, allocations=[{"allocationKey": "k", "applicationID": "app", "nodeID": "n1",
                                                      "resourcePerAlloc": {"vcore": 1}, **where}])
            check(listed(items, ALLOCATION, "rejectedAllocations")[0]["code"] == code, items)
            node = {"nodeID": "n9", "attributes": {"si/node-partition": partition}}
            items = rm.nodes(node)
            check(listed(items, NODE, "rejected")[0]["code"] == code, items)
            items = rm.nodes({**node, "action": 3})
            check(listed(items, NODE, "failed")[0]["code"] == code and not listed(items, NODE, "rejected"), items)
            items = rm.release(allocationKey="k", **where)
            check(listed(items, ALLOCATION, "ignoredReleases")[0]["code"] == code, items)
        items = rm.applications({"applicationID": "x", "partitionName": "[rm:1]default"})
        check(listed(items, APPLICATION, "accepted")[0]["partitionName"] == "[rm:1]default", "in full (I-130)", items)
        check(other.told() == [] and len(other.dump("apps")) == 1, "nothing reached the other RM")


def test_a_failed_registration_leaves_nothing():  # I-121, I-122
    with Daemon() as daemon:
        client = daemon.client()
        bad = {"rmID": "rm:1", "config": "partitions: []", "extraConfig": {"log.level": "DEBUG"}}
        error = client.refused("E_CONFIG_INVALID", "RegisterResourceManager", bad, mutating=True)
        check("registration of RM failed" in error["message"], error)
        client.refused("E_RM_UNKNOWN", NODE, {"rmID": "rm:1", "nodes": []}, mutating=True)
        check(client.get("Status")["rms"] == [] and client.dump("partitions") == [])
        client.register()
        client.cluster()
        check(client.dump("config")["extra"] == {}, "nor did its settings stay")
        error = client.refused("E_CONFIG_INVALID", "RegisterResourceManager", bad, mutating=True)
        check("no longer registered" in error["message"], error)
        check(client.get("Status")["rms"] == [] and client.dump("partitions") == [])
        client.refused("E_RM_UNKNOWN", "Poll", {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 0})


def test_several_rms_share_nothing():  # I-123, I-129, I-404, I-410, I-423
    with Daemon(*BY_HAND) as daemon:
        b, a = Rm(daemon, rm="b"), Rm(daemon, rm="a")
        for rm, vcore in ((b, 10), (a, 20)):
            cluster(rm, vcore)
            rm.asks({"allocationKey": "k", "resourceAsk": {"vcore": vcore}})
            items = rm.step()
            check(listed(items, ALLOCATION, "new")[0]["partitionName"] == f"[{rm.rm}]default", items)
        a.told()
        witness = daemon.client()
        partitions = [(one["clusterId"], one["name"]) for one in witness.dump("partitions")]
        check(partitions == [("a", "default"), ("b", "default")], partitions)
        used = {rm.rm: rm.dump("user", user="u")["queues"]["resourceUsage"] for rm in (a, b)}
        check(used == {"a": {"vcore": 20}, "b": {"vcore": 10}}, used)
        error = witness.refused("E_INVALID", "Dump", {"what": "nodes", "partition": "default"})
        check("[a]default" in error["message"] and "[b]default" in error["message"], "the candidates", error)
        check(len(witness.dump("nodes", partition="[a]default")) == 1)
        witness.refused("E_NOT_FOUND", "Dump", {"what": "nodes", "partition": "mars"})
        witness.refused("E_NOT_FOUND", "Dump", {"what": "nodes", "rmID": "c"})
        witness.refused("E_NOT_FOUND", "Dump", {"what": "app", "application": "none", "rmID": "a"})
        witness.refused("E_INVALID", "Dump", {"what": "weather"})
        b.client.register("b")
        check(len(a.dump("apps")) == 1 and a.told() == [], "b's registration did not touch a")


def test_registering_again_is_a_restart():  # I-124, I-125, I-126
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        cluster(rm)
        rm.asks({"allocationKey": "k"})
        rm.client.change("Step", {"cycles": 5})  # its callbacks are still queued
        old = rm.client.epoch
        check(rm.client.register()["reRegistration"])
        rm.ack = 0
        check(rm.told() == [], "not a word of what was dropped, and the core asks for nothing")
        check(rm.dump("apps") == [] and rm.dump("nodes")[0].get("nodesInfo", []) == [], "all of it is gone")
        check(rm.dump("users") == [] and rm.client.get("Status")["counts"]["allocations"] == 0)
        rm.client.refused("E_STREAM_EPOCH", "Poll", {"rmID": "rm:1", "streamEpoch": old, "ack": 0})
        check(rm.client.epoch > old)
        rm.client.change(NODE, {"rmID": "rm:1", "nodes": [{"nodeID": "n2", "action": 1}]})
        check(rm.client.poll()["items"][0]["n"] == 1, "a new stream")
        details = [event["eventChangeDetail"] for event in rm.client.get("Events", {"start": 0})["EventRecords"]]
        check(300 in details, "the events of the removed node are recorded", details)


def test_the_later_session_has_the_rm():  # I-127, I-344
    with Daemon() as daemon:
        first, second = daemon.client(role="rm"), daemon.client(role="rm")
        first.register()
        first.send("Poll", {"rmID": "rm:1", "streamEpoch": first.epoch, "ack": 0})
        second.wait_for_parked_poll()
        second.register()
        reply = first.receive()
        check(not reply["ok"] and reply["err"]["name"] == "E_SUPERSEDED", reply)
        first.refused("E_FORBIDDEN", NODE, {"rmID": "rm:1", "nodes": []}, mutating=True)
        first.refused("E_FORBIDDEN", "Poll", {"rmID": "rm:1", "streamEpoch": second.epoch, "ack": 0})
        second.cluster()
        admin = daemon.client()
        admin.refused("E_FORBIDDEN", NODE, {"rmID": "rm:1", "nodes": []}, mutating=True)
        admin.change(NODE, {"rmID": "rm:1", "impersonate": True, "nodes": [{"nodeID": "n2", "action": 1}]})
        until("it is logged", lambda: "acts for RM rm:1" in daemon.text())


def test_unregistering():  # I-128
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        cluster(rm)
        rm.asks({"allocationKey": "k"})
        rm.step()
        rm.refused("E_BUSY_STATE", "UnregisterResourceManager")
        check(rm.client.dump("partitions")[0]["totalContainers"] == 1, "it is as it was")
        rm.client.change("UnregisterResourceManager", {"rmID": "rm:1", "force": True})
        rm.refused("E_RM_UNKNOWN", NODE, nodes=[])
        check(rm.client.dump("partitions") == [])


def test_foreign_allocations():  # I-061, I-149, I-150
    foreign = {"allocationKey": "f", "nodeID": "n1", "allocationTags": {"foreign": "static"}}
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1"}, {"nodeID": "n2"})
        node = lambda name: rm.dump("node", node=name)
        for size in ({"vcore": 100}, {}, {"vcore": 0}, {"gpu": 2}, {"vcore": 300}):
            check(rm.send(ALLOCATION, allocations=[{**foreign, "resourcePerAlloc": size}]) == [], "no new, no echo")
            check(node("n1").get("occupied", {}).get("vcore", 0) == size.get("vcore", 0), size, node("n1"))
        items = rm.send(ALLOCATION, allocations=[{**foreign, "resourcePerAlloc": {"vcore": -1}}])
        check(listed(items, ALLOCATION, "rejectedAllocations")[0]["code"] == 1031, items)
        rm.send(ALLOCATION, allocations=[{**foreign, "nodeID": "n2", "resourcePerAlloc": {"vcore": 300}}])
        check(node("n1")["available"] == {"vcore": 1000} and node("n2")["available"] == {"vcore": 700}, "it moved", node("n1"))
        items = rm.send(ALLOCATION, allocations=[{**foreign, "nodeID": "n9", "resourcePerAlloc": {"vcore": 1}}])
        check(listed(items, ALLOCATION, "rejectedAllocations")[0]["code"] == 1020, items)
        check(rm.release(applicationID="", allocationKey="f", terminationType=1) == [], "no echo")
        check(node("n2")["available"] == {"vcore": 1000})


def test_releases():  # I-156, I-158, I-160, I-164
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        cluster(rm)
        rm.asks(*[{"allocationKey": key} for key in ("a", "b", "c")])
        rm.step()
        rm.asks({"allocationKey": "pending", "resourceAsk": {"vcore": 90}})
        items = rm.release(allocationKey="a", terminationType=2)  # its ask is gone, too (S-472)
        check(items == [], items)
        check(rm.dump("node", node="n1")["allocated"] == {"vcore": 20} and rm.dump("queue", queue="root.a")["allocatedResource"] == {"vcore": 20})
        check(rm.dump("user", user="u")["queues"]["resourceUsage"] == {"vcore": 20})
        check(rm.release(allocationKey="b", terminationType=4) == [], "it is no placeholder")
        check(rm.dump("node", node="n1")["allocated"] == {"vcore": 20}, "and still there")
        rm.asks({"allocationKey": "waits", "resourceAsk": {"vcore": 90}})
        check(rm.release(allocationKey="waits", terminationType=1) == [], "the release of an ask has no echo")
        check([ask["allocationKey"] for ask in rm.dump("app", application="app")["requests"]] == ["pending"])
        items = rm.release(allocationKey="")
        released = [body["released"] for kind, body in items if body.get("released")]
        check(len(released) == 1 and sorted(one["allocationKey"] for one in released[0]) == ["b", "c"], "one echo with all", items)
        app = rm.dump("app", application="app")
        check(app["applicationState"] == "Completing" and not app["requests"] and not app["allocations"], app)


def test_a_placeholder_is_replaced():  # I-159, I-163
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1"})
        start = rm.client.get("Ping")["now"]
        rm.applications({"applicationID": "app", "placeholderAsk": {"vcore": 20}})
        rm.asks(*[{"allocationKey": key, "placeholder": True, "taskGroupName": "g"} for key in ("p1", "p2")])
        rm.step()
        rm.advance(10)
        rm.asks({"allocationKey": "real", "taskGroupName": "g", "resourceAsk": {"vcore": 5}})
        released = listed(rm.step(), ALLOCATION, "released")
        check([one["terminationType"] for one in released] == [4], released)
        items = rm.release(allocationKey=released[0]["allocationKey"], terminationType=4)
        check(not listed(items, ALLOCATION, "released") and listed(items, ALLOCATION, "new")[0]["allocationKey"] == "real", items)
        real = [one for one in rm.dump("app", application="app")["allocations"] if one["allocationKey"] == "real"][0]
        check(real["placeholderUsed"] and real["requestTime"] == start, "since when the placeholder was asked for", real)
        check(rm.dump("queue", queue="root.a")["allocatedResource"] == {"vcore": 15}, "the difference is given back")
        other = "p2" if released[0]["allocationKey"] == "p1" else "p1"
        rm.release(allocationKey=other, terminationType=4)  # nothing waits for its place: gone all the same
        check([one["allocationKey"] for one in rm.dump("app", application="app")["allocations"]] == ["real"])
        check(rm.dump("node", node="n1")["allocated"] == {"vcore": 5})


def test_removing_a_node():  # I-177
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1", "schedulableResource": {"vcore": 40}})
        cluster_of_two = {"nodeID": "n2", "schedulableResource": {"vcore": 40}}
        rm.applications({"applicationID": "app"}, {"applicationID": "gang", "placeholderAsk": {"vcore": 10}})
        rm.asks({"allocationKey": "k"}, {"allocationKey": "p", "applicationID": "gang", "placeholder": True, "taskGroupName": "g"})
        rm.send(ALLOCATION, allocations=[{"allocationKey": "f", "nodeID": "n1", "allocationTags": {"foreign": "x"},
                                          "resourcePerAlloc": {"vcore": 1}}])
        rm.step()
        rm.nodes(cluster_of_two)
        rm.asks({"allocationKey": "real", "applicationID": "gang", "taskGroupName": "g"})
        check([one["terminationType"] for one in listed(rm.step(), ALLOCATION, "released")] == [4], "the replacement is under way")
        items = rm.send(NODE, nodes=[{"nodeID": "n1", "action": 4}])
        gone = {one["allocationKey"]: one["terminationType"] for one in listed(items, ALLOCATION, "released")}
        check(gone == {"k": 1, "p": 1}, "one echo, foreign ones are forgotten", items)
        check(rm.dump("partitions")[0]["capacity"]["capacity"] == {"vcore": 40}, "capacity shrinks")
        rm.step()
        gang = rm.dump("app", application="gang")
        check([(one["allocationKey"], one["nodeId"]) for one in gang["allocations"]] == [("real", "n2")], "it is placed elsewhere", gang)
        rm.nodes({"nodeID": "n1"})
        check("occupied" not in rm.dump("node", node="n1") or not rm.dump("node", node="n1")["occupied"].get("vcore"), "not counted again")


def test_applications():  # I-165, I-166, I-167, I-169 to I-171
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        cluster(rm)
        items = rm.applications({"applicationID": "no", "queueName": "root.none"}, {"applicationID": "app"}, {"applicationID": "yes"})
        answers = [body for kind, body in items if kind == APPLICATION]
        check(len(answers) == 1 and len(answers[0]["accepted"]) == 1 and len(answers[0]["rejected"]) == 2, "one callback", items)
        check(rm.dump("app", application="no")["rejectedMessage"], "it is kept with the reason")
        check(listed(rm.applications({"applicationID": "no"}), APPLICATION, "accepted"), "a rejected id is free (I-167)")
        rm.asks({"allocationKey": "k"}, {"allocationKey": "l", "resourceAsk": {"vcore": 500}})
        rm.step()
        items = rm.send(APPLICATION, remove=[{"applicationID": "app"}, {"applicationID": "nobody"}])
        check([kind for kind, _ in items] == [ALLOCATION], "no updated is sent", items)
        released = listed(items, ALLOCATION, "released")
        check([(one["allocationKey"], one["terminationType"]) for one in released] == [("k", 1)] and "app" in released[0]["message"], items)
        check("app" not in [one["applicationID"] for one in rm.dump("apps", state="completed")], "no trace (I-171)")
        items = rm.send(APPLICATION, new=[{"applicationID": "short", "queueName": "root.a", "ugi": {"user": "u"}}],
                        remove=[{"applicationID": "short"}])
        check([one["applicationID"] for one in listed(items, APPLICATION, "accepted")] == ["short"], items)
        check("short" not in [one["applicationID"] for one in rm.dump("apps")], "accepted, then removed")


def test_nodes():  # I-172 to I-176, I-178, I-046
    running = {"allocationKey": "k", "applicationID": "app", "resourcePerAlloc": {"vcore": 10}}
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        cluster(rm)
        rm.asks({"allocationKey": "first"})
        rm.step()
        items = rm.send(NODE, nodes=[
            {"nodeID": "n2", "action": 1, "schedulableResource": {"vcore": 50, "gpu": 0}}, {"nodeID": "n1", "action": 4},
            {"nodeID": "n3", "action": 6}, {"nodeID": "n2", "action": 1}, {"nodeID": "n4", "action": 1, "schedulableResource": {"vcore": -1}},
            {"nodeID": "n9", "action": 3}, {"nodeID": "n2", "action": 0}, {"nodeID": "n2", "action": 99}])
        kinds = [kind for kind, _ in items]
        check(kinds.index(ALLOCATION) < kinds.index(NODE), "released before the answer to the creations", items)
        check([one["nodeID"] for one in listed(items, NODE, "accepted")] == ["n2", "n3"], items)
        check([one["code"] for one in listed(items, NODE, "rejected")] == [1021, 1031], items)
        check([(one["nodeID"], one["code"]) for one in listed(items, NODE, "failed")] == [("n9", 1020), ("n2", 1024), ("n2", 1024)], items)
        check(rm.dump("partitions")[0]["capacity"]["capacity"] == {"vcore": 50}, "zero-valued types are dropped")
        check(not rm.dump("node", node="n3")["schedulable"])
        # all or nothing
        items = rm.nodes({"nodeID": "n5", "existingAllocations": [running, {**running, "allocationKey": "l", "applicationID": "nobody"}]})
        check(listed(items, NODE, "rejected") and not listed(items, NODE, "accepted"), items)
        check(rm.dump("partitions")[0].get("totalContainers", 0) == 0 and rm.dump("partitions")[0]["totalNodes"] == 2)
        items = rm.nodes({"nodeID": "n5", "existingAllocations": [running]})
        kinds = [kind for kind, _ in items]
        check(kinds.index(NODE) < kinds.index(ALLOCATION) and listed(items, ALLOCATION, "new")[0]["nodeID"] == "n5", items)
        # update: capacity, attributes, but never the partition; down as well
        check(rm.send(NODE, nodes=[{"nodeID": "n5", "action": 2, "schedulableResource": {"vcore": 5}, "attributes": {"si/rackname": "r"}}]) == [])
        node = rm.dump("node", node="n5")
        check(node["capacity"] == {"vcore": 5} and node["available"] == {"vcore": -5} and node["rackName"] == "r", node)
        items = rm.send(NODE, nodes=[{"nodeID": "n5", "action": 2, "attributes": {"si/node-partition": "other"}}])
        check(listed(items, NODE, "failed")[0]["code"] == 1000, items)  # I-175, I-112: nobody has that partition
        for action in (3, 3, 5, 5):  # nothing to do is no error (I-176)
            check(rm.send(NODE, nodes=[{"nodeID": "n2", "action": action}]) == [])


def test_configuration():  # I-180 to I-182, I-185
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        cluster(rm)
        active = rm.dump("config")["checksum"]
        change = lambda **body: rm.client.change("UpdateConfiguration", {"rmID": "rm:1", **body})
        reply = change(config=CONFIG, extraConfig={"log.level": "WARN"})
        check(not reply["changed"] and reply["checksum"] == active and reply["partitions"] == ["[rm:1]default"], reply)
        check(rm.dump("config")["extra"] == {"log.level": "WARN"}, "the settings are taken")
        error = rm.refused("E_CONFIG_INVALID", "UpdateConfiguration", config=CONFIG.replace("- name: b", "- nme: b"),
                           extraConfig={"log.level": "INFO"})
        check(error["details"]["line"] == 9 and error["details"]["column"] > 0, error)
        parent = CONFIG.replace("- name: a", "- name: a\n            queues: [{name: deep}]")
        two = parent + "  - name: second\n    queues:\n      - name: root\n"
        rm.refused("E_CONFIG_INVALID", "UpdateConfiguration", config=two)  # root.a holds an application
        check(rm.dump("config")["checksum"] == active and rm.dump("config")["extra"] == {"log.level": "WARN"}, "all as it was")
        check([one["name"] for one in rm.dump("partitions")] == ["default"])
        admin = daemon.client()
        check(admin.change("UpdateConfiguration", {"rmID": "rm:1", "config": CONFIG + "          - name: c\n"})["changed"])
        observer = daemon.client(role="observer")
        check(observer.get("ValidateConfiguration", {"config": CONFIG})["allowed"])
        answer = observer.get("ValidateConfiguration", {"config": "partitions: x"})
        check(not answer["allowed"] and answer["reason"] and answer["problems"][0]["line"] == 1, answer)
        observer.refused("E_FORBIDDEN", "UpdateConfiguration", {"rmID": "rm:1", "config": CONFIG}, mutating=True)
    with Daemon() as daemon:
        check(daemon.client(role="observer").get("ValidateConfiguration", {"config": CONFIG})["allowed"], "without any RM")


def test_events_go_to_the_rm_that_wants_them():  # I-190, I-191, I-620
    with Daemon(*BY_HAND) as daemon:
        rms = [Rm(daemon, rm=name, capabilities=wanted) for name, wanted in (("none", []), ("some", ["events"]), ("all", ["events:all"]))]
        types = {}
        for rm in rms:
            items = cluster(rm) + rm.asks({"allocationKey": "k"}) + rm.step() + rm.advance(3)
            records = listed(items, "SendEvent", "records")
            types[rm.rm] = {record["type"] for record in records}
            check(all(record["rmID"] == rm.rm for record in records), records)
        check(types["none"] == set() and types["some"] == {3} and {2, 3, 4} <= types["all"], types)


main(globals())
