# SPDX-License-Identifier: Apache-2.0
"""RMs that come and go all the time beside everybody else: each request is answered, and none with E_INTERNAL."""
import collections
import threading

from daemon_support import *
from daemon_support.attacks import resident

SECONDS = 1.2  # of each attack
PIPELINED = 8
READS = (("Metrics", {}), ("Dump", {"what": "queues"}), ("Dump", {"what": "full"}), ("Status", {}), ("Health", {}),
         ("Explain", {"what": "queue", "queue": "root.a"}))


def counted(answers, kind, reply):
    answers[kind, "ok" if reply["ok"] else reply["err"]["name"]] += 1


def beside(*loops):
    """Runs loop(go_on, answers) in threads of their own for SECONDS; how often each kind was answered with what."""
    end = time.monotonic() + SECONDS
    answers, faults = collections.Counter(), []

    def run(loop):
        try:
            loop(lambda: time.monotonic() < end, answers)
        except Exception as fault:  # also a socket's: no answer within DEADLINE
            faults.append(f"{loop.__name__}: {fault!r}")

    threads = [threading.Thread(target=run, args=[loop]) for loop in loops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not faults, "not answered:", faults, dict(answers))
    internal = {key: count for key, count in answers.items() if key[1] == "E_INTERNAL"}
    check(not internal, internal, "of", dict(answers))
    return answers


def coming_and_going(daemon, rm):
    client = daemon.client()

    def leave(go_on, answers):
        while go_on():
            client.register(rm)
            client.change("UnregisterResourceManager", {"rmID": rm, "force": True})
    return leave


def reading(daemon, kind, body):
    client = daemon.client(role="observer")

    def read(go_on, answers):
        while go_on():
            for _ in range(PIPELINED):
                client.send(kind, body)
            for _ in range(PIPELINED):
                counted(answers, kind + " " + body.get("what", ""), client.receive())
    return read


def test_reads_beside_leaving_rms_are_answered():  # A4
    with Daemon() as daemon:
        answers = beside(*[coming_and_going(daemon, f"rm:{i}") for i in range(4)],
                         *[reading(daemon, kind, body) for kind, body in READS])
        for kind in ("Metrics ", "Status ", "Health "):
            check(answers[kind, "ok"] > 0 and len([key for key in answers if key[0] == kind]) == 1, answers)
        check(daemon.client().get("Status")["rms"] == [], "all have left")


def test_requests_to_an_rm_that_leaves_are_answered():  # A4
    """An admin ends what its owner goes on using, both without waiting for answers."""
    with Daemon() as daemon:
        owner, admin = daemon.client(), daemon.client()
        rm = {"rmID": "rm:1", "force": True, "impersonate": True}

        def use(go_on, answers):
            def send(kind, body, **more):
                owner.send(kind, {"rmID": "rm:1", **body}, **more)
                sent.append(kind)
            while go_on():
                sent = []
                for kind, body in (("RegisterResourceManager", {"config": CONFIG}), ("UpdateNode", {"nodes": []}),
                                   ("UpdateConfiguration", {"config": CONFIG})):
                    owner.seq += 1
                    send(kind, body, seq=owner.seq)
                    for _ in range(4):
                        send("Sync", {})
                send("Ping", {})
                send("UpdateConfiguration", {"config": CONFIG, "dryRun": True}, seq=owner.seq + 1)
                owner.seq += 1
                for _ in sent:
                    reply = owner.receive()
                    counted(answers, reply["kind"], reply)

        def end(go_on, answers):
            while go_on():
                admin.seq += 1
                counted(answers, "Unregister", admin.ask("UnregisterResourceManager", rm, seq=admin.seq))

        answers = beside(use, end)
        check(answers["Unregister", "ok"] > 0, answers)
        check({name for _, name in answers} <= {"ok", "E_RM_UNKNOWN", "E_FORBIDDEN"}, answers)
        owner.register()  # whatever was under way: the next registration has a thread that works
        owner.cluster()
        owner.get("Sync", {"rmID": "rm:1"})


def test_the_memory_of_an_rm_that_left_goes_back():  # A10
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register()
        client.cluster()
        before = resident(daemon)
        for batch in range(500):
            client.asks(*(f"ask-{batch}-{n}" for n in range(1000)))
        client.get("Sync", {"rmID": "rm:1"})
        grown = resident(daemon) - before
        check(grown > 40_000_000, grown)  # enough for what follows to tell something
        client.change("UnregisterResourceManager", {"rmID": "rm:1", "force": True})
        until("the memory is given back", lambda: resident(daemon) - before < grown / 2)


def test_a4_a_client_that_goes_while_it_polls_is_no_internal_error():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        leaving = daemon.client()
        leaving.send("Poll", {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 0, "waitMs": 20000, "impersonate": True})
        client.wait_for_parked_poll()
        leaving.close()
        until("the poll is forgotten", lambda: not client.dump("streams", rmID="rm:1")[0]["pollParked"])
        check("E_INTERNAL" not in client.get("Metrics", {"prefix": "yunikorn_requests"})["text"], "E_INTERNAL is counted")
        check("internal error" not in daemon.text(), daemon.text())


def occupy(client):
    """Gives the thread of rm:1 work for a while."""
    for part in range(5):
        client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": f"n{part}-{i}", "action": 1, "schedulableResource": {"vcore": 1}} for i in range(20000)]})


def in_line(daemon):
    """Waits for a request to be behind that work, or done with."""
    def waits():
        items = daemon.client(role="observer").get("Status")["rms"][0]["inboundItems"]
        return items == 0 or items % 20000 == 1
    until("it is in line", waits)


def test_b2_a_file_that_changed_while_a_registration_waited_is_followed():
    with Daemon("--config", "@q.yaml", files={"q.yaml": CONFIG}) as daemon:
        client, admin = daemon.client(), daemon.client()
        client.register()  # its own text: a reload leaves it alone
        occupy(client)
        client.seq += 1
        client.send("RegisterResourceManager", {"rmID": "rm:1"}, seq=client.seq)  # with the file's
        in_line(daemon)
        daemon.write("q.yaml", CONFIG.replace("name: b", "name: c"))
        admin.change("Reload", {})
        check(client.receive()["ok"], "the registration failed")
        until("what the file says is active", lambda: "root.c" in client.dump("queues")[0].get("childNames", []))


def test_a4_what_came_behind_the_registration_of_another_session_is_not_for_its_rm():
    with Daemon() as daemon:
        old, new = daemon.client(), daemon.client()
        old.register()
        occupy(old)
        new.seq += 1
        new.send("RegisterResourceManager", {"rmID": "rm:1", "config": CONFIG}, seq=new.seq)
        in_line(daemon)  # the session that owns the RM still is the old one
        late = old.ask("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": "late", "action": 1, "schedulableResource": {"vcore": 1}}]}, seq=old.seq + 1)
        old.send("UnregisterResourceManager", {"rmID": "rm:1", "force": True}, seq=old.seq + 1 + late["ok"])
        check(new.receive()["ok"], "the registration failed")
        gone = old.receive()
        check(late["ok"] or late["err"]["name"] == "E_FORBIDDEN", late)
        check(gone["err"]["name"] in ("E_RM_UNKNOWN", "E_FORBIDDEN"), gone)
        new.get("Sync", {"rmID": "rm:1"})
        check(not new.dump("partitions")[0].get("totalNodes"), "a node of the old session is in the new one's RM")


def test_a4_what_a_registration_drops_is_counted_and_forgotten():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        client.cluster()
        client.asks("k")
        until("it is placed", lambda: client.dump("partitions")[0].get("totalContainers") == 1)
        client.change("UnregisterResourceManager", {"rmID": "rm:1", "force": True})
        attempts = 'yunikorn_scheduler_container_allocation_attempt_total{state="%s"} 1'
        text = client.get("Metrics", {"prefix": "yunikorn_scheduler_container"})["text"]
        check(attempts % "allocated" in text and attempts % "released" in text, text)
        client.register()
        client.refused("E_CONFIG_INVALID", "RegisterResourceManager", {"rmID": "rm:1", "config": "x"}, mutating=True)
        client.register()
        check(len(client.dump("confighistory", rmID="rm:1")) == 1, client.dump("confighistory", rmID="rm:1"))


def test_a4_an_attached_rm_is_not_resumed_as_a_detached_one():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        client.cluster()
        client.get("Sync", {"rmID": "rm:1"})
        client.close()
        other = daemon.client()
        until("nobody serves it", lambda: other.get("Status")["rms"][0].get("served") is False)
        other.refused("E_BUSY_STATE", "RegisterResourceManager", {
            "rmID": "rm:1", "config": CONFIG, "ifRegistered": "resume", "detached": {"confirmReleases": True}}, mutating=True)


main(globals())
