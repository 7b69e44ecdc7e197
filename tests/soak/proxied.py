#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A bad network between RMs and daemon, over ipc and over tcp: what passes is delayed, cut, truncated, repeated. The RMs go on by
the rules of docs/protocol.md, execute nothing twice, miss nothing, and daemon and books are one in the end. Size: faults."""
import hashlib

from part import Clock, as_program, of

from daemon_support import *
from daemon_support.manager import Manager
from daemon_support.proxy import CHANCES, Proxy

TOKEN = "of-the-test"
BETWEEN_LOOKS = 200  # faults


def faults(proxy):
    return sum(count for what, count in proxy.counts.items() if what != "connections")


def run(size, seed, seconds):
    clock, port = Clock(seconds), free_port()
    tokens = f"admin * {hashlib.sha256(TOKEN.encode()).hexdigest()}\n"
    figures = []
    with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens", files={"tokens": tokens}) as daemon:
        for way, where, hello in (("ipc", daemon.path, {}), ("tcp", ("127.0.0.1", port), {"token": TOKEN})):
            half = Clock((seconds - clock.passed()) / (2 if way == "ipc" else 1))
            with Proxy(where, seed, daemon.folder + "/proxy") as proxy:
                rm = Manager(proxy.where, "rm:" + way, seed, hello=hello)
                rm.come_back()
                rm.agree()
                looked = 0
                while faults(proxy) < size // 2 and not half.is_over():
                    rm.live()
                    if faults(proxy) > looked + BETWEEN_LOOKS:
                        looked = faults(proxy)
                        rm.agree()
                rm.link.where = where  # the last look is at the daemon itself
                rm.link.drop()
                rm.agree()
                check(rm.life == 1, "a daemon that lived on forgot the RM:", rm.counts)
                if size >= 400:
                    missed = [name for name, _ in CHANCES for one in ("requests", "replies") if not proxy.counts[f"{one} {name}"]]
                    check(not missed, "these faults did not happen:", missed)
                figures.append(f"{way}: {of(faults(proxy), size // 2)} faults {dict(proxy.counts)}, RM {rm.figures()}")
                rm.link.close()
        health = daemon.client().get("Health", {"run": True})
        check(health["Healthy"], [one for one in health["HealthChecks"] if not one["Succeeded"]])
    return "; ".join(figures)


if __name__ == "__main__":
    as_program(run, 20_000, __doc__)
