# SPDX-License-Identifier: Apache-2.0
"""Flags of ykd that change what clients see: each does what ykd(8) says (issue 2, section 4)."""
from daemon_support import *


def test_plain_tcp_beyond_this_machine_is_said_twice():  # I-341
    port = free_port()
    with Daemon("--listen", f"tcp://0.0.0.0:{port}", "--allow-plaintext", "--foreground") as daemon:
        until("the log warns", lambda: "is not encrypted" in daemon.text())
        client = Client(("127.0.0.1", port))
        client.refused("E_AUTH", "Hello", {"min": 1, "max": 1, "client": "t", "role": "observer"})


def test_rms_that_must_recover():  # I-210
    with Daemon("--require-recovery", "a,b") as daemon:
        client = daemon.client()
        for rm in ("a", "b"):
            client.refused("E_RECOVERY_REQUIRED", "RegisterResourceManager", {"rmID": rm, "config": CONFIG}, mutating=True)
            client.register(rm, recovery={"id": "first"})
        client.register("c")


def test_labels_of_queue_metrics():  # I-508, I-511
    def line(client, family="yunikorn_queue_app", **fields):
        text = client.get("Metrics", {"prefix": family, **fields})["text"]
        return [one for one in text.splitlines() if 'queue="root.a"' in one and 'state="running"' in one or 'state="new"' in one][0]

    def cluster(daemon, *rms):
        client = daemon.client()
        for rm in rms:
            client.register(rm)
            client.cluster(rm)
        return client

    with Daemon() as daemon:
        client = cluster(daemon, "rm:1")
        check(line(client).startswith('yunikorn_queue_app{partition="[rm:1]default",queue='), line(client))
        check(line(client, names="original").startswith('yunikorn_queue_app{queue="root.a"'), line(client, names="original"))
        own = line(client, "ykd_queue_applications", names="own")
        check(own.startswith('ykd_queue_applications{partition="[rm:1]default",queue='), own)
        check(client.get("Metrics", {"prefix": "yunikorn_", "names": "own"})["text"] == "", "names of ours begin with ykd_")
        client.refused("E_INVALID", "Metrics", {"names": "mine"})
        cluster(daemon, "rm:2")
        check("partition=" in line(client, names="original"), "of two partitions each has its label")
    with Daemon("--legacy-labels") as daemon:
        check("partition=" not in line(cluster(daemon, "rm:1")))


def test_the_process_writes_where_it_is_told():
    with Daemon("--log-target", "@ykd.log", "--log-level", "debug", "--pidfile", "@pid", wait=False) as daemon:
        path = daemon.folder + "/ykd.log"
        until("the file says it is ready", lambda: os.path.exists(path) and "is ready" in open(path, encoding="utf-8").read())
        with open(daemon.folder + "/pid", encoding="utf-8") as file:
            check(int(file.read()) == daemon.process.pid)
        daemon.signal(signal.SIGTERM)
        check(daemon.exit_code() == 0 and not os.path.exists(daemon.folder + "/pid"))


main(globals())
