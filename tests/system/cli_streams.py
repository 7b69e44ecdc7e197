# SPDX-License-Identifier: Apache-2.0
"""What ykctl reads piece by piece while it goes on in the daemon: events, and what an RM is told."""
from daemon_support import *

import fcntl
import hashlib
import itertools
import json
import termios
import threading

YKCTL = os.path.join(os.environ["YK_BIN"], "ykctl")
SMALL_PIPE = 4096
BY_HAND = ("--manual-schedule", "--clock", "virtual")


def words_for(daemon, *words):
    return [YKCTL, "-s", "ipc://" + daemon.path, *words]


def ykctl(daemon, *words, wanted=0):
    done = subprocess.run(words_for(daemon, *words), capture_output=True, text=True, check=False)
    check(done.returncode == wanted, words, "ended with", done.returncode, done.stdout[-500:], done.stderr)
    return done.stdout + done.stderr


def started(daemon, *words):
    return subprocess.Popen(words_for(daemon, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pipesize=SMALL_PIPE)


def unread(pipe):
    """Bytes that wait in a pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def newest_event(client):
    return client.get("Events", {"start": 0, "count": 1})["NextID"]


def many_events(client, rm, count, name="n"):
    """Nodes, each of which is an event or more."""
    before = newest_event(client)
    client.change("UpdateNode", {"rmID": rm, "nodes": [
        {"nodeID": f"{name}{i:05}", "action": 1, "schedulableResource": {"vcore": 1}} for i in range(count)]})
    client.get("Sync", {"rmID": rm})
    until("the events are in", lambda: newest_event(client) >= before + count)


def test_events_since_and_follow_leave_none_out():
    with Daemon(*BY_HAND) as daemon:
        client = daemon.client()
        client.register()
        many_events(client, "rm:1", 1500)
        reader = started(daemon, "events", "--since", "0", "--follow", "-o", "jsonl")
        until("the pipe is full", lambda: unread(reader.stdout) >= SMALL_PIPE)
        between = newest_event(client)
        client.cluster()  # between what was kept and what follows
        until("its event is in", lambda: newest_event(client) > between)
        last = newest_event(client)
        ending = threading.Timer(DEADLINE, reader.terminate)  # one that misses it waits for ever
        ending.start()
        found = []
        for line in reader.stdout:
            found.append(json.loads(line)["eventID"])
            if found[-1] == last - 1:
                break
        ending.cancel()
        reader.terminate()
        reader.communicate()
        check(found == list(range(last)), "of", last, "events came", len(found), "the last", found[-3:])


def test_events_of_a_role_rm_begin_behind_those_of_others():  # I-412
    port = free_port()
    tokens = f"rm mine-* {hashlib.sha256(b'hush').hexdigest()}\n"
    with Daemon(*BY_HAND, "--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens", files={"tokens": tokens}) as daemon:
        other = daemon.client()
        other.register("other")
        many_events(other, "other", 1500)
        mine = Client(("127.0.0.1", port))
        mine.hello(role="rm", token="hush")
        mine.register("mine-1")
        before = newest_event(other)
        mine.cluster("mine-1")
        mine.get("Sync", {"rmID": "mine-1"})
        until("its events are in", lambda: newest_event(other) > before)
        path = daemon.write("token", "hush\n")
        said = subprocess.run([YKCTL, "-s", f"tcp://127.0.0.1:{port}", "--token-file", path, "events", "-o", "jsonl"],
                              capture_output=True, text=True, check=False)
        check(said.returncode == 0, said)
        whose = [json.loads(line)["rmID"] for line in said.stdout.splitlines()]
        check(whose and set(whose) == {"mine-1"}, "it saw", len(whose), "events", said.stderr)


def place_while(client, waiting):
    """Steps until the process ends; what it said, which is more than a pipe holds."""
    said = []
    reader = threading.Thread(target=lambda: said.extend(waiting.communicate()))
    reader.start()
    while reader.is_alive():
        client.change("Step", {"cycles": 2000})
        time.sleep(0.01)
    return said


def test_ask_add_wait_sees_what_is_placed_between_its_batches():
    with Daemon(*BY_HAND) as daemon:
        client = daemon.client()
        ykctl(daemon, "rm", "register", "d", "--keep", "10000")
        ykctl(daemon, "node", "add", "n", "-R", "vcore=100000")
        ykctl(daemon, "app", "add", "x", "--tag", "namespace=t")
        waiting = started(daemon, "ask", "add", "x", "-n", "4000", "-R", "vcore=1", "--key", "k", "--wait", "--timeout", "20s")
        until("a batch is in", lambda: client.dump("app", application="x", objects=0).get("pendingAsks", 0) >= 1000)
        out, err = place_while(client, waiting)
        check(waiting.returncode == 0, "it ended with", waiting.returncode, err)


def test_ask_add_wait_asks_again_when_the_stream_is_cut():
    with Daemon(*BY_HAND) as daemon:
        client = daemon.client()
        ykctl(daemon, "rm", "register", "d", "--keep", "1")
        ykctl(daemon, "node", "add", "n", "-R", "vcore=100")
        ykctl(daemon, "app", "add", "x", "--tag", "namespace=t")
        waiting = started(daemon, "ask", "add", "x", "-n", "20", "-R", "vcore=1", "--key", "k", "--wait", "--timeout", "20s")
        check("added" in waiting.stdout.readline())
        for _ in range(20):
            client.change("Step", {"cycles": 1})
        out, err = waiting.communicate()
        check(waiting.returncode == 0 and "ask k-1 placed on n" in out, "it ended with", waiting.returncode, err, out)


def two_rms(daemon):
    """Each with a node n, an application x with an ask k, and one user."""
    for rm in ("a", "b"):
        ykctl(daemon, "rm", "register", rm)
        for words in (("node", "add", "n", "-R", "vcore=1"), ("app", "add", "x", "-u", "u", "--tag", "namespace=t"),
                      ("ask", "add", "x", "--key", "k", "-R", "vcore=5")):
            ykctl(daemon, "-r", rm, *words)


def test_what_two_rms_call_alike_is_two_things():
    with Daemon(*BY_HAND) as daemon:
        two_rms(daemon)
        check("ask 'k' is in several partitions: [a]default, [b]default" in ykctl(daemon, "ask", "show", "k", wanted=2))
        check("app 'x' is in several partitions: [a]default, [b]default" in ykctl(daemon, "app", "remove", "x", wanted=2))
        for rm in ("a", "b"):
            check(json.loads(ykctl(daemon, "-r", rm, "ask", "show", "k", "-o", "jsonl"))["clusterId"] == rm)
        for noun, count in (("queue", 4), ("node", 2), ("user", 2), ("app", 2), ("ask", 2)):
            watching = started(daemon, noun, "list", "--watch", "--interval", "60s")
            ending = threading.Timer(DEADLINE, watching.terminate)  # one that is missing is waited for in vain
            ending.start()
            items = [json.loads(line)["item"]["clusterId"] for line in itertools.islice(watching.stdout, count)]
            check(sorted(items) == ["a"] * (count // 2) + ["b"] * (count // 2), noun, items)
            ending.cancel()
            watching.terminate()
            watching.communicate()


def test_a_name_given_twice_is_one():
    with Daemon(*BY_HAND) as daemon:
        ykctl(daemon, "rm", "register", "d")
        for node in ("n", "m", "o"):
            ykctl(daemon, "node", "add", node, "-R", "vcore=2")
        for app in ("x", "y"):
            ykctl(daemon, "app", "add", app, "--tag", "namespace=t")
        ykctl(daemon, "ask", "add", "y", "-n", "2", "--key", "k", "-R", "vcore=2")
        check(ykctl(daemon, "app", "remove", "x", "x") == "app x removed\n")
        check(ykctl(daemon, "node", "remove", "m", "m") == "node m removed\n")
        check(ykctl(daemon, "node", "remove", "o", "o", "--force") == "node o removed\n")
        check(ykctl(daemon, "node", "drain", "n", "n") == "node n drained\n")
        check(ykctl(daemon, "node", "undrain", "n") == "node n undrained\n")
        check(ykctl(daemon, "ask", "remove", "k-1", "k-1") == "ask k-1 removed\n")
        ykctl(daemon, "sched", "step", "3")
        check(ykctl(daemon, "alloc", "release", "k-2", "k-2") == "alloc k-2 released\n")


def test_dump_events_has_all_that_are_kept():
    with Daemon(*BY_HAND) as daemon:
        client = daemon.client()
        client.register()
        many_events(client, "rm:1", 1500)
        first, last = client.dump("events"), newest_event(client)
        data = json.loads(ykctl(daemon, "dump", "events"))["data"]
        ids = [record["eventID"] for record in data.pop("EventRecords")]
        check(ids == list(range(last)), "of", last, "there are", len(ids), "up to", ids[-1])
        del first["EventRecords"]
        check(data == {**first, "ContinueID": last}, data, first)
        client.change("SetExtraConfig", {"extraConfig": {"event.trackingEnabled": "false"}})
        client.get("Sync", {"rmID": "rm:1"})
        again = json.loads(ykctl(daemon, "dump", "events"))["data"]["EventRecords"]
        check([record["eventID"] for record in again] == ids, "what is kept is dumped also while nothing is recorded")


def test_the_dump_of_events_comes_in_pages():
    with Daemon(*BY_HAND) as daemon:
        client = daemon.client()
        client.register()
        many_events(client, "rm:1", 1500)
        last = newest_event(client)
        page = client.get("Dump", {"what": "events", "limit": 700})
        ids = []
        while True:
            ids += [record["eventID"] for record in page["data"]["EventRecords"]]
            if page["complete"]:
                break
            many_events(client, "rm:1", 10, f"m{len(ids)}-")
            page = client.get("Dump", {"what": "events", "limit": 700, "cursor": page["cursor"]})
        check(ids == list(range(last)), "the pages end with what was the newest at first:", len(ids), last)
        for cursor in ("events-", "events-5", "events-9-5", "events-1-2-3", "queues-7", "events-1-99999999999999999999"):
            client.refused("E_NOT_FOUND", "Dump", {"what": "events", "cursor": cursor})


def test_rm_serve_acknowledges_what_it_handled_before_it_ends():
    with Daemon(*BY_HAND) as daemon:
        client = daemon.client()
        client.register("s")
        for node in ("n1", "n2", "n3"):
            client.change("UpdateNode", {"rmID": "s", "nodes": [{"nodeID": node, "action": 1, "schedulableResource": {"vcore": 1}}]})
            client.get("Sync", {"rmID": "s"})
        client.close()
        told = [json.loads(ykctl(daemon, "rm", "serve", "s", "--quiet", "--count", "1", "-o", "jsonl"))["n"] for _ in range(2)]
        check(told == [told[0], told[0] + 1], "told twice:", told)
        serving = started(daemon, "rm", "serve", "s", "--quiet", "-o", "jsonl")
        numbers = [json.loads(serving.stdout.readline())["n"]]
        serving.terminate()
        numbers += [json.loads(line)["n"] for line in serving.communicate()[0].splitlines()]
        check(serving.returncode == 0, serving.returncode)
        kept = daemon.client().dump("streams", rmID="s")[0]
        check(kept["ack"] == numbers[-1] > told[1], kept, numbers)


def test_what_was_done_before_a_batch_failed_is_said():
    with Daemon(*BY_HAND) as daemon:
        ykctl(daemon, "rm", "register", "d")
        path = daemon.write("apps.jsonl", "".join(
            json.dumps({"applicationID": f"x{i}" if i < 1000 else "x" * 5000, "tags": {"namespace": "t"}}) + "\n" for i in range(1001)))
        said = ykctl(daemon, "app", "add", "-f", path, wanted=1)
        check(said.startswith("1000 apps accepted\n") and "5000 bytes" in said, said[:500])
        said = ykctl(daemon, "app", "add", "x" * 5000, "-o", "json", wanted=1)
        check("items" not in said and "5000 bytes" in said, "nothing was done:", said[:500])


def test_an_outcome_that_is_not_known_is_not_called_added():
    with Daemon(*BY_HAND) as daemon:
        ykctl(daemon, "rm", "register", "d", "--keep", "0")
        for wanted, words in (("node n sent", "node add n -R vcore=2"),
                              ("node n sent", "node add n -R vcore=2"),  # refused, but that is no longer kept
                              ("app x sent", "app add x --tag namespace=t"),
                              ("ask k added", "ask add x --key k -R vcore=2"),  # the daemon says where it is
                              ("ask k sent", "ask add none --key k -R vcore=2")):
            said = ykctl(daemon, *words.split())
            check(said.splitlines()[0] == wanted, words, "said:", said)
        said = json.loads(subprocess.run(words_for(daemon, "node", "drain", "m", "-o", "jsonl"), capture_output=True, check=True).stdout)
        check(said == {"id": "m", "outcome": "sent"}, said)


main(globals())
