# SPDX-License-Identifier: Apache-2.0
"""Floods one RM: a process of its own that keeps as many requests in flight as its connection may have, until it is ended.

    flood.py SOCKET RM asks|nodes|dumps|large

`large`: eight connections, each with requests of some megabytes, which cost the daemon much before it refuses them.

The bodies are packed once, so that little of the processor goes into the client."""
import itertools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import msgpack  # noqa: E402

from daemon_support import Client, check  # noqa: E402

MANY = 1000
IN_FLIGHT = {True: 16, False: 64}  # of requests that change something, beyond which the next is E_SEQ_GAP; of others: maxInFlight


def with_body(kind, sid, number, seq, body):
    """An envelope around a body that is packed already."""
    head = {"v": 1, "kind": kind, "id": number, "sid": sid}
    if seq is not None:
        head["seq"] = seq
    packed = msgpack.packb({**head, "body": None})
    return packed[:-1] + body


def bodies_of(what, rm):
    """(kind, whether it changes something, packed body), again and again."""
    if what == "dumps":
        return [("Dump", False, msgpack.packb({"what": "nodes", "rmID": rm, "limit": MANY}))]
    if what == "nodes":
        return [("UpdateNode", True, msgpack.packb({"rmID": rm, "nodes": [
            {"nodeID": f"n{i}", "action": 2, "attributes": {"rack": f"{i}-{lap}"}, "schedulableResource": {"vcore": 1000 + lap}}
            for i in range(MANY)]})) for lap in range(2)]
    asks = [{"allocationKey": f"k{i}", "applicationID": "app", "resourceAsk": {"vcore": 1}} for i in range(MANY)]
    return [("UpdateAllocation", True, msgpack.packb({"rmID": rm, "asks": asks})),
            ("UpdateAllocation", True, msgpack.packb({"rmID": rm, "releases": {"allocationAsksToRelease": [
                {"applicationID": "app", "partitionName": "default"}], "allocationsToRelease": [
                {"applicationID": "app", "partitionName": "default", "terminationType": 1}]}}))]


def flood_with_large_ones(path):
    body = msgpack.packb({"rmID": "nobody", "nodes": [{"nodeID": f"n-{n}", "action": 1, "attributes": {"a": "x" * 100}}
                                                      for n in range(20_000)]})
    clients = [Client(path) for _ in range(8)]
    for client in clients:
        client.hello()
        client.socket.settimeout(None)
    print("ready", flush=True)
    for lap in itertools.count(1):
        for client in clients:
            if lap > 1:
                check(b"E_RM_UNKNOWN" in client.receive_bytes(), "it is taken")
            client.send_bytes(with_body("UpdateNode", client.sid, client.next_id + 1, lap, body))


def main(path, rm, what):
    if what == "large":
        return flood_with_large_ones(path)
    client = Client(path)
    client.hello()
    client.socket.settimeout(None)  # it is stopped and goes on
    client.register(rm, detached={"confirmReleases": True, "keep": 10})
    client.change("UpdateNode", {"rmID": rm, "nodes": [
        {"nodeID": f"n{i}", "action": 1, "schedulableResource": {"vcore": 1000}} for i in range(MANY)]})
    client.change("UpdateApplication", {"rmID": rm, "new": [
        {"applicationID": "app", "queueName": "root.a", "ugi": {"user": "u"}}]})
    print("ready", flush=True)
    for sent, (kind, changes, body) in enumerate(itertools.cycle(bodies_of(what, rm))):
        client.seq += 1 if changes else 0
        client.send_bytes(with_body(kind, client.sid, client.next_id + 1, client.seq if changes else None, body))
        if sent >= IN_FLIGHT[changes]:
            check(b"\xa2ok\xc3" in client.receive_bytes()[:200], "the flood is refused")


if __name__ == "__main__":
    main(*sys.argv[1:])
