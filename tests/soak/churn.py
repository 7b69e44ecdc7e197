#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Simulated hours of churn (--clock virtual --manual-schedule): asks come and go, applications end, nodes are drained, leave and
come back. Each hour: the sums of the daemon are those of the RM's books, all health checks succeed. In the end memory
is what it was after the first hour, and the requests of the last hour take no longer than 1.2 times those of the first (99.9th
percentile). Size: hours.

Times are measured twice: on the wall, where a loaded machine shows, and as processor time of ykd, which is compared. A thread that
only sleeps shows how loaded the machine was."""
import math
import random

from part import Clock, as_program

from daemon_support import *
from daemon_support.attacks import Sleeper, resident

ROUNDS = 480  # of each hour
ASKS = 20  # of each application, of which one comes in each round
LEVEL = 0.6  # of the capacity
WARM_UP = 6  # hours in which what is bounded fills and the load becomes that of all later hours
GROWTH, SLACK = 1.05, 2 << 20  # of memory
SLOWER = 1.2
SETTINGS = "livenessTimeout: 100h\nsessionTtl: 100h\nrmMaxEnded: 500\n"
EXTRA = {"event.ringBufferCapacity": "20000", "service.terminatedTimeout": "30m"}


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, math.floor(len(values) * share))]


class Churn:
    def __init__(self, daemon, nodes, seed):
        self.random, self.daemon = random.Random(seed), daemon
        self.rm = Rm(daemon, hello={"role": "admin"}, extraConfig=EXTRA)
        self.clock = (~daemon.process.pid << 3) | 2  # of the processor time of another process
        self.nodes, self.absent, self.made = {}, [], 0  # name: [capacity, schedulable]
        self.apps, self.asks, self.placed = {}, {}, {}  # app: keys; key: (app, size); key: node
        self.wanted, self.capacity = 0, 0  # sums
        self.wall, self.work = [], []
        for first in range(0, nodes, 500):
            names = [f"n{number}" for number in range(first, min(nodes, first + 500))]
            for name in names:
                self.add(name)
            self.change("UpdateNode", nodes=[self.created(name) for name in names])

    def add(self, name):
        self.nodes[name] = [self.random.choice((16, 32, 64)), True]
        self.capacity += self.nodes[name][0]

    def created(self, name):
        return {"nodeID": name, "action": 1, "schedulableResource": {"vcore": self.nodes[name][0]}}

    def measured(self, what):
        begin, used = time.monotonic(), time.clock_gettime(self.clock)
        reply = what()
        self.work.append(time.clock_gettime(self.clock) - used)
        self.wall.append(time.monotonic() - begin)
        return reply

    def change(self, kind, **body):
        self.measured(lambda: self.rm.client.change(kind, {"rmID": self.rm.rm, **body}))

    def listen(self):
        """Reads what it is told; its books follow."""
        self.rm.client.get("Sync", {"rmID": self.rm.rm})
        while True:
            items = self.measured(lambda: self.rm.client.poll(ack=self.rm.ack, rm=self.rm.rm, wait=0, maxBytes=8 << 20))["items"]
            if not items:
                return
            self.rm.ack = items[-1]["n"]
            for item in items:
                self.follow(item["kind"], item["body"])

    def follow(self, kind, body):
        check(not body.get("rejected") and not body.get("failed"), kind, "was rejected:", str(body)[:300])
        if kind == "UpdateAllocation":
            for one in body.get("new", []):
                check(one["allocationKey"] not in self.placed, "placed twice:", one)
                check(one["allocationKey"] in self.asks, "placed, and never asked for:", one)
                self.placed[one["allocationKey"]] = one["nodeID"]
            for one in body.get("released", []):
                if one["allocationKey"] in self.placed:
                    self.forget(one["allocationKey"])
        if kind == "UpdateApplication":
            for one in body.get("updated", []):
                if one["state"] == "Completed":
                    self.apps.pop(one["applicationID"], None)

    def forget(self, key):
        self.placed.pop(key, None)
        app, size = self.asks.pop(key)
        self.wanted -= size
        self.apps[app].discard(key)

    def new_app(self):
        name = f"app{self.made}"
        self.made += 1
        self.apps[name] = set()
        self.change("UpdateApplication", new=[{"applicationID": name, "queueName": self.random.choice(("root.a", "root.b")),
                                               "ugi": {"user": f"u{self.random.randrange(20)}"}}])
        self.new_asks(name, ASKS)

    def new_asks(self, app, count):
        keys = [f"k{self.made + i}" for i in range(count)]
        self.made += count
        for key in keys:
            self.asks[key] = (app, self.random.choice((1, 1, 2, 4, 8)))
            self.wanted += self.asks[key][1]
        self.apps[app].update(keys)
        self.change("UpdateAllocation", asks=[{"allocationKey": key, "applicationID": app, "priority": self.random.randrange(3),
                                               "resourceAsk": {"vcore": self.asks[key][1]}} for key in keys])

    def give_back(self, keys):
        self.change("UpdateAllocation", releases={"allocationsToRelease": [
            {"applicationID": self.asks[key][0], "allocationKey": key, "terminationType": 1} for key in keys]})
        for key in keys:
            self.forget(key)

    def round(self, seconds):
        """What happens between two looks at the clock."""
        self.new_app()
        self.new_asks(self.random.choice(list(self.apps)), ASKS // 4)
        while self.wanted > LEVEL * self.capacity:
            app = self.random.choice(list(self.apps))
            if self.apps[app]:
                share = self.random.choice((4, 1, 1))
                self.give_back(self.random.sample(sorted(self.apps[app]), -(-len(self.apps[app]) // share)))
            else:
                del self.apps[app]  # it ends by itself
        self.change_nodes()
        self.listen()
        while not self.measured(lambda: self.rm.client.change("Step", {"cycles": 10}))["idle"]:
            pass
        self.listen()
        self.measured(lambda: self.rm.client.change("Clock", {"advanceMs": int(seconds * 1000)}))
        self.listen()

    def change_nodes(self):
        for name in self.random.sample(list(self.nodes), 2):
            self.nodes[name][1] = not self.nodes[name][1]
            self.change("UpdateNode", nodes=[{"nodeID": name, "action": 5 if self.nodes[name][1] else 3}])
        back, self.absent = self.absent, []
        for name in back:
            self.add(name)
            self.change("UpdateNode", nodes=[self.created(name)])
        gone = self.random.choice(list(self.nodes))
        self.capacity -= self.nodes.pop(gone)[0]
        self.absent = [gone]
        self.change("UpdateNode", nodes=[{"nodeID": gone, "action": 4}])

    def fill(self):
        """To the level, before the first hour."""
        while self.wanted < LEVEL * self.capacity:
            for _ in range(40):
                self.new_app()
            self.rm.client.change("Step", {"cycles": 20_000})
            self.listen()

    def hold(self):
        """No drift: the sums of the daemon are those of these books, and it finds nothing wrong with itself."""
        self.listen()
        client = self.rm.client
        health = client.get("Health", {"run": True})
        failed = [one for one in health["HealthChecks"] if not one["Succeeded"]]
        check(not failed, failed)
        counts = client.get("Status")["counts"]
        mine = {"nodes": len(self.nodes), "allocations": len(self.placed), "pendingAsks": len(self.asks) - len(self.placed)}
        check({name: counts[name] for name in mine} == mine, "the daemon has", counts, "the books", mine)
        used = {}
        for key, node in self.placed.items():
            used[node] = used.get(node, 0) + self.asks[key][1]
        for group in self.rm.dump("nodes", limit=100_000):
            for node in group["nodesInfo"]:
                name = node["nodeID"]
                check((node["capacity"]["vcore"], node["schedulable"]) == tuple(self.nodes[name]), node, self.nodes[name])
                check(node.get("allocated", {}).get("vcore", 0) == used.get(name, 0), name, "has", node.get("allocated"),
                      "and the books", used.get(name))
        root = self.rm.dump("queues")[0]
        check(root["allocatedResource"]["vcore"] == sum(used.values()), "root has", root["allocatedResource"], sum(used.values()))


def run(size, seed, seconds, nodes=5000, rounds=ROUNDS):
    clock, hours = Clock(seconds), []
    with Daemon("--clock", "virtual", "--manual-schedule", "--settings", "@conf", files={"conf": SETTINGS}) as daemon:
        churn = Churn(daemon, nodes, seed)
        churn.fill()
        for _ in range(WARM_UP * rounds):
            churn.round(3600 / rounds)
        churn.hold()  # its dumps take memory, of which the heap keeps some
        for _ in range(size):
            if hours and len(hours) >= 2 and clock.passed() * (len(hours) + 1) / len(hours) > seconds:
                break
            churn.wall, churn.work = [], []
            with Sleeper() as sleeper:
                for _ in range(rounds):
                    churn.round(3600 / rounds)
            hours.append((percentile(churn.work, 0.999), percentile(churn.wall, 0.999), percentile(sleeper.late, 0.999),
                          resident(daemon), len(churn.wall)))
            churn.hold()
        figures = (f"{len(hours)} hours of {size} on {nodes} nodes with {len(churn.placed)} allocations, {churn.made} names, "
                   f"{sum(hour[4] for hour in hours)} requests; 99.9 % of an hour's took at most, first / last: "
                   f"{hours[0][0] * 1e3:.2f} / {hours[-1][0] * 1e3:.2f} ms of processor time, {hours[0][1] * 1e3:.2f} / "
                   f"{hours[-1][1] * 1e3:.2f} ms on the wall (a sleeper was {hours[0][2] * 1e3:.2f} / {hours[-1][2] * 1e3:.2f} ms "
                   f"late); resident, every sixth hour, {', '.join(f'{hour[3] / 2**20:.1f}' for hour in hours[:-1:6])}, in the end "
                   f"{hours[-1][3] / 2**20:.1f} MiB")
        if nodes >= 1000:  # of fewer the times say nothing
            check(hours[-1][0] <= SLOWER * hours[0][0], "requests became slower:", figures)
        check(hours[-1][3] <= GROWTH * hours[0][3] + SLACK, "memory grows:", figures)
    return figures


if __name__ == "__main__":
    as_program(run, 24, __doc__)
