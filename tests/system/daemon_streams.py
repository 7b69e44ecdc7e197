# SPDX-License-Identifier: Apache-2.0
"""The callback stream: vanishing clients, congestion, overflow, detached RMs (interface.md 4.8, I-387), and that the
core never waits for an RM (S-592)."""
from daemon_support import *

SMALL = "outboundMaxItems: 100\n"


def nodes(client, first, count):
    for number in range(first, first + count):
        client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": f"n{number}", "action": 1, "schedulableResource": {"vcore": 1}}]})
    client.get("Sync", {"rmID": "rm:1"})


def test_a_client_that_vanishes_while_polling():
    with Daemon() as daemon:
        witness = daemon.client()
        client = daemon.client()
        client.register()
        client.send("Poll", {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 0, "waitMs": 30000})
        witness.wait_for_parked_poll()
        client.close()
        until("the poll is forgotten", lambda: not witness.dump("streams")[0]["pollParked"])
        again = Client(daemon.path)
        again.hello(resume={"sid": client.sid, "bootID": client.boot})
        again.seq, again.epoch = client.seq, client.epoch
        again.cluster()
        again.asks("k")
        ack, placed = 0, []
        while not placed:
            items = again.poll(ack=ack)["items"]
            ack = items[-1]["n"] if items else ack
            placed = [a["allocationKey"] for item in items for a in item["body"].get("new", [])]
        check(placed == ["k"], placed)
        witness.get("Ping")


def test_items_come_again_until_acknowledged():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register()
        nodes(client, 0, 3)
        first = client.poll()["items"]
        check([item["n"] for item in first] == [1, 2, 3])
        check(client.poll()["items"] == first, "the same items were expected again")
        check([item["n"] for item in client.poll(ack=2)["items"]] == [3])
        client.refused("E_ACK_OLD", "Poll", {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 1})
        client.refused("E_ACK_FUTURE", "Poll", {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 4})
        error = client.refused("E_STREAM_EPOCH", "Poll", {"rmID": "rm:1", "streamEpoch": 99, "ack": 3})
        check(error["details"]["streamEpoch"] == client.epoch, error)
        check(client.poll(ack=3, wait=0)["items"] == [])


def test_no_ask_is_too_large_for_the_client_that_polls():
    names = {f"{n:04}".ljust(256, "r"): 1 for n in range(60)}
    tags = {f"t{n}": "x" * 65000 for n in range(4)}
    with Daemon("--manual-schedule") as daemon:
        rm = Rm(daemon, hello={"maxMessage": 2 << 20})
        rm.nodes({"nodeID": "n1", "schedulableResource": {name: 9 for name in names}, "attributes": tags})
        rm.applications({"applicationID": "app", "tags": tags})
        keys = [str(n).rjust(256, "k") for n in range(9)]
        rm.asks(*({"allocationKey": key, "resourceAsk": names, "tags": tags} for key in keys))
        placed = listed(rm.step(), "UpdateAllocation", "new")
        check(sorted(one["allocationKey"] for one in placed) == keys, len(placed))
        check(all(one["allocationTags"] == tags and one["resourcePerAlloc"] == names for one in placed))
        more = {**tags, "t4": "x" * 65000}
        for kind, list_name, one in (
                ("UpdateAllocation", "asks", {"applicationID": "app", "allocationKey": "k", "resourceAsk": names, "tags": more}),
                ("UpdateApplication", "new", {"applicationID": "b", "queueName": "root.a", "ugi": {"user": "u"}, "tags": more}),
                ("UpdateNode", "nodes", {"nodeID": "n2", "action": 1, "attributes": more})):
            error = rm.refused("E_LIMIT", kind, **{list_name: [one]})
            check(error["path"] in (list_name + "[0].tags", list_name + "[0].attributes"), error)
            check("at most 262144 are allowed" in error["message"], error)


def test_a_second_poll_supersedes_the_first():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        other = Client(daemon.path)
        other.sid = client.sid
        third = daemon.client()
        body = {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 0}
        other.send("Poll", body)
        third.wait_for_parked_poll()
        client.send("Poll", {**body, "waitMs": 20000})
        reply = other.receive()
        check(reply["err"]["name"] == "E_SUPERSEDED", reply)
        third.change("UpdateNode", {"rmID": "rm:1", "impersonate": True, "nodes": [
            {"nodeID": "n", "action": 1, "schedulableResource": {"vcore": 1}}]})
        check(client.receive()["body"]["items"][0]["kind"] == "UpdateNode")


def test_scheduling_does_not_wait_for_the_rm():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        client.cluster()
        keys = [f"k{number}" for number in range(300)]
        client.asks(*keys)
        until("all are placed", lambda: client.dump("partitions")[0].get("totalContainers") == len(keys))
        check(client.dump("streams")[0]["ack"] == 0, "the RM was not to take anything")
        told, ack = [], 0
        while len(told) < 4 + len(keys):
            items = client.poll(ack=ack)["items"]
            ack = items[-1]["n"]
            for item in items:
                body = item["body"]
                told += [item["kind"] + " accepted"] * bool(body.get("accepted"))
                told += [update["state"] for update in body.get("updated", [])]
                told += [one["allocationKey"] for one in body.get("new", [])]
        check(told == ["UpdateNode accepted", "UpdateApplication accepted", "Accepted", "Running", *keys], told[:9])


def test_congestion_suspends_and_relief_resumes():
    with Daemon("--settings", "@conf", files={"conf": SMALL}) as daemon:
        client = daemon.client()
        client.register()
        nodes(client, 0, 76)
        check(client.get("Ping", {"rmID": "rm:1"})["state"] == 4, "three quarters full, and not suspended")
        reply = client.poll(maxItems=10)
        check(reply["congested"] and reply["backlog"] > 60, reply["backlog"])
        client.change("UpdateApplication", {"rmID": "rm:1", "new": [
            {"applicationID": "app", "queueName": "root.a", "ugi": {"user": "u"}}]})
        client.asks("k")
        client.get("Sync", {"rmID": "rm:1"})
        check(len(client.dump("app", application="app")["requests"]) == 1, "a suspended RM was scheduled")
        ack, placed = 0, []
        while not placed:
            reply = client.poll(ack=ack)
            ack = reply["items"][-1]["n"]
            placed = [a for item in reply["items"] for a in item["body"].get("new", [])]
        check(client.get("Ping", {"rmID": "rm:1"})["state"] == 1, "relieved, and not running")


def test_overflow_demands_a_resync_and_leaves_others_alone():
    with Daemon("--settings", "@conf", files={"conf": SMALL}) as daemon:
        other = daemon.client()
        other.register("rm:2")
        client = daemon.client()
        client.register()
        for number in range(99):
            client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
                {"nodeID": f"n{number}", "action": 1, "schedulableResource": {"vcore": 1}}]})
        until("the RM is lost", lambda: lost_after_more(client))
        client.refused("E_RESYNC_REQUIRED", "Poll", {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 0})
        client.refused("E_RESYNC_REQUIRED", "UpdateNode", {"rmID": "rm:1"}, mutating=True)
        check(other.get("Ping", {"rmID": "rm:2"})["state"] == 1)
        check(not other.get("Health", {"run": True})["Healthy"], "a lost RM is healthy")
        client.register()
        check(client.get("Ping", {"rmID": "rm:1"})["state"] == 1)
        check(other.get("Health", {"run": True})["Healthy"])


def test_what_one_request_removes_breaks_no_stream():  # its RM would be lost by its own request, and again each time
    with Daemon("--settings", "@conf", files={"conf": SMALL}) as daemon:
        client = daemon.client()
        client.register()
        client.cluster()
        keys = [f"k{n}" for n in range(300)]
        client.asks(*keys)
        client.get("Sync", {"rmID": "rm:1"})
        ack, released = client.poll()["items"][-1]["n"], 0
        until("all are placed", lambda: client.dump("queues")[0]["allocatedResource"].get("vcore") == 300)
        client.change("UpdateAllocation", {"rmID": "rm:1", "releases": {"allocationsToRelease": [
            {"applicationID": "app", "partitionName": "default", "allocationKey": key, "terminationType": 1}
            for key in keys]}})
        while released < 300:
            items = client.poll(ack=ack)["items"]
            ack = items[-1]["n"]
            released += sum(len(item["body"].get("released", [])) for item in items)
        until("it is running", lambda: client.get("Ping", {"rmID": "rm:1"})["state"] == 1)


def test_who_cannot_take_an_item_is_told_so():  # the same item would be too large again and again
    with Daemon() as daemon:
        client = daemon.client(maxMessage=8192)
        client.register()
        error = client.refused("E_BAD_STATE", "Poll", {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 0})
        check("maxMessage" in error["message"], error)


def test_the_notice_of_congestion_may_be_the_one_too_many():
    with Daemon("--settings", "@conf", files={"conf": "outboundMaxItems: 1\n"}) as daemon:
        client = daemon.client()
        client.register()
        client.change("UpdateNode", {"rmID": "rm:1", "nodes": [  # fills the stream: the notice that it is full does not fit
            {"nodeID": "n", "action": 1, "schedulableResource": {"vcore": 1}}]})
        until("the RM is lost", lambda: client.get("Ping", {"rmID": "rm:1"})["state"] == 5)
        client.refused("E_RESYNC_REQUIRED", "Poll", {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 0})


def lost_after_more(client):
    if client.get("Ping", {"rmID": "rm:1"})["state"] == 5:
        return True
    reply = client.ask("UpdateNode", {"rmID": "rm:1", "nodes": [
        {"nodeID": f"more{client.seq}", "action": 1, "schedulableResource": {"vcore": 1}}]}, seq=client.seq + 1)
    client.seq += 1
    return not reply["ok"]


def test_a_full_inbox_makes_the_sender_wait():
    conf = "inboundMaxItems: 4\n"
    with Daemon("--settings", "@conf", "--manual-schedule", files={"conf": conf}) as daemon:
        client = daemon.client()
        client.register()
        big = [{"nodeID": f"n{i}", "action": 1, "schedulableResource": {"vcore": 1}} for i in range(20000)]
        client.change("UpdateNode", {"rmID": "rm:1", "nodes": big})
        for number in range(20):
            client.change("UpdateNode", {"rmID": "rm:1", "nodes": [{"nodeID": f"n{number}", "action": 3}]})
        client.get("Sync", {"rmID": "rm:1"})
        drained = [n for n in all_nodes(client) if not n["schedulable"]]
        check(len(drained) == 20, len(drained))


def all_nodes(client):
    found, cursor = [], None
    while True:
        reply = client.get("Dump", {"what": "nodes", "limit": 3000, **({"cursor": cursor} if cursor else {})})
        for partition in reply["data"]:
            found += partition["nodesInfo"]
        cursor = reply.get("cursor")
        if reply["complete"]:
            return found


def test_pages_are_one_picture():  # I-405, I-411
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register()
        nodes(client, 0, 25)
        first = client.get("Dump", {"what": "nodes", "limit": 10})
        check(not first["complete"] and len(first["data"][0]["nodesInfo"]) == 10)
        nodes(client, 100, 1)
        second = client.get("Dump", {"what": "nodes", "limit": 100, "cursor": first["cursor"]})
        check(second["complete"] and second["asOf"] == first["asOf"])
        check(len(second["data"][0]["nodesInfo"]) == 15, "the picture changed between its pages")
        client.refused("E_NOT_FOUND", "Dump", {"what": "nodes", "cursor": "page-99"})


def test_detached_rms_need_no_process():  # I-387
    with Daemon("--manual-schedule") as daemon:
        first = daemon.client()
        first.register(detached={"keep": 3})
        first.get("Bye")
        second = daemon.client()
        second.cluster()
        second.asks("k")
        check(second.change("Step", {"cycles": 3})["allocations"] == 1)
        second.epoch = first.epoch
        second.refused("E_BAD_STATE", "Poll", {"rmID": "rm:1", "streamEpoch": first.epoch, "ack": 0})
        log = second.get("StreamLog", {"rmID": "rm:1", "after": 0, "count": 10})
        last = log["next"]  # 4 when the ask was placed in the turn in which it came: its application tells of both in one
        check(last in (4, 5) and [item["n"] for item in log["items"]] == [last - 2, last - 1, last], log)
        check(log["items"][-1]["body"]["new"][0]["allocationKey"] == "k", log)
        check(second.get("StreamLog", {"rmID": "rm:1", "after": last, "count": 10})["items"] == [])
        error = second.refused("E_INVALID", "RegisterResourceManager", {
            "rmID": "rm:9", "detached": {}, "capabilities": ["events", "predicates"]}, mutating=True)
        check(error["path"] == "capabilities[1]", error)
        second.refused("E_BUSY_STATE", "UnregisterResourceManager", {"rmID": "rm:1"}, mutating=True)
        second.change("UnregisterResourceManager", {"rmID": "rm:1", "force": True})
        second.refused("E_RM_UNKNOWN", "UpdateNode", {"rmID": "rm:1"}, mutating=True)


def test_events_are_kept_and_followed():  # I-625, I-626, I-630, I-633
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register(capabilities=["events", "wings"], extraConfig={"event.maxStreamsPerHost": "1"})
        passing = daemon.client()
        passing.get("EventStream", {"count": 0})
        passing.get("Bye")  # takes its stream along
        opened = client.get("EventStream", {"count": 0})
        client.refused("E_BUSY", "EventStream", {"count": 0})
        waiting = Client(daemon.path)
        waiting.sid = client.sid
        waiting.send("EventStream", {"streamID": opened["streamID"], "after": opened["nextID"], "waitMs": 20000})
        client.cluster()
        batch = waiting.receive()["body"]
        check(batch["records"] and batch["records"][0]["eventID"] == opened["nextID"], batch)
        client.get("Sync", {"rmID": "rm:1"})  # the batch may have come with the first of them
        all_records = client.get("Events", {"start": 0})["EventRecords"]
        check([r["eventID"] for r in all_records] == list(range(len(all_records))))
        only = client.get("Events", {"start": 0, "filter": {"types": [3], "objectID": "n"}})["EventRecords"]
        check(only and all(r["type"] == 3 for r in only), only)
        with_nil = client.get("Events", {"start": 0, "filter": {"types": [None, 3, None], "objectID": "n"}})["EventRecords"]
        check(with_nil == only, "an element that is nil is skipped (I-009)", with_nil)
        client.refused("E_INVALID", "Events", {"start": 0, "count": 0})
        sent = []
        ack = 0
        while not sent:
            items = client.poll(ack=ack)["items"]
            ack = items[-1]["n"] if items else ack
            sent = [item for item in items if item["kind"] == "SendEvent"]
        check(sent[0]["body"]["records"] and sent[0]["body"]["lost"] == 0, sent)
        client.change("SetExtraConfig", {"extraConfig": {"event.trackingEnabled": "false"}})
        client.refused("E_BAD_STATE", "Events", {"start": 0})


def test_time_is_what_the_virtual_clock_says():  # I-351, I-353, I-385
    with Daemon("--manual-schedule", "--clock", "virtual") as daemon:
        client = daemon.client()
        client.register(detached={})
        client.cluster()
        client.asks("k")
        client.change("Step", {"cycles": 1})
        client.change("UpdateAllocation", {"rmID": "rm:1", "releases": {"allocationsToRelease": [
            {"applicationID": "app", "allocationKey": "k", "terminationType": 1}]}})
        state = lambda: client.dump("app", application="app")["applicationState"]
        start = client.change("Clock", {"advanceMs": 0})["now"]
        check(state() == "Completing", state())
        client.change("Clock", {"advanceMs": 29_999})
        check(state() == "Completing", state())
        check(client.change("Clock", {"advanceMs": 1})["now"] == start + 30_000_000_000)
        check(state() == "Completed", state())
        attached = daemon.client()
        attached.register("rm:2")
        client.change("Clock", {"advanceMs": 31_000})
        check(attached.get("Ping", {"rmID": "rm:2"})["state"] == 4, "silent for 31 s, and not suspended")
        client.change("Clock", {"advanceMs": 300_000})
        check(attached.get("Ping", {"rmID": "rm:2"})["state"] == 5, "silent for 331 s, and not lost")
        check(client.get("Ping", {"rmID": "rm:1"})["state"] == 1, "a detached RM is never silent")
    with Daemon() as daemon:
        client = daemon.client()
        client.refused("E_BAD_STATE", "Clock", {"advanceMs": 1}, mutating=True)
        client.refused("E_BAD_STATE", "Step", {"cycles": 1}, mutating=True)


main(globals())
