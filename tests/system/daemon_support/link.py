# SPDX-License-Identifier: Apache-2.0
"""A client that outlives its connections: it dials again, goes on with its session, and sends the unanswered request once
more with its sequence number, as docs/protocol.md asks of clients."""
import collections
import random
import time

import msgpack

from daemon_support import Client, check

RESYNC = ("E_SESSION_UNKNOWN", "E_RESYNC_REQUIRED", "E_RM_UNKNOWN")
BROKEN = (OSError, EOFError, ValueError, msgpack.UnpackException)  # what a connection that is cut anywhere leads to


class Gone(Exception):
    """What the daemon knew of this client is gone (args[0] says why): the RM has to register with recovery."""


class Refused(Exception):
    def __init__(self, kind, error):
        super().__init__(kind, error)
        self.name = error["name"]


class Link:
    """`cut`: the share of requests around which it breaks its own connection, as a bad network would. on_busy() is called
    while the daemon wants to be asked later: an RM polls then. on_lost(kind, reply): an answer that such a cut took away."""

    def __init__(self, where, hello=None, seed=0, cut=0.0, patience=90.0, on_busy=None, on_lost=None):
        self.where, self.said, self.random, self.cut = where, {"role": "rm", **(hello or {})}, random.Random(seed), cut
        self.patience = patience
        self.on_busy, self.on_lost = on_busy or (lambda: None), on_lost or (lambda kind, reply: None)
        self.client, self.sid, self.boot, self.seq, self.executing = None, None, None, 0, None
        self.counts = collections.Counter()

    def drop(self):
        if self.client is not None:
            self.client.close()
            self.client = None
            self.counts["reconnects"] += 1

    def dial(self):
        """Connects, and goes on with the session there was. RAISES: Gone when that session is none any more."""
        client = Client(self.where)
        try:
            resume = {} if self.sid is None else {"resume": {"sid": self.sid, "bootID": self.boot}}
            reply = client.ask("Hello", {"min": 1, "max": 1, "client": "link", **self.said, **resume})
            if not reply["ok"]:
                raise ConnectionError(reply["err"]["name"]) if reply["err"]["retryable"] else Refused("Hello", reply["err"])
        except BaseException:
            client.close()
            raise
        body = reply["body"]
        before, self.client, self.sid, self.boot = self.sid, client, body["sid"], body["bootID"]
        if body["resumed"]:
            check(before == self.sid, "another session was resumed")
            check(body["lastSeq"] in (self.seq, self.seq - 1), "the session was at", self.seq, "and not at", body["lastSeq"])
        elif before is not None:
            self.seq = 0
            raise Gone("session not resumed")

    def exchange(self, kind, body, seq):
        if self.client is None:
            self.dial()
        fault = self.random.choice(("before", "sent", "answered")) if self.random.random() < self.cut else None
        if fault == "before":
            raise EOFError("cut by this test before it was sent")
        self.client.sid = self.sid
        self.client.send(kind, body, seq)
        wanted = self.client.next_id
        if fault == "sent":
            raise EOFError("cut by this test before the answer came")
        while True:
            reply = self.client.receive()
            if reply["id"] == wanted:  # else a repetition of an earlier one
                break
            self.counts["repeated replies"] += 1
        if fault == "answered":
            self.on_lost(kind, reply)
            raise EOFError("cut by this test, the answer is lost")
        self.counts["told as dup"] += bool(reply.get("dup"))
        return reply

    def request(self, kind, body, seq=None):
        """The body of the reply. RAISES: Gone, or Refused for what cannot be repeated."""
        end = time.monotonic() + self.patience
        while True:
            check(time.monotonic() < end, kind, "was not answered within", self.patience, "s")
            try:
                reply = self.exchange(kind, body, seq)
            except BROKEN:
                if self.client is None:
                    time.sleep(0.01)  # nobody listens
                self.drop()
                continue
            except AssertionError as fault:
                if "no REP socket" not in str(fault):
                    raise
                self.drop()
                continue
            if reply["ok"]:
                return reply["body"]
            error = reply["err"]
            if error["name"] in RESYNC:
                if error["name"] == "E_SESSION_UNKNOWN":
                    self.sid, self.seq = None, 0
                    self.drop()
                raise Gone(error["name"])
            if not error["retryable"]:
                raise Refused(kind, error)
            self.counts[error["name"]] += 1
            if error["name"] == "E_SHUTTING_DOWN":
                self.drop()
            time.sleep(min(error.get("retryAfterMs", 10), 100) / 1000 * self.random.random())
            if kind != "Poll":
                self.on_busy()

    def change(self, kind, body):
        self.seq += 1
        return self.request(kind, body, self.seq)

    def close(self):
        if self.client is not None:
            self.client.close()
            self.client = None
