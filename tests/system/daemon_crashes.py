# SPDX-License-Identifier: Apache-2.0
"""A ykd that is killed just before a write of its database, wherever that is: in the start, a create, a placement. The next
one has all that was answered, nothing twice and no orphan. (At each fault point instead of at some writes: the unit test
of rs R-148.)"""
import sqlite3

from daemon_support import *
from daemon_support.crashing_disk import compiled
from daemon_support.deployments import in_core

HOSTED = ("--state", "@.", "--settings", "@conf")
CRASHES = [int(one) for one in os.environ.get("YK_CRASH_AT", "1,60,120,150,190,240").split(",")]
STEPS = [("create", "web", 3), ("create", "api", 2), ("scale", "web", 5), ("scale", "web", 1), ("delete", "api", None)]


def status(client):
    return client.get("McsRead", {"what": "status"})


def ready(daemon):
    client = daemon.client()
    until("MCS places", lambda: status(client).get("scheduler", {}).get("state") == "running")
    return client


def described(client):
    page = client.get("McsRead", {"what": "list", "kind": "deployment", "limit": 100})
    return {item["name"]: item for item in page["items"]}


def wanted(client):
    return {name: item["replicas"] for name, item in described(client).items()}


def is_settled(client):
    return all(item.get("schedule", {}).get("state") == "Scheduled" and item["schedule"]["placed"] == item["replicas"]
               for item in described(client).values())


def do(client, verb, name, replicas):
    body = {} if replicas is None else {"replicas": replicas}
    if verb == "create":
        body.update({"name": name, "user": "u", "resource": {"vcore": 1000}})
    client.change("McsWrite", {"verb": verb, "kind": "deployment", "body": body, **({} if verb == "create" else {"id": name})})


def after(states, verb, name, replicas):
    states = dict(states)
    if replicas is None:
        del states[name]
    else:
        states[name] = replicas
    return states


def live(daemon, answered):
    """Until it is killed; what was answered goes into `answered`."""
    client = ready(daemon)
    client.change("McsWrite", {"verb": "create", "kind": "node", "id": "n1", "body": {"resource": {"vcore": 8000}}})
    for step in STEPS:
        do(client, *step)
        answered.append(after(answered[-1], *step))
        until("it is placed", lambda: is_settled(client))


def look_after(daemon, before, perhaps):
    client = ready(daemon)
    check(wanted(client) in (before, perhaps), "there is", wanted(client), "after", before)
    if not client.get("McsRead", {"what": "list", "kind": "node"})["items"]:
        client.change("McsWrite", {"verb": "create", "kind": "node", "id": "n1", "body": {"resource": {"vcore": 8000}}})
    do(client, "create", "last", 1)
    until("all is placed", lambda: is_settled(client))
    with sqlite3.connect(daemon.folder + "/mcs.db") as database:
        one = lambda sql: [row[0] for row in database.execute(sql)]
        check(one("PRAGMA integrity_check") == ["ok"])
        keys = lambda: one("SELECT allocation_key FROM placement WHERE state = 'Placed' ORDER BY 1")
        until("the core has what the rows have", lambda: in_core(client) == keys())
        for child in ("deployment_scale", "deployment_schedule"):
            until(f"no {child} is an orphan", lambda child=child: one(
                f"SELECT count(*) FROM {child} WHERE owner_uid NOT IN (SELECT uid FROM deployment)") == [0])
        check(len(keys()) == sum(wanted(client).values()), keys(), wanted(client))


def test_a_kill_at_any_write_of_the_database_leaves_nothing_half_done():  # rs R-148, rs R-027, F-10, F-11, F-12
    with Daemon(wait=False) as scratch:
        library = scratch.folder + "/crashing.so"
        if not compiled(library):
            return print("skipped: there is no C compiler")
        for crash in CRASHES:
            with Daemon(*HOSTED, files={"conf": "mcs: {enabled: true}\n"}, wait=False,
                        env={"LD_PRELOAD": library, "CRASH_AT": str(crash)}) as daemon:
                answered = [{}]
                try:
                    until("it is ready, or has ended", lambda: "is ready" in daemon.text() or daemon.process.poll() is not None)
                    live(daemon, answered)
                except (OSError, EOFError, AssertionError):
                    until("it was killed", lambda: daemon.process.poll() is not None, 2)
                check(daemon.process.poll() == -signal.SIGKILL, crash, "ended by", daemon.process.poll())
                daemon.env.pop("LD_PRELOAD")
                daemon.start()
                done = len(answered) - 1
                perhaps = after(answered[-1], *STEPS[done]) if done < len(STEPS) else answered[-1]
                look_after(daemon, answered[-1], perhaps)
                print(f"killed at write {crash}, after {done} of {len(STEPS)} steps")


main(globals())
