# SPDX-License-Identifier: Apache-2.0
"""Recovery of a resource manager (interface.md section 3)."""
from daemon_support import *
from daemon_support.books import Books, line_hash
from daemon_support.recovering import *


def test_a_replay_is_restored_and_scheduling_begins_after_the_report():  # I-210, I-226, I-227, I-230 to I-238
    with Daemon() as daemon:
        rm = Recovering(daemon)
        check(rm.registered["coreState"] == RECOVERING and rm.state() == RECOVERING, rm.registered)
        items = rm.application("app")
        check([app["applicationID"] for app in listed(items, APPLICATION, "accepted")] == ["app"], items)
        items = rm.node("n1")
        check([node["nodeID"] for node in listed(items, NODE, "accepted")] == ["n1"], items)
        items = rm.allocation("a1")
        check([one["allocationKey"] for one in listed(items, ALLOCATION, "new")] == ["a1"], "it is echoed", items)
        rm.asks({"allocationKey": "waits"})
        time.sleep(0.3)
        check(rm.told() == [] and len(rm.dump("app", application="app")["allocations"]) == 1, "nothing is scheduled")
        report = rm.done()
        check(report["result"] == "running" and report["counts"]["allocations"] == {"expected": 1, "actual": 1}, report)
        check(all(report["digestMatch"].values()) and "buckets" not in report, report)
        until("the ask is placed", lambda: len(rm.dump("app", application="app")["allocations"]) == 2)
        items = rm.told()
        kinds = [kind for kind, _ in items]
        check(states(items) == [(RECOVERING, RUNNING)] and kinds.index("RecoveryReport") < kinds.index(ALLOCATION), items)
        check(reports(items) == [report], "the same as the reply", items)
        check(rm.done() == report, "the same claim again has the same answer (I-241)")


def test_any_order_ends_in_the_same_state():  # I-220, I-242, I-244, I-226
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.asks({"allocationKey": "waits"})
        rm.release(allocationKey="gone", terminationType=1)
        check(rm.allocation("a1") == [] and rm.allocation("gone") == [], "nothing is told of what waits")
        rm.books.forget("allocations", ("app", "gone"))
        check(rm.client.get("Status")["rms"][0]["recovery"]["quarantined"] == 2)
        items = rm.node("n1")
        check([kind for kind, _ in items] == [NODE], items)
        node = rm.dump("nodes")[0]["nodesInfo"][0]
        check(node["occupied"] == {"vcore": 20} and not node.get("allocated"), "counted as occupied (I-243)", node)
        items = rm.application("app")
        check([kind for kind, _ in items][0] == APPLICATION, "accepted comes first", items)
        check([one["allocationKey"] for one in listed(items, ALLOCATION, "new")] == ["a1", "gone"], items)
        check([one["allocationKey"] for one in listed(items, ALLOCATION, "released")] == ["gone"], items)
        report = rm.done()
        check(report["result"] == "running", report)
        rm.told()
        items = rm.step()
        check([one["allocationKey"] for one in listed(items, ALLOCATION, "new")] == ["waits"], "the ask is placed", items, rm.dump("app", application="app"))


def test_what_differs_is_found_by_buckets_and_lists():  # I-235, I-239, I-240
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.application("app")
        rm.node("n1")
        for i in range(20):
            rm.allocation(f"a{i}")
        rm.books.allocation("app", "lost", "n1", SIZE)
        report = rm.done(buckets={"allocations": rm.books.buckets("allocations")})
        check(report["result"] == "retry" and not report["digestMatch"]["allocations"], report)
        check(report["counts"]["allocations"] == {"expected": 21, "actual": 20}, report)
        mine, theirs = rm.books.buckets("allocations"), report["buckets"]["allocations"]
        different = [i for i in range(256) if mine[8 * i:8 * i + 8] != theirs[8 * i:8 * i + 8]]
        check(different == [line_hash("default\tapp\tlost") >> 56], different)
        page = rm.client.get("RecoveryList", {"rmID": "rm:1", "kind": "allocations", "limit": 7})
        seen = page["items"]
        while page.get("cursor"):
            page = rm.client.get("RecoveryList",
                                 {"rmID": "rm:1", "kind": "allocations", "limit": 7, "cursor": page["cursor"]})
            seen += page["items"]
        check(sorted(one["allocationKey"] for one in seen) == sorted(f"a{i}" for i in range(20)), seen)
        check(sum(one["hash"] for one in seen) % 2**64 == sum_of(theirs), "the hashes are those of the sum")
        rm.allocation("lost")
        check(rm.done(attempt=2)["result"] == "running")


def test_nodes_must_have_what_is_booked_on_them():  # I-221
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.application("app")
        rm.node("n1", recovery={"availableResource": {"vcore": 980}, "allocations": 2})
        rm.allocation("a1")
        report = rm.done()
        check(report["result"] == "retry", report)
        check(report["incompleteNodes"] == [{"nodeID": "n1", "partitionName": "default", "missing": {"vcore": 10},
                                             "surplus": {}, "expectedAllocations": 2, "actualAllocations": 1}], report)
        rm.allocation("a2")
        check(rm.done(attempt=2)["result"] == "running")


def test_a_recovery_fails_and_is_resolved():  # I-239, I-241, I-250 to I-254
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon, hello={"role": "rm"})
        rm.application("app")
        rm.node("n1")
        rm.allocation("orphan", app="nobody")
        error = rm.client.refused("E_BAD_STATE", "RecoveryDone", rm.claim(id="other"), mutating=True)
        check("r1" in error["message"], error)
        for attempt in range(1, 6):
            report = rm.done(attempt)
            check(report["result"] == ("retry" if attempt < 5 else "failed"), attempt, report)
            check([one["reason"] for one in report["quarantine"]] == ["APP_UNKNOWN"], report)
        check(rm.state() == FAILED and rm.client.get("Status")["state"] == FAILED)
        rm.client.refused("E_BAD_STATE", "RecoveryDone", rm.claim(4), mutating=True)
        rm.asks({"allocationKey": "waits"})
        check(rm.placed_by(daemon) == [], "nothing is placed")
        check(len(rm.dump("app", application="app")["requests"]) == 1, "but updates are taken")
        rm.client.refused("E_FORBIDDEN", "ResolveRecovery", {"rmID": "rm:1", "action": "accept"}, mutating=True)
        rm.client.refused("E_INVALID", "ResolveRecovery", {"rmID": "rm:1", "action": "pray"}, mutating=True)
        check(rm.resolve("retry") == RECOVERING)
        rm.release(allocationKey="orphan", applicationID="nobody")
        rm.books.forget("allocations", ("nobody", "orphan"))
        check(rm.done()["result"] == "running", "attempts count anew")
        rm.client.refused("E_BAD_STATE", "ResolveRecovery", {"rmID": "rm:1", "action": "retry"}, mutating=True)


def test_an_admin_accepts_resets_or_aborts():  # I-254
    for action in ("accept", "reset", "abort"):
        with Daemon(*BY_HAND) as daemon:
            rm = recovered(daemon)
            rm.allocation("orphan", app="nobody")
            check(rm.resolve("retry") == RECOVERING, "also while it recovers")
            rm.client.refused("E_BAD_STATE", "ResolveRecovery", {"rmID": "rm:1", "action": "accept"}, mutating=True)
            for attempt in range(1, 6):
                rm.done(attempt)
            rm.told()
            if action == "accept":
                check(rm.resolve(action) == RUNNING)
                check(rm.dump("nodes")[0]["nodesInfo"][0]["occupied"] == {"vcore": 10}, "it goes on occupying its node")
                rm.asks({"allocationKey": "next"})
                check(len(listed(rm.step(), ALLOCATION, "new")) == 1)
                items = rm.applications({"applicationID": "nobody"})
                check(len(listed(items, ALLOCATION, "new")) == 1, "it heals when its application comes", items)
            elif action == "reset":
                check(rm.resolve(action) == RECOVERING)
                check(states(rm.told()) == [(FAILED, RECOVERING)], "and nothing else")
                check(rm.dump("apps") == [] and not rm.dump("nodes")[0]["nodesInfo"])
                rm.books = Books()
                rm.application("app")
                check(rm.done()["result"] == "running")
            else:
                rm.resolve(action)
                rm.client.refused("E_RM_UNKNOWN", NODE, {"rmID": "rm:1", "nodes": []}, mutating=True)


def test_an_rm_may_miss_as_much_as_it_announced():  # I-255
    with Daemon(*BY_HAND) as daemon:
        rm = recovered(daemon, recovery={"autoAccept": {"maxQuarantined": 1}})
        rm.allocation("orphan", app="nobody")
        report = rm.done()
        check(report["result"] == "running" and report["quarantineTotal"] == 1, report)
        check(report["counts"]["allocations"] == {"expected": 2, "actual": 1}, report)
        rm = Recovering(daemon, recovery={"autoAccept": {"maxQuarantined": 1}})
        rm.application("app")
        rm.node("n1")
        rm.books.allocation("app", "never", "n1", SIZE)
        rm.allocation("orphan", app="nobody")
        check(rm.done()["result"] == "retry", "what is missing is not what waits in quarantine")


def test_timers_of_a_recovery():  # I-213
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon, recovery={"timeoutSeconds": 100, "idleSeconds": 25})
        for _ in range(3):
            rm.advance(20)
            rm.application("app")
        check(rm.state() == RECOVERING, "updates start the idle timer anew")
        items = rm.advance(26)
        check(states(items) == [(RECOVERING, FAILED)] and reports(items)[0]["result"] == "failed", items)
        check("timeout" in reports(items)[0]["faults"][0], items)
        rm.resolve("retry")
        for _ in range(4):
            rm.advance(20)
            rm.application("app")
        check(states(rm.advance(20)) == [(RECOVERING, FAILED)], "the total timer")
        rm.refused("E_INVALID", "RegisterResourceManager", recovery={"id": "x", "idleSeconds": 0})


def test_a_lost_rm_comes_back_with_recovery():  # I-202, I-385, 3.7
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.done()
        daemon.client().change("Clock", {"advanceMs": 301_000})
        check(daemon.client().get("Status")["rms"][0]["state"] == LOST)
        error = rm.client.refused("E_RESYNC_REQUIRED", "RecoveryDone", rm.claim(2), mutating=True)
        check(error["retryable"] or error["message"], error)
        again = Recovering(daemon, id="r2")
        check(again.state() == RECOVERING and again.done()["result"] == "running")


def test_a_detached_rm_recovers_too():  # I-387
    with Daemon() as daemon:
        client = daemon.client()
        client.register(detached={}, recovery={"id": "script"})
        client.cluster()
        client.asks("k1", "k2")
        books = Books()
        books.node("n1", {"vcore": 1000})
        books.application("app")
        done = {"rmID": "rm:1", "id": "script", "attempt": 1, "expected": {**books.expected, "asks": 3},
                "digest": books.digest}
        check(client.change("RecoveryDone", done)["result"] == "retry", "asks count if they are counted")
        done.update(attempt=2, expected={**books.expected, "asks": 2})
        check(client.change("RecoveryDone", done)["result"] == "running")
        until("they are placed", lambda: client.get("Status")["counts"]["allocations"] == 2)
        log = client.get("StreamLog", {"rmID": "rm:1", "after": 0, "count": 100})["items"]
        check([item["body"]["result"] for item in log if item["kind"] == "RecoveryReport"] == ["retry", "running"])


def test_only_its_own_rm_recovers():  # I-253
    with Daemon(*BY_HAND) as daemon:
        rm, other = Recovering(daemon), Rm(daemon, rm="rm:2")
        other.nodes({"nodeID": "n1"})
        other.applications({"applicationID": "app"})
        other.asks({"allocationKey": "k"})
        check(len(listed(other.step(), ALLOCATION, "new")) == 1, "another one schedules meanwhile")
        other.refused("E_BAD_STATE", "RecoveryDone", id="r", attempt=1, expected=Books().expected, digest=Books().digest)
        check(rm.client.get("Status")["state"] == RECOVERING)


main(globals())
