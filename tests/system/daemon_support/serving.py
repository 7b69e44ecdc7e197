# SPDX-License-Identifier: Apache-2.0
"""`ykctl rm serve` as a process, and what others do for its RM meanwhile."""
import json
import os
import signal
import subprocess
import time

from daemon_support import CONFIG, DEADLINE, check, kill, until

YKCTL = os.path.join(os.environ["YK_BIN"], "ykctl")
RUNNING, FAILED = 1, 3


def ykctl(daemon, *words, wanted=0):
    done = subprocess.run([YKCTL, "--strict", "-s", "ipc://" + daemon.path, "-r", "s", *words], capture_output=True, text=True, check=False)
    check(done.returncode == wanted, words, "ended with", done.returncode, done.stdout[-500:], done.stderr)
    return done.stdout + done.stderr


class Serving:
    """A process `ykctl rm serve s`; its notes are in a file. Ended by the with statement."""

    def __init__(self, daemon, *words, path=None, prints=True, env=None):
        self.daemon, self.url, self.words, self.folder = daemon, "ipc://" + (path or daemon.path), words, daemon.folder
        self.env = {**os.environ, **(env or {})}
        self.printed = self.folder + "/items" if prints else os.devnull
        self.begin()

    def begin(self):
        with open(self.folder + "/notes", "ab") as notes, open(self.printed, "ab") as items:
            self.read = notes.tell()
            self.process = subprocess.Popen([YKCTL, "-s", self.url, "rm", "serve", "s", *self.words, "-o", "jsonl"],
                                            stdin=subprocess.DEVNULL, stdout=items, stderr=notes, env=self.env)

    def notes(self):
        """All that it said since the last said()."""
        with open(self.folder + "/notes", encoding="utf-8") as file:
            return file.read()[self.read:]

    def said(self, text):
        """Waits until it says that; what it says from then on counts for the next."""
        until(f"rm serve says {text!r}", lambda: text in self.notes())
        self.read += self.notes().index(text) + len(text)

    def runs(self):
        """Waits until the RM is Running, and served."""
        def is_running():
            check(self.process.poll() is None, "rm serve ended with", self.process.returncode)
            rm = rms(self.daemon).get("s", {})
            return rm.get("state") == RUNNING and rm.get("served")
        until("the RM is Running, and served", is_running)

    def items(self):
        with open(self.printed, encoding="utf-8") as file:
            return [json.loads(line) for line in file.read().splitlines(keepends=True) if line.endswith("\n")]

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(DEADLINE)

    def restart(self, number=signal.SIGKILL):
        self.end(number)
        self.begin()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        kill(self.process)
        if kind is not None:
            print("--- rm serve said ---\n" + open(self.folder + "/notes", encoding="utf-8").read())


def rms(daemon):
    client = daemon.client()
    found = {one["rmID"]: one for one in client.get("Status")["rms"]}
    client.close()
    return found


class Other:
    """What others do for the RM, over one connection."""

    def __init__(self, daemon):
        self.client = daemon.client()

    def send(self, kind, **body):
        """Again and again while the RM is recovering (E_BUSY)."""
        while True:
            reply = self.client.ask(kind, {"rmID": "s", "impersonate": True, **body}, seq=self.client.seq + 1)
            if reply["ok"]:
                self.client.seq += 1
                return
            check(reply["err"]["retryable"], kind, reply["err"])
            time.sleep(0.01)

    def node(self, name, vcore=1000, action=1):
        self.send("UpdateNode", nodes=[{"nodeID": name, "action": action, "schedulableResource": {"vcore": vcore}}])

    def app(self, name, **more):
        self.send("UpdateApplication", new=[{"applicationID": name, "queueName": "root.a", "ugi": {"user": "u"}, **more}])

    def asks(self, app, *keys, vcore=1, **more):
        self.send("UpdateAllocation", asks=[{"allocationKey": key, "applicationID": app, "resourceAsk": {"vcore": vcore}, **more}
                                            for key in keys])

    def release(self, app, key):
        self.send("UpdateAllocation", releases={"allocationsToRelease": [{"applicationID": app, "allocationKey": key}]})

    def contents(self):
        nodes = {node["nodeID"]: (node["capacity"].get("vcore"), node["schedulable"])
                 for group in self.client.dump("nodes", rmID="s") for node in group["nodesInfo"]}
        asks = {}
        for app in self.client.dump("apps", rmID="s"):
            whole = self.client.dump("app", application=app["applicationID"], rmID="s")
            asks[app["applicationID"]] = {
                **{one["allocationKey"]: (one["nodeId"], one["resource"]["vcore"], one["requestTime"] // 10**9)
                   for one in whole.get("allocations", [])},
                **{one["allocationKey"]: (None, one["resource"]["vcore"], one["requestTime"] // 10**9)
                   for one in whole.get("requests", [])}}
        return nodes, asks

    def settled(self):
        """Waits until the process has acknowledged all it was told. Returns what the RM has then."""
        def is_taken():
            self.client.get("Sync", {"rmID": "s", "impersonate": True})
            stream = self.client.dump("streams", rmID="s")[0]
            return stream["items"] == 0
        until("everything is acknowledged", is_taken)
        return self.contents()


def config_of(daemon):
    return ("--config", daemon.write("queues.yaml", CONFIG))
