# SPDX-License-Identifier: Apache-2.0
"""apply, diff and delete of files, --if-not-exists, and what is shown read back (annoyances 2, 3 and 12 of the administrator's day, and
section 5, 3)."""
import json
import os
import subprocess

from daemon_support import *
from daemon_support.running import PROD_AND_BATCH, YKCTL, told

CLUSTER = """nodes:
- nodeID: n-1
  attributes: {rack: r1}
  schedulableResource: {memory: 16Gi, vcore: 8}
- nodeID: n-2
  capacity: {memory: 16Gi, vcore: 8}
  schedulable: false
applications:
- {applicationID: web, queueName: root.prod, user: ann, groups: [staff]}
asks:
- {allocationKey: web-1, applicationID: web, resourceAsk: {memory: 2Gi, vcore: 2}}
- {allocationKey: web-2, applicationID: web, resourceAsk: {vcore: 100000}, priority: 3, tags: {tier: front}}
"""
CREATED = """node n-1 created
node n-2 created
app web created in root.prod
ask web-1 placed on n-1
ask web-2 created
"""


def started():
    daemon = Daemon("--config", "@queues.yaml", files={"queues.yaml": PROD_AND_BATCH})
    told(daemon, "rm", "register", "a")
    return daemon


def fed(daemon, text, *words, status=0):
    """What a command said that read `text` from its standard input."""
    done = subprocess.run([YKCTL, "-s", daemon.path, *words], input=text, capture_output=True, text=True, timeout=60, check=False)
    check(done.returncode == status, words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def apply(daemon, text, *words, status=0):
    return fed(daemon, text, "apply", "-f", "-", *words, status=status)


def test_created_and_left_alone():
    with started() as daemon:
        said = apply(daemon, CLUSTER)
        check(said == CREATED, "created in the order in which they need each other", said)
        check(apply(daemon, CLUSTER) == "node n-1 unchanged\nnode n-2 unchanged\napp web unchanged\nask web-1 unchanged\nask web-2 unchanged\n", "again")
        check(fed(daemon, CLUSTER, "diff", "-f", "-") == "no changes\n", "nothing differs")
        node = json.loads(told(daemon, "node", "show", "n-1", "-o", "json"))["item"]
        check(node["capacity"] == {"memory": 16 << 30, "vcore": 8000} and node["attributes"]["rack"] == "r1", node)
        check(told(daemon, "node", "list", "--state", "Drained", "-o", "name") == "n-2\n", "schedulable: false")
        check(json.loads(told(daemon, "app", "show", "web", "-o", "json"))["item"]["groups"] == ["staff"], "groups")


def test_changes_are_shown_and_made():
    with started() as daemon:
        apply(daemon, CLUSTER)
        other = CLUSTER.replace("rack: r1", "rack: r2").replace("16Gi, vcore: 8}\n  sched", "16Gi, vcore: 4}\n  sched").replace("priority: 3", "priority: 4")
        other = other.replace("schedulable: false", "schedulable: true") + "- {allocationKey: web-3, applicationID: web, resourceAsk: {vcore: 1}}\n"
        would = """node n-1 would be changed: attributes {rack: r1} -> {rack: r2}
node n-2 would be changed: capacity {memory: 16Gi, vcore: 8} -> {memory: 16Gi, vcore: 4}, state drained -> schedulable
ask web-2 would be changed: priority 3 -> 4
ask web-3 would be created
"""
        check(fed(daemon, other, "diff", "-f", "-", status=8) == would, fed(daemon, other, "diff", "-f", "-", status=8))
        check("app web unchanged\n" in apply(daemon, other, "--dry-run"), "a dry run says what stays, too")
        check(fed(daemon, CLUSTER, "diff", "-f", "-") == "no changes\n", "neither has changed anything")
        said = apply(daemon, other, "-o", "json")
        items = {item["id"]: item for item in json.loads(said)["items"]}
        check(items["n-1"] == {"id": "n-1", "outcome": "changed", "kind": "node",
                               "changes": [{"field": "attributes", "from": "{rack: r1}", "to": "{rack: r2}"}]}, items)
        check(items["web"]["outcome"] == "unchanged" and items["web"]["kind"] == "app" and items["web-2"]["outcome"] == "changed", items)
        check(items["web-3"]["outcome"] == "placed" and items["web-3"]["nodeID"] in ("n-1", "n-2"), items)
        check(fed(daemon, other, "diff", "-f", "-") == "no changes\n", "all is as the file says")
        check(json.loads(told(daemon, "ask", "show", "web-2", "-o", "json"))["item"]["priority"] == "4", "the ask")
        said = apply(daemon, "allocationKey: web-1\napplicationID: web\nresourceAsk: {memory: 3Gi, vcore: 2}\npriority: 9\n")
        check(said == "ask web-1 changed: size {memory: 2Gi, vcore: 2} -> {memory: 3Gi, vcore: 2}\n", "of one that is placed only the size", said)


def test_a_reason_for_draining_stays():
    with started() as daemon:
        apply(daemon, "nodeID: n\nschedulableResource: {vcore: 8}\n")
        told(daemon, "node", "drain", "n", "--reason", "disk")
        apply(daemon, "nodeID: n\nschedulableResource: {vcore: 9}\nattributes: {rack: r1}\n")
        listed = told(daemon, "node", "list", "-o", "wide")
        check("disk" in listed and "Drained" in listed and "9 vcore" in listed, listed)


def test_what_cannot_be_so_is_said():
    with started() as daemon:
        apply(daemon, CLUSTER)
        said = apply(daemon, "applicationID: web\nuser: eve\n", status=1)
        check("app web refused: it belongs to the user ann, and in the file to eve; an application stays as it was submitted" in said, said)
        check(apply(daemon, "applicationID: web\nqueueName: batch\n") == "app web unchanged in root.prod (the file wishes batch)\n", "another queue")
        said = apply(daemon, "nodeID: n-1\naction: DECOMISSION\n", status=1)
        check("ykctl delete -f" in said, said)
        said = apply(daemon, "nodeID: x\ncapacity: {vcore: 1}\n---\nnodeID: x\n", status=2)
        check(said.startswith("ykctl: standard input: node x is there twice"), said)
        said = apply(daemon, "partitions: []\n", status=2)
        check("what is this?" in said and "ykctl config reload -f FILE" in said, said)
        said = apply(daemon, "allocationKey: k\napplicationID: nobody\nresourceAsk: {vcore: 1}\n", status=4)
        check("ask k refused" in said, said)
        check(apply(daemon, "# nothing\n", status=2).startswith("ykctl: standard input: holds no node, application or ask"), "an empty file")
        said = apply(daemon, "nodeID: y\ncapacity: {memory: 1.5Gi}\n", status=2)
        check("standard input:2:20: capacity.memory: invalid quantity \"1.5Gi\" (no fractions: write 1536Mi)" in said, said)
        check("node y" not in told(daemon, "node", "list"), "a file with a fault changes nothing")


def test_what_is_shown_is_read_back():
    with started() as daemon:
        apply(daemon, CLUSTER)
        shown = {kind: told(daemon, kind, "list", "-o", form) for kind, form in (("node", "yaml"), ("app", "json"), ("ask", "jsonl"))}
        one = told(daemon, "node", "show", "n-1", "-o", "yaml")
        for kind, text in shown.items():
            check("unchanged" in apply(daemon, text) and "changed:" not in apply(daemon, text), kind, apply(daemon, text))
        with started() as other:
            check(fed(other, one, "node", "add", "-f", "-") == "node n-1 added\n", "node show -o yaml | node add -f -")
            check("n-2 created" in apply(other, shown["node"]), "the other node")
            check(apply(other, shown["app"]) == "app web created in root.prod\n", "app list -o json | apply")
            check(apply(other, shown["ask"]) == "ask web-2 created\n", "ask list -o jsonl | apply")
            for kind in ("node", "app"):
                now, then = (json.loads(told(each, kind, "list", "-o", "json"))["items"] for each in (other, daemon))
                for field in ("attributes", "capacity", "schedulable", "user", "groups", "queueName"):
                    check([one.get(field) for one in now] == [one.get(field) for one in then], kind, field, now, then)


def test_deleted():
    with started() as daemon:
        apply(daemon, CLUSTER)
        said = fed(daemon, "nodeID: n-1\n---\nnodeID: n-9\n", "delete", "-f", "-", status=1)
        check("node n-1 refused: it still has 1 allocation; drain it first, or release them with it: --force" in said and "node n-9 absent" in said, said)
        said = fed(daemon, CLUSTER, "delete", "-f", "-")
        check(said == "ask web-1 released\nask web-2 removed\napp web removed\nnode n-1 removed\nnode n-2 removed\n", "what needs others first", said)
        said = fed(daemon, CLUSTER, "delete", "-f", "-")
        check(said.count("absent") == 5, "again", said)
        check(apply(daemon, CLUSTER) == CREATED, "and all of it again")
        check(fed(daemon, "nodeID: n-1\n", "delete", "-f", "-", "--force") == "node n-1 removed\n", "by force")


def test_if_not_exists():
    with started() as daemon:
        for outcome in ("added", "unchanged"):
            check(told(daemon, "node", "add", "n", "-R", "vcore=4", "--if-not-exists") == f"node n {outcome}\n", outcome)
        check("node n refused" in told(daemon, "node", "add", "n", "-R", "vcore=4", status=1), "without it")
        check(told(daemon, "app", "add", "x", "y", "-q", "root.prod", "--if-not-exists").count("accepted") == 2, "applications")
        check(told(daemon, "app", "add", "y", "z", "-q", "root.prod", "--if-not-exists") == "app y unchanged\napp z accepted in root.prod\n", "one more")
        check(told(daemon, "ask", "add", "x", "--key", "k", "-R", "vcore=1", "--if-not-exists") == "ask k placed on n\n", "an ask")
        check(told(daemon, "ask", "add", "x", "--key", "k", "-R", "vcore=3", "--if-not-exists") == "ask k unchanged\n", "placed")
        check(told(daemon, "ask", "add", "x", "--key", "big", "-R", "vcore=9", "--if-not-exists") == "ask big added\n", "one that waits")
        said = told(daemon, "ask", "add", "x", "--key", "big", "-R", "vcore=9", "--if-not-exists", "--wait", "--timeout", "100ms", status=7)
        check("ask big unchanged" in said and "not placed within 100ms" in said, "it is waited for all the same", said)
        nodes = "".join(f"- {{nodeID: n-{i}, capacity: {{vcore: 1}}}}\n" for i in range(800))
        check(fed(daemon, nodes, "node", "add", "-f", "-") == "800 nodes added\n", "many")
        check(fed(daemon, nodes, "node", "add", "-f", "-", "--if-not-exists") == "800 nodes unchanged\n", "one line for all of them")


def test_many():
    with started() as daemon:
        with open(os.path.join(daemon.folder, "many.jsonl"), "w", encoding="utf-8") as file:
            for i in range(2500):
                file.write(json.dumps({"nodeID": f"n-{i}", "schedulableResource": {"vcore": 8000}}) + "\n")
            for i in range(50):
                file.write(json.dumps({"applicationID": f"a-{i}", "queueName": "root.prod", "user": "ann"}) + "\n")
            for i in range(20000):
                file.write(json.dumps({"allocationKey": f"k-{i}", "applicationID": f"a-{i % 50}", "resourceAsk": {"vcore": 500}}) + "\n")
        check(told(daemon, "apply", "-f", file.name) == "2500 nodes created\n50 apps created\n20000 asks placed\n", "at once")
        check(told(daemon, "apply", "-f", file.name) == "2500 nodes unchanged\n50 apps unchanged\n20000 asks unchanged\n", "again")
        check(told(daemon, "delete", "-f", file.name) == "20000 asks released\n50 apps removed\n2500 nodes removed\n", "gone")


def test_a_partition_of_its_own():
    queues = "partitions:\n" + "".join(f"  - name: {name}\n    queues:\n      - {{name: root, submitacl: '*', queues: [{{name: q}}]}}\n" for name in ("default", "gpu"))
    with Daemon("--config", "@q.yaml", files={"q.yaml": queues}) as daemon:
        told(daemon, "rm", "register", "a")
        text = "nodeID: n\ncapacity: {vcore: 4}\n---\n{applicationID: x, queueName: root.q}\n---\n{allocationKey: k, applicationID: x, resource: {vcore: 1}}\n"
        check(apply(daemon, text, "-p", "gpu").count("created") + 1 == 3, "in the partition of -p")
        check(fed(daemon, text, "diff", "-f", "-", status=8).count("would be created") == 3, "another partition has none of it")
        check(fed(daemon, text, "diff", "-f", "-", "-p", "gpu") == "no changes\n", "this one has")
        check(apply(daemon, text).count("created") + 1 == 3, "both have the same names")
        check(apply(daemon, told(daemon, "node", "list", "-o", "yaml")) == "node n unchanged\nnode n unchanged\n", "each in its own")
        check(fed(daemon, text, "delete", "-f", "-", "-p", "gpu").count("removed") == 2, "only there")
        check(told(daemon, "node", "list", "-o", "name") == "n\n", "the other stays")


main(globals())
