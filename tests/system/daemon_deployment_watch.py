# SPDX-License-Identifier: Apache-2.0
"""rs R-160: whoever watches deployments hears of each change, over any end of the daemon, or hears that it cannot be known."""
from daemon_support import *
from daemon_support.running import Running

HOSTED = ("--state", "@.", "--settings", "@conf")
INTERRUPTED = 130


def hosted():
    return Daemon(*HOSTED, files={"conf": "mcs: {enabled: true}\n"})


def ready(daemon, **hello):
    client = daemon.client(**hello)
    until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
    return client


def write(client, verb, name, **body):
    if verb == "create":
        return client.change("McsWrite", {"verb": verb, "kind": "deployment", "body": {
            "name": name, "user": "u", "resource": {"vcore": 1000}, **body}})
    return client.change("McsWrite", {"verb": verb, "kind": "deployment", "id": name, "body": body})


class Watching:
    """A cursor that goes on."""

    def __init__(self, client, name=""):
        self.client, self.name = client, name
        self.cursor = client.get("McsWatch", {})["cursor"]

    def next(self, wait=0, **more):
        answer = self.client.get("McsWatch", {"cursor": self.cursor, "id": self.name, "waitMs": wait, **more})
        self.cursor = answer["cursor"]
        return answer

    def sees(self, change, name, what=lambda item: True):
        """Reads on until there is such a change. Its item."""
        found = []

        def is_there():
            for one in self.next(100)["items"]:
                if (one["change"], one["item"]["name"]) == (change, name) and what(one["item"]):
                    found.append(one["item"])
            return bool(found)
        until(f"{name} is {change}", is_there)
        return found[-1]


def test_each_change_is_seen():
    with hosted() as daemon:
        client = ready(daemon)
        write(client, "create", "there", replicas=1)
        watching, one = Watching(client), Watching(client, "web")
        made = write(client, "create", "web", replicas=2)
        item = watching.sees("added", "web")
        check(item["uid"] == made["uid"] and item["queue"] == "", item)
        watching.cursor = one.cursor
        watching.sees("modified", "web", lambda item: item.get("scale", {}).get("desired") == 2)
        write(client, "scale", "web", replicas=5)
        watching.sees("modified", "web", lambda item: item["scale"]["desired"] == 5)
        write(client, "scale", "there", replicas=3)
        watching.sees("modified", "there", lambda item: item["scale"]["desired"] == 3)
        write(client, "delete", "web")
        check(watching.sees("deleted", "web") == {"id": made["id"], "name": "web", "uid": made["uid"], "partition": "default"})
        one.sees("deleted", "web")  # all that is merged for it, and nothing of others
        one.cursor = watching.cursor
        write(client, "pause", "there")
        watching.sees("modified", "there", lambda item: item["paused"])
        check(one.next()["items"] == [], "it is of another one")


def test_who_waits_is_answered_when_something_changes():
    with hosted() as daemon:
        client, waiting = ready(daemon), daemon.client()
        watching = Watching(client)
        waiting.send("McsWatch", {"cursor": watching.cursor, "waitMs": 25000})
        of_other = daemon.client()
        of_other.send("McsWatch", {"cursor": watching.cursor, "id": "web", "waitMs": 300})
        write(client, "create", "there")
        answer = waiting.receive()["body"]
        check([(each["change"], each["item"]["name"]) for each in answer["items"]] == [("added", "there")], answer)
        answer = of_other.receive()["body"]  # nothing of that name: the time is over
        check(answer["items"] == [] and answer["cursor"] != watching.cursor and not answer["resync"], answer)


def test_a_page_holds_what_the_sender_takes():
    with hosted() as daemon:
        client = ready(daemon)
        small = ready(daemon, maxMessage=65536)
        watching = Watching(small)
        for number in range(40):
            write(client, "create", f"d{number}", tags={"much": "x" * 4000})
        seen, pages = {}, 0
        while len(seen) < 40:
            answer = watching.next(2000)
            check(answer["items"] and not answer["resync"], answer)
            seen.update({one["item"]["name"]: one["change"] for one in answer["items"]})
            pages += 1
        check(pages > 2, "in how many pages?", pages)
        more = Watching(client)
        write(client, "create", "one")
        write(client, "create", "two")
        first = more.next(limit=1)
        check(first["more"] and len(first["items"]) == 1, first)


def test_what_is_not_known_is_said():
    with hosted() as daemon:
        client = ready(daemon)
        watching = Watching(client)
        old = watching.cursor
        for wrong in ("nonsense", old + "9", "x" * 200):
            answer = client.get("McsWatch", {"cursor": wrong})
            check(answer["resync"] and answer["items"] == [] and answer["cursor"], wrong, answer)
        daemon.restart()
        client = ready(daemon)
        check(client.get("McsWatch", {"cursor": old})["resync"], "it is of another run")
        client.refused("E_INVALID", "McsWatch", {"limit": 0})
        client.refused("E_INVALID", "McsWatch", {"cursor": "\n"})
        client.refused("E_INVALID", "McsWatch", {"limit": 101})
    with Daemon() as daemon:
        daemon.client().refused("E_BAD_STATE", "McsWatch", {})


def test_a_stop_answers_who_waits():
    with hosted() as daemon:
        client = ready(daemon)
        client.send("McsWatch", {"cursor": Watching(client).cursor, "waitMs": 25000})
        daemon.signal(signal.SIGTERM)
        check(client.receive()["err"]["name"] == "E_SHUTTING_DOWN")
        check(daemon.exit_code() == 0)


def connected(client):
    """How many sessions have a client."""
    text = client.get("Metrics", {"prefix": "yunikorn_sessions"})["text"]
    return int(text.split("\nyunikorn_sessions ")[1].split("\n")[0])


def test_ykctl_prints_changes():
    with hosted() as daemon:
        client = ready(daemon)
        write(client, "create", "there", replicas=1)
        there = {"what": "describe", "kind": "deployment", "id": "there"}
        until("all is written of it", lambda: client.get("McsRead", there)["item"].get("schedule", {}).get("state") == "Scheduling")
        before = connected(client)
        with Running(daemon, "deployment", "watch") as all_, Running(daemon, "deployment", "watch", "web", "-o", "jsonl") as one, \
                Running(daemon, "deployment", "watch", "--from", "now", "-o", "name") as now, \
                Running(daemon, "deployment", "watch", "-p", "gpu") as other, Running(daemon, "deployment", "watch", "-p", "default") as same:
            all_.says("ADDED     there  0/1", on="out")
            probes = iter(range(1000))

            def begins():  # nothing says that it has a cursor
                write(client, "create", f"probe-{next(probes)}", replicas=0)
                return "probe" in now.out
            until("it watches from now on", begins)
            write(client, "create", "web", replicas=2)
            all_.says("ADDED     web", "MODIFIED  web  0/2", on="out")
            one.says('"change":"added"', '"name":"web"', on="out")
            same.says("ADDED     there  0/1", on="out")
            until("the last of them has connected, which sees nothing yet",
                  lambda: connected(client) == before + 5)
            daemon.restart()
            all_.says("dialling again", "connected again")
            client = ready(daemon)
            all_.says("RESYNC", on="out")
            one.says('"change":"resync"', on="out")  # else it is there only after the deletion, of which it hears nothing then
            write(client, "delete", "web")
            all_.says("DELETED   web", on="out")
            one.says('"change":"deleted"', on="out")
            now.says("web\n", on="out")
            same.says("DELETED   web", on="out")
            other.says("RESYNC", on="out")
            for each in (all_, one, now, other, same):
                each.signal(signal.SIGINT)
                each.ends(INTERRUPTED)
            check('"there"' not in one.out and now.out.startswith("probe"), one.out, now.out)
            check(all(line.startswith("RESYNC") for line in other.out.splitlines()), other.out)


main(globals())
