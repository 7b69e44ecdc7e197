# SPDX-License-Identifier: Apache-2.0
"""Floods one RM: a process of its own that keeps as many requests in flight as its connection may have, until it is ended.

    flood.py SOCKET RM asks|nodes|dumps IN_FLIGHT

The bodies are packed once, so that little of the processor goes into the client."""
import itertools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import msgpack  # noqa: E402

from daemon_support import Client  # noqa: E402

MANY = 1000


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


def main(path, rm, what, in_flight):
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
        if sent >= in_flight:
            client.receive_bytes()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
