# SPDX-License-Identifier: Apache-2.0
"""Lists by name, state and label, and by several columns (annoyance 6 of the administrator's day, and its table of guesses)."""
import json

from daemon_support import *
from daemon_support.running import Running, told

SETTINGS = "mcs: {enabled: true}\n"


def names(daemon, *words):
    """Nodes in the order of the numbers in their names."""
    order = ["--sort-by", "name"] if words[0].startswith("node") else []
    return told(daemon, *words, *order, "-o", "name").split()


def filled():
    daemon = Daemon()
    told(daemon, "rm", "register", "a")
    for number, attributes in ((1, ["rack=r1", "gpu=yes"]), (2, ["rack=r2"]), (10, ["rack=r1"]), (100, [])):
        told(daemon, "node", "add", f"w-{number}", "-R", f"vcore={number}", *[word for each in attributes for word in ("-a", each)])
    told(daemon, "node", "drain", "w-2", "w-100")
    for number in (1, 2):
        told(daemon, "app", "add", f"job-{number}", "--tag", f"namespace=team{number}")
        told(daemon, "ask", "add", f"job-{number}", "--key", f"k{number}", "-R", "vcore=1", "--tag", f"kind=t{number}")
        told(daemon, "ask", "add", f"job-{number}", "--key", f"big{number}", "-R", "vcore=1000", "--tag", "kind=large")
    return daemon


def test_names_and_patterns():
    with filled() as daemon:
        check(names(daemon, "node", "list", "w-1*") == ["w-1", "w-10", "w-100"], "by pattern")
        check(names(daemon, "nodes", "w-2", "w-10") == ["w-2", "w-10"], "by name")
        check(names(daemon, "node", "list", "w-?") == ["w-1", "w-2"], "by a mark for one letter")
        check(names(daemon, "app", "list", "*-2") == ["job-2"], "applications")
        check(names(daemon, "queue", "list", "root.team*") == ["root.team1", "root.team2"], "queues")
        check(names(daemon, "ask", "list", "big1") == ["big1"] and names(daemon, "alloc", "list", "k*") == ["k1", "k2"], "asks, allocations")
        check(names(daemon, "rm", "list", "a") == ["a"] and names(daemon, "partition", "list", "d*") == ["default"], "RMs, partitions")
        check(names(daemon, "user", "list", "root") == ["root"], "users")
        check(told(daemon, "node", "list", "x*") == "no nodes\n", "a pattern without a match")
        said = told(daemon, "node", "list", "w-1", "w-3", status=4)
        check("node 'w-3' is not there" in said and "which are there?  ykctl node list" in said and "w-1 " in said, said)


def test_states():
    with filled() as daemon:
        check(names(daemon, "node", "list", "--state", "drained") == ["w-2", "w-100"], "any case")
        check(len(names(daemon, "node", "list", "--state", "Active,drained")) == 4, "several")
        check(names(daemon, "node", "list", "w-1*", "--state", "Active", "--state", "Draining", "-l", "rack") == ["w-1", "w-10"], "all together")
        check(names(daemon, "rm", "list", "--state", "Running") == ["a"] and not names(daemon, "rm", "list", "--state", "Lost"), "RMs")
        check("root" in names(daemon, "queue", "list", "--state", "Active"), "queues")
        said = told(daemon, "node", "list", "--state", "Drainin", status=2)
        check("'Drainin' is no state of node; did you mean 'Draining'?" in said and "there are:  Active, Draining, Drained" in said, said)


def test_labels():
    with filled() as daemon:
        for selector, wanted in (("rack=r1", ["w-1", "w-10"]), ("rack==r1", ["w-1", "w-10"]), ("rack!=r1", ["w-2", "w-100"]), ("gpu", ["w-1"]), ("!rack", ["w-100"]),
                                 ("rack=r1,!gpu", ["w-10"]), ("rack=", [])):
            check(names(daemon, "node", "list", "-l", selector) == wanted, selector, names(daemon, "node", "list", "-l", selector))
        check(names(daemon, "node", "list", "-l", "rack=r1", "--selector", "gpu=yes") == ["w-1"], "both")
        check(names(daemon, "ask", "list", "-l", "kind=large") == ["big1", "big2"] and names(daemon, "alloc", "list", "-l", "kind=t2") == ["k2"], "tags")
        check("has no key" in told(daemon, "node", "list", "-l", "=x", status=2), "no key")
        check("sets (in, notin) are not understood" in told(daemon, "node", "list", "-l", "rack in (r1,r2)", status=2), "a set")
        items = [json.loads(line) for line in told(daemon, "node", "list", "-l", "gpu=yes", "-o", "jsonl").splitlines()]
        check([item["nodeID"] for item in items] == ["w-1"], items)


def test_several_columns_decide_the_order():
    with filled() as daemon:
        check(names(daemon, "node", "list", "--sort-by", "state,capacity:desc") == ["w-10", "w-1", "w-100", "w-2"], "two columns")
        check(names(daemon, "node", "list", "--sort-by", "-state,capacity:asc")[:1] == ["w-2"], "the largest first, as others say it")
        check(names(daemon, "node", "list", "--sort-by", "state:desc", "--sort-by", "name") == ["w-2", "w-100", "w-1", "w-10"], "given twice")


def test_a_watched_list_is_filtered_too():
    with filled() as daemon, Running(daemon, "node", "list", "w-1*", "-w", "--interval", "100ms") as watch:
        watch.says('"nodeID":"w-100"', on="out")
        told(daemon, "node", "add", "other", "-R", "vcore=1")
        told(daemon, "node", "add", "w-1000", "-R", "vcore=1")
        watch.says('"nodeID":"w-1000"', on="out")
        watch.signal(signal.SIGINT)
        watch.ends(130)
        check('"other"' not in watch.out and '"w-2"' not in watch.out, watch.out)


def test_deployments():
    with Daemon("--state", "@.", "--settings", "@conf", files={"conf": SETTINGS}) as daemon:
        client = daemon.client()
        until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
        told(daemon, "mcs", "node", "create", "n", "-R", "vcore=10", "-a", "rack=r1")
        told(daemon, "deployment", "create", "web", "--replicas", "1", "--tag", "tier=front", "--wait")
        told(daemon, "deployment", "create", "batch", "--replicas", "0")
        told(daemon, "deployment", "wait", "web")
        check(names(daemon, "deployment", "list", "w*") == ["web"] and names(daemon, "deployment", "list", "-l", "tier=front") == ["web"], "deployments")
        check("web" in names(daemon, "deployment", "list", "--state", "Scheduled"), "by state")
        check(names(daemon, "mcs", "node", "list", "-l", "rack=r1") == ["n"] and not names(daemon, "mcs", "node", "list", "--state", "draining"), "nodes")


main(globals())
