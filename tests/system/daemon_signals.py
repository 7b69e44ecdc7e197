# SPDX-License-Identifier: Apache-2.0
"""Signals, sd_notify and the graceful stop (I-263)."""
from daemon_support import *
from daemon_support.service_manager import next_told, notify_socket

import contextlib
import glob
import json
import resource
import tempfile

CONFIG_FILE = CONFIG.replace("name: b", "name: c")


def test_service_manager_is_told():
    listener, path = notify_socket()
    env = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"}
    with Daemon("--config", "@q.yaml", files={"q.yaml": CONFIG}, env=env) as daemon:
        check("STATUS=" in next_told(listener, "READY=1"))
        next_told(listener, "WATCHDOG=1")
        daemon.signal(signal.SIGHUP)
        check("MONOTONIC_USEC=" in next_told(listener, "RELOADING=1"))
        check("reload" in next_told(listener, "READY=1"))
        daemon.signal(signal.SIGTERM)
        next_told(listener, "STOPPING=1")
        check(daemon.exit_code() == 0)
        check(not os.path.exists(daemon.path), "the socket was left behind")


def test_a_listener_that_does_not_answer_is_not_vouched_for():  # A1
    """No descriptor is left: nobody gets in, and the daemon itself neither."""
    listener, path = notify_socket()
    with Daemon(env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"}) as daemon:
        next_told(listener, "WATCHDOG=1")
        client = daemon.client()
        used = {int(one) for one in os.listdir(f"/proc/{daemon.process.pid}/fd")}
        free = min(set(range(len(used) + 1)) - used)  # new ones fill holes first
        before = resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE, (free, before[1]))
        reasons = until("it is told", lambda: client.get("Status")["degraded"])
        check("ipc://" in reasons[0], reasons)
        checks = client.get("Health", {"run": True})["HealthChecks"]
        check([one["Name"] for one in checks if not one["Succeeded"]] == ["Daemon"], checks)
        deadline = time.monotonic() + 1.5  # what was sent before is read first
        while time.monotonic() < deadline:
            listener.settimeout(max(0.01, deadline - time.monotonic()))
            with contextlib.suppress(socket.timeout):
                last = time.monotonic() if listener.recv(4096) == b"WATCHDOG=1" else 0
                check(last < deadline - 1, "the watchdog is fed though a listener does not answer")
        listener.settimeout(DEADLINE)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE, before)
        until("it is well again", lambda: client.get("Status")["degraded"] == [])
        next_told(listener, "WATCHDOG=1")


def test_hup_reloads_what_came_from_a_file():
    with Daemon("--config", "@q.yaml", files={"q.yaml": CONFIG}) as daemon:
        client = daemon.client()
        client.register(config="")
        names = lambda: client.dump("queues")[0]["childNames"]
        check(names() == ["root.a", "root.b"], names())
        daemon.write("q.yaml", CONFIG_FILE)
        daemon.signal(signal.SIGHUP)
        until("the new queue is there", lambda: "root.c" in names())
        daemon.write("q.yaml", CONFIG_FILE.replace("queues", "queue"))
        daemon.signal(signal.SIGHUP)
        until("the fault is logged", lambda: "keeps its configuration" in daemon.text())
        check("root.c" in names(), "a faulty file changed the configuration")


def test_an_empty_file_is_the_built_in_configuration_at_registration_only():  # C-009, D-03
    with Daemon("--config", "@q.yaml", files={"q.yaml": ""}) as daemon:
        client = daemon.client()
        client.register(config="")
        rules = [rule["name"] for rule in client.dump("config")["partitions"][0]["placementrules"]]
        check(rules == ["tag"], rules)
        check(client.dump("confighistory")[0]["origin"] == "built-in default", client.dump("confighistory"))
        daemon.write("q.yaml", CONFIG)
        daemon.signal(signal.SIGHUP)
        until("the file is active", lambda: client.dump("queues")[0].get("childNames") == ["root.a", "root.b"])
        daemon.write("q.yaml", "")
        daemon.signal(signal.SIGHUP)
        until("it is refused", lambda: "no partition defined" in daemon.text())
        check(client.dump("queues")[0]["childNames"] == ["root.a", "root.b"])


def test_usr1_logs_the_state():
    with Daemon() as daemon:
        daemon.client().register()
        daemon.signal(signal.SIGUSR1)
        until("the state is logged", lambda: "RM rm:1: Running" in daemon.text())


def test_usr1_writes_a_dump_into_the_state_directory():  # C-469
    folder = tempfile.mkdtemp(prefix="yk.", dir="/tmp")
    for flags, env in (("--state-dir", folder), {}), ((), {"STATE_DIRECTORY": folder + ":/nowhere"}):
        for name in glob.glob(folder + "/dump-*"):
            os.unlink(name)
        with Daemon(*flags, env=env) as daemon:
            client = daemon.client()
            client.register()
            client.cluster()
            client.get("Sync", {"rmID": "rm:1"})
            daemon.signal(signal.SIGUSR1)
            until("the file is logged", lambda: "bytes written to " + folder in daemon.text())
            (name,) = (name for name in os.listdir(folder) if name not in ("audit.jsonl", "books", "kept", "lock"))
            check(name.startswith("dump-2") and name.endswith("Z.json"), name)
            check(os.stat(f"{folder}/{name}").st_mode & 0o777 == 0o600)
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                written = json.load(file)
            check(written["schema"] == 1 and written["what"] == "all", list(written))
            full = client.dump("full")
            check(sorted(written["data"]) == sorted(full), sorted(written["data"]))
            check(written["data"]["applications"][0]["applicationID"] == full["applications"][0]["applicationID"])


def test_another_dump_may_be_asked_for_as_soon_as_the_file_is_there():
    with tempfile.TemporaryDirectory(prefix="yk.", dir="/tmp") as folder, Daemon("--state-dir", folder) as daemon:
        client = daemon.client()
        client.register()
        for _ in range(100):
            daemon.signal(signal.SIGUSR1)
            end = time.monotonic() + DEADLINE
            while not (files := glob.glob(folder + "/dump-*Z.json")):  # without a pause
                check(time.monotonic() < end, "no file")
            client.dump("full")
            os.unlink(files[0])


def test_usr1_without_a_state_directory_says_how_to_get_a_file():
    with Daemon() as daemon:
        daemon.signal(signal.SIGUSR1)
        until("it is logged", lambda: "that needs --state;" in daemon.text())


def test_term_delivers_a_last_notice_and_refuses_updates():
    with Daemon() as daemon:
        poller, other = daemon.client(), daemon.client()
        poller.register()
        poller.send("Poll", {"rmID": "rm:1", "streamEpoch": poller.epoch, "ack": 0})
        other.wait_for_parked_poll()
        daemon.signal(signal.SIGTERM)
        items = poller.receive()["body"]["items"]
        check(items[-1]["kind"] == "Notice" and items[-1]["body"]["code"] == "SHUTDOWN", items)
        check(daemon.exit_code() == 0)


def test_term_waits_for_what_is_queued():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register()
        check(client.poll(wait=0)["items"] == [])
        client.cluster()
        client.get("Sync", {"rmID": "rm:1"})
        daemon.signal(signal.SIGTERM)
        until("the daemon is stopping", lambda: not os.path.exists(daemon.path))  # it says so before it does
        refusal = client.refused("E_SHUTTING_DOWN", "UpdateNode", {"rmID": "rm:1"}, mutating=True)
        check(refusal["retryable"])
        kinds = [item["kind"] for item in client.poll()["items"]]
        if kinds[-1] != "Notice":
            kinds += [item["kind"] for item in client.poll(ack=len(kinds))["items"]]
        check(kinds == ["UpdateNode", "UpdateApplication", "Notice"], kinds)
        check(daemon.exit_code() == 0)


def test_a_second_term_ends_at_once():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        client.poll(wait=0)
        client.cluster()
        daemon.signal(signal.SIGTERM)
        until("the daemon is stopping", lambda: "stopping on signal" in daemon.text())
        start = time.monotonic()
        daemon.signal(signal.SIGTERM)
        check(daemon.exit_code() == 0)
        check(time.monotonic() - start < 4, "the second TERM did not hurry it")


def test_a_grace_beyond_all_clocks_is_long_not_over():
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        client.poll(wait=0)
        client.cluster()  # what it is told is not fetched
        daemon.client().change("Shutdown", {"graceMs": 2**63})
        until("the daemon is stopping", lambda: "asked the daemon to stop" in daemon.text())
        time.sleep(0.5)
        check(daemon.process.poll() is None, "it waits for the RM")
        daemon.signal(signal.SIGTERM)
        daemon.signal(signal.SIGTERM)
        check(daemon.exit_code() == 0)


def test_shutdown_request_stops():
    with Daemon() as daemon:
        daemon.client().change("Shutdown", {"graceMs": 100})
        check(daemon.exit_code() == 0)


main(globals())
