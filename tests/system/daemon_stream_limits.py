# SPDX-License-Identifier: Apache-2.0
"""What a poll brings and how long it waits, and what becomes of a stream that is not read: its limits in items and in
bytes, with and without a recovery (interface.md 4.8)."""
import msgpack

from daemon_support import *
from daemon_support.recovering import BY_HAND, LOST, NODE, RECOVERING, RUNNING, Recovering, listed

SUSPENDED = 4
CTL = os.path.join(os.environ["YK_BIN"], "ykctl")
KIB_64 = ("--settings", "@conf")
FILES = {"conf": "outboundMaxBytes: 64KiB\n"}


def node(client, name, **more):
    client.change(NODE, {"rmID": "rm:1", "nodes": [{"nodeID": name, "action": 1, "schedulableResource": {"vcore": 1}}], **more})


def batch(client, name, sync=True):
    """One item of about 26 KiB: 90 nodes with long names."""
    client.change(NODE, {"rmID": "rm:1", "nodes": [
        {"nodeID": f"{name}-{i}-".ljust(250, "n"), "action": 1, "schedulableResource": {"vcore": 1}} for i in range(90)]})
    if sync:
        client.get("Sync", {"rmID": "rm:1"})


def state(client):
    return client.get("Ping", {"rmID": "rm:1"})["state"]


def parked(client, witness):
    """The id of a poll that waits."""
    client.send("Poll", {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 0, "waitMs": 20000})
    witness.wait_for_parked_poll()
    return client.next_id


def test_a_poll_waits_for_an_item_or_until_its_time_is_over():  # I-362
    with Daemon("--manual-schedule", "--settings", "@conf", files={"conf": "maxPollWait: 700ms\n"}) as daemon:
        client = daemon.client()
        client.register()
        for wait, longest in ((300, 0.3), (3_600_000, 0.7)):  # milliseconds; seconds, at most maxPollWait
            begin = time.monotonic()
            items = client.poll(wait=wait)["items"]
            took = time.monotonic() - begin
            check(longest <= took < DEADLINE / 2 and items == [], wait, took, items)
    with Daemon() as daemon:
        client, witness = daemon.client(), daemon.client()
        client.register()
        number = parked(client, witness)
        node(witness, "n", impersonate=True)
        reply = client.receive()
        check(reply["id"] == number and [item["n"] for item in reply["body"]["items"]] == [1], reply)
        begin = time.monotonic()
        check([item["n"] for item in client.poll(wait=20000)["items"]] == [1], "it is there, so at once")
        check(time.monotonic() - begin < DEADLINE / 2)


def test_a_second_poll_on_the_same_connection_supersedes_the_first():  # I-363
    with Daemon() as daemon:
        client, witness = daemon.client(), daemon.client()
        client.register()
        first, second = parked(client, witness), parked(client, witness)
        reply = client.receive()
        check(reply["id"] == first and reply["err"]["name"] == "E_SUPERSEDED", reply)
        check(witness.dump("streams", rmID="rm:1")[0]["pollParked"], "the second one waits")
        node(witness, "n", impersonate=True)
        reply = client.receive()
        check(reply["id"] == second and len(reply["body"]["items"]) == 1, reply)


def test_max_items_and_max_bytes_bound_a_reply():  # I-364
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register()
        for i in range(10):
            node(client, f"n{i}-".ljust(250, "n"))
        client.get("Sync", {"rmID": "rm:1"})
        size = lambda items: sum(len(msgpack.packb(item)) for item in items)
        reply = client.poll(maxItems=4)
        check([item["n"] for item in reply["items"]] == [1, 2, 3, 4] and reply["backlog"] == 6, reply)
        one = size(reply["items"]) // 4
        check(6 * one * 0.8 < reply["backlogBytes"] < 6 * one * 1.5, "of the six behind them", reply["backlogBytes"], one)
        reply = client.poll(maxBytes=4 * one)
        check(3 <= len(reply["items"]) <= 4 and size(reply["items"]) <= 4 * one, len(reply["items"]), one)
        reply = client.poll(ack=4, maxBytes=1)
        check([item["n"] for item in reply["items"]] == [5] and reply["backlog"] == 5, "a larger one comes alone", reply)
        reply = client.poll(ack=5)
        check(len(reply["items"]) == 5 and (reply["backlog"], reply["backlogBytes"]) == (0, 0), reply)


def test_what_is_larger_than_a_message_comes_in_several_items():  # I-364
    tags = {f"t{n}": "x" * 60000 for n in range(4)}
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client(maxMessage=2 << 20)  # no reply is larger, which the client checks
        client.register()
        client.cluster()
        keys = [f"k{n:02}" for n in range(20)]
        client.change("UpdateAllocation", {"rmID": "rm:1", "asks": [
            {"allocationKey": key, "applicationID": "app", "resourceAsk": {"vcore": 1}, "tags": tags} for key in keys]})
        check(client.change("Step", {"cycles": 20})["allocations"] == 20)
        ack, parts = 0, []
        while sum(parts, []) != keys:
            items = client.poll(ack=ack, wait=0, maxBytes=100 << 20)["items"]
            check(items, "only", parts)
            ack = items[-1]["n"]
            parts += [[one["allocationKey"] for one in item["body"]["new"]] for item in items
                      if item["kind"] == "UpdateAllocation"]
        check(len(parts) > 4, "4.8 MB of allocations, in order, came as", parts)


def test_the_limit_in_bytes_suspends():  # I-370
    with Daemon(*KIB_64, files=FILES) as daemon:
        client = daemon.client()
        client.register()
        batch(client, "a")
        check(state(client) == RUNNING and not client.poll(wait=0)["congested"], "two fifths of the bytes")
        batch(client, "b")
        check(state(client) == SUSPENDED, "more than three quarters of the bytes, in two items")
        client.change("UpdateApplication", {"rmID": "rm:1", "new": [
            {"applicationID": "app", "queueName": "root.a", "ugi": {"user": "u"}}]})
        client.asks("k")
        client.get("Sync", {"rmID": "rm:1"})
        check(len(client.dump("app", application="app")["requests"]) == 1, "updates are taken, and nothing is placed")
        check(client.poll(wait=0, maxItems=1)["congested"])
        check(not client.poll(ack=1, wait=0)["congested"], "the half of them")
        until("it runs", lambda: state(client) == RUNNING)
        until("k is placed", lambda: client.dump("app", application="app").get("allocations"))


def reason_of(client):
    """Why a lost RM is refused, which is the same for polls and updates."""
    found = [client.refused("E_RESYNC_REQUIRED", "Poll", {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 0})]
    for kind in (NODE, "UpdateApplication", "UpdateAllocation"):
        found.append(client.refused("E_RESYNC_REQUIRED", kind, {"rmID": "rm:1"}, mutating=True))
    reasons = {error.get("details", {}).get("reason") for error in found} | {client.get("Status")["rms"][0]["reason"]}
    check(len(reasons) == 1, reasons, found)
    reason = reasons.pop()
    check(all(f"is lost: {reason};" in error["message"] for error in found), found)
    return reason


def overflows(client):
    """Events and the metric of streams that broke."""
    events = client.get("Events", {"start": 0, "filter": {"types": [6]}})["EventRecords"]
    line = next(line for line in client.get("Metrics", {})["text"].splitlines()
                if line.startswith('yunikorn_rm_stream_overflow_total{rm="rm:1"}'))
    return events, float(line.split()[-1])


def test_a_stream_beyond_its_bytes_is_broken():  # I-371, I-370
    with Daemon(*KIB_64, files=FILES) as daemon:
        client = daemon.client()
        client.register(capabilities=["events:all"])
        batch(client, "a")
        batch(client, "b")
        check(overflows(client) == ([], 0))
        batch(client, "c", sync=False)
        until("the RM is lost", lambda: state(client) == LOST)
        check(reason_of(client) == "stream overflow")
        events, times = overflows(client)
        check(times == 1 and len(events) == 1, events, times)
        event = {key: events[0][key] for key in ("objectID", "rmID", "partitionName", "message", "referenceID", "eventChangeType")}
        check(event == {"objectID": "rm:1", "rmID": "rm:1", "partitionName": "", "message": "stream overflow",
                        "referenceID": "", "eventChangeType": 0}, events)
        shown = subprocess.run([CTL, "-s", "ipc://" + daemon.path, "events", "--object", "rm/rm:1"], capture_output=True,
                               text=True, timeout=DEADLINE, check=True).stdout.splitlines()
        check(len(shown) == 1 and "RM " in shown[0] and "rm:1" in shown[0] and "stream overflow" in shown[0], shown)
        client.refused("E_BUSY_STATE", "RegisterResourceManager", {"rmID": "rm:1", "ifRegistered": "resume"}, mutating=True)
        client.register()
        batch(client, "a")
        check(state(client) == RUNNING and len(client.poll()["items"]) == 1, "a stream begins anew")


def test_who_was_silent_is_not_said_to_have_overflowed():  # I-371, I-385
    with Daemon(*BY_HAND) as daemon:
        client = daemon.client()
        client.register()
        node(client, "n")
        daemon.client().change("Clock", {"advanceMs": 331_000})
        check(state(client) == LOST and reason_of(client) == "silent for too long")
        check(overflows(client) == ([], 0), overflows(client))
        error = client.refused("E_BUSY_STATE", "RegisterResourceManager", {"rmID": "rm:1", "ifRegistered": "resume"}, mutating=True)
        check("was lost (silent for too long)" in error["message"], error)


def test_a_replay_is_slowed_down_instead_of_breaking_the_stream():  # I-373
    with Daemon(*BY_HAND, "--settings", "@conf", files={"conf": "outboundMaxItems: 10\n"}) as daemon:
        rm = Recovering(daemon)
        client, taken, body = rm.client, 0, lambda: {"rmID": "rm:1", "nodes": [
            {"nodeID": f"n{taken}", "action": 1, "schedulableResource": {"vcore": 1}}]}
        while True:
            reply = client.ask(NODE, body(), seq=client.seq + 1)
            if not reply["ok"]:
                break
            client.seq, taken = client.seq + 1, taken + 1
            client.get("Sync", {"rmID": "rm:1"})
        error = reply["err"]
        check(error["name"] == "E_BUSY" and error["retryable"] and error["retryAfterMs"] > 0, error)
        check(taken == 60, "three quarters of eight times the limit, not", taken)
        check(rm.state() == RECOVERING, "it is neither Suspended nor Lost")
        check(len(listed(rm.told(), NODE, "accepted")) == 60)
        client.change(NODE, body())  # the same, with the same number
        check(len(listed(rm.told(), NODE, "accepted")) == 1)
        for i in range(61):
            rm.books.node(f"n{i}", {"vcore": 1})
        check(rm.done()["result"] == "running")


main(globals())
