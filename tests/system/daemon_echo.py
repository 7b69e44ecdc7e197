# SPDX-License-Identifier: Apache-2.0
"""An RM that keeps books gets its updates back in its stream (capability echoRequests, I-269)."""
from daemon_support import *

RECOVERING, RUNNING = 2, 1
LARGEST = 1 << 20


def as_other(other, kind, **body):
    other.change(kind, {"rmID": "rm:1", "impersonate": True, **body})


def new_node(name):
    return {"nodes": [{"nodeID": name, "action": 1, "schedulableResource": {"vcore": 100}}]}


def requests(items):
    """Each request with the answers that belong to it, as (kind, impersonated, body, answers)."""
    found = []
    for at, (kind, body) in enumerate(items):
        if kind == "Request":
            answers = [one for one in items[at + 1:] if one[0] in ("UpdateNode", "UpdateApplication", "UpdateAllocation")]
            found.append((body["kind"], body["impersonated"], body["body"], answers[:body["answers"]]))
    return found


def test_updates_come_back_before_what_comes_of_them():
    with Daemon("--manual-schedule") as daemon:
        rm, other = Rm(daemon, capabilities=["echoRequests"]), daemon.client()
        check("ignoredCapabilities" not in rm.registered)
        as_other(other, "UpdateNode", **new_node("n1"))
        as_other(other, "UpdateApplication", new=[{"applicationID": "app", "queueName": "root.a", "ugi": {"user": "u", "groups": ["g"]}},
                                                  {"applicationID": "bad", "queueName": "root.none", "ugi": {"user": "u", "groups": ["g"]}}])
        items = rm.asks({"allocationKey": "k"}, {"allocationKey": "l"})
        found = requests(items)
        check([(kind, impersonated) for kind, impersonated, _, _ in found] ==
              [("UpdateNode", True), ("UpdateApplication", True), ("UpdateAllocation", False)], found)
        check(found[0][2]["nodes"][0]["nodeID"] == "n1" and found[0][3] == [
            ("UpdateNode", {"accepted": [{"nodeID": "n1", "partitionName": "[rm:1]default"}]})], found[0])
        check([one["applicationID"] for one in found[1][2]["new"]] == ["app", "bad"])
        check(len(listed(found[1][3], "UpdateApplication", "accepted")) == len(listed(found[1][3], "UpdateApplication", "rejected")) == 1)
        check([one["allocationKey"] for one in found[2][2]["asks"]] == ["k", "l"])
        check([kind for kind, _ in found[2][3]] == ["UpdateApplication"], "asks that wait have no answer, but the state of their application:", found[2])
        items = rm.step()
        check(requests(items) == [] and len(listed(items, "UpdateAllocation", "new")) == 2, "placements answer no request")
        as_other(other, "UpdateNode", nodes=[{"nodeID": "n1", "action": 4}])
        kind, _, _, answers = requests(rm.told())[0]
        check(kind == "UpdateNode" and len(listed(answers, "UpdateAllocation", "released")) == 2, answers)


def test_what_is_refused_says_which_element_it_was():  # I-114
    with Daemon("--manual-schedule") as daemon:
        rm = Rm(daemon, capabilities=["echoRequests"])
        rm.nodes({"nodeID": "n1"})
        rm.applications({"applicationID": "app"})
        elements = lambda items, kind, key: [one["element"] for one in listed(requests(items)[0][3], kind, key)]
        items = rm.asks({"allocationKey": "k", "resourceAsk": {"vcore": 0}}, {"allocationKey": "k"}, {"allocationKey": "l", "resourceAsk": {}})
        check(elements(items, "UpdateAllocation", "rejected") == [0, 2], items)
        items = rm.nodes({"nodeID": "n2"}, {"nodeID": "n2"}, {"nodeID": "n3", "action": 3})
        check(elements(items, "UpdateNode", "rejected") == [1] and elements(items, "UpdateNode", "failed") == [2], items)


def test_other_rms_get_nothing_back():
    with Daemon() as daemon:
        rm = Rm(daemon)
        check("element" not in listed(rm.nodes({"nodeID": "n0", "action": 3}), "UpdateNode", "failed")[0])
        check(requests(rm.nodes({"nodeID": "n1"})) == [])
        check("capabilities[0]" == rm.refused("E_INVALID", "RegisterResourceManager", detached={}, capabilities=["echoRequests"])["path"])


def test_a_replay_does_not_come_back_and_others_wait_for_it():
    with Daemon() as daemon:
        rm, other = Rm(daemon, capabilities=["echoRequests"], recovery={"id": "r"}), daemon.client()
        check(requests(rm.nodes({"nodeID": "n1"})) == [], "its own replay")
        busy = other.refused("E_BUSY", "UpdateNode", {"rmID": "rm:1", "impersonate": True, **new_node("n2")}, mutating=True)
        check("it takes part in nothing new until it has recovered" in busy["message"], busy)
        large = [{"nodeID": f"m{i}", "action": 1, "attributes": {"a": "x" * 4000}} for i in range(300)]
        check(len(listed(rm.nodes(*large), "UpdateNode", "accepted")) == 300, "a replay may be larger")
        report = rm.client.change("RecoveryDone", {"rmID": "rm:1", "id": "r", "attempt": 1,
                                                   "expected": {"nodes": 0, "applications": 0, "allocations": 0},
                                                   "digest": {"nodes": 0, "applications": 0, "allocations": 0}})
        check(report["result"] == "retry", report)
        rm.client.change("ResolveRecovery", {"rmID": "rm:1", "action": "abort"})


def test_an_update_has_at_most_a_mebibyte():
    with Daemon() as daemon:
        rm, other = Rm(daemon, capabilities=["echoRequests"]), daemon.client()
        nodes = [{"nodeID": f"m{i}", "action": 1, "attributes": {"a": "x" * 4000}} for i in range(300)]
        for client in (rm.client, other):
            why = client.refused("E_LIMIT", "UpdateNode", {"rmID": "rm:1", "impersonate": client is other, "nodes": nodes}, mutating=True)
            check("send fewer elements per message" in why["message"], why)
        as_other(other, "UpdateNode", nodes=nodes[:LARGEST // 4100])
        items = rm.told()
        check(len(requests(items)) == 1 and len(listed(requests(items)[0][3], "UpdateNode", "accepted")) == LARGEST // 4100)


def test_a_full_stream_holds_up_others_but_not_the_rm():
    with Daemon("--settings", "@conf", files={"conf": "outboundMaxItems: 100\n"}) as daemon:
        rm, other = Rm(daemon, capabilities=["echoRequests"]), daemon.client()
        sent = 0
        while True:
            reply = other.ask("UpdateNode", {"rmID": "rm:1", "impersonate": True, **new_node(f"n{sent}")}, seq=other.seq + 1, ttl=200)
            if not reply["ok"]:
                break
            sent, other.seq = sent + 1, other.seq + 1
            other.get("Sync", {"rmID": "rm:1", "impersonate": True})
        check(reply["err"]["name"] == "E_BUSY" and "three quarters full" in reply["err"]["message"], reply)
        rm.client.change("UpdateNode", {"rmID": "rm:1", **new_node("own")})
        found = requests(rm.told())
        check(len(found) == sent + 1 and found[-1][2]["nodes"][0]["nodeID"] == "own", len(found), sent)
        as_other(other, "UpdateNode", **new_node("later"))
        check(len(requests(rm.told())) == 1)


def test_who_takes_over_asks_for_it_anew():
    with Daemon() as daemon:
        rm, other = Rm(daemon, capabilities=["echoRequests"]), daemon.client()
        rm.nodes({"nodeID": "n1"})
        rm.client.close()
        until("nobody serves it", lambda: other.get("Status")["rms"][0].get("served") is False)
        heir = Rm(daemon, ifRegistered="resume")
        check(heir.registered["kept"])
        heir.ack = heir.registered["lastAck"]
        as_other(other, "UpdateNode", **new_node("n2"))
        check(requests([item for item in heir.told() if "n2" in str(item)]) == [])


def test_a_refused_registration_says_which_epoch_it_would_drop():
    with Daemon() as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1"})
        why = daemon.client().refused("E_BUSY_STATE", "RegisterResourceManager",
                                      {"rmID": "rm:1", "config": CONFIG, "ifRegistered": "refuse"}, mutating=True)
        check(why["details"]["streamEpoch"] == rm.client.epoch and why["details"]["served"], why)
        why = rm.refused("E_BUSY_STATE", "RegisterResourceManager", config=CONFIG, ifRegistered="refuse")
        check(not why["details"]["served"], "it is no other process to itself", why)


main(globals())
