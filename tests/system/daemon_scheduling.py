# SPDX-License-Identifier: Apache-2.0
"""Replicas of deployments, placed by the daemon's own core: on nodes of their own, over any end of the daemon."""
import sqlite3

from daemon_support import *

ON = "mcs: {enabled: true}\n"
HOSTED = ("--state", "@.", "--settings", "@conf")


def hosted(settings=ON, *more):
    return Daemon(*HOSTED, *more, files={"conf": settings})


def ready(daemon, deadline=DEADLINE):
    client = daemon.client()
    until("MCS places", lambda: scheduler(client).get("state") == "running", deadline)
    return client


def scheduler(client):
    return client.get("McsRead", {"what": "status"}).get("scheduler", {})


def change(client, kind, verb, name, **body):
    if kind == "deployment" and verb == "create":
        body = {"name": name, "user": "u", "resource": {"vcore": 1000}, **body}
        return client.change("McsWrite", {"verb": verb, "kind": kind, "body": body})
    return client.change("McsWrite", {"verb": verb, "kind": kind, "id": name, "body": body})


def node(client, name, verb="create", **body):
    if verb == "create":
        body = {"resource": {"vcore": 4000}, **body}
    return change(client, "node", verb, name, **body)


def nodes(client):
    return {item["id"]: item for item in client.get("McsRead", {"what": "list", "kind": "node"})["items"]}


def schedule(client, name):
    return client.get("McsRead", {"what": "describe", "kind": "deployment", "id": name})["item"].get("schedule", {})


def places(client, name):
    return {(one["replica"], one["allocationKey"]): one.get("nodeID")
            for one in schedule(client, name).get("placements", []) if one["state"] == "Placed"}


def comes_to(client, name, placed, state="Scheduled"):
    seen = {}

    def has_come():
        seen.update(schedule(client, name))
        return (seen.get("placed"), seen.get("state")) == (placed, state)

    try:
        until(f"{name} has {placed} replicas placed and is {state}", has_come)
    except AssertionError as error:
        raise AssertionError(f"{error}: {seen} {scheduler(client)} {nodes(client)} {in_core(client)}") from error


def in_core(client, kind="apps"):
    """Nothing while its registration is lost."""
    reply = client.ask("Dump", {"what": kind, "rmID": "mcs"})
    check(reply["ok"] or reply["err"]["name"] == "E_NOT_FOUND", reply)
    return reply["body"]["data"] if reply["ok"] else []


def test_replicas_are_placed_and_follow_their_number():  # rs R-122, rs R-125, rs R-126, rs R-127, rs R-128, rs R-129
    with hosted() as daemon:
        client = ready(daemon)
        node(client, "n1")
        change(client, "deployment", "create", "web", replicas=3, queue="root.default")
        comes_to(client, "web", 3)
        check(set(places(client, "web").values()) == {"n1"})
        check(nodes(client)["n1"]["registered"] and nodes(client)["n1"]["schedulable"], nodes(client))
        change(client, "deployment", "scale", "web", replicas=6)
        comes_to(client, "web", 4, "Scheduling")  # there is no place for more
        node(client, "n2")
        comes_to(client, "web", 6)
        node(client, "n1", "drain")
        change(client, "deployment", "scale", "web", replicas=2)
        comes_to(client, "web", 2)
        check(set(places(client, "web").values()) == {"n2"}, places(client, "web"))  # those on n1 went first
        node(client, "n2", "delete")
        until("nothing is placed", lambda: schedule(client, "web")["placed"] == 0)
        node(client, "n1", "undrain")
        comes_to(client, "web", 2)
        change(client, "deployment", "delete", "web")
        until("the core has nothing of it", lambda: not in_core(client))


def test_what_runs_stays_over_any_end():  # rs R-123, rs R-124, rs R-139, F-12, F-13
    with hosted() as daemon:
        client = ready(daemon)
        for name in ("n1", "n2"):
            node(client, name)
        change(client, "deployment", "create", "web", replicas=5)
        change(client, "deployment", "create", "api", replicas=2)
        comes_to(client, "web", 5)
        comes_to(client, "api", 2)
        before = places(client, "web"), places(client, "api")
        for number in (signal.SIGTERM, signal.SIGKILL):
            begun = time.monotonic()
            daemon.restart(number)
            check(time.monotonic() - begun < 5, "its own stream holds up no end")
            client = ready(daemon, 10)  # the lease of a process that was killed lasts for 15 s: nobody waits for that
            comes_to(client, "web", 5)
            check((places(client, "web"), places(client, "api")) == before)
            check(scheduler(client)["refusedNodes"] == 0)
        change(client, "deployment", "scale", "web", replicas=6)
        comes_to(client, "web", 6)


def test_ten_thousand_that_run_stay_over_a_kill():  # rs R-124, rs R-139, F-13
    with hosted() as daemon:
        client = ready(daemon)
        for number in range(20):
            change(client, "node", "create", f"n{number}", resource={"vcore": 1_000_000})
        for number in range(10):
            change(client, "deployment", "create", f"web{number}", replicas=1000)

        def placed():
            with sqlite3.connect(f"file:{daemon.folder}/mcs.db?mode=ro", uri=True, timeout=10) as database:
                return database.execute("SELECT allocation_key, node_id FROM placement WHERE state = 'Placed' ORDER BY 1").fetchall()

        used = lambda: client.get("Dump", {"what": "queue", "queue": "root", "rmID": "mcs"})["data"]["allocatedResource"]
        until("all are placed", lambda: len(placed()) == 10_000, 120)
        before, resources = placed(), used()
        daemon.restart(signal.SIGKILL)
        client = ready(daemon, 60)
        until("it runs again", lambda: scheduler(client)["state"] == "running", 60)
        check(used() == resources, used(), resources)
        until("all are placed", lambda: sum(schedule(client, f"web{number}")["placed"] for number in range(10)) == 10_000)
        check(placed() == before)


def test_what_is_refused_is_said_and_tried_again():  # rs R-122, rs R-131, F-53
    with hosted() as daemon:
        client = ready(daemon)
        node(client, "n1")
        change(client, "deployment", "create", "lost", replicas=1, partition="nowhere")
        until("it is rejected", lambda: schedule(client, "lost").get("state") == "Rejected")
        check("nowhere" in schedule(client, "lost")["message"], schedule(client, "lost"))
        partition = "  - {name: %s, queues: [{name: root, submitacl: '*', queues: [{name: default}]}], placementrules: [{name: fixed, value: root.default}]}\n"
        client.change("UpdateConfiguration", {"rmID": "mcs", "config": "partitions:\n" + partition % "default" + partition % "nowhere"})
        until("it is accepted at once", lambda: schedule(client, "lost").get("state") == "Scheduling")
        until("it is logged", lambda: "1 deployment that the core refused asked for again" in daemon.text())
        node(client, "n2", partition="nowhere")
        comes_to(client, "lost", 1)
        client.refused("E_FORBIDDEN", "RegisterResourceManager", {"rmID": "mcs"}, mutating=True)
        client.refused("E_NOT_FOUND", "McsWrite", {"verb": "drain", "kind": "node", "id": "nobody"}, mutating=True)
        client.refused("E_MISSING_FIELD", "McsWrite", {"verb": "create", "kind": "node", "id": "n3"}, mutating=True)
        client.refused("E_INVALID", "McsWrite", {"verb": "paint", "kind": "node", "id": "n1"}, mutating=True)


def test_a_queue_that_goes_and_comes_back():  # rs R-131, F-55
    queues = lambda names: client.change("UpdateConfiguration", {"rmID": "mcs", "config": (
        "partitions:\n  - {name: default, placementrules: [{name: provided, create: false}], "
        f"queues: [{{name: root, submitacl: '*', queues: [{', '.join('{name: %s}' % name for name in names)}]}}]}}\n")})
    with hosted() as daemon:
        client = ready(daemon)
        node(client, "n1")
        queues(["a", "b"])
        change(client, "deployment", "create", "web", replicas=2, queue="root.a")
        comes_to(client, "web", 2)
        before = places(client, "web")
        queues(["b"])
        change(client, "deployment", "create", "api", replicas=1, queue="root.a")
        until("it is rejected", lambda: schedule(client, "api").get("state") == "Rejected")
        check("root.a" in schedule(client, "api")["message"], schedule(client, "api"))
        check(places(client, "web") == before, "what runs goes on", places(client, "web"), before)
        change(client, "deployment", "create", "other", replicas=1, queue="root.b")
        comes_to(client, "other", 1)
        queues(["a", "b"])
        comes_to(client, "api", 1)
        check(places(client, "web") == before, "what runs goes on", places(client, "web"), before)


def test_of_two_daemons_one_places():  # rs R-139, rs R-140, F-39
    with hosted() as one:
        where = f"mcs: {{enabled: true, db: {{url: 'sqlite:{one.folder}/mcs.db'}}}}\n"
        client = ready(one)
        node(client, "n1")
        change(client, "deployment", "create", "web", replicas=3)
        comes_to(client, "web", 3)
        with hosted(where) as two:
            other = two.client()
            until("the other has filled its caches",
                  lambda: other.get("McsRead", {"what": "status"})["state"] == "running")
            until("the other has read it", lambda: schedule(other, "web").get("placed") == 3)
            check(scheduler(other)["state"] == "new", scheduler(other))
            before = places(client, "web")
            one.end(signal.SIGTERM)
            until("the other places", lambda: scheduler(other)["state"] == "running", 10)
            comes_to(other, "web", 3)
            check(places(other, "web") == before)
            change(other, "deployment", "scale", "web", replicas=4)
            comes_to(other, "web", 4)


def test_an_administrator_may_take_its_registration_away():  # rs R-104, rs R-124
    with hosted() as daemon:
        client = ready(daemon)
        node(client, "n1")
        change(client, "deployment", "create", "web", replicas=2)
        comes_to(client, "web", 2)
        before = places(client, "web")
        client.change("UnregisterResourceManager", {"rmID": "mcs", "force": True, "impersonate": True})
        until("it is back", lambda: scheduler(client)["state"] == "running" and len(in_core(client)) == 1, 10)
        check(places(client, "web") == before)
        client.change("UpdateApplication", {"rmID": "mcs", "impersonate": True, "remove": [
            {"applicationID": in_core(client)[0]["applicationID"], "partitionName": "default"}]})
        until("all of it runs anew, in its application", lambda: len(in_core(client)) == 1
              and len(places(client, "web")) == 2 and not places(client, "web").keys() & before.keys())


def test_what_the_core_has_is_compared_with_the_rows():  # rs R-104
    with hosted("mcs: {enabled: true, scheduler: {reconcilePeriod: 1s}}\n") as daemon:
        client = ready(daemon)
        change(client, "deployment", "create", "web", replicas=2)
        until("its replicas wait", lambda: len(in_core(client, "asks")) == 2)
        application = in_core(client)[0]["applicationID"]
        client.change("UpdateApplication", {"rmID": "mcs", "impersonate": True, "remove": [
            {"applicationID": application, "partitionName": "default"}]})
        until("what nobody asks for is missed, too", lambda: [one["applicationID"] for one in in_core(client)] == [application]
              and len(in_core(client, "asks")) == 2)
        node(client, "n1")
        comes_to(client, "web", 2)


def test_nobody_adds_to_what_follows_the_database():  # rs R-122
    with hosted() as daemon:
        client = ready(daemon)
        node(client, "n1")
        change(client, "deployment", "create", "web", replicas=2)
        comes_to(client, "web", 2)
        here, application = {"nodeID": "n1"}, in_core(client)[0]["applicationID"]
        for kind, what in (("UpdateNode", {"nodes": [here | {"action": 3}]}),
                           ("UpdateNode", {"nodes": [{"nodeID": "n2", "action": 1, "schedulableResource": {"vcore": 1}}]}),
                           ("UpdateApplication", {"new": [{"applicationID": "app", "queueName": "root.a", "partitionName": "default", "ugi": {"user": "u"}}]}),
                           ("UpdateAllocation", {"asks": [{"applicationID": application, "allocationKey": "k", "partitionName": "default",
                                                           "resourceAsk": {"vcore": 1}, "maxAllocations": 1}]})):
            client.refused("E_FORBIDDEN", kind, what | {"rmID": "mcs", "impersonate": True}, mutating=True)
        check(len(in_core(client)) == 1 and len(in_core(client, "nodes")) == 1)


if __name__ == "__main__":
    main(globals())
