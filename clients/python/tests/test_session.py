# SPDX-License-Identifier: Apache-2.0
"""Sequence numbers, repetitions and sessions, played against a peer of the test."""
import unittest

import msgpack

from ykd.core.changes import MOST_NUMBERED
from ykd.errors import BadBytes, Closed, Code, NoAnswer, OutcomeUnknown, Refused, SessionLost, TooLarge

from .peer import BOOT, SID, Peer, frame

NODE = "UpdateNode"


class Requests(unittest.TestCase):
    def test_hello_goes_first(self):
        peer = Peer()
        call = peer.submit("Ping")
        hello = peer.open()
        self.assertEqual((hello["kind"], hello["body"]["min"], "resume" in hello["body"]), ("Hello", 1, False))
        (ping,) = peer.sent()
        self.assertEqual((ping["kind"], ping["sid"], "seq" in ping), ("Ping", SID, False))
        peer.answer(ping, {"state": 1})
        self.assertEqual((call.done, call.outcome, peer.session.completed), (True, {"state": 1}, [call]))

    def test_changes_are_numbered_in_their_order_and_16_are_under_way(self):
        peer = Peer()
        peer.open()
        calls = [peer.submit(NODE, {"n": n}) for n in range(20)]
        sent = peer.sent()
        self.assertEqual([one["seq"] for one in sent], list(range(1, MOST_NUMBERED + 1)))
        peer.answer(sent[1], {})
        self.assertEqual([(one["seq"], one["body"]["n"]) for one in peer.sent()], [(17, 16)])
        self.assertTrue(calls[1].done and not calls[0].done)

    def test_a_reply_to_nobody_is_ignored_and_one_with_a_wrong_id_cuts(self):
        peer = Peer()
        peer.open()
        peer.submit("Ping")
        (ping,) = peer.sent()
        peer.answer({**ping, "number": 77}, {})
        for wrong in ({"id": ping["id"] + 1}, {"kind": "Status"}):
            with self.assertRaises(BadBytes):
                peer.answer({**ping, **wrong}, {})
        with self.assertRaises(BadBytes):
            peer.session.received(0, frame(ping["number"], b"\xc1"), peer.now)

    def test_the_time_limit(self):
        peer = Peer()
        unsent = peer.submit(NODE, time_limit=5)
        peer.later(6)
        self.assertIsInstance(unsent.error, NoAnswer)
        self.assertFalse(unsent.error.sent)
        peer.open()
        sent = peer.submit(NODE, {"n": 1}, time_limit=5)
        after = peer.submit(NODE, {"n": 2}, time_limit=60)
        peer.later(6)
        self.assertTrue(sent.error.sent and "may have been carried out" in str(sent.error))
        first, second = peer.sent()
        peer.answer(second, {})
        self.assertTrue(after.done)
        peer.cut()
        peer.open(resumed=True)
        self.assertEqual([one["seq"] for one in peer.sent()], [first["seq"]], "its number has to be used up")

    def test_a_connection_that_does_not_answer_is_dead(self):
        peer = Peer()
        peer.open()
        peer.submit("Ping", time_limit=None)
        self.assertFalse(peer.session.is_dead(0, peer.now + 40))
        self.assertTrue(peer.session.is_dead(0, peer.now + 46))
        shaking = Peer()
        shaking.connect()
        self.assertTrue(shaking.session.is_dead(0, shaking.now + 16))

    def test_a_peer_that_does_not_greet_is_named(self):
        peer = Peer()
        first = peer.submit("Ping", time_limit=5)
        peer.session.connecting(0)
        peer.session.connected(0, peer.now)
        peer.later(6)
        self.assertIn("connected, but it has not greeted as a ykd", str(first.error))
        peer.cut()
        second = peer.submit("Ping", time_limit=5)
        peer.later(6)
        self.assertIn("cut by the test; it has not greeted as a ykd", str(second.error))

    def test_a_request_that_is_too_large_is_not_sent_and_takes_no_number(self):
        peer = Peer()
        peer.open()
        call = peer.submit(NODE, {"x": b"x" * (1 << 20)})
        self.assertIsInstance(call.error, TooLarge)
        peer.submit(NODE)
        self.assertEqual([one["seq"] for one in peer.sent()], [1])

    def test_close_ends_all(self):
        peer = Peer()
        peer.open()
        calls = [peer.submit(NODE), peer.submit("Ping")]
        peer.session.close()
        self.assertTrue(all(isinstance(call.error, Closed) for call in calls))
        with self.assertRaises(Closed):
            peer.submit("Ping")
        self.assertFalse(peer.session.wants_connection(0, peer.now + 100))

    def test_a_quiet_session_pings(self):
        peer = Peer()
        peer.session.ping_body = {"rmID": "a"}
        peer.open()
        peer.later(11)
        (ping,) = peer.sent()
        self.assertEqual((ping["kind"], ping["body"]), ("Ping", {"rmID": "a"}))
        peer.answer(ping, {})
        self.assertEqual(peer.session.completed, [])


class Repetitions(unittest.TestCase):
    def test_what_was_not_answered_is_sent_again_with_its_number(self):
        peer = Peer()
        peer.open()
        change, read = peer.submit(NODE, {"n": 1}), peer.submit("Status")
        before = peer.sent()
        peer.cut()
        hello = peer.open(resumed=True)
        self.assertEqual(hello["body"]["resume"], {"sid": SID, "bootID": BOOT})
        again = peer.sent()
        self.assertEqual(before, again, "the same to the last byte")
        peer.answer(again[0], {"position": 1}, dup=True)
        peer.answer(again[1], {})
        self.assertEqual((change.outcome, read.done), ({"position": 1}, True))

    def test_busy_is_repeated_with_the_same_number_and_holds_later_ones_back(self):
        peer = Peer()
        peer.open()
        call = peer.submit(NODE)
        (first,) = peer.sent()
        peer.refuse(first, Code.E_BUSY, retryable=True, retryAfterMs=200)
        peer.submit(NODE)
        self.assertEqual(peer.sent(), [])
        peer.later(0.4)
        self.assertEqual([one["seq"] for one in peer.sent()], [1, 2])
        peer.answer(first, {})
        self.assertTrue(call.done and call.error is None)

    def test_busy_for_too_long_is_raised_and_its_number_filled(self):
        peer = Peer()
        peer.open()
        call = peer.submit(NODE, {"n": 1}, time_limit=1)
        (first,) = peer.sent()
        peer.refuse(first, Code.E_BUSY, "E_BUSY", retryable=True, retryAfterMs=5000)
        peer.later(2)
        self.assertIsInstance(call.error, Refused)
        self.assertEqual(call.error.name, "E_BUSY")
        peer.later(10)
        (again,) = peer.sent()
        self.assertEqual(again["seq"], 1)

    def test_a_refusal_that_leaves_the_number_free_is_filled(self):
        peer = Peer()
        peer.open()
        call = peer.submit(NODE, {"n": 1})
        peer.submit(NODE, {"n": 2})
        first, second = peer.sent()
        peer.refuse(first, Code.E_FORBIDDEN)
        self.assertEqual(call.error.code, Code.E_FORBIDDEN)
        (filler,) = peer.sent()
        self.assertEqual((filler["kind"], filler["seq"], filler["body"]), (NODE, 1, {}))
        peer.refuse(filler, Code.E_MISSING_FIELD)
        peer.refuse(second, Code.E_SEQ_GAP, details={"expected": 2})
        self.assertEqual([(one["seq"], one["body"]) for one in peer.sent()], [(2, {"n": 2})])

    def test_a_gap_is_filled(self):
        peer = Peer()
        peer.open()
        peer.submit(NODE)
        (first,) = peer.sent()
        peer.answer(first, {})
        peer.submit(NODE)
        (second,) = peer.sent()
        peer.refuse(second, Code.E_SEQ_GAP, details={"expected": 1})
        self.assertEqual([(one["seq"]) for one in peer.sent()], [1, 2])

    def test_other_errors_are_raised(self):
        peer = Peer()
        peer.open()
        call = peer.submit("Explain")
        (request,) = peer.sent()
        peer.refuse(request, 320, "E_NOT_FOUND", path="queue", details={"a": 1})
        self.assertEqual((call.error.code, call.error.name, call.error.path, call.error.details), (320, "E_NOT_FOUND", "queue", {"a": 1}))
        self.assertEqual(peer.sent(), [])

    def test_back_off_grows_and_has_an_end(self):
        peer = Peer()
        pauses = []
        for _ in range(12):
            before = peer.now
            peer.connect()
            peer.cut()
            pauses.append(peer.now - before)
        self.assertLess(pauses[1], 0.1)
        self.assertTrue(2 < pauses[-1] < 5.1, pauses)


class Sessions(unittest.TestCase):
    def restart(self, peer):
        peer.cut()
        return peer.open(sid=b"n" * 16)

    def test_a_lost_session(self):
        peer = Peer()
        peer.open()
        sent, read, poll = peer.submit(NODE), peer.submit("Status"), peer.submit("Poll")
        peer.sent()
        peer.cut()
        unsent = peer.submit(NODE)
        peer.open(sid=b"n" * 16)
        self.assertIsInstance(sent.error, OutcomeUnknown)
        self.assertIsInstance(unsent.error, SessionLost)
        self.assertNotIsInstance(unsent.error, OutcomeUnknown)
        self.assertIsInstance(poll.error, SessionLost)
        (again,) = peer.sent()
        self.assertEqual((again["kind"], again["sid"], read.done), ("Status", b"n" * 16, False))
        peer.submit("RegisterResourceManager")
        self.assertEqual([one["seq"] for one in peer.sent()], [1])

    def test_what_belongs_to_no_session_goes_on_in_the_next(self):
        peer = Peer()
        peer.open()
        peer.cut()
        call = peer.submit("RegisterResourceManager", {"rmID": "a"})
        peer.open(sid=b"n" * 16)
        (again,) = peer.sent()
        self.assertEqual((again["seq"], again["sid"], call.done), (1, b"n" * 16, False))

    def test_busy_and_then_lost_was_not_carried_out(self):
        peer = Peer()
        peer.open()
        call = peer.submit(NODE)
        (first,) = peer.sent()
        peer.refuse(first, Code.E_SHUTTING_DOWN, retryable=True, retryAfterMs=1000)
        self.restart(peer)
        self.assertNotIsInstance(call.error, OutcomeUnknown)

    def test_session_unknown_says_hello_again_on_the_same_connection(self):
        peer = Peer()
        peer.open()
        call = peer.submit("Status")
        (status,) = peer.sent()
        peer.refuse(status, Code.E_SESSION_UNKNOWN)
        (hello,) = peer.sent()
        self.assertEqual((hello["kind"], "resume" in hello["body"]), ("Hello", False))
        peer.answer(hello, {"sid": b"n" * 16, "bootID": BOOT, "resumed": False, "lastSeq": 0})
        (again,) = peer.sent()
        self.assertEqual((again["kind"], again["sid"]), ("Status", b"n" * 16))
        peer.answer(again, {})
        self.assertTrue(call.done)

    def test_a_refused_hello_ends_all(self):
        peer = Peer()
        call = peer.submit("Ping")
        peer.connect()
        (hello,) = peer.sent()
        peer.refuse(hello, Code.E_AUTH, "E_AUTH")
        self.assertEqual(call.error.name, "E_AUTH")
        with self.assertRaises(Refused):
            peer.submit("Ping")

    def test_a_busy_hello_is_said_again(self):
        peer = Peer()
        peer.submit("Ping")
        peer.connect()
        (hello,) = peer.sent()
        peer.refuse(hello, Code.E_BUSY, retryable=True, retryAfterMs=100)
        self.assertEqual(peer.sent(), [])
        peer.later(0.3)
        self.assertEqual([one["kind"] for one in peer.sent()], ["Hello"])

    def test_the_second_connection_waits_for_the_session_and_joins_it(self):
        peer = Peer(channels=2)
        self.assertFalse(peer.session.wants_connection(1, peer.now))
        peer.open()
        hello = peer.open(1, resumed=True)
        self.assertEqual(hello["body"]["resume"]["sid"], SID)
        poll = peer.submit("Poll", channel=1)
        (sent,) = peer.sent(1)
        peer.refuse(sent, Code.E_SESSION_UNKNOWN, channel=1)
        self.assertIsInstance(poll.error, SessionLost)
        self.assertEqual([one["kind"] for one in peer.sent(0)], ["Hello"])

    def test_a_hello_that_is_none(self):
        for body in ({}, {"sid": SID}, {"sid": "x", "bootID": BOOT}, {"sid": SID, "bootID": BOOT, "limits": 3}):
            peer = Peer()
            peer.connect()
            (hello,) = peer.sent()
            with self.assertRaises(BadBytes):
                peer.answer(hello, body)


class Random(unittest.TestCase):
    def test_garbage_never_raises_anything_but_bad_bytes(self):
        import random
        for seed in range(300):
            chance, peer = random.Random(seed), Peer()
            peer.open()
            peer.submit(NODE)
            (request,) = peer.sent()
            message = bytearray(frame(request["number"], msgpack.packb({
                "v": 1, "kind": NODE, "id": request["id"], "ok": False, "err": {"code": 400, "retryable": True, "details": {"expected": 1}}})))
            for _ in range(chance.randrange(1, 6)):
                message[chance.randrange(len(message))] = chance.randrange(256)
            try:
                peer.session.received(0, bytes(message[:chance.randrange(1, len(message) + 1)]), peer.now)
                peer.session.advance(peer.now)
            except BadBytes:
                pass


if __name__ == "__main__":
    unittest.main()
