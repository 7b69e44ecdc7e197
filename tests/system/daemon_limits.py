# SPDX-License-Identifier: Apache-2.0
"""Little room: address space, disk (A10)."""
import contextlib
import resource
import tempfile
import threading

import daemon_support
from daemon_support import *
from daemon_support.attacks import resident


def test_too_little_address_space_is_said():  # A10
    for mebibytes in (95, 140, 190, 240, 290, 340, 390, 400, 410, 420, 430, 440):  # above 380 it runs, and its stop finds little
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            limit = mebibytes << 20
            started = subprocess.Popen([YKD, "--listen", f"ipc://{folder}/s"], stdin=subprocess.DEVNULL, text=True,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            until("it runs or has ended", lambda: started.poll() is not None or os.path.exists(folder + "/s"))
            if started.poll() is None:
                started.terminate()
                check(started.wait(DEADLINE) == 0, mebibytes, "MiB")
                continue
            said = started.stderr.read()
            check(started.returncode == 1 and "the address space is limited to" in said, mebibytes, "MiB:", started.returncode, said)


def test_a_recording_that_ended_is_seen():  # A10
    """Files may have 16 KiB: as on a disk that is full, but for this process."""
    real = daemon_support.YKD
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        wrapper = folder + "/ykd"
        with open(wrapper, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/bash\ntrap '' XFSZ\nulimit -f 16\nexec {real} \"$@\"\n")
        os.chmod(wrapper, 0o755)
        daemon_support.YKD = wrapper
        try:
            with Daemon("--record", "@records") as daemon:
                client = daemon.client()
                client.register()
                check(client.get("Status")["degraded"] == [], "all is well")
                client.cluster()
                for number in range(20):
                    client.asks(*[f"k{number}-{i}" for i in range(50)])
                reasons = until("the recording has ended", lambda: client.get("Status")["degraded"])
                check(len(reasons) == 1 and "RM rm:1 is not recorded any more" in reasons[0], reasons)
                check("File too large" in reasons[0] and "register it anew" in reasons[0], reasons)
                health = client.get("Health", {"run": True})
                failed = [one for one in health["HealthChecks"] if not one["Succeeded"]]
                check(not health["Healthy"] and failed[0]["Name"] == "Daemon", failed)
                check("not recorded" in failed[0]["DiagnosisMessage"], failed)
                check(client.get("Status")["degraded"] == reasons, "said once")
                metrics = client.get("Metrics")["text"]
                check('yunikorn_degraded{reason="recording"} 1' in metrics, metrics)
                client.register()  # anew: another file
                check(client.get("Status")["degraded"] == [], client.get("Status")["degraded"])
        finally:
            daemon_support.YKD = real


def test_a_reload_that_is_over_keeps_no_files():  # A10: each would hold its text and 10,000 queues until its patience ends
    queues = "".join(f"          - name: queue-{i}\n" for i in range(10_000))
    with Daemon("--config", "@queues", files={"queues": CONFIG + queues}) as daemon:
        client = daemon.client()
        client.register(config="")
        client.change("Reload", {})
        before = resident(daemon)
        for _ in range(25):
            client.change("Reload", {})
        check(resident(daemon) < before + (100 << 20), before, "bytes before,", resident(daemon), "after 25 reloads")


def test_several_rms_do_not_use_up_all_memory():  # A10: each of them below its own limits
    with Daemon("--settings", "@conf", files={"conf": "maxMemory: 128MiB\n"}) as daemon:
        client = daemon.client()
        for rm in ("rm:1", "rm:2", "rm:modest"):
            client.register(rm)

        def add(rm, name):
            client.seq += 1
            reply = client.ask("UpdateApplication", {"rmID": rm, "new": [
                {"applicationID": f"{name}-{part}", "queueName": "root.a", "ugi": {"user": "u"},
                 "tags": {f"t{k}": "x" * 60000 for k in range(4)}} for part in range(25)]}, seq=client.seq)
            client.seq -= 0 if reply["ok"] else 1  # E_BUSY takes no number
            return reply.get("err")

        added = 0
        while (refusal := add(f"rm:{added % 2 + 1}", f"app{added}")) is None:
            added += 1
            check(added < 400, "nothing was refused at", resident(daemon))
        check(refusal["name"] == "E_BUSY" and "of memory, of at most 0.12 GiB (maxMemory)" in refusal["message"], refusal)
        check(refusal["retryAfterMs"] == 1000, refusal)
        check(any("maxMemory" in one for one in client.get("Status")["degraded"]), client.get("Status")["degraded"])
        client.cluster("rm:modest")  # has next to nothing, and goes on
        client.asks("ask", rm="rm:modest")
        client.register("rm:late")
        text = CONFIG + "#" * 200_000
        client.seq += 1
        busy = client.ask("RegisterResourceManager", {"rmID": "rm:large", "version": "1", "policyGroup": "g", "config": text},
                          seq=client.seq)
        check(busy["err"]["name"] == "E_BUSY", busy)
        client.seq -= 1
        for rm in ("rm:1", "rm:2"):
            client.change("UpdateApplication", {"rmID": rm, "remove": [
                {"applicationID": f"app{n}-{part}", "partitionName": "default"} for n in range(added) for part in range(25)]})
        until("there is room again", lambda: client.get("Status")["degraded"] == [])
        check(add("rm:1", "again") is None, "nothing is taken any more")
        until("both are logged",
              lambda: "of at most 0.12 GiB (maxMemory)" in daemon.text() and "there is room again" in daemon.text())


def test_what_is_removed_gives_its_memory_back():  # A10: else a full daemon would stay full until its RMs leave
    with Daemon("--settings", "@conf", files={"conf": "maxMemory: 128MiB\n"}) as daemon:
        client = daemon.client()
        keys = [f"{n:05}" for n in range(5_000)]
        for rm in ("rm:1", "rm:2"):
            client.register(rm)
            client.cluster(rm, vcore=0)
        filled, reply = 0, {"ok": True}
        while reply["ok"]:
            check(filled < 400, "never full:", resident(daemon))
            client.seq += 1
            reply = client.ask("UpdateAllocation", {"rmID": f"rm:{filled % 2 + 1}", "asks": [
                {"allocationKey": f"{filled}-{key}", "applicationID": "app", "resourceAsk": {"vcore": 1}} for key in keys]},
                seq=client.seq)
            filled += 1
        check(reply["err"]["name"] == "E_BUSY", reply)
        client.seq -= 1
        for rm in ("rm:1", "rm:2"):
            client.change("UpdateAllocation", {"rmID": rm, "releases": {"allocationAsksToRelease": [
                {"applicationID": "app", "partitionName": "default"}]}})
        until("there is room again", lambda: client.get("Status")["degraded"] == [])
        until("the memory is given back", lambda: resident(daemon) < 64 << 20)


def test_what_is_removed_goes_back_to_the_system():  # A10: also where memory is not short
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        client.cluster(vcore=0)
        before = resident(daemon)
        for batch in range(80):
            client.asks(*(f"{batch}-{n:04}" for n in range(5_000)))
        check(resident(daemon) > before + (40 << 20), before, resident(daemon))
        client.change("UpdateApplication", {"rmID": "rm:1", "remove": [
            {"applicationID": "app", "partitionName": "default"}]})
        until("the memory is given back", lambda: resident(daemon) < before + (24 << 20))


def test_what_large_messages_took_goes_back_to_the_system():  # A10: no resource manager held it
    with Daemon() as daemon:
        before = resident(daemon)
        nodes = [{"nodeID": f"n-{n}", "action": 1, "attributes": {"a": "x" * 100}} for n in range(40_000)]

        def send():
            for _ in range(3):
                with contextlib.closing(daemon.client(role="rm")) as client:
                    client.refused("E_RM_UNKNOWN", "UpdateNode", {"rmID": "rm:1", "nodes": nodes}, mutating=True)

        senders = [threading.Thread(target=send) for _ in range(8)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        until("the memory is given back", lambda: resident(daemon) < before + (24 << 20))


def in_session_again(daemon, sid):
    """A client over a new connection, in the session that another one opened."""
    client = Client(daemon.path)
    client.sid = sid
    return client


def test_the_last_words_say_what_was_at_work():  # A10: nothing is gone on with that is half changed
    with Daemon() as daemon:
        client = daemon.client()
        client.register()
        sid, seq = client.sid, client.seq
        with open(f"/proc/{daemon.process.pid}/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.prlimit(daemon.process.pid, resource.RLIMIT_AS, (used + (8 << 20), resource.RLIM_INFINITY))
        size = 60_000
        for number in range(2_000):
            if daemon.process.poll() is not None:
                break
            try:
                client = client or in_session_again(daemon, sid)
                reply = client.ask("UpdateApplication", {"rmID": "rm:1", "new": [
                    {"applicationID": f"a{number}-{i}", "queueName": "root.a", "ugi": {"user": "u"},
                     "tags": {f"t{number}-{k}": "x" * size for k in range(4)}} for i in range(4)]}, seq=seq + 1)
            except (EOFError, OSError):  # it has ended, or had no memory for the message, whose connection it cut
                client, size = None, max(size // 2, 500)
                time.sleep(0.01)
                continue
            if not reply["ok"]:  # a worker had no memory: that is told, and costs nobody else anything
                check(reply["err"]["name"] in ("E_INTERNAL", "E_BUSY"), reply)
            seq += reply["ok"] or reply["err"]["name"] == "E_INTERNAL"
        check(daemon.exit_code() == -signal.SIGABRT, daemon.exit_code())
        check("ykd: ends, at work on " in daemon.text() and "there is no memory left" in daemon.text(), "no last words")


main(globals())
