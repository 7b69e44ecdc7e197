# SPDX-License-Identifier: Apache-2.0
"""What a resource manager claims when it has recovered, what the daemon compares it with, and what it answers
(interface.md 3.4 to 3.6). The way through a whole recovery is in daemon_recovery.py."""
from daemon_support import *
from daemon_support.books import Books, line_hash
from daemon_support.recovering import *

KINDS = ("nodes", "applications", "allocations")
WITH_OTHER = CONFIG + """
  - name: other
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
"""
HIGHEST_BIT = 1 << 63


def of_kind(numbers, kind, change):
    return {**numbers, kind: change(numbers[kind])}


def quarantined(daemon):
    """Keys of the allocations that the dump `recovery` lists as in quarantine."""
    return [one["allocationKey"] for one in daemon.client().dump("recovery", rmID="rm:1")[0]["quarantine"]]


def test_a_digest_alone_is_a_difference():  # I-236, I-237
    with Daemon(*BY_HAND) as daemon:
        for kind in KINDS:
            rm = recovered(daemon, id=kind)
            for attempt, bit in ((1, 1), (2, HIGHEST_BIT)):
                report = rm.done(attempt, digest=of_kind(rm.books.digest, kind, lambda sum: sum ^ bit))
                check(report["result"] == "retry", kind, report)
                check(all(two["expected"] == two["actual"] == 1 for two in report["counts"].values()), kind, report)
                check(report["digestMatch"] == {one: one != kind for one in KINDS}, kind, report)
                check(report["buckets"] == {kind: rm.books.buckets(kind)}, kind, report)
            check(rm.state() == RECOVERING and rm.done(3)["result"] == "running", kind)


def test_a_count_alone_is_a_difference():  # I-236, I-237
    with Daemon(*BY_HAND) as daemon:
        for kind in KINDS:
            rm = recovered(daemon, id=kind)
            for attempt, count in ((1, 0), (2, 2)):
                report = rm.done(attempt, expected=of_kind(rm.books.expected, kind, lambda _: count))
                check(report["result"] == "retry", kind, report)
                check(report["counts"][kind] == {"expected": count, "actual": 1}, kind, report)
                check(all(report["digestMatch"].values()) and "buckets" not in report, kind, report)
            check(rm.state() == RECOVERING and rm.done(3)["result"] == "running", kind)


def test_several_partitions_are_summed_up_and_claimed_one_by_one():  # I-230
    with Daemon(*BY_HAND) as daemon:
        rm, other = recovered(daemon, config=WITH_OTHER), Books("other")
        rm.nodes({"nodeID": "o1", "attributes": {"si/node-partition": "other"}})
        rm.applications({"applicationID": "there", "partitionName": "other"})
        other.node("o1", {"vcore": 1000})
        other.application("there")
        for i in range(2):
            rm.send(ALLOCATION, allocations=[{"allocationKey": f"o{i}", "applicationID": "there", "nodeID": "o1",
                                              "partitionName": "other", "resourcePerAlloc": SIZE}])
            other.allocation("there", f"o{i}", "o1", SIZE)
        both = {"expected": {kind: rm.books.expected[kind] + other.expected[kind] for kind in KINDS},
                "digest": {kind: (rm.books.digest[kind] + other.digest[kind]) % 2**64 for kind in KINDS}}
        each = {books.partition: {"expected": books.expected, "digest": books.digest} for books in (rm.books, other)}
        report = rm.done(1)
        check(report["result"] == "retry" and report["counts"]["allocations"] == {"expected": 1, "actual": 3}, report)
        wrong = {"expected": {**other.expected, "nodes": 2}}, {"digest": {**other.digest, "nodes": 1}}
        for attempt, claim in ((2, {"nowhere": each["other"]}), (3, {**each, "other": wrong[0]}), (4, {"other": wrong[1]})):
            report = rm.done(attempt, **both, partitions=claim)
            check(report["result"] == "retry" and all(report["digestMatch"].values()), report)
            name = "nowhere" if "nowhere" in claim else "other"
            check(len(report["faults"]) == 1 and name in report["faults"][0], report)
        report = rm.done(5, **both, partitions=each)
        check(report["result"] == "running" and "faults" not in report, report)


def test_foreign_allocations_count_and_zero_amounts_do_not():  # I-233
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.nodes({"nodeID": "n1", "schedulableResource": {"vcore": 9, "memory": 5, "gpu": 0}})
        rm.send(ALLOCATION, allocations=[{"allocationKey": "f", "nodeID": "n1", "resourcePerAlloc": {"vcore": 3, "gpu": 0},
                                          "allocationTags": {"foreign": "default"}}])
        hashes = {kind: [one["hash"] for one in rm.client.get("RecoveryList", {"rmID": "rm:1", "kind": kind})["items"]]
                  for kind in KINDS}
        check(hashes == {"nodes": [line_hash("N\tdefault\tn1\tmemory=5,vcore=9\t1\n")], "applications": [],
                         "allocations": [line_hash("L\tdefault\t\tf\tn1\tvcore=3\t0\n")]}, hashes)
        rm.books.node("n1", {"vcore": 9, "memory": 5})
        check(rm.done(1)["result"] == "retry", "the foreign allocation is not claimed")
        rm.books.allocation("", "f", "n1", {"vcore": 3})
        check(rm.done(2)["result"] == "running")


def test_a_bucket_lists_its_objects_in_every_state():  # I-240, I-235
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        for i in range(6):
            rm.application(f"app{i}")
            rm.node(f"n{i}")
            rm.allocation(f"a{i}", node=f"n{i}", app=f"app{i}")

        def look(state):
            client = daemon.client()
            check(client.get("Status")["rms"][0]["state"] == state, client.get("Status"))
            for kind in KINDS:
                wanted = {i: [] for i in range(256)}
                for name, line in rm.books.lines[kind].items():
                    ids = (name,) if isinstance(name, str) else name
                    wanted[line_hash("\t".join(("default", *ids))) >> 56].append((ids, line_hash(line)))
                some_empty = [i for i in wanted if not wanted[i]][:3]
                for i in [i for i in wanted if wanted[i]] + some_empty:
                    page = client.get("RecoveryList", {"rmID": "rm:1", "kind": kind, "bucket": i})
                    found = [((one["nodeID"],) if kind == "nodes" else (one["applicationID"],) if kind == "applications"
                              else (one["applicationID"], one["allocationKey"]), one["hash"]) for one in page["items"]]
                    check(sorted(found) == sorted(wanted[i]) and not page.get("cursor"), kind, i, page)

        look(RECOVERING)
        check(rm.done()["result"] == "running")
        look(RUNNING)
        daemon.client().change("Clock", {"advanceMs": 301_000})
        look(LOST)


def test_what_waited_is_restored_in_the_order_of_arrival():  # I-244
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.node("n1")
        for key in ("c", "a", "b"):
            rm.allocation(key)

        def healed():
            return [one for one in rm.client.get("Events", {"start": 0, "count": 1000})["EventRecords"]
                    if one.get("message") == "restored after quarantine"]

        check(healed() == [], healed())
        items = rm.application("app")
        check([one["allocationKey"] for one in listed(items, ALLOCATION, "new")] == ["c", "a", "b"], items)
        told = [one["referenceID"] for one in healed() if one["objectID"] == "n1"]
        check(told == ["c", "a", "b"], healed())
        check(rm.done()["result"] == "running")


def test_only_the_very_object_in_quarantine_may_be_missing():  # I-255
    with Daemon(*BY_HAND) as daemon:
        rm = recovered(daemon, recovery={"autoAccept": {"maxQuarantined": 1}})
        rm.allocation("orphan", app="nobody")
        rm.books.allocation("nobody", "orphan", "n1", {"vcore": 11})
        report = rm.done(1)
        check(report["result"] == "retry" and report["quarantineTotal"] == 1, "another size", report)
        check(report["counts"]["allocations"] == {"expected": 2, "actual": 1}, report)
        rm.books.allocation("nobody", "orphan", "n2", SIZE)
        check(rm.done(2)["result"] == "retry", "another node")
        rm.books.allocation("nobody", "orphan", "n1", SIZE)
        check(rm.done(3)["result"] == "running")


def test_a_failed_rm_may_look_how_far_it_is():  # I-241, I-251
    with Daemon(*BY_HAND) as daemon:
        rm = failed(daemon)
        report = rm.done(6)
        check((report["result"], report["quarantineTotal"]) == ("failed", 1), report)
        rm.release(allocationKey="orphan", applicationID="nobody")
        check(rm.done(6) == report, "the answer of that attempt stays")
        rm.books.forget("allocations", ("nobody", "orphan"))
        rm.allocation("a2")
        report = rm.done(7)
        check((report["result"], report["attempt"], report["quarantineTotal"], report["quarantine"]) == ("failed", 7, 0, []), report)
        check(report["counts"]["allocations"] == {"expected": 2, "actual": 2}, report)
        check(all(report["digestMatch"].values()) and rm.state() == FAILED, report)
        items = rm.told()
        check(reports(items) == [report] and states(items) == [], items)
        check(rm.done(7) == report and rm.state() == FAILED)


def test_what_was_accepted_stays_in_quarantine_and_running_is_resolved():  # I-254
    with Daemon(*BY_HAND) as daemon:
        rm = failed(daemon)
        check(quarantined(daemon) == ["orphan"])
        check(rm.resolve("accept") == RUNNING and quarantined(daemon) == ["orphan"])
        for action in ("retry", "reset", "abort", "accept"):
            rm.refused("E_BAD_STATE", "ResolveRecovery", action=action)
            check(rm.state() == RUNNING and quarantined(daemon) == ["orphan"], action)


def test_an_aborted_rm_is_unknown():  # I-254
    for make in (recovered, failed):
        with Daemon(*BY_HAND) as daemon:
            rm = make(daemon)
            check(rm.resolve("abort") == 0, "New")
            rm.refused("E_RM_UNKNOWN", "ResolveRecovery", action="abort")
            rm.client.refused("E_RM_UNKNOWN", "RecoveryList", {"rmID": "rm:1", "kind": "nodes"})
            check(daemon.client().get("Status")["rms"] == [])


def test_everything_that_a_report_says():  # I-237, I-221
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon, id="mine")
        rm.application("app")
        rm.node("n1", recovery={"availableResource": {"vcore": 1000}, "allocations": 0})
        rm.allocation("a1")
        rm.allocation("first", app="nobody")
        rm.advance(2)
        rm.nodes({"nodeID": "n1", "schedulableResource": {"vcore": 7}})
        rm.advance(5)
        rm.send(APPLICATION, remove=[{"applicationID": "gone"}])
        report = rm.done(3)
        since = [one.pop("since") for one in report["quarantine"]]
        check(all(isinstance(one, int) for one in since) and since[1] - since[0] == 2 * 10**9, since)
        check(report == {
            "rmID": "rm:1", "id": "mine", "attempt": 3, "result": "retry",
            "counts": {"nodes": {"expected": 1, "actual": 1}, "applications": {"expected": 1, "actual": 1},
                       "allocations": {"expected": 2, "actual": 1}},
            "digestMatch": {"nodes": True, "applications": True, "allocations": False},
            "buckets": {"allocations": report["buckets"]["allocations"]},
            "incompleteNodes": [{"nodeID": "n1", "partitionName": "default", "missing": {}, "surplus": {"vcore": 20},
                                 "expectedAllocations": 0, "actualAllocations": 2}],
            "quarantine": [{"kind": "allocations", "partitionName": "default", "nodeID": "n1", "applicationID": "nobody",
                            "allocationKey": "first", "reason": "APP_UNKNOWN"},
                           {"kind": "nodes", "partitionName": "default", "nodeID": "n1", "reason": "DUPLICATE_NODE"}],
            "quarantineTotal": 2, "unusedTombstones": 1, "durationMs": 7000, "truncated": False}, report)


main(globals())
