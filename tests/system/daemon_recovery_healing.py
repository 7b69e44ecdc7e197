# SPDX-License-Identifier: Apache-2.0
"""What waits in quarantine during a recovery (interface.md 3.5): what it counts for, and how it heals."""
from daemon_support import *
from daemon_support.recovering import *


def names(items, name, kind=ALLOCATION):
    """The keys or ids in all lists `name`."""
    return [one.get("allocationKey") or one.get("nodeID") or one.get("applicationID") for one in listed(items, kind, name)]


def occupied(rm):
    """What is allocated and what is occupied, by the name of the node."""
    return {node["nodeID"]: (amount(node, "allocated"), amount(node, "occupied")) for node in rm.dump("nodes")[0]["nodesInfo"]}


def amount(one, field):
    return (one.get(field) or {}).get("vcore", 0)


def test_an_allocation_that_waits_and_is_reported_on_a_second_node():  # I-242 PLACED_TWICE
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.node("n1")
        rm.node("n2")
        rm.allocation("k", node="n1")
        check(quarantine(rm) == {"k": "APP_UNKNOWN"}, "it waits for its application", quarantine(rm))
        rm.allocation("k", node="n2")
        check(quarantine(rm, 2) == {"k": "PLACED_TWICE"}, quarantine(rm, 2))
        check(occupied(rm) == {"n1": (0, 10), "n2": (0, 10)}, occupied(rm))
        items = rm.application("app")
        check([(one["allocationKey"], one["nodeID"]) for one in listed(items, ALLOCATION, "new")] == [("k", "n1")], items)
        check(quarantine(rm, 3) == {"k": "PLACED_TWICE"}, "the second one stays aside", quarantine(rm, 3))
        check(occupied(rm) == {"n1": (10, 0), "n2": (0, 10)}, occupied(rm))
        rm.allocation("k", node="n1")
        report = rm.done(4)
        check(report["quarantine"] == [] and report["result"] == "running", report)
        check(occupied(rm) == {"n1": (10, 0), "n2": (0, 0)}, occupied(rm))


def test_a_duplicate_of_a_node_ends_with_the_node():  # I-242 DUPLICATE_NODE
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.node("n1")
        rm.nodes({"nodeID": "n1", "schedulableResource": {"vcore": 7}})
        check(quarantine(rm) == {"n1": "DUPLICATE_NODE"}, quarantine(rm))
        check(rm.dump("nodes")[0]["nodesInfo"][0]["capacity"] == {"vcore": 1000}, "the first one stays")
        rm.send(NODE, nodes=[{"nodeID": "n1", "action": 4}])
        check(quarantine(rm, 2) == {}, quarantine(rm, 2))


def test_a_node_of_less_than_nothing_is_sent_again():  # I-242 NEGATIVE
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        items = rm.nodes({"nodeID": "n1", "schedulableResource": {"vcore": -1}})
        check(names(items, "accepted", NODE) == names(items, "rejected", NODE) == [], items)
        check(quarantine(rm) == {"n1": "NEGATIVE"}, quarantine(rm))
        check(names(rm.node("n1"), "accepted", NODE) == ["n1"])
        report = rm.done(2)
        check(report["quarantine"] == [] and report["result"] == "running", report)


def test_an_application_is_sent_again_with_another_queue():  # I-242 APP_REJECTED, QUEUE_INVALID
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon, recovery={"forceApplications": False})
        rm.node("n1")
        rm.application("app", queueName="root.gone")
        rm.allocation("a1")
        rm.allocation("a2")
        check(quarantine(rm) == {"app": "QUEUE_INVALID", "a1": "APP_REJECTED", "a2": "APP_REJECTED"}, quarantine(rm))
        check(occupied(rm) == {"n1": (0, 20)}, occupied(rm))
        items = rm.application("app", queueName="root.b")
        check(names(items, "accepted", APPLICATION) == ["app"] and names(items, "new") == ["a1", "a2"], items)
        check(occupied(rm) == {"n1": (20, 0)}, occupied(rm))
        report = rm.done(2)
        check(report["quarantine"] == [] and report["result"] == "running", report)


def test_what_a_node_brings_along_does_not_reject_its_neighbours():  # I-242, I-227
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.application("app")
        items = rm.node("n1", existingAllocations=[
            {"allocationKey": key, "applicationID": app, "nodeID": "n1", "resourcePerAlloc": SIZE}
            for key, app in (("stray", "nobody"), ("good", "app"))])
        check(names(items, "accepted", NODE) == ["n1"] and names(items, "new") == ["good"], items)
        check(names(items, "rejected", NODE) == names(items, "rejectedAllocations") == [], items)
        check(quarantine(rm) == {"stray": "APP_UNKNOWN"}, quarantine(rm))
        check(occupied(rm) == {"n1": (10, 10)}, occupied(rm))


def test_what_waits_counts_on_its_node_alone():  # I-243
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.application("app")
        rm.node("n1")
        rm.nodes({"nodeID": "n2"})
        rm.allocation("good")
        rm.allocation("again")
        rm.allocation("again", node="n2")  # PLACED_TWICE
        rm.allocation("ungrouped", placeholder=True)
        check(quarantine(rm) == {"again": "PLACED_TWICE", "ungrouped": "PLACEHOLDER_NO_GROUP"}, quarantine(rm))
        text = rm.client.get("Metrics", {"prefix": "yunikorn_rm_quarantined"})["text"]  # I-515
        counts = {line.split('reason="')[1].split('"')[0]: int(line.split()[-1]) for line in text.splitlines() if not line.startswith("#")}
        check(len(counts) == 9 and {reason for reason, count in counts.items() if count == 1} == {"PLACED_TWICE", "PLACEHOLDER_NO_GROUP"}, text)
        check(sum(counts.values()) == 2, counts)
        check(occupied(rm) == {"n1": (20, 10), "n2": (0, 10)}, "good and the first of again; ungrouped", occupied(rm))
        (root,), (user,), app = rm.dump("queues"), rm.dump("users"), rm.dump("app", application="app")
        check(amount(root, "allocatedResource") == amount(root["children"][0], "allocatedResource") == 20, root)
        of_a = user["queues"]["children"][0]
        check(of_a["queuePath"] == "root.a", user)
        check(amount(user["queues"], "resourceUsage") == amount(of_a, "resourceUsage") == 20, user)
        check(amount(app, "usedResource") == 20, app)
        check([(one["allocationKey"], one["nodeId"]) for one in app["allocations"]] == [("again", "n1"), ("good", "n1")], app)


def test_an_application_that_lost_all_completes_after_the_recovery():  # I-224
    with Daemon(*BY_HAND) as daemon:
        rm = recovered(daemon)
        rm.release(allocationKey="a1", terminationType=1)
        rm.books.forget("allocations", ("app", "a1"))
        changes = lambda items: [one["state"] for one in listed(items, APPLICATION, "updated")]
        items = rm.advance(100)
        check(changes(items) == [], "it waits for the end of the recovery", items)
        state = rm.dump("app", application="app")["applicationState"]
        check(state not in ("Completing", "Completed"), state)
        check(rm.done()["result"] == "running")
        check(changes(rm.told()) == ["Completing"] and changes(rm.advance(29)) == [])
        check(changes(rm.advance(1)) == ["Completed"], "thirty seconds after the end of the recovery")


def test_a_decommission_beyond_the_budget_of_names_has_failed():  # I-226
    with Daemon(*BY_HAND, "--settings", "@conf", files={"conf": "rmMaxNames: 1000\n"}) as daemon:
        rm = Recovering(daemon)
        told = [listed(rm.send(NODE, nodes=[{"nodeID": f"{i}-" + "x" * 198, "action": 4}]), NODE, "failed") for i in range(8)]
        failed = [(one["nodeID"][0], one["code"]) for items in told for one in items]
        check(failed == [("5", 1025), ("6", 1025), ("7", 1025)], "P_NO_CAPACITY; 392 bytes each, of twice 1000", failed)
        check("rmMaxNames" in told[5][0]["reason"], told[5])
        check(rm.done()["unusedTombstones"] == 5, "those that failed are not remembered")


main(globals())
