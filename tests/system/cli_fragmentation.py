# SPDX-License-Identifier: Apache-2.0
"""What is idle and can be used by nobody, wherever it is shown (F-034, I-518): ykctl, REST, metrics, top, explain; and the experiment of a trace."""
import json
import os
import subprocess

from daemon_support import *
from daemon_support.running import YKCTL, told
from daemon_support.web import web_daemon

QUEUES = """
partitions:
  - name: default
    queues: [{name: root, submitacl: "*", queues: [{name: a}]}]
    nodesortpolicy:
      type: %s
      fragmentation:
        workload:
          - {resources: {gpu: 1000, vcore: 4}, weight: 3}
          - {resources: {gpu: 500, vcore: 1}, weight: 1}
"""


def started(policy="fragmentation"):
    """With half a device in use on g1, and two of eight cores on c1, which has no devices."""
    daemon, web = web_daemon("--config", "@queues.yaml", "--manual-schedule", files={"queues.yaml": QUEUES % policy})
    told(daemon, "rm", "register", "a")
    told(daemon, "node", "add", "g1", "-R", "vcore=8", "--devices", "gpu=2x1000")
    told(daemon, "app", "add", "job", "--queue", "root.a")
    told(daemon, "ask", "add", "job", "--key", "half", "-R", "vcore=1,gpu=500")
    told(daemon, "sched", "step", "1")
    told(daemon, "node", "add", "c1", "-R", "vcore=8")
    told(daemon, "ask", "add", "job", "--key", "two", "-R", "vcore=2")
    told(daemon, "sched", "step", "1")
    return daemon, web


def of_cluster(daemon, *words):
    return json.loads(told(daemon, "cluster", "fragmentation", *words, "-o", "json"))["items"]


def test_by_cause_and_by_node():
    daemon, web = started()
    with daemon:
        text = told(daemon, "cluster", "fragmentation")
        for part in ("gpu, beside vcore", "375: 25.0 % of what is idle can be used by nobody", "25.0 % no device has enough left",
                     "as the configuration says", "75.0 %"):
            check(part in text, part, text)
        one, = of_cluster(daemon)
        check(one["idle"] == 1500 and one["fragments"] == 375 and one["ratio"] == 0.25 and one["causes"]["devices"] == 375, one)
        nodes = {node["nodeID"]: node for node in of_cluster(daemon, "--nodes")}
        check(nodes["g1"]["fragments"] == 375 and nodes["c1"]["idle"] == 0, nodes)
        check("g1" in told(daemon, "cluster", "fragmentation", "--nodes", "--sort-by", "-unusable").splitlines()[1], "the worst first")
        check(web.get("partition/default/fragmentation")["fragments"] == 375, "REST")
        check({node["nodeID"] for node in web.get("partition/default/fragmentation/nodes")} == {"g1", "c1"}, "REST, of nodes")
        web.refused(404, "partition/other/fragmentation")
        check(web.get("page/partition/default/nodes")["fragmentation"]["ratio"] == 0.25, "the page")
        metrics = web.ask("/metrics")[2].decode()
        check('ykd_scheduler_fragmentation_ratio{partition="[a]default"} 0.25' in metrics or
              "ykd_scheduler_fragmentation_ratio 0.25" in metrics, [line for line in metrics.splitlines() if "fragmentation" in line])
        check("25.0% of idle unusable" in told(daemon, "top", "--once"), told(daemon, "top", "--once"))
        check("ykctl cluster fragmentation" in told(daemon, "fragmentation", status=2), "a guess")
        told(daemon, "node", "drain", "g1")
        check(of_cluster(daemon)[0]["idle"] == 0, "what is drained is not idle")


def test_explain_names_the_node_that_was_passed():
    daemon, _ = started()
    with daemon:
        told(daemon, "ask", "add", "job", "--key", "six", "-R", "vcore=6")
        text = " ".join(told(daemon, "explain", "ask", "six").split())
        check("SCHEDULABLE" in text and "NODE_ORDER" in text, text)
        check("node c1 comes first: with the ask on it no more of gpu is idle that nobody can use; on the emptiest, g1, 750 more" in text, text)
        told(daemon, "sched", "step", "1")
        check("placed on node c1" in told(daemon, "explain", "ask", "six"), "there it is")
        told(daemon, "ask", "add", "job", "--key", "seven", "-R", "vcore=7")
        told(daemon, "sched", "step", "1")
        text = told(daemon, "cluster", "fragmentation")
        check("75.0 % of what is idle can be used by nobody" not in text, text)
        check("1500: 100.0 % of what is idle can be used by nobody" in text and "the node lacks vcore" in text, text)


def test_the_measure_under_another_policy():
    daemon, web = started("fair")
    with daemon:
        check(of_cluster(daemon)[0]["ratio"] == 0.25, "the same")
        check("fragmentation_ratio" not in web.ask("/metrics")[2].decode(), "no metric of a policy that does not measure it")
        told(daemon, "ask", "add", "job", "--key", "six", "-R", "vcore=6")
        check("NODE_ORDER" not in told(daemon, "explain", "ask", "six"), "nothing was passed")


def ykctl(*words, status=0):
    done = subprocess.run([YKCTL, *words], capture_output=True, text=True, timeout=300, check=False)
    check(done.returncode == status, words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def test_experiment():
    daemon, _ = started()
    with daemon:
        folder = daemon.folder + "/trace"
        ykctl("replay", "gen", folder, "--nodes", "30", "--pods", "300")
        trace = ["--nodes", folder + "/nodes.csv", "--pods", folder + "/pods.csv"]
        learnt = ykctl("replay", "--learn", "--pods", folder + "/pods.csv")
        queues = "partitions:\n  - name: default\n    queues: [{name: root}]\n" + "".join("    " + line + "\n" for line in learnt.splitlines())
        with open(folder + "/queues.yaml", "w", encoding="utf-8") as file:
            file.write(queues)
        ykctl("config", "check", folder + "/queues.yaml")
        svg = folder + "/curves.svg"
        value = json.loads(ykctl("replay", "--experiment", "fgd", *trace, "--runs", "2", "--policy", "fragmentation", "--policy", "fair", "--svg", svg, "-o", "json"))
        again = json.loads(ykctl("replay", "--experiment", "fgd", *trace, "--runs", "2", "--policy", "fragmentation", "-o", "json"))
        check(value["curves"][0] == again["curves"][0], "the same seed, the same curve")
        curves = {curve["policy"]: curve["points"] for curve in value["curves"]}
        check(set(curves) == {"fragmentation", "fair"}, set(curves))
        for policy, points in curves.items():
            check(len(points) == 131 and points[0]["allocated"] == 0, policy)
            check(all(before["allocated"] <= after["allocated"] <= 1 for before, after in zip(points, points[1:])), policy, "never falls")
            check(all(point["allocated"] <= point["arrived"] + 1e-9 for point in points), policy, "no more than was asked for")
            check(all(point["allocated"] + point["unusable"] <= 1 + 1e-9 for point in points), policy)
        check(curves["fragmentation"][-1]["allocated"] > curves["fair"][-1]["allocated"], "fuller", curves["fragmentation"][-1], curves["fair"][-1])
        check(os.path.getsize(svg) > 1000, "a picture")
        ykctl("replay", "--experiment", "fgd", *trace, "--learnt", "--policy", "fragmentation")
        check("--speed" in ykctl("replay", "--experiment", "fgd", *trace, "--keep", status=2), "what does not go together")
        check("for --experiment only" in ykctl("replay", *trace, "--seed", "2", status=2), "nor this")
        check("one of" in ykctl("replay", "--experiment", "fgd", *trace, "--policy", "odd", status=2), "no such policy")
        with open(folder + "/none.csv", "w", encoding="utf-8") as file:
            file.write("sn,cpu_milli,memory_mib,gpu,model\nn,1000,1000,0,\n")
        check("no node has a GPU" in ykctl("replay", "--experiment", "fgd", "--nodes", folder + "/none.csv", "--pods", folder + "/pods.csv", status=2), "none")


main(globals())
