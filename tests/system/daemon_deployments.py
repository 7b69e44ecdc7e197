# SPDX-License-Identifier: Apache-2.0
"""Deployments, kept in the database of ykd: created, scaled, deleted, over any end of the daemon."""
import json
import sqlite3
import stat

from daemon_support import *
from daemon_support.failing_disk import compiled

ON = "mcs: {enabled: true}\n"
HOSTED = ("--state", "@.", "--settings", "@conf")


def hosted(settings=ON, **more):
    return Daemon(*HOSTED, files={"conf": settings}, **more)


def is_running(client):
    return client.get("McsRead", {"what": "status"})["state"] == "running"


def ready(daemon, **hello):
    """A client of a daemon whose caches are filled."""
    client = daemon.client(**hello)
    until("MCS runs", lambda: is_running(client))
    return client


def write(verb, name="", replicas=None, **more):
    body = {"name": name, "user": "u", "resource": {"vcore": 1000}} if verb == "create" else {}
    if replicas is not None:
        body["replicas"] = replicas
    body.update(more.pop("body", {}))
    return {"verb": verb, "kind": "deployment", "body": body, **({} if verb == "create" else {"id": name}), **more}


def create(client, name, replicas=1, **body):
    return client.change("McsWrite", write("create", name, replicas, body=body))


def scale(client, name, replicas, **more):
    return client.change("McsWrite", write("scale", name, replicas, **more))


def delete(client, name, **body):
    return client.change("McsWrite", write("delete", name, body=body))


def listed_all(client, limit=1000):
    items, cursor = [], ""
    while True:
        page = client.get("McsRead", {"what": "list", "kind": "deployment", "limit": limit, "cursor": cursor})
        items += page["items"]
        cursor = page.get("cursor", "")
        if not cursor:
            return items


def desired(client):
    return {item["name"]: item.get("scale", {}).get("desired") for item in listed_all(client)}


def comes_to(client, wanted):
    until(f"the scales are {wanted}", lambda: desired(client) == wanted)


def test_what_is_written_is_seen_and_scaled():  # rs R-157, rs R-158, rs R-107, rs R-091, rs R-019
    with hosted() as daemon:
        client = ready(daemon)
        check(listed_all(client) == [])
        made = create(client, "web", 3, queue="root.a", tags={"team": "a"}, groups=["g"], priority=7)
        check(len(made["id"]) == 26 and made["name"] == "web" and made["version"] == 1, made)
        item = listed_all(client)[0]  # at once: it is seen when it is answered
        check(item["uid"] == made["uid"] and item["replicas"] == 3 and item["queue"] == "root.a", item)
        comes_to(client, {"web": 3})
        whole = client.get("McsRead", {"what": "describe", "kind": "deployment", "id": made["id"]})["item"]
        check(whole["tags"] == {"team": "a"} and whole["resource"] == {"vcore": 1000} and whole["priority"] == 7, whole)
        check(whole["scale"]["reason"] == "ManualReplicas" and whole["deleteMode"] == "cascade", whole)
        check([one["type"] for one in whole["scale"]["conditions"]][:1] == ["AbleToScale"], whole["scale"])
        check(scale(client, "web", 5)["version"] == 2)
        comes_to(client, {"web": 5})
        create(client, "api", 2)
        comes_to(client, {"api": 2, "web": 5})
        check([item["name"] for item in listed_all(client, limit=1)] == ["api", "web"], "pages, by name")
        delete(client, made["id"])
        comes_to(client, {"api": 2})
        check(stat.S_IMODE(os.stat(daemon.folder + "/mcs.db").st_mode) == 0o600)
        sizes = lambda: {one["kind"]: one["size"] for one in client.get("McsRead", {"what": "status"})["kinds"]}
        until("the scale has gone, too", lambda: sizes() == {
            "deployment": 1, "deploymentscale": 1, "deploymentschedule": 1, "node": 0})
        status = client.get("McsRead", {"what": "status"})
        check(all(one["synced"] for one in status["kinds"]), status)
        check(all(one["leads"] for one in status["services"]), status["services"])


def test_who_may_and_what_is_refused():  # rs R-157, rs R-159, rs R-012, rs R-019
    with hosted(ON.replace("}", ", maxDeployments: 3, maxReplicas: 100, maxDeploymentSize: 2KiB}")) as daemon:
        client = ready(daemon)
        refused = lambda name, request: client.refused(name, "McsWrite", request, mutating=True)
        create(client, "web", 3)
        check("name web" in refused("E_BAD_STATE", write("create", "web"))["message"])
        check(refused("E_BAD_STATE", write("create", "other", id=listed_all(client)[0]["id"]))["details"]["conflict"] == "exists")
        check(scale(client, "web", 4, version=1)["version"] == 2)
        busy = refused("E_BUSY", write("scale", "web", 5, version=7))  # of a later state, which is not known here: it is not written over
        check("has not come here yet" in busy["message"], busy)
        client.seq -= 1  # it has not used its number up
        err = refused("E_BAD_STATE", write("scale", "web", 4, version=1))
        check(err["details"] == {"conflict": "row changed", "version": 2}, err)
        for wrong, path in (({"name": ""}, "body.name"), ({"name": "x" * 201}, "body.name"), ({"user": ""}, "body.user"),
                            ({"resource": {}}, "body.resource"), ({"resource": {"vcore": -1}}, "body.resource"),
                            ({"replicas": 101}, "body.replicas"), ({"deleteMode": "all"}, "body.deleteMode"),
                            ({"tags": {"k": "v" * 3000}}, "body")):
            request = write("create", "b", body=wrong)
            client.seq += 1
            reply = client.ask("McsWrite", request, seq=client.seq)
            check(not reply["ok"] and reply["err"]["path"] == path, wrong, reply)
        check(refused("E_INVALID", write("scale", "web", 101))["path"] == "body.replicas")
        refused("E_MISSING_FIELD", write("scale", "web"))
        refused("E_NOT_FOUND", write("scale", "nobody", 1))
        refused("E_NOT_FOUND", write("delete", "nobody"))
        refused("E_INVALID", {"verb": "paint", "kind": "deployment"})
        refused("E_MISSING_FIELD", {"verb": "create", "kind": "node"})
        refused("E_INVALID", {"verb": "create", "kind": "pod"})
        client.refused("E_INVALID", "McsRead", {"what": "all"})
        client.refused("E_INVALID", "McsRead", {"what": "list", "kind": "deployment", "limit": 1001})
        client.refused("E_NOT_FOUND", "McsRead", {"what": "describe", "kind": "deployment", "id": "nobody"})
        create(client, "two")
        create(client, "three")
        check("mcs.maxDeployments" in refused("E_LIMIT", write("create", "four"))["message"])
        delete(client, "two")
        client.change("McsWrite", write("create", "secret", 0, body={"tags": {"env.PASSWORD": "hidden", "team": "red"}}))
        for role, may in (("observer", False), ("rm", False), ("admin", True)):
            other = daemon.client(role=role)
            check(len(listed_all(other)) == 3)
            shown = other.get("McsRead", {"what": "describe", "kind": "deployment", "id": "secret"})["item"]["tags"]
            check(shown == {"env.PASSWORD": "hidden" if may else "***", "team": "red"}, role, shown)
            if not may:
                other.refused("E_FORBIDDEN", "McsWrite", write("delete", "web"), mutating=True)
        check(set(desired(client)) == {"secret", "three", "web"})


def test_metrics_decide_where_they_are_to():  # rs R-107, rs R-110, rs R-112, rs R-115, rs R-116, rs R-119
    with hosted(ON.replace("}", ", autoscaler: {period: 1s}}")) as daemon:
        client = ready(daemon)
        policy = {"metrics": [{"name": "load", "target": 70_000, "type": "average"}], "down": {"windowSeconds": 0}}
        create(client, "web", None, minReplicas=2, maxReplicas=12, policy=json.dumps(policy))
        comes_to(client, {"web": 2})
        push = lambda name, value, **more: client.change("McsWrite", write(
            "metric", "web", body={"metric": {"name": name, "value": value, **more}}))
        push("load", 490_000)
        comes_to(client, {"web": 6})  # 7 are wanted: four more in 15 s, or twice as many
        scale(client, "web", 9)
        comes_to(client, {"web": 9})
        client.change("McsWrite", write("pause", "web"))
        client.change("McsWrite", write("autoscale", "web"))
        push("load", 210_000)
        until("it was seen", lambda: listed_all(client)[0]["scale"]["observedGeneration"] == listed_all(client)[0]["generation"])
        check(desired(client) == {"web": 9} and listed_all(client)[0]["paused"], "a paused one stays")
        client.change("McsWrite", write("resume", "web"))
        comes_to(client, {"web": 3})
        check(listed_all(client)[0]["scale"]["reason"].endswith(": load"), listed_all(client))
        refused = lambda name, body: client.refused(name, "McsWrite", write("metric", "web", body=body), mutating=True)
        refused("E_MISSING_FIELD", {})
        check(refused("E_INVALID", {"metric": {"name": "weight", "value": 1}})["path"] == "body.metric.name")
        check(refused("E_INVALID", {"metric": {"name": "load", "value": -1}})["path"] == "body.metric.value")
        check(refused("E_INVALID", {"metric": {"name": "load", "value": 1, "replica": 2**63}})["path"] == "body.metric.replica")
        for verb in ("set", "autoscale", "pause", "resume", "metric"):
            client.refused("E_NOT_FOUND", "McsWrite", write(verb, "nobody", body={"metric": {"name": "m", "value": 1}}), mutating=True)


def metrics(client):
    text, cursor = "", ""
    while True:
        page = client.get("Metrics", {"prefix": "mcs_", "cursor": cursor})
        text += page["text"]
        cursor = page.get("cursor", "")
        if not cursor:
            return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


def test_numbers_are_in_the_metrics():  # rs R-152
    with hosted() as daemon:
        client = ready(daemon)
        create(client, "web", 3)
        client.change("McsWrite", {"verb": "create", "kind": "node", "id": "n1", "body": {"resource": {"vcore": 2000}}})
        until("two run", lambda: metrics(client)["mcs_replicas_placed"] == "2")
        seen = metrics(client)
        for name, value in (("mcs_running", "1"), ("mcs_db_up", "1"), ("mcs_transport_up", "1"), ("mcs_staleness_seconds", "0"),
                            ("mcs_replicas_desired", "3"), ("mcs_replicas_pending", "1"), ('mcs_deployments{state="Scheduling"}', "1"),
                            ('mcs_cache_size{kind="deployment"}', "1"), ('mcs_cache_synced{kind="node"}', "1"),
                            ('mcs_lease_held{name="autoscaler"}', "1"), ('mcs_resync_repairs_total{kind="deployment"}', "0"),
                            ('mcs_dead_letters{kind="deployment",handler="autoscaler"}', "0")):
            check(seen[name] == value, name, seen)
        check(int(seen["mcs_events_total"]) >= 3 and int(seen['mcs_handler_calls_total{kind="deployment",handler="autoscaler"}']) >= 1, seen)
        check(int(seen['mcs_reconcile_total{kind="deploymentschedule",result="added"}']) == 1, seen)
        for name in ('mcs_lease_lost_total{name="autoscaler"}', 'mcs_lease_lost_total{name="purge"}', "mcs_autoscaler_overwritten_total",
                     "mcs_metric_pages_total", "mcs_metric_page_failures_total", 'mcs_queue_oldest_seconds{kind="node"}'):
            check(float(seen[name]) == 0, name, seen)
        check(int(seen['mcs_autoscaler_decisions_total{direction="up",reason="ManualReplicas"}']) >= 1, seen)
        check(int(seen["mcs_writer_batch_size_sum"]) >= int(seen["mcs_writer_batch_size_count"]) >= 3, seen)
        until("the log was looked at", lambda: int(metrics(client).get("mcs_log_rows", -1)) >= 0)
    with Daemon("--state", "@.") as daemon:
        check(not metrics(daemon.client()), "none where there is no MCS")


def test_without_the_setting_there_is_none():  # rs R-161
    with Daemon("--state", "@.") as daemon:
        client = daemon.client()
        check("mcs: {enabled: true}" in client.refused("E_BAD_STATE", "McsRead", {"what": "status"})["message"])
        client.refused("E_BAD_STATE", "McsWrite", write("create", "web"), mutating=True)
        check(not os.path.exists(daemon.folder + "/mcs.db") and "mcs" not in threads(daemon))
    with Daemon("--settings", "@conf", files={"conf": ON}, wait=False) as daemon:
        check(daemon.exit_code() == 1 and "a state directory is needed" in daemon.text(), daemon.text())


def threads(daemon):
    folder = f"/proc/{daemon.process.pid}/task"
    return {open(f"{folder}/{one}/comm", encoding="utf-8").read().strip() for one in os.listdir(folder)}


def test_any_end_loses_nothing_that_was_answered():  # rs R-027, rs R-064, rs R-068, rs R-069, F-02, F-11
    with hosted() as daemon:
        wanted = {}
        for run, number in enumerate((signal.SIGTERM, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGKILL)):
            client = ready(daemon)
            for at in range(20):
                create(client, f"d{run}-{at}", at)
                wanted[f"d{run}-{at}"] = at
            scale(client, f"d{run}-0", 9)
            wanted[f"d{run}-0"] = 9
            delete(client, f"d{run}-1")
            del wanted[f"d{run}-1"]
            client.seq += 1  # and one that nobody waits for
            client.send("McsWrite", write("create", f"unclear{run}", 1), seq=client.seq)
            daemon.restart(number)
            client = ready(daemon)
            found = desired(client)
            wanted.update({name: 1 for name in found if name.startswith("unclear")})
            check(set(found) == set(wanted), set(found) ^ set(wanted))
            comes_to(client, wanted)
        with sqlite3.connect(daemon.folder + "/mcs.db") as database:
            check(database.execute("PRAGMA integrity_check").fetchone()[0] == "ok")
            rows, scales = (database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                            for table in ("deployment", "deployment_scale"))
            check(rows == scales == len(wanted), rows, scales, len(wanted))


def test_children_that_are_to_stay_are_scaled_and_deleted_as_others():  # rs R-008, rs R-127
    with hosted() as daemon:
        client = ready(daemon)
        client.change("McsWrite", {"verb": "create", "kind": "node", "id": "n1", "body": {"resource": {"vcore": 10_000}}})
        create(client, "web", 2, deleteMode="owners")
        until("all run", lambda: metrics(client)["mcs_replicas_placed"] == "2")
        client.change("McsWrite", {"verb": "set", "kind": "deployment", "id": "web", "body": {"deleteMode": "orphan"}})
        scale(client, "web", 5)
        until("so many run", lambda: metrics(client)["mcs_replicas_placed"] == "5", 20)  # the reconciler looks once a minute
        client.change("McsWrite", {"verb": "set", "kind": "deployment", "id": "web", "body": {"deleteMode": "owners"}})
        delete(client, "web")
        until("none runs", lambda: metrics(client)["mcs_replicas_placed"] == "0", 20)
        with sqlite3.connect(daemon.folder + "/mcs.db") as database:
            left = lambda: [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("deployment_scale", "deployment_schedule")]
            until("no row is left", lambda: left() == [0, 0], 20)


def test_what_others_did_to_the_rows_is_followed():  # rs R-007, rs R-101, rs R-104, F-01, F-44
    with hosted() as daemon:
        client = ready(daemon)
        client.change("McsWrite", {"verb": "create", "kind": "node", "id": "n1", "body": {"resource": {"vcore": 10_000}}})
        web = create(client, "web", 3, deleteMode="owners")["id"]
        api = create(client, "api", 2)["id"]
        comes_to(client, {"api": 2, "web": 3})
        until("all run", lambda: metrics(client)["mcs_replicas_placed"] == "5")
        with sqlite3.connect(daemon.folder + "/mcs.db") as database:
            uids = lambda: dict(database.execute("SELECT d.name, s.uid FROM deployment d JOIN deployment_scale s USING (id)"))
            before = uids()
            database.execute("DELETE FROM deployment_scale WHERE id = (SELECT id FROM deployment WHERE name = 'api')")
            database.commit()
            until("it is made again", lambda: uids().get("api") not in (None, before["api"]))
            check(uids()["web"] == before["web"])
            comes_to(client, {"api": 2, "web": 3})
            daemon.end(signal.SIGTERM)
            database.execute("DELETE FROM deployment WHERE name = 'web'")  # its children stay, without an owner
            database.commit()
            counts = lambda name: [database.execute(f"SELECT count(*) FROM {table} WHERE {column} = ?", (name,)).fetchone()[0] for
                                   table, column in (("deployment_scale", "id"), ("deployment_schedule", "id"), ("placement", "schedule_id"))]
            check((counts(web), counts(api)) == ([1, 1, 3], [1, 1, 2]), counts(web), counts(api))
            daemon.start()
            client = ready(daemon)  # its caches are filled: from now on it has 5 s

            def applications():
                reply = client.ask("Dump", {"what": "apps", "rmID": "mcs"})
                return [one["applicationID"] for one in reply["body"]["data"]] if reply["ok"] else []  # it may register first

            is_of_api = lambda: [one.startswith(f"mcs-{api}-") for one in applications()] == [True]
            until("the orphans go, in the core, too", lambda: counts(web) == [0, 0, 0] and is_of_api(), 5)
            comes_to(client, {"api": 2})
            check(counts(api) == [1, 1, 2], counts(api))


def test_what_cannot_be_done_is_shown_and_tried_again():  # rs R-086, rs R-087, rs R-093, rs R-157
    with hosted() as daemon:
        client = ready(daemon)
        letters = lambda: client.get("McsRead", {"what": "dead-letters"})["items"]
        operate = lambda verb, kind, name="": client.change("McsWrite", {"verb": verb, "kind": kind, "id": name})
        base = sqlite3.connect(daemon.folder + "/mcs.db", timeout=20, isolation_level=None)
        base.execute("CREATE TRIGGER refuses BEFORE INSERT ON deployment_scale WHEN NEW.id LIKE 'bad%'"
                     " BEGIN SELECT RAISE(ABORT, 'not this one'); END")
        for name in ("good", "bad", "bad2"):
            client.change("McsWrite", write("create", name, 2, id=name))
        until("there are two", lambda: len(letters()) == 2)
        first = letters()[0]
        check((first["kind"], first["id"], first["handler"]) == ("deployment", "bad", "autoscaler"), first)
        check("not this one" in first["error"] and first["firstMs"] <= first["lastMs"] <= time.time() * 1000 + 1000, first)
        page = client.get("McsRead", {"what": "dead-letters", "limit": 1})
        check([one["id"] for one in page["items"]] == ["bad"] and page["cursor"], page)
        page = client.get("McsRead", {"what": "dead-letters", "limit": 1, "cursor": page["cursor"]})
        check([one["id"] for one in page["items"]] == ["bad2"] and "cursor" not in page, page)
        for wrong in ("x", "[1,2,3]", '["pod","a","b"]', "[]"):
            client.refused("E_INVALID", "McsRead", {"what": "dead-letters", "cursor": wrong})
        check(desired(client)["good"] == 2)
        degraded = lambda: str(client.get("Status", {}).get("degraded"))
        check("ykctl mcs dead-letters" in degraded(), degraded())
        base.execute("DROP TRIGGER refuses")
        check(operate("retry", "deployment", "bad")["count"] == 1)
        until("one is left", lambda: [one["id"] for one in letters()] == ["bad2"])
        check(operate("retry", "node")["count"] == 0)
        check(operate("retry", "all")["count"] == 1)
        until("none is left", lambda: not letters())
        comes_to(client, {"bad": 2, "bad2": 2, "good": 2})
        until("nothing is degraded", lambda: "dead-letters" not in degraded())
        operate("resync", "all")
        operate("reconcile", "deploymentscale", "good")
        refused = lambda name, body: client.refused(name, "McsWrite", body, mutating=True)
        refused("E_INVALID", {"verb": "resync", "kind": "pod"})
        refused("E_INVALID", {"verb": "reconcile", "kind": "all", "id": "good"})
        refused("E_MISSING_FIELD", {"verb": "reconcile", "kind": "node"})


def is_read_behind_writes(reader, writer):
    """What one daemon has written is read at another one, by whoever names its position."""
    behind = lambda what, position, **more: {"what": what, "kind": "deployment", "id": "behind",
                                             "minPosition": position, **more}
    position = create(writer, "behind", 0)["position"]
    items = reader.get("McsRead", behind("list", position))["items"]
    check("behind" in [item["name"] for item in items], items)
    for number in range(1, 30):
        position = scale(writer, "behind", number)["position"]
        check(reader.get("McsRead", behind("describe", position))["item"]["replicas"] == number)
    fault = reader.refused("E_INVALID", "McsRead", behind("list", "yesterday"))
    check(fault["path"] == "minPosition", fault)
    sequence, epoch = position.split("@")
    transaction, number = sequence.split(".")
    later = f"{transaction}.{int(number) + 1000}@{epoch}"
    reader.refused("E_BUSY", "McsRead", behind("list", later, waitMs=50))


def test_a_database_is_used_by_those_who_agree():  # rs R-028, rs R-145, rs R-139, rs R-144, rs R-140, F-39
    with hosted() as one:
        where = f"mcs: {{enabled: true, db: {{url: 'sqlite:{one.folder}/mcs.db'}}, lease: {{enabled: false}}}}\n"
        with Daemon(*HOSTED, files={"conf": where}, wait=False) as alone:
            check(alone.exit_code() == 1, alone.text())
            check(f"in use by process {one.process.pid}" in alone.text(), alone.text())
        client = ready(one)
        create(client, "web", 3)
        comes_to(client, {"web": 3})
        with hosted(where.replace(", lease: {enabled: false}", "")) as standby:
            other = ready(standby)
            leads = lambda of: [service["leads"] for service in of.get("McsRead", {"what": "status"})["services"]]
            comes_to(other, {"web": 3})
            check(leads(client) == [True] * 3 and leads(other) == [False] * 3)
            create(other, "api", 2)  # users may write at each
            is_read_behind_writes(client, other)
            delete(client, "behind")
            comes_to(client, {"api": 2, "web": 3})
            one.end(signal.SIGTERM)  # it gives its leases up
            until("the other leads", lambda: leads(other) == [True] * 3, 10)
            scale(other, "web", 4)
            comes_to(other, {"api": 2, "web": 4})
    with Daemon(*HOSTED, files={"conf": ON.replace("}", ", lease: {enabled: false}}")}) as alone:
        client = ready(alone)
        create(client, "web", 3)
        comes_to(client, {"web": 3})
        with Daemon("--state", alone.folder, wait=False) as second:
            check(second.exit_code() == 1 and alone.folder in second.text(), second.text())


def test_a_killed_leader_is_followed():  # rs R-139, rs R-142, rs R-141
    with hosted("mcs: {enabled: true, lease: {ttl: 2s}}\n") as one:
        where = f"mcs: {{enabled: true, lease: {{ttl: 2s}}, db: {{url: 'sqlite:{one.folder}/mcs.db'}}}}\n"
        client = ready(one)
        create(client, "web", 3)
        comes_to(client, {"web": 3})
        with hosted(where) as other:
            second = ready(other)
            one.end(signal.SIGKILL)
            create(second, "api", 2)
            comes_to(second, {"api": 2, "web": 3})  # once the lease has run out


def test_a_database_that_cannot_be_used_costs_nobody_else_anything():  # rs R-020, rs R-154, F-33, F-52
    with hosted() as daemon:
        create(ready(daemon), "web", 3)
        daemon.end(signal.SIGTERM)
        with sqlite3.connect(daemon.folder + "/mcs.db") as database:
            database.execute("UPDATE mcs_meta SET value = '99' WHERE key = 'schema_version'")
            database.commit()
        daemon.start()
        client = daemon.client()
        until("it has failed", lambda: client.get("McsRead", {"what": "status"})["state"] == "failed")
        check("schema 99" in client.refused("E_BAD_STATE", "McsWrite", write("create", "api"), mutating=True)["message"])
        check(any("MCS has failed" in one for one in client.get("Status")["degraded"]))
        client.register()
        client.cluster()
        client.asks("k")
        daemon.end(signal.SIGTERM)
        for name in ("mcs.db-wal", "mcs.db-shm"):
            if os.path.exists(f"{daemon.folder}/{name}"):
                os.remove(f"{daemon.folder}/{name}")
        daemon.write("mcs.db", "this is no database at all, and longer than a page header: " + "x" * 4096)
        daemon.start()
        client = daemon.client()
        until("it has failed", lambda: client.get("McsRead", {"what": "status"})["state"] == "failed")
        check("not a database" in client.get("McsRead", {"what": "status"})["reason"])


def damage(path, first, header, page=4096):
    """Overwrites all pages from the first on, each of which has a header before it."""
    with open(path, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        for begin in range(first, size - page, header + page):
            file.seek(begin + header)
            file.write(b"\xa5" * page)


def is_damaged(text):
    return "malformed; stop ykd and put a copy back" in text or "file is not a database" in text


def test_a_database_that_is_damaged_while_it_is_used_stops_nothing_else():  # rs R-033, rs R-154, F-33
    with hosted() as daemon:
        client = ready(daemon)
        client.change("McsWrite", {"verb": "create", "kind": "node", "id": "n1", "body": {"resource": {"vcore": 100_000}}})
        for number in range(40):
            create(client, f"web{number}", 1)
        until("all run", lambda: metrics(client)["mcs_replicas_placed"] == "40")
        path = daemon.folder + "/mcs.db"
        database, copy = sqlite3.connect(path), sqlite3.connect(path + ".copy")
        database.backup(copy)
        database.execute("UPDATE node SET version = version + 1")  # by which pages that the daemon remembers count no longer
        database.commit()
        copy.close()
        database.close()
        damage(path, 4096, 0)
        damage(path + "-wal", 32, 24)
        client.change("McsWrite", {"verb": "resync", "kind": "all"})
        until("it is seen", lambda: any(is_damaged(one) for one in client.get("Status")["degraded"]))
        refused = client.refused("E_BAD_STATE", "McsWrite", write("create", "api"), mutating=True)["message"]
        check(is_damaged(refused), refused)
        check(len(listed_all(client)) == 40)  # what is known is shown, and runs
        check(metrics(client)["mcs_replicas_placed"] == "40")
        client.register()
        client.cluster()
        client.asks("k")
        daemon.end(signal.SIGTERM)
        for end in ("", "-wal", "-shm"):
            if os.path.exists(path + end):
                os.remove(path + end)
        os.rename(path + ".copy", path)
        daemon.start()
        client = ready(daemon)
        until("all run as before", lambda: metrics(client)["mcs_replicas_placed"] == "40")
        check(not any("MCS" in one for one in client.get("Status")["degraded"]))


def test_a_database_that_is_taken_away_while_it_is_used_takes_no_write():  # rs R-033, rs R-154, F-33
    with hosted() as daemon:
        client = ready(daemon)
        create(client, "web", 3)
        comes_to(client, {"web": 3})
        path = daemon.folder + "/mcs.db"
        ends = ("", "-wal", "-shm")
        for end in ends:
            os.rename(path + end, path + ".away" + end)
        client.seq += 1
        reply = client.ask("McsWrite", write("scale", "web", 4), seq=client.seq)
        check(not reply["ok"] and reply["err"]["name"] == "E_BUSY" and "mcs.db was removed, moved or replaced" in reply["err"]["message"], reply)
        until("it is said", lambda: any("mcs.db was removed" in one for one in client.get("Status")["degraded"]))
        check(client.get("Health")["Healthy"] is False or client.get("McsRead", {"what": "status"})["degraded"], "it is not healthy")
        check(desired(client) == {"web": 3}, "what is known is shown")
        sqlite3.connect(path).execute("CREATE TABLE other(x)")
        check(not client.ask("McsWrite", write("scale", "web", 4), seq=client.seq)["ok"], "it is written into another file")
        for end in ends:
            if os.path.exists(path + end):
                os.remove(path + end)
            os.rename(path + ".away" + end, path + end)
        until("the same request, sent again, is carried out", lambda: client.ask("McsWrite", write("scale", "web", 4), seq=client.seq)["ok"])
        comes_to(client, {"web": 4})
        until("all is well", lambda: not any("MCS" in one for one in client.get("Status").get("degraded", [])))
        daemon.restart(signal.SIGKILL)
        comes_to(ready(daemon), {"web": 4})


def test_a_row_that_nobody_understands_is_not_changed():  # rs R-071, F-46
    with hosted() as daemon:
        client = ready(daemon)
        create(client, "web", 3)
        client.change("McsWrite", {"verb": "create", "kind": "node", "id": "n1", "body": {"resource": {"vcore": 100_000}}})
        comes_to(client, {"web": 3})
        database = sqlite3.connect(daemon.folder + "/mcs.db", timeout=20, isolation_level=None)
        database.execute("UPDATE deployment SET resource = '{\"vcore\":-5}', version = version + 1")
        database.execute("UPDATE node SET capacity = '{\"vcore\":-3}', version = version + 1")

        def refusal(request):
            client.seq += 1
            reply = client.ask("McsWrite", request, seq=client.seq)
            if not reply["ok"] and reply["err"]["name"] == "E_BUSY":
                client.seq -= 1  # it has not used its number up
            return None if reply["ok"] else reply["err"]["message"]
        until("a change says why", lambda: "resource: the amount of vcore is less than 0" in (refusal(write("scale", "web", 2)) or ""))
        until("that of a node, too", lambda: "capacity: the amount of vcore is less than 0" in (refusal(
            {"verb": "drain", "kind": "node", "id": "n1", "body": {}}) or ""))
        database.execute("UPDATE deployment SET resource = '{\"vcore\":500}', version = version + 1")
        until("a row that was mended is changed", lambda: refusal(write("scale", "web", 2)) is None)
        comes_to(client, {"web": 2})


def test_a_disk_that_fails_delays_writes_and_loses_none():  # rs R-033, rs R-034, F-32
    with Daemon(wait=False) as scratch:
        library = scratch.folder + "/failing.so"
        if not compiled(library):
            return print("skipped: there is no C compiler")
        fails = scratch.folder + "/fails"
        with hosted(env={"LD_PRELOAD": library, "FAILING_DISK": fails}) as daemon:
            client = ready(daemon)
            create(client, "web", 3)
            wanted = {"web": 3}
            comes_to(client, wanted)
            for name, text, said in (("api", "", "I/O"), ("app", "full", "full")):
                with open(fails, "w", encoding="ascii") as file:
                    file.write(text)
                client.seq += 1
                reply = client.ask("McsWrite", write("create", name, 2), seq=client.seq)
                check(not reply["ok"] and reply["err"]["name"] == "E_BUSY" and reply["err"]["retryable"], reply)
                check(said in reply["err"]["message"], reply)
                check(desired(client) == wanted, "it can be read")
                until("it is said that it is so", lambda said=said: any(
                    "MCS" in one and said in one for one in client.get("Status").get("degraded", [])))
                os.remove(fails)
                until("the same request, sent again, is carried out", lambda name=name: client.ask(
                    "McsWrite", write("create", name, 2), seq=client.seq)["ok"])
                wanted[name] = 2
                comes_to(client, wanted)
                until("all is well", lambda: not any("MCS" in one for one in client.get("Status").get("degraded", [])))


def test_who_locks_the_database_keeps_nobody_waiting_for_long():  # rs R-158, rs R-034, F-34
    with hosted() as daemon:
        client = ready(daemon)
        create(client, "web", 3)
        comes_to(client, {"web": 3})
        with sqlite3.connect(daemon.folder + "/mcs.db", isolation_level=None) as foreign:
            foreign.execute("BEGIN IMMEDIATE")
            client.seq += 1
            reply = client.ask("McsWrite", write("create", "api", 2), seq=client.seq)
            check(reply["err"]["name"] == "E_BUSY" and "database is locked" in reply["err"]["message"], reply)
            check(desired(client) == {"web": 3}, "it can be read")
            foreign.execute("ROLLBACK")
        until("the same request, sent again, is carried out",
              lambda: client.ask("McsWrite", write("create", "api", 2), seq=client.seq)["ok"])
        comes_to(client, {"api": 2, "web": 3})


def test_it_sleeps_while_nothing_happens():  # rs R-039, rs R-120
    with hosted() as daemon:
        client = ready(daemon)
        for at in range(50):
            create(client, f"d{at}", at)
        comes_to(client, {f"d{at}": at for at in range(50)})
        position = lambda: client.get("McsRead", {"what": "status"})["position"]
        used = lambda: sum(int(part) for part in open(f"/proc/{daemon.process.pid}/stat", encoding="utf-8")
                           .read().rsplit(")", 1)[1].split()[11:13])
        last = [position(), time.monotonic()]

        def rests():
            if position() != last[0]:
                last[:] = [position(), time.monotonic()]
            return time.monotonic() > last[1] + 1

        until("all is written that follows from it", rests)
        before, cpu = position(), used()
        end = time.monotonic() + 3
        until("three seconds are over", lambda: time.monotonic() > end)
        check(position() == before, "nobody writes what is as it was")
        check(used() - cpu < 60, "clock ticks of", used() - cpu)  # of 300


main(globals())
