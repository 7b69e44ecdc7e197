#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Random requests over HTTP, right ones and others, by four clients at once, beside one that asks for the partitions and is answered each time;
after them the daemon holds what it held before, and no more memory. Size: requests."""
import collections
import concurrent.futures
import contextlib
import multiprocessing
import random
import socket

from part import Clock, as_program, of

from daemon_support import *
from daemon_support.attacks import resident
from daemon_support.web import Web

CLIENTS = 4
ROUNDS = 20
ROUTES = ["clusters", "partitions", "metrics", "config", "validate-conf", "history/apps", "history/containers", "partition/P/placementrules",
          "partition/P/queues", "partition/P/queue/Q", "partition/P/nodes", "partition/P/node/N", "partition/P/queue/Q/applications",
          "partition/P/queue/Q/applications/active", "partition/P/applications/S", "partition/P/application/A", "partition/P/usage/users",
          "partition/P/usage/user/U", "partition/P/usage/groups", "partition/P/usage/group/U", "events/batch", "scheduler/healthcheck",
          "scheduler/node-utilizations", "page/explain", "page/configurations", "page/preemptions", "page/use",
          "page/partition/P/nodes", "page/partition/P/applications", "mcs/status", "mcs/deployments", "mcs/deployments/A", "mcs/cache/deployment/A"]
NAMES = {"P": ["default", "nope", "", "%zz"], "Q": ["root", "root.a", "root.b", "ROOT.a", "root..a", "%2e", "root%252ea"], "N": ["n1", "n2", "nope", "..", "%00"],
         "S": ["active", "completed", "rejected", "ACTIVE", "x"], "A": ["app", "nope", "x" * 300, "é", "%ff"], "U": ["u", "*", "%20", "nope"]}
QUERIES = ["?rmID=rm:1"] * 10 + ["", "?rmID=rm:1&subtree", "?start=0&count=10", "?count=-1", "?start=99999999999999999999", "?rmID=rm:9", "?rmID=", "?status=running&status=x", "?%", "?" + "a=b&" * 200]
HEADERS = ["Accept-Encoding: gzip", "Accept: application/json", "Origin: https://x.example", "Authorization: Bearer guess", "If-Match: 1", "Connection: keep-alive",
           "X: " + "y" * 3000, "Expect: 100-continue", "Range: bytes=0-10", "If-None-Match: *"]
METHODS = ["GET"] * 12 + ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "BREW"]
BODIES = [b"", b"{}", b"partitions: [{name: default, queues: [{name: root}]}]", b"\xff\x00", b"[" * 5000, b"x" * 20_000]
GROWTH = 1.3  # times what it needed after a quarter of the requests: buffers of connections come and go


def request_of(chance):
    path = "/ws/v1/" + "/".join(chance.choice(NAMES[part]) if part in NAMES else part for part in chance.choice(ROUTES).split("/"))
    if chance.random() < 0.05:
        at = chance.randrange(len(path))
        path = path[:at] + chance.choice(["/", "//", "%", "?", "\x7f", "..", "é"]) + path[at:]
    method, body = chance.choice(METHODS), b""
    lines = [f"{method} {path}{chance.choice(QUERIES)} HTTP/1.1", "Host: x"] + chance.sample(HEADERS, chance.randrange(3))
    if method in ("POST", "PUT", "PATCH", "DELETE"):
        body = chance.choice(BODIES)
        lines.append(f"Content-Length: {len(body)}")
    if chance.random() < 0.0002:  # the daemon waits for what is announced, up to 10 s
        lines.append(chance.choice(["Content-Length: x", "Transfer-Encoding: chunked", ": ", "no colon", "Content-Length: 5"]))
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


def status_of(data):
    """Of the last answer that has come; how a connection that was ended counts."""
    at = data.rfind(b"HTTP/1.1 ")
    return data[at + 9:at + 12].decode("latin-1") if at >= 0 else "cut"


def send_all(port, requests, seed):
    """How often each status came. Several requests go on one connection, as long as it is kept; a few are left half said."""
    chance, statuses, left = random.Random(seed), collections.Counter(), requests
    while left > 0:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as peer:
            peer.settimeout(DEADLINE)
            for _ in range(min(left, chance.randrange(1, 40))):
                left -= 1
                data = request_of(chance)
                if chance.random() < 0.005:
                    peer.sendall(data[:chance.randrange(1, len(data))])
                    statuses["half"] += 1
                    break
                peer.sendall(data)
                answer = peer.recv(1 << 16)
                statuses[status_of(answer)] += 1
                if not answer or b"chunked" in answer or b"close" in answer or data.startswith((b"HEAD", b"TRACE")) or b"Expect" in data:
                    break
                if not is_whole(peer, answer):
                    break
    return statuses


def is_whole(peer, answer):
    """Reads an answer to its end, as its header says."""
    head, _, body = answer.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), None)
    left = -1 if length is None else length - len(body)
    while left > 0:
        more = peer.recv(1 << 16)
        if not more:
            return False
        left -= len(more)
    return left == 0


def run(size, seed, seconds):
    port, clock = free_port(), Clock(seconds)
    with Daemon("--http", f"127.0.0.1:{port}", "--state", "@.", "--settings", "@conf",
                files={"conf": "mcs: {enabled: true}\nhttp: {maxConnections: 32}\n"}) as daemon, \
            concurrent.futures.ProcessPoolExecutor(CLIENTS, multiprocessing.get_context("fork")) as pool:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1"}, {"nodeID": "n2"})
        rm.applications({"applicationID": "app"})
        rm.asks({"allocationKey": "k1"}, {"allocationKey": "k2"})
        web = Web(port)
        before = until("the asks are placed", lambda: (lambda app: len(app["allocations"]) == 2 and app)(web.get("partition/default/application/app?rmID=rm:1")))
        statuses, early, longest = collections.Counter(), None, 0.0
        for round_ in range(ROUNDS):
            parts = [pool.submit(send_all, port, max(1, size // (ROUNDS * CLIENTS)), f"{seed} {round_} {client}") for client in range(CLIENTS)]
            while not all(one.done() for one in parts):
                asked = time.monotonic()
                check(web.ask("/ws/v1/partitions")[0] in (200, 503), "a polite client is not answered")
                longest = max(longest, time.monotonic() - asked)
                time.sleep(0.05)
            for one in parts:
                statuses.update(one.result())
            early = resident(daemon) if early is None and sum(statuses.values()) >= size / 4 else early
            if clock.is_over():
                break
        took, grown = clock.passed(), resident(daemon) / (early or resident(daemon))
        check(web.get("partition/default/application/app?rmID=rm:1") == before, "the application is another one")
        check(web.get("mcs/deployments") == [], "somebody without a token has written")
        check(grown < GROWTH, f"resident memory grew {grown:.2f} times")
        daemon.signal(signal.SIGTERM)
        check(daemon.exit_code() == 0, daemon.text())
    count = sum(statuses.values())
    return (f"{of(count, size)} requests, {count / took:.0f}/s, {dict(sorted(statuses.items()))}; memory {grown:.2f} times, "
            f"longest answer to a polite client {longest * 1000:.0f} ms")


if __name__ == "__main__":
    as_program(run, 1_000_000, __doc__)
