# SPDX-License-Identifier: Apache-2.0
"""The page of ykd itself in a browser without a screen: what its views show of a real daemon, from 375 to 2,560 pixels, by keyboard, live, and
with names that are markup. And the answers that only it asks for."""
from daemon_support import *

import json

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from daemon_support.web import web_daemon

MARKUP = "<img src=x onerror=document.title='no'>"


class Browser:
    """Chromium at an address."""

    def __init__(self, web):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.address = f"http://127.0.0.1:{web.port}/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def shows(self, view, *texts, fresh=False):
        """Waits until the view is there, and has the texts."""
        self.driver.get(self.address + "#" + view)
        if fresh:
            self.driver.refresh()
        for text in texts:
            until(f"{view} shows {text}", lambda: text in self.text())

    def text(self, place="body"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", place)

    def resize(self, width):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})

    def press(self, *keys):
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]


def cluster(daemon):
    rm = Rm(daemon)
    rm.nodes(*({"nodeID": f"n{number}"} for number in range(1, 4)))
    rm.applications({"applicationID": "app"}, {"applicationID": MARKUP})
    rm.asks({"allocationKey": "k1"}, {"allocationKey": "large", "resourceAsk": {"vcore": 900000}})
    return rm


def test_the_views_show_the_daemon():
    daemon, web = web_daemon()
    with daemon, Browser(web) as browser:
        browser.shows("queues", "No resource manager has registered yet")
        rm = cluster(daemon)
        browser.shows("queues", "3 queues", "3 nodes", "live", fresh=True)
        browser.shows("queues/root.a", "root.a")
        browser.shows("nodes", "3 nodes")
        browser.shows("nodes/n1", "k1", "cores")
        browser.shows("applications", "app", MARKUP)
        browser.shows("applications/app", "IMPOSSIBLE", "What would help", "a larger node, where it may run; or an ask for less")
        browser.shows("history", "Largest share of the cluster")
        browser.shows("changes", "registration", "rm:1")
        for width in (375, 1024, 2560):
            browser.resize(width)
            for view in ("queues/root.a", "nodes/n1", "applications/app", "history", "changes"):
                browser.shows(view)
                until("it is drawn", lambda: len(browser.text()) > 100)
                check(browser.run("return document.documentElement.scrollWidth <= innerWidth"), width, view, "scrolls sideways")
        browser.resize(1024)
        unnamed = browser.run("""return [...document.querySelectorAll('button,input,select,canvas[tabindex],[role=tree],[role=slider],table')].filter(e =>
            !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML)""")
        check(not unnamed, "nothing names", unnamed)
        browser.shows("applications", MARKUP)
        rm.applications({"applicationID": "a later one"})
        until("what changed is shown", lambda: "a later one" in browser.text())
        browser.press(Keys.ESCAPE, "2")
        until("a key chooses the view", lambda: "#nodes" in browser.driver.current_url)
        browser.run("document.querySelector('.heat-cursor').focus()")
        browser.press(Keys.ARROW_RIGHT)
        until("the map tells what the cursor is at", lambda: browser.text("#heat-live").startswith("n"))
        check(browser.driver.title.startswith("ykd") and not browser.complaints(), browser.driver.title, browser.complaints())


def test_the_answers_that_only_the_page_asks_for():
    daemon, web = web_daemon()
    with daemon:
        status, headers, body = web.ask("/")
        check(status == 200 and body.startswith(b"<!doctype html>") and len(body) < 150_000, status, len(body))
        check("default-src 'none'" in headers["Content-Security-Policy"] and "unsafe" not in headers["Content-Security-Policy"], headers)
        check(web.ask("/", If_None_Match=headers["ETag"])[0] == 304 and web.ask("/ykd")[2] == body and web.ask("/", "POST", "x")[0] == 405)
        for path in ("/", "/ykd", "/livez", "/metrics"):
            status, headers, body = web.ask(path, "HEAD")
            check(status == 200 and int(headers.get("Content-Length", 0)) > 0 and not body, path, status, headers)
        check(web.ask("/ws/v1/clusters", "HEAD")[0] == 405 and web.ask("/nothing", "POST", "x")[0] == 404, "as the original")
        stream = web.connection()
        stream.request("GET", "/ws/v1/page/changes")
        answer = stream.getresponse()
        check(answer.status == 200 and answer.getheader("Content-Type") == "text/event-stream", answer.status)
        lines = iter(answer.readline, b"")
        until("the stream has begun", lambda: next(lines) == b"event: hello\n")
        cluster(daemon)
        names = set()

        def has_both():
            line = next(lines).decode()
            if line.startswith("data: {\"app"):
                changes = json.loads(line[6:])
                names.update(changes["applications"], changes["nodes"])
            return {"app", "n1"} <= names

        until("the stream names what is new", has_both)
        nodes = web.get("page/partition/default/nodes")
        check(nodes["resources"] and [node[0] for node in nodes["nodes"]] == ["n1", "n2", "n3"] and nodes["nodes"][0][1] == 1, nodes)
        check(sum(node[2] for node in nodes["nodes"]) == 1 and all(len(node[3]) == len(nodes["resources"]) for node in nodes["nodes"]), nodes)
        applications = web.get("page/partition/default/applications")
        check(applications["all"] == 2 and applications["applications"][0]["applicationID"] == "app" and applications["applications"][0]["pendingAsks"] == 1, applications)
        waiting = applications["applications"][0]
        check(waiting["oldestPending"] >= waiting["submissionTime"] and "oldestPending" not in applications["applications"][1], applications)
        check(web.get("page/partition/default/applications?queue=root.b")["all"] == 0)
        explained = web.get("page/explain?what=app&application=app")
        helps = {reason["code"]: reason.get("help") for reason in explained["reasons"]}
        check(explained["verdict"] == "IMPOSSIBLE" and helps["IMPOSSIBLE"] == "a larger node, where it may run; or an ask for less", explained)
        web.refused(404, "page/explain?what=node&node=nope")
        check(web.get("page/configurations")[0]["origin"] == "registration" and web.get("page/preemptions") == [])
        until("the time line begins", lambda: web.get("page/use?partition=default&rmID=rm:1&span=hour")["queues"].get("root"))
        web.refused(400, "page/use?span=week")
        web.refused(404, "page/partition/nope/nodes")
        others = [web.connection() for _ in range(70)]
        for each in others:
            each.request("GET", "/ws/v1/page/changes")
        statuses = [each.getresponse().status for each in others]
        check(statuses.count(503) == 7 and statuses.count(200) == 63, statuses)  # with the first one 64
        daemon.signal(signal.SIGTERM)
        check(daemon.exit_code() == 0, daemon.text())


main(globals())
