# SPDX-License-Identifier: Apache-2.0
"""Each limit at its edge (docs/security.md, What a client can make grow): exactly as many as it allows are taken, one more is
refused with what there is, the setting and the way out, and when one went another is taken. A8, A10."""
from daemon_support import *
from daemon_support.books import Books

import re

import msgpack

HELLO = {"min": 1, "max": 1, "client": "t", "role": "admin"}
PLACING = """
partitions:
  - name: default
    placementrules:
      - {name: provided, create: true}
    queues:
      - name: root
        submitacl: "*"
"""


def settings(text, *flags):
    return Daemon("--settings", "@conf", *flags, files={"conf": text})


def busy(error, *words):
    check(error["name"] == "E_BUSY" and error["retryable"] and error["retryAfterMs"] > 0, error)
    check(all(word in error["message"] for word in words), error)


def no_capacity(told, kind, name, key, *words):
    (one,) = [each for each in listed(told, kind, name) if each.get("code") == 1025]
    check(all(word in one["reason"] for word in (f"({key} of ykd.conf", *words)), one)


def removed(rm, app):
    return rm.send("UpdateApplication", remove=[{"applicationID": app, "partitionName": "default"}])


def test_sessions():
    with settings("maxSessions: 3\n") as daemon:
        clients = [daemon.client() for _ in range(3)]
        busy(Client(daemon.path).refused("E_BUSY", "Hello", HELLO), "3 sessions are in use", "maxSessions")
        clients[1].get("Bye")
        daemon.client()


def test_rms():
    with settings("maxRMs: 3\n") as daemon:
        client = daemon.client()
        for name in ("a", "b", "c"):
            client.register(name)
        error = client.refused("E_BUSY", "RegisterResourceManager", {"rmID": "d", "config": CONFIG}, mutating=True)
        client.seq -= 1  # what is busy takes no number
        busy(error, "3 RMs are in use", "ykctl rm deregister", "maxRMs of ykd.conf")
        client.register("b")  # it is there
        client.change("UnregisterResourceManager", {"rmID": "a"})
        client.register("d")


def test_connections():
    with settings("maxConnections: 4\n") as daemon:
        before = [daemon.client() for _ in range(4)]
        try:
            daemon.client()
            raise AssertionError("a fifth connection was taken")
        except (EOFError, ConnectionError):
            pass
        until("it is logged", lambda: "all places for connections are taken" in daemon.text())
        before.pop().close()
        until("its place is free", lambda: is_let_in(daemon))
        before[0].get("Ping")


def is_let_in(daemon):
    try:
        daemon.client().close()
        return True
    except (EOFError, ConnectionError):
        return False


def test_requests_in_flight():
    """Two streams of events that nothing comes from: the third request is taken when one of them is answered."""
    for most in (2, 3):
        with settings(f"maxInFlight: {most}\n") as daemon:
            client = daemon.client()
            client.register()
            client.get("Sync", {"rmID": "rm:1"})
            streams = [client.get("EventStream", {"count": 0}) for _ in range(2)]
            for one in streams:
                client.send("EventStream", {"streamID": one["streamID"], "waitMs": 20000})
            client.send("Ping")
            if most == 3:
                check("now" in client.receive()["body"], "the third one waited")
            daemon.client().register("other")
            body = client.receive()["body"]
            check("records" in body, most, body)


def test_messages():
    with settings("maxMessage: 2MiB\n") as daemon:
        client = daemon.client()
        body = {"v": 1, "kind": "Ping", "id": 1, "sid": client.sid, "body": {"x": b"y" * 100_000}}
        beside = len(msgpack.packb(body)) - 100_000 + 4  # and the number of the request
        for size, taken in ((2 << 20, True), ((2 << 20) + 1, False)):
            body["body"]["x"] = b"y" * (size - beside)
            try:
                client.send_bytes(msgpack.packb(body))
                check(client.receive()["ok"] and taken, size, "bytes are taken")
            except (EOFError, ConnectionError):
                check(not taken, size, "bytes are not taken")
        until("it is logged", lambda: "longer than --max-message" in daemon.text())


def test_nodes():
    with settings("rmMaxNodes: 3\n") as daemon:
        rm = Rm(daemon)
        told = rm.nodes(*({"nodeID": f"n{i}"} for i in range(4)))
        check(len(listed(told, "UpdateNode", "accepted")) == 3, told)
        no_capacity(told, "UpdateNode", "rejected", "rmMaxNodes", "node n3", "has 3 of at most 3 nodes")
        rm.send("UpdateNode", nodes=[{"nodeID": "n0", "action": 4}])
        check(len(listed(rm.nodes({"nodeID": "n3"}), "UpdateNode", "accepted")) == 1)


def test_applications():
    with settings("rmMaxApplications: 3\n") as daemon:
        rm = Rm(daemon)
        told = rm.applications(*({"applicationID": f"a{i}"} for i in range(4)))
        check(len(listed(told, "UpdateApplication", "accepted")) == 3, told)
        no_capacity(told, "UpdateApplication", "rejected", "rmMaxApplications", "application a3", "has 3 of at most 3")
        removed(rm, "a0")
        check(len(listed(rm.applications({"applicationID": "a3"}), "UpdateApplication", "accepted")) == 1)


def test_asks_and_allocations():
    with settings("rmMaxAsks: 3\n") as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n"})
        rm.applications({"applicationID": "app"})
        told = rm.asks({"allocationKey": "placed"}, *({"allocationKey": f"k{i}", "resourceAsk": {"vcore": 5000}} for i in range(3)))
        no_capacity(told, "UpdateAllocation", "rejected", "rmMaxAsks", "allocation key 'k2'", "has 3 of at most 3 asks and allocations")
        told = rm.asks({"allocationKey": "k1", "resourceAsk": {"vcore": 6000}})  # it is there
        check(not listed(told, "UpdateAllocation", "rejected"), told)
        rm.send("UpdateAllocation", releases={"allocationAsksToRelease": [
            {"applicationID": "app", "allocationKey": "k0", "partitionName": "default"}]})
        check(not listed(rm.asks({"allocationKey": "k2"}), "UpdateAllocation", "rejected"))
        facts = [{"allocationKey": f"f{i}", "applicationID": "app", "nodeID": "n", "resourcePerAlloc": {"vcore": 1}} for i in range(4)]
        told = rm.send("UpdateAllocation", allocations=facts)  # what runs already: twice as many
        no_capacity(told, "UpdateAllocation", "rejectedAllocations", "rmMaxAsks", "'f3'")


def test_queues_made_by_placement():
    with settings("rmMaxQueues: 3\n", "--clock", "virtual") as daemon:
        rm = Rm(daemon, config=PLACING)
        told = rm.applications(*({"applicationID": f"a{i}", "queueName": f"root.q{i}"} for i in range(4)))
        check(len(listed(told, "UpdateApplication", "accepted")) == 3, told)
        no_capacity(told, "UpdateApplication", "rejected", "rmMaxQueues", "has 3 of at most 3 queues made by placement rules")
        check(len(listed(rm.applications({"applicationID": "a3", "queueName": "root.q2"}), "UpdateApplication", "accepted")) == 1)
        removed(rm, "a0")
        rm.advance(11)  # an empty queue is cleaned up within 10 s
        told = rm.applications({"applicationID": "a4", "queueName": "root.q4"})
        check(len(listed(told, "UpdateApplication", "accepted")) == 1, told)


def test_names_tags_attributes_and_users():
    """Each of what they are made of, alone, up to the last byte: first it is seen how much one of them takes."""
    def node(i, rm):
        return rm.nodes({"nodeID": f"n{i}", "attributes": {f"key-{i}": "x" * 1000}}), "UpdateNode", "rejected"

    def application(i, rm):
        return rm.applications({"applicationID": f"a{i}", "tags": {f"tag-{i}": "x" * 1000}}), "UpdateApplication", "rejected"

    def user(i, rm):
        return rm.applications({"applicationID": f"a{i}", "ugi": {"user": f"user-{i}", "groups": [f"g{i}-{n}" + "x" * 50 for n in range(9)]}}), \
            "UpdateApplication", "rejected"

    def gone(i, rm, kind):
        if kind == "UpdateNode":
            rm.send("UpdateNode", nodes=[{"nodeID": f"n{i}", "action": 4}])
        else:
            removed(rm, f"a{i}")

    def held(rm):
        return rm.client.get("Status")["rms"][0]["held"]["names"]

    def edge(make):
        """The limit up to which a second one is taken: what there is then, and what it wants."""
        with Daemon() as daemon:
            rm = Rm(daemon)
            most = [listed(*make(i, rm)) or held(rm) for i in range(2)][1]
        with settings(f"rmMaxNames: {most - 1}\n") as daemon:
            rm = Rm(daemon)
            check(not listed(*make(0, rm)))
            has, wants = re.search(r"has (\d+) of at most \d+ bytes.*, (\d+) more", listed(*make(1, rm))[0]["reason"]).groups()
            return int(has) + int(wants)

    for make in (node, application, user):
        most = edge(make)
        for limit, fits in ((most, True), (most - 1, False)):
            with settings(f"rmMaxNames: {limit}\n") as daemon:
                rm = Rm(daemon)
                check(not listed(*make(0, rm)))
                told, kind, name = make(1, rm)
                check(fits == (not listed(told, kind, name)), make.__name__, limit, told)
                if fits:
                    told, kind, name = make(2, rm)
                no_capacity(told, kind, name, "rmMaxNames", "of at most", "bytes of names, tags and attributes")
                gone(0, rm, kind)
                check(not listed(*make(3, rm)), make.__name__, "is not taken when another went")


def test_resource_types():
    with Daemon() as daemon:
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n"})  # vcore
        rm.applications({"applicationID": "app"})
        types = [f"type-{i}" for i in range(64)]
        told = rm.asks(*({"allocationKey": name, "resourceAsk": {name: 1}} for name in types))
        rejected = listed(told, "UpdateAllocation", "rejected")
        taken = 64 - len(rejected)
        check([one["allocationKey"] for one in rejected] == types[taken:] and taken in (62, 63), rejected)  # vcore, and memory
        check(all("at most 64 resource types" in one["reason"] for one in rejected), rejected[0])
        told = rm.asks({"allocationKey": "known", "resourceAsk": {name: 1 for name in types[:taken]}})
        check(not listed(told, "UpdateAllocation", "rejected"), told)
    with settings("rmMaxResourceTypes: 5\n") as daemon:  # vcore and memory are known
        rm = Rm(daemon)
        rm.applications({"applicationID": "app"})
        refused = (("UpdateAllocation", "rejected"), "rmMaxResourceTypes", "holds at most 5 resource types")
        check(not listed(rm.nodes({"nodeID": "n", "schedulableResource": {"vcore": 9, "one": 9, "two": 9}}), "UpdateNode", "rejected"))
        no_capacity(rm.asks({"allocationKey": "a", "resourceAsk": {"three": 1, "four": 1}}), *refused[0], *refused[1:])
        check(not listed(rm.asks({"allocationKey": "b", "resourceAsk": {"three": 1}}), *refused[0]), "what was refused took a place")
        no_capacity(rm.asks({"allocationKey": "c", "resourceAsk": {"four": 1}}), *refused[0], *refused[1:])
        no_capacity(rm.nodes({"nodeID": "m", "schedulableResource": {"five": 1}}), "UpdateNode", "rejected", *refused[1:])
        check(not listed(rm.asks({"allocationKey": "d", "resourceAsk": {"one": 1, "two": 1, "three": 1}}), *refused[0]))
        rm = Rm(daemon)  # anew
        check(not listed(rm.nodes({"nodeID": "m", "schedulableResource": {"five": 1, "six": 1, "seven": 1}}), "UpdateNode", "rejected"))
    for wrong in ("0", "65", "many"):
        with Daemon("--settings", "@conf", files={"conf": f"rmMaxResourceTypes: {wrong}\n"}, wait=False) as daemon:
            check(daemon.exit_code() == 78 and "rmMaxResourceTypes: a whole number from 1 to 64 is wanted" in daemon.text(), daemon.text())


def test_applications_that_ended():
    with settings("rmMaxEnded: 3\n", "--clock", "virtual") as daemon:
        rm = Rm(daemon)
        kept = lambda state: [one["applicationID"] for one in rm.client.get("Dump", {"what": "apps", "state": state})["data"]]
        for i in range(4):
            rm.applications({"applicationID": f"bad{i}", "queueName": "root.nowhere"})
            found = kept("rejected")
            check(found == [f"bad{n}" for n in range(max(0, i - 2), i + 1)], i, found)
        rm.nodes({"nodeID": "n"})
        for i in range(5):
            rm.applications({"applicationID": f"app{i}"})
            rm.asks({"applicationID": f"app{i}", "allocationKey": "k"})
            until("it is placed", lambda: rm.client.get("Status")["counts"]["allocations"] == 1)
            rm.release(applicationID=f"app{i}", allocationKey="k", partitionName="default", terminationType=1)
            rm.advance(31)  # completingTimeout
            found = sorted(kept("completed"))
            check(found == [f"app{n}" for n in range(max(0, i - 2), i + 1)], i, found)
        check(len(kept("rejected")) == 3, "they have a limit of their own")


def test_events():
    with Daemon() as daemon:
        rm = Rm(daemon, extraConfig={"event.ringBufferCapacity": "5", "event.RESTResponseSize": "100"})
        ids = lambda: [one["eventID"] for one in rm.client.get("Events", {"start": 0})["EventRecords"]]
        while not ids() or ids()[-1] < 4:
            rm.client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
                {"nodeID": f"n{rm.client.seq}", "action": 1, "schedulableResource": {"vcore": 1}}]})
            rm.client.get("Sync", {"rmID": "rm:1"})
        rm.nodes({"nodeID": "more"})
        last = ids()[-1]
        check(ids() == list(range(last - 4, last + 1)), ids())


def test_event_streams():
    with Daemon() as daemon:
        client = daemon.client()
        client.register(extraConfig={"event.maxStreams": "3", "event.maxStreamsPerHost": "3"})
        readers = [daemon.client() for _ in range(4)]
        for reader in readers[:3]:
            reader.get("EventStream", {"count": 0})
        busy(readers[3].refused("E_BUSY", "EventStream", {"count": 0}), "event.maxStreams 3", "end one")
        readers[0].get("Bye")
        readers[3].get("EventStream", {"count": 0})


def test_requests_that_wait_for_an_earlier_number():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        for number in range(3, 20):  # 2 is missing: sixteen wait
            client.send("UpdateNode", {"rmID": "rm:1"}, seq=number)
        error = client.receive()["err"]
        check(error["name"] == "E_SEQ_GAP" and error["details"]["expected"] == 2, error)
        client.send("UpdateNode", {"rmID": "rm:1"}, seq=2)
        check(all(client.receive()["ok"] for _ in range(17)), "those that waited")


def test_answers_that_are_remembered():
    with settings("replyMemory: 2\n") as daemon:
        client = daemon.client()
        client.register()
        for _ in range(3):
            client.change("UpdateNode", {"rmID": "rm:1"})
        for seq, known in ((4, True), (3, True), (2, False)):
            reply = client.ask("UpdateNode", {"rmID": "rm:1"}, seq=seq)
            check(reply["ok"] == known and (known or reply["err"]["name"] == "E_SEQ_OLD"), seq, reply)


def test_configurations_that_are_remembered():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        for number in range(17):
            client.change("UpdateConfiguration", {"rmID": "rm:1", "config": CONFIG + f"          - name: q{number}\n"})
        kept = client.dump("confighistory", rmID="rm:1")
        check(len(kept) == 16, len(kept))


def test_full_dumps():
    """One is made at a time; this one waits for its RM."""
    with Daemon() as daemon:
        rm = Rm(daemon, capabilities=["stateDump"])
        first, second = daemon.client(), daemon.client()
        first.send("Dump", {"what": "full"})
        (call,) = until("the RM is asked", lambda: [item for item in rm.client.poll(ack=rm.ack)["items"] if "call" in item])
        busy(second.refused("E_BUSY", "Dump", {"what": "full"}), "another full dump is being made")
        rm.client.get("CallResult", {"rmID": "rm:1", "streamEpoch": rm.client.epoch, "call": call["call"], "ok": True,
                                     "result": {"stateDump": "{}"}})
        check(first.receive()["ok"])
        second.send("Dump", {"what": "full"})
        until("the RM is asked again", lambda: any("call" in item for item in rm.client.poll(ack=call["n"])["items"]))


def test_what_was_removed_before_it_came():
    """A removal that is not remembered for want of names is answered, as a release is (I-226)."""
    with settings("rmMaxNames: 1000\n") as daemon:
        rm = Rm(daemon, recovery={"id": "r"}, capabilities=["reportIgnored"])
        told = []
        for number in range(8):
            told += removed(rm, f"{number}-" + "x" * 198)
        ignored = listed(told, "UpdateAllocation", "ignoredReleases")
        check([one["applicationID"][0] for one in ignored] == ["5", "6", "7"], ignored)  # 392 bytes each, of twice 1000
        check(all(one["code"] == 1025 and "is not there yet" in one["reason"] and "rmMaxNames" in one["reason"] for one in ignored))
        report = rm.client.change("RecoveryDone", {"rmID": "rm:1", "id": "r", "attempt": 1, "expected": Books().expected,
                                                   "digest": Books().digest})
        check(report["unusedTombstones"] == 5 and report["result"] == "retry", report)
        check(not listed(removed(rm, "late"), "UpdateAllocation", "ignoredReleases"), "the report did not make room")


def test_a_report_with_long_names_fits_a_message():  # I-237
    with settings("maxMessage: 2MiB\n") as daemon:
        rm = Rm(daemon, hello={"maxMessage": 2 << 20}, recovery={"id": "r"})
        types = {f"{i:02}-" + "t" * 250: 1000 for i in range(60)}
        nodes = [{"nodeID": f"{i:04}-" + "n" * 200, "action": 1, "schedulableResource": {"vcore": 1},
                  "recovery": {"allocations": 1, "availableResource": types}} for i in range(300)]
        for start in range(0, len(nodes), 50):
            rm.client.change("UpdateNode", {"rmID": "rm:1", "nodes": nodes[start:start + 50]})
        late = [{"allocationKey": f"{i:04}-" + "k" * 250, "applicationID": "a" * 250, "nodeID": nodes[0]["nodeID"],
                 "resourcePerAlloc": {"vcore": 1}} for i in range(1000)]
        rm.client.change("UpdateAllocation", {"rmID": "rm:1", "allocations": late})
        claim = {"rmID": "rm:1", "id": "r", "attempt": 1, "expected": Books().expected, "digest": Books().digest}
        report = rm.client.change("RecoveryDone", claim)
        check(report["truncated"] and report["quarantineTotal"] == 1000, report["quarantineTotal"])
        check(20 < len(report["incompleteNodes"]) < 40 and 400 < len(report["quarantine"]) < 1000,
              len(report["incompleteNodes"]), len(report["quarantine"]))
        (told,) = [body for kind, body in rm.told() if kind == "RecoveryReport"]
        check(told["quarantine"] == report["quarantine"], "the stream has another one")


def test_pages_of_a_recovery_list_fit_a_message():  # I-240
    with Daemon() as daemon:
        rm = Rm(daemon, hello={"maxMessage": 8192})
        names = [f"{i:03}-" + "n" * 250 for i in range(100)]
        rm.client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": name, "action": 1, "schedulableResource": {"vcore": 1}} for name in names]})
        rm.client.get("Sync", {"rmID": "rm:1"})
        found, query = [], {"rmID": "rm:1", "kind": "nodes", "limit": 10_000}
        while True:
            page = rm.client.get("RecoveryList", query)
            found += [one["nodeID"] for one in page["items"]]
            if not page.get("cursor"):
                break
            query = {**query, "cursor": page["cursor"]}
        check(found == names, len(found))


main(globals())
