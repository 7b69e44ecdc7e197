# SPDX-License-Identifier: Apache-2.0
"""Relays between ykctl and a daemon: one that cuts connections or changes messages, and one that puts a text into every text of
every answer."""
import contextlib
import socket
import struct
import threading

import msgpack

from daemon_support import read_whole

GREETING = 8  # bytes
KEPT = {"sid", "bootID", "cursor", "streamID"}  # without these nothing would go on


class Relay:
    """Listens beside the socket of `daemon`, at .path, in the background. A test gives .request or .reply what changes a
    message on its way: it gets the envelope and returns another."""

    def __init__(self, daemon):
        self.to, self.path, self.ends = daemon.path, daemon.folder + "/relay", []
        self.request = self.reply = lambda message: message
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):  # until it is closed
            while True:
                near, _ = self.listener.accept()
                far = socket.socket(socket.AF_UNIX)
                try:
                    far.connect(self.to)
                except OSError:
                    near.close()
                    continue
                self.ends += [near, far]
                for source, target, way in ((near, far, "request"), (far, near, "reply")):
                    threading.Thread(target=self.pump, args=(source, target, way), daemon=True).start()

    def pump(self, source, target, way):
        with contextlib.suppress(OSError, EOFError):
            target.sendall(read_whole(source, GREETING))
            while True:
                size, = struct.unpack(">Q", read_whole(source, 9)[1:])
                number, body = read_whole(source, 4), read_whole(source, size - 4)
                body = msgpack.packb(getattr(self, way)(msgpack.unpackb(body, raw=False, strict_map_key=False)))
                target.sendall(b"\x01" + struct.pack(">Q", 4 + len(body)) + number + body)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """All connections."""
        ends, self.ends = self.ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()


class Spoiling(Relay):
    """Says `hostile` in every field that there is, without a list of them."""

    def __init__(self, daemon, hostile, keys_too=False):
        super().__init__(daemon)
        self.hostile, self.keys_too, self.reply = hostile, keys_too, self.spoiled

    def spoiled(self, value, key=""):
        if isinstance(value, str):
            return value if key in KEPT or value.startswith("E_") else value + self.hostile
        if isinstance(value, list):
            return [self.spoiled(each, key) for each in value]
        if isinstance(value, dict):
            made = {name: self.spoiled(each, name) for name, each in value.items()}
            if self.keys_too and key not in ("", "body", "err"):  # the names of what is in a map, beside what is there
                made[self.hostile] = self.hostile
            return made
        return value
