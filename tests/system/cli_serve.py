# SPDX-License-Identifier: Apache-2.0
"""ykctl rm serve comes back by itself (interface.md 3.7, 4.7), and with --state with all that its RM had (I-269)."""
from daemon_support import *
from daemon_support.relay import Relay
from daemon_support.serving import FAILED, YKCTL, Other, Serving, config_of, rms, ykctl

import random
import resource


def fill(daemon):
    other = Other(daemon)
    other.node("n1")
    other.node("n2", action=6)
    other.node("n3", vcore=5)
    other.node("n3", vcore=6, action=2)
    other.app("app", tags={"creationTime": "1"})
    other.app("empty")
    other.asks("app", "a1", "a2", "gone", "deleted", priority=2)
    other.asks("app", "waits", vcore=5000)
    until("they are placed", lambda: sum(1 for ask in other.contents()[1]["app"].values() if ask[0]) == 4)
    other.release("app", "gone")
    ykctl(daemon, "alloc", "release", "deleted", "--app", "app")
    other.asks("app", "waits", vcore=6000)
    return other.settled()


def test_without_books_it_registers_anew():
    with Daemon() as daemon, Serving(daemon, *config_of(daemon)) as serving:
        for number in (signal.SIGKILL, signal.SIGTERM):
            serving.runs()
            Other(daemon).node("n1")
            daemon.end(number)
            serving.said("ykd is gone (")
            serving.said("dialling ipc://" + daemon.path + " again")
            daemon.start()
            serving.said("ykd was restarted; s is registered anew, without what it had (rm serve --state FILE keeps it)")
        serving.runs()
        check(serving.end() == 0)


def test_a_cut_connection_is_no_loss():
    with Daemon() as daemon:
        relay = Relay(daemon)
        with Serving(daemon, *config_of(daemon), path=relay.path) as serving:
            serving.runs()
            other = Other(daemon)
            for i in range(20):
                other.node(f"n{i}")
                relay.cut()
            other.settled()
            told = [node["nodeID"] for item in serving.items() for node in item["body"].get("accepted", [])]
            check(told == [f"n{i}" for i in range(20)], told)
            check("anew" not in serving.notes(), serving.notes())


def test_signals_end_it_at_once():
    with Daemon() as daemon, Serving(daemon) as serving:
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 0)):
            serving.runs()
            check(serving.end(number) == code)
            serving.begin()
            serving.runs()
            daemon.signal(signal.SIGSTOP)
            begun = time.monotonic()
            check(serving.end(number) == code, "while the daemon does not answer")
            check(time.monotonic() - begun < 5)
            daemon.signal(signal.SIGCONT)
            serving.begin()
            serving.said("serving s")
            daemon.end()
            serving.said("ykd is gone")
            time.sleep(0.2)  # so that it waits between two dials
            begun = time.monotonic()
            check(serving.end(number) == code, "while it dials")
            check(time.monotonic() - begun < 5)
            daemon.start()
            serving.begin()


def test_it_gives_up_when_it_is_not_wanted():
    with Daemon() as daemon, Serving(daemon) as serving:
        serving.runs()
        daemon.client().register("s")  # another process: drops what it has
        check(serving.process.wait(DEADLINE) == 1, serving.process.returncode)
        serving.said("another process took RM s over")
        check(subprocess.run([YKCTL, "-s", "ipc:///tmp/yk.nobody", "rm", "serve", "s"], capture_output=True, check=False).returncode == 3)
        bad = daemon.write("bad.yaml", "partitions: 7")
        ykctl(daemon, "rm", "serve", "s", "--config", bad, wanted=1)


def test_a_stream_that_breaks_is_begun_anew():
    with Daemon("--config", "@queues.yaml", "--settings", "@ykd.conf", files={
            "queues.yaml": CONFIG, "ykd.conf": "outboundMaxItems: 200\n"}) as daemon:
        with Serving(daemon) as serving:
            serving.runs()
            other = Other(daemon)
            serving.process.send_signal(signal.SIGSTOP)
            for i in range(400):
                reply = other.client.ask("UpdateNode", {"rmID": "s", "impersonate": True, "nodes": [
                    {"nodeID": f"n{i}", "action": 1, "schedulableResource": {"vcore": 1}}]}, seq=other.client.seq + 1)
                if not reply["ok"]:
                    break
                other.client.seq += 1
                other.client.ask("Sync", {"rmID": "s", "impersonate": True})
            check(reply["err"]["name"] == "E_RESYNC_REQUIRED", reply)
            serving.process.send_signal(signal.SIGCONT)
            serving.said("RM s is lost: stream overflow; register again; s is registered anew")
            serving.runs()


def test_with_books_nothing_is_lost():
    with Daemon() as daemon, Serving(daemon, *config_of(daemon), "--state", daemon.folder + "/state") as serving:
        serving.runs()
        before = fill(daemon)
        check(sorted(before[1]["app"]) == ["a1", "a2", "waits"] and before[0]["n3"] == (6, True), before)
        for number in (signal.SIGKILL, signal.SIGTERM):
            daemon.restart(number)
            serving.said("ykd was restarted; reporting 3 nodes, 2 applications, 2 allocations and 1 pending ask")
            serving.said("recovered: running")
            serving.runs()
            check(Other(daemon).contents() == before, Other(daemon).contents(), "is not", before)
        for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
            serving.restart(number)
            serving.said("serving s again, with what it has")
            serving.runs()
            check(Other(daemon).settled() == before, Other(daemon).contents(), "is not", before)
        Other(daemon).asks("app", "later")
        before = Other(daemon).settled()
        daemon.end()
        serving.end(signal.SIGKILL)
        daemon.start()
        serving.begin()
        serving.said("reporting 3 nodes, 2 applications, 3 allocations and 1 pending ask")
        serving.runs()
        check(Other(daemon).settled() == before, Other(daemon).contents(), "is not", before)
        check(daemon.client().get("Health")["Healthy"])


def test_with_books_an_rm_that_was_lost_reports_all_again():
    with Daemon("--config", "@queues.yaml", "--settings", "@ykd.conf", files={
            "queues.yaml": CONFIG, "ykd.conf": "livenessTimeout: 1s\nsessionTtl: 2s\n"}) as daemon:
        with Serving(daemon, "--state", daemon.folder + "/state") as serving:
            serving.runs()
            before = fill(daemon)
            serving.process.send_signal(signal.SIGSTOP)
            until("the RM is lost", lambda: rms(daemon)["s"]["state"] == 5)
            serving.process.send_signal(signal.SIGCONT)
            serving.said("reporting 3 nodes, 2 applications, 2 allocations and 1 pending ask")
            serving.said("recovered: running")
            serving.runs()
            check(Other(daemon).contents() == before, Other(daemon).contents(), "is not", before)


def test_books_are_for_one_process_and_one_rm():
    with Daemon() as daemon, Serving(daemon, "--state", daemon.folder + "/state") as serving:
        serving.runs()
        state = daemon.folder + "/state"
        check("another process uses these books" in ykctl(daemon, "rm", "serve", "other", "--state", state, wanted=2))
        check("other" not in rms(daemon), "nothing was registered")
        serving.end()
        check("these are the books of RM s, not of other" in ykctl(daemon, "rm", "serve", "other", "--state", state, wanted=2))
        text = daemon.write("text", "this is no database at all, " * 100)
        check("damaged, or this is another file" in ykctl(daemon, "rm", "serve", "other", "--state", text, wanted=2))
        with open(state, "r+b") as file:
            file.seek(40)
            file.write(b"\xff" * 3000)
        said = ykctl(daemon, "rm", "serve", "s", "--state", state, wanted=2)
        check("damaged, or this is another file" in said, said)
        check("either --state or --recovery" in ykctl(daemon, "rm", "serve", "s", "--state", state, "--recovery", "r", wanted=2))
        check("take a file, not -" in ykctl(daemon, "rm", "serve", "s", "--state", "-", wanted=2))


def test_what_the_books_do_not_know_is_not_dropped():
    with Daemon() as daemon:
        with Serving(daemon) as serving:
            serving.runs()
            Other(daemon).node("n1")
            serving.end()
        state = daemon.folder + "/state"
        said = ykctl(daemon, "rm", "serve", "s", "--state", state, wanted=1)
        check("has 1 node" in said and "--force" in said, said)
        check("n1" in Other(daemon).contents()[0])
        with Serving(daemon, "--state", state, "--force") as serving:
            serving.said("reporting 0 nodes")
            serving.runs()
            check(Other(daemon).contents()[0] == {})


def test_a_full_disk_holds_up_what_is_acknowledged():
    with Daemon() as daemon, Serving(daemon, *config_of(daemon), "--state", daemon.folder + "/state", prints=False) as serving:
        serving.runs()
        fill(daemon)
        soft, hard = resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (4096, hard))
        other = Other(daemon)
        other.asks("app", *(f"k{i}" for i in range(20)), tags={"text": "x" * 4000})
        serving.said("the state file cannot be written: ")
        stream = other.client.dump("streams", rmID="s")[0]
        check(stream["items"] > 0, stream)
        resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (soft, hard))
        serving.said("the state file is written again")
        before = other.settled()
        check(len(before[1]["app"]) == 23, before)
        daemon.restart()
        serving.said("recovered: running")
        check(Other(daemon).contents() == before, Other(daemon).contents(), "is not", before)


def test_a_recovery_that_failed_is_shown_and_resolved():
    with Daemon("--config", "@queues.yaml", "--settings", "@ykd.conf", files={
            "queues.yaml": CONFIG, "ykd.conf": "recoveryMaxAttempts: 1\n"}) as daemon:
        with Serving(daemon, "--state", daemon.folder + "/state") as serving:
            serving.runs()
            before = fill(daemon)
            daemon.write("queues.yaml", CONFIG.replace("name: default", "name: elsewhere"))
            daemon.restart()
            serving.said("recovery books of s, attempt 1: failed")
            serving.said("ykctl recovery resolve retry|reset|accept|abort s")
            check(rms(daemon)["s"]["state"] == FAILED)
            ykctl(daemon, "recovery", "resolve", "accept", "s")
            serving.said("s: Failed -> Running")


def test_the_states_of_the_rm_side_are_reported_and_counted():  # I-203
    with Daemon() as daemon, Serving(daemon, *config_of(daemon), "-v") as serving:
        serving.said("s: New -> Registered (a new registration)")
        serving.said("s: Registered -> Running (registered)")  # nothing existed before
        daemon.restart()
        serving.said("s: Running -> New (ykd was restarted)")
        serving.said("s: New -> Registered (a new registration)")
        serving.said("s: Registered -> Running (registered)")
        check(serving.end() == 0)
        serving.said("s changed its state 5 times: New -> Registered 2, Registered -> Running 2, Running -> New 1")
    with Daemon("--config", "@queues.yaml", "--settings", "@ykd.conf", files={
            "queues.yaml": CONFIG, "ykd.conf": "recoveryMaxAttempts: 1\n"}) as daemon:
        with Serving(daemon, "--state", daemon.folder + "/state", "-v") as serving:
            for text in ("New -> Registered (a new", "Registered -> Recovering (reg", "Recovering -> Running (recovered"):
                serving.said("s: " + text)
            fill(daemon)
            daemon.write("queues.yaml", CONFIG.replace("name: default", "name: elsewhere"))
            daemon.restart()
            for text in ("Running -> New (ykd was", "New -> Registered (a new", "Registered -> Recovering (reg", "Recovering -> Failed (the rec"):
                serving.said("s: " + text)
            ykctl(daemon, "recovery", "resolve", "retry", "s")  # it reports again, and the daemon still has no such partition
            for text in ("Failed -> Recovering", "Recovering -> Failed"):
                serving.said("s: " + text)
            ykctl(daemon, "recovery", "resolve", "accept", "s")
            serving.said("s: Failed -> Running")
            check(serving.end() == 0)
            serving.said("s changed its state 10 times: New -> Registered 2, Registered -> Recovering 2, Recovering -> Running 1, "
                         "Recovering -> Failed 2, Running -> New 1, Failed -> Recovering 1, Failed -> Running 1")


def garbling():
    """For a relay: the first replay, of what fill() made, as another RM would report it."""
    def nodes(found):
        found["n1"]["schedulableResource"]["vcore"] = 900
        found["n2"]["action"] = 1  # not draining
        found["more"] = {**found.pop("n3"), "nodeID": "more"}

    def applications(found):
        found["more"] = {**found.pop("empty"), "applicationID": "more"}

    def placed(found):
        found["a1"]["nodeID"] = "n2"
        found["more"] = {**found["a2"], "allocationKey": "more"}
        found["a2"]["nodeID"] = "nowhere"

    def pending(found):
        found.update({f"more-{i}": {**found["waits"], "allocationKey": f"more-{i}"} for i in range(3)})
        del found["waits"]

    def request(message):
        for kind, part, key, has_node, change in ways:
            elements = message.get("body", {}).get(part, [])
            if message["kind"] == kind and elements and ("nodeID" in elements[0]) == has_node:
                found = {one[key]: one for one in elements}
                change(found)
                message["body"][part] = list(found.values())
                ways.remove((kind, part, key, has_node, change))
                break
        return message
    ways = [("UpdateNode", "nodes", "nodeID", True, nodes), ("UpdateApplication", "new", "applicationID", False, applications),
            ("UpdateAllocation", "asks", "allocationKey", True, placed), ("UpdateAllocation", "asks", "allocationKey", False, pending)]
    return request


def test_what_differs_is_corrected():  # I-239, I-254
    for attempts in (5, 1):
        with Daemon("--config", "@queues.yaml", "--settings", "@ykd.conf", files={
                "queues.yaml": CONFIG, "ykd.conf": f"recoveryMaxAttempts: {attempts}\n"}) as daemon:
            relay = Relay(daemon)
            with Serving(daemon, "--state", daemon.folder + "/state", path=relay.path) as serving:
                serving.runs()
                before = fill(daemon)
                relay.request = garbling()
                daemon.restart()
                if attempts == 5:
                    serving.said("attempt 1: retry")
                    serving.said("comparing, to correct what differs")
                else:
                    serving.said("attempt 1: failed")
                    ykctl(daemon, "recovery", "resolve", "retry", "s")
                serving.said("sending 2 that ykd lacks, 3 that it has otherwise and 1 that it has in quarantine, "
                             "releasing 3 that s does not have")
                serving.said("recovered: running")
                serving.runs()
                check(Other(daemon).settled() == before, Other(daemon).contents(), "is not", before)
                daemon.restart()
                serving.said("recovered: running")
                check(Other(daemon).contents() == before, Other(daemon).contents(), "is not", before)


def test_what_was_dropped_is_reported_again():  # I-254
    with Daemon("--config", "@queues.yaml", files={"queues.yaml": CONFIG}) as daemon:
        with Serving(daemon, "--state", daemon.folder + "/state") as serving:
            serving.runs()
            before = fill(daemon)
            daemon.write("queues.yaml", CONFIG.replace("name: default", "name: elsewhere"))
            daemon.restart()
            serving.said("attempt 5: failed")
            daemon.write("queues.yaml", CONFIG)
            ykctl(daemon, "config", "reload")
            ykctl(daemon, "recovery", "resolve", "reset", "s")
            serving.said("sending 7 that ykd lacks, 0 that")
            serving.said("recovered: running")
            serving.runs()
            check(Other(daemon).contents() == before, Other(daemon).contents(), "is not", before)


def test_a_partition_that_is_removed_goes_from_the_books():  # I-183
    both = CONFIG + CONFIG.replace("partitions:", "").replace("name: default", "name: other")
    elsewhere = {"si/node-partition": "other"}
    with Daemon("--config", "@queues.yaml", files={"queues.yaml": both}) as daemon:
        with Serving(daemon, "--state", daemon.folder + "/state") as serving:
            serving.runs()
            other = Other(daemon)
            other.send("UpdateNode", nodes=[{"nodeID": "o", "action": 1, "schedulableResource": {"vcore": 5}, "attributes": elsewhere}])
            other.app("there", partitionName="other")
            other.asks("there", "k1", partitionName="other")
            other.asks("there", "waits", vcore=50, partitionName="other")
            other.send("UpdateAllocation", allocations=[{"allocationKey": "foreign", "nodeID": "o", "partitionName": "other",
                                                         "resourcePerAlloc": {"vcore": 1}, "allocationTags": {"foreign": "default"}}])
            before = fill(daemon)
            check("o" in before[0] and "there" in before[1], before)
            daemon.write("queues.yaml", CONFIG)
            ykctl(daemon, "config", "reload")
            after = other.settled()
            check(sorted(after[0]) == ["n1", "n2", "n3"] and sorted(after[1]) == ["app", "empty"], after)
            removed = [item["body"] for item in serving.items() if item["body"].get("code") == "PARTITIONS"]
            check([one["details"] for one in removed] == [{"partitions": ["default"], "removed": ["other"]}], removed)
            daemon.restart()
            serving.said("reporting 3 nodes, 2 applications, 2 allocations and 1 pending ask")
            serving.said("recovered: running")
            check(Other(daemon).contents() == after, Other(daemon).contents(), "is not", after)


def test_any_end_at_any_time():
    """What was acknowledged is there after any end of either side, and nothing else came of it."""
    seed = int(os.environ.get("YK_SEED", random.randrange(10**6)))
    rounds = int(os.environ.get("YK_ROUNDS", "8"))
    print("seed", seed, "rounds", rounds)
    chance = random.Random(seed)
    with Daemon() as daemon, Serving(daemon, *config_of(daemon), "--state", daemon.folder + "/state") as serving:
        serving.runs()
        other = Other(daemon)
        other.node("n0")
        other.app("app0")
        count = 0
        for _ in range(rounds):
            sure = other.settled()
            gone = set()  # what was released since: it may be there or not
            for _ in range(chance.randrange(1, 40)):
                count += 1
                what = chance.randrange(10)
                if what == 0:
                    other.node(f"n{count}")
                elif what == 1:
                    other.app(f"app{count}")
                elif what < 4 and sure[1]["app0"]:
                    key = chance.choice(sorted(sure[1]["app0"]))
                    gone.add(key)
                    other.release("app0", key)
                else:
                    other.asks("app0", f"k{count}", vcore=chance.choice((1, 2, 5000)))
            if chance.random() < 0.3:
                sure, gone = other.settled(), set()
            ends = chance.choice((("daemon",), ("serving",), ("daemon", "serving"), ("serving", "daemon")))
            number = chance.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM))
            for who in ends:
                if who == "daemon":
                    daemon.end(number)
                else:
                    serving.end(number)
            if "daemon" in ends:
                daemon.start()
            if "serving" in ends:
                serving.begin()
            serving.runs()
            other = Other(daemon)
            nodes, asks = other.settled()
            check(all(nodes.get(name) == node for name, node in sure[0].items()), nodes, "lacks of", sure[0])
            check(set(sure[1]) <= set(asks), asks, "lacks of", sure[1])
            for key, ask in sure[1]["app0"].items():
                if key in gone:
                    continue
                check(key in asks["app0"], key, "is lost")
                now = asks["app0"][key]
                check(now[1:] == ask[1:] and (ask[0] is None or now[0] == ask[0]), key, "was", ask, "and is", now)
        before = other.settled()
        serving.end()
        daemon.restart()
        serving.begin()  # the books alone
        serving.runs()
        check(Other(daemon).settled() == before, Other(daemon).contents(), "is not", before)
        check("attempt" not in open(daemon.folder + "/notes", encoding="utf-8").read(), "both sides agreed each time")


main(globals())
