#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A client written from docs/protocol.md alone: a raw Unix socket, Debian's python3-msgpack, nothing of this project.

usage: independent_client.py [SOCKET [RM-ID]]

Registers an RM, adds a node, submits an application and an ask, reads its allocation from the callback stream, gives it
back and leaves; on the way it resends a request, sends garbage and breaks rules to see the documented answers. Prints
what it sees; exits 1 with a sentence at the first thing that is not as documented. The daemon must schedule by itself
(not --manual-schedule) and let this user in as an RM. Without SOCKET a daemon of its own is started: ykd of the
directory $YK_BIN.
"""
import contextlib
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time

import msgpack

CONFIG = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: batch
"""
DEADLINE = time.monotonic() + 60


class Unexpected(Exception):
    pass


def check(condition, sentence):
    if not condition:
        raise Unexpected(sentence)


class Connection:
    """SP framing over a Unix socket, in the role of REQ."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(30)
        self.connect(path)
        self.next_request = 1
        self.socket.sendall(b"\0SP\0" + struct.pack(">HH", 48, 0))  # we are REQ
        greeting = self.read(8)
        check(greeting == b"\0SP\0" + struct.pack(">HH", 49, 0), f"the peer greets as no REP: {greeting.hex()}")

    def connect(self, path):
        """Waits for a daemon that is just starting."""
        while True:
            try:
                return self.socket.connect(path)
            except (FileNotFoundError, ConnectionRefusedError):
                if time.monotonic() > DEADLINE:
                    raise
                time.sleep(0.02)

    def read(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            check(piece, "the daemon closed the connection")
            data += piece
        return data

    def exchange(self, message):
        number = struct.pack(">I", 0x80000000 | self.next_request)
        self.next_request += 1
        self.socket.sendall(b"\x01" + struct.pack(">Q", len(message) + 4) + number + message)
        kind, size = struct.unpack(">BQ", self.read(9))
        check(kind == 1, f"a frame of the unknown type {kind}")
        reply = self.read(size)
        check(reply[:4] == number, "a reply to another request")
        return msgpack.unpackb(reply[4:], raw=False)


class Client:
    def __init__(self, path):
        self.connection = Connection(path)
        self.sid = None
        self.seq = 0
        self.id = 0

    def envelope(self, kind, body, seq):
        self.id += 1
        message = {"v": 1, "kind": kind, "id": self.id, "body": body}
        if self.sid is not None:
            message["sid"] = self.sid
        if seq is not None:
            message["seq"] = seq
        return message

    def send(self, message):
        reply = self.connection.exchange(msgpack.packb(message, use_bin_type=True))
        check(reply["v"] == 1 and reply["kind"] == message["kind"] and reply["id"] == message["id"],
              f"the reply does not echo v, kind and id: {reply}")
        return reply

    def call(self, kind, body=None, changes=False):
        """The reply's body. A change takes the next sequence number."""
        if changes:
            self.seq += 1
        reply = self.send(self.envelope(kind, body or {}, self.seq if changes else None))
        check(reply["ok"], f"{kind} was refused: {reply.get('err')}")
        return reply["body"]

    def refused(self, message, name, path=None):
        error = self.send(message)
        check(not error["ok"], f"expected {name}, got {error}")
        check(error["err"]["name"] == name, f"expected {name}, got {error['err']}")
        check(path is None or error["err"].get("path") == path, f"expected the path {path}, got {error['err']}")
        print(f"refused as documented: {name} {error['err'].get('path', '')}: {error['err']['message']}")


class Stream:
    """The callback stream of one RM: items in order, each acknowledged once it is handled."""

    def __init__(self, client, rm, epoch):
        self.client, self.rm, self.epoch, self.ack, self.items = client, rm, epoch, 0, []

    def wait_for(self, what, wanted):
        """The first thing found in an item by `wanted(kind, body)`."""
        while time.monotonic() < DEADLINE:
            while self.items:
                item = self.items.pop(0)
                check(item["n"] == self.ack + 1, f"item {item['n']} follows {self.ack}")
                self.ack = item["n"]
                print(f"item {item['n']}: {item['kind']} {item['body']}")
                found = wanted(item["kind"], item["body"])
                if found:
                    return found
            poll = self.client.call("Poll", {"rmID": self.rm, "streamEpoch": self.epoch, "ack": self.ack, "waitMs": 2000})
            check(poll["streamEpoch"] == self.epoch, "another stream epoch")
            self.items = poll["items"]
        raise Unexpected(f"no {what} within a minute")


def in_list(kind, key, **fields):
    """Finds the element of the list `key` in items of `kind` that has these fields."""
    def find(item_kind, body):
        elements = body.get(key) or [] if item_kind == kind else []
        return next((e for e in elements if all(e.get(k) == v for k, v in fields.items())), None)
    return find


def hello(client):
    reply = client.call("Hello", {"min": 1, "max": 1, "client": "independent", "role": "rm"})
    check(reply["version"] == 1, f"version {reply['version']}")
    check(len(reply["sid"]) == 16 and len(reply["bootID"]) == 16, "sid and bootID have 16 bytes")
    check(not reply["resumed"] and reply["lastSeq"] == 0, "a fresh session")
    client.sid = reply["sid"]
    print(f"session with {reply['server']['name']} {reply['server']['version']}, limits {reply['limits']}")


def show_refusals(client, rm):
    """None of these changes anything, nor uses up a sequence number."""
    garbage = client.connection.exchange(b"\xdd\xff\xff\xff\xff")
    check(garbage["err"]["name"] == "E_DECODE" and garbage["id"] == 0, f"garbage was answered by {garbage}")
    print("refused as documented: E_DECODE:", garbage["err"]["message"])
    client.refused(client.envelope("Nonsense", {}, None), "E_KIND")
    wrong_sid = client.envelope("Ping", {}, None)
    wrong_sid["sid"] = "text"
    client.refused(wrong_sid, "E_TYPE", "sid")
    stranger = client.envelope("Ping", {}, None)
    stranger["sid"] = os.urandom(16)
    client.refused(stranger, "E_SESSION_UNKNOWN")
    client.refused(client.envelope("Poll", {"rmID": rm + "-other", "streamEpoch": 1}, None), "E_RM_UNKNOWN")
    client.refused(client.envelope("Poll", {"rmID": 5}, None), "E_TYPE", "rmID")


def play(path, rm):
    client = Client(path)
    hello(client)
    registered = client.call("RegisterResourceManager", {"rmID": rm, "policyGroup": rm, "config": CONFIG}, changes=True)
    check(registered["partitions"] == [f"[{rm}]default"], f"partitions {registered['partitions']}")
    check(registered["coreState"] == 1, "the core runs")
    print("registered:", registered)
    stream = Stream(client, rm, registered["streamEpoch"])
    show_refusals(client, rm)

    node = {"nodeID": "node-1", "action": 1, "schedulableResource": {"memory": 1000, "vcore": 1000}}
    client.call("UpdateNode", {"rmID": rm, "nodes": [node]}, changes=True)
    stream.wait_for("node", in_list("UpdateNode", "accepted", nodeID="node-1"))

    application = {"applicationID": "app-1", "queueName": "root.batch", "ugi": {"user": "me", "groups": ["us"]}}
    client.call("UpdateApplication", {"rmID": rm, "new": [application]}, changes=True)
    stream.wait_for("application", in_list("UpdateApplication", "accepted", applicationID="app-1"))

    ask = {"allocationKey": "ask-1", "applicationID": "app-1", "resourceAsk": {"memory": 100, "vcore": 10},
           "priority": 3, "tags": {"colour": "blue"}}
    client.seq += 1
    update = client.envelope("UpdateAllocation", {"rmID": rm, "asks": [ask]}, client.seq)
    first = client.send(update)
    check(first["ok"], f"the ask was refused: {first.get('err')}")
    again = client.send(update)  # as after a cut connection
    check(again["ok"] and again.get("dup") is True and again["body"] == first["body"], f"no replayed reply: {again}")
    made = stream.wait_for("allocation", in_list("UpdateAllocation", "new", allocationKey="ask-1"))
    check(made["nodeID"] == "node-1" and made["applicationID"] == "app-1", f"allocated as {made}")
    check(made["partitionName"] == f"[{rm}]default" and made["queueName"] == "root.batch", f"allocated as {made}")
    check(made["resourcePerAlloc"] == {"memory": 100, "vcore": 10}, f"allocated {made['resourcePerAlloc']}")
    check(made["priority"] == 3 and made["allocationTags"] == {"colour": "blue"}, f"allocated as {made}")

    too_long = {"rmID": rm, "asks": [{"allocationKey": "k" * 257, "applicationID": "app-1"}]}
    client.seq += 1  # errors of the body use up the number
    client.refused(client.envelope("UpdateAllocation", too_long, client.seq), "E_LIMIT", "asks[0].allocationKey")

    release = {"applicationID": "app-1", "allocationKey": "ask-1", "terminationType": 1}
    client.call("UpdateAllocation", {"rmID": rm, "releases": {"allocationsToRelease": [release]}}, changes=True)
    released = stream.wait_for("release", in_list("UpdateAllocation", "released", allocationKey="ask-1"))
    check(released["terminationType"] == 1, f"released as {released}")

    client.call("UnregisterResourceManager", {"rmID": rm, "force": True}, changes=True)
    client.call("Bye")
    print("OK: registered, added a node, was allocated an ask and gave it back")


@contextlib.contextmanager
def daemon():
    """A private daemon; gives the path of its socket."""
    with tempfile.TemporaryDirectory(prefix="yk", dir="/tmp") as folder:
        path = os.path.join(folder, "ykd.sock")
        program = os.path.join(os.environ.get("YK_BIN", "build/bin"), "ykd")
        process = subprocess.Popen([program, "--listen", "ipc://" + path])
        try:
            yield path
        finally:
            process.terminate()
            process.wait(timeout=20)


def main():
    if len(sys.argv) > 3 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    rm = sys.argv[2] if len(sys.argv) == 3 else "independent"
    try:
        with contextlib.nullcontext(sys.argv[1]) if len(sys.argv) > 1 else daemon() as path:
            play(path, rm)
    except (Unexpected, OSError, ValueError, KeyError, msgpack.UnpackException, subprocess.TimeoutExpired) as error:
        sys.exit(f"independent_client: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
