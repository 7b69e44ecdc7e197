# SPDX-License-Identifier: Apache-2.0
"""A copy of the database that is put back into its file while the daemon uses it."""
import contextlib
import sqlite3

from daemon_support import *
from daemon_support.deployments import change, in_core

ON = "mcs: {enabled: true, autoscaler: {reconcilePeriod: 2s}, scheduler: {reconcilePeriod: 2s}}\n"


def hosted():
    return Daemon("--state", "@.", "--settings", "@conf", files={"conf": ON})


def ready(daemon):
    client = daemon.client()
    until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
    return client


def rows(path):
    """The Deployments as somebody with a shell reads them, by name."""
    with contextlib.closing(sqlite3.connect(path, timeout=20)) as base:
        return {name: tuple(row) for name, *row in base.execute("SELECT name, uid, version, replicas FROM deployment")}


def listed(client):
    """The same, out of the memory of the daemon."""
    items = client.get("McsRead", {"what": "list", "kind": "deployment", "limit": 1000})["items"]
    return {one["name"]: (one["uid"], one["version"], one["replicas"]) for one in items}


def placed(client, name):
    """The allocation keys of its replicas that have a node; none of a Deployment that is not known yet."""
    reply = client.ask("McsRead", {"what": "describe", "kind": "deployment", "id": name})
    placements = reply["body"]["item"].get("schedule", {}).get("placements", []) if reply["ok"] else []
    return sorted(one["allocationKey"] for one in placements if one["state"] == "Placed")


def comes_to(client, wanted):
    """So many replicas of each are placed, and just these run."""
    def is_so():
        keys = {name: placed(client, name) for name in wanted}
        return ({name: len(of) for name, of in keys.items()} == wanted
                and in_core(client) == sorted(key for of in keys.values() for key in of))
    until(f"what runs is {wanted}", is_so, 60)


def relists(client):
    """How often all rows were read anew, and not because it was time for it."""
    text = client.get("Metrics", {"prefix": "mcs_relists"})["text"]
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines() if not line.startswith("#"))


def test_a_copy_that_is_put_back_while_the_daemon_runs():  # rs R-032, F-30
    with hosted() as daemon:
        client = ready(daemon)
        path = daemon.folder + "/mcs.db"
        change(client, "node", "create", "n1", resource={"vcore": 100_000})
        change(client, "deployment", "create", "web", replicas=3)
        change(client, "deployment", "create", "old", replicas=2)
        comes_to(client, {"web": 3, "old": 2})
        wanted = rows(path)
        check(listed(client) == wanted, listed(client), wanted)
        with contextlib.closing(sqlite3.connect(path, timeout=20)) as live, \
                contextlib.closing(sqlite3.connect(path + ".copy")) as copy:
            live.backup(copy)
            change(client, "deployment", "scale", "web", replicas=6)
            change(client, "deployment", "delete", "old")
            for number in range(10):  # so many that the log of the copy does not reach what was read before it is looked at
                change(client, "deployment", "create", f"new{number}", replicas=1)
            comes_to(client, {"web": 6, **{f"new{number}": 1 for number in range(10)}})
            check(relists(client) == 0)
            copy.backup(live)
        check(rows(path) == wanted, "the copy is back", rows(path), wanted)
        until("it is noticed", lambda: relists(client) > 0)
        until("the caches are the rows", lambda: listed(client) == wanted)
        comes_to(client, {"web": 3, "old": 2})  # what was made since then is released
        check(rows(path) == wanted, "nobody writes Deployments but users", rows(path), wanted)
        change(client, "deployment", "scale", "web", replicas=4)  # and all goes on
        comes_to(client, {"web": 4, "old": 2})
        with contextlib.closing(sqlite3.connect(path, timeout=20)) as base:
            check(base.execute("PRAGMA integrity_check").fetchone()[0] == "ok")


main(globals())
