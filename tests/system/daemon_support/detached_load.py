# SPDX-License-Identifier: Apache-2.0
"""A detached resource manager under load (ykd --state), and what a Sync promised about it (I-267): what was before the answer
outlives any end of the daemon."""
import random
import threading

from daemon_support import CONFIG, check
from daemon_support.link import Gone, Link

NODES = 10


class DetachedLoad:
    """In a thread of its own. Whenever its session is gone it looks whether the daemon has what was promised, before it goes on."""

    def __init__(self, where, seed, rm="rm:detached"):
        self.rm, self.random, self.link = rm, random.Random(seed), Link(where, {"role": "admin"}, seed)
        self.asked, self.placed = set(), {}  # promised: keys, and where those are that were seen before
        self.uncertain, self.seen = set(), {}  # asked or released since the last Sync, seen since then
        self.made, self.checks, self.syncs, self.fault = 0, 0, 0, None
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.change("RegisterResourceManager", config=CONFIG, detached={})
        self.change("UpdateNode", nodes=[{"nodeID": f"n{i}", "action": 1, "schedulableResource": {"vcore": 100}}
                                         for i in range(NODES)])
        self.change("UpdateApplication", new=[{"applicationID": "app", "queueName": "root.a", "ugi": {"user": "u"}}])
        self.get("Sync")

    def change(self, kind, **body):
        return self.link.change(kind, {"rmID": self.rm, **body})

    def get(self, kind, **body):
        return self.link.request(kind, {"rmID": self.rm, **body})

    def contents(self):
        whole = self.get("Dump", what="app", application="app")["data"]
        placed = {one["allocationKey"]: one["nodeId"] for one in whole.get("allocations", [])}
        pending = {one["allocationKey"] for one in whole.get("requests", [])}
        check(len(placed) == len(whole.get("allocations", [])), "an allocation is there twice")
        check(not pending & set(placed), "placed and pending:", pending & set(placed))
        return placed, pending

    def run(self):
        try:
            while not self.stopped.is_set():
                try:
                    self.act()
                except Gone:
                    self.look()
        except Exception as fault:  # told by the main thread
            self.fault = fault

    def act(self):
        if len(self.asked) < 300 and self.random.random() < 0.6:
            keys = [f"k{self.made + i}" for i in range(self.random.randrange(1, 30))]
            self.made += len(keys)
            self.uncertain.update(keys)
            self.change("UpdateAllocation", asks=[{"allocationKey": key, "applicationID": "app",
                                                   "resourceAsk": {"vcore": self.random.randrange(1, 6)}} for key in keys])
            self.asked.update(keys)
        else:
            keys = self.random.sample(sorted(self.asked), min(len(self.asked), 20))
            self.uncertain.update(keys)
            self.asked.difference_update(keys)
            self.change("UpdateAllocation", releases={"allocationsToRelease": [
                {"applicationID": "app", "allocationKey": key, "terminationType": 1} for key in keys]})
        if self.random.random() < 0.2:
            self.promise()

    def promise(self):
        self.seen, _ = self.contents()
        self.get("Sync")
        self.placed = {key: node for key, node in self.seen.items() if key in self.asked}
        self.uncertain.clear()
        self.syncs += 1

    def look(self):
        """After a restart of the daemon."""
        while True:
            try:
                check(self.get("Ping")["state"] == 1, self.rm, "is not running")
                placed, pending = self.contents()
                break
            except Gone as gone:  # it was killed again
                check(gone.args[0] != "E_RM_UNKNOWN", self.rm, "is not known any more")
        there = pending | set(placed)
        lost = self.asked - self.uncertain - there
        check(not lost, "was promised and is lost:", sorted(lost)[:10])
        more = there - self.asked - self.uncertain
        check(not more, "was given back and is there:", sorted(more)[:10])
        moved = {key: (node, placed.get(key)) for key, node in self.placed.items()
                 if key not in self.uncertain and placed.get(key) != node}
        check(not moved, "was seen on a node before a Sync and is elsewhere:", list(moved.items())[:10])
        self.asked, self.placed, self.uncertain = there, placed, set()
        self.checks += 1

    def hold(self):
        """For a look of the main thread: raises what did not hold."""
        if self.fault is not None:
            raise self.fault

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, value, trace):
        self.stopped.set()
        self.thread.join()
        if kind is None:
            self.hold()
