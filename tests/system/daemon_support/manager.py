# SPDX-License-Identifier: Apache-2.0
"""A resource manager with books of its own, in a file that outlives it. It makes work at random, comes back by recovery as
interface.md section 3 says whatever happens to it, to its connections or to the daemon, and compares what the daemon has
with its books. Nothing in it is shared with the programs."""
import collections
import contextlib
import json
import os
import random
import time

from daemon_support import CONFIG, check, until
from daemon_support.books import Books
from daemon_support.history import History
from daemon_support.link import Gone, Link, Refused

RUNNING = 1
UNKNOWN_APPLICATION, TERMINAL_APPLICATION = 1010, 1012
ENDED = ("Completed", "Failed", "Expired")
SLOW = 0.01  # of an RM that reads slowly: how often it begins to


class OwnBooks:
    """Each change is a line of the file, written before anything is sent or acknowledged because of it."""

    def __init__(self, path=None):
        self.nodes, self.apps, self.asks, self.placed = {}, {}, {}, {}  # asks: those that are placed, too
        self.used = collections.Counter()
        self.made, self.file, self.waiting = 0, None, []
        if path is not None:
            self.load(path)

    def load(self, path):
        self.file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        with open(path, "rb") as file:
            data = file.read()
        whole = data[:data.rfind(b"\n") + 1]
        for line in whole.splitlines():
            self.apply(*json.loads(line))
        os.ftruncate(self.file, len(whole))  # of a line that a SIGKILL tore
        os.lseek(self.file, 0, os.SEEK_END)

    def name(self, kind):
        self.made += 1
        return f"{kind}{self.made}"

    def note(self, *change):
        self.apply(*change)
        if self.file is not None:
            self.waiting.append(json.dumps(change).encode() + b"\n")

    def write(self):
        if self.waiting:
            data, self.waiting = b"".join(self.waiting), []
            check(os.write(self.file, data) == len(data), "the books of the RM could not be written")

    def apply(self, what, name, *more):
        self.made = max(self.made, int(name.lstrip("abcdefghijklmnopqrstuvwxyz") or 0))
        getattr(self, what)(name, *more)

    def node(self, name, amount):
        self.nodes[name] = [amount, True]

    def schedulable(self, name, yes):
        self.nodes[name][1] = yes

    def node_gone(self, name):
        del self.nodes[name]
        for key in [key for key, node in self.placed.items() if node == name]:
            self.gone(key)

    def app(self, name, queue):
        self.apps[name] = queue

    def app_gone(self, name):
        del self.apps[name]
        for key in [key for key, (app, _) in self.asks.items() if app == name]:
            self.gone(key)

    def ask(self, key, app, size):
        self.asks[key] = (app, size)

    def place(self, key, node):
        self.placed[key] = node
        self.used[node] += self.asks[key][1]

    def gone(self, key):
        if key in self.placed:
            self.used[self.placed.pop(key)] -= self.asks[key][1]
        del self.asks[key]

    def pending(self):
        return {key: ask for key, ask in self.asks.items() if key not in self.placed}

    def view(self):
        """What the daemon has to have."""
        return {"nodes": {name: tuple(node) for name, node in self.nodes.items()}, "applications": set(self.apps),
                "allocations": {key: (self.asks[key][0], node, self.asks[key][1]) for key, node in self.placed.items()},
                "pending": self.pending()}

    def claim(self):
        """expected and digest of RecoveryDone."""
        books = Books()
        for name, (amount, schedulable) in self.nodes.items():
            books.node(name, {"vcore": amount}, schedulable)
        for app in self.apps:
            books.application(app)
        for key, node in self.placed.items():
            books.allocation(self.asks[key][0], key, node, {"vcore": self.asks[key][1]})
        return {"expected": {**books.expected, "asks": len(self.pending())}, "digest": books.digest}


class Manager:
    """`cut`: see Link. `slow`: it does not poll for a while now and then, so that its stream overflows."""

    def __init__(self, where, rm="rm:1", seed=0, books=None, asks=250, slow=False, **link):
        self.rm, self.random, self.wanted, self.slow = rm, random.Random(seed), asks, slow
        self.link = Link(where, seed=seed, on_busy=self.listen, on_lost=self.lose, **link)
        self.books, self.history = OwnBooks(books), History()
        self.acknowledged, self.life, self.quiet, self.recovering = 0, 0, 0, False
        self.epoch, self.placements = None, 0  # since it is running again
        self.counts = collections.Counter()

    # --- what it is told ----------------------------------------------------------------------------------------------

    def listen(self, wait=0):
        """One poll; how many items it brought. It acknowledges what it handled, at times less than that."""
        if self.epoch is None:
            return 0
        handled = self.history.handled
        ack = handled if self.random.random() < 0.8 else self.random.randint(self.acknowledged, handled)
        self.acknowledged = ack
        self.history.acknowledge(ack)
        try:
            reply = self.link.request("Poll", {"rmID": self.rm, "streamEpoch": self.epoch, "ack": ack, "waitMs": wait,
                                               "maxItems": self.random.choice((3, 50, 1000))})
        except Refused as refused:
            if refused.name != "E_SUPERSEDED":  # by a copy of this poll, made on the way
                raise
            self.counts["superseded polls"] += 1
            return 1
        self.handle(self.history.deliver(reply["streamEpoch"], reply["items"]))
        return len(reply["items"])

    def lose(self, kind, reply):
        if kind == "Poll" and reply["ok"] and reply["body"]["streamEpoch"] == self.epoch:
            self.history.arrive(reply["body"]["items"])

    def handle(self, items):
        for item in items:
            kind, body = item["kind"], item["body"]
            if kind == "UpdateAllocation":
                self.handle_allocations(body)
            elif kind == "UpdateApplication":
                check(not body.get("rejected"), "an application was rejected:", body)
                for one in body.get("updated", []):
                    if one["state"] in ENDED and one["applicationID"] in self.books.apps:
                        self.books.note("app_gone", one["applicationID"])
            elif kind == "UpdateNode":
                check(not body.get("rejected") and not body.get("failed"), "a node was rejected:", body)
            elif kind == "Notice":
                self.counts[body["code"]] += 1
        self.books.write()

    def handle_allocations(self, body):
        check(not body.get("rejectedAllocations"), "an allocation was rejected:", body)
        books = self.books
        for one in body.get("new", []):
            key, node = one["allocationKey"], one["nodeID"]
            if key not in books.asks:
                self.counts["placed when it was no longer wanted"] += 1  # its release is on the way
            elif node not in books.nodes:
                books.note("gone", key)  # likewise the removal of the node
            elif key in books.placed:
                check(self.recovering and books.placed[key] == node, key, "is on", books.placed[key], "and was placed on", node)
            else:
                check(not self.recovering, key, "was placed while the RM recovers")
                books.note("place", key, node)
                check(books.used[node] <= books.nodes[node][0], node, "has more than it can hold:", books.used[node])
                self.placements += 1
        for one in body.get("rejected", []):
            check(one["code"] in (UNKNOWN_APPLICATION, TERMINAL_APPLICATION), "an ask was rejected:", one)
            if one["allocationKey"] in books.asks:
                books.note("gone", one["allocationKey"])
        for one in body.get("released", []):
            if one["allocationKey"] in books.placed:
                books.note("gone", one["allocationKey"])

    def settle(self):
        """Until it knows what came of all that it sent."""
        self.link.request("Sync", {"rmID": self.rm})
        while self.listen():
            pass

    # --- how it comes back --------------------------------------------------------------------------------------------

    def come_back(self):
        """Registers with recovery and replays its books, until it is running."""
        while True:
            with self.counting():
                return self.recover()

    def steadily(self, what):
        """Does it, and again after each recovery that it takes."""
        while True:
            with self.counting():
                return what()
            self.come_back()

    @contextlib.contextmanager
    def counting(self):
        try:
            yield
        except Gone as gone:
            self.counts[gone.args[0]] += 1

    def recover(self):
        self.life += 1
        attempt, self.epoch = f"{os.getpid()}.{self.life}", None
        reply = self.link.change("RegisterResourceManager", {"rmID": self.rm, "config": CONFIG, "recovery": {"id": attempt}})
        self.counts["interrupted recoveries"] += self.recovering  # the one before
        self.epoch, self.acknowledged, self.recovering = reply["streamEpoch"], 0, True
        self.history.begin(self.epoch, self.link.boot)
        self.replay()
        self.settle()
        report = self.link.change("RecoveryDone", {"rmID": self.rm, "id": attempt, "attempt": 1, **self.books.claim()})
        check(report["result"] == "running", "the recovery came to", report)
        self.recovering, self.placements = False, 0
        self.counts["recoveries"] += 1

    def replay(self):
        """In an order of chance; everything in requests of different sizes."""
        books, choose = self.books, self.random
        inside = {node for node in books.nodes if choose.random() < 0.5}  # whose allocations come with the node
        placed = {key: {"allocationKey": key, "applicationID": books.asks[key][0], "nodeID": node,
                        "resourcePerAlloc": {"vcore": books.asks[key][1]}} for key, node in books.placed.items()}
        nodes = [{"nodeID": name, "action": 1 if schedulable else 6, "schedulableResource": {"vcore": amount},
                  **({"existingAllocations": [one for one in placed.values() if one["nodeID"] == name]} if name in inside else {})}
                 for name, (amount, schedulable) in books.nodes.items()]
        apps = [self.application(name, queue) for name, queue in books.apps.items()]
        asks = [self.request_of(key) for key in books.pending()]
        parts = [("UpdateApplication", "new", apps), ("UpdateNode", "nodes", nodes), ("UpdateAllocation", "asks", asks),
                 ("UpdateAllocation", "allocations", [one for one in placed.values() if one["nodeID"] not in inside])]
        requests = []
        for kind, field, elements in parts:
            choose.shuffle(elements)
            while elements:
                count = choose.choice((1, 10, 100))
                requests.append((kind, {field: elements[:count]}))
                del elements[:count]
        if choose.random() < 0.7:
            choose.shuffle(requests)
        for kind, body in requests:
            self.send(kind, **body)
            if choose.random() < 0.2:
                self.listen()

    def agree(self):
        """Waits until daemon and books are one: the RM makes no work, and placements that are under way end."""
        difference = []

        def same():
            self.settle()
            theirs, mine = self.of_daemon(), self.books.view()
            difference[:] = [(kind, theirs[kind], mine[kind]) for kind in mine if theirs[kind] != mine[kind]]
            return not difference
        try:
            until("the daemon has what the books say", same, 40.0)
        except AssertionError as fault:
            for kind, theirs, mine in difference:
                print(f"{kind} that differ, of the daemon: {in_first(theirs, mine)}, of the books: {in_first(mine, theirs)}")
            raise fault
        held = {(app, key): node for key, (app, node, _) in self.books.view()["allocations"].items()}
        check(self.history.held == held, "the stream says otherwise:", in_first(self.history.held, held),
              in_first(held, self.history.held))

    def of_daemon(self):
        dump = lambda what, **more: self.link.request("Dump", {"what": what, "rmID": self.rm, **more})["data"]
        nodes, allocations, pending = {}, {}, {}
        for group in dump("nodes", limit=100_000):
            for node in group["nodesInfo"]:
                nodes[node["nodeID"]] = (node["capacity"]["vcore"], node["schedulable"])
        apps = {app["applicationID"] for app in dump("apps", limit=100_000)}
        for app in apps:
            try:
                whole = dump("app", application=app)
            except Refused:  # it ended just now
                continue
            for one in whole.get("allocations", []):
                check(one["allocationKey"] not in allocations, one["allocationKey"], "is there twice")
                allocations[one["allocationKey"]] = (app, one["nodeId"], one["resource"]["vcore"])
            for one in whole.get("requests", []):
                pending[one["allocationKey"]] = (app, one["resource"]["vcore"])
        check(not set(allocations) & set(pending), "placed and pending:", set(allocations) & set(pending))
        return {"nodes": nodes, "applications": apps, "allocations": allocations, "pending": pending}

    # --- the work it makes --------------------------------------------------------------------------------------------

    def send(self, kind, **body):
        self.link.change(kind, {"rmID": self.rm, **body})

    @staticmethod
    def application(name, queue):
        return {"applicationID": name, "queueName": queue, "ugi": {"user": "u"}}

    def request_of(self, key):
        app, size = self.books.asks[key]
        return {"allocationKey": key, "applicationID": app, "resourceAsk": {"vcore": size}}

    def live(self):
        """Some work, and a look into the stream; it comes back when the daemon does not know it any more."""
        with self.counting():
            self.work()
            self.quiet = max(0, self.quiet - 1)
            if self.slow and self.random.random() < SLOW:
                self.quiet = self.random.randrange(50, 300)
            if not self.quiet:
                self.listen(self.random.choice((0, 0, 10)))
            return
        self.come_back()

    def work(self):
        books, pick = self.books, self.random.random()
        if len(books.nodes) < 6 or pick < 0.02:
            self.make("node")
        elif pick < 0.04 and len(books.nodes) > 8:
            name = self.random.choice(list(books.nodes))
            self.noted("node_gone", name)
            self.send("UpdateNode", nodes=[{"nodeID": name, "action": 4}])
        elif pick < 0.07:
            name = self.random.choice(list(books.nodes))
            yes = not books.nodes[name][1]
            self.noted("schedulable", name, yes)
            self.send("UpdateNode", nodes=[{"nodeID": name, "action": 5 if yes else 3}])
        elif len(books.apps) < 4 or pick < 0.10:
            self.make("app")
        elif pick < 0.12 and len(books.apps) > 6:
            name = self.random.choice(list(books.apps))
            self.noted("app_gone", name)
            self.send("UpdateApplication", remove=[{"applicationID": name}])
        elif len(books.asks) < self.wanted and pick < 0.7:
            self.make_asks()
        else:
            self.give_back()

    def noted(self, *change):
        self.books.note(*change)
        self.books.write()

    def make(self, kind):
        name = self.books.name(kind)
        if kind == "node":
            self.noted("node", name, 100)
            self.send("UpdateNode", nodes=[{"nodeID": name, "action": 1, "schedulableResource": {"vcore": 100}}])
        else:
            self.noted("app", name, self.random.choice(("root.a", "root.b")))
            self.send("UpdateApplication", new=[self.application(name, self.books.apps[name])])

    def make_asks(self):
        keys = [self.books.name("ask") for _ in range(self.random.randrange(1, 20))]
        for key in keys:
            self.books.note("ask", key, self.random.choice(list(self.books.apps)), self.random.randrange(1, 10))
        self.books.write()
        self.send("UpdateAllocation", asks=[self.request_of(key) for key in keys])

    def give_back(self):
        keys = self.random.sample(sorted(self.books.asks), min(len(self.books.asks), self.random.randrange(1, 20)))
        releases = [{"applicationID": self.books.asks[key][0], "allocationKey": key, "terminationType": 1} for key in keys]
        for key in keys:
            self.books.note("gone", key)
        self.books.write()
        self.send("UpdateAllocation", releases={"allocationsToRelease": releases})

    def figures(self):
        return dict(self.counts + self.link.counts + self.history.counts)


def in_first(first, second):
    """Up to ten of what is in the first only, or is another there."""
    if isinstance(first, set):
        return sorted(first - second)[:10]
    return [one for one in first.items() if second.get(one[0]) != one[1]][:10]
