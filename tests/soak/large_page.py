#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The page of ykd in Chromium beside a cluster of many nodes: how long its views take from the address to what they show, what keeps the
browser busy, and when a new node is seen. Size: nodes."""
from part import as_program

from daemon_support import *
from daemon_support.browser import Browser
from daemon_support.web import web_daemon

BATCH = 5000
LONG_TASKS = """return new Promise(done => { const seen = [];
    new PerformanceObserver(list => list.getEntries().forEach(one => seen.push(Math.round(one.duration)))).observe({type: 'longtask', buffered: true});
    setTimeout(() => done(seen), 300) })"""


def filled(rm, nodes):
    """Four allocations for each node, of 1,000 applications."""
    for first in range(0, nodes, BATCH):
        rm.nodes(*({"nodeID": f"node-{number:06}"} for number in range(first, min(first + BATCH, nodes))))
    rm.applications(*({"applicationID": f"app{number}"} for number in range(1000)))
    for first in range(0, 4 * nodes, BATCH):
        rm.asks(*({"allocationKey": f"k{number}", "applicationID": f"app{number % 1000}", "resourceAsk": {"vcore": 100 + number % 7}}
                  for number in range(first, min(first + BATCH, 4 * nodes))))
    until("all is placed", lambda: rm.dump("partitions")[0].get("totalContainers") == 4 * nodes, 120)


def run(size, _seed, _seconds):
    daemon, web = web_daemon()
    with daemon, Browser(web) as browser:
        rm = Rm(daemon)
        filled(rm, size)

        def seconds_of(view, *texts):
            began = time.monotonic()
            browser.shows(view, *texts, fresh=True)
            return f"{view.split('/')[0]} {time.monotonic() - began:.2f} s"
        views = [seconds_of("nodes", f"{size:,} nodes") for _ in range(3)]
        busy = max(browser.run(LONG_TASKS), default=0)
        views += [seconds_of("queues", f"{size:,} nodes"), seconds_of("nodes/node-000007", "cores"), seconds_of("applications", "app1")]
        browser.shows("nodes", f"{size:,} nodes")
        began = time.monotonic()
        rm.nodes({"nodeID": "a-new-node"})
        until("a new node is shown", lambda: f"{size + 1:,} nodes" in browser.text())
        check(not browser.complaints(), browser.complaints())
        return f"{', '.join(views)}; longest task of the node map {busy} ms; a new node is shown after {time.monotonic() - began:.2f} s"


if __name__ == "__main__":
    as_program(run, 50_000, __doc__)
