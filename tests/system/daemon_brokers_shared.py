# SPDX-License-Identifier: Apache-2.0
"""Daemons that share a database and a server of NATS, of which one at a time copies the changes; and a server that hangs."""
from daemon_support import *
from daemon_support.brokered import change, comes_to, hosted, is_on_broker, ready, settings, shell, status
from daemon_support.nats import Nats
from daemon_support.postgres import Postgres


def test_a_server_that_hangs_holds_up_nothing_else():  # rs R-168
    with Nats() as nats:
        with hosted(settings(nats.place), "--state", "@.") as daemon:
            client = ready(daemon)
            change(client, "node", "create", "n1", resource={"vcore": 20_000})
            change(client, "deployment", "create", "web", replicas=2)
            comes_to(client, "web", 2)
            nats.signal(signal.SIGSTOP)
            change(client, "deployment", "scale", "web", replicas=3)
            comes_to(client, "web", 3)
            until("the database is read", lambda: status(client)["transport"]["reads"] == "database", 40)
            shell(daemon, "UPDATE deployment SET replicas = 4, version = version + 1")
            comes_to(client, "web", 4)
            nats.signal(signal.SIGCONT)
            until("it is back", lambda: is_on_broker(client), 40)
            shell(daemon, "UPDATE deployment SET replicas = 5, version = version + 1")
            comes_to(client, "web", 5)


def test_two_daemons_follow_each_other_and_one_relays():  # rs R-046, rs R-139, rs R-144, F-22
    with Postgres() as server, Nats() as nats:
        text = settings(nats.place, db=f"{{url: '{server.database('two')}'}}", lease="{ttl: 2s}")
        with hosted(text) as one, hosted(text) as two:
            pair = [one, two]
            clients = [ready(each) for each in pair]
            until("one relays", lambda: sum(status(each)["relay"]["leads"] for each in clients) == 1)
            change(clients[0], "node", "create", "n1", resource={"vcore": 100_000})
            change(clients[1], "deployment", "create", "web", replicas=4)
            for each in clients:
                until("it is seen", lambda each=each: [item["name"] for item in each.get("McsRead", {"what": "list", "kind": "deployment"})["items"]] == ["web"])
                comes_to(each, "web", 4)
            for wanted in (9, 6):
                relay = 0 if status(clients[0])["relay"]["leads"] else 1
                pair[relay].end(signal.SIGKILL)
                other = clients[1 - relay]
                change(other, "deployment", "scale", "web", replicas=wanted)
                until("the other one relays", lambda other=other: status(other)["relay"]["running"], 30)
                comes_to(other, "web", wanted)
                check(status(other)["relay"]["gaps"] == 0, status(other)["relay"])
                pair[relay].start()
                clients[relay] = ready(pair[relay])
                until("all is sent", lambda other=other: status(other)["relay"]["underWay"] == 0)
                server.sql(f"UPDATE deployment SET replicas = {wanted + 1}", "two")
                for each in clients:
                    comes_to(each, "web", wanted + 1)
                check(is_on_broker(clients[relay]) and is_on_broker(other))


main(globals())
