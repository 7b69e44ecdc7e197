# SPDX-License-Identifier: Apache-2.0
"""How many asks a second get through: python3 bench.py ADDRESS [ASKS]. It registers the resource manager `bench`, which no other
may use meanwhile; the figures hold for this machine and this load."""
import argparse
import asyncio
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "src"))

import ykd
import ykd.aio

CONFIG = "partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}]"
NODES = 100


class Counting(ykd.Callbacks):
    def __init__(self, wanted):
        self.wanted, self.counts, self.done = wanted, {"allocated": 0, "released": 0}, threading.Event()

    def allocated(self, allocation):
        self._count("allocated")

    def released(self, release):
        self._count("released")

    def rejected(self, rejection):
        raise RuntimeError(f"rejected: {rejection}")

    def _count(self, what):
        self.counts[what] += 1
        if self.counts[what] == self.wanted:
            self.done.set()

    def wait(self):
        if not self.done.wait(120):
            raise SystemExit(f"not done within 120 s: {self.counts}")
        self.done.clear()


def cluster(count):
    nodes = [ykd.Node(f"n{n}", {"memory": 1 << 40, "vcore": count * 20 // NODES + 1000}) for n in range(NODES)]
    return nodes, ykd.Application("app", queue="root.a", user="u")


def ask(number):
    return ykd.Ask("app", f"ask-{number}", {"memory": 1 << 20, "vcore": 10})


def rate(what, count, begin):
    print(f"{what}: {count / (time.perf_counter() - begin):,.0f} a second", flush=True)


def plain(address, count):
    counting = Counting(count)
    with ykd.ResourceManager(address, "bench", counting, config=CONFIG) as rm:
        nodes, application = cluster(count)
        rm.add_nodes(*nodes)
        rm.add_applications(application)
        rm.sync()
        begin = time.perf_counter()
        for number in range(count):
            rm.add_asks(ask(number))
        rm.flush(120)
        rate("plain, asks one by one, accepted", count, begin)
        counting.wait()
        rate("plain, asks one by one, placed and called back", count, begin)
        begin = time.perf_counter()
        rm.release("app", *(f"ask-{number}" for number in range(count)))
        counting.wait()
        rate("plain, released and called back", count, begin)
        rm.leave()
    with ykd.Client(address) as client:
        client.ping()
        begin = time.perf_counter()
        for _ in range(2000):
            client.ping()
        rate("plain, pings one after another", 2000, begin)


async def with_asyncio(address, count):
    counting = Counting(count)
    async with ykd.aio.ResourceManager(address, "bench", counting, config=CONFIG) as rm:
        nodes, application = cluster(count)
        await rm.add_nodes(*nodes)
        await rm.add_applications(application)
        await rm.sync()
        begin = time.perf_counter()
        for number in range(count):
            await rm.add_asks(ask(number))
        await rm.flush(120)
        rate("asyncio, asks one by one, accepted", count, begin)
        await asyncio.to_thread(counting.wait)
        rate("asyncio, asks one by one, placed and called back", count, begin)
        await rm.leave(force=True)
    async with ykd.aio.Client(address) as client:
        await client.ping()
        begin = time.perf_counter()
        await asyncio.gather(*(client.ping() for _ in range(2000)))
        rate("asyncio, pings side by side", 2000, begin)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("asks", type=int, nargs="?", default=100_000)
    given = parser.parse_args()
    plain(given.address, given.asks)
    asyncio.run(with_asyncio(given.address, given.asks))
