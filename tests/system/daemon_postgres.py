# SPDX-License-Identifier: Apache-2.0
"""Deployments in a database of PostgreSQL, which several daemons share."""
import random

from daemon_support import *
from daemon_support.deployments import change, in_core
from daemon_support.postgres import Postgres

ROUNDS = int(os.environ.get("YK_ROUNDS", "4"))  # how often the leader is killed
TTL = 2  # seconds


def settings(url, **more):
    extra = "".join(f", {key}: {value}" for key, value in more.items())
    return f"mcs: {{enabled: true, db: {{url: '{url}'}}, lease: {{ttl: {TTL}s}}{extra}}}\n"


def hosted(url, **more):
    return Daemon("--settings", "@conf", files={"conf": settings(url, **more)})


def status(client):
    return client.get("McsRead", {"what": "status"})


def ready(daemon):
    client = daemon.client()
    until("MCS runs", lambda: status(client)["state"] == "running", 30)
    return client


def service(client, name="scheduler"):
    return next(one for one in status(client)["services"] if one["name"] == name)


def leads(client):
    """Of several daemons one may have the lease of one service, and another one that of another."""
    return service(client)["leads"]


def describe(client, name):
    return client.get("McsRead", {"what": "describe", "kind": "deployment", "id": name})["item"]


def placed(client, name):
    return {one["allocationKey"]: one.get("nodeID") for one in describe(client, name).get("schedule", {}).get("placements", [])
            if one["state"] == "Placed"}


def comes_to(client, name, count, seconds=30):
    until(f"{name} has {count}", lambda: len(placed(client, name)) == count and describe(client, name)["schedule"]["state"] == "Scheduled", seconds)


def test_deployments_live_in_it():  # rs R-021, rs R-029, rs R-122, rs R-144, F-03, F-04
    with Postgres() as server:
        url = server.database("one").replace("yk@", "yk:secret@")
        with hosted(url) as daemon:
            client = ready(daemon)
            until("it leads", lambda: leads(client))
            change(client, "node", "create", "n1", resource={"vcore": 8000})
            change(client, "deployment", "create", "web", replicas=3, tags={"team": "a"})
            comes_to(client, "web", 3)
            before = placed(client, "web")
            check(status(client)["database"]["path"] == f"postgresql://{server.folder}/one", status(client)["database"])
            server.sql("UPDATE deployment SET replicas = 4", "one")  # somebody with a shell
            comes_to(client, "web", 4)
            daemon.restart(signal.SIGKILL)
            client = ready(daemon)
            comes_to(client, "web", 4)
            check(before.items() <= placed(client, "web").items(), before, placed(client, "web"))
            server.end(signal.SIGQUIT)
            until("it is missed", lambda: not status(client)["database"]["up"])
            check(len(placed(client, "web")) == 4, "what is known is read on")
            client.refused("E_BUSY", "McsWrite", {"verb": "scale", "kind": "deployment", "id": "web", "body": {"replicas": 5}}, mutating=True)
            client.seq -= 1
            server.start()
            change(client, "deployment", "scale", "web", replicas=5)
            comes_to(client, "web", 5)
            until("nothing is amiss", lambda: status(client)["database"]["up"] and status(client)["staleMs"] == 0)
            check("secret" not in daemon.text() + str(status(client)) + str(client.get("Status", {})))


def test_a_server_that_hangs_holds_up_nothing_else():  # rs R-029, rs R-034, F-28
    with Postgres() as server:
        with hosted(server.database("hangs")) as daemon:
            client = ready(daemon)
            until("it leads", lambda: leads(client))
            change(client, "node", "create", "n1", resource={"vcore": 8000})
            change(client, "deployment", "create", "web", replicas=3)
            comes_to(client, "web", 3)
            stopped = time.monotonic()
            server.signal_all(signal.SIGSTOP)
            try:
                until("it is missed", lambda: not status(client)["database"]["up"], 40)
                took = time.monotonic() - stopped
                # The limits are 2 s for a lease, 2 s for a new session, and 4 s for the log, which is asked each second.
                check(took < 12, "the server was missed after", took, "seconds")
                check(len(placed(client, "web")) == 3, "what is known is read on")
                client.refused("E_BUSY", "McsWrite", {"verb": "scale", "kind": "deployment", "id": "web", "body": {"replicas": 5}}, mutating=True)
                client.seq -= 1
                check("mcs_db_up" in client.get("Metrics", {"prefix": "mcs_"})["text"])
                daemon.signal(signal.SIGTERM)
                check(daemon.exit_code() == 0 and "core: stopped" in daemon.text())
            finally:
                server.signal_all(signal.SIGCONT)
            daemon.start()
            client = ready(daemon)
            change(client, "deployment", "scale", "web", replicas=5)
            comes_to(client, "web", 5)


def test_a_transaction_that_stays_open_is_named():  # rs R-043, F-26
    with Postgres() as server, hosted(server.database("held")) as daemon:
        client = ready(daemon)
        degraded = lambda: " ".join(client.get("Status")["degraded"])
        holder = server.begin("BEGIN; SELECT pg_current_xact_id(); SELECT pg_sleep(100)", "held")
        try:
            until("it is named", lambda: "pg_terminate_backend" in degraded(), 20)
            check("of yk in held" in degraded(), degraded())
            server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()")
            until("it is forgotten", lambda: "pg_terminate_backend" not in degraded(), 20)
        finally:
            server.end(signal.SIGQUIT)
            holder.wait()


def test_wrong_places_are_named_without_the_password():  # rs R-033, rs R-145, F-33
    with Postgres() as server:
        with hosted(f"postgresql://yk:secret@/nowhere?host={server.folder}&password=secret") as daemon:
            client = daemon.client()
            until("it is said", lambda: "reason" in status(client))
            said = str(status(client)) + str(client.get("Status", {})) + daemon.text()
            check("nowhere" in said and "secret" not in said, said)
    with Daemon("--settings", "@conf", files={"conf": "mcs: {enabled: true, db: {url: 'postgresql://h/d'}, lease: {enabled: false}}\n"},
                wait=False) as daemon:
        check(daemon.exit_code() == 1 and "mcs.lease.enabled" in daemon.text(), daemon.text())


def test_a_killed_leader_is_followed_and_nothing_runs_twice():  # rs R-139, rs R-141, rs R-142, P-14, F-39
    with Postgres() as server:
        url = server.database("two")
        with hosted(url) as one, hosted(url) as two:
            pair = [one, two]
            clients = [ready(each) for each in pair]
            until("one leads", lambda: any(leads(each) for each in clients))
            leader = 0 if leads(clients[0]) else 1
            change(clients[leader], "node", "create", "n1", resource={"vcore": 100_000})
            change(clients[leader], "deployment", "create", "web", replicas=10)
            comes_to(clients[leader], "web", 10)
            chance, wanted, epochs, longest = random.Random(1), 10, [], 0.0
            for _ in range(ROUNDS):
                epochs.append(service(clients[leader])["epoch"])
                wanted = chance.randint(5, 60)
                change(clients[chance.randint(0, 1)], "deployment", "scale", "web", replicas=wanted)
                time.sleep(chance.uniform(0, 0.3))
                pair[leader].end(signal.SIGKILL)
                killed = time.monotonic()
                leader = 1 - leader
                until("the other one leads", lambda: leads(clients[leader]), 30)
                longest = max(longest, time.monotonic() - killed)
                comes_to(clients[leader], "web", wanted)
                until("its core has just these", lambda: in_core(clients[leader]) == sorted(placed(clients[leader], "web")))
                until("the recovery is over", lambda: status(clients[leader])["scheduler"]["state"] == "running")
                pair[1 - leader].start()
                clients[1 - leader] = ready(pair[1 - leader])
                until("the other has read it", lambda: placed(clients[1 - leader], "web") == placed(clients[leader], "web"))
                check(in_core(clients[1 - leader]) == [], "nothing is started twice")
            check(epochs == sorted(set(epochs)), "each leader has a later epoch", epochs)
            check(longest < TTL + 2 + 3, "took over within", longest)  # P-14, and the pauses of this test


def test_a_stopped_leader_writes_nothing_when_it_wakes():  # rs R-141, rs R-142, F-40
    with Postgres() as server:
        url = server.database("three")
        with hosted(url) as one:
            first = ready(one)
            until("it leads", lambda: leads(first))
            change(first, "node", "create", "n1", resource={"vcore": 100_000})
            change(first, "deployment", "create", "web", replicas=4)
            comes_to(first, "web", 4)
            with hosted(url) as two:
                second = ready(two)
                one.signal(signal.SIGSTOP)
                until("the other leads in all", lambda: all(each["leads"] for each in status(second)["services"]), 30)
                change(second, "deployment", "scale", "web", replicas=7)
                comes_to(second, "web", 7)
                before = server.sql("SELECT max(seq) FROM change_log", "three")
                one.signal(signal.SIGCONT)
                until("it stands by", lambda: not any(each["leads"] for each in status(first)["services"]))
                until("it has nothing in its core", lambda: in_core(first) == [])
                time.sleep(1)
                check(server.sql("SELECT max(seq) FROM change_log", "three") == before, "it wrote")
                check(in_core(second) == sorted(placed(second, "web")))


def test_a_leader_that_loses_the_database_stops_and_is_followed():  # rs R-142, rs R-130, F-41
    with Postgres() as server:
        server.database("four")
        way = server.folder + "/way"  # of the first daemon alone
        os.mkdir(way)
        link = way + "/.s.PGSQL.5432"
        os.symlink(server.folder + "/.s.PGSQL.5432", link)
        with hosted(f"postgresql://yk@/four?host={way}") as one:
            first = ready(one)
            until("it leads", lambda: leads(first))
            change(first, "node", "create", "n1", resource={"vcore": 100_000})
            change(first, "deployment", "create", "web", replicas=4)
            comes_to(first, "web", 4)
            with hosted(f"postgresql://yk@/four?host={server.folder}") as two:
                second = ready(two)
                os.remove(link)
                server.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = 'four'")
                until("the other leads", lambda: leads(second), 30)
                check(not leads(first), status(first)["services"])
                change(second, "deployment", "scale", "web", replicas=7)
                comes_to(second, "web", 7)
                check(not status(first)["database"]["up"] and len(placed(first, "web")) == 4, "what is known is read on")
                until("the second has the rest", lambda: in_core(second) == sorted(placed(second, "web")))
                before = server.sql("SELECT max(seq) FROM change_log", "four")
                os.symlink(server.folder + "/.s.PGSQL.5432", link)
                until("it has read what came", lambda: placed(first, "web") == placed(second, "web"), 30)
                until("the first has given up what it ran while it did not know", lambda: in_core(first) == [], 30)
                check(not leads(first), status(first)["services"])
                check(server.sql("SELECT max(seq) FROM change_log", "four") == before, "it wrote")


main(globals())
