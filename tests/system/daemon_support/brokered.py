# SPDX-License-Identifier: Apache-2.0
"""Daemons whose changes of Deployments come by a server of NATS or brokers of Kafka, and what tests ask of them."""
import os
import sqlite3
import subprocess

from daemon_support import DEADLINE, Daemon, check, until
from daemon_support.deployments import change

YKCTL = os.path.join(os.environ["YK_BIN"], "ykctl")
FALLBACK = 2  # seconds


def settings(place, **more):
    extra = "".join(f", {key}: {value}" for key, value in more.items())
    return f"mcs: {{enabled: true, transport: nats, nats: {{url: '{place}', fallbackAfter: {FALLBACK}s}}{extra}}}\n"


def kafka_settings(brokers):
    """librdkafka waits for up to 10 s before it connects again, unless it is set otherwise."""
    return (f"mcs: {{enabled: true, transport: kafka, kafka: {{brokers: '{brokers}', fallbackAfter: {FALLBACK}s, "
            "properties: {'reconnect.backoff.max.ms': '200'}}}\n")


def hosted(text, *flags, **more):
    return Daemon(*flags, "--settings", "@conf", files={"conf": text}, **more)


def status(client):
    return client.get("McsRead", {"what": "status"})


def ready(daemon):
    client = daemon.client()
    until("MCS runs", lambda: status(client)["state"] == "running", 60)
    return client


def placed(client, name):
    item = client.get("McsRead", {"what": "describe", "kind": "deployment", "id": name})["item"]
    return len([one for one in item.get("schedule", {}).get("placements", []) if one["state"] == "Placed"])


def comes_to(client, name, count):
    until(f"{name} has {count}", lambda: placed(client, name) == count, 30)


def metrics(client):
    text = client.get("Metrics", {"prefix": "mcs_"})["text"]
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


def is_on_broker(client):
    transport = status(client)["transport"]
    return transport["up"] and transport["reads"] == "broker"


def said(daemon, client):
    return daemon.text() + str(status(client)) + str(client.get("Status", {})) + str(client.get("Health", {}))


def shell(daemon, sql):
    """Somebody with a shell, of whom no daemon knows but by the change log."""
    connection = sqlite3.connect(daemon.folder + "/mcs.db", timeout=10, isolation_level=None)
    connection.execute(sql)
    connection.close()


def scale_behind_its_back(daemon, count):
    """By somebody of whom the daemon knows by an event alone."""
    shell(daemon, f"UPDATE deployment SET replicas = {count}, version = version + 1")


def check_reads_database(daemon, client, broker, seconds=DEADLINE):
    """Returns when the daemon, whose broker is away, does without it and says so. `broker`: as it is shown, `nats at URL`."""
    until("it is missed", lambda: not status(client)["transport"]["up"] and metrics(client)["mcs_transport_up"] == "0")
    until("the database is read", lambda: status(client)["transport"]["reads"] == "database", seconds)
    check(status(client)["database"]["up"], "the database is not")
    until("it is said", lambda: any("MCS, transport: " + broker in one for one in client.get("Status", {})["degraded"]))
    shown = ykctl(daemon, "mcs", "status")
    check(f"{broker}, away for" in shown and "changes are read from the database meanwhile" in shown, shown)


def ykctl(daemon, *words):
    done = subprocess.run([YKCTL, "--strict", "-s", "ipc://" + daemon.path, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    check(done.returncode == 0, words, done.stdout)
    return done.stdout
