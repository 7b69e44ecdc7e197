# SPDX-License-Identifier: Apache-2.0
"""Rude clients, each a function of a daemon, and what a daemon has in its hands before and after them.

Used by daemon_connections.py in a short form, by tests/soak/attack in the long one (./dev soak --attack).
"""
import contextlib
import os
import random
import socket
import struct
import threading
import time

import msgpack

from daemon_support import Client, DEADLINE, check, until

A_TOKEN = "observer * " + "a" * 64 + "\n"  # nobody knows it: a listener on tcp needs one
GREETING = b"\0SP\0\0\x30\0\0"


def raw(where):
    """`where`: the path of a socket, or the address and port of a tcp listener."""
    connection = socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET)
    connection.connect(where)  # with a time-out it would not wait for a place in the listener's queue
    connection.settimeout(DEADLINE)
    return connection


def on(where, *frames):
    """Frames as they are on ipc; on tcp each lacks its first byte."""
    return b"".join(frame if isinstance(where, str) else frame[1:] for frame in frames)


def framed(number, payload):
    body = struct.pack(">I", 0x80000000 | number) + payload
    return b"\x01" + struct.pack(">Q", len(body)) + body


def request(kind, sid=None, body=None, number=1):
    message = {"v": 1, "kind": kind, "id": number, "sid": sid or b"\0" * 16}
    if body is not None:
        message["body"] = body
    return framed(number, msgpack.packb(message))


# --- rude clients: each opens one connection, is rude, and goes; `sid` is that of a session of the same user ----------

def gone_at_once(where, sid):
    raw(where).close()


def half_a_greeting(where, sid):
    with contextlib.closing(raw(where)) as peer:
        peer.sendall(b"\0SP")


def another_protocol(where, sid):
    with contextlib.closing(raw(where)) as peer:
        peer.sendall(b"GET / HTTP/1.1\r\n\r\n")


def half_a_frame(where, sid):
    with contextlib.closing(raw(where)) as peer:
        peer.sendall(GREETING + request("Ping")[:11])


def a_frame_without_end(where, sid):
    with contextlib.closing(raw(where)) as peer:
        peer.sendall(GREETING + on(where, b"\x01" + struct.pack(">Q", 1 << 60)))


def another_type_of_frame(where, sid):
    with contextlib.closing(raw(where)) as peer:
        peer.sendall(GREETING + b"\x02" + request("Ping")[1:])


def no_request_number(where, sid):
    with contextlib.closing(raw(where)) as peer:
        peer.sendall(GREETING + on(where, b"\x01" + struct.pack(">Q", 12) + b"\0" * 12))


def empty_frame(where, sid):
    with contextlib.closing(raw(where)) as peer:
        peer.sendall(GREETING + on(where, b"\x01" + struct.pack(">Q", 0)))


def pipelined_and_gone(where, sid):
    """Many replies are under way when it goes: with nng's REP socket this stopped the closing of all connections (A1)."""
    with contextlib.closing(raw(where)) as peer:
        peer.sendall(GREETING)
        peer.recv(8)
        for number in range(1, 13):
            peer.sendall(on(where, request("Ping", sid, number=number)))


def pipelined_garbage(where, sid):
    """It is cut after ten undecodable messages, with others behind them (A1)."""
    with contextlib.closing(raw(where)) as peer, contextlib.suppress(OSError):
        peer.sendall(GREETING + on(where, *(framed(n, b"\xc1") for n in range(1, 25))))


def large_body_and_gone(where, sid):
    with contextlib.closing(raw(where)) as peer, contextlib.suppress(OSError):
        peer.sendall(GREETING + on(where, request("Ping", sid, {"x": "y" * 200_000}))[:150_000])


def large_replies_unread(where, sid):
    with contextlib.closing(raw(where)) as peer, contextlib.suppress(OSError):
        peer.sendall(GREETING + on(where, *(request("Metrics", sid, {}, number) for number in range(1, 4))))


def waiting_and_gone(where, sid):
    """It gets no answer before it goes. The RM is the first that registered with the daemon; who polls it is superseded."""
    with contextlib.closing(raw(where)) as peer:
        peer.sendall(GREETING)
        peer.recv(8)
        poll = {"rmID": "rm:polled", "streamEpoch": 0, "ack": 0, "waitMs": 30_000}
        peer.sendall(on(where, request("Poll", sid, poll, 1)))
        head = 13 if isinstance(where, str) else 12  # length and number stand before the message
        refused = msgpack.unpackb(peer.recv(4096)[head:], raw=False)["err"]
        if refused["name"] == "E_RESYNC_REQUIRED":  # nobody has polled it for too long: it is Lost
            return
        poll["streamEpoch"] = refused["details"]["streamEpoch"]
        peer.sendall(on(where, request("Ping", sid, number=2), request("Poll", sid, poll, 3)))


RUDE = [gone_at_once, half_a_greeting, another_protocol, half_a_frame, a_frame_without_end, another_type_of_frame,
        no_request_number, empty_frame, pipelined_and_gone, pipelined_garbage, large_body_and_gone, large_replies_unread,
        waiting_and_gone]


# --- those that ask and never read ------------------------------------------------------------------------------------

def ask_without_reading(connection, bytes_of_request, seconds):
    """Sends as long as the daemon takes something; how many requests it took."""
    connection.setblocking(False)
    sent, waiting, until_then = 0, b"", time.monotonic() + seconds
    while time.monotonic() < until_then:
        try:
            if not waiting:
                waiting = bytes_of_request * 64
            taken = connection.send(waiting)
            sent += taken
            waiting = waiting[taken:]
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:  # it was cut
            break
    return sent // len(bytes_of_request)


# --- what a daemon has in its hands -----------------------------------------------------------------------------------

def descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


def resident(daemon):
    """Bytes."""
    with open(f"/proc/{daemon.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def all_given_back(daemon, before, what, slack=2):
    until(f"descriptors are back after {what}: {descriptors(daemon)}, before {before}",
          lambda: descriptors(daemon) <= before + slack)


class Bystander:
    """A polite client in the background: asks for a ping every few ms, keeps the longest wait."""

    def __init__(self, daemon, where=None, **hello):
        self.client = Client(where or daemon.path)
        self.client.hello(**hello)
        self.longest, self.asked, self.fault = 0.0, 0, None
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.stopped.is_set():
                begin = time.monotonic()
                self.client.get("Ping")
                self.longest = max(self.longest, time.monotonic() - begin)
                self.asked += 1
                self.between()
        except Exception as fault:  # told by the main thread
            self.fault = fault

    def between(self):
        """What it does from one ping to the next."""
        self.stopped.wait(0.005)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, value, trace):
        self.stopped.set()
        self.thread.join()
        if kind is None:
            check(self.fault is None, "the bystander got no answer:", repr(self.fault))
            check(self.asked > 0, "the bystander never asked")


class Sleeper:
    """How late a thread that only sleeps wakes up beside the others: what a long ping is to be compared with."""

    def __init__(self):
        self.late, self.stopped = [], threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stopped.is_set():
            begin = time.monotonic()
            time.sleep(0.002)
            self.late.append(time.monotonic() - begin - 0.002)

    @property
    def latest(self):
        return max(self.late, default=0.0)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()


def shuffled(seed, rounds):
    generator = random.Random(seed)
    kinds = RUDE * rounds
    generator.shuffle(kinds)
    return kinds
