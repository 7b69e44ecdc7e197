#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Deployments on SQLite, and on PostgreSQL with two daemons: made, scaled, paused and deleted at random, while daemons are killed by SIGKILL and
stopped, and their ways to PostgreSQL are cut and held up. In the end caches, database and core are one, nothing is an orphan, nothing
was repaired that an event had not announced, and the memory of daemons that live on does not grow. (That each handler's calls are a chain, a
debug build looks at by itself.) Size: Deployments."""
import random
import sqlite3
import statistics

from part import Clock, as_program

from daemon_support import *
from daemon_support.deployment_load import DeploymentLoad, agree, base_rows, find_leader, resident, status
from daemon_support.deployments import change
from daemon_support.postgres import Postgres
from daemon_support.stream_proxy import StreamProxy

NODES = 10
ROUGH = 0.5  # of the time daemons are killed; then they only live on, under everything else
JUDGED = 600.0  # seconds; memory is looked at in runs of at least that
GROWTH = 0.03  # of the memory, in the last third
LIMITS = "rmMaxEnded: 500\n"  # else the applications that ended, 2 KiB each, grow to 10,000 all the while


class Memory:
    """What daemons have in memory together while they live on, a sample each second: of two one has a core, and they change places."""

    def __init__(self):
        self.samples, self.due = [], 0.0

    def look(self, daemons):
        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + 1
        self.samples.append(sum(resident(each.process.pid) for each in daemons))

    def growth(self):
        """Over the last third of the run: twice of how much the second half of that has more than the first, each by its least tenth.
        What was freed is returned to the system now and then only, so that more goes up and down."""
        third = self.samples[-len(self.samples) // 3:]
        floors = [statistics.quantiles(half, n=10)[0] for half in (third[:len(third) // 2], third[len(third) // 2:])]
        return 2 * (floors[1] / floors[0] - 1)

    def figures(self):
        return f"{self.samples[-1] / 2**20:.0f} MiB ({100 * self.growth():+.1f} %)" if len(self.samples) > 12 else "not looked at"


def running(daemon):
    client = daemon.client()
    until("MCS runs", lambda: status(client)["state"] == "running", 120)
    return client


def fill(daemons, rows, write, size):
    """Nodes and Deployments; what each of these is to be."""
    base, statement = base_rows(size)
    client = find_leader(daemons).client()
    for number in range(NODES):
        change(client, "node", "create", f"n{number}", resource={"vcore": 1_000_000})
    write(statement)
    until("all is placed", lambda: rows("SELECT count(*) FROM deployment_schedule WHERE state = 'Scheduled'") == [(str(size),)], 600)
    return base


def befall(daemons, proxies, load, chance, clock, counts, memory):
    """Until the time is up."""
    begun, whole = clock.passed(), clock.seconds - clock.passed()
    while not clock.is_over():
        is_rough = clock.passed() - begun < ROUGH * whole
        rest = time.monotonic() + chance.random() * 2
        while time.monotonic() < rest:
            load.hold()
            memory.look(daemons)
            time.sleep(0.05)
        pick, daemon = chance.random(), chance.choice(daemons)
        what = "killed" if is_rough and pick < 0.4 else "stopped" if pick < 0.7 or not proxies else "cut" if pick < 0.9 else "held up"
        counts[what] = counts.get(what, 0) + 1
        if what == "killed":
            daemon.restart(signal.SIGKILL)
            running(daemon)
        elif what == "stopped":
            daemon.signal(signal.SIGSTOP)
            time.sleep(chance.random() * 3)
            daemon.signal(signal.SIGCONT)
        elif what == "cut":
            chance.choice(proxies).cut()
        else:
            chance.choice(proxies).hold_up(chance.random() * 3)


def on(daemons, rows, write, proxies, size, seed, seconds):
    clock, chance, counts, memory = Clock(seconds), random.Random(seed), {}, Memory()
    base = fill(daemons, rows, write, size)
    with DeploymentLoad([each.path for each in daemons], seed, clients=4, base=base, pause=0.03) as load:
        befall(daemons, proxies, load, chance, clock, counts, memory)
        wanted = load.end()
    end = agree(rows, wanted, [running(each) for each in daemons], 300)
    if seconds >= JUDGED:
        check(memory.growth() <= GROWTH, "memory grows:", memory.figures())
    return f"{counts}, {load.figures()}; {end}; resident {memory.figures()}"


def on_sqlite(size, seed, seconds):
    settings = LIMITS + f"mcs: {{enabled: true, maxDeployments: {2 * size + 1000}}}\n"
    with Daemon("--state", "@.", "--settings", "@conf", files={"conf": settings}) as daemon:
        running(daemon)
        path = daemon.folder + "/mcs.db"

        def rows(sql):
            database = sqlite3.connect(path, timeout=60, isolation_level=None)
            try:
                return [tuple("" if each is None else str(each) for each in row) for row in database.execute(sql)]
            finally:
                database.close()
        return on([daemon], rows, rows, [], size, seed, seconds)


def on_postgres(size, seed, seconds):
    with Postgres() as server:
        server.database("soak")
        ways = [f"{server.folder}/way{number}" for number in range(2)]
        for way in ways:
            os.mkdir(way)
        with StreamProxy(server.folder + "/.s.PGSQL.5432", ways[0] + "/.s.PGSQL.5432") as first, \
                StreamProxy(server.folder + "/.s.PGSQL.5432", ways[1] + "/.s.PGSQL.5432") as second:
            settings = [LIMITS + f"mcs: {{enabled: true, db: {{url: 'postgresql://yk@/soak?host={way}'}}, lease: {{ttl: 3s}}, maxDeployments: {2 * size + 1000}}}\n"
                        for way in ways]
            with Daemon("--settings", "@conf", files={"conf": settings[0]}) as one, Daemon("--settings", "@conf", files={"conf": settings[1]}) as two:
                running(one)
                running(two)
                return on([one, two], lambda sql: [tuple(line.split("|")) for line in server.sql(sql, "soak").splitlines()],
                          lambda sql: server.sql(sql, "soak"), [first, second], size, seed, seconds)


def run(size, seed, seconds):
    clock = Clock(seconds)
    sqlite = on_sqlite(size, seed, seconds / 2)
    return f"SQLite: {sqlite}; PostgreSQL: {on_postgres(size, seed, max(1.0, seconds - clock.passed()))}"


if __name__ == "__main__":
    as_program(run, 50_000, __doc__)
