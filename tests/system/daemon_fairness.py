# SPDX-License-Identifier: Apache-2.0
"""Nobody's flood goes first: clients take turns at the workers, whatever waits (A8). How much a flood slows another RM on a
machine that has nothing else to do is measured by tests/soak/fairness.py."""
from daemon_support import *

import msgpack
from daemon_support.flood import with_body


def replies_in(client):
    """How many replies wait to be read."""
    count = 0
    client.socket.settimeout(0)
    try:
        while True:
            client.receive_bytes()
            count += 1
    except BlockingIOError:
        return count
    finally:
        client.socket.settimeout(DEADLINE)


def test_who_has_much_waiting_does_not_go_first():
    """Two clients have 64 requests waiting each, which cost the daemon some milliseconds; one of
    another client that comes then is answered before most of them. They used to be answered in the order in which they came."""
    costly = msgpack.packb({"x": [None] * 500_000})

    def answered_first(daemon):
        """How many wait when the other one comes, and how many of these are answered before it."""
        flood, other = [daemon.client() for _ in range(2)], daemon.client()
        for client in flood:
            for _ in range(64):
                client.send_bytes(with_body("Ping", client.sid, client.next_id + 1, None, costly))
        waiting = 128 - sum(replies_in(client) for client in flood)
        other.get("Ping")
        return waiting, sum(replies_in(client) for client in flood)

    with Daemon() as daemon:
        waiting, first = until("many wait", lambda: (found := answered_first(daemon))[0] > 30 and found)
        print(f"  {first} of {waiting} were answered before it", flush=True)
        check(first < waiting / 2, first, "of", waiting, "were answered before it")


def test_dumps_are_made_by_threads_that_let_others_go_first():
    """What a dump costs is the long workers', which are nicer than all other threads. Other workers only take the request in.
    They used to make dumps too, and the system then let a request wait for a thread that had used its share."""

    def used(daemon):
        """Nanoseconds of processor time and niceness, by thread name: of all workers."""
        found = {"worker": [0, set()], "long worker": [0, set()]}
        for task in os.scandir(f"/proc/{daemon.process.pid}/task"):
            with open(task.path + "/stat", encoding="ascii") as stat, open(task.path + "/schedstat", encoding="ascii") as times:
                name, fields = stat.read().split("(", 1)[1].rsplit(")", 1)
                if name in found:
                    found[name][0] += int(times.read().split()[0])
                    found[name][1].add(int(fields.split()[16]))
        return found

    with Daemon() as daemon:
        rm = Rm(daemon, "a")
        rm.nodes(*[{"nodeID": f"n{i}", "schedulableResource": {"vcore": 1}} for i in range(1000)])
        before = used(daemon)
        for _ in range(20):
            rm.client.get("Dump", {"what": "nodes", "rmID": "a", "limit": 1000})
        after = used(daemon)
        own, long = (after[name][0] - before[name][0] for name in ("worker", "long worker"))
        check(long > 2 * own, "of dumps the workers used", own, "ns, the long workers", long)
        normal = os.getpriority(os.PRIO_PROCESS, daemon.process.pid)
        check(after["worker"][1] == {normal} and after["long worker"][1] == {min(normal + 10, 19)}, "niceness", after)


main(globals())
