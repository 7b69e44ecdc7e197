# SPDX-License-Identifier: Apache-2.0
"""ykctl rm serve --exec runs a command for each allocation, and --on runs hooks."""
from daemon_support import *
from daemon_support.processes import gone, is_running
from daemon_support.serving import Other, Serving, config_of, ykctl

import glob
import json


class Lab:
    """A daemon and `rm serve s --exec` beside it, whose commands write into files of a folder."""

    def __init__(self, daemon, *words, state=True, **more):
        self.daemon, self.out = daemon, daemon.folder + "/out"
        self.data = daemon.folder + "/data"
        os.makedirs(self.data, exist_ok=True)
        self.state = daemon.folder + "/state"
        books = ("--state", self.state) if state else ()
        self.serving = Serving(daemon, *config_of(daemon), *books, "--exec", "--output", self.out, *words, **more)

    def begin(self, vcore=1000):
        self.serving.runs()
        self.other = Other(self.daemon)
        self.other.node("n1", vcore=vcore)
        self.other.app("app")

    def again(self):
        """After a restart of something."""
        self.serving.runs()
        self.other = Other(self.daemon)

    def ask(self, key, command, app="app", tags=None, **more):
        self.other.asks(app, key, tags={"command": command, "env.DATA": self.data, **(tags or {})}, **more)

    def read(self, name):
        try:
            with open(f"{self.data}/{name}", encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def writes(self, name, text):
        until(f"{name} is {text!r}", lambda: self.read(name) == text)

    def log(self, key, app="app"):
        with open(f"{self.out}/{app}+{key}.log", encoding="utf-8", errors="replace") as file:
            return file.read()

    def allocations(self, app="app"):
        return {key for key, ask in self.other.contents()[1].get(app, {}).items() if ask[0] is not None}

    def released(self):
        """(key, type, message) of all releases that the RM was told of."""
        return [(one["allocationKey"], one["terminationType"], one.get("message", "")) for item in self.serving.items()
                for one in item["body"].get("released", [])]

    def awaits_release(self, key):
        until(f"{key} is released", lambda: any(one[0] == key for one in self.released()))
        return [one for one in self.released() if one[0] == key][-1]

    def __enter__(self):
        self.serving.__enter__()
        return self

    def __exit__(self, kind, value, trace):
        self.serving.__exit__(kind, value, trace)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        found = [int(word) for word in file.read().split()]
    for task in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(task, encoding="utf-8") as file:
            found += [int(word) for word in file.read().split()]
    return sorted(set(found))


def guards(pid):
    """The guard of a process, which ends its commands when it is gone."""
    found = []
    for child in children(pid):
        with open(f"/proc/{child}/comm", encoding="utf-8") as file:
            if file.read().strip() == "yk-guard":
                found.append(child)
    return found


HOLD = "trap 'echo end >>$DATA/log; exit 0' TERM; echo $$ >$DATA/pid; echo begin >>$DATA/log; while :; do sleep 0.02; done"


def test_a_command_runs_and_its_end_releases_the_allocation():
    with Daemon() as daemon, Lab(daemon) as lab:
        lab.begin()
        lab.ask("good", "echo $YK_RM_ID $YK_PARTITION $YK_APPLICATION_ID $YK_ALLOCATION_KEY $YK_NODE_ID $YK_RESOURCE_VCORE $A",
                tags={"env.A": "with blank"})
        check(lab.awaits_release("good")[1:] == (1, "exit code 0"), lab.released())
        check(lab.log("good") == "s default app good n1 1 with blank\n", lab.log("good"))
        check(os.stat(f"{lab.out}/app+good.log").st_mode & 0o777 == 0o600)
        lab.ask("bad", "echo oops >&2; exit 3")
        lab.serving.said("app/bad: exit code 3; released")
        lab.ask("killed", "kill -KILL $$")
        lab.serving.said("app/killed: signal 9 (Killed); released")
        until("nothing is placed", lambda: not lab.allocations())
        lab.other.settled()  # rm serve has printed the last item too
        check(lab.log("bad") == "oops\n")
        requests = [one for item in lab.serving.items() if item["kind"] == "Request"
                    for one in item["body"]["body"].get("releases", {}).get("allocationsToRelease", [])]
        check([one["message"] for one in requests] == ["exit code 0", "exit code 3", "signal 9 (Killed)"], requests)
        lab.other.asks("app", "plain")  # without a command it is not run, and stays
        until("it is placed", lambda: lab.allocations() == {"plain"})
        check("plain" not in lab.serving.notes())


def test_what_is_released_ends_first():
    with Daemon() as daemon, Lab(daemon) as lab:
        lab.begin()
        lab.ask("a", HOLD)
        lab.writes("log", "begin\n")
        lab.other.release("app", "a")
        lab.writes("log", "begin\nend\n")
        lab.ask("b", HOLD.replace("log", "log2").replace("pid", "pid2"))
        lab.writes("log2", "begin\n")
        lab.other.node("n1", action=4)  # the node is removed
        lab.writes("log2", "begin\nend\n")
        until("nothing is placed", lambda: not lab.allocations())


PREEMPTION = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            properties: {preemption.delay: 1ms}
          - name: web
            resources: {guaranteed: {vcore: 2}}
            properties: {preemption.delay: 1ms}
"""


def test_a_victim_is_confirmed_when_it_has_ended():
    with Daemon() as daemon:
        daemon.write("queues.yaml", PREEMPTION)
        with Serving(daemon, "--config", daemon.folder + "/queues.yaml", "--exec", "--grace", "1s") as serving:
            serving.runs()
            other = Other(daemon)
            other.node("n1", vcore=2)
            other.app("app")
            data = daemon.folder
            other.asks("app", "victim", vcore=2, preemptionPolicy={"allowPreemptSelf": True}, tags={
                "command": "trap '' TERM; echo $$ >$DATA/pid; while :; do sleep 0.02; done", "env.DATA": data})
            until("it runs", lambda: os.path.exists(data + "/pid") and open(data + "/pid").read().strip())
            pid = int(open(data + "/pid").read())
            other.send("UpdateApplication", new=[{"applicationID": "shop", "queueName": "root.web", "ugi": {"user": "u"}}])
            other.asks("shop", "front", vcore=2, preemptionPolicy={"allowPreemptOther": True},
                       tags={"command": f"if [ -e /proc/{pid} ]; then echo early; else echo late; fi >$DATA/order; sleep 1000",
                             "env.DATA": data})
            until("front runs", lambda: os.path.exists(data + "/order") and open(data + "/order").read())
            check(open(data + "/order").read() == "late\n", "the node was given on while the victim ran")
            check(serving.end() == 0)


def test_commands_are_started_again_as_their_policy_says():
    with Daemon() as daemon, Lab(daemon, "--restart", "on-failure") as lab:
        lab.begin()
        lab.ask("fails", "echo x >>$DATA/fails; exit 4", tags={"restarts": "1"})
        lab.ask("never", "echo x >>$DATA/never; exit 5", tags={"restart": "never"})
        lab.ask("good", "echo x >>$DATA/good")
        lab.ask("always", "echo x >>$DATA/always; exit 0", tags={"restart": "always"})
        lab.ask("wrong", "echo x >>$DATA/wrong", tags={"restart": "maybe"})
        lab.writes("fails", "x\nx\n")
        lab.writes("always", "x\nx\n")
        until("only always is there", lambda: lab.allocations() == {"always"})
        notes = lab.serving.notes()
        for text in ("app/fails: exit code 4; started again in 1s (restart 1 of 1)", "app/fails: exit code 4, after 1 restart; released",
                     "app/never: exit code 5; released", "app/good: exit code 0; released",
                     "app/wrong: not started: tag restart is 'maybe'"):
            check(text in notes, text, "is not in", notes)
        check(lab.read("never") == "x\n" and lab.read("good") == "x\n" and lab.read("wrong") == "")
        lab.other.release("app", "always")
        until("nothing is placed", lambda: not lab.allocations())


def test_the_end_of_rm_serve_ends_commands():
    with Daemon() as daemon, Lab(daemon) as lab:
        lab.begin()
        for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
            lab.ask("a", HOLD)
            lab.writes("log", "begin\n")
            pid = int(lab.read("pid"))
            check(lab.serving.end(number) == code)
            check(not is_running(pid) and lab.read("log") == "begin\nend\n", lab.read("log"))
            lab.serving.begin()
            lab.writes("log", "begin\nend\nbegin\n")  # the allocation is there, and its command runs again
            lab.again()
            check(lab.allocations() == {"a"})
            lab.other.release("app", "a")
            lab.writes("log", "begin\nend\nbegin\nend\n")
            until("it is gone", lambda: not lab.allocations())
            os.unlink(lab.data + "/log")
        lab.ask("stubborn", "trap '' TERM; echo $$ >$DATA/pid3; while :; do sleep 0.02; done")
        until("it runs", lambda: lab.read("pid3").strip())
        pid = int(lab.read("pid3"))
        lab.serving.process.send_signal(signal.SIGTERM)
        lab.serving.process.send_signal(signal.SIGINT)  # at once
        lab.serving.process.wait(DEADLINE)
        gone(pid)


def test_a_killed_rm_serve_leaves_nothing_and_comes_back():
    with Daemon() as daemon, Lab(daemon) as lab:
        lab.begin()
        lab.ask("a", "sleep 1000 & echo $! $$ >>$DATA/pids; wait")
        lab.ask("b", HOLD)
        until("they run", lambda: lab.read("pids").count("\n") == 1 and lab.read("log") == "begin\n")
        pids = [int(word) for word in lab.read("pids").split()] + [int(lab.read("pid"))]
        lab.serving.end(signal.SIGKILL)
        gone(*pids)
        lab.other.release("app", "b")  # while nobody serves it
        lab.serving.begin()
        until("a runs again", lambda: lab.read("pids").count("\n") == 2)
        lab.again()
        until("b is gone", lambda: lab.allocations() == {"a"})
        check(lab.read("log") == "begin\n", "b was not begun again")
        # Now the guard goes with it, so nobody ends them; the next one does.
        pids = [int(word) for word in lab.read("pids").split()[2:]]
        guard, = guards(lab.serving.process.pid)
        os.kill(guard, signal.SIGKILL)
        lab.serving.end(signal.SIGKILL)
        check(all(is_running(pid) for pid in pids), "they run on")
        lab.serving.begin()
        lab.serving.said("ended what an earlier rm serve had started and left: 2 processes")
        gone(*pids)
        until("a runs again", lambda: lab.read("pids").count("\n") == 3)
        lab.again()
        check(lab.allocations() == {"a"})
        check(lab.serving.end() == 0)


def test_a_lost_daemon_ends_no_command_and_nothing_is_started_twice():
    with Daemon() as daemon, Lab(daemon) as lab:
        lab.begin()
        lab.ask("a", HOLD)
        lab.ask("ends", "while [ ! -e $DATA/go ]; do sleep 0.01; done")
        lab.writes("log", "begin\n")
        pid = int(lab.read("pid"))
        lab.other.settled()  # so that its books have both
        for _ in range(3):
            daemon.restart()
            lab.serving.said("recovered: running")
            lab.again()
            until("both are there", lambda: lab.allocations() == {"a", "ends"})
        daemon.end()
        lab.serving.said("ykd is gone")
        open(lab.data + "/go", "w").close()  # it ends while there is no daemon
        lab.serving.said("app/ends: exit code 0; released")
        daemon.start()
        lab.serving.said("recovered: running")
        lab.again()
        until("it is given back", lambda: lab.allocations() == {"a"})
        check(is_running(pid) and lab.read("log") == "begin\n", lab.read("log"))


def test_without_books_what_the_daemon_forgot_ends():
    with Daemon() as daemon, Lab(daemon, state=False) as lab:
        lab.begin()
        lab.ask("a", HOLD)
        lab.writes("log", "begin\n")
        daemon.restart()
        lab.serving.said("ends what was started for 1 allocation that it had")
        lab.writes("log", "begin\nend\n")


def test_hooks():
    with Daemon() as daemon:
        data = daemon.folder + "/hooks"
        with Serving(daemon, *config_of(daemon), "--on", f"allocation=cat >>{data}; echo $YK_HOOK $YK_ALLOCATION_KEY >>{data}; exit 6",
                     "--on", f"release=cat >>{data}; echo $YK_HOOK $YK_TERMINATION_TYPE >>{data}") as serving:
            serving.runs()
            other = Other(daemon)
            other.node("n1")
            other.app("app")
            other.asks("app", "a", tags={"command": f"echo command >>{data}", "env.PATH": "/nowhere"})
            serving.said("app/a: hook allocation '")
            serving.said("': exit code 6")
            other.release("app", "a")

            def lines():
                return open(data, encoding="utf-8").read().splitlines()
            until("the second hook ran", lambda: len(lines()) == 4)
            allocation, first, release, second = lines()
            check(json.loads(allocation)["nodeID"] == "n1", allocation)
            check(json.loads(release)["allocationKey"] == "a", release)
            check((first, second) == ("allocation a", "release STOPPED_BY_RM"), first, second)
            check(serving.end() == 0)
        ykctl(daemon, "rm", "serve", "s", "--on", "sometimes=true", wanted=2)


def test_hostile_tags_and_names():
    with Daemon() as daemon, Lab(daemon) as lab:
        lab.begin()
        lab.other.app("../../x")
        key = "../../../etc/passwd\n"
        lab.ask(key.strip(), "echo $YK_ALLOCATION_KEY", app="../../x")
        name = f"{lab.out}/%2E%2E%2F%2E%2E%2Fx+%2E%2E%2F%2E%2E%2F%2E%2E%2Fetc%2Fpasswd.log"
        until("its file is there", lambda: os.path.exists(name))
        until("it has its output", lambda: open(name).read() == key)
        os.symlink("/dev/null", f"{lab.out}/app+link.log")
        lab.ask("link", "echo never")
        lab.serving.said("app/link: not started: ")
        lab.ask("lines", "echo one >>$DATA/lines\necho two >>$DATA/lines\n")
        lab.writes("lines", "one\ntwo\n")
        lab.ask("empty", "")
        lab.serving.said("app/empty: not started: the command is empty; released")
        lab.ask("nul", "true \0 x")
        lab.serving.said("app/nul: not started: a command and its environment cannot have a NUL byte; released")
        lab.ask("long", "echo long #" + "x" * 65525)  # as long as a tag can be
        lab.serving.said("app/long: exit code 0; released")
        lab.ask("name", "true", tags={"env.A B": "x"})
        lab.serving.said("app/name: not started: tag env.A B")
        lab.ask("terminal", "printf '\\033]0;x\\007'; printf '\\033[2J' >&2; echo $A", tags={"env.A": "$(echo no) `id` ; id"})
        lab.serving.said("app/terminal: exit code 0; released")
        check(lab.log("terminal").endswith("$(echo no) `id` ; id\n"), "tags are values, not commands")
        lab.ask("much", "head -c 20000000 /dev/zero")
        lab.serving.said("app/much: exit code 0; released")
        size = os.stat(f"{lab.out}/app+much.log").st_size
        check(10 << 20 <= size < (10 << 20) + 100, size)
        refused = lab.other.client.ask("UpdateAllocation", {"rmID": "s", "impersonate": True, "asks": [
            {"allocationKey": "mib", "applicationID": "app", "resourceAsk": {"vcore": 1}, "tags": {"command": "x" * (1 << 20)}}]},
            seq=lab.other.client.seq + 1)
        check(refused["err"]["name"] == "E_LIMIT", refused)
        until("nothing is placed", lambda: not lab.allocations() and not lab.allocations("../../x"))
        check(lab.serving.process.poll() is None)


def test_on_standard_error_output_is_harmless_lines():
    with Daemon() as daemon, Serving(daemon, *config_of(daemon), "--exec") as serving:
        serving.runs()
        other = Other(daemon)
        other.node("n1")
        other.app("app")
        other.asks("app", "a", tags={"command": "printf '\\033[2Jred\\nsecond\\nrest'"})
        serving.said("app/a: ?[2Jred\napp/a: second\napp/a: rest\n")
        serving.said("app/a: exit code 0; released")


def test_many_at_once():
    with Daemon() as daemon, Lab(daemon, "--max-commands", "50") as lab:
        lab.begin()
        lab.other.asks("app", *(f"k{i}" for i in range(300)), tags={"command": "echo $YK_ALLOCATION_KEY"})
        lab.other.settled()
        until("all were given back", lambda: len({one[0] for one in lab.released()}) == 300 and not lab.allocations())
        check(all(lab.log(f"k{i}") == f"k{i}\n" for i in range(300)))
        check(guards(lab.serving.process.pid) and len(children(lab.serving.process.pid)) == 1, "no zombies")


main(globals())
