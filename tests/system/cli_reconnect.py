# SPDX-License-Identifier: Apache-2.0
"""Commands of ykctl that run on outlive their daemon: they say that it is gone, dial again and go on (I-308, I-260)."""
from daemon_support import *
from daemon_support.relay import Relay
from daemon_support.running import Running

STATE = ("--state", "@.")
GONE, BACK, RESTARTED = "dialling again", "connected again after", "ykd was restarted"
INTERRUPTED, UNREACHABLE, NOT_FOUND, NOT_SATISFIED = 130, 3, 4, 7


def detached(daemon, rm="rm:1"):
    client = daemon.client()
    client.register(rm, detached={})
    client.cluster(rm)
    client.get("Sync", {"rmID": rm})
    return client


def add_node(daemon, name, rm="rm:1", vcore=5):
    client = daemon.client()
    client.change("UpdateNode", {"rmID": rm, "nodes": [{"nodeID": name, "action": 1, "schedulableResource": {"vcore": vcore}}]})
    client.get("Sync", {"rmID": rm})


def until_it_waits(daemon):
    """A ykctl wait has looked and found nothing, and waits for the next event."""
    until("it waits", lambda: any("streamID" in one for one in daemon.client().dump("streams")))


def test_watch_goes_on_with_the_restarted_daemon():
    with Daemon(*STATE) as daemon:
        detached(daemon)
        with Running(daemon, "node", "list", "--watch", "--interval", "50ms") as watch:
            watch.says('"added"', on="out")
            daemon.end()
            watch.says("cannot reach ykd at ipc://" + daemon.path, GONE, "Ctrl-C ends this")
            daemon.start()
            watch.says(BACK, RESTARTED)
            add_node(daemon, "n2")
            watch.says('"n2"', on="out")
            check([(one["change"], one["item"]["nodeID"]) for one in watch.lines()] == [("added", "n1"), ("added", "n2")], watch.out)
            daemon.restart()  # so quick that it may be noticed by its other boot id only
            add_node(daemon, "n3")
            watch.says('"n3"', on="out")
            until("it says so again", lambda: watch.err.count(RESTARTED) >= 2)
            watch.signal(signal.SIGINT)
            watch.ends(INTERRUPTED)
            check(watch.err.count(RESTARTED) == 2, watch.err)


def test_watch_waits_for_an_rm_that_is_not_back_yet():
    with Daemon() as daemon:
        detached(daemon)
        with Running(daemon, "node", "list", "-r", "rm:1", "--watch", "--interval", "50ms") as watch:
            watch.says('"added"', on="out")
            daemon.restart()
            watch.says(RESTARTED, "rm:1", "looking again")
            detached(daemon)
            add_node(daemon, "n2")
            watch.says('"n2"', on="out")
            daemon.client().change("UnregisterResourceManager", {"rmID": "rm:1", "force": True})
            watch.ends(NOT_FOUND)  # that is no restart


def test_the_last_picture_stays_on_the_terminal_and_is_marked_as_old():
    with Daemon() as daemon:
        detached(daemon)
        with Running(daemon, "node", "list", "--watch", "--interval", "50ms", terminal=True) as watch:
            watch.says("n1", on="out")
            daemon.end()
            watch.says("old, seen at 20", on="out")
            check("n1" in watch.out.rpartition("old, seen at")[2], "with what it showed", watch.out[-300:])
            daemon.start()
            watch.says(BACK)
            until("a new picture is drawn", lambda: "old, seen at" not in watch.out.rpartition("\x1b[2J")[2])
            watch.signal(signal.SIGTERM)
            watch.ends(INTERRUPTED)


def test_a_signal_ends_the_dialling_at_once():
    for words, number, wanted in ((("rm", "list", "--watch", "--interval", "50ms"), signal.SIGINT, INTERRUPTED),
                                  (("events", "--follow", "--since", "0"), signal.SIGINT, INTERRUPTED),
                                  (("events", "--follow", "--since", "0"), signal.SIGTERM, 0),
                                  (("wait", "app/app", "--for", "state=Completed"), signal.SIGINT, INTERRUPTED)):
        with Daemon() as daemon:
            detached(daemon)
            with Running(daemon, *words) as command:
                if words[0] == "wait":
                    until_it_waits(daemon)
                else:
                    command.says("rm:1" if words[0] == "rm" else "n1", on="out")
                daemon.end()
                command.says(GONE)
                command.signal(number)
                command.ends_at_once(wanted)


def test_a_signal_ends_the_wait_for_a_daemon_that_hangs():
    with Daemon() as daemon:
        detached(daemon)
        with Running(daemon, "events", "--follow", "--since", "0") as follow:
            follow.says("n1", on="out")
            daemon.signal(signal.SIGSTOP)
            follow.signal(signal.SIGINT)
            follow.ends_at_once(INTERRUPTED)
            daemon.signal(signal.SIGCONT)


def test_a_signal_between_two_requests_ends_it_at_once_too():
    """Whose session is not ended then, as a daemon that hangs does not answer Bye."""
    with Daemon() as daemon:
        detached(daemon)
        with Running(daemon, "events", "--follow", "--since", "0") as follow:
            follow.says("n1", on="out")
            follow.signal(signal.SIGSTOP)
            time.sleep(1)  # the daemon answers its last request
            daemon.signal(signal.SIGSTOP)
            follow.signal(signal.SIGINT)
            follow.signal(signal.SIGCONT)  # which has an answer and a signal
            follow.ends_at_once(INTERRUPTED)
            daemon.signal(signal.SIGCONT)


def test_timeout_is_how_long_the_daemon_may_be_away():
    with Daemon() as daemon:
        detached(daemon)
        with Running(daemon, "node", "list", "--watch", "--interval", "50ms", "--timeout", "500ms") as watch:
            watch.says("n1", on="out")
            daemon.end()
            said = watch.ends(UNREACHABLE)
            check("dialling again for at most 500ms" in said and "it did not come back within 500ms" in said, said)
        with Running(daemon, "node", "list", "--watch") as never:  # that never reached a daemon does not dial
            check(GONE not in never.ends(UNREACHABLE))


def test_events_of_a_restarted_daemon_follow():
    with Daemon(*STATE) as daemon:
        detached(daemon)
        with Running(daemon, "events", "--follow", "--since", "0", "-o", "jsonl") as follow:
            follow.says('"n1"', on="out")
            until("all that is kept has come", lambda: len(follow.lines()) == daemon.client().get("Events", {"start": 0, "count": 1})["NextID"])
            last = follow.lines()[-1]["eventID"]
            daemon.end()
            follow.says(GONE)
            daemon.start()
            add_node(daemon, "n2")
            follow.says('"n2"', on="out")
            follow.says(BACK, f"{RESTARTED}: what happened from event {last + 1} on and before it ended is not known")
            numbers = [one["eventID"] for one in follow.lines()]
            check(numbers[:last + 1] == list(range(last + 1)), "none of the old ones is left out", numbers)
            check(numbers[last + 1:] == list(range(len(numbers) - last - 1)), "nor of the new ones", numbers)
            follow.signal(signal.SIGINT)
            follow.ends(INTERRUPTED)


def test_a_cut_connection_leaves_no_event_out():
    with Daemon() as daemon:
        detached(daemon)
        relay = Relay(daemon)
        with Running(daemon, "events", "--follow", "--since", "0", "-o", "jsonl", address="ipc://" + relay.path) as follow:
            follow.says('"n1"', on="out")
            for i in range(5):
                until("it is connected", lambda: relay.ends)
                relay.cut()
                add_node(daemon, f"after-{i}")
                follow.says(f'"after-{i}"', on="out")
            numbers = [one["eventID"] for one in follow.lines()]
            check(numbers == list(range(len(numbers))), "each came once, in order", numbers)
            check(RESTARTED not in follow.err, follow.err)
            follow.signal(signal.SIGINT)
            follow.ends(INTERRUPTED)


def test_wait_goes_on_and_is_not_deceived_by_an_empty_daemon():
    with Daemon(*STATE) as daemon:
        detached(daemon).asks("k1")
        with Running(daemon, "wait", "ask/k2", "--for", "placed", "--timeout", "20s") as early:
            early.ends(NOT_FOUND)
        client = daemon.client()
        client.asks("k2", vcore=5000)  # does not fit
        client.get("Sync", {"rmID": "rm:1"})
        with Running(daemon, "wait", "ask/k2", "--for", "placed", "--timeout", "20s") as placed:
            until_it_waits(daemon)
            daemon.end()
            placed.says(GONE)
            daemon.start()
            placed.says(RESTARTED)
            add_node(daemon, "large", vcore=5000)
            placed.ends(0)
            check("is on large" in placed.out, placed.out)
    with Daemon() as daemon:
        detached(daemon).asks("k1")
        until("it is placed", lambda: daemon.client().get("Status")["counts"]["allocations"] == 1)
        with Running(daemon, "wait", "alloc/k1", "--for", "gone", "--timeout", "1500ms") as gone:
            until_it_waits(daemon)
            daemon.restart()
            said = gone.ends(NOT_SATISFIED)
            check("is not known since ykd was restarted: RM rm:1 is not back" in said, said)


def test_ask_add_waits_across_a_restart():
    with Daemon(*STATE) as daemon:
        detached(daemon)
        words = ("ask", "add", "app", "--key", "waits", "-R", "vcore=5", "--wait", "--timeout", "20s")
        with Running(daemon, *words) as add:
            add.says("ask waits added", on="out")  # before that the daemon had not answered, and nobody waited
            daemon.end()
            add.says(GONE)
            daemon.start()
            add.says(BACK, RESTARTED)
            add_node(daemon, "large", vcore=5000)
            add.ends(0)
            check("ask waits placed on large" in add.out, add.out)


main(globals())
