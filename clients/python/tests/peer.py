# SPDX-License-Identifier: Apache-2.0
"""The daemon's end of a connection as a test plays it, and a clock that the test moves."""
import random
import struct

import msgpack

from ykd.core.call import Call
from ykd.core.channel import State
from ykd.core.frames import OUR_GREETING, THEIR_GREETING
from ykd.core.session import Options, Session

SID, BOOT = bytes(range(16)), bytes(range(16, 32))


def frame(number, message, ipc=True):
    """A reply as bytes."""
    body = struct.pack(">I", 0x80000000 | number) + message
    return (b"\1" if ipc else b"") + struct.pack(">Q", len(body)) + body


class Peer:
    """A session with one connection, or several, and what it has sent."""

    def __init__(self, channels=1):
        self.now = 100.0
        self.session = Session(Options(), channels, random.Random(1))

    def submit(self, kind, body=None, time_limit=30.0, channel=0):
        call = Call(kind, body or {}, time_limit, channel)
        self.session.submit(call, self.now)
        self.session.advance(self.now)
        return call

    def connect(self, channel=0):
        """The connection is made and both have greeted."""
        until = self.now + 30
        while not self.session.wants_connection(channel, self.now) and self.now < until:
            self.now += 0.01
        self.session.connecting(channel)
        self.session.connected(channel, self.now)
        sent = self.session.unwritten(channel)
        assert bytes(sent) == OUR_GREETING, sent
        sent.clear()
        self.session.received(channel, THEIR_GREETING, self.now)
        self.session.advance(self.now)

    def open(self, channel=0, resumed=False, sid=SID, last_seq=0):
        """Connects, and answers Hello, which it returns."""
        self.connect(channel)
        (hello,) = self.sent(channel)
        self.answer(hello, {"sid": sid, "bootID": BOOT, "resumed": resumed, "lastSeq": last_seq,
                            "limits": {"maxMessage": 1 << 20, "livenessTimeoutMs": 30000, "sessionTtlMs": 300000}}, channel)
        assert self.session.channels[channel].state is State.OPEN
        return hello

    def sent(self, channel=0):
        """The requests that were written since it was asked last, as maps with their request numbers."""
        data, found = bytes(self.session.unwritten(channel)), []
        self.session.unwritten(channel).clear()
        while data:
            (size,) = struct.unpack(">Q", data[1:9])
            (number,) = struct.unpack(">I", data[9:13])
            found.append({**msgpack.unpackb(data[13:9 + size]), "number": number & 0x7fffffff})
            data = data[9 + size:]
        return found

    def answer(self, request, body, channel=0, **more):
        self.reply(request, {"v": 1, "kind": request["kind"], "id": request["id"], "ok": True, "body": body, **more}, channel)

    def refuse(self, request, code, name="E_X", channel=0, **error):
        self.reply(request, {"v": 1, "kind": request["kind"], "id": request["id"], "ok": False,
                             "err": {"code": code, "name": name, "message": "m", "retryable": False, **error}}, channel)

    def reply(self, request, message, channel=0):
        self.session.received(channel, frame(request["number"], msgpack.packb(message)), self.now)
        self.session.advance(self.now)

    def cut(self, channel=0):
        self.session.disconnected(channel, "cut by the test", self.now)
        self.session.advance(self.now)

    def later(self, seconds):
        self.now += seconds
        self.session.advance(self.now)
