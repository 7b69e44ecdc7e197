#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The long form of the attacks of tests/system: fuzzed messages and rude connections beside a bystander whose pings stay short
and whose cycles never fail; after them the daemon holds what it held before. `./dev soak --attack` runs it.

usage: attack.py [--messages N] [--connections N] [--workers N] [--seed N] [--seconds N] [--longest-ping SECONDS]
The last line has the figures. Exits 1 with a sentence when something did not hold. $YK_BIN names the directory of ykd.
"""
import argparse
import concurrent.futures
import contextlib
import random
import selectors
import sys
import threading
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/system")

import msgpack

from daemon_support import *
from daemon_support.attacks import *

KINDS = ["Hello", "Ping", "Status", "RegisterResourceManager", "UnregisterResourceManager", "UpdateAllocation",
         "UpdateApplication", "UpdateNode", "UpdateConfiguration", "Reload", "ValidateConfiguration", "Poll", "CallResult", "Sync",
         "Dump", "Events", "Metrics", "Health", "Explain", "StreamLog", "Step", "Clock", "SetExtraConfig", "RecoveryDone",
         "RecoveryList", "ResolveRecovery", "McsRead", "McsWatch", "McsWrite", "Nonsense"]
CHANGES = {"RegisterResourceManager", "UnregisterResourceManager", "UpdateAllocation", "UpdateApplication", "UpdateNode",
           "UpdateConfiguration", "Reload", "Step", "Clock", "SetExtraConfig", "RecoveryDone", "ResolveRecovery", "McsWrite"}
KEYS = ["rmID", "nodes", "nodeID", "action", "new", "remove", "asks", "releases", "allocations", "applicationID", "queueName",
        "allocationKey", "resourceAsk", "schedulableResource", "attributes", "tags", "ugi", "user", "groups", "partitionName",
        "config", "extraConfig", "what", "cursor", "limit", "streamEpoch", "ack", "waitMs", "position", "kind", "name", "from",
        "detached", "capabilities", "impersonate", "force", "checksum", "dryRun", "policyGroup", "terminationType",
        "priority", "taskGroups", "placeholder", "verb", "id", "version", "body", "replicas", "resource"]
TEXTS = ["", "rm:9", "default", "[rm:9]default", "root.a", "root.a.b", "n1", "app", "ask", "nodes", "queues", "apps", "events",
         "é\u202e\x9b", "x" * 300, "../../etc", "%s%n", "\x1b[31m", "partitions:\n  - name: default\n    queues:\n      - name: root\n"]
NUMBERS = [0, 1, 2, -1, 127, 1 << 31, (1 << 63) - 1, -(1 << 63), (1 << 64) - 1]
BODIES, FLOODS, RING = 1000, 12, 1000
MUTE = 120.0  # seconds without any answer that are too many; on a machine that others use 20 were
RESOURCES = ["vcore", "memory", "gpu", "é", "x" * 300]
YAML_BITS = ["partitions:", "- name: ", "queues:", "root", "limits:", "*", "&a", "*a", "[", "]", "{", "}", "\t", "éé", "!!null", "max: {vcore: 1}",
             "placementrules:", "properties:", "submitacl: '*'", "\n", "\n  ", "\n    ", "'", '"', "|", "100Gi", "-1"]


class Fuzz:
    """Messages of a client that means harm, from a seed."""

    def __init__(self, seed):
        self.random, self.bodies = random.Random(seed), []

    def value(self, depth=0):
        pick = self.random.random()
        if depth > 4 or pick < 0.35:
            return self.random.choice(TEXTS)
        if pick < 0.5:
            return self.random.choice(NUMBERS)
        if pick < 0.6:
            return self.random.choice([None, True, False, 1.5, b"\xff\0"])
        if pick < 0.75:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        if pick < 0.85:
            return {self.random.choice(RESOURCES): self.random.choice(NUMBERS)}
        return {self.random.choice(KEYS): self.value(depth + 1) for _ in range(self.random.randrange(5))}

    def yaml(self):
        return " ".join(self.random.choice(YAML_BITS) for _ in range(self.random.randrange(1, 60)))

    def body(self):
        body = {self.random.choice(KEYS): self.value(1) for _ in range(self.random.randrange(6))}
        body["rmID"] = self.random.choice(["rm:9", "rm:8", self.value(4)])
        if self.random.random() < 0.2:
            body["config"] = self.yaml()
        body["waitMs"] = self.random.choice([0, 0, 1])
        return body

    def packed_body(self):
        """Mostly one that was sent before, as it is made in the time in which twenty are sent."""
        at = self.random.randrange(BODIES)
        if at >= len(self.bodies) or self.random.random() < 0.1:
            body = self.body()
            try:
                data = msgpack.packb(body)
            except (OverflowError, UnicodeEncodeError):
                data = b"\x80"
            if at >= len(self.bodies):
                at = len(self.bodies)
                self.bodies.append(None)
            self.bodies[at] = body, data
        return self.bodies[at]

    def message(self, client):
        """Its kind, and its bytes."""
        kind = self.random.choice(KINDS)
        if kind == "Poll":
            kind = "Ping"
        body, data = self.packed_body()
        envelope = {"v": 1, "kind": kind, "id": self.random.choice([client.next_id + 1, *NUMBERS]), "sid": client.sid,
                    "seq": client.seq + 1, "ttl": 100}
        if kind == "Events" and self.random.random() < 0.95:
            data = msgpack.packb({"count": 10})  # or the time would be spent on reading megabytes
        try:
            if self.random.random() < 0.1:
                envelope["body"] = body
                envelope[self.random.choice(list(envelope))] = self.value(3)
                data = msgpack.packb(envelope)
            else:
                data = bytes([0x80 | len(envelope) + 1]) + msgpack.packb(envelope)[1:] + b"\xa4body" + data
        except (OverflowError, UnicodeEncodeError):
            data = b"\x80"
        if self.random.random() < 0.15:
            data = bytearray(data)
            for _ in range(self.random.randrange(1, 5)):
                if data:
                    data[self.random.randrange(len(data))] = self.random.randrange(256)
            data = bytes(data[:self.random.randrange(len(data) + 1)]) if self.random.random() < 0.3 else bytes(data)
        return kind, data


class Flood(Client):
    """Has several messages on their way at once. It goes on with the session of another one that was cut: one for each
    would be more than there may be."""

    def __init__(self, path, role, cut=None):
        self.buffer, self.role, self.waiting = bytearray(), role, {}  # waiting: by number
        super().__init__(path)
        self.socket.settimeout(MUTE)
        if cut is None:
            self.hello(role=role)
        else:
            self.sid, self.seq = cut.sid, cut.seq

    def read(self, size):
        while len(self.buffer) < size:
            more = self.socket.recv(1 << 18)
            if not more:
                raise EOFError("the daemon closed the connection")
            self.buffer += more
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def send_some(self, fuzz):
        """Up to one that changes something: the number of the next depends on what becomes of it. How many."""
        self.waiting, data = {}, []
        while len(self.waiting) < 16:
            kind, payload = fuzz.message(self)
            self.next_id += 1
            frame = struct.pack(">I", 0x80000000 | self.next_id & 0x7fffffff) + payload
            data.append(b"\x01" + struct.pack(">Q", len(frame)) + frame)
            self.waiting[self.next_id & 0x7fffffff] = payload
            if kind in CHANGES:
                break
        self.socket.sendall(b"".join(data))
        return len(self.waiting)

    def take(self):
        """What has come of the answers, which must be msgpack with valid text and no E_INTERNAL. How many."""
        more = self.socket.recv(1 << 18)
        if not more:
            raise EOFError("the daemon closed the connection")
        self.buffer += more
        taken = 0
        while self.waiting and len(self.buffer) >= 9 and len(self.buffer) >= 9 + int.from_bytes(self.buffer[1:9], "big"):
            number = int.from_bytes(self.buffer[9:13], "big") & 0x7fffffff
            self.heed(self.receive())
            check(self.waiting.pop(number, None) is not None, "an answer to no request, number", number)
            taken += 1
        if not self.waiting and self.sid is None:
            self.hello(role=self.role)
            self.seq = 0
        return taken

    def heed(self, reply):
        error = (reply.get("err") or {}).get("name")
        check(error != "E_INTERNAL", "E_INTERNAL for one of", list(self.waiting.values()))
        # A number that is too low is told at once, one that is too high after a second: a fuzzed one was taken.
        if error == "E_SEQ_GAP":
            self.seq = reply["err"]["details"]["expected"] - 1
        elif error in ("E_SEQ_OLD", "E_SEQ_CONFLICT") or (reply["ok"] and reply.get("kind") in CHANGES):
            self.seq += 1
        elif error == "E_SESSION_UNKNOWN":
            self.sid = None


def send_fuzz(path, seed, messages, role, end):
    """Sends fuzzed messages over several connections and reads the answers. Returns how many it sent, and how many were answered.
    A process of its own."""
    fuzz, sent, answered, busy = Fuzz(seed), 0, 0, selectors.DefaultSelector()

    def begin(cut=None):
        flood = Flood(path, role, cut)
        busy.register(flood.socket, selectors.EVENT_READ, flood)
        return flood.send_some(fuzz)

    sent += sum(begin() for _ in range(FLOODS))
    while busy.get_map():
        ready = busy.select(MUTE)
        check(ready, "nothing was answered within", MUTE, "s; the answers to these are missing:",
              [[bytes(one[:200]) for one in key.data.waiting.values()] for key in busy.get_map().values()])
        for key, _ in ready:
            flood = key.data
            try:
                answered += flood.take()
                if flood.waiting:
                    continue
                if sent < messages and time.monotonic() < end:
                    sent += flood.send_some(fuzz)
                    continue
                busy.unregister(flood.socket)
                flood.close()
            except (EOFError, ConnectionError):  # ten undecodable ones
                busy.unregister(flood.socket)
                flood.close()
                sent += begin(flood)
    return sent, answered


class BystandingRm(Bystander):
    """Also has an ask placed and given back, again and again."""

    def __init__(self, daemon):
        super().__init__(daemon)
        self.client.register("rm:polled")  # by rude clients, with this session
        self.client.register("rm:bystander")
        self.client.cluster("rm:bystander")
        self.placed, self.ack = 0, 0

    def between(self):
        self.stopped.wait(0.002)
        key = f"ask-{self.placed}"
        self.client.asks(key, rm="rm:bystander")
        until_then = time.monotonic() + DEADLINE
        while time.monotonic() < until_then:
            for item in self.client.poll(self.ack, "rm:bystander", wait=1000)["items"]:
                self.ack = item["n"]
                if any(one["allocationKey"] == key for one in item["body"].get("new", [])):
                    self.placed += 1
                    return self.client.change("UpdateAllocation", {"rmID": "rm:bystander", "releases": {"allocationsToRelease": [
                        {"applicationID": "app", "allocationKey": key, "terminationType": 1}]}})
        raise AssertionError("an ask of the bystander was not placed")


class Sweeper(Bystander):
    """Unregisters what RMs the flood leaves behind, again and again: there are more and more of them, by mutated names, until
    there may be no more, and each has memory of its own."""

    def between(self):
        leave_no_rm(self.client)
        self.stopped.wait(1)


def holdings(daemon):
    """With one client of its own, whose connection and session count."""
    client = daemon.client()
    leave_no_rm(client)
    def only_two():  # those of clients that are gone are kept for a while, with the replies that they may ask for again
        told = client.get("Status")
        return told["sessions"] <= 3 and told["sessionsKept"] == 0 and told

    status = until("the other sessions end", only_two)
    return {"descriptors": descriptors(daemon), "RMs": len(status["rms"]), "sessions": status["sessions"],
            "resident": resident(daemon), "memory": heap_in_use(client) or resident(daemon)}


def heap_in_use(client):
    """With the address sanitizer. What it keeps for itself (freed blocks, shadow, sizes that are never merged) makes resident
    memory grow although nothing is lost: by a fifth in 2,000,000 messages."""
    families = client.get("Metrics", {"format": "map", "prefix": "process_heap_in_use_bytes"})["families"]
    return families and int(families[0]["samples"][0]["value"])


def leave_no_rm(client):
    for rm in client.get("Status")["rms"]:
        if rm["rmID"] not in ("rm:polled", "rm:bystander"):
            unregister(client, rm["rmID"])


def unregister(client, rm):
    """A rude client may have been faster."""
    client.seq += 1
    reply = client.ask("UnregisterResourceManager", {"rmID": rm, "force": True, "impersonate": True}, seq=client.seq)
    error = (reply.get("err") or {}).get("name")
    check(reply["ok"] or error == "E_RM_UNKNOWN", "an RM was not unregistered:", reply)


def messages(daemon, options):
    """Sent by processes of their own: here they would hold the interpreter's lock while the bystander waits for it."""
    with concurrent.futures.ProcessPoolExecutor(options.workers) as pool:
        workers = [pool.submit(send_fuzz, daemon.path, options.seed + n, options.messages // options.workers,
                               "rm" if n else "admin", options.end) for n in range(options.workers)]
        return [sum(counts) for counts in zip(*(worker.result() for worker in workers))]


def connect_rudely(path, port, sid, seed, first, count):
    """Over ipc, every fourth over tcp. A process of its own."""
    kinds = shuffled(seed + first, 1 + count // len(RUDE))[:count]
    for number, kind in enumerate(kinds):
        with contextlib.suppress(ConnectionError):
            kind(path if number % 4 else ("127.0.0.1", port), sid)


def connections(daemon, options, sid):
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        for first in range(0, options.connections, 1000):
            count = min(1000, options.connections - first)
            pool.submit(connect_rudely, daemon.path, options.port, sid, options.seed, first, count).result()
            check(daemon.process.poll() is None, "the daemon ended at one of the connections from", first, "on")


def warm_up(daemon, options, sid):
    """Until what is bounded is full and well mixed, so that what grows afterwards is lost: caches, pools and the ring of events
    (RING records; the bystander writes about six for each of its asks), the heaps of all threads. With a twentieth of the
    messages at least."""
    def written_over():
        with contextlib.closing(daemon.client()) as client:  # a new one: its session would end between two looks
            return client.get("Events", {"start": 0, "count": 1})["LowestID"]

    begin, sent = time.monotonic(), 0
    while (written_over() < 3 * RING or sent < options.messages // 20) and time.monotonic() < options.end:
        check(time.monotonic() - begin < 3600, "the ring of events does not fill")
        sent += messages(daemon, argparse.Namespace(**{**vars(options), "messages": 10_000 * options.workers}))[0]
        connections(daemon, argparse.Namespace(**{**vars(options), "connections": 300}), sid)
    print(f"warm after {time.monotonic() - begin:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--connections", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=86_400.0, help="no more messages after so long")
    parser.add_argument("--longest-ping", type=float, default=0.05)
    options = parser.parse_args()
    print("seed", options.seed, flush=True)
    options.port, options.end = free_port(), time.monotonic() + options.seconds
    with Daemon("--settings", "@conf", "--listen", f"tcp://127.0.0.1:{options.port}", "--tokens", "@tokens",
                files={"conf": f"sessionTtl: 2s\nextraConfig: {{event.ringBufferCapacity: {RING}}}\n", "tokens": A_TOKEN}) as daemon:
        with BystandingRm(daemon) as bystander, Sweeper(daemon), Sleeper() as sleeper:
            def longest():
                return (f"longest ping {bystander.longest * 1e3:.1f} ms, "
                        f"a sleeper beside it {sleeper.latest * 1e3:.1f} ms late at most")

            warm_up(daemon, options, bystander.client.sid)
            before = holdings(daemon)
            begin = time.monotonic()
            sent, answered = messages(daemon, options)
            figures = (f"{sent} of {options.messages} fuzzed messages, {answered} of them answered, in "
                       f"{time.monotonic() - begin:.0f} s; {longest()}, {bystander.placed} asks of the bystander placed")
            print(figures, flush=True)
            begin = time.monotonic()
            connections(daemon, options, bystander.client.sid)
            print(f"{options.connections} rude connections in {time.monotonic() - begin:.0f} s; {longest()}", flush=True)
            all_given_back(daemon, before["descriptors"], "the attack")
            after = holdings(daemon)
        print("before", before, "after", after)
        client = daemon.client()
        unregister(client, "rm:polled")  # nobody polls it any more, which is told
        health = client.get("Health", {"run": True})
        check(health["Healthy"], "it is not healthy after it:", [one for one in health["HealthChecks"] if not one["Succeeded"]])
        check(bystander.longest <= options.longest_ping + sleeper.latest, "a ping took", bystander.longest, "and a sleeper beside it",
              sleeper.latest)
        check(after["RMs"] <= before["RMs"], "RMs are left")
        check(after["sessions"] <= before["sessions"], "sessions are left")
        check(after["memory"] <= before["memory"] * 1.1 + (4 << 20), "memory is not what it was")
        print(f"{figures}; {options.connections} rude connections; resident {before['resident'] >> 20} MiB before, "
              f"{after['resident'] >> 20} MiB after")


if __name__ == "__main__":
    main()
