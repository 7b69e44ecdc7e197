# SPDX-License-Identifier: Apache-2.0
"""Bytes from a peer that is wrong, and those of the worked example of docs/protocol.md."""
import unittest

import msgpack

from ykd.addresses import parse_address
from ykd.core.envelopes import decode_reply, encode_body, encode_request
from ykd.core.frames import THEIR_GREETING, FrameReader, encode_frame
from ykd.errors import BadBytes

from .peer import frame

HELLO = bytes.fromhex("""01 00 00 00 00 00 00 00 3b 80 00 00 01 84 a1 76 01 a4 6b 69 6e 64 a5 48 65 6c 6c 6f a2 69 64 01
a4 62 6f 64 79 84 a3 6d 69 6e 01 a3 6d 61 78 01 a6 63 6c 69 65 6e 74 a4 64 65 6d 6f a4 72 6f 6c 65 a2 72 6d""")
POSITION = bytes.fromhex("""01 00 00 00 00 00 00 00 30 80 00 00 02 85 a1 76 01 a4 6b 69 6e 64 aa 55 70 64 61 74 65 4e 6f 64
65 a2 69 64 02 a2 6f 6b c3 a4 62 6f 64 79 81 a8 70 6f 73 69 74 69 6f 6e 01""")


def reader(ipc=True, largest=1000):
    made = FrameReader(ipc, largest)
    made.feed(THEIR_GREETING)
    return made


class Frames(unittest.TestCase):
    def test_the_worked_example(self):
        message = HELLO[13:]
        self.assertEqual(encode_frame(1, message, ipc=True), HELLO)
        ((number, reply),) = reader().feed(POSITION)
        self.assertEqual((number, decode_reply(reply).body), (2, {"position": 1}))

    def test_parts_of_any_size(self):
        data = THEIR_GREETING + POSITION * 3
        for size in (1, 2, 7, 8, 9, 50, len(data)):
            made = FrameReader(True, 1000)
            found = [one for at in range(0, len(data), size) for one in made.feed(data[at:at + size])]
            self.assertEqual([number for number, _ in found], [2, 2, 2], size)

    def test_tcp_has_no_mark(self):
        ((number, message),) = reader(ipc=False).feed(frame(7, b"x", ipc=False))
        self.assertEqual((number, message), (7, b"x"))
        self.assertEqual(encode_frame(7, b"x", ipc=False), frame(7, b"x", ipc=False))

    def test_a_truncated_frame_is_waited_for(self):
        made = reader()
        self.assertEqual(made.feed(POSITION[:-1]), [])
        self.assertEqual(len(made.feed(POSITION[-1:])), 1)

    def test_wrong_bytes(self):
        for data in (b"HTTP/1.1", b"\0SP\0\0\x30\0\0", b"\x15\x03"):
            with self.assertRaises(BadBytes, msg=data):
                FrameReader(True, 1000).feed(data)
        too_large = b"\1" + (1001).to_bytes(8, "big")
        huge, too_small, other_mark = b"\1" + b"\xff" * 8, b"\1" + (3).to_bytes(8, "big"), b"\2" + POSITION[1:]
        no_bit = POSITION[:9] + b"\0" + POSITION[10:]
        for data in (too_large, huge, too_small, other_mark, no_bit):
            with self.assertRaises(BadBytes, msg=data):
                reader().feed(data)


class Envelopes(unittest.TestCase):
    def test_what_is_no_reply(self):
        good = {"v": 1, "kind": "Ping", "id": 1, "ok": True}
        wrong = [b"", b"\xc1", b"\x85\xa1", msgpack.packb([1]), msgpack.packb(7), msgpack.packb(good) + b"\0", b"\xdf\xff\xff\xff\xff",
                 b"\xdd\xff\xff\xff\xff", b"\x81\xa1\xff\x01", b"\x91" * 100_000, b"\x81" * 100_000, b"\xc7\x01\x05\x00", msgpack.packb({1: 2}),
                 *(msgpack.packb({**good, **change}) for change in (
                     {"ok": 1}, {"ok": None}, {"id": "1"}, {"kind": 3}, {"body": []}, {"body": "x"}, {"ok": False}, {"ok": False, "err": 5},
                     {"ok": False, "err": {"code": "E"}}))]
        for message in wrong:
            with self.assertRaises(BadBytes, msg=message[:40]):
                decode_reply(message)

    def test_nil_is_absent_and_unknown_keys_are_ignored(self):
        reply = decode_reply(msgpack.packb({"v": 1, "kind": "Ping", "id": 1, "ok": True, "body": None, "later": [1]}))
        self.assertEqual((reply.body, reply.error, reply.dup), ({}, {}, False))

    def test_a_request(self):
        message = encode_request("UpdateNode", 5, b"s" * 16, 3, 1000, encode_body("UpdateNode", {"rmID": "a"}))
        self.assertEqual(msgpack.unpackb(message), {
            "v": 1, "kind": "UpdateNode", "id": 5, "ttl": 1000, "sid": b"s" * 16, "seq": 3, "body": {"rmID": "a"}})

    def test_bodies_that_cannot_be_sent(self):
        for body, error in (({"a": object()}, TypeError), ({"a": 1 << 64}, ValueError), ({"a": "\udc80"}, ValueError)):
            with self.assertRaisesRegex(error, "UpdateNode: the body cannot be sent"):
                encode_body("UpdateNode", body)


class Addresses(unittest.TestCase):
    def test_those_that_are(self):
        for text in ("ipc:///run/ykd/ykd.sock", "tcp://127.0.0.1:9810", "tls+tcp://ykd.example:9810", "tcp://[::1]:9810"):
            self.assertEqual(str(parse_address(text)), text)

    def test_those_that_are_not(self):
        for text in ("", "ipc://", "/run/ykd.sock", "http://x:1", "tcp://x", "tcp://:1", "tcp://x:0", "tcp://x:65536", "tcp://x:a", "tcp://::1:9",
                     "ipc://" + "x" * 108):
            with self.assertRaisesRegex(ValueError, "address"):
                parse_address(text)


if __name__ == "__main__":
    unittest.main()
