# SPDX-License-Identifier: Apache-2.0
"""The resource manager's side without a daemon: books, outbox, digests, and its procedures step by step."""
import logging
import unittest

from ykd import (Allocation, Application, Ask, Callbacks, Client, Code, Full, Node, NotServing, OutcomeUnknown, Refused, Release,
                 ResourceManager, TerminationType, TooLarge)
from ykd import requests
from ykd.core import digest, elements, recovery, wire
from ykd.core.call import Call
from ykd.core.effects import Invoke, Request, Wait
from ykd.core.manager import ManagerCore, Registration
from ykd.core.outbox import MOST_IN_BATCH, Element, Outbox, refused_element, request_of
from ykd.values import short_partition

ASK = Ask("app", "a1", {"vcore": 10})
NODE, APPLICATION = Node("n1", {"vcore": 100}), Application("app", "root.a", "u")


def new(key="a1", node="n1", **more):
    return {"allocationKey": key, "applicationID": "app", "partitionName": "[rm]default", "nodeID": node, "resourcePerAlloc": {"vcore": 10}, **more}


def item(number, kind, **body):
    return {"n": number, "kind": kind, "at": 0, "body": body}


class Digests(unittest.TestCase):
    def test_the_hashes_of_the_document(self):
        node = digest.node_line("default", "node-1", {"vcore": 10, "memory": 1000, "gpu": 0}, True)
        self.assertEqual(digest.line_hash(node), 0xbed12ac409fee920)
        self.assertEqual(digest.line_hash(digest.application_line("default", "app-1")), 0x4759723375206710)
        self.assertEqual(digest.line_hash(digest.allocation_line("default", "app-1", "alloc-1", "node-1", {"memory": 100, "vcore": 1}, False)),
                         0x904b3b91d577c385)
        self.assertEqual(digest.digest([(1 << 64) - 1, 2]), 1)


class Values(unittest.TestCase):
    def test_what_would_refuse_a_whole_request_is_refused_here(self):
        for make, error in ((lambda: Ask("app", "", {}), ValueError), (lambda: Ask("app", "a\n", {}), ValueError),
                            (lambda: Ask("app", "x" * 257, {}), ValueError),
                            (lambda: Ask("app", "é" * 129, {}), ValueError), (lambda: Ask("app", "a", {"vcore": 1.5}), TypeError),
                            (lambda: Ask("app", "a", {"vcore": True}), TypeError), (lambda: Ask("app", "a", {"vcore": 1 << 63}), ValueError),
                            (lambda: Ask("app", "\udc80", {}), ValueError), (lambda: Node("n", {}, {"k": 5}), TypeError),
                            (lambda: Ask(7, "a", {}), TypeError), (lambda: Application("a", queue="x" * 1025), ValueError),
                            (lambda: Ask("app", "a", {}, priority=1 << 31), ValueError), (lambda: Ask("app", "a", {}, priority=1.5), TypeError),
                            (lambda: Ask("app", "a", {}, placeholder=1), TypeError), (lambda: Ask("app", "a", {}, partition=None), TypeError),
                            (lambda: Ask("app", "a", {}, allow_preempt_self="no"), TypeError),
                            (lambda: Ask("app", "a", {"vcore": -1}), ValueError), (lambda: Ask("app", "a", {}, devices=5), TypeError),
                            (lambda: Ask("app", "a", {}, devices={"gpu": (1, -5)}), ValueError),
                            (lambda: Node("n", {}, devices={"gpu": [1.5]}), TypeError), (lambda: Node("n", {}, devices={"gpu": 8}), TypeError),
                            (lambda: Node("n", None), TypeError), (lambda: Node("n", {"vcore": -1}), ValueError),
                            (lambda: Node("n", {}, None), TypeError), (lambda: Node("n", {}, occupied={"vcore": -1}), ValueError),
                            (lambda: Node("n", {}, {f"k{n}": "x" * 60000 for n in range(5)}), ValueError),
                            (lambda: Application("a", groups="abc"), TypeError), (lambda: Application("a", groups=("b", 7)), TypeError),
                            (lambda: Application("a", execution_timeout_ms="5"), TypeError), (lambda: Application("a", tags=()), TypeError)):
            with self.assertRaises(error):
                make()
        self.assertEqual(Ask("app", "a", {}, priority=-1 << 31).priority, -1 << 31)

    def test_other_arguments(self):
        there = ("ipc:///tmp/nobody-listens-here", "rm")
        for make, error in ((lambda: elements.new_nodes([[NODE]]), TypeError), (lambda: elements.new_nodes("n"), TypeError),
                            (lambda: elements.asks([APPLICATION]), TypeError), (lambda: elements.drained_nodes([["n"]], "default"), TypeError),
                            (lambda: elements.reported_allocations([Allocation("a", "k", "n", {"vcore": 1.5})]), TypeError),
                            (lambda: elements.reported_allocations([Allocation("a", "", "n", {})]), ValueError),
                            (lambda: elements.released(7, ["k"], "default", ""), TypeError),
                            (lambda: elements.released("a", ["k"], "default", "x" * 4097), ValueError),
                            (lambda: Core().release_for("a"), TypeError), (lambda: Call("Ping", [1]), TypeError), (lambda: Call(5, {}), TypeError),
                            (lambda: requests.register("rm", None, None, None, None, "events", None, None, None), TypeError),
                            (lambda: requests.update_nodes("rm", {"nodeID": "n"}), TypeError),
                            (lambda: Client(5), TypeError), (lambda: Client(there[0], token=5), TypeError),
                            (lambda: Client(there[0], role=""), ValueError),
                            (lambda: Client("tls+tcp://h:1", tls=5), TypeError), (lambda: Client(there[0], largest_reply=1), ValueError),
                            (lambda: ResourceManager(*there, Callbacks), TypeError), (lambda: ResourceManager(there[0], ""), ValueError),
                            (lambda: ResourceManager(*there, capabilities="events"), TypeError),
                            (lambda: ResourceManager(*there, config=5), TypeError), (lambda: ResourceManager(*there, extra_config="a"), TypeError),
                            (lambda: ResourceManager(*there, most_waiting="5"), TypeError), (lambda: ResourceManager(*there, recover=1), TypeError),
                            (lambda: ResourceManager(*there, max_quarantined=-1), ValueError)):
            with self.assertRaises(error):
                make()
        self.assertEqual(len(elements.new_nodes(node for node in [NODE])[1]), 1)

    def test_devices(self):
        self.assertEqual(wire.node_map(Node("n", {}, devices={"gpu": (1000, 1000)}), 1)["devices"], {"gpu": [1000, 1000]})
        self.assertEqual(wire.ask_map(Ask("app", "a", {"gpu": 1000}, devices={"gpu": (2, 500)}))["devices"], {"gpu": {"count": 2, "each": 500}})
        devices = {"gpu": [{"index": 3, "amount": 500}, {"index": 4, "amount": 500}]}
        made = wire.allocation_of({"allocationKey": "k", "nodeID": "n", "devices": devices})
        self.assertEqual(made.devices, {"gpu": ((3, 500), (4, 500))})
        self.assertEqual(wire.allocation_map(made)["devices"], devices)  # it is reported again as it was
        self.assertNotIn("devices", wire.allocation_map(wire.allocation_of({"allocationKey": "k"})))

    def test_short_names_of_partitions(self):
        self.assertEqual([short_partition(name) for name in ("[rm:1]gpu", "gpu", "", None, "[rm]")], ["gpu", "gpu", "default", "default", "default"])


class Outboxes(unittest.TestCase):
    def test_requests_keep_the_order(self):
        box = Outbox(100)
        for found in (elements.new_nodes([NODE]), elements.asks([ASK]), elements.released("app", ["x"], "default", ""), elements.asks([ASK]),
                      elements.removed_asks("app", ["y"], "default")):
            box.add(*found)
        taken = [[one.list_name for one in part] for part in iter(box.take, [])]
        self.assertEqual(taken, [["nodes"], ["asks", "allocationsToRelease"], ["asks", "allocationAsksToRelease"]])

    def test_it_is_limited(self):
        box = Outbox(3)
        box.add("asks", [{}] * 2)
        with self.assertRaisesRegex(Full, "most_waiting"):
            box.add("asks", [{}] * 2)
        self.assertEqual(len(box), 2)
        many = Outbox(10 * MOST_IN_BATCH)
        many.add("asks", [{}] * (MOST_IN_BATCH + 1))
        self.assertEqual([len(many.take()), len(many.take()), len(many.take())], [MOST_IN_BATCH, 1, 0])

    def test_the_refused_element(self):
        part = [Element("asks", {"n": 0}), Element("asks", {"n": 1}), Element("allocationsToRelease", {"n": 2})]
        kind, body = request_of("rm", part)
        self.assertEqual((kind, len(body["asks"]), body["releases"]), ("UpdateAllocation", 2, {"allocationsToRelease": [{"n": 2}]}))
        for path, number in (("asks[1].allocationKey", 1), ("releases.allocationsToRelease[0].applicationID", 2), ("asks[2]", None), ("rmID", None),
                             ("", None), ("asks[x]", None)):
            self.assertEqual(refused_element(part, path), None if number is None else part[number], path)


class Core(ManagerCore):
    """A resource manager whose effects the test answers."""

    def __init__(self, **registration):
        super().__init__(Registration("rm", **registration), 1000, lambda: 0.0)
        self.running, self.called = self.background(), []
        self.waiting = {name: None for name in self.running}

    def put_now(self, found):
        for _ in self.put(*found, 0):
            raise AssertionError("it waits")

    def step(self, name, answer=None):
        """Runs one procedure until it wants a reply, which it returns, or waits (None). Callbacks are called on the way."""
        procedure = self.running[name]
        try:
            while True:
                effect = procedure.throw(answer) if isinstance(answer, Exception) else procedure.send(answer)
                answer = None
                if isinstance(effect, Wait):
                    return None
                if isinstance(effect, Request):
                    return effect
                answer = self.call(effect)
        except StopIteration:
            return None

    def call(self, effect):
        assert isinstance(effect, Invoke)
        self.called.append(tuple(effect.event))
        return None

    def register(self):
        request = self.step("updates")
        assert request.kind == "RegisterResourceManager", request
        return request, self.step("updates", {"streamEpoch": self.life + 5})

    def poll(self, *items):
        """One poll with that answer, and the callbacks that follow."""
        self.called.clear()
        request = self.step("polls")
        assert request.kind == "Poll", request
        self.step("polls", {"items": list(items)})
        self.step("callbacks")
        return [(method, getattr(argument, "key", argument)) for method, argument in self.called]

    def send_all(self):
        """Sends what is in the outbox; each request is accepted."""
        sent, request = [], self.step("updates")
        while request is not None:
            sent.append(request)
            request = self.step("updates", {"position": 1})
        return sent


def serving():
    """One with a node, an application and an allocation."""
    core = Core()
    core.register()
    core.put_now(elements.new_nodes([NODE]))
    core.put_now(elements.new_applications([APPLICATION]))
    core.put_now(elements.asks([ASK]))
    core.send_all()
    core.poll(item(1, "UpdateNode", accepted=[{"nodeID": "n1", "partitionName": "[rm]default"}]),
              item(2, "UpdateApplication", accepted=[{"applicationID": "app", "partitionName": "[rm]default"}]),
              item(3, "UpdateAllocation", new=[new()]))
    return core


class Procedures(unittest.TestCase):
    def setUp(self):
        logging.disable(logging.CRITICAL)
        self.addCleanup(logging.disable, logging.NOTSET)

    def test_a_plain_life(self):
        core = Core()
        request, after = core.register()
        self.assertEqual(("recovery" in request.body, request.body["ifRegistered"], after), (False, "drop", None))
        core = serving()
        self.assertEqual([method for method, _ in core.called], ["node_accepted", "application_accepted", "allocated"])
        self.assertEqual(core.handled, 3)
        core.put_now(elements.released("app", ["a1"], "default", ""))
        (request,) = core.send_all()
        self.assertEqual(request.body["releases"]["allocationsToRelease"][0]["terminationType"], 1)
        self.assertEqual(core.poll(item(4, "UpdateAllocation", released=[{**new(), "terminationType": 1}])), [("released", "a1")])
        self.assertEqual(core.poll(item(4, "UpdateAllocation", new=[new("again")]), item(5, "Later", x=1)), [], "repeated, unknown")
        self.assertEqual(core.handled, 5)

    def test_items_are_acknowledged_after_their_callbacks(self):
        core = serving()
        core.step("polls")
        core.step("polls", {"items": [item(4, "UpdateAllocation", new=[new("b")])]})
        self.assertIsNone(core.step("polls"), "it does not poll before that is handled")
        self.assertEqual(core.handled, 3)
        core.step("callbacks")
        self.assertEqual(core.step("polls").body["ack"], 4)

    def test_a_restart_reports_everything_once(self):
        core = serving()
        core.put_now(elements.asks([Ask("app", "a2", {"vcore": 10})]))
        core.step("updates")
        request = core.step("updates", OutcomeUnknown("lost"))
        self.assertEqual((request.kind, request.body["ifRegistered"], request.body["recovery"]["expected"]),
                         ("RegisterResourceManager", "refuse", {"applications": 1, "nodes": 1, "allocations": 1, "asks": 1}))
        sent = []
        request = core.step("updates", {"streamEpoch": 9})
        while request.kind != "RecoveryDone":
            sent.append(next(key for key in request.body if key != "rmID"))
            request = core.step("updates", {"position": 1})
        self.assertEqual(sent, ["new", "nodes", "allocations", "asks"])
        self.assertEqual(request.body["expected"], {"applications": 1, "nodes": 1, "allocations": 1})
        self.assertEqual(request.body["digest"]["applications"], digest.line_hash("A\tdefault\tapp\n"))
        core.step("updates", {"result": "running"})
        self.assertEqual(core.poll(item(1, "UpdateAllocation", new=[new()]), item(2, "UpdateAllocation", new=[new("a2")])), [("allocated", "a2")])

    def test_a_report_that_is_too_large_is_sent_in_parts(self):
        core = serving()
        core.put_now(elements.asks([Ask("app", key, {"vcore": 1}) for key in ("b", "c", "d")]))
        core.step("updates")
        request = core.step("updates", OutcomeUnknown("lost"))
        sent = []
        request = core.step("updates", {"streamEpoch": 9})
        while request.kind != "RecoveryDone":
            asks = [one["allocationKey"] for one in request.body.get("asks", [])]
            whole = len(asks) < 2
            sent += asks if whole else []
            refusal = TooLarge("79 MB") if len(asks) > 2 else Refused("UpdateAllocation", {"code": Code.E_LIMIT, "name": "E_LIMIT"})
            request = core.step("updates", {"position": 1} if whole else refusal)
        self.assertEqual(sent, ["b", "c", "d"])

    def test_a_lost_release_is_reported_as_done(self):
        core = serving()
        core.put_now(elements.released("app", ["a1"], "default", ""))
        core.step("updates")
        request = core.step("updates", OutcomeUnknown("lost"))
        self.assertEqual(request.body["recovery"]["expected"]["allocations"], 0)
        core.called.clear()
        core.step("callbacks")
        self.assertEqual([(method, release.key) for method, release in core.called], [("released", "a1")])

    def test_what_another_process_took_is_left_alone(self):
        core = serving()
        busy = {"code": Code.E_BUSY_STATE, "name": "E_BUSY_STATE", "details": {"streamEpoch": 77}}
        core.put_now(elements.asks([ASK]))
        core.step("updates")
        core.step("updates", OutcomeUnknown("lost"))
        core.step("updates", Refused("RegisterResourceManager", busy))
        self.assertIsInstance(core.stopped, NotServing)
        own = serving()
        own.put_now(elements.asks([ASK]))
        own.step("updates")
        own.step("updates", OutcomeUnknown("lost"))
        request = own.step("updates", Refused("RegisterResourceManager", {**busy, "details": {"streamEpoch": own.stream_epoch}}))
        self.assertEqual(request.body["ifRegistered"], "drop")

    def test_a_newer_poll_elsewhere_stops_it(self):
        core = serving()
        core.step("polls")
        core.step("polls", Refused("Poll", {"code": Code.E_SUPERSEDED, "name": "E_SUPERSEDED"}))
        self.assertIn("another process has taken it over", str(core.stopped))
        core.called.clear()
        core.step("callbacks")
        self.assertEqual(core.called, [("stopped", core.stopped)])

    def test_a_stop_is_confirmed_once(self):
        core = serving()
        found = {**new(), "terminationType": 3, "message": "preempted"}
        self.assertEqual(core.poll(item(4, "UpdateAllocation", released=[found])), [("stop_requested", "a1")])
        release = core.called[0][1]
        self.assertEqual((release.termination_type, release.node_id), (TerminationType.PREEMPTED_BY_SCHEDULER, "n1"))
        core.put_now(elements.confirmed(core.release_for(release)))
        (request,) = core.send_all()
        self.assertEqual(request.body["releases"]["allocationsToRelease"][0]["terminationType"], 3)
        core.called.clear()
        core.step("callbacks")
        self.assertEqual([method for method, _ in core.called], ["released"], "no echo comes")
        core.life += 1
        self.assertEqual(core.release_for(release).termination_type, TerminationType.STOPPED_BY_RM, "another daemon did not ask for it")

    def test_one_wrong_element_refuses_itself_only(self):
        core = serving()
        core.put_now(elements.asks([Ask("app", key, {"vcore": 1}) for key in ("x", "y", "z")]))
        request = core.step("updates")
        self.assertEqual(len(request.body["asks"]), 3)
        request = core.step("updates", Refused("UpdateAllocation", {"code": Code.E_INVALID, "name": "E_INVALID", "path": "asks[1].allocationKey"}))
        self.assertEqual([one["allocationKey"] for one in request.body["asks"]], ["x", "z"])
        request = core.step("updates", Refused("UpdateAllocation", {"code": Code.E_LIMIT, "name": "E_LIMIT"}))
        self.assertEqual([one["allocationKey"] for one in request.body["asks"]], ["x"])
        request = core.step("updates", {})
        core.step("updates", {})
        core.called.clear()
        core.step("callbacks")
        self.assertEqual([(method, one.key, one.code) for method, one in core.called], [("rejected", "y", Code.E_INVALID)])
        self.assertEqual(sorted(key[2] for key in core.books.asks), ["x", "z"])

    def test_a_recovery_mends_what_differs(self):
        core = Core()
        core.restore(elements.existing([NODE], [APPLICATION], [Allocation("app", "a1", "n1", {"vcore": 10})], []))
        request, _ = core.register()
        self.assertIn("recovery", request.body)
        request = core.step("updates", {})
        while request.kind != "RecoveryDone":
            request = core.step("updates", {})
        lists = {"applications": [{"partitionName": "default", "applicationID": "app", "hash": digest.line_hash("A\tdefault\tapp\n")}], "nodes": [],
                 "allocations": [{"partitionName": "default", "applicationID": "app", "allocationKey": "more", "hash": 5}]}
        sent = []
        request = core.step("updates", {"result": "retry"})
        while request.kind != "RecoveryDone":
            sent += [] if request.kind == "RecoveryList" else [request.body]
            request = core.step("updates", {"items": lists[request.body["kind"]]} if request.kind == "RecoveryList" else {})
        lists = [next(key for key in body if key != "rmID") for body in sent]
        self.assertEqual((request.body["attempt"], lists), (2, ["nodes", "releases", "allocations"]))
        self.assertEqual(sent[1]["releases"]["allocationsToRelease"][0]["allocationKey"], "more")

    def test_a_fault_stops_it_and_is_named(self):
        core = serving()
        core.step("polls")
        core.step("polls", {"items": [7]})
        self.assertIn("because its polls ended", str(core.stopped))

    def test_calls_are_answered_also_when_they_raise(self):
        core = serving()
        core.step("polls")
        call = {**item(4, "Predicates", nodes=["n1"]), "call": 7, "ttl": 2000}
        core.step("polls", {"items": [call]})
        core.call = lambda effect: {"results": []}
        request = core.step("callbacks")
        self.assertEqual((request.kind, request.body["call"], request.body["ok"], request.time_limit), ("CallResult", 7, True, 2.0))
        core.step("callbacks", {"late": False})
        self.assertEqual(core.handled, 4)


class Snapshots(unittest.TestCase):
    def test_what_lost_its_node_has_ended(self):
        core = serving()
        core.books.sending([Element(*(lambda found: (found[0], found[1][0]))(elements.removed_nodes(["n1"], "default")))])
        events = core.books.start_anew()
        self.assertEqual([(event.method, event.argument.key) for event in events], [("released", "a1")])
        self.assertEqual(recovery.snapshot_of(core.books).expected(), {"applications": 1, "nodes": 0, "allocations": 0})

    def test_a_drained_node_is_reported_as_such(self):
        core = serving()
        core.books.sending([Element(*(lambda found: (found[0], found[1][0]))(elements.drained_nodes(["n1"], "default")))])
        snapshot = recovery.snapshot_of(core.books)
        self.assertEqual(snapshot.elements["nodes"]["default", "n1"].map["action"], 6)
        self.assertEqual(snapshot.digests()["nodes"], digest.line_hash("N\tdefault\tn1\tvcore=100\t0\n"))

    def test_releases_of_all_of_an_application(self):
        core = serving()
        core.books.sending([Element("asks", {"applicationID": "app", "allocationKey": "p", "resourceAsk": {}})])
        core.books.sending([Element("allocationsToRelease", {"applicationID": "app", "allocationKey": "", "terminationType": 1, "message": ""})])
        self.assertEqual((core.books.asks, core.books.allocations, len(core.books.ending)), ({}, {}, 1))
        self.assertIsInstance(next(iter(core.books.ending.values())).release, Release)


if __name__ == "__main__":
    unittest.main()
