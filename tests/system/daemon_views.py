# SPDX-License-Identifier: Apache-2.0
"""Requests, dumps, health, events and logs as clients see them (interface.md sections 4 to 8)."""
from daemon_support import *

import re

BY_HAND = ("--manual-schedule", "--clock", "virtual")
ALLOCATION, APPLICATION, NODE = "UpdateAllocation", "UpdateApplication", "UpdateNode"


def cluster(rm, vcore=100):
    rm.nodes({"nodeID": "n1", "schedulableResource": {"vcore": vcore}})
    rm.applications({"applicationID": "app"})


def test_accepted_input_outlives_its_session():  # I-335
    with Daemon("--manual-schedule") as daemon:
        rm = Rm(daemon)
        cluster(rm)
        rm.client.change(ALLOCATION, {"rmID": "rm:1", "asks": [
            {"allocationKey": f"k{i}", "applicationID": "app", "resourceAsk": {"vcore": 1}} for i in range(5000)]})
        rm.client.get("Bye")
        witness = daemon.client()
        until("all asks are there", lambda: witness.get("Status")["counts"]["pendingAsks"] == 5000)


def test_steps_by_hand():  # I-351, I-352
    with Daemon(*BY_HAND) as daemon:
        a, b = Rm(daemon, rm="a"), Rm(daemon, rm="b")
        for rm in (a, b):
            cluster(rm)
            rm.client.change(ALLOCATION, {"rmID": rm.rm, "asks": [
                {"allocationKey": f"k{i}", "applicationID": "app", "resourceAsk": {"vcore": 10}} for i in range(3)]})
        reply = a.client.change("Step", {"cycles": 1})
        check(reply["cycles"] == 1 and reply["allocations"] == 2, "one for each partition, of input accepted before", reply)
        items = a.client.poll(ack=a.ack, rm="a", wait=0)["items"]
        check(listed([(item["kind"], item["body"]) for item in items], ALLOCATION, "new"), "its callbacks are queued", items)
        reply = a.client.change("Step", {"cycles": 100, "until": {"allocations": 1}})
        check(reply["allocations"] == 2 and not reply["idle"], "an allocation for each RM", reply)
        a.client.change("Step", {"cycles": 10})
        check(a.client.change("Step", {"cycles": 1})["idle"])
        position = a.client.change(NODE, {"rmID": "a", "nodes": []})["position"]
        synced = a.client.get("Sync", {"rmID": "a", "position": position})
        check(synced["position"] == position and synced["streamNext"] > 1, synced)
        a.client.refused("E_INVALID", "Sync", {"rmID": "a", "position": position + 99})


def test_checks_of_a_poll_in_their_order():  # I-366
    with Daemon() as daemon:
        rm, other = Rm(daemon), daemon.client()
        poll = lambda client, **more: {"rmID": "rm:1", "streamEpoch": 99, "ack": 99, **more}
        other.refused("E_RM_UNKNOWN", "Poll", poll(other, rmID="none"))
        other.refused("E_FORBIDDEN", "Poll", poll(other))
        error = rm.client.refused("E_STREAM_EPOCH", "Poll", poll(rm.client))
        check(error["details"]["streamEpoch"] == rm.client.epoch, error)
        rm.client.refused("E_ACK_FUTURE", "Poll", poll(rm.client, streamEpoch=rm.client.epoch))


def test_a_silent_rm_loses_nothing():  # I-385, I-386
    with Daemon(*BY_HAND) as daemon:
        rm, witness = Rm(daemon), daemon.client()
        cluster(rm)
        rm.applications({"applicationID": "gang", "placeholderAsk": {"vcore": 20}, "executionTimeoutMilliSeconds": 60000})
        rm.asks({"allocationKey": "k"}, {"allocationKey": "p", "applicationID": "gang", "placeholder": True, "taskGroupName": "g"})
        rm.step()
        state = lambda: witness.get("Ping", {"rmID": "rm:1"})["state"]
        witness.change("Clock", {"advanceMs": 31000})
        check(state() == 4, state())
        check(witness.get("Status")["counts"]["allocations"] == 2, "nothing was released")
        witness.change("Clock", {"advanceMs": 30000})  # timers of placeholders go on
        rm.client.get("Ping", {"rmID": "rm:1"})
        until("heard again", lambda: state() == 1)
        check("p" in [one["allocationKey"] for one in listed(rm.told(), ALLOCATION, "released")], "their callbacks were queued")
        witness.change("Clock", {"advanceMs": 301000})
        check(state() == 5, state())
        rm.refused("E_RESYNC_REQUIRED", NODE, nodes=[])
        check(witness.dump("apps", rmID="rm:1"), "its state is still there")
        witness.change("Clock", {"advanceMs": 25 * 3600 * 1000})
        until("it is removed in the end", lambda: witness.get("Status")["rms"] == [])


def test_dumps_are_sorted_and_named_like_the_original():  # I-402 to I-404, I-421, I-422
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.nodes(*[{"nodeID": name} for name in ("n2", "n10", "n1")])
        rm.applications(*[{"applicationID": name} for name in ("c", "a", "b")])
        rm.asks(*[{"allocationKey": key, "applicationID": "a"} for key in ("z", "x", "y")])
        rm.step()
        nodes = rm.dump("nodes")[0]
        check(nodes["partitionName"] == "default" and nodes["clusterId"] == "rm:1", nodes)
        check([one["nodeID"] for one in nodes["nodesInfo"]] == ["n1", "n10", "n2"], nodes)
        check([one["applicationID"] for one in rm.dump("apps")] == ["a", "b", "c"])
        check([one["allocationKey"] for one in rm.dump("app", application="a")["allocations"]] == ["x", "y", "z"])
        children = rm.dump("queues")[0]["children"]
        check([one["queuename"] for one in children] == ["root.a", "root.b"] and {one["partition"] for one in children} == {"default"})
        rm.send(APPLICATION, new=[{"applicationID": "no", "queueName": "root.none", "ugi": {"user": "u"}}])
        rm.release(applicationID="a", allocationKey="")
        rm.advance(60)
        found = {name: rm.dump("app", application=name)["applicationState"] for name in ("a", "b", "no")}
        check(found == {"a": "Completed", "b": "New", "no": "Rejected"}, "active, completed and rejected ones are found", found)


def test_health_looks_and_changes_nothing():  # I-445, I-446
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        cluster(rm)
        rm.asks({"allocationKey": "k"})
        rm.step()
        before = rm.client.dump("full")
        result = rm.client.get("Health", {"run": True})
        check(result["Healthy"] and len(result["HealthChecks"]) == 14, result)
        check(all(one["Name"] and one["Description"] for one in result["HealthChecks"]), result)
        # over-committed by the RM's own report: a warning, and no state changes
        rm.send(NODE, nodes=[{"nodeID": "n1", "action": 2, "schedulableResource": {"vcore": 5}}])
        again = rm.client.get("Health", {"run": True})
        check(again["Healthy"] and again["DaemonState"] == 1, again)
        check(rm.client.get("Ping", {"rmID": "rm:1"})["state"] == 1)
        after = rm.client.dump("full")
        check(before["applications"][0]["stateLog"] == after["applications"][0]["stateLog"])


def test_a_rejected_node_was_not_added():  # I-603
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "bad", "schedulableResource": {"vcore": -1}}, {"nodeID": "good"})
        added = [event for event in rm.client.get("Events", {"start": 0})["EventRecords"]
                 if event["type"] == 3 and event.get("eventChangeType") == 2]
        check([event["objectID"] for event in added] == ["good"], added)


def test_events_of_the_past_and_the_present():  # I-611, I-625, I-630 to I-632
    with Daemon("--manual-schedule") as daemon:
        rm = Rm(daemon, extraConfig={"event.ringBufferCapacity": "10"})
        client = rm.client
        cluster(rm)
        rm.nodes(*[{"nodeID": f"l{i}"} for i in range(10)])
        batch = client.get("Events", {"start": 0})
        newest = batch["HighestID"]
        check(batch["NextID"] == newest + 1 and not batch["empty"] and batch["LowestID"] == newest - 9, batch)
        check(batch["lost"] == batch["LowestID"] and len(batch["EventRecords"]) == 10, "what is kept no longer is counted", batch)
        check(client.get("Events", {"start": newest + 5})["EventRecords"] == [])
        opened = client.get("EventStream", {"count": 3})
        ids = [event["eventID"] for event in opened["records"]]
        rm.asks({"allocationKey": "k"})
        more = client.get("EventStream", {"streamID": opened["streamID"], "after": opened["nextID"], "waitMs": 5000})
        ids += [event["eventID"] for event in more["records"]]
        check(ids == list(range(newest - 2, newest - 2 + len(ids))) and more["records"], "none twice, none left out", ids)
        rm.nodes(*[{"nodeID": f"m{i}"} for i in range(40)])
        slow = client.get("EventStream", {"streamID": opened["streamID"], "after": more["nextID"], "waitMs": 0})
        check(slow["lost"] > 0 and slow["records"][0]["eventID"] == more["nextID"] + slow["lost"], "told, and it goes on", slow)
        check(client.get("EventStream", {"count": 1000})["records"][0]["eventID"] == slow["records"][-1]["eventID"] - 9, "all kept ones")


def test_what_an_ask_went_through():  # I-354, I-710 to I-712
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon, config=CONFIG.replace("- name: a", "- name: a\n            resources: {max: {vcore: 1}}"))
        cluster(rm, vcore=2000)
        rm.asks({"allocationKey": "k", "resourceAsk": {"vcore": 1500}})
        rm.step()
        log = rm.dump("app", application="app")["requests"][0]["allocationLog"]
        check([entry["message"] for entry in log] == ["Not enough queue quota"] and log[0]["count"] >= 1 and log[0]["lastOccurrence"], log)
        told = rm.client.get("Explain", {"what": "ask", "allocationKey": "k", "application": "app"})
        check(told["verdict"] and told["reasons"][0]["code"] == "QUEUE_MAX" and told["reasons"][0]["object"] == "root.a", told)
        check(told["reasons"][0]["need"] == {"vcore": 1500} and told["reasons"][0]["limit"] == {"vcore": 1000}, told)
        check(rm.dump("app", application="app")["requests"][0]["allocationLog"] == log, "a look changes nothing")
        rm.asks({"allocationKey": "k", "resourceAsk": {"vcore": 500}})
        rm.step()
        app = rm.dump("app", application="app")
        check(len(app["allocations"]) == 1 and "allocationLog" not in app["allocations"][0], "the log is gone with the ask", app)


def test_a_key_of_many_applications_is_not_explained_for_each():
    with Daemon(*BY_HAND) as daemon:
        rm, names = Rm(daemon), [f"app{i:03}" for i in range(500)]
        rm.nodes(*({"nodeID": f"n{i}", "schedulableResource": {"vcore": 1}} for i in range(1000)))
        rm.applications(*({"applicationID": name} for name in names))
        rm.asks(*({"allocationKey": "k", "applicationID": name} for name in names))

        def fastest(what, **more):
            times = []
            for _ in range(5):
                begin = time.monotonic()
                reply = rm.client.ask("Explain", {"what": what, "allocationKey": "k", **more})
                times.append(time.monotonic() - begin)
            return min(times), reply

        for what in ("ask", "preemption"):
            one, of_one = fastest(what, application=names[0])
            all_of_them, refused = fastest(what)
            check(of_one["ok"] and refused["err"]["name"] == "E_INVALID", what, of_one, refused)
            places = ", ".join(f"application {name} in [rm:1]default" for name in names[:50])
            check(refused["err"]["message"].startswith(f"there are several, say which one: {places}, "), refused)
            check(all_of_them < 25 * one, what, "of 500 applications took", all_of_them, "s, of one", one)


LIMITED = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            limits: [{limit: u, users: [u], maxresources: {vcore: 1}, maxapplications: 1}, {limit: g, groups: [g], maxapplications: 9}]
  - name: gpu
    queues: [{name: root, submitacl: "*", queues: [{name: b, maxapplications: 4}]}]
"""


def test_a_user_a_node_and_a_configuration_are_explained():  # I-354, B-09, C-401, C-403
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon, config=LIMITED)
        ask = lambda what, **more: rm.client.get("Explain", {"what": what, **more})
        refused = lambda code, **body: rm.client.refused(code, "Explain", body)
        cluster(rm, vcore=2000)
        rm.asks({"allocationKey": "k", "resourceAsk": {"vcore": 1000}}, {"allocationKey": "l", "resourceAsk": {"vcore": 2000}})
        rm.step()
        told = ask("user", user="u", queue="root.a", groups=["h", "g"])
        check(told["verdict"] == "BLOCKED_BY_LIMIT", told)
        check([(one["code"], one["object"]) for one in told["reasons"]] == [("USER_LIMIT", "root.a"), ("APP_LIMIT", "root.a")], told)
        check(told["reasons"][0]["used"] == told["reasons"][0]["limit"] == {"vcore": 1000}, told)
        details = told["details"]
        check((details["group"], details["groupFrom"], details["groups"]) == ("g", "root.a", ["h", "g"]), details)
        check([(level["queue"], level["kind"], level["entry"]) for level in details["levels"]] ==
              [("root.a", "user", "u"), ("root", "user", ""), ("root.a", "group", "g"), ("root", "group", "")], details)
        check(details["levels"][0]["headroom"] == {"vcore": 0} and "max" not in details["levels"][1], details)
        check(len(ask("user", user="u", queue="root.b")["details"]["levels"]) == 2, "found in the partition that has it")
        refused("E_INVALID", what="user", user="u", queue="root")  # in both
        check(ask("user", user="u", queue="root", partition="gpu")["verdict"] == "UNLIMITED")
        error = refused("E_NOT_FOUND", what="user", user="u", queue="root.a.b")
        check("the deepest on this path is root.a" in error["message"], error)
        refused("E_INVALID", what="user", user="u", queue="a")
        refused("E_MISSING_FIELD", what="user", queue="root.a")
        told = ask("node", node="n1")
        check(told["verdict"] == "SHORT" and told["reasons"][0]["code"] == "NODE_FIT" and told["reasons"][0]["asks"] == 1, told)
        check(told["details"]["available"] == {"vcore": 1000} and told["details"]["pending"]["lacking"] == {"vcore": 1}, told)
        check(told["details"]["applications"] == [{"applicationID": "app", "allocations": 1}], told)
        refused("E_NOT_FOUND", what="node", node="n2")
        refused("E_NOT_FOUND", what="node", node="n1", rmID="none")
        told = ask("config", config="root.b.maxapplications", partition="gpu")
        check((told["verdict"], told["details"]["line"], told["details"]["value"], told["details"]["inForce"]) == ("SET", 11, "4", 4), told)
        check(ask("config", config="partitions[1].queues[0].queues[0].maxapplications")["details"] == told["details"], "either way")
        refused("E_INVALID", what="config", config="root.b.maxapplications")  # of which partition?
        refused("E_NOT_FOUND", what="config", config="root.b.maxapplicatons", partition="gpu")
        refused("E_NOT_FOUND", what="config", config="log.levl")
        error = refused("E_INVALID", what="reservation")
        check("app, ask, queue, node, user, config, preemption and placement" in error["message"], error)


def test_who_set_a_key_of_extra_config():  # I-354, C-460, C-462, C-466
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon, extraConfig={"event.maxStreams": "5", "service.enableConfigHotRefresh": "false"})
        ask = lambda key: rm.client.get("Explain", {"what": "config", "config": key})
        said = lambda key: (ask(key)["verdict"], ask(key)["details"]["inForce"], ask(key)["details"]["from"])
        check(said("event.maxStreams") == ("SET", "5", "extraConfig of RM rm:1"), said("event.maxStreams"))
        rm.client.change("SetExtraConfig", {"extraConfig": {"event.maxStreams": "6"}})
        check(said("event.maxStreams") == ("SET", "6", "SetExtraConfig, until ykd starts again"), said("event.maxStreams"))
        rm.client.change("UpdateConfiguration", {"rmID": "rm:1", "config": CONFIG, "extraConfig": {}})
        check(said("service.enableConfigHotRefresh") == ("DEFAULT", "false", "an earlier extraConfig"), "it stays")
        check(said("service.reservationDelay") == ("DEFAULT", "2s", "default"), said("service.reservationDelay"))


def test_what_an_application_went_through():  # I-720, I-730
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        cluster(rm)
        rm.asks({"allocationKey": "k"})
        rm.step()
        rm.release(allocationKey="")
        rm.advance(60)
        app = rm.dump("app", application="app")
        check([entry["applicationState"] for entry in app["stateLog"]] ==
              ["Accepted", "Running", "Completing", "Completed"], app["stateLog"])
        times = [entry["time"] for entry in app["stateLog"]]
        check(times == sorted(times) and app["finishedTime"] == times[-1], app)
        rm.advance(3 * 24 * 3600 - 10)
        check(len(rm.dump("apps", state="completed")) == 1, "listed for three days")
        rm.advance(24 * 3600 + 60)
        check(rm.dump("apps", state="completed") == [], "then swept")


def test_states_are_told():  # I-200, I-201
    with Daemon(*BY_HAND) as daemon:
        witness = daemon.client()
        check(witness.get("Status")["state"] == 0, "New, without an RM")
        rm = Rm(daemon)
        check(witness.get("Status")["state"] == 1)
        witness.change("Clock", {"advanceMs": 31000})
        check(witness.get("Status")["state"] == 1 and witness.get("Status")["rms"][0]["state"] == 4, "a Suspended one counts as Running")
        notices = []
        until("it is heard again", lambda: notices.extend(body for kind, body in rm.told() if kind == "Notice") or len(notices) > 1)
        check(notices[0]["code"] == "STATE" and notices[0]["message"], notices)
        check(notices[0]["details"]["old"] == 1 and notices[0]["details"]["new"] == 4 and notices[0]["details"]["at"], notices)
        check(notices[1]["details"]["new"] == 1, "heard again", notices)
        witness.change("Clock", {"advanceMs": 400000})
        check(witness.get("Status")["state"] == 0, "a Lost one does not count")
        until("the log says why", lambda: "RM rm:1: Running -> Suspended (not heard of" in daemon.text())


def test_the_history_is_of_what_there_is():  # I-700, I-701
    with Daemon("--settings", "@conf", files={"conf": "historyInterval: 100ms\n"}) as daemon:
        client = daemon.client()
        client.register()
        client.cluster()
        client.asks("k", "l")
        sample = lambda: [client.dump("history")[part][-1] for part in ("apps", "containers") if client.dump("history")[part]]
        last = until("two are counted", lambda: len(sample()) == 2 and sample()[1]["totalContainers"] == "2" and sample())
        check(last[0]["totalApplications"] == "1" and last[0]["timestamp"] > 0, "running ones, values as text", last)
        client.change("UnregisterResourceManager", {"rmID": "rm:1", "force": True})
        until("nothing is left, and not less than nothing", lambda: sample()[1]["totalContainers"] == "0")


def test_lines_of_the_log():  # I-741
    with Daemon() as daemon:
        daemon.client().register()
        until("the log says it", lambda: "configuration" in daemon.text())
        lines = daemon.text().splitlines()
        form = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\S* (debug|info|warning|error) [a-z]+(\.[a-z]+)*: .+")
        check(lines and all(form.match(line) for line in lines), lines)
        check(any("core.rmproxy: RM rm:1 registered: partitions [rm:1]default" in line for line in lines), lines)


main(globals())
