#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs the scheduler that many look at it: 250,000 asks of W2 on its 5,000 nodes and 100 leaves, with 50 open pages and a scrape each
second, and without, in turns.

usage: watched.py [--runs N] [--pages N] [--asks N]
The last lines have the figures: the time from the first ask sent to the last allocation received, and the processor time of the owner thread,
which no reader beside it on the same processors lengthens. $YK_BIN names the directory of ykd.
"""
import argparse
import http.client
import multiprocessing
import statistics
import sys
import threading

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/system")

from daemon_support import *
from daemon_support.web import web_daemon

NODES, PARENTS, LEAVES, APPLICATIONS, SHAPES, BATCH = 5000, 10, 10, 1000, 20, 1000
VIEWS = ("page/partition/default/nodes", "page/partition/default/applications", "partition/default/queues", "page/configurations")
PAUSE = 2.0  # seconds between two loads of a view, as the page has it

CONFIG_OF_W2 = "partitions:\n  - name: default\n    queues:\n      - name: root\n        submitacl: '*'\n        queues:\n" + "".join(
    f"          - name: p{parent}\n            queues:\n" + "".join(
        f"              - {{name: q{leaf}, resources: {{guaranteed: {{vcore: 500, memory: 1000G}}, max: {{vcore: 100000, memory: 100T}}}}}}\n"
        for leaf in range(LEAVES)) for parent in range(PARENTS))


def watch_page(port, view, on, ended):
    """One open page: the stream of changes, and its view anew after a change."""
    while not ended.is_set():
        if not on.wait(0.1):
            continue
        stream = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
        loads = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
        try:
            stream.request("GET", "/ws/v1/page/changes")
            answer = stream.getresponse()
            check(answer.status == 200, "the stream of changes:", answer.status)
            last = 0.0
            while on.is_set() and not ended.is_set():
                line = answer.readline()
                check(line, "the stream of changes ended")
                if not line.startswith(b"data: {\"app") or time.monotonic() < last + PAUSE:
                    continue
                last = time.monotonic()
                loads.request("GET", "/ws/v1/" + view)
                seen = loads.getresponse()
                body = seen.read()
                check(seen.status == 200, view, seen.status, body[:200])
        except (TimeoutError, OSError) as fault:
            if on.is_set() and not ended.is_set():
                raise AssertionError(f"a page: {fault}") from fault
        finally:
            stream.close()
            loads.close()


def scrape(port, on, ended):
    while not ended.wait(1.0):
        if on.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            check(answer.status == 200 and b"ykd_queue_applications" in answer.read(), "a scrape:", answer.status)
            connection.close()


def watchers(port, pages, on, ended, failed):
    def guarded(work, *arguments):
        try:
            work(port, *arguments, on, ended)
        except (AssertionError, OSError) as fault:
            failed.put(str(fault))
    threads = [threading.Thread(target=guarded, args=(watch_page, VIEWS[number % len(VIEWS)])) for number in range(pages)]
    threads.append(threading.Thread(target=guarded, args=(scrape,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def owner_seconds(pid):
    """Processor time of the RM's owner thread so far."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm", encoding="utf-8") as file:
            if not file.read().startswith("owner"):
                continue
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="utf-8") as file:
            return int(file.read().split()[0]) * 1e-9
    raise AssertionError("no owner thread")


def requests_of(run, asks):
    """Bodies of UpdateAllocation, ready to be sent."""
    shape = lambda number: {"vcore": 100 + 10 * (number % SHAPES), "memory": (256 + 64 * (number % SHAPES)) << 20, "pods": 1}
    return [[{"allocationKey": f"r{run}-{number}", "applicationID": f"app{number % APPLICATIONS}", "resourceAsk": shape(number)}
             for number in range(first, min(first + BATCH, asks))] for first in range(0, asks, BATCH)]


def play(rm, pid, run, asks):
    """Seconds and the owner's seconds until all are placed; the applications are as before afterwards."""
    bodies = requests_of(run, asks)
    began, owner = time.perf_counter(), owner_seconds(pid)
    for body in bodies:
        rm.client.change("UpdateAllocation", {"rmID": rm.rm, "asks": body})
    placed = 0
    while placed < asks:
        items = rm.client.poll(ack=rm.ack, rm=rm.rm)["items"]
        placed += sum(len(item["body"].get("new", [])) for item in items if item["kind"] == "UpdateAllocation")
        rm.ack = items[-1]["n"] if items else rm.ack
    took, owner = time.perf_counter() - began, owner_seconds(pid) - owner
    for number in range(APPLICATIONS):
        rm.client.change("UpdateAllocation", {"rmID": rm.rm, "releases": {"allocationsToRelease": [
            {"applicationID": f"app{number}", "terminationType": 1, "partitionName": "default"}]}})
    rm.told()
    check(rm.dump("partitions")[0].get("totalContainers", 0) == 0, rm.dump("partitions")[0])
    return took, owner


def main_of(runs, pages, asks):
    daemon, web = web_daemon()
    on, ended, failed = multiprocessing.Event(), multiprocessing.Event(), multiprocessing.Queue()
    with daemon:
        rm = Rm(daemon, config=CONFIG_OF_W2)
        for first in range(0, NODES, BATCH):
            rm.nodes(*({"nodeID": f"n{number}", "schedulableResource": {"vcore": 32000, "memory": 64 << 30, "pods": 110}}
                       for number in range(first, first + BATCH)))
        rm.applications(*({"applicationID": f"app{number}", "queueName": f"root.p{number % PARENTS}.q{number // PARENTS % LEAVES}"}
                          for number in range(APPLICATIONS)))
        looking = multiprocessing.Process(target=watchers, args=(web.port, pages, on, ended, failed))
        looking.start()
        found = {False: [], True: []}
        try:
            play(rm, daemon.process.pid, "warm", asks)
            for run in range(2 * runs):
                watched = (run + run // 2) % 2 == 1  # in turns, every other time the other way round
                (on.set if watched else on.clear)()
                time.sleep(1.5)
                found[watched].append(play(rm, daemon.process.pid, run, asks))
                check(failed.empty(), failed.empty() or failed.get())
        finally:
            on.set()
            ended.set()
            looking.join(DEADLINE)
            if looking.is_alive():
                looking.kill()
        for at, what in ((0, "seconds in all"), (1, "seconds of the owner thread")):
            alone, beside = ([one[at] for one in found[watched]] for watched in (False, True))
            ratios = [b / a for a, b in zip(alone, beside)]
            print(f"{asks} asks, {what}: alone {statistics.median(alone):.3f}, with {pages} pages and a scrape each second {statistics.median(beside):.3f}; "
                  f"ratio {statistics.median(ratios):.3f} (median of {runs}, {min(ratios):.3f} to {max(ratios):.3f})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--asks", type=int, default=250_000)
    arguments = parser.parse_args()
    main_of(arguments.runs, arguments.pages, arguments.asks)
