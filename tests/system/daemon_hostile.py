# SPDX-License-Identifier: Apache-2.0
"""Hostile bytes get the documented answer and leave the other clients alone (issue 2, section 6; I-305, I-310, I-316)."""
from daemon_support import *

import random

SEED = int(os.environ.get("YK_SEED", "20"))


def raw(daemon):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(daemon.path)
    connection.settimeout(DEADLINE)
    return connection


def closed(connection):
    try:
        while connection.recv(4096):
            pass
        return True
    except ConnectionError:
        return True


def test_undecodable_messages_are_answered_and_the_tenth_closes_the_connection():
    with Daemon() as daemon:
        witness = daemon.client()
        client = Client(daemon.path)
        bombs = [b"", b"\xc1", b"\x93\x01\x02\x03", b"\xdf\xff\xff\xff\xff", b"\xdd\xff\xff\xff\xff", b"\x81\xa1v\xdb\xff\xff\xff\xff",
                 b"\x81\xa1v\xc7\x01\x05x", b"\x81\x01\x02", b"\x82\xa1v\x01\xa1v\x01"]
        for bomb in bombs:
            client.send_bytes(bomb)
            error = client.receive()["err"]
            check(error["name"] == "E_DECODE" and error["code"] == 100, bomb, error)
        client.send_bytes(b"\xc1")
        check(closed(client.socket), "the tenth undecodable message did not close the connection")
        witness.get("Ping")


def test_nesting_and_size_limits():
    with Daemon("--max-message", "2MiB") as daemon:
        client = daemon.client()
        client.send_bytes(b"\x81\xa4body" + b"\x91" * 40 + b"\x01")
        check(client.receive()["err"]["name"] == "E_LIMIT")
        huge = Client(daemon.path)
        huge.socket.sendall(b"\x01" + struct.pack(">Q", 1 << 40) + b"\x80\0\0\1")
        check(closed(huge.socket), "a message of a terabyte was waited for")
        client.get("Ping")


def test_peers_that_are_gone_at_once():
    """nng 1.5.2 stops listening when such a peer is lost before the greeting is written (nng #1518; adr 0017)."""
    with Daemon() as daemon:
        witness = daemon.client()
        for _ in range(200):
            raw(daemon).close()
            abrupt = raw(daemon)
            abrupt.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            abrupt.close()
        daemon.client().get("Ping")
        witness.get("Ping")


def test_strangers_to_the_framing():  # I-300
    with Daemon() as daemon:
        client = daemon.client()
        for greeting in (b"GET / HTTP/1.1\r\n\r\n", b"\0SP\0\0\x50\0\0", b"\xff" * 64):
            stranger = raw(daemon)
            stranger.sendall(greeting)
            check(closed(stranger), "a wrong greeting was accepted:", greeting)
        half = raw(daemon)
        half.sendall(b"\0SP")
        client.get("Ping")
        half.close()


def test_random_bytes_change_nothing():
    generator = random.Random(SEED)
    print("seed", SEED)
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register()
        client.cluster()
        client.get("Sync", {"rmID": "rm:1"})
        before = [client.dump(what) for what in ("partitions", "queues", "apps", "nodes")]
        good = msgpack_of_an_update(client)
        for round in range(60):
            attacker = Client(daemon.path)
            for _ in range(8):
                attacker.send_bytes(mutated(generator, good))
                reply = attacker.receive()
                check(reply["ok"] in (True, False))
            attacker.close()
        after = [client.dump(what) for what in ("partitions", "queues", "apps", "nodes")]
        check(before == after, "random bytes changed the state; seed", SEED)


def msgpack_of_an_update(client):
    import msgpack
    return msgpack.packb({"v": 1, "kind": "UpdateNode", "id": 5, "sid": b"\0" * 16, "seq": 1, "body": {
        "rmID": "rm:1", "nodes": [{"nodeID": "n2", "action": 1, "schedulableResource": {"vcore": 5}}]}})


def mutated(generator, good):
    data = bytearray(good)
    for _ in range(generator.randrange(1, 6)):
        data[generator.randrange(len(data))] = generator.randrange(256)
    return bytes(data[:generator.randrange(1, len(data) + 1)])


def test_bad_fields_name_their_path_and_nothing_is_applied():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register()
        client.cluster()
        ask = {"allocationKey": "k", "applicationID": "app", "resourceAsk": {"vcore": 1}}
        cases = [
            ("E_MISSING_FIELD", "asks[1].allocationKey", {"asks": [ask, {"applicationID": "app"}]}),
            ("E_TYPE", "asks[0].priority", {"asks": [{**ask, "priority": "high"}]}),
            ("E_TYPE", "asks[0].resourceAsk.vcore", {"asks": [{**ask, "resourceAsk": {"vcore": 1.5}}]}),
            ("E_TYPE", "asks[0].resourceAsk.vcore", {"asks": [{**ask, "resourceAsk": {"vcore": 1 << 63}}]}),
            ("E_INVALID", "asks[0].allocationKey", {"asks": [{**ask, "allocationKey": "a\nb"}]}),
            ("E_LIMIT", "asks[0].allocationKey", {"asks": [{**ask, "allocationKey": "x" * 257}]}),
            ("E_TYPE", "asks", {"asks": {}}),
            ("E_LIMIT", "asks", {"asks": [None] * 100_001}),
        ]
        for name, path, body in cases:
            error = client.refused(name, "UpdateAllocation", {"rmID": "rm:1", **body}, mutating=True)
            check(error.get("path") == path, "wanted path", path, "got", error)
        client.asks("good")
        client.get("Sync", {"rmID": "rm:1"})
        requests = client.dump("app", application="app")["requests"]
        check([one["allocationKey"] for one in requests] == ["good"], requests)


def test_unknown_fields_are_ignored_and_nil_elements_skipped():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register(someday={"x": [1, 2]})
        client.change("UpdateNode", {"rmID": "rm:1", "later": 1, "nodes": [
            None, {"nodeID": "n1", "action": 1, "future": {"a": None}, "schedulableResource": {"vcore": 3, "gone": None}}]})
        client.get("Sync", {"rmID": "rm:1"})
        check(client.dump("node", node="n1")["capacity"] == {"vcore": 3})


def test_bad_numbers_reject_single_elements():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register()
        client.cluster()
        client.change("UpdateAllocation", {"rmID": "rm:1", "asks": [
            {"allocationKey": "negative", "applicationID": "app", "resourceAsk": {"vcore": -1}},
            {"allocationKey": "none", "applicationID": "app"},
            {"allocationKey": "lost", "applicationID": "nobody", "resourceAsk": {"vcore": 1}},
            {"allocationKey": "theirs", "applicationID": "app", "partitionName": "[rm:2]default", "resourceAsk": {"vcore": 1}},
            {"allocationKey": "good", "applicationID": "app", "resourceAsk": {"vcore": (1 << 63) - 1}}]})
        client.get("Sync", {"rmID": "rm:1"})  # the asks are answered before it
        codes = {}
        for item in client.poll()["items"]:
            for rejected in item["body"].get("rejected", []):
                if "allocationKey" in rejected:
                    codes[rejected["allocationKey"]] = rejected["code"]
        check(codes == {"negative": 1031, "none": 1030, "lost": 1010, "theirs": 1001}, codes)
        check(client.get("Health", {"run": True})["Healthy"])


main(globals())
