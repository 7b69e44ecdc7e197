# SPDX-License-Identifier: Apache-2.0
"""Metrics that nobody pushes: of a page that the test serves, and of the core (rs R-112, rs R-121)."""
import http.server
import json
import subprocess
import threading

from daemon_support import *

YKCTL = os.path.join(os.environ["YK_BIN"], "ykctl")


class Pages:
    """A server on 127.0.0.1 that answers every request with `status` and `text`."""

    def __init__(self):
        self.status, self.text, self.paths = 200, "", []
        pages = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                pages.paths.append(self.path)
                self.send_response(pages.status)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(pages.text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.place = f"127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def hosted(allowed):
    conf = json.dumps({"mcs": {"enabled": True, "autoscaler": {"period": "1s"}, "metrics": {"allowedHosts": allowed}}})
    return Daemon("--state", "@.", "--settings", "@conf", files={"conf": conf})


def ready(daemon):
    client = daemon.client()
    until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
    return client


def create(client, name, metric=None, least=1, most=20, vcore=1000, replicas=None):
    body = {"name": name, "user": "u", "resource": {"vcore": vcore}}
    if metric:
        body.update(policy=json.dumps({"metrics": [metric], "up": {"rates": []}, "down": {"windowSeconds": 0}}), minReplicas=least, maxReplicas=most)
    else:
        body["replicas"] = replicas
    return {"verb": "create", "kind": "deployment", "body": body}


def described(client, name):
    return client.get("McsRead", {"what": "describe", "kind": "deployment", "id": name})["item"]


def desired(client, name):
    return described(client, name).get("scale", {}).get("desired")


def active(client, name):
    conditions = described(client, name).get("scale", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == "ScalingActive"), {})


def metrics(client):
    text = client.get("Metrics", {"prefix": "mcs_"})["text"]
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


def page_metric(pages, **more):
    return {"name": "queue_messages", "source": "prometheus", "type": "average", "target": 10000,
            "url": f"http://{pages.place}/metrics", "labels": {"queue": "mail"}, **more}


def test_a_page_decides():  # rs R-112, rs R-121
    with Pages() as pages, hosted([pages.place]) as daemon:
        client = ready(daemon)
        pages.text = '# TYPE queue_messages gauge\nqueue_messages{queue="mail"} 35\nqueue_messages{queue="other"} 1000\n'
        client.change("McsWrite", create(client, "mailer", page_metric(pages)))
        client.change("McsWrite", create(client, "second", page_metric(pages)))
        until("as many as the page asks for", lambda: desired(client, "mailer") == desired(client, "second") == 4)
        check(set(pages.paths) == {"/metrics"}, pages.paths)
        check(active(client, "mailer")["status"] and "message" not in active(client, "mailer"), active(client, "mailer"))
        seen = metrics(client)
        check(int(seen["mcs_metric_pages_total"]) <= int(seen['mcs_autoscaler_decisions_total{direction="none",reason="WithinTolerance"}']) + 4,
              "one page for both", seen)
        check(int(seen['mcs_autoscaler_decisions_total{direction="up",reason="MetricAboveTarget"}']) >= 2, seen)
        pages.status = 503
        said = f"metric queue_messages: http://{pages.place}/metrics: it answered 503"
        until("the condition says why", lambda: active(client, "mailer").get("message") == said, 60)
        check(not active(client, "mailer")["status"] and desired(client, "mailer") == 4, described(client, "mailer"))
        shown = subprocess.run([YKCTL, "--socket", "ipc://" + daemon.path, "deployment", "show", "mailer"], capture_output=True, text=True, check=True)
        check("ScalingActive: " + said in shown.stdout, shown.stdout)
        check(int(metrics(client)["mcs_metric_page_failures_total"]) >= 1)
        pages.status, pages.text = 200, "<html>login</html>\n"
        until("the page is refused", lambda: "line 1 of the page" in active(client, "mailer").get("message", ""), 60)
        pages.text = 'queue_messages{queue="mail"} 61\n'
        until("it goes on", lambda: desired(client, "mailer") == 7)
        client.refused("E_INVALID", "McsWrite", {"verb": "metric", "kind": "deployment", "id": "mailer",
                                                 "body": {"metric": {"name": "queue_messages", "value": 1}}}, mutating=True)


def test_only_hosts_of_the_settings_are_asked():  # rs R-112
    with Pages() as pages, hosted(["127.0.0.2", "127.0.0.1:1"]) as daemon:
        client = ready(daemon)
        for url in (f"http://{pages.place}/metrics", "http://localhost/", "file:///etc/passwd", f"http://u@{pages.place}/",
                    "http://127.0.0.2@" + pages.place):
            err = client.refused("E_INVALID", "McsWrite", create(client, "web", page_metric(pages, url=url)), mutating=True)
            check(err["path"] == "body.policy.metrics[0].url", url, err)
        check(pages.paths == [], "nobody was asked")


def test_the_core_decides():  # rs R-112
    with hosted([]) as daemon:
        client = ready(daemon)
        client.change("McsWrite", {"verb": "create", "kind": "node", "id": "n1", "body": {"resource": {"vcore": 10000}}})
        client.change("McsWrite", create(client, "base", replicas=5))
        until("they run", lambda: described(client, "base").get("schedule", {}).get("placed") == 5)
        core = lambda name, type, target: {"name": name, "source": "core", "type": type, "target": target}
        client.change("McsWrite", create(client, "provider", core("allocatedPercent", "value", 25000), vcore=1, most=3))
        until("there are more, since the nodes are half full", lambda: desired(client, "provider") == 3)
        client.change("McsWrite", create(client, "large", replicas=9))
        client.change("McsWrite", create(client, "helper", core("pendingReplicas", "average", 1000), vcore=1))
        until("one for each that waits", lambda: desired(client, "helper") in (4, 5), 60)
        stuck = core("pendingReplicas", "average", 500)
        client.change("McsWrite", create(client, "stuck", stuck, vcore=100_000, most=50))
        pending = lambda name: described(client, name).get("schedule", {}).get("pending")
        until("two for each other that waits, and its own do not count",
              lambda: pending("helper") == 0 and desired(client, "stuck") == pending("stuck") == 2 * pending("large") > 0
              and desired(client, "helper") == 3 * pending("large"), 60)
        looks = lambda: int(metrics(client)['mcs_autoscaler_decisions_total{direction="none",reason="WithinTolerance"}'])
        before = looks()
        until("it was looked at again and again", lambda: looks() >= before + 8, 60)
        check(desired(client, "stuck") == 2 * pending("large"), described(client, "stuck"))
        client.change("McsWrite", create(client, "full", core("queueUsagePercent", "value", 50000), vcore=1))
        until("a queue without a max is no share", lambda: "has no max" in active(client, "full").get("message", ""), 60)
        client.refused("E_INVALID", "McsWrite", create(client, "wrong", core("load", "value", 1)), mutating=True)


main(globals())
