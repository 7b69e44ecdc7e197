#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What RMs are told over many reconnects, read slowly and with outbound limits so small that streams overflow: without a gap, in
order, nothing twice, or an explicit resync; and each time they look, the stream, the books and the daemon say the same.
Size: reconnects of all of them."""
import concurrent.futures
import os

from part import Clock, as_program, of

from daemon_support import *
from daemon_support.manager import Manager

RMS = 4
MOST_ITEMS = 100
SETTINGS = f"outboundMaxItems: {MOST_ITEMS}\noutboundMaxBytes: 64KiB\nsessionTtl: 5s\nlivenessTimeout: 2s\n"


def follow(path, number, size, seed, seconds):
    """One RM; a process of its own."""
    clock = Clock(seconds)
    rm = Manager(path, f"rm:{number}", seed + number, cut=0.1, slow=True)
    rm.come_back()
    looked = 0
    while rm.link.counts["reconnects"] < size and not clock.is_over():
        rm.live()
        if rm.link.counts["reconnects"] > looked + 50:
            looked = rm.link.counts["reconnects"]
            look(rm)
    if not rm.counts["E_RESYNC_REQUIRED"]:
        overflow(rm)
    look(rm)
    return rm.counts + rm.link.counts + rm.history.counts


def overflow(rm):
    """Each application is one item, and nobody polls: no run ends without a stream that overflowed, however fast the machine is."""
    polls, rm.link.on_busy = rm.link.on_busy, lambda: None
    with rm.counting():
        for _ in range(2 * MOST_ITEMS):
            rm.make("app")
    rm.link.on_busy = polls
    rm.come_back()


def look(rm):
    rm.quiet = 0
    rm.steadily(rm.agree)


def run(size, seed, seconds):
    with Daemon("--settings", "@conf", files={"conf": SETTINGS}) as daemon, \
            concurrent.futures.ProcessPoolExecutor(RMS) as crew:
        several = [crew.submit(follow, daemon.path, number, size // RMS, seed, seconds) for number in range(RMS)]
        counts = sum((one.result() for one in several[1:]), several[0].result())
        if size >= 200:
            check(counts["E_RESYNC_REQUIRED"], "no stream overflowed", dict(counts))
            check(counts["repeated items"], "no item came again", dict(counts))
            check(counts["told as dup"], "no request was sent again", dict(counts))
        check(counts["streams"] == counts["recoveries"] + counts["interrupted recoveries"],
              "a stream without a registration", dict(counts))
        client = daemon.client()
        for number in range(RMS):  # nobody polls them any more, which would be told
            client.change("UnregisterResourceManager", {"rmID": f"rm:{number}", "force": True, "impersonate": True})
        health = client.get("Health", {"run": True})
        check(health["Healthy"], [one for one in health["HealthChecks"] if not one["Succeeded"]])
    return f"{of(counts['reconnects'], size)} reconnects of {RMS} RMs: {dict(counts)}"


if __name__ == "__main__":
    as_program(run, 100_000, __doc__)
