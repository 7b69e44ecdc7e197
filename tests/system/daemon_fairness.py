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
    with Daemon() as daemon:
        flood, other = [daemon.client() for _ in range(2)], daemon.client()
        costly = msgpack.packb({"x": [None] * 500_000})
        for client in flood:
            for _ in range(64):
                client.send_bytes(with_body("Ping", client.sid, client.next_id + 1, None, costly))
        other.get("Ping")
        before = sum(replies_in(client) for client in flood)
        print("  answered before it:", before, "of 128", flush=True)
        check(before < 100, before, "of 128 were answered before it")


main(globals())
