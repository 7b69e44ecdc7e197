# SPDX-License-Identifier: Apache-2.0
"""The audit log: who changed what, what was refused, what is no change; over restarts and in files (missing 9 of the administrator's day)."""
import json
import signal

from daemon_support import *
from daemon_support.running import told, told_as


def records(daemon, *words):
    return json.loads(told(daemon, "audit", *words, "-o", "json"))["items"]


def briefly(daemon, *words):
    return [(each["kind"], each.get("rmID", ""), each.get("what", ""), each["outcome"]) for each in records(daemon, *words)]


def test_what_an_admin_does():
    with Daemon("--config", "@q.yaml", files={"q.yaml": CONFIG}) as daemon:
        told(daemon, "rm", "register", "a")
        told(daemon, "node", "add", "n", "--count", "7", "-R", "vcore=4")
        told(daemon, "node", "drain", "n-1", "n-2")
        told(daemon, "app", "add", "x", "-q", "root.a")
        told(daemon, "ask", "add", "x", "--key", "k", "-R", "vcore=1")
        told(daemon, "alloc", "release", "k")
        told(daemon, "config", "reload", "-f", daemon.folder + "/q.yaml", "--dry-run")
        told(daemon, "config", "reload", "-f", daemon.folder + "/q.yaml", "-m", "as agreed")
        told(daemon, "log", "level", "core", "debug")
        told(daemon, "node", "list")
        told(daemon, "rm", "deregister", "a", "--force")
        file = daemon.folder + "/q.yaml"
        wanted = [("RegisterResourceManager", "a", "detached; if registered: refuse", "ok"),
                  ("UpdateNode", "a", "CREATE n-1, CREATE n-2, CREATE n-3, CREATE n-4, CREATE n-5 and 2 more", "ok"),
                  ("UpdateNode", "a", "DRAIN n-1, DRAIN n-2", "ok"), ("UpdateApplication", "a", "add x", "ok"),
                  ("UpdateAllocation", "a", "ask x/k", "ok"), ("UpdateAllocation", "a", "release x/k", "ok"),
                  ("UpdateConfiguration", "a", file + "; as agreed", "ok"), ("SetExtraConfig", "", "log.core.level", "ok"),
                  ("UnregisterResourceManager", "a", "by force", "ok")]
        check(briefly(daemon) == wanted, briefly(daemon))
        first = records(daemon)[0]
        check(first["who"] == first["address"] == f"uid {os.getuid()}" and first["role"] == "admin" and first["client"].startswith("ykctl"), first)
        check([each["n"] for each in records(daemon)] == list(range(1, 10)), "numbers")
        check(briefly(daemon, "-n", "2") == wanted[-2:], "the last two")
        check(briefly(daemon, "--kind", "Allocation") == wanted[4:6], "by kind")
        check(len(records(daemon, "--since", "1h")) == 9 and not records(daemon, "--since", "0s", "--refused"), "by time and outcome")
        table = told(daemon, "audit")
        check("UpdateNode" in table and "DRAIN n-1, DRAIN n-2" in table, table)


def test_the_work_of_an_rm_is_not_there():
    with Daemon() as daemon:
        client = daemon.client()
        client.register("mine")
        client.cluster("mine")
        client.get("Sync", {"rmID": "mine"})
        check([each[0] for each in briefly(daemon)] == ["RegisterResourceManager"], briefly(daemon))
        other = daemon.client()
        other.change("UpdateNode", {"rmID": "mine", "nodes": [{"nodeID": "n1", "action": 3}], "impersonate": True})
        check(briefly(daemon)[1:] == [("UpdateNode", "mine", "DRAIN n1", "ok")], "an admin who acts for it is", briefly(daemon))


def test_refusals():
    if os.getuid() != 0:
        return
    with Daemon("--socket-mode", "0666") as daemon:
        told(daemon, "rm", "register", "a")
        for _ in range(30):
            told_as(4321, daemon, "node", "add", "n", "-R", "vcore=1", status=5)
        check("E_FORBIDDEN" in told_as(4321, daemon, "audit", status=5), "it is for admins")
        refused = records(daemon, "--refused")
        check(len(refused) == 10, "the first of a minute", len(refused))
        check(refused[0]["who"] == "uid 4321" and refused[0]["role"] == "observer" and refused[0]["outcome"] == "E_FORBIDDEN", refused[0])
        check("needs role rm" in refused[0]["error"], refused[0])
        check(len(records(daemon, "--who", "uid 0")) == 1, "by who")


def test_a_restart_keeps_it_and_files_are_rotated():
    settings = "audit: {maxBytes: 64KiB, files: 3}\n"
    with Daemon("--settings", "@conf", "--state", "@.", files={"conf": settings}) as daemon:
        told(daemon, "rm", "register", "a")
        client = daemon.client()
        for i in range(1000):
            client.change("UpdateNode", {"rmID": "a", "nodes": [{"nodeID": f"n-{i}", "action": 1, "schedulableResource": {"vcore": 1}}]})
        daemon.end(signal.SIGTERM)
        files = sorted(name for name in os.listdir(daemon.folder) if name.startswith("audit"))
        check(files == ["audit.1.jsonl", "audit.2.jsonl", "audit.jsonl"], files)
        check(all(os.path.getsize(f"{daemon.folder}/{name}") < 70_000 for name in files), "their sizes")
        daemon.start()
        told(daemon, "node", "remove", "n-0")
        last = records(daemon, "-n", "2")
        check([each["what"] for each in last] == ["CREATE n-999", "DECOMISSION n-0"] and last[1]["n"] == last[0]["n"] + 1, last)


def test_a_full_disk_is_said():
    with Daemon("--settings", "@conf", files={"conf": "audit: {file: /dev/full}\n"}) as daemon:
        told(daemon, "rm", "register", "a")
        status = told(daemon, "status")
        check("the audit log /dev/full cannot be written" in status, status)
        check(len(records(daemon)) == 1, "in memory it is")
    with Daemon("--settings", "@conf", wait=False, files={"conf": "audit: {maxBytes: 1KiB, files: 0, fil: x}\n"}) as daemon:
        daemon.process.wait(timeout=10)
        check(all(part in daemon.text() for part in ("audit.maxBytes", "audit.files", "audit.fil")), daemon.text())


def test_deployments_and_the_watch():
    with Daemon("--settings", "@conf", "--state", "@.", files={"conf": "mcs: {enabled: true}\n"}) as daemon:
        until("MCS runs", lambda: daemon.client().get("McsRead", {"what": "status"})["state"] == "running")
        told(daemon, "deployment", "create", "web", "--replicas", "1")
        told(daemon, "deployment", "delete", "web")
        check([each[2] for each in briefly(daemon, "--kind", "McsWrite")] == ["create deployment web", "delete deployment web"], briefly(daemon))


main(globals())
