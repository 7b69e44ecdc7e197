# SPDX-License-Identifier: Apache-2.0
"""What is shipped for Prometheus and Grafana, with a Prometheus that reads a daemon while a trace is played to it: the metrics keep to its rules for names and stand in
ykd-metrics(7), the alert rules are right and silent where all is well, and every panel of the dashboard shows something."""
from daemon_support import *

import json
import re
import urllib.parse

from daemon_support.brokered import YKCTL, ykctl
from daemon_support.deployments import change
from daemon_support.web import Web

ROOT = os.path.dirname(os.path.abspath(__file__)) + "/../.."
SHIPPED = ROOT + "/ykd/packaging/monitoring"
FILES = {"conf": "mcs: {enabled: true}\n",
         "queues": "partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: default}]}]}]\n"}
MAY_BE_EMPTY = ("Preempted", "Being preempted")  # where nothing is preempted


def promtool(*words, text=None):
    done = subprocess.run(["promtool", *words], input=text, capture_output=True, text=True, check=False)
    check(done.returncode == 0, words, done.stdout, done.stderr)


class Prometheus:
    """A private one, which reads the daemon at `port` once a second; ended by the with statement."""

    def __init__(self, folder, port):
        self.port = free_port()
        config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [SHIPPED + "/ykd-alerts.yml"],
                  "scrape_configs": [{"job_name": "ykd", "metrics_path": "/metrics", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}]}
        with open(folder + "/prometheus.yml", "w", encoding="utf-8") as file:
            json.dump(config, file)  # which is YAML
        self.log = open(folder + "/prometheus.log", "wb")
        self.process = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
                                         f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(DEADLINE)
        self.log.close()

    def is_ready(self):
        try:
            return Web(self.port).ask("/-/ready")[0] == 200
        except OSError:
            return False

    def api(self, path, **parameters):
        status, _, body = Web(self.port).ask(f"/api/v1/{path}?" + urllib.parse.urlencode(parameters))
        check(status == 200, path, parameters, body)
        return json.loads(body)["data"]

    def value(self, query):
        return self.api("query", query=query)["result"]


def queries():
    """Title and query of each panel, with everything chosen."""
    with open(SHIPPED + "/ykd-dashboard.json", encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    chosen = {"$instance": ".*", "$partition": ".*", "$queue": ".*", "$resource": "vcore", "$__rate_interval": "30s"}
    for panel in panels:
        for target in panel.get("targets", []):
            query = target["expr"]
            for name, value in chosen.items():
                query = query.replace(name, value)
            check("$" not in query, query)
            yield panel["title"], query


def work(daemon):
    for words in ("rm register k", "-r k node add n --count 4 -R vcore=8", "-r k app add a -q root.default",
                  "-r k ask add a -R vcore=1 -n 40"):
        ykctl(daemon, *words.split())
    change(daemon.client(), "deployment", "create", "web", replicas=2)


def replayed(daemon):
    """A trace of 400 pods that come, run and end within ten seconds; the playing process."""
    folder = daemon.folder + "/trace"
    ykctl(daemon, "replay", "gen", folder, "--pods", "400")
    return subprocess.Popen([YKCTL, "-s", "ipc://" + daemon.path, "-r", "trace", "replay", "--keep", "--speed", "4000", "--nodes", folder + "/nodes.csv",
                             "--pods", folder + "/pods.csv"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_names_and_manual():
    port = free_port()
    with Daemon("--http", f"127.0.0.1:{port}", "--legacy-queue-metrics", "--state", "@.", "--config", "@queues", "--settings", "@conf",
                files=FILES) as daemon:
        work(daemon)
        text = until("MCS runs", lambda: (lambda body: "mcs_deployments{" in body and body)(Web(port).ask("/metrics")[2].decode()))
        promtool("check", "metrics", text=text)
        with open(ROOT + "/man/ykd-metrics.7", encoding="utf-8") as file:
            page = file.read()
        families = re.findall(r"^# TYPE (\S+) ", text, re.M)
        check(len(families) > 60 and len(families) == len(set(families)), families)
        missing = [name for name in families if f".It Ic {name}\n" not in page]
        check(not missing, "not in ykd-metrics(7):", missing)
        check('ykd_scheduler_node_usage{partition="[k]default",resource="vcore",range="(90%,100%]"} 4' in text, text)
        check('ykd_queue_containers_total{partition="[k]default",queue="root.default",state="allocated"} 32' in text, text)
        check("yunikorn" not in text and "_milliseconds" not in text, text)


def test_dashboard_and_alerts():
    promtool("check", "rules", SHIPPED + "/ykd-alerts.yml")
    promtool("test", "rules", SHIPPED + "/ykd-alerts-test.yml")
    port = free_port()
    with Daemon("--http", f"127.0.0.1:{port}", "--state", "@.", "--config", "@queues", "--settings", "@conf", files=FILES) as daemon:
        with Prometheus(daemon.folder, port) as prometheus:
            until("Prometheus runs", prometheus.is_ready)
            work(daemon)
            until("it reads the daemon", lambda: prometheus.value('up{job="ykd"} == 1'))
            with replayed(daemon) as trace:
                check(trace.wait(DEADLINE) == 0, trace.communicate()[0])
            until("replicas are seen", lambda: prometheus.value("mcs_replicas_desired == 2"))
            rates = prometheus.api("query", query='rate(ykd_queue_containers_total{partition="[trace]default",state="allocated"}[5s])[60s:1s]')
            check(any(float(rate) > 0 for one in rates["result"] for _, rate in one["values"]), "the trace at work was not seen:", rates)
            for title, query in queries():
                if title in MAY_BE_EMPTY:
                    prometheus.value(query)
                    continue
                until(f"{title}: {query}", lambda query=query: any(one["value"][1] != "NaN" for one in prometheus.value(query)))
            rules = until("the rules were tried",
                          lambda: (lambda all_: all(one["health"] != "unknown" for one in all_) and all_)(
                              [one for group in prometheus.api("rules")["groups"] for one in group["rules"]]))
            check(len(rules) == 12 and all(one["health"] == "ok" for one in rules), rules)
            firing = [one["labels"]["alertname"] for one in prometheus.api("alerts")["alerts"] if one["state"] == "firing"]
            check(not firing, firing)
            daemon.end()
            until("its end is noticed", lambda: [one for one in prometheus.api("alerts")["alerts"] if one["labels"]["alertname"] == "YkdDown"])


main(globals())
