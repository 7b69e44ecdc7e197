# SPDX-License-Identifier: Apache-2.0
"""Deployments whose changes come by brokers of Kafka, which go away, come back, and are killed."""
from daemon_support import *
from daemon_support.brokered import (change, check_reads_database, comes_to, hosted, is_on_broker, kafka_settings, metrics, ready,
                                     scale_behind_its_back, status, ykctl)
from daemon_support.kafka import Kafka, is_built


def test_changes_come_by_kafka_over_its_end():  # rs R-046, rs R-056, rs R-153, rs R-154, rs R-158, rs R-168, F-18, F-22
    if not is_built():
        print("SKIPPED: there is no mock_kafka, since librdkafka is not installed")
        return
    with Kafka() as kafka:
        with hosted(kafka_settings(kafka.place), "--state", "@.") as daemon:
            client = ready(daemon)
            change(client, "node", "create", "n1", resource={"vcore": 20_000})
            change(client, "deployment", "create", "web", replicas=3)
            comes_to(client, "web", 3)
            until("the brokers are read", lambda: is_on_broker(client), 40)
            check("@kafka " in status(client)["position"], status(client)["position"])
            until("it is the relay", lambda: status(client)["relay"]["running"] and status(client)["relay"]["underWay"] == 0)
            scale_behind_its_back(daemon, 4)
            comes_to(client, "web", 4)
            check(is_on_broker(client), "it came by the database", status(client)["transport"])
            check(status(client)["transport"]["place"] == kafka.place, status(client)["transport"])
            shown = ykctl(daemon, "mcs", "status")
            check(f"kafka at {kafka.place}, up" in shown and "running" in shown, shown)
            until("all is well", lambda: metrics(client)["mcs_transport_up"] == "1" and metrics(client)["mcs_relay_running"] == "1")
            check(int(metrics(client)["mcs_relay_confirmed_total"]) >= 4, metrics(client))

            kafka.down()
            change(client, "deployment", "scale", "web", replicas=5)  # what it writes itself it sees without
            comes_to(client, "web", 5)
            check_reads_database(daemon, client, f"kafka at {kafka.place}", 40)
            scale_behind_its_back(daemon, 6)
            comes_to(client, "web", 6)

            kafka.up()
            until("they are back", lambda: is_on_broker(client), 40)
            until("it relays again", lambda: status(client)["relay"]["running"], 40)  # it may have given that up for a while
            scale_behind_its_back(daemon, 7)
            comes_to(client, "web", 7)
            until("the brokers are read", lambda: is_on_broker(client), 40)
            until("nothing is amiss", lambda: client.get("Status", {})["degraded"] == [] and status(client)["staleMs"] == 0, 40)
            until("all is sent", lambda: status(client)["relay"]["underWay"] == 0 and status(client)["relay"]["lagMs"] == 0)
            check(all(kind["repairs"] == 0 for kind in status(client)["kinds"]), status(client)["kinds"])

            daemon.restart(signal.SIGKILL)
            client = ready(daemon)
            until("it relays again", lambda: status(client)["relay"]["running"], 40)
            until("the brokers are read", lambda: is_on_broker(client), 40)
            scale_behind_its_back(daemon, 8)
            comes_to(client, "web", 8)
            check(status(client)["relay"]["gaps"] == 0, "it went on where it had been", status(client)["relay"])

            kafka.kill()
            check_reads_database(daemon, client, f"kafka at {kafka.place}", 40)
            scale_behind_its_back(daemon, 9)
            comes_to(client, "web", 9)


main(globals())
