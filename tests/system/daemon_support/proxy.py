# SPDX-License-Identifier: Apache-2.0
"""A bad network between a client and ykd, from a seed: messages are delayed, come in parts, come twice, are cut in the middle
or lost together with their connection."""
import collections
import contextlib
import random
import socket
import struct
import threading
import time

from daemon_support import read_whole

GREETING = 8  # bytes
CHANCES = (("delayed", 0.05), ("in parts", 0.05), ("twice", 0.04), ("truncated", 0.02), ("lost", 0.02))


class Proxy:
    """`where`: the path of ykd's socket, or its address and port. Listens at .where, which is of the same kind."""

    def __init__(self, where, seed, path=None):
        self.to, self.seed, self.counts, self.lock = where, seed, collections.Counter(), threading.Lock()
        self.bytes_before_size = 1 if isinstance(where, str) else 0
        if isinstance(where, str):
            self.listener, self.where = socket.socket(socket.AF_UNIX), path
            self.listener.bind(path)
        else:
            self.listener = socket.create_server(("127.0.0.1", 0))
            self.where = self.listener.getsockname()
        self.listener.listen(64)
        self.thread = threading.Thread(target=self.accept, daemon=True)

    def accept(self):
        with contextlib.suppress(OSError):  # until it is closed
            while True:
                client, _ = self.listener.accept()
                self.count("connections")
                server = socket.socket(socket.AF_UNIX if isinstance(self.to, str) else socket.AF_INET)
                try:
                    server.connect(self.to)
                except OSError:
                    client.close()
                    continue
                for number, (source, target, way) in enumerate(((client, server, "requests"), (server, client, "replies"))):
                    seed = self.seed * 1_000_003 + 2 * self.counts["connections"] + number
                    threading.Thread(target=self.relay, args=(source, target, way, random.Random(seed)), daemon=True).start()

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def relay(self, source, target, way, chance):
        try:
            target.sendall(read_whole(source, GREETING))
            while True:
                head = read_whole(source, self.bytes_before_size + 8)
                frame = head + read_whole(source, struct.unpack(">Q", head[-8:])[0])
                fault = self.fault(chance)
                if fault is not None:
                    self.count(f"{way} {fault}")
                if not self.forward(fault, frame, target, chance):
                    break
        except (OSError, EOFError):
            pass
        for end in (source, target):  # both ways: the other thread ends, too
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    @staticmethod
    def fault(chance):
        pick = chance.random()
        for name, share in CHANCES:
            pick -= share
            if pick < 0:
                return name
        return None

    @staticmethod
    def forward(fault, frame, target, chance):
        """Whether the connection goes on."""
        if fault == "lost":
            return False
        if fault == "truncated":
            target.sendall(frame[:chance.randrange(1, len(frame))])
            return False
        if fault == "delayed":
            time.sleep(chance.random() * 0.05)
        if fault == "in parts":
            cut = chance.randrange(1, len(frame))
            target.sendall(frame[:cut])
            time.sleep(chance.random() * 0.005)
            target.sendall(frame[cut:])
        else:
            target.sendall(frame * (2 if fault == "twice" else 1))
        return True

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
