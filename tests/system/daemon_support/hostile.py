# SPDX-License-Identifier: Apache-2.0
"""What a terminal obeys, in names and texts, and every command of ykctl beside it: for cli_hostile.py and cli_hostile_answers.py."""
from daemon_support import *

import concurrent.futures
import contextlib
import json
import re
import sqlite3

YKCTL = os.path.join(os.environ["YK_BIN"], "ykctl")
OBEYED = set(range(0x80, 0xa0)) | set(range(0x202a, 0x202f)) | set(range(0x2066, 0x206a)) | (set(range(0x20)) - {10}) | {127}
C1, TURN = "\u009b31m", "\u202e\u2066"
NAME = "x" + C1 + TURN  # what an identifier may hold (I-006)
TEXT = NAME + "\x1b]0;owned\x07\r\x7f\u0085"  # what a text may, and any answer of a daemon that is none of ours
FORMS = (("wide", "always"), ("json", "never"), ("yaml", "never"), ("name", "never"))  # jsonl: as json
COLOURS = re.compile("\x1b\\[[0-9;]*m")  # ykctl's own; TEXT has no escape of this form

# What each command is called with. @F: a folder with files; NAME: an object of that name. A list in a list: several ways.
COMMANDS = {
    "status": [[]], "ping": [[], ["--wait"]], "health": [[]], "version": [[]], "whoami": [[]], "can-i": [["node", "drain", NAME], [NAME]], "top": [["--once"]], "audit": [[], ["--who", NAME]], "metrics": [[], ["--grep", "yunikorn"]], "events": [[], ["--object", NAME]],
    "rm list": [[]], "rm show": [[NAME], ["no" + NAME]], "rm log": [[NAME]],
    "rm register": [[NAME], ["other" + NAME, "--config", "@F/bad.yaml"]], "rm deregister": [["no" + NAME], [NAME]], "rm serve": None,
    "recovery done": [[NAME]], "recovery list": [["nodes", NAME], ["allocations", NAME], ["x" + NAME]],
    "recovery resolve": [["retry", NAME], ["x" + NAME, NAME]],
    "node list": [[]], "node show": [[NAME], ["no" + NAME]], "node add": [["n" + NAME, "-R", f"vcore=1,{NAME}=2"], ["-f", "@F/node.yaml"]],
    "node update": [[NAME, "-R", "vcore=1000"], ["no" + NAME, "-R", "vcore=1"]], "node drain": [[NAME], ["no" + NAME]],
    "node undrain": [[NAME], ["no" + NAME]], "node remove": [["no" + NAME], [NAME]],
    "queue list": [[]], "queue tree": [[]], "queue show": [["root.a"], ["root." + NAME]],
    "app list": [[], ["--state", "Rejected"]], "app show": [[NAME], ["refused" + NAME], ["no" + NAME]],
    "app add": [[NAME + "2", "-q", "root.a", "-u", NAME, "--tag", f"{NAME}={TEXT}"], [NAME, "-q", "root.no" + NAME], ["-f", "@F/app.yaml"]],
    "app remove": [["no" + NAME], [NAME]],
    "ask list": [[]], "ask show": [["waits" + NAME], ["no" + NAME]], "ask add": [[NAME, "--key", NAME + "2", "-R", NAME + "=1"], ["no" + NAME, "-R", "vcore=1"]],
    "ask remove": [["no" + NAME], ["waits" + NAME]],
    "alloc list": [[]], "alloc show": [[NAME], ["no" + NAME]], "alloc release": [["no" + NAME], [NAME, "--reason", TEXT]],
    "apply": [["-f", "@F/node.yaml"], ["-f", "@F/objects.yaml"], ["-f", "@F/no" + NAME]], "diff": [["-f", "@F/objects.yaml"]],
    "delete": [["-f", "@F/objects.yaml"], ["-f", "@F/app.yaml"]],
    "cluster fragmentation": [[], ["--nodes"]],
    "partition list": [[]], "partition show": [["default"], ["no" + NAME]],
    "user list": [[]], "user show": [["user"], ["no" + NAME]], "group list": [[]], "group show": [["staff"], ["no" + NAME]],
    "config show": [[]], "config check": [["@F/bad.yaml"], ["@F/good.yaml"], ["@F/no" + NAME]], "config diff": [["@F/good.yaml"], ["@F/bad.yaml"]],
    "config reload": [["--dry-run", "-f", "@F/good.yaml"], ["-f", "@F/bad.yaml"], ["-f", "@F/good.yaml"]], "config history": [[]],
    "config rollback": [["no" + NAME], ["no", "-m", NAME]], "config view-client": [[]], "config edit": [["-m", NAME]],
    "context add": [[NAME], ["x" + NAME]], "context use": [[NAME]], "context list": [[]], "context remove": [[NAME]],
    "explain app": [[NAME], ["no" + NAME]], "explain ask": [["waits" + NAME], [NAME]], "explain preemption": [["waits" + NAME]],
    "explain queue": [["root.a"], ["root." + NAME]], "explain node": [[NAME]], "explain user": [["user"], [NAME]],
    "explain config": [["queues"], ["service.password"], [NAME]], "explain placement": [["--user", "user", "--queue", "root.a"], ["--user", NAME]],
    "scenario run": [["@F/bad.yaml"], ["@F/scenario.yaml"]], "replay": [["@F/no" + NAME]], "replay gen": [["@F/gen" + NAME, "--nodes", "1", "--pods", "1"]],
    "recording play": [["@F/records"]], "recording verify": [["@F/records"]],
    "dump": [["all"], ["nodes"], ["x" + NAME]], "dump diff": [["@F/dump.json", "@F/other.json"]], "dump verify": [["@F/dump.json"], ["@F/bad.yaml"]],
    "log level": [[], [NAME], ["core", "x" + NAME]], "wait": [["node", NAME, "--for", "exists"], ["node/" + NAME, "--for", NAME], ["queue/" + NAME, "--for", "pending=0"], ["app", "no" + NAME, "--timeout", "10ms"]],
    "deployment create": [["new" + NAME, "-R", NAME + "=1", "--tag", f"{NAME}={TEXT}"], [NAME]], "deployment list": [[], ["-q", "root." + NAME]],
    "deployment apply": [["-f", NAME]], "deployment wait": [["no" + NAME], [NAME, "--for", "deleted", "--timeout", "1ms"]],
    "deployment watch": None, "deployment logs": [[NAME], ["no" + NAME], [NAME, "--replica", "0", "--attempt", "0"]],
    "deployment show": [[NAME], ["no" + NAME]], "deployment scale": [[NAME, "3"], ["no" + NAME, "1"]],
    "deployment set": [[NAME, "--tag", f"{NAME}={TEXT}", "-q", "root." + NAME], ["no" + NAME, "-q", "root.a"]],
    "deployment autoscale": [[NAME, "--metric", NAME + "=70"], [NAME, "--schedule", NAME], ["no" + NAME, "--metric", "load=7"]],
    "deployment metric": [[NAME, NAME + "=70"], [NAME, NAME], ["no" + NAME, "load=7"]],
    "deployment pause": [[NAME], ["no" + NAME]], "deployment resume": [[NAME], ["no" + NAME]],
    "deployment delete": [["no" + NAME], [NAME, "--mode", "x" + NAME], [NAME]], "mcs status": [[]],
    "mcs resync": [[], ["node"], [NAME]], "mcs reconcile": [["deployment", NAME], [NAME, NAME]],
    "mcs inspect": [["deployment", NAME], ["node", "no" + NAME], [NAME, NAME]], "mcs dead-letters": [[]],
    "mcs retry": [[], ["all", NAME], [NAME]], "mcs bump-epoch": [[], [NAME]], "mcs check": [["--db", "@F/no" + NAME], ["--db", "@F/mcs.db"], ["--db", "@F/bad.yaml"]],
    "mcs node create": [["new" + NAME, "-R", NAME + "=1", "--attribute", f"{NAME}={TEXT}"], [NAME, "-R", "vcore=1"]], "mcs node list": [[]],
    "mcs node set": [[NAME, "-R", "vcore=2"], ["no" + NAME, "-R", "vcore=2"]], "mcs node drain": [[NAME], ["no" + NAME]],
    "mcs node undrain": [[NAME], ["no" + NAME]], "mcs node delete": [["no" + NAME], [NAME]],
    "sched step": [["1"], ["x" + NAME]], "clock show": [[]], "clock advance": [["1s"], ["x" + NAME]],
    "completion": [["bash"], ["x" + NAME]], "help": [[], ["reasons"], ["x" + NAME]],
}
WATCHING = (["status", "--watch"], ["events", "--follow"], ["app", "list", "--watch"])  # and --trace-wire with each
FILES = {
    "bad.yaml": "partitions:\n  - name: default\n    queues:\n      - name: root\n        " + NAME + ": 1\n        submitacl: [" + NAME + "]\n",
    "good.yaml": CONFIG + "            limits:\n              - {limit: 'x" + TURN + "', users: [user], maxapplications: 5}\n",
    "node.yaml": f'nodeID: "f{NAME}"\nschedulableResource: {{"{NAME}": x}}\n',
    "objects.yaml": f'nodes: [{{nodeID: "{NAME}", attributes: {{"{NAME}": "{NAME}"}}}}]\napplications: [{{applicationID: "{NAME}", user: "{NAME}"}}]\n'
                    f'asks: [{{allocationKey: "waits{NAME}", applicationID: "{NAME}", resource: {{"{NAME}": 1}}}}]\n',
    "app.yaml": f'applicationID: "f{NAME}"\n"{NAME}": 1\n',
    "scenario.yaml": f'name: "{NAME}"\nclock: virtual\nsteps:\n  - "{NAME}": 1\n',
}


def obeyed_in(text):
    return sorted({hex(ord(letter)) for letter in COLOURS.sub("", text) if ord(letter) in OBEYED})


def help_of(*words):
    text = subprocess.run([YKCTL, *words, "--help"], check=True, capture_output=True, text=True).stdout
    names, section = [], None
    for line in text.splitlines():
        if re.match(r"\S.*:$", line):
            section = line
        entry = re.match(r"  (\S+)", line)
        if section == "Commands:" and entry:
            names.append(entry[1].strip(",").split(",")[0])
    return names


def commands():
    """`node list`, ... as the help names them; a noun that is a command itself, too (`dump`)."""
    found, nouns = [], [(name,) for name in help_of()]
    while nouns:
        noun = nouns.pop(0)
        below = help_of(*noun)
        nouns += [(*noun, each) for each in below]
        if not below or " ".join(noun) in COMMANDS:
            found.append(" ".join(noun))
    return found


def hostile_daemon(place):
    """With everything that a client can name."""
    daemon = Daemon("--manual-schedule", "--clock", "virtual", "--record", place + "/records", "--settings", "@conf",
                    files={"conf": f"mcs: {{enabled: true, db: {{url: 'sqlite:{place}/mcs.db'}}}}\n"})
    client = daemon.client()
    until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
    client.change("McsWrite", {"verb": "create", "kind": "deployment", "body": {
        "name": "web", "user": NAME, "groups": [NAME], "queue": "root." + NAME, "resource": {NAME: 1}, "tags": {NAME: TEXT}, "replicas": 2}})
    with contextlib.closing(sqlite3.connect(f"{place}/mcs.db", isolation_level=None)) as database:  # the daemon would refuse it
        database.execute("UPDATE deployment SET name = ?, version = version + 1", (NAME,))
    until("the name is known", lambda: client.get("McsRead", {"what": "list", "kind": "deployment"})["items"][0]["name"] == NAME)
    client.register(NAME, detached={}, version=TEXT[:len(NAME)], policyGroup="default",
                    extraConfig={"service.password": "x", "event.trackingEnabled": "true"}, config=FILES["good.yaml"])
    sent = lambda kind, **body: client.change(kind, {"rmID": NAME, **body})
    sent("UpdateNode", nodes=[
        {"nodeID": NAME, "action": 1, "attributes": {NAME: TEXT, "si.io/hostname": TEXT}, "schedulableResource": {"vcore": 1000, NAME: 5}},
        {"nodeID": "twice" + NAME, "action": 1, "schedulableResource": {"vcore": -1}}, {"nodeID": "no" + NAME, "action": 4}])
    sent("UpdateApplication", new=[
        {"applicationID": NAME, "queueName": "root.a", "ugi": {"user": "user", "groups": ["staff"]}, "tags": {NAME: TEXT}},
        {"applicationID": "refused" + NAME, "queueName": "root.no" + NAME, "ugi": {"user": "user", "groups": ["staff"]}},
        {"applicationID": "user" + NAME, "queueName": "root.a", "ugi": {"user": NAME, "groups": [NAME]}}])
    sent("UpdateAllocation", asks=[
        {"allocationKey": NAME, "applicationID": NAME, "resourceAsk": {"vcore": 10, NAME: 1}, "tags": {NAME: TEXT}, "taskGroupName": NAME},
        {"allocationKey": "waits" + NAME, "applicationID": NAME, "resourceAsk": {NAME: 50}},
        {"allocationKey": "node" + NAME, "applicationID": NAME, "resourceAsk": {"vcore": 1}, "tags": {"si.io/required-node": "no" + NAME}},
        {"allocationKey": NAME, "applicationID": "no" + NAME, "resourceAsk": {"vcore": 1}}],
        releases={"allocationsToRelease": [{"applicationID": "no" + NAME, "allocationKey": NAME, "terminationType": 1, "message": TEXT[:60]}]})
    client.change("Step", {"cycles": 10})
    late = "recovering" + NAME
    client.register(late, recovery={"id": "r" + NAME})
    client.change("UpdateAllocation", {"rmID": late, "allocations": [
        {"allocationKey": NAME, "applicationID": NAME, "nodeID": NAME, "resourcePerAlloc": {NAME: 1}}]})
    client.get("Sync", {"rmID": late})
    check(client.dump("app", application=NAME, rmID=NAME)["allocations"], "nothing was placed")
    daemon.keep = client
    return daemon


def run(address, words, place, *more):
    """(words, what it said on both streams); a command that hangs is a failure of the test."""
    words = [word.replace("@F", place) for word in words]
    ran = subprocess.run([YKCTL, "-s", "ipc://" + address, *more, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                         timeout=DEADLINE, env={**os.environ, "COLUMNS": "200", "EDITOR": "true", "VISUAL": "", "XDG_CONFIG_HOME": place})
    return words, ran.returncode, (ran.stdout + b"\n" + ran.stderr).decode()  # strict: UTF-8 it is


def served(address, place):
    """rm serve tells what it is told until it is ended."""
    with subprocess.Popen([YKCTL, "-s", "ipc://" + address, "rm", "serve", "served" + NAME, "--config", place + "/good.yaml"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as server:
        run(address, ["-r", "served" + NAME, "wait", "node", "no" + NAME, "--timeout", "300ms"], place)
        run(address, ["-r", "served" + NAME, "node", "add", NAME, "-R", NAME + "=1"], place)
        run(address, ["-r", "served" + NAME, "wait", "node", NAME, "--for", "exists"], place)
        server.terminate()
        return ["rm", "serve"], 0, server.communicate(timeout=DEADLINE)[0].decode()


def watching(address, place, *words):
    """A command that runs on until it is ended; while it does, something happens."""
    with subprocess.Popen([YKCTL, "-s", "ipc://" + address, "-r", NAME, "--trace-wire", *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as watch:
        run(address, ["-r", NAME, "node", "add", "w" + NAME, "-R", "vcore=1"], place)
        run(address, ["-r", NAME, "wait", "node", "no" + NAME, "--timeout", "300ms"], place)
        watch.terminate()
        return list(words), 0, watch.communicate(timeout=DEADLINE)[0].decode()


def try_all(address, place, forms):
    """The order matters only where something goes: that comes last."""
    jobs = [(command.split() + words, ("-r", NAME, "-o", form, "--color", colour, "--timeout", "1s"))
            for command, ways in COMMANDS.items() if ways is not None
            for words in ways for form, colour in forms]
    last = ("deregister", "remove", "rollback", "reload", "release")
    jobs.sort(key=lambda job: any(word in last for word in job[0][:2]))
    said = []
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for going in (False, True):  # what takes something away only when all the others are done
            part = [job for job in jobs if any(word in last for word in job[0][:2]) == going]
            said += list(pool.map(lambda job: run(address, job[0], place, *job[1]), part))
    return said + [served(address, place)] + [watching(address, place, *words) for words in WATCHING]


def judge(said):
    crashed = {" ".join(words): text[-300:] for words, code, text in said if code < 0}
    check(not crashed, "ended by a signal:", *(f"\n  {command!r}: {text!r}" for command, text in crashed.items()))
    faults = {" ".join(words): (obeyed_in(text), [line for line in text.splitlines() if obeyed_in(line)][:2])
              for words, _, text in said if obeyed_in(text)}
    check(not faults, len(faults), "commands hand on what a terminal obeys:", *(f"\n  {command!r}: {fault}" for command, fault in faults.items()))
    print(" ", len(said), "outputs,", sum(code == 0 for _, code, _ in said), "of success")


def files_in(place, daemon):
    for name, text in FILES.items():
        with open(f"{place}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    _, _, dump = run(daemon.path, ["dump", "all"], place)
    for name, text in (("dump.json", dump.split("\n\n")[0]), ("other.json", dump.split("\n\n")[0].replace("Running", "Completing"))):
        with open(f"{place}/{name}", "w", encoding="utf-8") as file:
            file.write(json.dumps(json.loads(text), ensure_ascii=False))  # not escaped, as another program might write it
