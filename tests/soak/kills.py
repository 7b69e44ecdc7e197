#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random moments under load: the daemon, a served RM with books of its own, both at once. Nothing that was
acknowledged is lost, nothing is there twice, recoveries agree at once, what was pending is pending, and placements go on. Beside it a
detached RM, whose books the daemon keeps. Size: how many times each."""
import random

from part import Clock, as_program, of, spread

from daemon_support import *
from daemon_support.detached_load import DetachedLoad
from daemon_support.served_rm import Served

VICTIMS = ("daemon", "rm", "both")


def run(size, seed, seconds):
    clock, choose = Clock(seconds), random.Random(seed)
    rounds = list(VICTIMS) * size
    choose.shuffle(rounds)
    done, took, interrupted = {what: 0 for what in VICTIMS}, {what: [] for what in VICTIMS}, 0
    with Daemon("--state", "@.") as daemon, DetachedLoad(daemon.path, seed) as beside, \
            Served(daemon.path, daemon.folder, seed) as rm:
        rm.works()
        for what in rounds:
            if clock.is_over():
                break
            time.sleep(choose.random() * 0.4)  # the moment of chance
            past = kill(what, daemon, rm)
            done[what] += 1
            begin = time.monotonic()
            if choose.random() < 0.25:
                interrupted += 1  # the next comes while they recover
                continue
            rm.works(past)
            took[what].append(time.monotonic() - begin)
            beside.hold()
        past = kill("daemon", daemon, rm)
        rm.works(past)
        until("the detached RM has looked", lambda: beside.hold() or beside.checks, 60.0)
        health = daemon.client().get("Health", {"run": True})
        check(health["Healthy"], [one for one in health["HealthChecks"] if not one["Succeeded"]])
        figures = rm.end()
    return (", ".join(f"{what} killed {of(done[what], size)} times (to the next placement {spread(took[what])})" for what in VICTIMS)
            + f"; {interrupted} of them during a recovery; RM: {figures}; detached: {beside.checks} restarts looked at, "
            f"{beside.syncs} Syncs")


def kill(what, daemon, rm):
    """Ends them and starts them again; the line of the RM from which on it counts."""
    if what != "rm":
        daemon.signal(signal.SIGKILL)
    if what != "daemon":
        rm.kill()
    past = len(rm.lines())
    if what != "rm":
        daemon.exit_code()
        past = len(rm.watched()) if what == "daemon" else 0
        daemon.start()
    if what != "daemon":
        rm.start()
        past = 0
    return past


if __name__ == "__main__":
    as_program(run, 200, __doc__)
