#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SIGSTOP of a served RM and of the daemon under load, for longer than an RM may be silent and for longer than a session lasts.
An RM that was stopped is Suspended, then Lost, and comes back; a stopped daemon blames nobody for the time. Size: rounds of four."""
import random

from part import Clock, as_program, of, spread

from daemon_support import *
from daemon_support.detached_load import DetachedLoad
from daemon_support.served_rm import Served

LIVENESS, SESSION = 3.0, 5.0  # seconds, of the settings; of a stop of the daemon up to three count all the same
SUSPENDED, LOST = 4, 5


def state(daemon):
    client = daemon.client()
    try:
        return {one["rmID"]: one["state"] for one in client.get("Status")["rms"]}.get("rm:served")
    finally:
        client.get("Bye")
        client.close()


def stop_rm(daemon, rm, long):
    rm.signal(signal.SIGSTOP)
    until("the RM is suspended", lambda: state(daemon) in (SUSPENDED, LOST))
    if long:
        until("the RM is lost", lambda: state(daemon) == LOST)
        until("its session is gone", lambda: not daemon_knows_session(daemon))
    past = rm.past()
    rm.signal(signal.SIGCONT)
    begin = time.monotonic()
    rm.works(past, again=long)
    return time.monotonic() - begin


def daemon_knows_session(daemon):
    """Sessions end some time after they could have: this client, the detached load, and the one that is stopped."""
    client = daemon.client()
    try:
        return client.get("Status")["sessions"] > 2
    finally:
        client.get("Bye")
        client.close()


def stop_daemon(daemon, rm, long):
    daemon.signal(signal.SIGSTOP)
    time.sleep((SESSION if long else LIVENESS) * 1.5)  # of silence: the point of this test
    past = rm.past()
    daemon.signal(signal.SIGCONT)
    begin = time.monotonic()
    back = rm.works(past, again=False)
    check(not back, "the RM had to recover though it was the daemon that was stopped:", back)
    return time.monotonic() - begin


def run(size, seed, seconds):
    clock, choose = Clock(seconds), random.Random(seed)
    rounds = [(stop, long) for stop in (stop_rm, stop_daemon) for long in (False, True)] * size
    choose.shuffle(rounds)
    took = {name: [] for name in ("RM", "RM longer than its session", "daemon", "daemon longer than sessions")}
    with Daemon("--settings", "@conf", "--state", "@.", files={
            "conf": f"livenessTimeout: {LIVENESS:g}s\nsessionTtl: {SESSION:g}s\n"}) as daemon, \
            DetachedLoad(daemon.path, seed) as beside, Served(daemon.path, daemon.folder, seed) as rm:
        rm.works()
        lives = None
        for stop, long in rounds:
            if clock.is_over():
                break
            time.sleep(choose.random() * 0.3)
            check(lives in (None, rm.lives()), "the RM had to recover some time after the daemon was stopped")
            name = list(took)[2 * (stop is stop_daemon) + long]
            took[name].append(stop(daemon, rm, long))
            beside.hold()
            lives = rm.lives()
        health = daemon.client().get("Health", {"run": True})
        check(health["Healthy"], [one for one in health["HealthChecks"] if not one["Succeeded"]])
        figures = rm.end()
    return "; ".join(f"{name} stopped {of(len(times), size)} times (to the next placement {spread(times)})"
                     for name, times in took.items()) + f"; RM: {figures}"


if __name__ == "__main__":
    as_program(run, 15, __doc__)
