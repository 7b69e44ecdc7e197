# SPDX-License-Identifier: Apache-2.0
"""Lists that are longer than a message: pages of the state, lookups and removals by the daemon (B1), and whose events and
metrics a session of role rm sees (A10)."""
from daemon_support import *

import hashlib
import json
import re

BY_HAND = ("--manual-schedule", "--clock", "virtual")
ALLOCATION, APPLICATION, NODE = "UpdateAllocation", "UpdateApplication", "UpdateNode"
SMALL = 16384  # bytes of a reply


def pages(client, kind="Dump", **query):
    """The reply of each page."""
    while True:
        reply = client.get(kind, query)
        yield reply
        if "cursor" not in reply:
            return
        query["cursor"] = reply["cursor"]


def everything(client, **query):
    return [element for page in pages(client, **query) for element in page["data"]]


def add_asks(client, application, prefix, count, rm="rm:1"):
    for first in range(0, count, 1000):
        client.change(ALLOCATION, {"rmID": rm, "asks": [
            {"allocationKey": f"{prefix}{i:05}", "applicationID": application, "resourceAsk": {"vcore": 1}}
            for i in range(first, min(first + 1000, count))]})


def large_application(daemon, count=6000):
    """`big` has as many pending asks, `small` three; two of big's are placed on n1."""
    client = daemon.client()
    client.register()
    client.change(NODE, {"rmID": "rm:1", "nodes": [{"nodeID": "n1", "action": 1, "schedulableResource": {"vcore": 2}}]})
    client.change(APPLICATION, {"rmID": "rm:1", "new": [
        {"applicationID": name, "queueName": queue, "ugi": {"user": "u"}} for name, queue in (("big", "root.a"), ("small", "root.b"))]})
    add_asks(client, "big", "k", count + 2)
    client.change("Step", {"cycles": 5})
    add_asks(client, "small", "s", 3)
    client.get("Sync", {"rmID": "rm:1"})
    return client


def test_b1_an_application_larger_than_a_message_is_readable():
    with Daemon(*BY_HAND) as daemon:
        large_application(daemon)
        client = daemon.client(maxMessage=SMALL)
        apps = {app["applicationID"]: app for app in everything(client, what="apps")}
        check(apps["big"]["brief"] and apps["big"]["pendingAsks"] == 6000 and "requests" not in apps["big"], apps["big"])
        check(apps["big"]["allocationCount"] == 2, apps["big"])
        check(len(apps["small"]["requests"]) == 3 and "brief" not in apps["small"], apps["small"])
        check(client.dump("app", application="big")["brief"])
        check(client.dump("app", application="small", brief=True)["brief"])
        asks = everything(client, what="asks", application="big", limit=500)
        check(len({ask["allocationKey"] for ask in asks}) == len(asks) == 6000, len(asks))
        check({ask["queueName"] for ask in asks} == {"root.a"} and {ask["applicationId"] for ask in asks} == {"big"})
        check(len(everything(client, what="asks")) == 6003)
        placed = everything(client, what="allocations", node="n1")
        check(len(placed) == 2 and placed[0]["applicationId"] == "big" and placed[0]["partition"] == "default", placed)


def test_b1_lists_take_filters_and_keys():
    with Daemon(*BY_HAND) as daemon:
        large_application(daemon)
        client = daemon.client(maxMessage=SMALL)
        keys = lambda **query: [one["allocationKey"] for one in everything(client, **query)]
        check(keys(what="asks", application="small") == ["s00000", "s00001", "s00002"], "few are sorted")
        check(keys(what="asks", queue="root.b") == keys(what="asks", application="small"))
        check(len(keys(what="asks", queue="root")) == 6003 and keys(what="asks", queue="root.none") == [])
        check(keys(what="asks", allocationKey="k05999") == ["k05999"] and keys(what="allocations", allocationKey="k05999") == [])
        check(keys(what="asks", allocationKey="k05999", application="small") == [])
        check(keys(what="asks", application="nobody") == [] and keys(what="allocations", node="n2") == [])
        check(len(keys(what="asks", status="running")) == 6000 and len(keys(what="asks", status="accepted")) == 3)
        first = client.get("Dump", {"what": "asks", "limit": 7})
        check(len(first["data"]) == 7 and not first["complete"])
        client.refused("E_NOT_FOUND", "Dump", {"what": "allocations", "cursor": first["cursor"]})


def test_b1_what_stays_is_listed_once_whatever_changes():
    with Daemon(*BY_HAND) as daemon:
        owner = large_application(daemon)
        client = daemon.client(maxMessage=SMALL)
        found = []
        for number, page in enumerate(pages(client, what="asks", application="big", limit=1000)):
            found += [ask["allocationKey"] for ask in page["data"]]
            if number == 3:
                owner.change(ALLOCATION, {"rmID": "rm:1", "releases": {"allocationAsksToRelease": [
                    {"partitionName": "default", "applicationID": "big", "allocationKey": f"k{i:05}"} for i in range(2, 6002, 2)]}})
                add_asks(owner, "big", "new", 500)
                owner.get("Sync", {"rmID": "rm:1"})
        stayed = {f"k{i:05}" for i in range(3, 6002, 2)}
        check(len(found) == len(set(found)), "something is listed twice")
        check(stayed <= set(found), "missing", sorted(stayed - set(found))[:3])


def test_b1_a_list_of_applications_is_sorted_and_paged():
    with Daemon(*BY_HAND) as daemon:
        owner = daemon.client()
        owner.register()
        for first in range(0, 5000, 1000):
            owner.change(APPLICATION, {"rmID": "rm:1", "new": [
                {"applicationID": f"app-{(7 * i) % 5000:04}", "queueName": "root.a", "ugi": {"user": "u"}} for i in range(first, first + 1000)]})
        owner.get("Sync", {"rmID": "rm:1"})
        client = daemon.client(maxMessage=SMALL)
        names = []
        for page in pages(client, what="apps", brief=True, limit=900):
            names += [app["applicationID"] for app in page["data"]]
            if len(names) < 200:
                owner.change(APPLICATION, {"rmID": "rm:1", "remove": [{"applicationID": "app-3000"}]})
                owner.get("Sync", {"rmID": "rm:1"})
        check(names == [f"app-{i:04}" for i in range(5000) if i != 3000], len(names), names[:3])
        again = client.get("Dump", {"what": "apps", "brief": True, "limit": 10})
        same = [client.get("Dump", {"what": "apps", "limit": 10, "cursor": again["cursor"]})["data"] for _ in range(2)]
        check(same[0] == same[1] and same[0][0]["applicationID"] == "app-0010", "a page is answered again")


def test_b1_many_pages_of_one_list_do_not_push_out_another():
    with Daemon(*BY_HAND) as daemon:
        large_application(daemon)
        client = daemon.client(maxMessage=SMALL)
        outer = client.get("Dump", {"what": "asks", "limit": 5})
        check(len(everything(client, what="asks", application="big", limit=100)) == 6000)
        check(len(client.get("Dump", {"what": "asks", "limit": 5, "cursor": outer["cursor"]})["data"]) == 5)


def test_b1_lists_that_ended_or_rest_go_before_those_in_use():
    with Daemon(*BY_HAND) as daemon:
        large_application(daemon, count=20)
        client = daemon.client()
        begin = lambda: client.get("Dump", {"what": "asks", "limit": 5})["cursor"]
        go_on = lambda cursor: client.get("Dump", {"what": "asks", "limit": 5, "cursor": cursor})
        outer = begin()
        for _ in range(20):
            check(len(everything(client, what="asks", application="big", limit=12)) == 20)
        used = go_on(outer)["cursor"]  # not pushed out by those that were read to their end
        others = [begin() for _ in range(7)]
        check(len(go_on(used)["data"]) == 5, "the eighth")
        begin()
        check(len(go_on(used)["data"]) == 5, "it was used last")
        client.refused("E_NOT_FOUND", "Dump", {"what": "asks", "cursor": others[0]})


def test_b1_metrics_without_a_cursor_do_not_push_out_those_of_others():
    with Daemon(*BY_HAND) as daemon:
        daemon.client().register()
        polite, rude = daemon.client(maxMessage=8192), daemon.client(maxMessage=8192)
        page = polite.get("Metrics")
        check(not page["complete"], "of several pages")
        while "cursor" in page:
            for _ in range(5):
                rude.get("Metrics")
            page = polite.get("Metrics", {"cursor": page["cursor"]})


def test_b1_a_partition_without_nodes_stands_on_a_later_page():
    partition = "  - name: {}\n    queues: [{{name: root, submitacl: '*'}}]\n"
    with Daemon(*BY_HAND) as daemon:
        client = daemon.client()
        client.register(config="partitions:\n" + "".join(partition.format(name) for name in ("default", "empty", "last")))
        client.change(NODE, {"rmID": "rm:1", "nodes": [
            {"nodeID": f"n{i}", "action": 1, "schedulableResource": {"vcore": 2}, "attributes": {"si/node-partition": name}}
            for i, name in enumerate(("default",) * 3 + ("last",))]})
        client.get("Sync", {"rmID": "rm:1"})
        for limit in range(1, 5):
            names = [part["partitionName"] for part in everything(client, what="nodes", limit=limit)]
            check(names.count("empty") == 1 and list(dict.fromkeys(names)) == ["default", "empty", "last"], limit, names)


def test_b1_an_application_larger_than_a_piece_comes_without_its_lists():
    with Daemon(*BY_HAND) as daemon:
        client = large_application(daemon, count=4200)
        check(client.dump("app", application="big").get("brief"), "app")
        for query in ({}, {"names": ["big"]}, {"objects": 5000}):
            big = [app for app in everything(client, what="apps", **query) if app["applicationID"] == "big"][0]
            check(big.get("brief") and big["pendingAsks"] == 4200, "apps", query)
        big = [app for app in client.dump("full")["applications"] if app["applicationID"] == "big"][0]
        check(len(big["requests"]) == 4200, "the full dump is whole")


def test_b1_the_full_dump_without_what_is_long():
    with Daemon(*BY_HAND) as daemon:
        large_application(daemon)
        client = daemon.client(maxMessage=65536)
        error = client.refused("E_TOO_LARGE", "Dump", {"what": "full"})
        check("brief" in error["message"], error)
        brief = client.dump("full", brief=True)
        for name in ("applications", "nodes", "queues", "reservations", "users", "groups"):
            check(brief[name] is None, name)
        check(brief["partitions"][0]["pendingAsks"] == 6003, brief["partitions"])


def test_b1_the_full_dump_has_more_users_than_a_message_holds():
    with Daemon("--max-message", "2MiB") as daemon:
        client = daemon.client()
        client.register()
        client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": "n1", "action": 1, "schedulableResource": {"vcore": 100_000}}]})
        users = [f"user-{i:05}-" + "x" * 100 for i in range(4000)]
        for start in range(0, len(users), 2000):
            some = users[start:start + 2000]
            client.change("UpdateApplication", {"rmID": "rm:1", "new": [
                {"applicationID": user, "queueName": "root.a", "ugi": {"user": user}} for user in some]})
            client.change("UpdateAllocation", {"rmID": "rm:1", "asks": [
                {"allocationKey": "k", "applicationID": user, "resourceAsk": {"vcore": 1}} for user in some]})
        until("all are placed", lambda: client.get("Status")["counts"]["allocations"] == len(users))
        done = subprocess.run([os.path.join(os.environ["YK_BIN"], "ykctl"), "-s", "ipc://" + daemon.path, "dump", "all"],
                              capture_output=True, check=False)
        check(done.returncode == 0, done.stderr)
        listed = [one["userName"] for one in json.loads(done.stdout)["data"]["users"]]
        check(sorted(listed) == users, len(listed))


def test_b1_removals_need_no_list():
    with Daemon(*BY_HAND) as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1"})
        rm.applications({"applicationID": "app"})
        rm.asks({"allocationKey": "a"}, {"allocationKey": "b"})
        rm.step()
        rm.client.change(NODE, {"rmID": "rm:1", "nodes": [{"nodeID": "n1", "action": 3}]})
        rm.asks({"allocationKey": "c"})
        told = rm.release(allocationKey="", terminationType=1, keepAsks=True)
        check(sorted(one["allocationKey"] for one in listed(told, ALLOCATION, "released")) == ["a", "b"], told)
        app = rm.client.dump("app", application="app")
        check(not app["allocations"] and [ask["allocationKey"] for ask in app["requests"]] == ["c"], app)
        check(app["applicationState"] == "Running", app["applicationState"])
        rm.release(allocationKey="", terminationType=1, keepAsks=True)  # nothing is left to release
        check(rm.client.dump("app", application="app")["applicationState"] == "Running")
        rm.release(allocationKey="", terminationType=1)
        check(not rm.client.dump("app", application="app")["requests"], "without the mark the asks go, too")


def test_b1_many_are_found_by_name():
    with Daemon(*BY_HAND) as daemon:
        client = large_application(daemon, count=100)
        client.change(NODE, {"rmID": "rm:1", "nodes": [{"nodeID": f"m{i}", "action": 1} for i in range(500)]})
        queues = {f"a{i}": "root.a" for i in range(500)} | {"refused": "root.nowhere"}
        client.change(APPLICATION, {"rmID": "rm:1", "remove": [{"applicationID": "small"}], "new": [
            {"applicationID": name, "queueName": queue, "ugi": {"user": "u"}} for name, queue in queues.items()]})
        client.get("Sync", {"rmID": "rm:1"})
        there = ["refused"] + [f"a{i}" for i in range(0, 500, 2)] + ["big"]
        found = everything(client, what="apps", names=["small", *there, "none"], objects=0, limit=100)
        states = {app["applicationID"]: app["applicationState"] for app in found}
        check(len(found) == len(there) and sorted(states) == sorted(there), len(found))
        check([states[name] for name in ("a0", "big", "refused")] == ["New", "Running", "Rejected"], states["refused"])
        nodes = everything(client, what="nodes", names=["n1", "m499", "gone"], objects=0)[0]["nodesInfo"]
        check([(node["nodeID"], node.get("allocationCount")) for node in nodes] == [("n1", 2), ("m499", None)], nodes)
        check(everything(client, what="apps", names=[]) == [], "no names are not all")
        client.refused("E_LIMIT", "Dump", {"what": "nodes", "names": ["n1"] * 1001})
        client.refused("E_INVALID", "Dump", {"what": "asks", "names": ["k"]})
        client.refused("E_TYPE", "Dump", {"what": "apps", "names": [1]})


def test_b1_queues_and_metrics_in_pages():
    queues = "".join(f"          - name: q{i:04}\n" for i in range(5000))
    config = CONFIG + "          - name: deep\n            queues:\n              - name: leaf\n" + queues
    with Daemon(*BY_HAND) as daemon:
        daemon.client().register(config=config)
        client = daemon.client(maxMessage=1 << 18)
        client.refused("E_TOO_LARGE", "Dump", {"what": "queues"})
        found = everything(client, what="queues", flat=True, limit=777)
        paths = [queue["queuename"] for queue in found]
        check(paths[:5] == ["root", "root.a", "root.b", "root.deep", "root.deep.leaf"], paths[:5])
        check(paths[5:] == [f"root.q{i:04}" for i in range(5000)], len(paths))
        check(found[0]["childCount"] == 5003 and found[3]["childNames"] == ["root.deep.leaf"], found[3])
        check(all("children" not in queue and queue["clusterId"] == "rm:1" for queue in found))
        parts = list(pages(client, "Metrics", prefix="yunikorn_queue"))
        check(len(parts) > 3 and not parts[0]["complete"] and "cursor" not in parts[-1], len(parts))
        text = "".join(part["text"] for part in parts)
        check(text == daemon.client().get("Metrics", {"prefix": "yunikorn_queue"})["text"], "the pages are not the whole")
        wished = list(pages(daemon.client(), "Metrics", prefix="yunikorn_queue", maxBytes=50_000))
        check(all(len(part["text"]) <= 50_000 for part in wished) and text == "".join(part["text"] for part in wished), "of that size")
        check(len(re.findall("# TYPE", text)) == len(set(re.findall("# TYPE.*", text))))
        samples = [(family["name"], len(family["samples"])) for part in pages(client, "Metrics", prefix="yunikorn_queue", format="map")
                   for family in part["families"]]
        check(sum(count for _, count in samples) == len([line for line in text.splitlines() if line[0] != "#"]), samples[:3])
        client.refused("E_NOT_FOUND", "Metrics", {"cursor": "metrics-99"})


def test_a10_events_and_queue_metrics_of_others_are_not_seen_by_role_rm():  # I-412
    port = free_port()
    token = f"rm mine-* {hashlib.sha256(b'hush').hexdigest()}\n"
    with Daemon(*BY_HAND, "--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens", files={"tokens": token}) as daemon:
        other = daemon.client()
        other.register("other")
        other.cluster("other")
        other.asks("secret", rm="other")
        mine = Client(("127.0.0.1", port))
        mine.hello(role="rm", token="hush")
        mine.register("mine-1")
        mine.cluster("mine-1")
        mine.get("Sync", {"rmID": "mine-1"})
        other.change("Step", {"cycles": 3})
        other.get("Sync", {"rmID": "other"})
        whose = lambda records: {record["rmID"] for record in records}
        until("all events are in", lambda: whose(other.get("Events", {"start": 0, "count": 1000})["EventRecords"]) == {"mine-1", "other"})
        check(whose(mine.get("Events", {"start": 0, "count": 1000})["EventRecords"]) == {"mine-1"}, "Events")
        check(whose(mine.dump("events")["EventRecords"]) == {"mine-1"}, "Dump events")
        check(whose(mine.get("EventStream", {"count": 1000})["records"]) == {"mine-1"}, "EventStream")
        text = mine.get("Metrics")["text"]
        check('partition="[mine-1]default"' in text and "[other]" not in text and 'rm="other"' not in text, text)
        check("[other]" in other.get("Metrics")["text"], "an admin sees all")


main(globals())
