# SPDX-License-Identifier: Apache-2.0
"""An RM whose predicates have a cache of their own: what it has to assume and to forget, and when it hears of that
(interface.md 2.5)."""
from daemon_support import *

CACHE, ALLOCATION = "ReSyncSchedulerCache", "UpdateAllocation"


def cluster(daemon, *capabilities):
    rm = Rm(daemon, capabilities=list(capabilities))
    check("ignoredCapabilities" not in rm.registered, rm.registered)
    rm.nodes({"nodeID": "n1", "schedulableResource": {"vcore": 30}}, {"nodeID": "n2", "schedulableResource": {"vcore": 20}})
    rm.applications({"applicationID": "app"})
    return rm


def whole_life(rm):
    """What the RM hears of allocations that are placed, reported, released, and lost with their node."""
    rm.asks(*({"allocationKey": f"k{n}"} for n in range(4)))
    placed = rm.step()
    placed += rm.send(ALLOCATION, allocations=[
        {"allocationKey": "there", "applicationID": "app", "nodeID": "n1", "resourcePerAlloc": {"vcore": 1}}])
    gone = rm.release(allocationKey="k0", terminationType=1)
    gone += rm.send("UpdateNode", nodes=[{"nodeID": "n2", "action": 4}])
    gone += rm.release(terminationType=1)
    return placed, gone


def test_placements_are_assumed_before_and_forgotten_after_their_release():  # I-131, I-053
    with Daemon("--manual-schedule") as daemon:
        placed, gone = whole_life(cluster(daemon, "resyncCache"))
        told = 0
        for i, (kind, body) in enumerate(placed):
            for one in [body["new"]] if kind == ALLOCATION and body.get("new") else []:
                told += len(one)
                wanted = {"assumedAllocations": [{"allocationKey": each["allocationKey"], "nodeID": each["nodeID"]} for each in one]}
                check(placed[i - 1] == (CACHE, wanted), placed)
        check(told == 5 and sum(kind == CACHE for kind, _ in placed) == sum("new" in body for _, body in placed), placed)
        told = 0
        for i, (kind, body) in enumerate(gone):
            for one in [body["released"]] if kind == ALLOCATION and body.get("released") else []:
                told += len(one)
                wanted = {"forgetAllocations": [{"allocationKey": each["allocationKey"]} for each in one]}
                check(gone[i + 1] == (CACHE, wanted), gone)
        check(told == 5 and sum(kind == CACHE for kind, _ in gone) == sum("released" in body for _, body in gone), gone)


def test_nobody_else_hears_of_a_cache():  # I-010, I-131
    with Daemon("--manual-schedule") as daemon:
        placed, gone = whole_life(cluster(daemon, "events", "containerState", "reportIgnored"))
        check(len(listed(placed, ALLOCATION, "new")) == 5 and len(listed(gone, ALLOCATION, "released")) == 5, placed, gone)
        check(all(kind != CACHE for kind, _ in placed + gone), placed, gone)


def test_a_node_is_asked_about_when_the_cache_knows_all_of_it():  # I-131
    with Daemon("--manual-schedule") as daemon:
        rm = cluster(daemon, "resyncCache", "predicates")

        def step():
            """(kind, what it is about) of each item, all predicates answered with yes."""
            rm.client.change("Step", {"cycles": 20})
            about = []
            while True:
                items = rm.client.poll(ack=rm.ack, wait=0)["items"]
                if not items:
                    return about
                for item in items:
                    rm.ack, body = item["n"], item["body"]
                    about += [(word, body[word] if word == "allocationKey" else [one["allocationKey"] for one in body[word]])
                              for word in ("allocationKey", "assumedAllocations", "new", "released", "forgetAllocations") if word in body]
                    if "call" in item:
                        rm.client.get("CallResult", {"rmID": "rm:1", "streamEpoch": rm.client.epoch, "call": item["call"], "ok": True,
                                                     "result": {"results": [{"nodeID": name, "fits": True} for name in body["nodes"]]}})

        def hears(*wanted):
            found = step()
            check(found == list(wanted), found, "instead of", wanted)

        rm.asks({"allocationKey": "k1"})
        hears(("allocationKey", "k1"))
        more = lambda key, **releases: rm.client.change(ALLOCATION, {"rmID": "rm:1", **releases, "asks": [
            {"allocationKey": key, "applicationID": "app", "resourceAsk": {"vcore": 10}}]})
        more("k2")
        hears(("assumedAllocations", ["k1"]), ("new", ["k1"]), ("allocationKey", "k2"))
        more("k3", releases={"allocationsToRelease": [{"applicationID": "app", "allocationKey": "k1", "terminationType": 1}]})
        hears(("released", ["k1"]), ("forgetAllocations", ["k1"]), ("assumedAllocations", ["k2"]), ("new", ["k2"]),
              ("allocationKey", "k3"))


main(globals())
