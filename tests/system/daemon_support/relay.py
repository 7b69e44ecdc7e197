# SPDX-License-Identifier: Apache-2.0
"""A relay between ykctl and a daemon that puts a text into every text of every answer: what a hostile daemon could say, in
every field that there is, without a list of them."""
import os
import socket
import struct
import threading

import msgpack

from daemon_support import read_whole

GREETING_OF_DAEMON = b"\0SP\0\0\x31\0\0"
KEPT = {"sid", "bootID", "cursor", "streamID"}  # without these nothing would go on


def frame(peer):
    head = read_whole(peer, 9)
    return head, read_whole(peer, struct.unpack(">Q", head[1:])[0])


class Relay:
    """Listens at `path`, in the background, for the daemon at `daemon_path`."""

    def __init__(self, path, daemon_path, hostile, keys_too=False):
        self.path, self.daemon_path, self.hostile, self.keys_too = path, daemon_path, hostile, keys_too
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        try:
            with peer, socket.socket(socket.AF_UNIX) as daemon:
                daemon.connect(self.daemon_path)
                daemon.sendall(read_whole(peer, 8))
                peer.sendall(read_whole(daemon, 8))
                while True:
                    daemon.sendall(b"".join(frame(peer)))
                    _, body = frame(daemon)
                    said = body[:4] + msgpack.packb(self.spoiled(msgpack.unpackb(body[4:], raw=False, strict_map_key=False)))
                    peer.sendall(b"\x01" + struct.pack(">Q", len(said)) + said)
        except (EOFError, OSError):
            pass

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

    def close(self):
        self.listener.close()
        os.unlink(self.path)
