# SPDX-License-Identifier: Apache-2.0
"""The states of resource managers as everybody sees them (interface.md 3.1), and what the daemon itself keeps over a
restart (I-270 to I-272)."""
import glob
import json
import pty
import resource
import select
import time

from daemon_support import *

NEW, RUNNING, RECOVERING, FAILED, SUSPENDED, LOST = range(6)
BY_HAND = ("--manual-schedule", "--clock", "virtual")
STATE = ("--state", "@.")
OTHER = CONFIG.replace("- name: b", "- name: b2")
CTL = os.path.join(os.environ["YK_BIN"], "ykctl")


def ctl(daemon, *arguments, code=0):
    """What ykctl prints."""
    done = subprocess.run([CTL, "-s", "ipc://" + daemon.path, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=DEADLINE)
    check(done.returncode == code, arguments, "ended with", done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def metric(client, name, **labels):
    """The value of a series, or None."""
    wanted = ",".join(f'{key}="{value}"' for key, value in labels.items())
    for line in client.get("Metrics", {"prefix": name})["text"].splitlines():
        if line.startswith(name + ("{" + wanted + "}" if labels else "") + " "):
            return float(line.split()[-1])
    return None


def rm_of(client, rm):
    return next((one for one in client.get("Status")["rms"] if one["rmID"] == rm), None)


def recovering(daemon, rm="rm:1", **recovery):
    return Rm(daemon, rm, recovery={"id": "r1", **recovery})


# --- time-outs of the settings ---------------------------------------------------------------------------------------

SETTINGS = """
recoveryTimeout: 20s
recoveryIdleTimeout: 6s
rms: [{rmID: known}, {rmID: careful, requireRecovery: true}]
"""


def with_settings(*flags, text=SETTINGS):
    return Daemon("--settings", "@ykd.conf", *flags, files={"ykd.conf": text})


def test_the_settings_end_a_recovery_that_takes_too_long():  # I-212, I-213, C-469
    with with_settings(*BY_HAND) as daemon:
        rm = recovering(daemon)
        status = rm_of(rm.client, "rm:1")["recovery"]
        check((status["leftMs"], status["idleLeftMs"]) == (20000, 6000), status)
        for i in range(3):  # each update starts the idle timer anew
            rm.advance(5)
            rm.nodes({"nodeID": f"n{i}"})
        status = rm_of(rm.client, "rm:1")["recovery"]
        check((status["leftMs"], status["idleLeftMs"]) == (5000, 6000), status)
        report = [body for kind, body in rm.advance(5) if kind == "RecoveryReport"][0]
        check(report["result"] == "failed" and report["faults"] == ["timeout: it took longer than 20 s"], report)
        one = rm_of(rm.client, "rm:1")
        check(one["state"] == FAILED and one["reason"] == "recovery failed: timeout: it took longer than 20 s", one)
        idle = recovering(daemon, "rm:2")
        idle.advance(5.5)
        check(rm_of(idle.client, "rm:2")["state"] == RECOVERING)
        report = [body for kind, body in idle.advance(0.5) if kind == "RecoveryReport"][0]
        check(report["faults"] == ["timeout: no update came for 6 s"], report)
        own = recovering(daemon, "rm:3", timeoutSeconds=3, idleSeconds=2)  # a registration that names them
        check(rm_of(own.client, "rm:3")["recovery"]["leftMs"] == 3000)
        own.advance(2)
        check(rm_of(own.client, "rm:3")["reason"] == "recovery failed: timeout: no update came for 2 s")


# --- New -------------------------------------------------------------------------------------------------------------

def test_a_listed_rm_is_new_until_it_registers():  # I-262
    with with_settings("--require-recovery", "flagged") as daemon:
        client = daemon.client()
        check([(one["rmID"], one["state"]) for one in client.get("Status")["rms"]] ==
              [("careful", NEW), ("flagged", NEW), ("known", NEW)], client.get("Status")["rms"])
        check(client.get("Ping", {"rmID": "known"})["state"] == NEW)
        client.refused("E_RM_UNKNOWN", "Ping", {"rmID": "nobody"})
        client.refused("E_RM_UNKNOWN", "UpdateNode", {"rmID": "known", "nodes": []}, mutating=True)
        check(client.get("Status")["state"] == NEW)
        check(metric(client, "yunikorn_rm_state", rm="known", state="New") == 1)
        check("known" in ctl(daemon, "rm", "list") and "New" in ctl(daemon, "status"))
        check(ctl(daemon, "rm", "register", "mine").count("registered") == 1)
        ctl(daemon, "node", "add", "n1", "-R", "vcore=1")  # mine is the only one that is registered
        client.refused("E_RECOVERY_REQUIRED", "RegisterResourceManager", {"rmID": "careful", "config": CONFIG}, mutating=True)
        rm = Rm(daemon, "known")
        check(rm_of(client, "known")["state"] == RUNNING)
        check(metric(client, "yunikorn_rm_state", rm="known", state="Running") == 1)
        check(metric(client, "yunikorn_rm_transitions_total", rm="known", **{"from": "New", "to": "Running"}) == 1)
        rm.client.change("UnregisterResourceManager", {"rmID": "known"})
        until("it is New again", lambda: rm_of(client, "known")["state"] == NEW)


# --- since, reason, transitions --------------------------------------------------------------------------------------

def test_every_transition_is_logged_counted_and_shown():  # I-201
    with Daemon(*BY_HAND) as daemon:
        rm = recovering(daemon, idleSeconds=10)
        began = rm.client.get("Ping")["now"]
        rm.advance(10)
        one = rm_of(rm.client, "rm:1")
        check(one["state"] == FAILED and one["since"] == began + 10 * 10**9, one)
        until("it is logged",
              lambda: "RM rm:1: Recovering -> Failed (recovery failed: timeout: no update came for 10 s)" in daemon.text())
        rm.client.change("ResolveRecovery", {"rmID": "rm:1", "action": "accept"})
        count = lambda was, now: metric(rm.client, "yunikorn_rm_transitions_total", rm="rm:1", **{"from": was, "to": now})
        check((count("New", "Recovering"), count("Recovering", "Failed"), count("Failed", "Running")) == (1, 1, 1))
        check(count("Running", "Failed") is None, "what never happened makes no series")
        check(rm_of(rm.client, "rm:1")["reason"] == "accepted as it is")
        shown = ctl(daemon, "rm", "list")
        check("SINCE" in shown and "accepted as it is" in shown, shown)
        check("accepted as it is" in ctl(daemon, "status"))
        rm.client.change("UnregisterResourceManager", {"rmID": "rm:1"})
        gone = lambda was, now: metric(rm.client, "yunikorn_rm_transitions_total", rm="", **{"from": was, "to": now})
        until("they stay counted", lambda: gone("Running", "New") == 1)
        check(gone("Recovering", "Failed") == 1)


def test_a_ping_counts_from_when_it_came():  # I-385
    """Not from the RM's last turn, which may be two seconds ago: one that only pings was Suspended once a turn."""
    with Daemon("--settings", "@conf", files={"conf": "livenessTimeout: 1s\n"}) as daemon:
        rm = Rm(daemon)
        for _ in range(25):
            check(rm.client.get("Ping", {"rmID": rm.rm})["state"] == 1, daemon.text())
            time.sleep(0.2)
        check("Suspended" not in daemon.text(), daemon.text())


def test_the_dump_of_recoveries():  # 5.2
    with Daemon("--settings", "@ykd.conf", *BY_HAND, files={"ykd.conf": SETTINGS}) as daemon:
        rm = recovering(daemon, expected={"nodes": 2, "applications": 1, "allocations": 60, "asks": 4})
        rm.nodes({"nodeID": "n1", "recovery": {"availableResource": {"vcore": 900}, "allocations": 10}})
        rm.send("UpdateAllocation", allocations=[{"allocationKey": f"a{i:02}", "applicationID": "app", "nodeID": "n1",
                                                  "resourcePerAlloc": {"vcore": 1}} for i in range(60)])
        rm.release(allocationKey="never")
        Rm(daemon, "well")
        whole = rm.client.dump("recovery")
        check([one["rmID"] for one in whole] == ["rm:1", "well", "careful", "known"], whole)
        one = whole[0]
        check((one["state"], one["id"], one["attempt"]) == (RECOVERING, "r1", 0), one)
        check(one["expected"] == {"nodes": 2, "applications": 1, "allocations": 60, "asks": 4}, one)
        check(one["counts"] == {"nodes": 1, "applications": 0, "allocations": 0, "asks": 0}, one)
        check((one["quarantineTotal"], one["tombstones"]) == (60, 1), one)
        check([each["allocationKey"] for each in one["quarantine"]] == [f"a{i:02}" for i in range(60)], one)
        check(one["quarantine"][0]["reason"] == "APP_UNKNOWN" and one["quarantine"][0]["nodeID"] == "n1", one)
        check(one["incompleteNodes"] == [{"nodeID": "n1", "partitionName": "default", "missing": {"vcore": 40}, "surplus": {},
                                          "expectedAllocations": 10, "actualAllocations": 60}], one)
        check(one["transitions"] == [{"from": NEW, "to": RECOVERING, "count": 1}], one)
        check(whole[1]["state"] == RUNNING and whole[1]["quarantine"] == [] and "id" not in whole[1], whole[1])
        check(whole[3]["state"] == NEW and "quarantine" not in whole[3])

        pages, cursor = [], {}
        while True:
            reply = rm.client.get("Dump", {"what": "recovery", "limit": 7, **cursor})
            pages.append(reply["data"])
            if reply["complete"]:
                break
            cursor = {"cursor": reply["cursor"]}
        check(len(pages) == 9, [len(page) for page in pages])
        check(all(page[0]["rmID"] == "rm:1" for page in pages), "each page says whose list it is")
        keys = [each["allocationKey"] for page in pages for one in page for each in one.get("quarantine", [])]
        check(keys == [f"a{i:02}" for i in range(60)], keys)
        check(sum(len(one.get("incompleteNodes", [])) for page in pages for one in page) == 1)
        rm.client.refused("E_NOT_FOUND", "Dump", {"what": "recovery", "cursor": "page-00"})

        small = daemon.client(maxMessage=8192)
        first = small.get("Dump", {"what": "recovery"})
        check(not first["complete"] and 0 < len(first["data"][0]["quarantine"]) < 60, "a page fits the client")

        merged = json.loads(ctl(daemon, "-o", "json", "dump", "recovery"))["data"]
        check(merged[0]["rmID"] == "rm:1" and len(merged[0]["quarantine"]) == 60 and len(merged) == 4, merged)
        report = rm.client.change("RecoveryDone", {"rmID": "rm:1", "id": "r1", "attempt": 5,
                                                   "expected": {"nodes": 9, "applications": 9, "allocations": 9},
                                                   "digest": {"nodes": 9, "applications": 9, "allocations": 9}})
        one = rm.client.dump("recovery", rmID="rm:1")[0]
        check(one["state"] == FAILED and one["lastReport"]["counts"] == report["counts"], one)
        check(one["tombstones"] == 0 and one["lastReport"]["unusedTombstones"] == 1, one)
        full = rm.client.dump("full")["recovery"]
        check([(one["rmID"], one["state"]) for one in full] == [("rm:1", FAILED), ("well", RUNNING)], full)
        other = daemon.client(role="observer")
        check(len(other.dump("recovery")) == 4)


class Watched:
    """ykctl status --watch without a terminal, or on one."""

    def __init__(self, daemon, terminal=False):
        self.text = ""
        self.end, out = pty.openpty() if terminal else os.pipe()
        self.process = subprocess.Popen([CTL, "-s", "ipc://" + daemon.path, "status", "--watch", "--interval", "20ms"],
                                        stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"})
        os.close(out)

    def says(self, wanted):
        def look():
            if select.select([self.end], [], [], 0.1)[0]:
                self.text += os.read(self.end, 65536).decode(errors="replace")
            return wanted in self.text
        until(wanted, look)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        check(self.process.wait(DEADLINE) == 130)
        os.close(self.end)


def test_the_status_is_watched_while_an_rm_recovers():  # I-212
    with Daemon(*BY_HAND) as daemon:
        watches = [Watched(daemon), Watched(daemon, terminal=True)]
        rm = recovering(daemon, expected={"nodes": 4, "applications": 0, "allocations": 0})
        for watch in watches:
            watch.says("[--------------------] 0 %, failed in 2m without an update, in 10m at the latest; 0 of 4 nodes")
        rm.nodes({"nodeID": "n1"})
        rm.send("UpdateAllocation", allocations=[{"allocationKey": "a", "applicationID": "app", "nodeID": "n1",
                                                  "resourcePerAlloc": {"vcore": 1}}])
        for watch in watches:
            watch.says("[#####---------------] 25 %")
            watch.says("1 of 4 nodes, 0 of 0 applications, 0 of 0 allocations, 0 asks, 1 object quarantined")
        rm.advance(125)
        watches[0].says("rm:1 Failed: 1 of 4 nodes")
        rm.client.change("ResolveRecovery", {"rmID": "rm:1", "action": "accept"})
        watches[0].says("rm:1 Running (accepted as it is)\n")
        watches[1].says("accepted as it is")
        rm.client.change("UnregisterResourceManager", {"rmID": "rm:1"})
        watches[0].says("rm:1 is not registered any more\n")
        check("\x1b" not in watches[0].text and "\x1b[H\x1b[2J" in watches[1].text, "only a terminal is redrawn")
        for watch in watches:
            watch.stop()


def test_what_waits_in_quarantine_is_not_called_added():
    with Daemon(*BY_HAND, "--config", "@queues.yaml", files={"queues.yaml": CONFIG}) as daemon:
        ctl(daemon, "rm", "register", "mine", "--recovery", "r1", "--no-force-applications")
        check("node n1 added" in ctl(daemon, "node", "add", "n1", "-R", "vcore=10"))
        check("app a1 accepted in root.a" in ctl(daemon, "app", "add", "a1", "-q", "root.a"))
        check("node n1 quarantined; why:  ykctl dump recovery" in ctl(daemon, "node", "add", "n1", "-R", "vcore=11"))
        check("app a2 quarantined" in ctl(daemon, "app", "add", "a2", "-q", "root.nowhere"))
        check("DUPLICATE_NODE" in ctl(daemon, "dump", "recovery") and "QUEUE_INVALID" in ctl(daemon, "dump", "recovery"))


# --- what the daemon keeps -------------------------------------------------------------------------------------------

def boots(daemon):
    return daemon.client().get("Status").get("boots")


def level_of(daemon, logger):
    return next(one["level"] for one in daemon.client().dump("loglevels") if one["logger"] == logger)


def kept(daemon, name="daemon"):
    return os.path.join(daemon.folder, ".", "kept", name)  # --state @.


def config_file(daemon):
    return glob.glob(kept(daemon, "*.config"))[0]


def test_starts_are_counted():  # I-270
    with Daemon(*STATE) as daemon:
        for number, boot in ((signal.SIGKILL, 1), (signal.SIGTERM, 2), (signal.SIGKILL, 3)):
            check(boots(daemon) == boot)
            check(f"boot {boot} with" in daemon.text().splitlines()[0], "the first line says so", daemon.text())
            check(metric(daemon.client(), "yunikorn_boots_total") == boot)
            check(f", boot {boot}" in ctl(daemon, "status"))
            daemon.restart(number)
    with Daemon() as daemon:
        check(boots(daemon) is None and metric(daemon.client(), "yunikorn_boots_total") is None)
        check("boot" not in ctl(daemon, "status"))


def test_levels_of_loggers_outlive_the_daemon():  # I-271
    with Daemon(*STATE, "--settings", "@ykd.conf", files={"ykd.conf": "extraConfig: {log.wire.level: error}\n"}) as daemon:
        check("also after a restart" in ctl(daemon, "log", "level", "core.config", "debug"))
        daemon.client().change("SetExtraConfig", {"extraConfig": {"log.wire.level": "warn", "event.maxStreams": "7"}})
        reply = daemon.client().change("SetExtraConfig", {"extraConfig": {"log.level": "error", "log.core.level": "info",
                                                                             "log.nobody.level": "info"}})
        check(reply == {"kept": True}, reply)
        for _ in range(2):
            daemon.restart()
            check([level_of(daemon, name) for name in ("core.config", "wire", "recovery")] == ["debug", "warn", "error"])
        check("nobody" not in open(kept(daemon), encoding="utf-8").read(), "only what means something is kept")
        ctl(daemon, "log", "level", "all", "default")
        ctl(daemon, "log", "level", "wire", "default")
        check([level_of(daemon, name) for name in ("wire", "recovery")] == ["error", "info"], "back to the settings")
        daemon.restart()
        check([level_of(daemon, name) for name in ("core.config", "wire", "recovery")] == ["debug", "error", "info"])
    with Daemon() as daemon:
        check("until the daemon ends" in ctl(daemon, "log", "level", "core.config", "debug"))


def queues(client, rm):
    return [queue["queuename"] for queue in client.dump("queues", rmID=rm)[0]["children"]]


def test_an_rm_that_recovers_goes_on_with_its_configuration():  # I-272
    with Daemon(*STATE, "--config", "@queues.yaml", files={"queues.yaml": CONFIG}) as daemon:
        back = {"recovery": {"id": "r"}}
        first = daemon.client()
        first.register("rm:1", config="")  # the file's
        first.change("UpdateConfiguration", {"rmID": "rm:1", "config": OTHER, "source": "an operator"})
        daemon.client().register("rm:2", config="")
        daemon.client().register("rm:3", config=OTHER)
        daemon.client().register("plain", config=OTHER)
        daemon.write("queues.yaml", CONFIG + "          - name: new\n")
        daemon.restart()
        client = daemon.client()
        for rm, wanted in (("rm:1", ["root.a", "root.b2"]), ("rm:2", ["root.a", "root.b"]), ("rm:3", ["root.a", "root.b2"])):
            client.register(rm, config="", **back)
            check(queues(client, rm) == wanted, rm, queues(client, rm))
        check("RM rm:2 goes on with the configuration that was active" in daemon.text(), daemon.text())
        check("RM rm:1 goes on with the configuration" not in daemon.text(), "it did not follow the file")
        history = client.dump("confighistory", rmID="rm:1")
        check([one["active"] for one in history] == [True, False] and history[0]["origin"] != history[1]["origin"], history)
        check(rm_of(client, "rm:1")["configFromFile"] is False and rm_of(client, "rm:2")["configFromFile"] is True)
        client.register("plain", config="")
        check("root.new" in queues(client, "plain"), "nothing exists for it any more, so it begins with the file")
        check(len(client.dump("confighistory", rmID="plain")) == 2, "but what it had is known")
        client.register("rm:4", config="", **back)
        check("root.new" in queues(client, "rm:4"))
        client.change("Reload", {"rmID": "rm:2"})
        check("root.new" in queues(client, "rm:2"))
        client.change("UnregisterResourceManager", {"rmID": "rm:1"})
        daemon.restart()
        client = daemon.client()
        for rm in ("rm:1", "rm:2"):
            client.register(rm, config="", **back)
            check("root.new" in queues(client, rm), rm)
        client.register("rm:1", config=CONFIG, **back)
        check(queues(client, "rm:1") == ["root.a", "root.b"], "what it sends counts")


def test_a_kept_file_that_is_damaged_is_named_and_set_aside():
    with Daemon(*STATE) as daemon:
        ctl(daemon, "log", "level", "core.config", "debug")
        daemon.client().register("rm:1", config=OTHER)
        for name, of in (("daemon", kept(daemon)), ("configurations", config_file(daemon))):
            daemon.signal(signal.SIGTERM)
            daemon.exit_code()
            with open(of, "rb") as file:
                good = file.read()
            middle = good.index(b"\n") + 2
            for damaged in (b"", good[:-1], good + b"x", good[:middle] + b"\xff" + good[middle + 1:], b"Y" + good[1:],
                            good.replace(b"ykd-kept 1", b"ykd-kept 2"), b"\0" * len(good)):
                with open(of, "wb") as file:
                    file.write(damaged)
                daemon.start()
                client = daemon.client()
                told = [line for line in client.get("Status")["degraded"] if of in line]
                check(len(told) == 1 and "is damaged" in told[0] and ".damaged-" in told[0], name, damaged[:40], told)
                check(told[0] in daemon.text())
                aside = glob.glob(of + ".damaged-*")
                check(len(aside) == 1 and open(aside[0], "rb").read() == damaged, "it is only renamed", aside)
                os.unlink(aside[0])
                if name == "daemon":
                    check(boots(daemon) == 1 and level_of(daemon, "core.config") == "info", "nothing of it is used")
                else:
                    client.register("rm:1", config="", recovery={"id": "r"})
                    check("b2" not in str(client.dump("queues", rmID="rm:1")), "it gets that of its file, or the built-in one")
                client.close()
                daemon.signal(signal.SIGTERM)
                daemon.exit_code()
            with open(of, "wb") as file:
                file.write(good)
            daemon.start()
        check(level_of(daemon, "core.config") == "debug" and boots(daemon) > 1)
        check(daemon.client().get("Status")["degraded"] == [], daemon.client().get("Status")["degraded"])


def sealed(version, what, text):
    """A whole file, as another version may write it."""
    from daemon_support.books import line_hash
    head = f"ykd-kept {version} {what} {len(text)} "
    return f"{head}{line_hash(head + text):016x}\n{text}"


def test_a_file_of_a_newer_ykd_is_left_alone():
    with Daemon(*STATE) as daemon:
        daemon.client().register("rm:1", config=OTHER)
        of = {kept(daemon): sealed(2, "daemon", "{}"), config_file(daemon): sealed(9, "configurations", "[]")}
        daemon.signal(signal.SIGTERM)
        daemon.exit_code()
        for path, text in of.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        daemon.start()
        client = daemon.client()
        told = client.get("Status")["degraded"]
        check(all(any(path in line and "this one knows version 1" in line for line in told) for path in of), told)
        check(boots(daemon) is None)
        check("until the daemon ends" in ctl(daemon, "log", "level", "core.config", "debug"))
        client.register("rm:1", config="", recovery={"id": "r"})
        client.change("UpdateConfiguration", {"rmID": "rm:1", "config": OTHER})
        client.change("UnregisterResourceManager", {"rmID": "rm:1"})
        daemon.signal(signal.SIGTERM)
        daemon.exit_code()
        for path, text in of.items():
            check(open(path, encoding="utf-8").read() == text, path, "was changed")


def test_a_disk_that_takes_nothing_loses_only_what_comes_then():
    with Daemon(*STATE) as daemon:
        ctl(daemon, "log", "level", "core.config", "debug")
        soft, hard = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (10, hard))
        reply = daemon.client().change("SetExtraConfig", {"extraConfig": {"log.core.config.level": "error"}})
        check(reply == {"kept": False}, reply)
        told = lambda: [line for line in daemon.client().get("Status")["degraded"] if kept(daemon) in line]
        check("a restart would go on with what was kept before" in told()[0], told())
        check(level_of(daemon, "core.config") == "error", "it is in force all the same")
        daemon.restart()
        check(level_of(daemon, "core.config") == "debug" and boots(daemon) == 2, "what was there before is whole")
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (10, hard))
        daemon.client().change("SetExtraConfig", {"extraConfig": {"log.core.config.level": "error"}})
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (soft, hard))
        until("it is written after all", lambda: not told())
        daemon.restart()
        check(level_of(daemon, "core.config") == "error")
        check(not glob.glob(kept(daemon, ".*")), "no unfinished file stays")


def test_a_folder_that_cannot_be_written():
    with Daemon(*STATE) as daemon:
        os.rename(kept(daemon, ""), daemon.folder + "/away")
        daemon.client().change("SetExtraConfig", {"extraConfig": {"log.core.config.level": "error"}})
        told = lambda: [line for line in daemon.client().get("Status")["degraded"] if kept(daemon) in line]
        check(len(told()) == 1, told())
        os.rename(daemon.folder + "/away", kept(daemon, ""))
        until("it is written", lambda: not told())
        daemon.signal(signal.SIGTERM)
        daemon.exit_code()
        os.chmod(kept(daemon, ""), 0o770)
        with Daemon("--state", daemon.folder, wait=False) as other:
            check(other.exit_code() == 1)
            check("what is kept in" in other.text() and "may be written by others (mode 0770; chmod go-w)" in other.text(), other.text())


main(globals())
