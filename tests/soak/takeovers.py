#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Two daemons on one database of PostgreSQL, of which the one that leads is killed by SIGKILL under load, and now and then stopped for longer
than its lease and woken. The other one takes over in time, no write of an epoch is accepted once a later one has begun, no
replica is placed twice, and in the end database, caches and core are one. Size: how many kills."""
import random
import statistics

from part import Clock, as_program, of

from daemon_support import *
from daemon_support.deployment_load import DeploymentLoad, agree, base_rows, find_leader, in_core, leads, status
from daemon_support.deployments import change
from daemon_support.postgres import Postgres

TTL = 1  # seconds
NODES = 10
KILLS_BETWEEN_STOPS = 5
# A row for each write of the services, in the order in which the transactions hold what they write; a new leader cannot have a lease before
# all transactions that were fenced by it have ended.
AUDIT = """
CREATE TABLE audit(seq BIGSERIAL PRIMARY KEY, at DOUBLE PRECISION NOT NULL, what TEXT NOT NULL, id TEXT NOT NULL, epoch BIGINT,
                   was TEXT, is_now TEXT);
CREATE FUNCTION audit_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.epoch <> OLD.epoch THEN
        INSERT INTO audit(at, what, id, epoch) VALUES(extract(epoch FROM clock_timestamp()), 'lease', NEW.name, NEW.epoch);
    END IF;
    RETURN NULL; END $$;
CREATE TRIGGER audit AFTER UPDATE ON lease FOR EACH ROW EXECUTE FUNCTION audit_lease();
CREATE FUNCTION audit_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO audit(at, what, id, epoch) VALUES(extract(epoch FROM clock_timestamp()), TG_ARGV[0], NEW.id, NEW.writer_epoch);
    RETURN NULL; END $$;
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON deployment_scale FOR EACH ROW EXECUTE FUNCTION audit_row('autoscaler');
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON deployment_schedule FOR EACH ROW EXECUTE FUNCTION audit_row('scheduler');
CREATE FUNCTION audit_placement() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        was TEXT; is_now TEXT;
    BEGIN
    IF TG_OP <> 'INSERT' THEN
        IF OLD.state = 'Placed' THEN was := OLD.allocation_key || ' on ' || OLD.node_id; END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        IF NEW.state = 'Placed' THEN is_now := NEW.allocation_key || ' on ' || NEW.node_id; END IF;
    END IF;
    IF was IS DISTINCT FROM is_now THEN
        INSERT INTO audit(at, what, id, was, is_now) VALUES(extract(epoch FROM clock_timestamp()), 'placement',
            split_part(coalesce(was, is_now), '.', 1), was, is_now);
    END IF;
    RETURN NULL; END $$;
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON placement FOR EACH ROW EXECUTE FUNCTION audit_placement();
"""
# Each of these has no rows.
BROKEN = {
    "writes of an epoch after a later one began":
        "WITH begun AS (SELECT id, epoch, seq, lead(seq) OVER (PARTITION BY id ORDER BY seq) AS until FROM audit WHERE what = 'lease')"
        " SELECT w.seq, w.what, w.id, w.epoch, b.epoch FROM audit w JOIN begun b ON b.id = w.what AND w.seq > b.seq"
        " AND (b.until IS NULL OR w.seq < b.until) WHERE w.epoch <> b.epoch",
    "epochs that do not rise":
        "SELECT * FROM (SELECT id, epoch, lag(epoch) OVER (PARTITION BY id ORDER BY seq) AS before FROM audit WHERE what = 'lease') l"
        " WHERE epoch <= before",
    "replicas placed while they were placed":
        "SELECT * FROM (SELECT id, was, is_now, lag(is_now) OVER (PARTITION BY id ORDER BY seq) AS before FROM audit WHERE what = 'placement') p"
        " WHERE is_now IS NOT NULL AND (was IS NOT NULL OR before IS NOT NULL)"}

BREAKS = """
INSERT INTO audit(at, what, id, epoch) VALUES(0, 'scheduler', 'late', 0), (0, 'lease', 'scheduler', 0);
INSERT INTO audit(at, what, id, is_now) VALUES(0, 'placement', 'twice', 'one'), (0, 'placement', 'twice', 'other');
"""


class Pair:
    """Two daemons, their database, and which of them leads."""

    def __init__(self, server, daemons, name):
        self.server, self.daemons, self.name, self.leader = server, daemons, name, find_leader(daemons)
        self.taken = {(what, number): [] for what in ("lease", "write") for number in (signal.SIGKILL, signal.SIGSTOP)}

    def rows(self, sql):
        return [tuple(line.split("|")) for line in self.server.sql(sql, self.name).splitlines()]

    def other(self):
        return self.daemons[1 - self.daemons.index(self.leader)]

    def take_over(self, number):
        """Ends or stops the one that leads, and waits for the first write of the other one as the Scheduler. When that was is what the
        database has seen, in the clock that is this machine's, too."""
        last = int(self.rows("SELECT coalesce(max(seq), 0) FROM audit")[0][0])
        begun = time.time()
        self.leader.signal(number)
        if number == signal.SIGKILL:
            self.leader.exit_code()
        times = until("the other one has written", lambda: self.first_write(last), 60)
        self.taken["lease", number].append(times[0] - begun)
        self.taken["write", number].append(times[1] - times[0])
        before, self.leader = self.leader, self.other()
        client = self.leader.client()
        until("it says so", lambda: leads(client))
        return before

    def first_write(self, last):
        found = self.rows(
            f"WITH lease AS (SELECT seq, at, epoch FROM audit WHERE seq > {last} AND what = 'lease' AND id = 'scheduler' ORDER BY seq LIMIT 1)"
            " SELECT lease.at, w.at FROM lease, audit w WHERE w.seq > lease.seq AND w.what = 'scheduler' AND w.epoch = lease.epoch"
            " ORDER BY w.seq LIMIT 1")
        return [float(each) for each in found[0]] if found else None


def table(taken):
    """One that is stopped in the middle of a transaction holds its lease until the server ends that transaction, as long as the lease may be over."""
    lines = [f"{'':54} {'p50':>8} {'p99':>8} {'worst':>8}"]
    for (what, number), values in taken.items():
        values = sorted(values) or [0.0]
        name = ("seconds from {} to the other's lease" if what == "lease" else "{}: seconds from there to its first owned write").format(number.name)
        p99 = values[min(len(values) - 1, int(len(values) * 0.99))]
        lines.append(f"{name:54} {statistics.median(values):8.3f} {p99:8.3f} {values[-1]:8.3f}")
    return "\n".join(lines)


def run(size, seed, seconds, deployments=5000):
    clock, chance = Clock(seconds), random.Random(seed)
    base, statement = base_rows(deployments)
    kills = stops = 0
    with Postgres() as server:
        text = f"mcs: {{enabled: true, db: {{url: '{server.database('pair')}'}}, lease: {{ttl: {TTL}s}}}}\n"
        with Daemon("--settings", "@conf", files={"conf": text}) as one, Daemon("--settings", "@conf", files={"conf": text}) as two:
            pair = Pair(server, [one, two], "pair")
            server.sql(AUDIT + statement, "pair")
            client = pair.leader.client()
            for number in range(NODES):
                change(client, "node", "create", f"n{number}", resource={"vcore": 1_000_000})
            until("all is placed", lambda: pair.rows("SELECT count(*) FROM deployment_schedule WHERE state = 'Scheduled'") == [(str(len(base)),)], 300)
            with DeploymentLoad([one.path, two.path], seed, clients=4, base=base) as load:
                while kills < size and not clock.is_over():
                    time.sleep(chance.random() * 0.2)  # the moment of chance
                    load.hold()
                    if kills % KILLS_BETWEEN_STOPS == 0:
                        stops += 1
                        stopped = pair.take_over(signal.SIGSTOP)
                        stopped.signal(signal.SIGCONT)
                        client = stopped.client()
                        until("it does not schedule any more", lambda: not leads(client))  # another lease it may have renewed in time
                        until("its core is empty", lambda: not in_core(client))
                    ended = pair.take_over(signal.SIGKILL)
                    kills += 1
                    ended.start()
                    client = ended.client()
                    until("it stands by", lambda: status(client)["state"] == "running", 60)
                wanted = load.end()
            clients = [each.client() for each in pair.daemons]
            end = agree(pair.rows, wanted, clients)
            for what, sql in BROKEN.items():
                found = pair.rows(sql)
                check(not found, what, len(found), found[:5])
            server.sql(BREAKS, "pair")
            for what, sql in BROKEN.items():
                check(pair.rows(sql), what, "are not seen")
            writes = pair.rows("SELECT count(*) FROM audit WHERE what IN ('autoscaler', 'scheduler')")[0][0]
    killed = {what: pair.taken[what, signal.SIGKILL] for what in ("lease", "write")}
    if size >= 100:  # P-14
        check(max(killed["lease"]) <= TTL + 2, "took over within", max(killed["lease"]), "s")
        check(max(killed["write"]) <= 1, "wrote within", max(killed["write"]), "s after it")
    print(table(pair.taken), flush=True)
    return (f"killed {of(kills, size)} times, stopped {stops} times (lease {TTL} s): lease taken within {max(killed['lease']):.2f} s of a kill, first write "
            f"{max(killed['write']):.2f} s later; {writes} owned writes, none of an earlier epoch; {load.figures()}; {end}")


if __name__ == "__main__":
    as_program(run, 100, __doc__)
