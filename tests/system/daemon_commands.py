# SPDX-License-Identifier: Apache-2.0
"""Commands of deployments: replicas on nodes of kind `local` run as processes of ykd's machine."""
import pwd
import sqlite3

from daemon_support import *
from daemon_support.processes import gone, is_running
from daemon_support.running import Running, told
from daemon_support.serving import ykctl

AS = "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
UID = pwd.getpwnam(AS).pw_uid
RUN_AS = ", runAs: nobody" if os.getuid() == 0 else ""
OWN = f"uid {os.getuid()}"


def conf(local=f"users: ['{OWN}'], queues: [root.web]{RUN_AS}", more=""):
    return f"mcs: {{enabled: true, local: {{enabled: true, grace: 2s, {local}}}{more}}}\n"


def hosted(settings=None, **more):
    return Daemon("--state", "@.", "--settings", "@conf", files={"conf": settings or conf()}, **more)


def ready(daemon, **hello):
    client = daemon.client(**hello)
    until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
    return client


def node(client, name="here", vcore=4000):
    client.change("McsWrite", {"verb": "create", "kind": "node", "id": name,
                               "body": {"resource": {"vcore": vcore}, "tags": {"kind": "local"}}})


def create(client, name, command, replicas=1, tags=None, **body):
    client.change("McsWrite", {"verb": "create", "kind": "deployment", "body": {
        "name": name, "user": "u", "queue": "root.web", "resource": {"vcore": 1000}, "replicas": replicas,
        "tags": {"command": command, **(tags or {})}, **body}})


def change(client, verb, name, **body):
    client.change("McsWrite", {"verb": verb, "kind": "deployment", "id": name, "body": body})


def shown(client, name):
    return client.get("McsRead", {"what": "describe", "kind": "deployment", "id": name})["item"]


def placements(client, name):
    return shown(client, name).get("schedule", {}).get("placements", [])


def states(client, name):
    return [one.get("command", {}).get("state") for one in placements(client, name)]


def read(client, name, replica, attempt=None):
    """All that a replica has written."""
    if attempt is None:
        known = {one["replica"]: one["attempt"] for one in client.get("McsRead", {"what": "logs", "id": name})["items"]}
        if replica not in known:
            return ""
        attempt = known[replica]
    text, cursor = "", f"{replica}.{attempt}.0"
    while True:
        reply = client.ask("McsRead", {"what": "logs", "id": name, "cursor": cursor})
        if not reply["ok"]:
            check(reply["err"]["name"] == "E_NOT_FOUND", reply)
            return text
        part = reply["body"]
        text, cursor = text + part["text"], part["cursor"]
        if not part["text"]:
            return text


def says(client, name, replica, text):
    until(f"{name}/{replica} says {text!r}", lambda: text in read(client, name, replica))


def pids(client, name, replicas):
    """The process of each, which it has written."""
    found = {}
    def all_have():
        for replica in range(replicas):
            lines = [line for line in read(client, name, replica).splitlines() if line.startswith("pid ")]
            if lines:
                found[replica] = int(lines[-1].split()[1])
        return len(found) == replicas
    until(f"{replicas} of {name} run", all_have)
    return found


HOLD = "trap 'echo end; exit 0' TERM; echo pid $$; while :; do sleep 0.02; done"


def test_replicas_run_as_processes():  # rs, Doing the work
    with hosted() as daemon:
        client = ready(daemon)
        node(client)
        create(client, "web", "echo $YK_NODE_ID $MCS_REPLICA $GREETING $YK_RESOURCE_VCORE; id -u; id -G; " + HOLD, 3,
               {"env.GREETING": "hello there", "team": "a"})
        running = pids(client, "web", 3)
        check(states(client, "web") == ["running"] * 3, placements(client, "web"))
        commands = client.get("McsRead", {"what": "status"})["commands"]
        check(commands == {"replicas": 3, "running": 3, "most": 1000}, commands)
        lines = read(client, "web", 1).splitlines()
        check(lines[0] == "here 1 hello there 1000" and lines[1] == str(UID) and "0" not in lines[2].split(), lines)
        with open(f"/proc/{running[0]}/status", encoding="utf-8") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
        check(status["CapEff"].strip("0") == "", status["CapEff"])
        if os.getuid() == 0:
            check(status["NoNewPrivs"] == "1", status)
        item = shown(client, "web")
        check(item["submittedBy"] == OWN and set(item["tags"]) == {"command", "env.GREETING", "team"}, item)
        change(client, "scale", "web", replicas=1)
        gone(running[1], running[2])
        check(is_running(running[0]))
        until("one is left", lambda: len(placements(client, "web")) == 1)
        client.change("McsWrite", {"verb": "delete", "kind": "deployment", "id": "web"})
        gone(running[0])
        check({os.stat(f"{daemon.folder}/mcs-output/{one}").st_mode & 0o777 for one in os.listdir(daemon.folder + "/mcs-output")}
              == {0o600})


def test_the_place_is_free_when_the_command_has_ended():
    slow = "trap 'sleep 0.5; date +%s%N; exit 0' TERM; echo pid $$; while :; do sleep 0.02; done"
    with hosted() as daemon:
        client = ready(daemon)
        node(client, vcore=1000)
        create(client, "first", slow)
        old = pids(client, "first", 1)[0]
        first = shown(client, "first")["schedule"]
        create(client, "second", "date +%s%N; " + HOLD)
        until("the second waits", lambda: [one["state"] for one in placements(client, "second")] == ["Pending"])
        change(client, "scale", "first", replicas=0)
        pids(client, "second", 1)
        check(not is_running(old))
        attempt = first["placements"][0]["attempt"]
        ended = int(read(client, "first", 0, attempt).split()[-1])
        began = int(read(client, "second", 0).split()[0])
        check(ended < began, ended, began)
        # The same with everything at once: the application is removed when all of it has ended.
        create(client, "third", "date +%s%N; " + HOLD)
        until("the third waits", lambda: [one["state"] for one in placements(client, "third")] == ["Pending"])
        other = pids(client, "second", 1)[0]
        client.change("McsWrite", {"verb": "delete", "kind": "deployment", "id": "second"})
        pids(client, "third", 1)
        check(not is_running(other))


def test_commands_end_with_ykd_and_begin_with_it():  # rs R-064, rs F-13
    with hosted() as daemon:
        client = ready(daemon)
        node(client)
        create(client, "web", HOLD, 2)
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            old = pids(client, "web", 2)
            before = placements(client, "web")
            daemon.restart(number)
            gone(*old.values())
            client = ready(daemon)
            until("they run again", lambda: set(pids(client, "web", 2).values()).isdisjoint(old.values()))
            check([(one["replica"], one["attempt"]) for one in placements(client, "web")] ==
                  [(one["replica"], one["attempt"]) for one in before], "no replica moves")
        check(read(client, "web", 0).count("end\n") == 1, "only SIGTERM gives the time to say so")


def test_what_ends_is_started_again_or_placed_anew():
    with hosted() as daemon:
        client = ready(daemon)
        node(client)
        create(client, "again", "echo run $(date +%s); exit 3")
        until("it runs again", lambda: read(client, "again", 0).count("run") >= 2)
        until("why is shown", lambda: "exit code 3" in str(placements(client, "again")))
        check(placements(client, "again")[0]["attempt"] == 0, "in its place")
        create(client, "once", "echo ran; exit 4", tags={"restart": "never"})
        until("it is over", lambda: "exit code 4" in str(placements(client, "once")))
        until("it is placed anew", lambda: [one["attempt"] > 0 for one in placements(client, "once")] == [True])
        until("it runs there, too", lambda: "ran" in read(client, "once", 0))
        for tag, value in (("restart", "sometimes"), ("env.YK_A", "1"), ("env.A B", "c")):  # which no node could begin
            refused = client.refused("E_INVALID", "McsWrite", {"verb": "create", "kind": "deployment", "body": {
                "name": "wrong", "user": "u", "resource": {"vcore": 1000}, "tags": {"command": "true", tag: value}}}, mutating=True)
            check(refused["path"] == "body.tags." + tag, refused)


def test_what_runs_is_taken_from_a_directory_of_this_user_only():  # rs, Doing the work
    with hosted() as daemon:
        ready(daemon)
        daemon.signal(signal.SIGTERM)
        daemon.exit_code()
        for mode in (0o770, 0o777):
            os.chmod(daemon.folder, mode)
            with Daemon("--state", daemon.folder, "--settings", daemon.folder + "/conf", wait=False) as other:
                check(other.exit_code() == 1)
                check(f"may be written by others (mode {mode:04o}; chmod go-w)" in other.text(), other.text())
        os.chmod(daemon.folder, 0o755)
        daemon.start()
        ready(daemon)


def test_another_command_takes_the_place_of_the_first():  # rs R-127
    with hosted() as daemon:
        client = ready(daemon)
        node(client)
        create(client, "web", HOLD, 3, {"team": "a"})
        old = pids(client, "web", 3)
        name = shown(client, "web")["schedule"]["applicationID"]
        ykctl(daemon, "deployment", "set", "web", "--command", "echo second; " + HOLD, "--env", "A=b", "--wait")
        for replica in range(3):
            says(client, "web", replica, "second")
        gone(*old.values())
        item = shown(client, "web")
        check(item["tags"]["team"] == "a" and item["tags"]["env.A"] == "b", item["tags"])
        check(item["schedule"]["applicationID"] == name and item["schedule"]["current"], item["schedule"])


def test_a_change_takes_a_quarter_at_a_time_and_no_two_lives_meet():  # rs R-127, rs R-171
    with hosted() as daemon:
        client = ready(daemon)
        node(client, vcore=100_000)
        places = daemon.folder + "/places"
        os.mkdir(places)
        os.chmod(places, 0o777)
        os.chmod(daemon.folder, 0o755)
        command = (f"exec 9>>{places}/$MCS_REPLICA; flock -n 9 || {{ echo taken; exit 1; }}; trap 'sleep 0.4; exit 0' TERM; "
                   "echo %s; while :; do sleep 0.02 9>&-; done")
        create(client, "web", command % "first", 4)
        for replica in range(4):
            says(client, "web", replica, "first")
        began, away = time.monotonic(), []
        with Running(daemon, "deployment", "set", "web", "--command", command % "second", "--wait") as change_:
            while change_.process.poll() is None:
                away.append(4 - states(client, "web").count("running"))
                time.sleep(0.01)
            change_.ends(0)
        check(time.monotonic() - began > 1.6, "they did not go one by one:", time.monotonic() - began)
        check(max(away) <= 2, "so many were away at once:", away)  # one that ends, and one that is about to begin
        for replica in range(4):
            says(client, "web", replica, "second")
            check("taken" not in read(client, "web", replica), read(client, "web", replica))


def refusal(client, name):
    until("it is refused", lambda: states(client, name) == ["refused"])
    return placements(client, name)[0]["command"]["why"]


def test_who_may_have_commands_run():
    with hosted(conf("users: [nobody-like-this], queues: [root.web]" + RUN_AS)) as daemon:
        client = ready(daemon)
        node(client)
        create(client, "web", "true")
        why = refusal(client, "web")
        said = told(daemon, "deployment", "create", "new", "--command", "true", "--queue", "root.web", "-R", "vcore=1", "--wait", status=7)
        check("deployment new is placed, but 1 command refused: " in said and "mcs.local.users" in said, said)
        check(f"given by {OWN}" in why and "mcs.local.users" in why, why)
        until("it is logged", lambda: why in daemon.text())
        client.refused("E_INVALID", "McsWrite", {"verb": "set", "kind": "deployment", "id": "web", "body": {
            "tags": {"command": "true", "mcs.submittedBy": "uid 1"}}}, mutating=True)
    with hosted(conf(f"users: ['{OWN}'], queues: [root.db]" + RUN_AS)) as daemon:
        client = ready(daemon)
        node(client)
        create(client, "web", "true")
        check("queue root.web is not among mcs.local.queues" in refusal(client, "web"))
    with hosted(conf(f"users: ['{OWN}'], queues: [root], runAs: no-such-account")) as daemon:
        client = ready(daemon)
        node(client)
        create(client, "web", "true")
        check("there is no account no-such-account" in refusal(client, "web"))
    if os.getuid() == 0:
        with hosted(conf("users: [root], queues: [root]")) as daemon:
            client = ready(daemon)
            node(client)
            create(client, "web", "true")
            check("never run as root" in refusal(client, "web"))
    with hosted("mcs: {enabled: true}\n") as daemon:
        client = ready(daemon)
        refused = client.refused("E_INVALID", "McsWrite", {"verb": "create", "kind": "node", "id": "n", "body": {
            "resource": {"vcore": 1}, "tags": {"kind": "local"}}}, mutating=True)
        check("mcs: {local: {enabled: true}}" in refused["message"], refused)
        client.refused("E_BAD_STATE", "McsRead", {"what": "logs", "id": "web"})


def test_output_is_for_admins_and_whoever_gave_the_command():
    with hosted() as daemon:
        client = ready(daemon)
        node(client)
        create(client, "web", "printf 'a\\tb\\377c\\033[2J'; " + HOLD)
        says(client, "web", 0, "pid")
        check(read(client, "web", 0).startswith("a\tb?c\x1b[2J"), read(client, "web", 0))
        other = daemon.client(role="observer")  # of the same user
        check("pid" in read(other, "web", 0))
        with sqlite3.connect(daemon.folder + "/mcs.db", timeout=20) as base:
            base.execute("UPDATE deployment SET version = version + 1,"
                         " tags = replace(tags, ?, 'uid 4294967000')", (OWN,))
        until("it is seen", lambda: shown(client, "web")["submittedBy"] == "uid 4294967000")
        other.refused("E_FORBIDDEN", "McsRead", {"what": "logs", "id": "web"})
        for wrong in ("x", "1", "1.2", "1.2.", "1.2.3.4", "1.2.-3", "1.2.99999999999999999999"):
            client.refused("E_INVALID", "McsRead", {"what": "logs", "id": "web", "cursor": wrong})
        client.refused("E_NOT_FOUND", "McsRead", {"what": "logs", "id": "web", "cursor": "7.0.0"})
        client.refused("E_NOT_FOUND", "McsRead", {"what": "logs", "id": "nobody"})


def test_commands_begin_again_where_all_else_waits_for_a_resync():  # rs R-068, rs R-170
    with hosted(conf(more=", start: {initialAdd: false}, resync: {period: 0s}")) as daemon:
        client = ready(daemon)
        node(client)
        create(client, "web", HOLD, 2)
        old = pids(client, "web", 2)
        daemon.restart(signal.SIGTERM)
        client = ready(daemon)
        until("they run again", lambda: set(pids(client, "web", 2).values()).isdisjoint(old.values()))


def test_a_daemon_without_commands_has_no_local_nodes():  # rs R-177
    with hosted() as daemon:
        client = ready(daemon)
        node(client)
        create(client, "web", HOLD, 2)
        old = pids(client, "web", 2)
        daemon.write("conf", "mcs: {enabled: true}\n")
        daemon.restart(signal.SIGTERM)
        gone(*old.values())
        client = ready(daemon)
        until("nothing seems to run", lambda: shown(client, "web")["schedule"]["placed"] == 0)
        check("runs no commands" in str(client.get("McsRead", {"what": "list", "kind": "node"})["items"]))
        daemon.write("conf", conf())
        daemon.restart(signal.SIGTERM)
        client = ready(daemon)
        check(set(pids(client, "web", 2).values()).isdisjoint(old.values()))


def test_one_daemon_alone_runs_commands():  # rs R-145
    with hosted() as one:
        ready(one)
        where = f", db: {{url: 'sqlite:{one.folder}/mcs.db'}}"
        for settings in (f"mcs: {{enabled: true{where}}}\n", conf(more=where)):
            with hosted(settings, wait=False) as second:
                check(second.exit_code() == 1 and f"in use by process {one.process.pid}" in second.text(), second.text())
    with hosted(conf(more=", db: {url: 'postgresql://127.0.0.1:1/x'}"), wait=False) as daemon:
        check(daemon.exit_code() == 1 and "SQLite alone" in daemon.text(), daemon.text())
    with hosted(conf("runAs: root"), wait=False) as daemon:
        check(daemon.exit_code() != 0 and "never run as root" in daemon.text(), daemon.text())


def test_ykctl_shows_what_runs():
    with hosted() as daemon:
        client = ready(daemon)
        ykctl(daemon, "mcs", "node", "create", "here", "--local", "-R", "vcore=4")
        ykctl(daemon, "deployment", "create", "web", "-q", "root.web", "--replicas", "2", "--wait", "--command",
                     "echo first; echo second; printf third", "--restart", "never", "--env", "A=b")
        until("both have written", lambda: all("third" in read(client, "web", one) for one in (0, 1)))
        text = ykctl(daemon, "deployment", "logs", "web")
        check("0: first\n0: second\n0: third\n" in text and "1: third\n" in text, text)
        check(ykctl(daemon, "deployment", "logs", "web", "--replica", "1", "--lines", "1") in ("third\n", ""))
        said = ykctl(daemon, "deployment", "logs", "web", "--replica", "7", wanted=4)
        check("web has no replica 7: it has 2, from 0 on" in said, said)
        check("of 1000 run, for 2 replicas" in ykctl(daemon, "mcs", "status"))
        said = ykctl(daemon, "mcs", "node", "set", "here", "-a", "kind=foo", wanted=1)
        check("the kind of a node stays, and this one is local" in said and "delete the node" in said, said)
        ykctl(daemon, "mcs", "node", "set", "here", "-a", "kind=local")
        shows = ykctl(daemon, "deployment", "show", "web")
        check("COMMAND" in shows and "given by" in shows, shows)
        ykctl(daemon, "deployment", "create", "api", "-q", "root.web", "--replicas", "2", "--wait", "--command", "sleep 600")
        listed = lambda name: next(line for line in ykctl(daemon, "deployment", "list").splitlines() if line.startswith(name))
        until("both run, and that is nothing to say", lambda: ", " not in listed("api") and "Scheduled" in listed("api"))
        ykctl(daemon, "deployment", "create", "no", "-q", "root.other", "--replicas", "1", "--wait", "--command", "sleep 600", wanted=7)
        until("what does not run is listed", lambda: "Scheduled, 0 of 1 run" in listed("no"))
        for name in ("api", "no"):
            ykctl(daemon, "deployment", "delete", name, "--wait")
        ykctl(daemon, "deployment", "logs", "nobody", wanted=4)
        ykctl(daemon, "deployment", "logs", "web", "--attempt", "1", wanted=2)
        ykctl(daemon, "deployment", "create", "many", "-q", "root.web", "--replicas", "1", "--wait", "--command",
              "seq 20000; exec sleep 1000")
        until("it has written", lambda: "20000" in ykctl(daemon, "deployment", "logs", "many", "--lines", "1"))
        attempt = str(client.get("McsRead", {"what": "logs", "kind": "deployment", "id": "many"})["items"][0]["attempt"])
        one = ("deployment", "logs", "many", "--replica", "0", "--attempt", attempt, "--lines")
        check(ykctl(daemon, *one, "3") == "19998\n19999\n20000\n")
        for each in (one, ("deployment", "logs", "many", "--replica", "0", "--lines")):
            lines = ykctl(daemon, *each, "15000").splitlines()  # more than is looked at first
            check(lines == [str(number) for number in range(5001, 20001)], len(lines), lines[:2])
        check(len(ykctl(daemon, *one, "30000").splitlines()) == 20000)
        row = client.get("McsRead", {"what": "describe", "kind": "deployment", "id": "many"})["item"]
        looked_at = client.change("McsWrite", {"verb": "reconcile", "kind": "deploymentscale", "id": "many"})
        check(looked_at["id"] == row["id"], looked_at)
        began = time.monotonic()
        ykctl(daemon, "deployment", "delete", "many", "--mode", "orphan", "--wait")  # what it has goes on
        check(time.monotonic() - began < 20)


main(globals())
