# SPDX-License-Identifier: Apache-2.0
"""Messages (interface.md section 1) as an RM sends and receives them."""
from daemon_support import *

BY_HAND = ("--manual-schedule", "--clock", "virtual")
ALLOCATION, APPLICATION, NODE = "UpdateAllocation", "UpdateApplication", "UpdateNode"


def test_field_names_are_exact():  # I-001
    with Daemon() as daemon:
        rm = Rm(daemon)
        error = rm.refused("E_MISSING_FIELD", NODE, nodes=[{"nodeid": "n1", "action": 1}])
        check(error["path"] == "nodes[0].nodeID", error)
        error = rm.refused("E_MISSING_FIELD", NODE, nodes=[{"NodeID": "n1", "action": 1}])
        check(error["path"] == "nodes[0].nodeID", error)


def test_resource_names_are_compared_byte_by_byte():  # I-003
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1", "schedulableResource": {"memory": 1 << 30, "vcore": 1000}})
        rm.applications({"applicationID": "app"})
        rm.asks({"allocationKey": "big", "resourceAsk": {"Memory": 1}}, {"allocationKey": "core", "resourceAsk": {"vcore": 1000}})
        placed = listed(rm.step(), ALLOCATION, "new")
        check([one["allocationKey"] for one in placed] == ["core"], "Memory is not memory", placed)
        check(rm.dump("node", node="n1")["capacity"] == {"memory": 1 << 30, "vcore": 1000})


def test_times():  # I-005, I-060, I-142
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        now = rm.client.get("Ping")["now"]
        rm.applications({"applicationID": "app"})
        rm.asks({"allocationKey": "early", "tags": {"creationTime": "900"}}, {"allocationKey": "odd", "tags": {"creationTime": "-"}},
                {"allocationKey": "none"})
        app = rm.dump("app", application="app")
        asks = {ask["allocationKey"]: ask["requestTime"] for ask in app["requests"]}
        check(asks == {"early": 900 * 10**9, "odd": now, "none": now}, asks)
        check(app["submissionTime"] == 900 * 10**9, "not younger than its oldest ask", app)
        check(app["pendingResource"] == {"vcore": 30}, app)
        rm.nodes({"nodeID": "n1"})
        states = [one for one in listed(rm.step(), APPLICATION, "updated")]
        check(states and all(one["stateTransitionTimestamp"] == now for one in states), states)


def test_the_answer_to_a_registration():  # I-020, I-021, I-023
    with Daemon() as daemon:
        client = daemon.client()
        reply = client.register(capabilities=["events", "juggling", "reportIgnored"], policyGroup="night",
                                extraConfig={"log.level": "WARN", "of.no.meaning": "x"})
        check(reply["partitions"] == ["[rm:1]default"] and reply["policyGroup"] == "night", reply)
        check(len(reply["configChecksum"]) == 64 and reply["streamEpoch"] >= 1 and reply["coreState"] == 1, reply)
        check(not reply.get("reRegistration", False) and reply["ignoredCapabilities"] == ["juggling"], reply)
        extra = client.dump("config")["extra"]
        check(extra == {"log.level": "WARN", "of.no.meaning": "x"}, extra)
        again = client.register(policyGroup="night")
        check(again["reRegistration"] and again["streamEpoch"] > reply["streamEpoch"], again)
        check(client.dump("config")["extra"] == extra, "absent leaves it")
        client.register(policyGroup="night", extraConfig={})
        check(client.dump("config")["extra"] == {}, "present replaces it as a whole")


def test_without_configuration_there_is_the_built_in_one():  # I-024
    with Daemon() as daemon:
        for config in ("", None):
            client = daemon.client()
            body = {"rmID": "rm:1", **({"config": config} if config is not None else {})}
            check(client.change("RegisterResourceManager", body)["partitions"] == ["[rm:1]default"])
            client.epoch = client.dump("streams", rmID="rm:1")[0]["epoch"]
            client.change(APPLICATION, {"rmID": "rm:1", "new": [
                {"applicationID": "app", "ugi": {"user": "anybody"}, "tags": {"namespace": "team"}}]})
            items = client.poll()["items"]
            check(items[0]["body"]["accepted"][0]["queueName"] == "root.team", items)


def test_releases_travel_once_in_each_direction():  # I-032, I-033, I-157, I-161, I-162, I-163
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon, capabilities=["reportIgnored"])
        rm.nodes({"nodeID": "n1"})
        rm.applications({"applicationID": "app"})
        keys = ("by-rm", "unknown", "timeout", "preempted", "replaced")
        rm.asks(*[{"allocationKey": key} for key in keys])
        rm.step()
        echoes = {}
        for kind, key in ((1, "by-rm"), (0, "unknown"), (2, "timeout"), (3, "preempted")):
            echoes[key] = [one["terminationType"] for one in
                           listed(rm.release(allocationKey=key, terminationType=kind), ALLOCATION, "released")]
        check(echoes == {"by-rm": [1], "unknown": [1], "timeout": [], "preempted": []}, echoes)
        again = rm.release(allocationKey="by-rm", terminationType=1)
        check(not listed(again, ALLOCATION, "released") and len(listed(again, ALLOCATION, "ignoredReleases")) == 1, again)
        refused = rm.release(allocationKey="replaced", terminationType=4)  # no placeholder (I-163)
        check(listed(refused, ALLOCATION, "ignoredReleases")[0]["code"] == 1041, refused)
        check(len(rm.dump("app", application="app")["allocations"]) == 1, "only that one is left")
        rm.asks({"allocationKey": "pending"})
        check(rm.release(allocationKey="pending", terminationType=1) == [], "a pending one goes without an echo")


def test_refusals_name_partition_and_code():  # I-035, I-036, I-141
    with Daemon() as daemon:
        rm = Rm(daemon)
        rm.applications({"applicationID": "app"})
        wrong = [{"allocationKey": "none", "resourceAsk": {}}, {"allocationKey": "zero", "resourceAsk": {"vcore": 0}},
                 {"allocationKey": "negative", "resourceAsk": {"vcore": -1}},
                 {"allocationKey": "lonely", "placeholder": True}, {"allocationKey": "many", "maxAllocations": 2},
                 {"allocationKey": "orphan", "applicationID": "nobody"}, {"allocationKey": "lost", "partitionName": "mars"},
                 # the first of several faults counts
                 {"allocationKey": "both", "partitionName": "mars", "resourceAsk": {"vcore": -1}, "applicationID": "nobody"}]
        items = rm.asks(*wrong)
        codes = {one["allocationKey"]: one["code"] for one in listed(items, ALLOCATION, "rejected")}
        check(codes == {"none": 1030, "zero": 1030, "negative": 1031, "lonely": 1032, "many": 1033, "orphan": 1010,
                        "lost": 1000, "both": 1000}, codes)
        check(len([kind for kind, body in items if body.get("rejected")]) == 1, "one callback (I-140)", items)
        check(all(one["partitionName"] and one["reason"] and one["applicationID"] for one in listed(items, ALLOCATION, "rejected")))
        items = rm.send(ALLOCATION, allocations=[
            {"allocationKey": "a", "applicationID": "nobody", "resourcePerAlloc": {"vcore": 1}},
            {"allocationKey": "b", "applicationID": "app", "resourcePerAlloc": {"vcore": 1}, "nodeID": "nowhere"}])
        check(not listed(items, ALLOCATION, "rejected"), items)
        codes = {one["allocationKey"]: one["code"] for one in listed(items, ALLOCATION, "rejectedAllocations")}
        check(codes == {"a": 1010, "b": 1020}, codes)


def test_placeholders_that_time_out():  # I-037
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1", "schedulableResource": {"vcore": 10}})
        rm.applications({"applicationID": "app", "placeholderAsk": {"vcore": 20}, "executionTimeoutMilliSeconds": 5000})
        rm.asks(*[{"allocationKey": key, "placeholder": True, "taskGroupName": "g"} for key in ("p1", "p2")])
        placed = listed(rm.step(), ALLOCATION, "new")
        check(len(placed) == 1, placed)
        items = rm.advance(6)
        gone = {one["allocationKey"]: one["terminationType"] for one in listed(items, ALLOCATION, "released")}
        check(gone == {"p1": 2, "p2": 2}, "the pending one as well", gone)
        check(not any("releasedAsks" in body for _, body in items), items)


def test_states_of_applications():  # I-040, I-041, I-166, I-168
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1"})
        items = rm.applications({"applicationID": "app"})
        check(listed(items, APPLICATION, "accepted")[0]["queueName"] == "root.a", items)
        check(not listed(items, APPLICATION, "updated"), "nothing is told of New", items)
        items = rm.asks({"allocationKey": "k"}, {"allocationKey": "l"})
        items += rm.step()
        items += rm.release(allocationKey="")
        items += rm.advance(60)
        told = [(one["state"], one["message"]) for one in listed(items, APPLICATION, "updated")]
        check(told == [("Accepted", "runApplication"), ("Running", "runApplication"),
                       ("Completing", "completeApplication"), ("Completed", "completeApplication")], told)
        check(rm.dump("app", application="app")["applicationState"] == "Completed")


def test_asks_for_more_nodes():  # I-054, I-055, I-010
    with Daemon("--clock", "virtual") as daemon:
        plain, able = Rm(daemon, rm="plain"), Rm(daemon, rm="able", capabilities=["containerState"])
        told = {"plain": [], "able": []}

        def reported():
            for rm in (plain, able):
                told[rm.rm] += rm.advance(0.6)
            return [body for kind, body in told["able"] if kind == "UpdateContainerSchedulingState"]

        for rm in (plain, able):
            rm.nodes(*[{"nodeID": name, "schedulableResource": {"vcore": 10}} for name in ("n1", "n2")])
            rm.applications({"applicationID": "app"})
            rm.asks({"allocationKey": "waits", "resourceAsk": {"vcore": 15}})
        state = until("it is reported", reported)[0]
        check(state == {"applicationID": "app", "allocationKey": "waits", "state": 4, "reason": "waiting for cluster resources"}, state)
        check(not [kind for kind, _ in told["plain"] if kind == "UpdateContainerSchedulingState"], told["plain"])


def test_an_update_without_text_reads_the_file():  # I-058, I-186
    with Daemon("--config", "night=@q.yaml", files={"q.yaml": CONFIG}) as daemon:
        rm = Rm(daemon)
        rm.refused("E_CONFIG_SOURCE", "UpdateConfiguration")
        reply = rm.client.change("UpdateConfiguration", {"rmID": "rm:1", "policyGroup": "night"})  # I-186
        check(not reply["changed"], "it is the same text", reply)
        check(rm.dump("config")["policyGroup"] == "night")
        reply = rm.client.change("UpdateConfiguration", {"rmID": "rm:1", "config": ""})
        check(reply["changed"], reply)
        queues = {queue["queuename"]: queue["status"] for queue in rm.dump("queues")[0].get("children", [])}
        check("Active" not in queues.values(), "the built-in default drains what it lacks", queues)


def test_a_required_node_and_a_forced_application():  # I-060, I-062
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1"}, {"nodeID": "n2"}, {"nodeID": "n3"})
        rm.applications({"applicationID": "app"})
        rm.asks(*[{"allocationKey": f"k{i}", "tags": {"yunikorn.apache.org/requiredNode": "n2"}} for i in range(3)])
        check({one["nodeID"] for one in listed(rm.step(), ALLOCATION, "new")} == {"n2"})
        items = rm.applications({"applicationID": "lost", "queueName": "root.none"},
                                {"applicationID": "kept", "queueName": "root.none", "tags": {"Application.Create.Force": "true"}})
        check([one["applicationID"] for one in listed(items, APPLICATION, "rejected")] == ["lost"], items)
        check(listed(items, APPLICATION, "accepted")[0]["queueName"] == "root.@recovery@", items)


def test_quota_tags_of_a_namespace():  # I-063
    quota = '{"resources":{"vcore":{"value":20}}}'
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon, config="")
        tags = {"namespace": "team", "namespace.resourcequota": quota, "namespace.resourcemaxapps": "1"}
        rm.applications({"applicationID": "app", "queueName": "", "tags": tags})
        queue = rm.dump("queue", queue="root.team")
        check(queue["maxResource"] == {"vcore": 20} and queue["maxRunningApps"] == 1, queue)
        items = rm.applications({"applicationID": "odd", "queueName": "", "tags": {
            "namespace": "other", "namespace.resourcequota": "{", "namespace.resourcemaxapps": "many"}})
        check(listed(items, APPLICATION, "accepted"), "still accepted", items)
        check("maxResource" not in rm.dump("queue", queue="root.other"))
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.applications({"applicationID": "app", "tags": {"namespace.resourcequota": quota}})
        check("maxResource" not in rm.dump("queue", queue="root.a"), "only for dynamic queues")


def test_everything_is_filled_in():  # I-031, I-130, I-030
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1"})
        rm.applications({"applicationID": "app"})
        rm.asks({"allocationKey": "k", "priority": 7, "tags": {"colour": "red"}, "originator": True,
                 "preemptionPolicy": {"allowPreemptSelf": True}})
        one = listed(rm.step(), ALLOCATION, "new")[0]
        check(one["partitionName"] == "[rm:1]default" and one["queueName"] == "root.a" and one["priority"] == 7, one)
        check(one["allocationTags"] == {"colour": "red"} and one["resourcePerAlloc"] == {"vcore": 10}, one)
        check(one["nodeID"] == "n1" and one["originator"] and one["preemptionPolicy"]["allowPreemptSelf"], one)
        check(not one["preemptionPolicy"].get("allowPreemptOther", False), "absent is false (I-030)", one)
        partition = rm.dump("partitions")[0]
        check(partition["name"] == "default" and partition["clusterId"] == "rm:1", "dumps: the short name (I-402)", partition)


main(globals())
