# SPDX-License-Identifier: Apache-2.0
"""Whatever clients do, and however they go: every descriptor comes back, every listener answers the others, and memory
stays in bounds (A1, A2, A3 of the attack on revision 3a08490; adr 0017)."""
from daemon_support import *
from daemon_support.attacks import *

import contextlib
import hashlib


def test_a1_every_descriptor_comes_back_from_every_kind_of_rude_client():
    port = free_port()
    with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens", files={"tokens": A_TOKEN}) as daemon:
        polite = daemon.client()
        polite.register("rm:polled")
        before = descriptors(daemon)
        for kind in RUDE:
            for number in range(30):
                kind(daemon.path if number % 3 else ("127.0.0.1", port), polite.sid)
            all_given_back(daemon, before, kind.__name__)
        for _ in range(30):
            daemon.client().close()
        all_given_back(daemon, before, "polite clients behind the rude ones")
        polite.get("Ping")


def test_a1_replies_under_way_do_not_keep_a_connection():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        before = descriptors(daemon)
        for _ in range(20):
            peer = raw(daemon.path)
            parked = {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": 0, "waitMs": 20000}
            peer.sendall(GREETING + request("Ping", client.sid) + b"".join(
                request("Poll", client.sid, parked, number=n) for n in range(2, 6)))
            peer.close()
        all_given_back(daemon, before, "clients that left with polls parked")
        client.get("Ping")


def test_a3_many_connections_that_each_keep_a_large_answer():
    """None of them has 1 MiB, and what the answers are made of is larger than they are."""
    with Daemon("--settings", "@conf", files={"conf": "maxReplyBytes: 16MiB\n"}) as daemon:
        client = daemon.client()
        client.register()
        client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": f"{n:04}" + "x" * 200, "action": 1, "schedulableResource": {"vcore": 1000}} for n in range(1000)]})
        client.dump("nodes", limit=10000)
        before = resident(daemon)
        with Bystander(daemon) as bystander:
            peers = [raw(daemon.path) for _ in range(300)]
            for peer in peers:
                peer.sendall(GREETING + request("Dump", client.sid, {"what": "nodes", "limit": 10000}))
            until("some are cut", lambda: "they fill the memory for replies" in daemon.text())
            newcomer = daemon.client()
            check(newcomer.dump("nodes", limit=10), "a polite client is served")
        check(resident(daemon) < before + (100 << 20), "it has", resident(daemon) - before, "bytes more")
        check(bystander.longest < 2.0, "a ping took", bystander.longest)
        for peer in peers:
            peer.close()


def test_a3_strangers_do_not_fill_the_memory_with_requests():
    """Each announces the largest message and sends nearly all of it."""
    port, size = free_port(), (16 << 20) - 8
    with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens", files={"tokens": A_TOKEN}) as daemon:
        before = resident(daemon)
        peers = [raw(("127.0.0.1", port)) for _ in range(40)]
        for peer in peers:
            peer.setblocking(False)
            peer.sendall(GREETING + struct.pack(">Q", size) + struct.pack(">I", 0x80000001))
        until_then = time.monotonic() + 3
        left = {peer: size - 1000 for peer in peers}
        while left and time.monotonic() < until_then:
            for peer in list(left):
                with contextlib.suppress(BlockingIOError):
                    left[peer] -= peer.send(b"x" * min(left[peer], 1 << 20))
                if left[peer] == 0:
                    del left[peer]
        check(resident(daemon) < before + (128 << 20), "it has", resident(daemon) - before, "bytes more")
        client = daemon.client()
        client.get("ValidateConfiguration", {"config": CONFIG + "#" * 100_000})
        for peer in peers:
            peer.close()


def test_a2_a_peer_that_asks_and_never_reads_is_alone_with_it():
    with Daemon() as daemon:
        rude = daemon.client()
        with Bystander(daemon) as bystander:
            taken = ask_without_reading(rude.socket, request("Ping", rude.sid), 1.0)
            for _ in range(20):
                newcomer = daemon.client()
                newcomer.get("Ping")
                newcomer.close()
        check(taken < 10_000, "the daemon took", taken, "requests of a peer that reads nothing")
        check(bystander.longest < 5.0, "a ping took", bystander.longest)


def test_a2_over_tcp_before_any_token_one_request_at_a_time():
    token = "ten-letters-and-more"
    line = f"admin * {hashlib.sha256(token.encode()).hexdigest()}\n"
    port = free_port()
    with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens", files={"tokens": line}) as daemon:
        rude = socket.create_connection(("127.0.0.1", port))
        rude.sendall(GREETING)
        ping = request("Ping")[1:]  # tcp frames have no type
        with Bystander(daemon, ("127.0.0.1", port), token=token) as bystander:
            ask_without_reading(rude, ping, 1.0)
            late = Client(("127.0.0.1", port))
            late.hello(token=token)
            late.get("Ping")
        check(bystander.longest < 5.0, "a ping took", bystander.longest)


def test_a2_parked_syncs_of_one_client_leave_the_others_alone():
    with Daemon() as daemon:
        rude = daemon.client(role="rm")
        rude.register()
        ask_without_reading(rude.socket, request("Sync", rude.sid, {"rmID": "rm:1", "position": 1 << 40}), 0.5)
        newcomer = daemon.client()
        newcomer.get("Ping")


def test_a2_who_does_not_read_is_cut_in_time():
    with Daemon("--settings", "@conf", files={"conf": "sendTimeout: 1s\n"}) as daemon:
        before = descriptors(daemon)
        rude = daemon.client()
        ask_without_reading(rude.socket, request("Dump", rude.sid, {"what": "loglevels"}), 0.5)
        until("the log says whom it cut, and why", lambda: "does not read its replies" in daemon.text())
        all_given_back(daemon, before, "the send time", slack=0)
        rude.close()


def test_a3_answers_that_nobody_reads_do_not_fill_the_memory():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register()
        client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": f"node-{n}", "action": 1, "schedulableResource": {"vcore": 1000},
             "attributes": {"rack": "r" * 50_000}} for n in range(20)]})
        client.get("Sync", {"rmID": "rm:1"})
        before = descriptors(daemon), resident(daemon)
        page = request("Dump", client.sid, {"what": "nodes", "limit": 100})
        rude = []
        with Bystander(daemon) as bystander:
            for _ in range(30):
                peer = raw(daemon.path)
                peer.sendall(GREETING)
                ask_without_reading(peer, page * 4, 0.05)
                rude.append(peer)
            highest = resident(daemon)
        for peer in rude:
            peer.close()
        check(highest < before[1] + (700 << 20), "memory grew to", highest)
        check(bystander.longest < 10.0, "a ping took", bystander.longest)
        all_given_back(daemon, before[0], "the flood")


def test_a8_silent_connections_make_room_for_those_that_say_who_they_are():
    with Daemon("--settings", "@conf", files={"conf": "maxConnections: 128\n"}) as daemon:
        before = descriptors(daemon)
        silent = [raw(daemon.path) for _ in range(300)]
        client = daemon.client()
        client.get("Ping")
        until("there are as many connections as places", lambda: descriptors(daemon) < before + 132)
        check(daemon.text().count("its place is needed") <= 5, "the log has a line for each")
        for peer in silent:
            peer.close()
        client.get("Ping")


def test_a2_configurations_keep_no_workers_from_pings():
    queues = ",".join("{name: q%d}" % n for n in range(45_000))
    large = "partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [" + queues + "]}]}]"
    with Daemon() as daemon:
        daemon.client().register()
        rude = [daemon.client(role="observer") for _ in range(3)]
        for client in rude:
            for _ in range(20):
                client.send("ValidateConfiguration", {"config": large, "rmID": "rm:1"})
        with Bystander(daemon) as bystander:
            check(rude[0].receive()["body"]["allowed"], "a good configuration is refused")
        check(bystander.longest < 2, "a ping waited for", bystander.longest, "s")


def test_a2_copies_of_a_request_that_waits_leave_nothing():
    with Daemon() as daemon:
        client = daemon.client(role="rm")
        payload = msgpack.packb({"v": 1, "kind": "UnregisterResourceManager", "id": 1, "sid": client.sid, "seq": 2,
                                 "body": {"rmID": "x"}})
        copies = framed(1, payload) * 500
        client.socket.sendall(copies)
        before = resident(daemon)
        for _ in range(400):  # 200,000 timers of some 150 bytes
            client.socket.sendall(copies)
        check(client.receive()["err"]["name"] == "E_SEQ_GAP", "the last copy was not answered")
        check(resident(daemon) < before + (10 << 20), before, resident(daemon))


main(globals())
