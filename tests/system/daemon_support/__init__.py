# SPDX-License-Identifier: Apache-2.0
"""What the daemon_*.py tests share: a daemon as a process, and a client that speaks the protocol by itself."""
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import time

import msgpack

YKD = os.path.join(os.environ["YK_BIN"], "ykd")
DEADLINE = 20.0  # for whatever must happen
LINES_SHOWN = 400  # of the log of a ykd whose test failed


def until(what, condition, deadline=DEADLINE):
    """Waits for condition() to hold; no test sleeps otherwise."""
    end = time.monotonic() + deadline
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError(f"not within {deadline} s: {what}")


def check(condition, *told):
    if not condition:
        raise AssertionError(" ".join(str(part) for part in told) or "check failed")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def kill(process):
    """Ends it at once, unless it has ended."""
    if process.poll() is None:
        process.kill()
    process.wait()


class Daemon:
    """A private ykd in a fresh directory; ended by the with statement."""

    def __init__(self, *flags, env=None, wait=True, files=None):
        self.folder = tempfile.mkdtemp(prefix="yk.", dir="/tmp")
        self.path = self.folder + "/s"
        for name, text in (files or {}).items():
            self.write(name, text)
        self.flags = [flag.replace("@", self.folder + "/") for flag in flags]
        self.env = {**os.environ, **(env or {})}
        self.start(wait)

    def start(self, wait=True):
        self.log = open(self.folder + "/log", "w+b")
        self.process = subprocess.Popen([YKD, "--listen", "ipc://" + self.path, *self.flags], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, env=self.env)
        if wait:
            until("ykd is ready", lambda: "is ready" in self.text() or self.process.poll() is not None)
            check(self.process.poll() is None, "ykd ended:", self.text())

    def write(self, name, text, mode=0o600):
        path = f"{self.folder}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def text(self):
        with open(self.folder + "/log", encoding="utf-8", errors="replace") as file:
            return file.read()

    def restart(self, number=signal.SIGKILL):
        """Ends it by the signal and starts it again with the same flags, in the same folder."""
        self.end(number)
        self.start()

    def end(self, number=signal.SIGKILL):
        """Its exit code."""
        self.signal(number)
        return self.exit_code()

    def signal(self, number):
        self.process.send_signal(number)

    def exit_code(self):
        return self.process.wait(DEADLINE)

    def client(self, **hello):
        made = Client(self.path)
        made.hello(**hello)
        return made

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        kill(self.process)
        if kind is not None:
            lines = self.text().splitlines()
            print(f"--- ykd said, the last {min(len(lines), LINES_SHOWN)} of {len(lines)} lines ---")
            print("\n".join(lines[-LINES_SHOWN:]))
        shutil.rmtree(self.folder, ignore_errors=True)


def read_whole(peer, size):
    """So many bytes of a socket."""
    data = b""
    while len(data) < size:
        more = peer.recv(size - len(data))
        if not more:
            raise EOFError("the daemon closed the connection")
        data += more
    return data


class Client:
    """One connection: nng's ipc or tcp framing, REQ, msgpack."""

    def __init__(self, where, tls=None):
        self.stream_type = isinstance(where, str)  # ipc frames have one byte more
        if self.stream_type:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(where)
        else:
            self.socket = socket.create_connection(where)
            if tls is not None:
                self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.socket.settimeout(DEADLINE)
        self.socket.sendall(b"\0SP\0\0\x30\0\0")
        check(self.read(8) == b"\0SP\0\0\x31\0\0", "the peer is no REP socket")
        self.next_id = 0
        self.sid = None
        self.seq = 0
        self.boot = None
        self.most = None  # bytes of a reply

    def read(self, size):
        return read_whole(self.socket, size)

    def send_bytes(self, payload):
        self.next_id += 1
        frame = struct.pack(">I", 0x80000000 | self.next_id) + payload
        self.socket.sendall((b"\x01" if self.stream_type else b"") + struct.pack(">Q", len(frame)) + frame)

    def receive_bytes(self):
        if self.stream_type:
            check(self.read(1) == b"\x01", "a frame of another kind")
        (size,) = struct.unpack(">Q", self.read(8))
        check(self.most is None or size <= self.most, "a reply of", size, "bytes, more than was announced")
        return self.read(size)[4:]

    def receive(self):
        return msgpack.unpackb(self.receive_bytes(), raw=False)

    def send(self, kind, body=None, seq=None, **envelope):
        message = {"v": 1, "kind": kind, "id": self.next_id + 1}
        if self.sid is not None and kind != "Hello":
            message["sid"] = self.sid
        if seq is not None:
            message["seq"] = seq
        if body is not None:
            message["body"] = body
        message.update(envelope)
        self.send_bytes(msgpack.packb(message))

    def ask(self, kind, body=None, **envelope):
        """The whole reply."""
        self.send(kind, body, **envelope)
        return self.receive()

    def get(self, kind, body=None, **envelope):
        reply = self.ask(kind, body, **envelope)
        check(reply["ok"], kind, "was refused:", reply.get("err"))
        return reply["body"]

    def change(self, kind, body, **envelope):
        """A mutating request with the next sequence number."""
        self.seq += 1
        return self.get(kind, body, seq=self.seq, **envelope)

    def refused(self, name, kind, body=None, mutating=False, **envelope):
        """The error, which must be called `name`."""
        if mutating:
            self.seq += 1
            envelope["seq"] = self.seq
        reply = self.ask(kind, body, **envelope)
        check(not reply["ok"], kind, "was not refused")
        check(reply["err"]["name"] == name, "wanted", name, "got", reply["err"])
        return reply["err"]

    def hello(self, role="admin", **more):
        reply = self.get("Hello", {"min": 1, "max": 1, "client": "test", "role": role, **more})
        self.most = more.get("maxMessage")
        self.sid = reply["sid"]
        self.boot = reply["bootID"]
        return reply

    def register(self, rm="rm:1", config=None, **more):
        body = {"rmID": rm, "config": config if config is not None else CONFIG, **more}
        reply = self.change("RegisterResourceManager", body)
        self.epoch = reply["streamEpoch"]
        return reply

    def cluster(self, rm="rm:1", vcore=1000):
        """One node and one application in root.a."""
        self.change("UpdateNode", {"rmID": rm, "nodes": [
            {"nodeID": "n1", "action": 1, "schedulableResource": {"vcore": vcore}}]})
        self.change("UpdateApplication", {"rmID": rm, "new": [
            {"applicationID": "app", "queueName": "root.a", "ugi": {"user": "u"}}]})

    def asks(self, *keys, rm="rm:1", vcore=1):
        self.change("UpdateAllocation", {"rmID": rm, "asks": [
            {"allocationKey": key, "applicationID": "app", "resourceAsk": {"vcore": vcore}} for key in keys]})

    def poll(self, ack=0, rm="rm:1", wait=10000, **more):
        return self.get("Poll", {"rmID": rm, "streamEpoch": self.epoch, "ack": ack, "waitMs": wait, **more})

    def dump(self, what, **more):
        return self.get("Dump", {"what": what, **more})["data"]

    def wait_for_parked_poll(self, rm="rm:1"):
        until("the poll is parked", lambda: self.dump("streams", rmID=rm)[0]["pollParked"])

    def close(self):
        self.socket.close()


class Rm:
    """A resource manager that polls: sends something, and says what it was told."""

    def __init__(self, daemon, rm="rm:1", hello=None, **registration):
        self.rm, self.client, self.ack = rm, daemon.client(**(hello or {})), 0
        self.registered = self.client.register(rm, **registration)

    def told(self):
        """What it was told since it last looked, in order: (kind, body) of each item."""
        self.client.get("Sync", {"rmID": self.rm})
        items = []
        while True:
            more = self.client.poll(ack=self.ack, rm=self.rm, wait=0)["items"]
            if not more:
                return items
            self.ack = more[-1]["n"]
            items += [(item["kind"], item["body"]) for item in more]

    def send(self, kind, **body):
        self.client.change(kind, {"rmID": self.rm, **body})
        return self.told()

    def refused(self, name, kind, **body):
        return self.client.refused(name, kind, {"rmID": self.rm, **body}, mutating=True)

    def nodes(self, *nodes):
        return self.send("UpdateNode", nodes=[{"action": 1, "schedulableResource": {"vcore": 1000}, **node} for node in nodes])

    def applications(self, *new):
        return self.send("UpdateApplication",
                         new=[{"queueName": "root.a", "ugi": {"user": "u"}, **one} for one in new])

    def asks(self, *asks):
        return self.send("UpdateAllocation", asks=[{"applicationID": "app", "resourceAsk": {"vcore": 10}, **ask} for ask in asks])

    def release(self, **one):
        return self.send("UpdateAllocation", releases={"allocationsToRelease": [{"applicationID": "app", **one}]})

    def step(self, cycles=20):
        """REQUIRES: --manual-schedule."""
        self.client.change("Step", {"cycles": cycles})
        return self.told()

    def advance(self, seconds):
        """REQUIRES: --clock virtual."""
        self.client.change("Clock", {"advanceMs": int(seconds * 1000)})
        return self.told()

    def dump(self, what, **more):
        return self.client.dump(what, rmID=self.rm, **more)


def listed(items, kind, name):
    """The elements of all lists `name` in items of a kind."""
    return [element for item_kind, body in items if item_kind == kind for element in body.get(name, [])]


CONFIG = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
          - name: b
"""


def main(tests):
    """Runs the module's functions called test_*."""
    for name, test in list(tests.items()):
        if name.startswith("test_"):
            print(name, flush=True)
            test()


__all__ = ["CONFIG", "Client", "DEADLINE", "Daemon", "Rm", "YKD", "check", "free_port", "kill", "listed", "main", "os", "signal", "socket",
           "ssl", "struct", "subprocess", "time", "until"]
