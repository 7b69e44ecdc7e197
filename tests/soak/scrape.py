#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a large cluster over HTTP: how long a scrape takes, and how long an owner thread answers nobody meanwhile.

usage: scrape.py [--queues N] [--nodes N] [--scrapes N]
The last lines have the figures. Exits 1 with a sentence when something did not hold. $YK_BIN names the directory of ykd.
"""
import argparse
import multiprocessing
import statistics
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/system")

from daemon_support import *
from daemon_support.web import web_daemon

LEAVES = 100  # below each parent


def config_of(queues):
    text = "partitions:\n  - name: default\n    queues:\n      - name: root\n        submitacl: '*'\n        queues:\n"
    for parent in range(queues // LEAVES):
        text += f"          - name: p{parent}\n            resources: {{guaranteed: {{vcore: 10}}, max: {{vcore: 1000, memory: 1000G}}}}\n            queues:\n"
        text += "".join(f"              - {{name: q{leaf}}}\n" for leaf in range(LEAVES - 1))
    return text


def time_answers(path, rm, stop, found):
    """How long each answer of the owner thread took, in ms, until `stop` is set. In a process of its own, which waits for no other thread's
    Python."""
    client = Client(path)
    client.hello()
    took = []
    while not stop.is_set():
        began = time.perf_counter()
        client.get("Sync", {"rmID": rm, "impersonate": True})
        took.append((time.perf_counter() - began) * 1000)
        time.sleep(0.001)  # it should not take the processors from what it looks at
    found.put(took)


def beside(daemon, rm, work):
    """What `work` returns, and the answers of the owner meanwhile."""
    stop, found = multiprocessing.Event(), multiprocessing.Queue()
    process = multiprocessing.Process(target=time_answers, args=(daemon.path, rm.rm, stop, found))
    process.start()
    time.sleep(0.5)
    try:
        result = work()
    finally:
        stop.set()
    answers = found.get(timeout=DEADLINE)
    process.join()
    return result, answers


def text_of(took):
    took = sorted(took)
    return f"p50 {statistics.median(took):.2f}, p99 {took[int(len(took) * 0.99)]:.2f}, longest {took[-1]:.2f} ms of {len(took)}"


def main_of(queues, nodes, scrapes):
    daemon, web = web_daemon()
    with daemon:
        rm = Rm(daemon, config=config_of(queues))
        rm.nodes(*({"nodeID": f"n{number}"} for number in range(nodes)))
        rm.applications(*({"applicationID": f"app{number}", "queueName": f"root.p{number % (queues // LEAVES)}.q{number % 50}"} for number in range(1000)))
        rm.asks(*({"allocationKey": f"k{number}", "applicationID": f"app{number % 1000}"} for number in range(5000)))
        _, quiet = beside(daemon, rm, lambda: time.sleep(3))
        print(f"{queues} queues, {nodes} nodes; the owner's answers without a scrape: {text_of(quiet)}")
        for path in ("/ws/v1/metrics", "/metrics"):
            def scrape():
                took = []
                for _ in range(scrapes):
                    began = time.perf_counter()
                    status, _, body = web.ask(path)
                    took.append((time.perf_counter() - began) * 1000)
                    check(status == 200 and body.count(b"\n") > queues, path, status, len(body))
                    time.sleep(0.1)
                return took, len(body)
            (took, size), answers = beside(daemon, rm, scrape)
            print(f"{path}: {text_of(took)}; {size / 1e6:.1f} MB; the owner's answers beside it: {text_of(answers)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queues", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--scrapes", type=int, default=30)
    arguments = parser.parse_args()
    main_of(arguments.queues, arguments.nodes, arguments.scrapes)
