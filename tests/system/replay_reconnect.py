# SPDX-License-Identifier: Apache-2.0
"""A replay outlives its connection, and with `ykd --state` its daemon: it says so, goes on, and places what it would have placed
(I-308, I-267)."""
from daemon_support import *
from daemon_support.relay import Relay
from daemon_support.running import YKCTL, Running

import contextlib
import random
import resource

STATE = ("--state", "@.")
GONE, BACK, RESTARTED = "dialling again", "connected again after", "ykd was restarted and has RM replay back"
INTERRUPTED, UNREACHABLE = 130, 3


def trace(daemon, nodes, pods):
    """The options for a trace in the folder of the daemon."""
    folder = daemon.folder + "/trace"
    subprocess.run([YKCTL, "replay", "gen", folder, "--nodes", str(nodes), "--pods", str(pods)], check=True, stdout=subprocess.DEVNULL)
    return ("--nodes", folder + "/nodes.csv", "--pods", folder + "/pods.csv", "-o", "jsonl")


def result(replay):
    replay.ends(0)
    report, = replay.lines()
    return {key: report[key] for key in ("nodes", "pods", "placed", "pending", "reasons", "utilisation")}


def counts(daemon):
    return daemon.client().get("Status")["counts"]


def restarts_while(daemon, running, moments, number=signal.SIGKILL):
    """Ends the daemon after each of these seconds, if the replay still runs. How often."""
    for done, moment in enumerate(moments):
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.process.wait(moment)
            return done
        daemon.restart(number)
    return len(moments)


def test_a_replay_at_once_places_the_same_when_its_daemon_is_killed():
    with Daemon(*STATE) as daemon:
        words = ("replay", *trace(daemon, 20, 300))
        with Running(daemon, *words) as replay:
            wanted = result(replay)
        check(0 < wanted["placed"] < 300, wanted)
        chance = random.Random(17)
        killed = 0
        for _ in range(3):
            with Running(daemon, *words) as replay:
                until("it has begun", lambda: daemon.client().get("Status")["rms"] or replay.process.poll() is not None)
                killed += restarts_while(daemon, replay, [0, *(chance.random() * 0.3 for _ in range(4))])
                found = result(replay)
                check(found == wanted, "with", found, "without", wanted, replay.err)
        check(killed > 0 and daemon.client().get("Status")["rms"] == [], killed, "kills")


def test_a_replay_in_trace_time_places_the_same_when_its_daemon_ends():
    with Daemon(*STATE) as daemon:
        words = ("replay", *trace(daemon, 60, 60), "--speed", "10000")  # four seconds, each pod for 60 ms or more
        with Running(daemon, *words) as replay:
            wanted = result(replay)
        check(wanted["placed"] == 60, wanted)
        for number in (signal.SIGKILL, signal.SIGTERM):
            with Running(daemon, *words) as replay:
                until("it has begun", lambda: counts(daemon)["nodes"] == 60)
                check(restarts_while(daemon, replay, [0.3] * 5, number) == 5)
                found = result(replay)
                check(found == wanted, "with", found, "without", wanted, replay.err)
                check(GONE in replay.err and BACK in replay.err and RESTARTED in replay.err, replay.err)


def test_what_is_stopped_for_longer_than_a_session_lives_goes_on():
    with Daemon("--settings", "@conf", *STATE, files={"conf": "sessionTtl: 2s\nlivenessTimeout: 1s\n"}) as daemon:
        words = ("replay", *trace(daemon, 60, 60), "--speed", "10000")
        with Running(daemon, *words) as replay:
            until("it has begun", lambda: counts(daemon)["nodes"] == 60)
            replay.signal(signal.SIGSTOP)
            observer = daemon.client()
            until("all other sessions have ended", lambda: observer.get("Status")["sessions"] == 1)
            replay.signal(signal.SIGCONT)
            time.sleep(0.3)
            daemon.signal(signal.SIGSTOP)
            time.sleep(2.5)  # longer than sessionTtl
            daemon.signal(signal.SIGCONT)
            replay.signal(signal.SIGSTOP)
            daemon.restart()
            replay.signal(signal.SIGCONT)
            found = result(replay)
            check(found["placed"] == 60, found, replay.err)
            check(RESTARTED in replay.err, replay.err)


def test_a_full_disk_under_the_books_holds_it_up_and_no_more():
    with Daemon(*STATE) as daemon:
        words = ("replay", *trace(daemon, 60, 60), "--speed", "10000")
        with Running(daemon, *words) as replay:
            until("it has begun", lambda: counts(daemon)["nodes"] == 60)
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
            until("books cannot be written", lambda: any("cannot be written" in one for one in daemon.client().get("Status")["degraded"]))
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            found = result(replay)
            check(found["placed"] == 60, found, replay.err)


def test_a_cut_connection_changes_nothing():
    with Daemon() as daemon:  # without books: the session goes on
        words = ("replay", *trace(daemon, 60, 60), "--speed", "20000")
        relay = Relay(daemon)
        seen = {}

        def request(message):
            if message.get("seq") is not None:
                seen.setdefault(message["seq"], []).append((message["sid"], message["kind"], message["body"]))
            return message

        relay.request = request
        with Running(daemon, *words, address="ipc://" + relay.path) as replay:
            until("it has begun", lambda: counts(daemon)["nodes"] == 60)
            for _ in range(40):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    replay.process.wait(0.03)
                relay.cut()
            found = result(replay)
            check(found["placed"] == 60, found, replay.err)
            check("ykd was restarted" not in replay.err, replay.err)
        check(sorted(seen) == list(range(1, len(seen) + 1)), "the numbers of one session", sorted(seen))
        check(all(one == sent[0] for sent in seen.values() for one in sent), "one number, one request")
        check(daemon.client().get("Status")["rms"] == [], "it was deregistered")
        relay.close()


def test_an_answer_that_is_lost_with_its_connection_is_asked_for_again():
    with Daemon() as daemon:
        words = ("replay", *trace(daemon, 20, 200))
        relay = Relay(daemon)
        lost = []

        def reply(message):
            if message["kind"].startswith("Update") and message.get("ok") and not message.get("dup"):
                lost.append(message["kind"])
                raise EOFError  # the connection ends before it
            return message

        relay.reply = reply
        with Running(daemon, *words, address="ipc://" + relay.path) as replay:
            found = result(replay)
        check(found["placed"] + found["pending"] == 200 and found["placed"] > 100, found)
        check(len(lost) >= 3, "applications, asks and nodes", lost)
        relay.close()


def test_a_daemon_that_is_back_without_the_rm_ends_it():
    with Daemon() as daemon:
        words = ("replay", *trace(daemon, 5, 50)[:-2], "--speed", "0.001")
        with Running(daemon, *words) as replay:
            until("it has begun", lambda: counts(daemon)["nodes"] == 5)
            daemon.end()
            replay.says(GONE, "Ctrl-C ends this")
            daemon.start()
            said = replay.ends(UNREACHABLE)
            check("was restarted in the middle of the replay, after" in said and "of 50 pods" in said, said)
            check("REPLAY_CUT_OFF" in said and "--state" in said, said)


def test_a_daemon_that_stays_away_ends_it_after_the_timeout_and_a_signal_at_once():
    with Daemon(*STATE) as daemon:
        words = ("replay", *trace(daemon, 5, 50)[:-2], "--speed", "0.001")
        with Running(daemon, *words, "--timeout", "700ms") as replay:
            until("it has begun", lambda: counts(daemon)["nodes"] == 5)
            daemon.end()
            said = replay.ends(UNREACHABLE)
            check("ended in the middle of the replay, after" in said and "of 50 pods" in said and "REPLAY_CUT_OFF" in said, said)
            check("it did not come back within 700ms" in said, said)
        daemon.start()
        check([rm["rmID"] for rm in daemon.client().get("Status")["rms"]] == ["replay"], "with books it is left behind")
        with Running(daemon, *words[:-1], "max") as replay:  # and replaced by the next one
            replay.ends(0)
        check(daemon.client().get("Status")["rms"] == [])
        with Running(daemon, *words) as replay:
            until("it has begun", lambda: counts(daemon)["nodes"] == 5)
            daemon.end()
            replay.says(GONE)
            replay.signal(signal.SIGINT)
            check("ykctl rm deregister --force replay" in replay.ends_at_once(INTERRUPTED), replay.err)


main(globals())
