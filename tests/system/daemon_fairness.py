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


main(globals())
