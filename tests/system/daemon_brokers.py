# SPDX-License-Identifier: Apache-2.0
"""Deployments whose changes come by a server of NATS, which is killed and started again."""
from daemon_support import *
from daemon_support.brokered import (change, check_reads_database, comes_to, hosted, is_on_broker, metrics, ready, said,
                                     scale_behind_its_back, settings, status, ykctl)
from daemon_support.nats import Nats


def test_changes_come_by_nats_over_its_end():  # rs R-046, rs R-056, rs R-153, rs R-154, rs R-158, rs R-164, rs R-168, F-18
    with Nats() as nats:
        place = nats.place.replace("//", "//yk:secret@")
        with hosted(settings(place), "--state", "@.") as daemon:
            client = ready(daemon)
            change(client, "node", "create", "n1", resource={"vcore": 20_000})
            change(client, "deployment", "create", "web", replicas=3)
            check([one["name"] for one in client.get("McsRead", {"what": "list", "kind": "deployment"})["items"]] == ["web"])
            comes_to(client, "web", 3)
            check(is_on_broker(client) and status(client)["position"].endswith(" 0"), status(client)["position"])
            until("it is the relay", lambda: status(client)["relay"]["running"] and status(client)["relay"]["underWay"] == 0)
            scale_behind_its_back(daemon, 4)
            comes_to(client, "web", 4)
            check(status(client)["transport"]["place"] == nats.place, status(client)["transport"])
            shown = ykctl(daemon, "mcs", "status")
            check(f"nats at {nats.place}, up" in shown and "running" in shown, shown)
            until("all is well", lambda: metrics(client)["mcs_transport_up"] == "1" and metrics(client)["mcs_relay_running"] == "1")
            check(int(metrics(client)["mcs_relay_confirmed_total"]) >= 4, metrics(client))

            nats.kill()
            change(client, "deployment", "scale", "web", replicas=5)  # what it writes itself it sees without
            comes_to(client, "web", 5)
            check_reads_database(daemon, client, "nats at " + nats.place)
            scale_behind_its_back(daemon, 6)
            comes_to(client, "web", 6)

            nats.start()
            until("it is back", lambda: is_on_broker(client), 30)
            scale_behind_its_back(daemon, 7)
            comes_to(client, "web", 7)
            until("nothing is amiss", lambda: client.get("Status", {})["degraded"] == [] and status(client)["staleMs"] == 0)
            until("all is sent", lambda: status(client)["relay"]["underWay"] == 0 and status(client)["relay"]["lagMs"] == 0)
            check("\nmcs_relay_lag_seconds 0\n" in client.get("Metrics", {"prefix": "mcs_"})["text"])
            check(all(kind["repairs"] == 0 for kind in status(client)["kinds"]), status(client)["kinds"])

            check("secret" not in said(daemon, client), "the password is shown")
            daemon.restart(signal.SIGKILL)
            client = ready(daemon)
            until("it relays again", lambda: status(client)["relay"]["running"], 40)
            scale_behind_its_back(daemon, 8)
            comes_to(client, "web", 8)
            check(status(client)["relay"]["gaps"] == 0, "it went on where it had been", status(client)["relay"])
            check("secret" not in said(daemon, client), "the password is shown")


def test_without_its_broker_it_starts_late_and_runs():  # rs R-056
    with Nats() as nats:
        nats.kill()
        with hosted(settings(nats.place), "--state", "@.") as daemon:
            client = ready(daemon)
            check(status(client)["transport"]["reads"] == "database", status(client)["transport"])
            change(client, "node", "create", "n1", resource={"vcore": 20_000})
            change(client, "deployment", "create", "web", replicas=2)
            comes_to(client, "web", 2)
            nats.start()
            until("it is found", lambda: is_on_broker(client), 40)
            scale_behind_its_back(daemon, 3)
            comes_to(client, "web", 3)
            daemon.signal(signal.SIGTERM)
            check(daemon.exit_code() == 0 and "core: stopped" in daemon.text())


def test_a_broker_that_refuses_is_named_and_gone_back_to():  # rs R-056, rs R-154, rs R-168
    with Nats() as nats:
        nats.kill()
        nats.start("yk", "right")
        with hosted(settings(nats.place.replace("//", "//yk:secret@")), "--state", "@.") as daemon:
            client = ready(daemon)
            change(client, "node", "create", "n1", resource={"vcore": 20_000})
            change(client, "deployment", "create", "web", replicas=2)
            comes_to(client, "web", 2)
            sentence = f"nats at {nats.place} has not let itself be read"
            until("it is said", lambda: any(sentence in one and "refuses the connection" in one and "mcs.nats.url" in one
                                            for one in client.get("Status", {})["degraded"]))
            check("secret" not in said(daemon, client), "the password is shown")
            nats.kill()
            nats.start("yk", "secret")
            until("it is gone back to", lambda: is_on_broker(client), 60)
            scale_behind_its_back(daemon, 3)
            comes_to(client, "web", 3)
            until("nothing is amiss", lambda: client.get("Status", {})["degraded"] == [])


def test_wrong_settings_are_named():  # rs R-161, C-469
    for text, reason in (("mcs: {enabled: true, transport: nats}\n", "mcs.nats.url: nats://HOST:PORT"),
                         ("mcs: {enabled: true, kafka: {brokers: b}}\n", "mcs.kafka.brokers: has no effect without mcs.transport: kafka")):
        with hosted(text, "--state", "@.", wait=False) as daemon:
            check(daemon.exit_code() == 78 and reason in daemon.text(), daemon.text())


main(globals())
