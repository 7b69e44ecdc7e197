# SPDX-License-Identifier: Apache-2.0
"""A resource manager that recovers, and what it is told meanwhile."""
from daemon_support import *
from daemon_support.books import Books

BY_HAND = ("--manual-schedule", "--clock", "virtual")
ALLOCATION, APPLICATION, NODE = "UpdateAllocation", "UpdateApplication", "UpdateNode"
RUNNING, RECOVERING, FAILED, LOST = 1, 2, 3, 5
SIZE = {"vcore": 10}


class Recovering(Rm):
    """A resource manager with books, which registers with recovery."""

    def __init__(self, daemon, rm="rm:1", hello=None, id="r1", recovery=None, **registration):
        self.id, self.books = id, Books()
        super().__init__(daemon, rm, hello, recovery={"id": id, **(recovery or {})}, **registration)

    def state(self):
        return self.client.get("Ping", {"rmID": self.rm})["state"]

    def node(self, name, vcore=1000, **more):
        self.books.node(name, {"vcore": vcore})
        return self.nodes({"nodeID": name, "schedulableResource": {"vcore": vcore}, **more})

    def application(self, app, **more):
        self.books.application(app)
        return self.applications({"applicationID": app, **more})

    def allocation(self, key, node="n1", app="app", size=SIZE, **more):
        self.books.allocation(app, key, node, size)
        return self.send(ALLOCATION, allocations=[
            {"allocationKey": key, "applicationID": app, "nodeID": node, "resourcePerAlloc": size, **more}])

    def claim(self, attempt=1, **more):
        return {"rmID": self.rm, "id": self.id, "attempt": attempt, "expected": self.books.expected,
                "digest": self.books.digest, **more}

    def done(self, attempt=1, **more):
        return self.client.change("RecoveryDone", self.claim(attempt, **more))

    def placed_by(self, daemon):
        """What it is told of allocations when an admin lets the scheduler run."""
        daemon.client().change("Step", {"cycles": 20})
        return [item for item in self.told() if item[0] == ALLOCATION]

    def resolve(self, action, **more):
        return self.client.change("ResolveRecovery", {"rmID": self.rm, "action": action, **more})["state"]


def recovered(daemon, **more):
    """An RM that has replayed one object of each kind, and not claimed anything yet."""
    rm = Recovering(daemon, **more)
    rm.application("app")
    rm.node("n1")
    rm.allocation("a1")
    return rm


def failed(daemon, **more):
    """An RM whose recovery has failed; it has a node with one allocation, an ask, and an orphan in quarantine."""
    rm = recovered(daemon, **more)
    rm.asks({"allocationKey": "waits"})
    rm.allocation("orphan", app="nobody")
    for attempt in range(1, 6):
        report = rm.done(attempt)
    check(report["result"] == "failed" and rm.state() == FAILED, report)
    rm.told()
    return rm


def sum_of(buckets):
    return sum(int.from_bytes(buckets[i:i + 8], "big") for i in range(0, len(buckets), 8)) % 2**64


def quarantine(rm, attempt=1):
    """Reasons by the name of the object, from the report of a claim."""
    return {one.get("allocationKey") or one.get("nodeID") or one.get("applicationID"): one["reason"]
            for one in rm.done(attempt)["quarantine"]}


def reports(items):
    return [body for kind, body in items if kind == "RecoveryReport"]


def states(items):
    return [(body["details"]["old"], body["details"]["new"]) for kind, body in items
            if kind == "Notice" and body["code"] == "STATE"]
