#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A ykd that runs out of descriptors or of memory under load, and clocks that jump by a day, while it runs and between two
lives of it. Who was there goes on, what was promised is there after a SIGKILL. Size: rounds of each kind."""
import contextlib
import glob
import os
import random
import resource
import socket
import tempfile

from part import Clock, as_program, of

from daemon_support import *
from daemon_support.detached_load import DetachedLoad
from daemon_support.manager import Manager

FAKETIME = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
DAY = 86_400


def looked(daemon, rm, beside):
    """After a SIGKILL all is there."""
    checks = beside.checks
    daemon.restart()
    rm.steadily(rm.agree)
    until("the detached RM has looked", lambda: beside.hold() or beside.checks > checks, 60.0)


def begin(daemon, seed):
    rm = Manager(daemon.path, "rm:served", seed)
    rm.come_back()
    return rm


def descriptors(size, seed, clock):
    """None are left for new connections and files; those that are open go on."""
    choose, done, refused = random.Random(seed), 0, 0
    with Daemon("--state", "@.") as daemon, DetachedLoad(daemon.path, seed) as beside:
        rm = begin(daemon, seed)
        for lap in range(size):
            if clock.is_over():
                break
            admin = daemon.client()
            pid = daemon.process.pid
            limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
            used = len(os.listdir(f"/proc/{pid}/fd"))
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + choose.randrange(4), limits[1]))
            crowd = [connect(daemon.path) for _ in range(40)]
            for _ in range(30):
                rm.live()
            until("asks are placed meanwhile", lambda syncs=beside.syncs: beside.hold() or beside.syncs > syncs)
            admin.seq += 1
            reply = admin.ask("RegisterResourceManager", {"rmID": f"rm:new{lap}", "detached": {}}, seq=admin.seq)
            refused += not reply["ok"]  # its books need a file
            check(reply["ok"] or "open files" in reply["err"]["message"], reply)
            rm.agree()
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
            for one in crowd:
                one.close()
            until("somebody new is let in", lambda: daemon.client().get("Ping"))
            looked(daemon, rm, beside)
            done += 1
        rm.link.close()
    return f"{of(done, size)} rounds, {refused} registrations refused"


def connect(path):
    peer = socket.socket(socket.AF_UNIX)
    peer.setblocking(False)
    peer.connect_ex(path)
    return peer


def memory(size, seed, clock):
    """As much address space as it has and little more: it refuses, or it ends, and whatever it promised is there."""
    choose, done, ended = random.Random(seed), 0, 0
    with Daemon("--state", "@.") as daemon, DetachedLoad(daemon.path, seed) as beside:
        rm = begin(daemon, seed)
        for lap in range(size):
            if clock.is_over():
                break
            pid = daemon.process.pid
            with open(f"/proc/{pid}/statm", encoding="ascii") as file:
                now = int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
            limit = now + choose.choice((2, 5, 10, 20, 40, 80, 150)) * (1 << 20)
            resource.prlimit(pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
            eat(daemon, f"rm:eats{lap}")
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            if not lives(daemon):  # it may have ended after it answered, since others ask as well
                ended += 1
                check(daemon.exit_code() == -signal.SIGABRT and "there is no memory left" in daemon.text(),
                      "it ended with", daemon.exit_code(), "and said:", daemon.text()[-2000:])
                daemon.start()
            rm.steadily(rm.agree)
            looked(daemon, rm, beside)
            done += 1
        rm.link.close()
    return f"{of(done, size)} rounds, {ended} of them ended it"


def eat(daemon, rm):
    """Applications with large tags, until it refuses them or ends."""
    try:
        client = daemon.client()
        requests = [("RegisterResourceManager", {"config": CONFIG})]  # it may get no thread
        requests += [("UpdateApplication", {"new": [{"applicationID": f"a{number}", "queueName": "root.a", "ugi": {"user": "u"},
                                                     "tags": {f"t{i}": "x" * 60_000 for i in range(4)}}]}) for number in range(300)]
        for kind, body in requests:
            client.seq += 1
            reply = client.ask(kind, {"rmID": rm, **body}, seq=client.seq)
            if not reply["ok"]:
                check(reply["err"]["name"] in ("E_BUSY", "E_TIMEOUT"), reply)
                break
        client.close()
    except (OSError, EOFError):
        pass
    lives(daemon)


def lives(daemon):
    """Whether it answers; it has ended otherwise."""
    try:
        until("it answers or has ended", lambda: daemon.process.poll() is not None or daemon.client().get("Ping"))
    except (OSError, EOFError):
        until("it has ended", lambda: daemon.process.poll() is not None)
    return daemon.process.poll() is None


def jumps(size, seed, clock):
    choose, done = random.Random(seed), 0
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        def set_clock(seconds):
            with open(folder + "/new", "w", encoding="ascii") as file:
                file.write(f"{seconds:+d}")
            os.rename(folder + "/new", folder + "/clock")
        set_clock(0)
        with Daemon("--state", "@.", env={"LD_PRELOAD": FAKETIME[0], "FAKETIME_TIMESTAMP_FILE": folder + "/clock",
                                          "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}) as daemon, \
                DetachedLoad(daemon.path, seed) as beside:
            rm = begin(daemon, seed)
            for lap in range(size):
                if clock.is_over():
                    break
                life, checks = rm.life, beside.checks
                for _ in range(2):
                    set_clock(choose.choice((-1, 1)) * DAY)
                    for _ in range(30):
                        rm.live()
                rm.agree()
                until("the detached RM goes on", lambda syncs=beside.syncs: beside.hold() or beside.syncs > syncs)
                check(rm.life == life and beside.checks == checks, "a jump of the clock ended a session")
                set_clock((DAY, -DAY, 0)[lap % 3])  # what it finds when it begins anew
                looked(daemon, rm, beside)
                until("asks are placed", lambda n=rm.placements: rm.live() or rm.placements > n)
                done += 1
            health = daemon.client().get("Health", {"run": True})
            failed = [one for one in health["HealthChecks"] if not one["Succeeded"]]
            check(not failed, failed)
            rm.link.close()
    return f"{of(done, size)} rounds of three jumps"


def run(size, seed, seconds):
    clock = Clock(seconds)
    figures = ["descriptors: " + descriptors(size, seed, Clock(seconds / 3)),
               "memory: " + memory(size, seed, Clock(seconds / 3))]
    if FAKETIME:
        figures.append("clock: " + jumps(size, seed, Clock(seconds - clock.passed())))
    else:
        print("SKIPPED the jumps of the clock: the package faketime is not installed", flush=True)
    return "; ".join(figures)


if __name__ == "__main__":
    as_program(run, 30, __doc__)
