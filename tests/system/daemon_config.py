# SPDX-License-Identifier: Apache-2.0
"""Configuration over the wire: C-440 (all or nothing, over several partitions), C-441 and C-442 (registration), C-443
(updates), C-445 (unchanged text), C-460 (extraConfig), C-470 (validation), C-472 and C-473
(the stored configuration), C-475 (rules), C-476 (usage), C-478 (full dump), B-06 and B-12; I-411, I-436, I-440, I-625;
S-610 and S-611 (health checks run by themselves and find what failed)."""
from daemon_support import *

TWO = """
partitions:
  - name: default
    placementrules: [{name: provided}, {name: tag, value: namespace, create: true}]
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: a, resources: {max: {vcore: 5}}}
          - name: b
        limits: [{limit: kim, users: [kim], maxresources: {vcore: 3}}]
  - name: gpu
    queues: [{name: root, submitacl: "*", queues: [{name: a}]}]
"""


def update(client, config, **more):
    return client.change("UpdateConfiguration", {"rmID": "rm:1", "config": config, **more})


def settled_cluster(client):
    client.cluster()
    client.get("Sync", {"rmID": "rm:1"})  # questions overtake updates that wait


def names(client, partition="default"):
    return client.dump("queues", partition=partition)[0].get("childNames", [])


def test_users_are_looked_up_at_the_system():  # C-362, C-364: by a thread of its own, with and without a cache
    with Daemon() as daemon:
        client = daemon.client()
        client.register(config=CONFIG.replace("  - name: default\n", "  - name: default\n    usergroupresolver: {type: os}\n", 1))
        for round in range(2):
            client.change("UpdateApplication", {"rmID": "rm:1", "new": [
                {"applicationID": f"{round}-root", "queueName": "root.a", "ugi": {"user": "root"}},
                {"applicationID": f"{round}-who", "queueName": "root.a", "ugi": {"user": "no-such-user"}},
                {"applicationID": f"{round}-sent", "queueName": "root.a", "ugi": {"user": "no-such-user-either", "groups": ["dev"]}}]})
            client.get("Sync", {"rmID": "rm:1"})
            groups = {one["applicationID"]: one["groups"] for one in client.dump("apps")}
            check(groups[f"{round}-root"][0] == "root" and groups[f"{round}-sent"] == ["dev"], groups)
            check(f"{round}-who" not in groups, groups)
        why = [one["rejectedMessage"] for one in client.dump("apps", state="rejected")]
        check(len(why) == 2 and all("lookup failed for user: no-such-user" in one for one in why), why)
        check("cached data returned" in why[1] or "cached data returned" in why[0], why)
        found = client.get("Explain", {"what": "user", "queue": "root.a", "user": "nobody"})
        check(found["details"]["groups"] == ["nogroup"], found)
        found = client.get("Explain", {"what": "placement", "queue": "root.a", "user": "nobody"})
        check(found["details"]["groups"] == ["nogroup"], found)


def test_validation_answers_with_the_first_reason():
    with Daemon() as daemon:
        client = daemon.client(role="observer")
        good = client.get("ValidateConfiguration", {"config": CONFIG})
        check(good["allowed"] and not good["problems"], good)

        def reason(config):
            answer = client.get("ValidateConfiguration", {"config": config})
            check(not answer["allowed"] and answer["problems"][0]["line"] > 0, answer)
            return answer["reason"]

        text = reason("partitions: [{nodesortpolicy: {type: invalid}, queues: [{name: a}]}]")
        check(text.startswith("undefined policy: invalid"), text)
        text = reason("partitions: [{queues: [{name: a, limits: [{limit: '', users: [u], maxresources: {cpu: '0'}}]}]}]")
        check(text.startswith("MaxResources should be greater than zero in '' limit"), text)
        text = reason("partitions: [{queues: [{name: a, limits: [{limit: '', users: [u]}]}]}]")
        check(text.startswith("invalid resource combination for limit  all resource limits are null"), text)


def test_registration_starts_clean():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register(config=TWO, policyGroup="teams", buildInfo={"arch": "x"}, extraConfig={"event.maxStreams": "7"})
        settled_cluster(client)
        check([app["applicationID"] for app in client.dump("apps")] == ["app"])
        again = client.register(config=CONFIG)
        check(again["reRegistration"] and client.dump("apps") == [] and names(client) == ["root.a", "root.b"])
        error = client.refused("E_CONFIG_INVALID", "RegisterResourceManager", {"rmID": "rm:1", "config": "x: 1"}, mutating=True)
        check(error["message"].startswith("registration of RM failed: "), error)


def test_updates_are_all_or_nothing():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        error = client.refused("E_RM_UNKNOWN", "UpdateConfiguration", {"rmID": "rm:1", "config": CONFIG}, mutating=True)
        check(error["message"] == "update of configuration failed: RM rm:1 has no active partitions, make sure it is registered")
        first = client.register(config=TWO)["configChecksum"]
        settled_cluster(client)
        check(not update(client, TWO)["changed"])
        # The first partition is good and would lose b, the second is not.
        bad = TWO.replace("          - name: b\n", "").replace("[{name: a}]", "[{name: a, resources: {max: {vcore: x}}}]")
        error = client.refused("E_CONFIG_INVALID", "UpdateConfiguration",
                               {"rmID": "rm:1", "config": bad, "extraConfig": {"log.level": "debug"}}, mutating=True)
        check(error["message"].startswith("update of configuration failed: ") and error["details"]["line"] > 0, error)
        check(names(client) == ["root.a", "root.b"])
        stored = client.dump("config")
        check(stored["checksum"] == first and stored["extra"] == {}, stored)
        # A change of type is refused by the running state, and takes the good part with it.
        client.refused("E_CONFIG_INVALID", "UpdateConfiguration",
                       {"rmID": "rm:1", "config": TWO.replace("{name: a, res", "{name: a, parent: true, res").replace("vcore: 5", "vcore: 6")},
                       mutating=True)
        check(client.dump("queue", queue="root.a", partition="default")["maxResource"] == {"vcore": 5000})


def test_extra_config_stays_when_absent_and_goes_when_present():
    with Daemon() as daemon:
        client = daemon.client()
        client.register(config=CONFIG, extraConfig={"event.maxStreams": "0", "x": "y"})
        client.refused("E_BUSY", "EventStream", {"count": 0, "waitMs": 0})
        check(update(client, TWO)["changed"] and client.dump("config")["extra"] == {"event.maxStreams": "0", "x": "y"})
        check(not update(client, TWO, extraConfig={"event.RESTResponseSize": "1"})["changed"])
        check(client.dump("config")["extra"] == {"event.RESTResponseSize": "1"})
        check("non-reloadable" not in daemon.text())
        text = "ignoring non-reloadable configuration change (restart required to update): "  # C-466
        update(client, TWO, extraConfig={"event.RESTResponseSize": "1", "kubernetes.qps": "5", "api.token": "t0p"})
        until("it is said", lambda: text + "kubernetes.qps: 1000 -> 5" in daemon.text())
        client.change("SetExtraConfig", {"extraConfig": {"service.clusterId": "c"}})
        until("it is said", lambda: text + "service.clusterId: mycluster -> c" in daemon.text())
        shown = client.dump("config")["extra"]
        check(shown["kubernetes.qps"] == "5" and shown["api.token"] == "***", shown)  # I-440: secrets masked
        check(client.dump("full")["config"][0]["extra"]["api.token"] == "***")
        check("t0p" not in daemon.text())
        check(len(client.get("Events", {"start": 0})["EventRecords"]) == 1)
        check("streamID" in client.get("EventStream", {"count": 0, "waitMs": 0}))
        check(not update(client, TWO, extraConfig={"event.trackingEnabled": "false"})["changed"])
        client.refused("E_BAD_STATE", "Events", {"start": 0})


def test_a_trial_changes_nothing_and_the_way_back():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        first = client.register(config=CONFIG)["configChecksum"]
        settled_cluster(client)
        client.dump("apps")  # in a later turn of the owner than the last event
        events = client.get("Events", {"start": 0})["NextID"]
        trial = update(client, TWO, dryRun=True)
        kinds = [change["kind"] for change in trial["changes"]]
        check(trial["changed"] and "max" in kinds and "limits" in kinds and "partition-added" in kinds, trial)
        check(trial["partitions"] == ["[rm:1]default", "[rm:1]gpu"], trial)
        check(client.dump("config")["checksum"] == first and client.get("Events", {"start": 0})["NextID"] == events)
        update(client, TWO)
        history = client.dump("confighistory")
        check([one["active"] for one in history] == [True, False] and history[1]["checksum"] == first, history)
        back = client.change("UpdateConfiguration", {"rmID": "rm:1", "checksum": first[:8].lower()})
        check(back["changed"] and back["checksum"] == first, back)
        client.refused("E_NOT_FOUND", "UpdateConfiguration", {"rmID": "rm:1", "checksum": "FFFF"}, mutating=True)
        client.refused("E_INVALID", "UpdateConfiguration", {"rmID": "rm:1", "checksum": first, "config": TWO}, mutating=True)


def test_a_partition_in_another_case_is_the_same_one():  # C-030, C-446, I-111
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register(config=TWO)
        client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": "n", "action": 1, "attributes": {"si/node-partition": "gpu"}, "schedulableResource": {"vcore": 9}}]})
        client.get("Sync", {"rmID": "rm:1"})
        nodes = lambda: [node["nodeID"] for node in client.dump("nodes", partition="gpu")[0]["nodesInfo"]]
        check(nodes() == ["n"], nodes())
        other = TWO.replace("name: gpu", "name: GPU").replace("{name: a}]}]", "{name: z}]}]")
        trial = update(client, other, dryRun=True)
        check({one["kind"] for one in trial["changes"]} == {"queue-added", "queue-draining"}, trial["changes"])
        answer = update(client, other)
        check(answer["partitions"] == trial["partitions"] == ["[rm:1]default", "[rm:1]gpu"], answer)
        check(nodes() == ["n"], nodes())
        check(names(client, "gpu") == ["root.a", "root.z"], names(client, "gpu"))
        check([one["name"] for one in client.dump("config")["partitions"]] == ["default", "gpu"])
        client.refused("E_NOT_FOUND", "Dump", {"what": "nodes", "partition": "GPU"})


def test_usage_of_users_and_groups():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register(config=TWO)
        settled_cluster(client)
        client.change("UpdateApplication", {"rmID": "rm:1", "new": [
            {"applicationID": "k", "queueName": "root.a", "ugi": {"user": "kim", "groups": ["dev"]}}]})
        client.change("UpdateAllocation", {"rmID": "rm:1", "asks": [
            {"allocationKey": "1", "applicationID": "k", "resourceAsk": {"vcore": 1000}}]})
        client.change("Step", {"cycles": 3})
        kim = client.dump("user", user="kim", partition="default")
        check(kim["userName"] == "kim" and kim["queues"]["queuePath"] == "root", kim)
        check(kim["queues"]["resourceUsage"] == {"vcore": 1000} and kim["queues"]["maxResources"] == {"vcore": 3000}, kim)
        check(kim["queues"]["runningApplications"] == ["k"], kim)
        check([user["userName"] for user in client.dump("users", partition="default")] == ["kim"])
        check(client.dump("groups", partition="gpu") == [])
        def not_found(text, **what):
            message = client.refused("E_NOT_FOUND", "Dump", what)["message"]
            check(text in message, message)

        not_found("User not found", what="user", user="nobody")
        not_found("Group not found", what="group", group="nobody")
        not_found("Partition not found", what="user", user="kim", partition="none")
        not_found("Partition not found", what="groups", partition="none")
        check(client.refused("E_INVALID", "Dump", {"what": "user", "user": "9x"})["message"] == "Invalid user name")
        check(client.refused("E_INVALID", "Dump", {"what": "group", "group": "a b"})["message"] == "Invalid group name")
        checks = {one["Name"]: one["Succeeded"] for one in client.get("Health", {"run": True})["HealthChecks"]}
        check(len(checks) == 14 and all(checks.values()) and "User usage" in checks, checks)


def test_without_an_rm_every_check_is_listed():  # 5.6
    with Daemon() as daemon:
        result = daemon.client(role="observer").get("Health")
        check(result["Healthy"] and len(result["HealthChecks"]) == 13, result)


def failed_checks(client, **how):
    return [one["Name"] for one in client.get("Health", how)["HealthChecks"] if not one["Succeeded"]]


def test_health_is_checked_from_time_to_time():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register(extraConfig={"health.checkInterval": "20ms"})
        settled_cluster(client)
        at = client.get("Health")["At"]
        until("it is checked again", lambda: client.get("Health")["At"] > at)
        check(failed_checks(client) == [])
        client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": "lost", "action": 1, "attributes": {"si/node-partition": "nowhere"}, "schedulableResource": {"vcore": 1}}]})
        until("the failed node is found", lambda: failed_checks(client) == ["Failed nodes"])
        client.change("UpdateAllocation", {"rmID": "rm:1", "allocations": [
            {"allocationKey": "k", "applicationID": "app", "nodeID": "none", "resourcePerAlloc": {"vcore": 1}}]})
        until("the error is found", lambda: failed_checks(client) == ["Scheduling errors", "Failed nodes"])
        at = client.get("Health")["At"]
        until("it is checked twice more", lambda: client.get("Health")["At"] > at + 40_000_000)
        said = [line for line in daemon.text().splitlines() if "unhealthy" in line]
        check(len(said) == 2 and "Failed nodes: " in said[0] and "Main loop" not in said[0], "once for what is new:", said)


def test_the_full_dump_has_everything():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register(config=TWO)
        full = client.dump("full")
        for key in ("timestamp", "partitions", "applications", "appHistory", "nodes", "clusterInfo", "containerHistory",
                    "queues", "rmDiagnostics", "logLevel", "config", "placementRules", "eventStreams", "streams",
                    "reservations", "users", "groups", "bootID"):
            check(key in full, key, "is missing")
        rules = client.dump("rules", partition="default")[0]["rules"]
        check([rule["name"] for rule in rules] == ["provided", "tag", "recovery"], rules)
        check(rules[1]["parameters"] == {"create": "true", "tagName": "namespace"}, rules)
        history = client.dump("history")
        check(history["apps"] == [] and history["containers"] == [], history)
    with Daemon("--settings", "@conf", files={"conf": "historySize: 0\n"}) as daemon:
        daemon.client().refused("E_BAD_STATE", "Dump", {"what": "history"})


main(globals())
