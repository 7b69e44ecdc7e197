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
    def line(*flags):
        with Daemon(*flags) as daemon:
            client = daemon.client()
            client.register()
            client.cluster()
            text = client.get("Metrics", {"prefix": "yunikorn_queue_app"})["text"]
            return [one for one in text.splitlines() if 'queue="root.a"' in one and 'state="running"' in one or 'state="new"' in one][0]

    check("partition=" in line(), line())
    check("partition=" not in line("--legacy-labels"), line("--legacy-labels"))


def test_the_process_writes_where_it_is_told():
    with Daemon("--log-target", "@ykd.log", "--log-level", "debug", "--pidfile", "@pid", wait=False) as daemon:
        path = daemon.folder + "/ykd.log"
        until("the file says it is ready", lambda: os.path.exists(path) and "is ready" in open(path, encoding="utf-8").read())
        with open(daemon.folder + "/pid", encoding="utf-8") as file:
            check(int(file.read()) == daemon.process.pid)
        daemon.signal(signal.SIGTERM)
        check(daemon.exit_code() == 0 and not os.path.exists(daemon.folder + "/pid"))


main(globals())
