# SPDX-License-Identifier: Apache-2.0
"""How tests change deployments and their nodes, whoever has the database, and see what comes of that in the core."""
import time

from daemon_support import check


def change(client, kind, verb, name, **body):
    """Asked again while the daemon is busy, as ykctl does."""
    request = {"verb": verb, "kind": kind, "id": name, "body": body}
    if kind == "deployment" and verb == "create":
        request["body"] = {"name": name, "user": "u", "resource": {"vcore": 1000}, **body}
    end = time.monotonic() + 30
    while True:
        client.seq += 1
        reply = client.ask("McsWrite", request, seq=client.seq)
        if reply["ok"]:
            return reply["body"]
        check(reply["err"]["name"] == "E_BUSY" and time.monotonic() < end, reply)
        client.seq -= 1  # it has not used its number up
        time.sleep(0.1)


def in_core(client):
    """What the core of a daemon runs for MCS: allocation keys."""
    reply = client.ask("Dump", {"what": "apps", "rmID": "mcs"})
    if not reply["ok"]:
        check(reply["err"]["name"] in ("E_RM_UNKNOWN", "E_NOT_FOUND"), reply)
        return []
    return sorted(one["allocationKey"] for app in reply["body"]["data"] for one in app["allocations"])
