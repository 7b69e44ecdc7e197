# SPDX-License-Identifier: Apache-2.0
"""Nobody's flood keeps the others out: sessions, RMs, event streams (A8), guesses of tokens (A7)."""
from daemon_support import *

import hashlib

HELLO = {"min": 1, "max": 1, "client": "t", "role": "observer"}


class OpenDaemon(Daemon):
    """One that listens on tcp too and knows tokens: `one`, `two`, ... for as many identities."""

    def __init__(self, *flags, tokens=("one",), role="observer"):
        self.port = free_port()
        lines = [f"{role} * {hashlib.sha256(token.encode()).hexdigest()}\n" for token in tokens]
        super().__init__("--listen", f"tcp://127.0.0.1:{self.port}", "--tokens", "@tokens", *flags,
                         files={"tokens": "".join(lines)})

    def guest(self, token="one", **more):
        client = Client(("127.0.0.1", self.port))
        client.reply = client.ask("Hello", {**HELLO, "token": token, **more})
        client.sid = client.reply.get("body", {}).get("sid")
        return client


def test_a_flood_of_sessions_keeps_nobody_out():  # A8
    with OpenDaemon("--max-sessions", "32", tokens=("one", "two")) as daemon:
        flood = [daemon.guest() for _ in range(40)]
        refused = [client.reply["err"] for client in flood if not client.reply["ok"]]
        check(len(refused) == 24, len(refused))
        check("has 16 of 32 sessions" in refused[0]["message"] and "--max-sessions" in refused[0]["message"], refused[0])
        check(daemon.guest("two").reply["ok"], "another identity gets in")
        others = [daemon.guest("two") for _ in range(20)]
        check(daemon.client().get("Status")["maxSessions"] == 32, "and so does the daemon's user")
        del flood, others


def test_sessions_of_killed_clients_are_not_counted():  # A8, annoyance 9
    with Daemon("--max-sessions", "8") as daemon:
        admin = daemon.client()
        gone = [daemon.client(role="observer") for _ in range(3)]
        status = admin.get("Status")
        check((status["sessions"], status["sessionsKept"]) == (4, 0), status)
        for client in gone:
            client.close()
        until("only the admin counts", lambda: admin.get("Status")["sessions"] == 1)
        check(admin.get("Status")["sessionsKept"] == 3, "they may come back")
        there = [daemon.client() for _ in range(7)]  # at once, though none was idle for 10 s
        status = admin.get("Status")
        check((status["sessions"], status["sessionsKept"]) == (8, 0), status)
        del there


def test_followers_do_not_keep_admins_out():  # A8
    tokens = [str(number) for number in range(7)]
    with OpenDaemon(tokens=tokens) as daemon:
        followers = [daemon.guest(token) for token in tokens for _ in range(14)]
        opened = [client.ask("EventStream", {"count": 0})["ok"] for client in followers]
        check(sum(opened) == 90, sum(opened))
        admin = daemon.client()
        check(admin.get("EventStream", {"count": 0})["streamID"], "an admin follows, too")


def test_a_flood_of_rms_keeps_nobody_out():  # A8
    with OpenDaemon(role="rm", tokens=("one", "two")) as daemon:
        flood = daemon.guest("one", role="rm")
        for number in range(32):
            flood.register(f"rm:{number}")
        error = flood.refused("E_BUSY", "RegisterResourceManager", {"rmID": "rm:32", "config": CONFIG}, mutating=True)
        check("has 32 of 64 RMs" in error["message"] and "deregister" in error["message"], error)
        daemon.guest("two", role="rm").register("other")
        daemon.client().register("admin")


def test_guesses_are_not_compared_beyond_the_limit():  # A7, I-342
    with OpenDaemon() as daemon:
        guesser = Client(("127.0.0.1", daemon.port))
        for number in range(200):
            guesser.send("Hello", {**HELLO, "token": f"guess {number}"})
        guesser.send("Hello", {**HELLO, "token": "one"})
        replies = []
        try:
            while True:
                replies.append(guesser.receive())
        except (EOFError, ConnectionError):
            pass
        check(all(reply["err"]["name"] == "E_AUTH" for reply in replies), replies)
        lines = [line for line in daemon.text().splitlines() if "core.security" in line]
        check(len(lines) <= 6, len(lines), "lines about one address")
        check("more of this address are not logged" in lines[-1], lines)
        late = Client(("127.0.0.1", daemon.port))  # connecting again does not help
        late.send("Hello", {**HELLO, "token": "one"})
        try:
            check(not late.receive()["ok"], "a token was compared")
        except (EOFError, ConnectionError):
            pass
        daemon.client().get("Ping")


main(globals())
