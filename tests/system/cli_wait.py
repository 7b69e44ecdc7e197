# SPDX-License-Identifier: Apache-2.0
"""ykctl wait and ping --wait: what can be waited for (annoyances of the administrator's day: section 5, 1, 2 and 5)."""
import json
import threading
import time

from daemon_support import *
from daemon_support.running import Running, told

QUEUES = """partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: batch
            queues:
              - {name: night, resources: {max: {vcore: 5}}}
              - {name: day}
"""


def later(action):
    thread = threading.Timer(0.3, action)
    thread.start()
    return thread


def filled():
    daemon = Daemon("--config", "@q.yaml", files={"q.yaml": QUEUES})
    told(daemon, "rm", "register", "a")
    told(daemon, "node", "add", "n", "-R", "vcore=100")
    told(daemon, "app", "add", "x", "-q", "root.batch.night")
    told(daemon, "app", "add", "y", "-q", "root.batch.day")
    told(daemon, "ask", "add", "x", "-n", "8", "-R", "vcore=1")
    told(daemon, "ask", "add", "y", "-n", "2", "-R", "vcore=1")
    return daemon


def test_a_daemon_that_is_being_started():
    with Daemon() as daemon:
        daemon.end(signal.SIGTERM)
        for words in (("wait", "daemon"), ("ping", "--wait")):
            with Running(daemon, *words, "--timeout", "500ms") as command:
                check("tried for 500ms" in command.ends(7), command.err)
        with Running(daemon, "wait", "daemon") as command, Running(daemon, "ping", "--wait") as pinging:
            time.sleep(0.3)
            check(command.process.poll() is None and pinging.process.poll() is None, command.err, pinging.err)
            daemon.start()
            command.ends(0)
            pinging.ends(0)
            check("the daemon answers" in command.out and "answered 1 ping" in pinging.out, command.out, pinging.out)
        daemon.end(signal.SIGTERM)
        with Running(daemon, "wait", "daemon") as command:
            time.sleep(0.2)
            command.signal(signal.SIGINT)
            command.ends(130)


def test_counts_of_an_application_a_node_and_a_queue():
    with filled() as daemon:
        told(daemon, "wait", "queue/root.batch", "--for", "pending=3")
        told(daemon, "wait", "queue/root.batch.night", "--for", "allocations=5")
        told(daemon, "wait", "queue/root.batch", "--for", "allocations=7")
        told(daemon, "wait", "queue/root.batch", "--for", "apps=2")
        told(daemon, "wait", "app/x", "--for", "allocations>=5")
        told(daemon, "wait", "app/x", "--for", "pending<=3")
        told(daemon, "wait", "app/x", "app/y", "--for", "allocations<=5")
        told(daemon, "wait", "node/n", "--for", "allocations=7")
        said = told(daemon, "--timeout", "300ms", "wait", "queue/root.batch.night", "--for", "pending=0", status=7)
        check("queue root.batch.night has 3 asks pending still, after 300ms" in said, said)
        check("why?  ykctl explain queue root.batch.night" in said, said)
        timer = later(lambda: told(daemon, "ask", "remove", "--app", "x", "--all"))
        said = told(daemon, "wait", "queue/root.batch", "--for", "pending=0")
        timer.join()
        check("has 0 asks pending" in said, said)
        shown = json.loads(told(daemon, "wait", "app/x", "--for", "allocations=5", "-o", "json"))
        check(shown["item"]["object"] == "app/x" and shown["item"]["is"] == "has 5 allocations", shown)


def test_what_has_ended_will_have_nothing_more():
    with filled() as daemon:
        told(daemon, "app", "add", "refused", "-q", "root.nothing", status=1)
        began = time.monotonic()
        said = told(daemon, "wait", "app/refused", "--for", "allocations=9", status=1)
        check("has 0 allocations and is Rejected and stays so" in said and time.monotonic() - began < 10, said)
        told(daemon, "app", "remove", "x")
        told(daemon, "wait", "app/x", "--for", "allocations=9", status=4)
        told(daemon, "wait", "app/x", "--for", "gone")


def test_what_is_to_come():
    with filled() as daemon:
        timer = later(lambda: told(daemon, "node", "add", "late", "-R", "vcore=1"))
        check("node late is there" in told(daemon, "wait", "node/late", "--for", "present"))
        timer.join()
        told(daemon, "wait", "queue/root.batch.day", "--for", "present")
        told(daemon, "wait", "queue/root.nothing", "--for", "gone")


def test_idle_is_when_nothing_is_left_to_do():
    with filled() as daemon:
        for _ in range(5):
            told(daemon, "ask", "add", "y", "-n", "3000", "-R", "vcore=100m", "--quiet")
            check("nothing is left to do" in told(daemon, "wait", "idle"))
            counts = json.loads(told(daemon, "status", "-o", "json"))["item"]["counts"]
            client = daemon.client()
            check(client.get("Status")["rms"][0]["settled"] is True)
            check(counts == client.get("Status")["counts"], counts)
            client.close()


def test_idle_waits_for_updates_that_were_taken_and_for_deployments():
    settings = "mcs: {enabled: true}\n"
    with Daemon("--state", "@.", "--settings", "@conf", files={"conf": settings}) as daemon:
        client = daemon.client()
        until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
        told(daemon, "mcs", "node", "create", "n", "-R", "vcore=1000")
        told(daemon, "deployment", "create", "web", "--replicas", "300", "-R", "vcore=1")
        told(daemon, "wait", "idle")
        schedule = client.get("McsRead", {"what": "describe", "kind": "deployment", "id": "web"})["item"]["schedule"]
        check(schedule["placed"] == 300 and schedule["state"] == "Scheduled", schedule)


def test_wrong_words_are_told_what_there_is():
    with filled() as daemon:
        for words, text in ((("wait", "nonsense"), "is not KIND/NAME, daemon or idle"), (("wait", "app/x"), "for what?  --for CONDITION"),
                            (("wait", "app/x", "--for", "pending=x"), "there are:  state=STATE, pending=N, allocations=N, gone"),
                            (("wait", "app/x", "--for", "pending=-1"), "is no condition of app"),
                            (("wait", "app/x", "--for", "apps=1"), "is no condition of app"),
                            (("wait", "queue/root", "--for", "state=Active"), "queue has no state"),
                            (("wait", "idle", "--for", "gone"), "wait idle takes neither --for nor --app"),
                            (("wait", "deployment/x", "--for", "gone"), "ykctl deployment wait NAME")):
            said = told(daemon, *words, status=2)
            check(text in said, words, said)
        check("which are there?  ykctl queue list" in told(daemon, "wait", "queue/root.none", "--for", "pending=0", status=4))


main(globals())
