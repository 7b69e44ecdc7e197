# SPDX-License-Identifier: Apache-2.0
"""How tests change deployments and their nodes, whoever has the database."""
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
