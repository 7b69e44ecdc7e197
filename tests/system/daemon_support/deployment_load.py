# SPDX-License-Identifier: Apache-2.0
"""Deployments under load: clients that make, scale, pause and delete them at random through one or more daemons, and what the database, the
caches and the core have to show in the end."""
import random
import threading
import time

from daemon_support import Client, check, until

MOST = 6  # replicas of a deployment
PATIENCE = 60.0  # seconds, for one change
BY_EVENTS = 30.0  # seconds for what follows by itself: sooner than a reconciler, which looks once a minute, would mend it
DOUBT = 3.0  # seconds for which a deployment may be missing in a cache that follows another daemon
COLUMNS = "id, uid, version, generation, name, queue, usr, resource, min_replicas, max_replicas, replicas, created_ms, updated_ms"


class Worker:
    """One client, in a thread of its own. Nobody else changes its deployments, so that it knows what each of them is to be. When its daemon is
    gone it goes on with the next one, and sends again what was not answered; a daemon that is stopped is waited for."""

    def __init__(self, paths, seed, name, wanted, pause):
        self.paths, self.random, self.name, self.pause = paths, random.Random(seed), name, pause
        self.wanted, self.paused, self.made, self.count = dict(wanted), set(), 0, {}
        self.most = max(20, len(self.wanted) + 5)
        self.names = list(self.wanted)
        self.at, self.client, self.fault = seed % len(paths), None, None
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.stopped.is_set():
                self.act()
                time.sleep(self.random.random() * 2 * self.pause)
            for name in sorted(self.paused):
                self.change("resume", name)
        except Exception as fault:  # for the main thread
            self.fault = fault

    def act(self):
        chance, name = self.random.random(), self.random.choice(self.names) if self.names else None
        if name is None or (len(self.names) < self.most and chance < 0.3):
            self.made += 1
            name, replicas = f"{self.name}-{self.made}", self.random.randrange(MOST)
            self.change("create", name, name=name, user="u", queue="root.default", resource={"vcore": 1}, replicas=replicas)
            self.wanted[name] = replicas
            self.names.append(name)
        elif name in self.paused:
            self.change("resume", name)
            self.paused.discard(name)
        elif chance < 0.5:
            self.change("delete", name)
            del self.wanted[name]
            place = self.names.index(name)
            self.names[place] = self.names[-1]
            self.names.pop()
        elif chance < 0.53:
            self.change("pause", name)
            self.paused.add(name)
        else:
            replicas = self.random.randrange(MOST)
            self.change("scale", name, replicas=replicas)
            self.wanted[name] = replicas

    def change(self, verb, name, /, **body):
        """Until it is answered that it is so; what was sent and not answered may have happened."""
        end, missing, in_doubt = time.monotonic() + PATIENCE, None, False
        while True:
            check(time.monotonic() < end, verb, name, "is not answered")
            try:
                client = self.connected()
                client.seq += 1
                reply = client.ask("McsWrite", {"verb": verb, "kind": "deployment", "id": name, "body": body}, seq=client.seq)
            except (OSError, EOFError):
                in_doubt = True
                self.leave()
                continue
            if reply["ok"]:
                break
            error = reply["err"]["name"]
            if error == "E_BUSY":
                client.seq -= 1  # it has not used its number up
                in_doubt = True  # of a commit that was cut off nobody knows what came of it
            elif error == "E_IN_DOUBT":
                in_doubt = True
            elif error == "E_NOT_FOUND" and verb != "create":
                missing = missing or time.monotonic()
                if verb == "delete" and in_doubt and time.monotonic() > missing + DOUBT:
                    break
            elif error == "E_BAD_STATE" and verb == "create" and in_doubt and reply["err"].get("details", {}).get("conflict"):
                break
            else:
                raise AssertionError(f"{verb} {name}: {reply['err']}")
            time.sleep(0.02)
        self.count[verb] = self.count.get(verb, 0) + 1

    def connected(self):
        if self.client is None:
            try:
                self.client = Client(self.paths[self.at])
                self.client.socket.settimeout(PATIENCE)
                self.client.hello()
            except (OSError, EOFError):
                time.sleep(0.02)
                raise
        return self.client

    def leave(self):
        if self.client is not None:
            self.client.close()
        self.client, self.at = None, (self.at + 1) % len(self.paths)


class DeploymentLoad:
    """Begun and ended by the with statement. `base`: of deployments that are there, how many replicas each is to have. `pause`: seconds
    between two changes of one client, on average."""

    def __init__(self, paths, seed, clients=2, base=None, pause=0.01):
        names = sorted(base or {})
        self.workers = [Worker(paths, seed + each, f"load{each}", {name: base[name] for name in names[each::clients]}, pause)
                        for each in range(clients)]

    def hold(self):
        """For a look of the main thread: raises what did not hold."""
        for worker in self.workers:
            if worker.fault is not None:
                raise worker.fault

    def end(self):
        """What each deployment is to be; nothing changes any more."""
        for worker in self.workers:
            worker.stopped.set()
        for worker in self.workers:
            worker.thread.join()
        self.hold()
        return {name: replicas for worker in self.workers for name, replicas in worker.wanted.items()}

    def changes(self):
        return sum(sum(worker.count.values()) for worker in self.workers)

    def figures(self):
        verbs = sorted({verb for worker in self.workers for verb in worker.count})
        return ", ".join(f"{sum(worker.count.get(verb, 0) for worker in self.workers)} {verb}" for verb in verbs)

    def __enter__(self):
        for worker in self.workers:
            worker.thread.start()
        return self

    def __exit__(self, kind, value, trace):
        for worker in self.workers:
            worker.stopped.set()
        for worker in self.workers:
            worker.thread.join()


def base_rows(count):
    """Deployments that no client makes: what each is to be, and the statement of SQL that makes them. On average they have as many replicas as
    a worker's, so that there is not more and more to remember."""
    first = 1_000_000
    base = {f"base-{first + number}": (first + number) % MOST for number in range(count)}
    return base, (f"INSERT INTO deployment({COLUMNS}) WITH RECURSIVE counted(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < {first + count})"
                  " SELECT 'base-' || n, 'u-' || n, 1, 1, 'base-' || n, 'root.default', 'u', '{\"vcore\":1}'," f" 0, {MOST}, n % {MOST}, 1, 1 FROM counted")


# --- what is there ---------------------------------------------------------------------------------------------------

WRONG = {
    "deployments without a scale": "SELECT d.id FROM deployment d LEFT JOIN deployment_scale s ON s.id = d.id AND s.owner_uid = d.uid WHERE s.id IS NULL",
    "deployments without a schedule": "SELECT d.id FROM deployment d LEFT JOIN deployment_schedule s ON s.id = d.id AND s.owner_uid = d.uid WHERE s.id IS NULL",
    "orphaned scales": "SELECT s.id FROM deployment_scale s LEFT JOIN deployment d ON s.owner_uid = d.uid WHERE d.id IS NULL",
    "orphaned schedules": "SELECT s.id FROM deployment_schedule s LEFT JOIN deployment d ON s.owner_uid = d.uid WHERE d.id IS NULL",
    "placements of nobody": "SELECT p.schedule_id FROM placement p LEFT JOIN deployment_schedule s ON s.id = p.schedule_id WHERE s.id IS NULL",
    "scales that are not what is wanted": "SELECT d.id FROM deployment d JOIN deployment_scale s ON s.owner_uid = d.uid WHERE s.desired <> d.replicas",
    "schedules that are not over": "SELECT s.id FROM deployment_schedule s JOIN deployment d ON s.owner_uid = d.uid"
                                   " WHERE s.placed <> d.replicas OR s.pending <> 0 OR s.state <> 'Scheduled'",
    "miscounted schedules": "SELECT s.id FROM deployment_schedule s LEFT JOIN placement p ON p.schedule_id = s.id AND p.state = 'Placed'"
                            " GROUP BY s.id, s.placed, s.desired HAVING count(p.replica) <> s.placed OR s.desired <> s.placed",
    "placements that are not placed": "SELECT schedule_id FROM placement WHERE state <> 'Placed'",
    "dead letters": "SELECT id FROM dead_letter"}


def in_core(client):
    """Allocation key -> node, of all that the core of a daemon runs for MCS."""
    pages, cursor = [], {}
    while True:
        reply = client.ask("Dump", {"what": "allocations", "rmID": "mcs", **cursor})
        if not reply["ok"]:  # one that stands by has no RM, or none any more
            check(reply["err"]["name"] in ("E_RM_UNKNOWN", "E_NOT_FOUND"), reply)
            return {}
        pages += reply["body"]["data"]
        if not reply["body"].get("cursor"):
            break
        cursor = {"cursor": reply["body"]["cursor"]}
    found = {one["allocationKey"]: one["nodeId"] for one in pages}
    check(len(found) == len(pages), "an allocation is there twice")
    replicas = [key.rpartition(".")[0] for key in found]
    check(len(set(replicas)) == len(replicas), "two attempts of a replica run at once")
    return found


def in_cache(client):
    """(id, uid, version, version of the scale, of the schedule) of each deployment that a daemon knows."""
    items, page = [], {"cursor": ""}
    while "cursor" in page:
        page = client.get("McsRead", {"what": "list", "kind": "deployment", "limit": 1000, "cursor": page["cursor"]})
        items += page["items"]
    return sorted((one["id"], one["uid"], one["version"], one.get("scale", {}).get("version"), one.get("schedule", {}).get("version")) for one in items)


def status(client):
    return client.get("McsRead", {"what": "status"})


def leads(client, name="scheduler"):
    return any(one["name"] == name and one["leads"] for one in status(client).get("services", []))


def find_leader(daemons):
    clients = [(each, each.client()) for each in daemons]
    return until("one leads", lambda: next((each for each, client in clients if leads(client)), None), 30)


def agree(rows, wanted, clients, seconds=120.0, repairs=True):
    """Rests until database, caches and cores are one and as they are to be (the invariants I1 and I3 of rs R-147), or raises what
    differs. `rows`: of a statement of SQL, as tuples of texts. One of the daemons leads; the cores of the others are empty. `repairs`:
    nothing that no event had announced was repaired (I5)."""
    def wrong():
        return {what: found for what, sql in WRONG.items() if (found := rows(sql))}
    try:
        until("nothing is amiss in the database", lambda: not wrong(), seconds)
    except AssertionError as fault:
        raise AssertionError({what: (len(found), found[:5]) for what, found in wrong().items()}) from fault
    there = {name: int(replicas) for name, replicas in rows("SELECT id, replicas FROM deployment")}
    check(there == wanted, "deployments differ:", sorted(set(there.items()) ^ set(wanted.items()))[:10])
    placed = dict(rows("SELECT allocation_key, node_id FROM placement"))
    until("one leads", lambda: sum(leads(client) for client in clients) == 1, seconds)
    for client in clients:
        differences = []
        try:
            until("a cache is the database", lambda client=client, differences=differences: is_cache_of(client, rows, differences), BY_EVENTS)
            until("a core has what the rows have", lambda client=client, differences=differences: is_core_of(client, placed, differences), BY_EVENTS)
        except AssertionError as fault:
            raise AssertionError(differences[-1]) from fault
        for kind in status(client)["kinds"]:
            check(kind["brokenRows"] == 0 and not any(handler["deadLetters"] for handler in kind["handlers"]), kind)
            check(not repairs or kind["repairs"] == 0, "no event had announced", kind)
    return f"{len(there)} deployments and {len(placed)} replicas in the end"


def is_cache_of(client, rows, differences):
    """Whether a cache has the rows as they are now: what changes none of the numbers may be written still. Else a sentence is added."""
    known = sorted((each[0], each[1], *map(int, each[2:])) for each in rows(
        "SELECT d.id, d.uid, d.version, s.version, c.version FROM deployment d JOIN deployment_scale s ON s.id = d.id"
        " JOIN deployment_schedule c ON c.id = d.id"))
    found = in_cache(client)
    differences.append(f"a cache has {len(found)} deployments, the database {len(known)}; first differences (id, uid, versions): "
                       f"{[(each, 'cache' if each in found else 'rows') for each in sorted(set(found) ^ set(known))[:6]]}")
    return found == known


def is_core_of(client, placed, differences):
    """Whether the core of one that leads has what the rows have, and that of one that stands by has nothing; else a sentence is added."""
    found, wanted = in_core(client), placed if leads(client) else {}
    if found == wanted:
        return True
    differ = sorted(set(found.items()) ^ set(wanted.items()))
    differences.append(f"the core of {'the leader' if wanted else 'one that stands by'} has {len(found)} allocations, the rows {len(wanted)}; "
                       f"first differences: {[(key, node, 'core' if found.get(key) == node else 'rows') for key, node in differ[:5]]}")
    return False


def resident(pid):
    """Bytes of memory of a process, without what is mapped of files, as SQLite's: they grow with the change log, and the system has them back at any time."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        resident_pages, shared_pages = (int(word) for word in file.read().split()[1:3])
    return (resident_pages - shared_pages) * 4096


__all__ = ["DeploymentLoad", "agree", "base_rows", "find_leader", "in_cache", "in_core", "leads", "resident", "status"]
