# SPDX-License-Identifier: Apache-2.0
"""The rules of a recovery one by one (interface.md section 3): what is restored, what waits, what is refused, and what a
Failed or restarted daemon still says. The way through a whole recovery is in daemon_recovery.py."""
from daemon_support import *
from daemon_support.books import Books
from daemon_support.recovering import *
from daemon_support.running import Running

TWO_QUEUES_OF_ONE = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            maxapplications: 1
            resources: {max: {vcore: 15m}}
          - name: b
"""


def test_a_plain_registration_means_that_nothing_exists():  # I-211, I-202
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.application("app")
        rm.node("n1")
        plain = Rm(daemon)
        check(plain.registered["coreState"] == RUNNING and plain.registered["reRegistration"], plain.registered)
        check(plain.dump("apps") == [] and not plain.dump("nodes")[0]["nodesInfo"], "empty, and running at once")
        plain.refused("E_BAD_STATE", "RecoveryDone", id="r1", attempt=1, expected=Books().expected, digest=Books().digest)
        plain.refused("E_BAD_STATE", "ResolveRecovery", action="accept")


def test_what_is_wrong_with_the_wish_to_recover_is_said():  # I-212, I-240, I-230
    with Daemon(*BY_HAND) as daemon:
        client = daemon.client()
        wish = lambda name, recovery: client.refused(name, "RegisterResourceManager",
                                                     {"rmID": "rm:1", "config": CONFIG, "recovery": recovery}, mutating=True)
        check(wish("E_MISSING_FIELD", {})["path"] == "recovery.id")
        check(wish("E_INVALID", {"id": "r", "timeoutSeconds": 0})["path"] == "recovery.timeoutSeconds")
        check(wish("E_TYPE", {"id": "r", "idleSeconds": -1})["path"] == "recovery.idleSeconds")
        rm = Recovering(daemon, recovery={"expected": {"nodes": 7, "applications": 7, "allocations": 7}})
        progress = client.get("Status")["rms"][0]["recovery"]
        check(progress["expectedNodes"] == 7 and progress["nodes"] == 0, progress)
        claim = lambda name, **more: rm.client.refused(name, "RecoveryDone", {**rm.claim(), **more}, mutating=True)
        check(claim("E_MISSING_FIELD", expected=None)["path"] == "expected")
        check(claim("E_MISSING_FIELD", digest=None)["path"] == "digest")
        ask = lambda **more: rm.client.refused("E_INVALID", "RecoveryList", {"rmID": "rm:1", "kind": "nodes", **more})["path"]
        check((ask(kind="pods"), ask(bucket=256), ask(limit=10001)) == ("kind", "bucket", "limit"))
        rm.client.refused("E_RM_UNKNOWN", "RecoveryList", {"rmID": "nobody", "kind": "nodes"})
        check(rm.done()["result"] == "running", "the forecast is for display only")


def test_who_may_list_end_and_resolve_a_recovery():  # I-254, I-110, I-344, I-240, I-343
    with Daemon(*BY_HAND) as daemon:
        rm = failed(daemon, recovery={"autoAccept": {"maxQuarantined": 0}}, hello={"role": "rm"})
        other = daemon.client(role="rm")
        for kind, body in (("RecoveryDone", rm.claim()), ("ResolveRecovery", {"rmID": "rm:1", "action": "retry"})):
            other.refused("E_FORBIDDEN", kind, body, mutating=True)
            other.refused("E_RM_UNKNOWN", kind, {**body, "rmID": "nobody"}, mutating=True)
        rm.client.refused("E_FORBIDDEN", "ResolveRecovery", {"rmID": "rm:1", "action": "accept"}, mutating=True)
        observer = daemon.client(role="observer")
        for kind in ("nodes", "applications", "allocations"):
            lists = [client.get("RecoveryList", {"rmID": "rm:1", "kind": kind}) for client in (rm.client, other, observer)]
            check(len(lists[0]["items"]) == 1 and lists[0] == lists[1] == lists[2], "read-only, so for all who see the RM", lists)
        observer.refused("E_FORBIDDEN", "RecoveryDone", rm.claim(), mutating=True)
        observer.refused("E_FORBIDDEN", "ResolveRecovery", {"rmID": "rm:1", "action": "retry"}, mutating=True)
        admin = daemon.client()
        admin.change("ResolveRecovery", {"rmID": "rm:1", "action": "accept", "impersonate": True})
        check(rm.state() == RUNNING)


def test_an_rm_may_accept_what_it_announced():  # I-254
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon, hello={"role": "rm"}, recovery={"autoAccept": {"maxQuarantined": 1}})
        rm.node("n1")
        rm.allocation("orphan", app="nobody")
        rm.books.application("missing")  # so that the claim does not succeed by itself (I-255)
        for attempt in range(1, 6):
            rm.done(attempt)
        check(rm.state() == FAILED and rm.resolve("accept") == RUNNING)


def test_what_is_restored_may_exceed_every_limit():  # I-222
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon, config=TWO_QUEUES_OF_ONE)
        rm.node("n1", vcore=25)
        for app in ("app", "second"):
            rm.application(app)
            for i in (1, 2):
                items = rm.allocation(f"{app}-{i}", app=app)
                check(len(listed(items, ALLOCATION, "new")) == 1, items)
        check(rm.done()["result"] == "running", "over the queue's maximum, its applications, and its node")
        queue = rm.dump("queues")[0]["children"][0]
        check(queue["allocatedResource"] == {"vcore": 40} and queue["maxResource"] == {"vcore": 15}, queue)
        rm.asks({"allocationKey": "more", "resourceAsk": {"vcore": 1}})
        check(listed(rm.step(), ALLOCATION, "new") == [], "which blocks new work")


def test_gangs_are_taken_though_the_queue_would_refuse_them_today():  # I-222, I-165
    gang = {"placeholderAsk": {"vcore": 100}}
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon, config=TWO_QUEUES_OF_ONE)
        check(len(listed(rm.applications({"applicationID": "gang", **gang}), APPLICATION, "rejected")) == 1, "a new one")
        rm = Recovering(daemon, config=TWO_QUEUES_OF_ONE)
        check(len(listed(rm.application("gang", **gang), APPLICATION, "accepted")) == 1, "a restored one")


def test_an_application_that_no_queue_takes():  # I-223, I-242 QUEUE_INVALID
    for forced in (True, False):
        with Daemon(*BY_HAND) as daemon:
            rm = Recovering(daemon, recovery={"forceApplications": forced})
            rm.node("n1")
            items = rm.application("app", queueName="root.gone.away")
            items += rm.allocation("a1")
            if forced:
                check(rm.dump("app", application="app")["queueName"] == "root.@recovery@")
                check(rm.done()["result"] == "running")
                continue
            check(items == [], "it is not told as rejected", items)
            check(quarantine(rm) == {"app": "QUEUE_INVALID", "a1": "APP_REJECTED"}, quarantine(rm, 2))
            rm.client.change("UpdateConfiguration", {"rmID": "rm:1", "config": CONFIG.replace("- name: b", "- name: gone\n            queues: [{name: away}]")})
            items = rm.told()
            check(len(listed(items, APPLICATION, "accepted")) == 1 and len(listed(items, ALLOCATION, "new")) == 1, "healed", items)
            check(rm.done(3)["result"] == "running")


def test_the_state_of_an_application_follows_from_what_it_has():  # I-224, I-225
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.node("n1")
        old, young = ({"tags": {"yunikorn.apache.org/creationTime": at}} for at in ("1000000000", "1600000000"))
        rm.application("nothing")
        rm.application("asks", **young)
        rm.asks({"applicationID": "asks", "allocationKey": "waits"})
        rm.application("real", **old)
        rm.allocation("a1", app="real")
        rm.application("gang", placeholderAsk={"vcore": 20}, executionTimeoutMilliSeconds=1000, **old)
        rm.send(ALLOCATION, allocations=[{"allocationKey": "ph", "applicationID": "gang", "nodeID": "n1", "resourcePerAlloc": SIZE,
                                          "placeholder": True, "taskGroupName": "g"}])
        rm.books.allocation("gang", "ph", "n1", SIZE, True)
        rm.advance(10)
        states = {app["applicationID"]: app["applicationState"] for app in rm.dump("apps")}
        check(states == {"nothing": "New", "asks": "Accepted", "real": "Running", "gang": "Accepted"}, states)
        times = {app["applicationID"]: app["submissionTime"] // 10**9 for app in rm.dump("apps")}
        check(times["asks"] == 1600000000 and times["real"] == 1000000000, "they keep their places", times)
        check(rm.done()["result"] == "running")
        items = rm.told() + rm.advance(2)
        report = [kind for kind, _ in items].index("RecoveryReport")
        gone = [i for i, (kind, body) in enumerate(items) if kind == ALLOCATION and body.get("released")]
        check(gone and gone[0] > report, "the time of its placeholders was over; they go after the recovery", items)


def test_asks_and_applications_of_one_queue_keep_their_order():  # I-225
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        for name, at in (("second", "1500000000"), ("first", "1400000000"), ("third", "1600000000")):
            rm.application(name, tags={"yunikorn.apache.org/creationTime": at})
            rm.asks({"applicationID": name, "allocationKey": "of-" + name, "tags": {"creationTime": at}})
        rm.node("n1", vcore=20)
        check(rm.done()["result"] == "running")
        placed = [one["allocationKey"] for one in listed(rm.told() + rm.step(), ALLOCATION, "new")]
        check(placed == ["of-first", "of-second"], "the oldest first", placed)


def test_what_was_removed_before_it_arrives():  # I-226, I-236
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.send(APPLICATION, remove=[{"applicationID": "gone"}])
        rm.send(NODE, nodes=[{"nodeID": "away", "action": 4}])
        rm.release(allocationKey="never", terminationType=1)
        rm.asks({"applicationID": "nobody", "allocationKey": "stray"})
        check(rm.done()["unusedTombstones"] == 3, "which is a difference")
        rm.applications({"applicationID": "gone"})
        rm.nodes({"nodeID": "away"})
        check(len(rm.dump("apps")) == 1, "the attempt after it is not held up by them")
        rm.books.application("gone")
        rm.books.node("away", {"vcore": 1000})
        rm.told()
        check(rm.done(2)["result"] == "running")
        rejected = listed(rm.told(), ALLOCATION, "rejected")
        check([(one["allocationKey"], one["code"]) for one in rejected] == [("stray", 1010)], "P_APP_UNKNOWN at the end", rejected)


def test_names_of_what_is_to_go_have_a_limit():  # I-226
    with Daemon(*BY_HAND, "--rm-max", "names=1000") as daemon:  # bytes
        rm = Recovering(daemon, capabilities=["reportIgnored"])
        ignored = [[one["code"] for one in listed(rm.release(allocationKey=f"k{i}", terminationType=1), ALLOCATION, "ignoredReleases")]
                   for i in range(20)]
        check(ignored == sorted(ignored) and ignored[0] == [] and ignored[-1] == [1025], "P_NO_CAPACITY", ignored)


def test_restored_objects_are_not_counted_as_new_work():  # I-228
    with Daemon(*BY_HAND) as daemon:
        rm = recovered(daemon)
        events = rm.client.get("Events", {"start": 0, "count": 1000})["EventRecords"]
        restored = {event["objectID"] for event in events if event.get("message") == "restored"}
        check({"app", "n1"} <= restored, events)
        text = rm.client.get("Metrics", {})["text"]
        counted = 'yunikorn_rm_restored_total{rm="rm:1",kind="allocations"} 1'
        check(counted in text.splitlines(), counted, "is not in", text)
        new = [line for line in text.splitlines() if 'container_allocation_attempt_total{state="allocated"}' in line]
        check(len(new) == 1 and new[0].endswith(" 0"), new)


def test_what_cannot_be_restored_waits_with_its_reason():  # I-242, I-244
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.application("app")
        rm.node("n1")
        rm.allocation("orphan", app="nobody")
        rm.allocation("homeless", node="n2")
        rm.allocation("empty", size={"vcore": 0})
        rm.allocation("negative", size={"vcore": -1})
        rm.allocation("twice")
        rm.nodes({"nodeID": "n3"})
        rm.allocation("twice", node="n3")
        rm.allocation("ungrouped", placeholder=True)
        rm.nodes({"nodeID": "n1", "schedulableResource": {"vcore": 7}})
        wanted = {"orphan": "APP_UNKNOWN", "homeless": "NODE_UNKNOWN", "empty": "NO_RESOURCE", "negative": "NEGATIVE",
                  "twice": "PLACED_TWICE", "ungrouped": "PLACEHOLDER_NO_GROUP", "n1": "DUPLICATE_NODE"}
        found = quarantine(rm)
        check(found == wanted, found)
        nodes = {node["nodeID"]: (node.get("allocated"), node.get("occupied")) for node in rm.dump("nodes")[0]["nodesInfo"]}
        check(nodes["n1"] == (SIZE, {"vcore": 20}), "twice; orphan and ungrouped (I-243)", nodes)
        check(nodes["n3"][1] == SIZE, "twice, on both nodes", nodes)
        rm.applications({"applicationID": "nobody"})
        rm.nodes({"nodeID": "n2"})
        rm.allocation("empty")
        rm.allocation("negative")
        rm.release(allocationKey="twice", terminationType=1)
        rm.send(ALLOCATION, allocations=[{"allocationKey": "ungrouped", "applicationID": "app", "nodeID": "n1", "resourcePerAlloc": SIZE,
                                          "placeholder": True, "taskGroupName": "g"}])
        rm.nodes({"nodeID": "n1"})
        check(quarantine(rm, 2) == {}, "all of it healed")


def test_an_ask_that_waits_for_its_application_is_not_gone():  # I-242, I-340
    with Daemon() as daemon:
        client = daemon.client()
        client.register("rm:1", detached={}, recovery={"id": "r1"})
        asked = [{"applicationID": "late", "allocationKey": "k"}, {"applicationID": "late", "allocationKey": "none"}]
        with Running(daemon, "ask", "add", "late", "--key", "k", "-R", "vcore=1", "--wait", "--timeout", "60s") as adding:
            adding.says("ask k quarantined", "ykctl dump recovery", on="out")
            found = client.get("Sync", {"rmID": "rm:1", "asks": asked})["asks"]
            check(found == [{"outcome": "quarantined"}, {"outcome": "absent"}], found)
            client.change("UpdateApplication", {"rmID": "rm:1", "new": [
                {"applicationID": "late", "queueName": "root.a", "ugi": {"user": "u"}}]})
            found = client.get("Sync", {"rmID": "rm:1", "asks": asked})["asks"]
            check(found[0] == {"outcome": "pending"}, found)
            client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
                {"nodeID": "n1", "action": 1, "schedulableResource": {"vcore": 5000}}]})
            with Running(daemon, "recovery", "done", "rm:1", "--id", "r1", "--as-restored") as done:
                done.ends(0)
            adding.says("ask k placed on n1", on="out")
            adding.ends(0)


def test_a_failed_rm_is_still_served():  # I-250, I-251
    with Daemon(*BY_HAND) as daemon:
        rm = failed(daemon)
        for what in ("apps", "nodes", "queues", "config", "partitions", "events", "full"):
            rm.client.dump(what, **({} if what in ("full", "events") else {"rmID": "rm:1"}))
        rm.client.get("Metrics", {})
        rm.client.get("Events", {"start": 0, "count": 10})
        rm.client.get("Explain", {"what": "ask", "application": "app", "allocationKey": "waits"})
        check(rm.client.get("Ping", {"rmID": "rm:1"})["state"] == FAILED)
        check(rm.client.get("Health", {"run": True}) is not None)
        check(any("rm:1 is Failed" in line for line in rm.client.get("Status")["degraded"]))
        check(len(rm.client.get("RecoveryList", {"rmID": "rm:1", "kind": "allocations"})["items"]) == 1)
        check(len(listed(rm.nodes({"nodeID": "n2"}), NODE, "accepted")) == 1)
        check(len(listed(rm.applications({"applicationID": "app-2"}), APPLICATION, "accepted")) == 1)
        foreign = {"allocationKey": "f", "nodeID": "n2", "resourcePerAlloc": {"vcore": 3}, "allocationTags": {"foreign": "default"}}
        rm.send(ALLOCATION, allocations=[foreign])
        occupied = {node["nodeID"]: node.get("occupied") for node in rm.dump("nodes")[0]["nodesInfo"]}
        check(occupied["n2"] == {"vcore": 3}, occupied)
        released = listed(rm.release(allocationKey="a1", terminationType=1), ALLOCATION, "released")
        check([one["allocationKey"] for one in released] == ["a1"], released)


def test_a_failed_rm_gets_no_decisions():  # I-252
    with Daemon(*BY_HAND) as daemon:
        rm = Recovering(daemon)
        rm.node("n1")
        rm.application("gang", placeholderAsk={"vcore": 20}, executionTimeoutMilliSeconds=1000)
        rm.send(ALLOCATION, allocations=[{"allocationKey": "ph", "applicationID": "gang", "nodeID": "n1", "resourcePerAlloc": SIZE,
                                          "placeholder": True, "taskGroupName": "g"}])
        rm.asks({"applicationID": "gang", "allocationKey": "real", "taskGroupName": "g"})
        rm.application("ends")
        rm.allocation("last", app="ends")
        rm.books.application("never")
        for attempt in range(1, 6):
            rm.done(attempt)
        check(rm.state() == FAILED)
        rm.told()
        check([one["allocationKey"] for one in listed(rm.release(allocationKey="last", applicationID="ends", terminationType=1),
                                                      ALLOCATION, "released")] == ["last"])
        items = rm.advance(100) + rm.placed_by(daemon)
        check(items == [], "neither a placement, a replacement, a timeout of the gang nor a completion", items)
        daemon.client().change("ResolveRecovery", {"rmID": "rm:1", "action": "accept", "impersonate": True})
        items = rm.told() + rm.advance(100)
        kinds = {body["updated"][0]["state"] for kind, body in items if kind == APPLICATION and body.get("updated")}
        check("Completed" in kinds or "Completing" in kinds, "it goes on from there", items)


def test_nothing_of_the_old_daemon_is_trusted():  # I-260, I-261, 3.7
    with Daemon() as daemon:
        rm = Rm(daemon)
        rm.client.cluster()
        rm.client.asks("k1")
        until("it is placed, and not acknowledged", lambda: rm.client.get("Status")["counts"]["allocations"] == 1)
        boot, sid, epoch = rm.client.boot, rm.client.sid, rm.client.epoch
        check(rm.client.get("Status")["bootID"] == boot)
        daemon.restart()
        late = Client(daemon.path)
        late.sid = sid
        late.refused("E_SESSION_UNKNOWN", "Poll", {"rmID": "rm:1", "streamEpoch": epoch, "ack": 0, "waitMs": 0})
        reply = late.hello(resume={"sid": sid, "bootID": boot})
        check(not reply["resumed"] and reply["bootID"] != boot and reply["sid"] != sid, reply)
        late.refused("E_RM_UNKNOWN", "Poll", {"rmID": "rm:1", "streamEpoch": epoch, "ack": 0, "waitMs": 0})
        late.refused("E_RM_UNKNOWN", "UpdateNode", {"rmID": "rm:1", "nodes": []}, mutating=True)
        again = Recovering(daemon)
        again.client.refused("E_STREAM_EPOCH", "Poll", {"rmID": "rm:1", "streamEpoch": epoch, "ack": 0, "waitMs": 0})
        again.application("app")
        again.node("n1")
        again.asks({"allocationKey": "k1"})  # it never heard of the placement
        check(again.done()["result"] == "running")
        until("it is placed anew", lambda: again.client.get("Status")["counts"]["allocations"] == 1)


def test_the_echoes_of_a_recovery_fit():  # I-373
    with Daemon(*BY_HAND, "--settings", "@settings", files={"settings": "outboundMaxItems: 100\n"}) as daemon:
        def fill(rm):
            for i in range(300):
                rm.client.change("UpdateNode", {"rmID": "rm:1", "nodes": [{"nodeID": f"n{i}", "action": 1, "schedulableResource": {"vcore": 1}}]})
            rm.client.get("Sync", {"rmID": "rm:1"})

        rm = Recovering(daemon)
        fill(rm)  # it does not poll meanwhile
        check(rm.state() == RECOVERING)
        for i in range(300):
            rm.books.node(f"n{i}", {"vcore": 1})
        check(len(listed(rm.told(), NODE, "accepted")) == 300)
        check(rm.done()["result"] == "running")
        plain = Rm(daemon)
        try:
            fill(plain)
        except AssertionError as error:
            check("E_RESYNC_REQUIRED" in str(error), error)
        check(daemon.client().get("Status")["rms"][0]["state"] == LOST, "as many break the stream of a running one")


main(globals())
