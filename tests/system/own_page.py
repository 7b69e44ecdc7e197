# SPDX-License-Identifier: Apache-2.0
"""The page of ykd itself in a browser without a screen: what its views show of a real daemon, from 375 to 2,560 pixels, by keyboard, live, and
with names that are markup. And the answers that only it asks for."""
from daemon_support import *

import json

from daemon_support.browser import Browser, Keys
from daemon_support.web import web_daemon

MARKUP = "<img src=x onerror=document.title='no'>"


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
        browser.shows("nodes", "3 nodes", "of the idle cores can be used by nobody")
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


CONTRAST = """
    const luminance = colour => { const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(c => (c /= 255, c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
                                  return 0.2126 * r + 0.7152 * g + 0.0722 * b };
    const ground = element => { for (; element; element = element.parentElement) {
        const colour = getComputedStyle(element).backgroundColor;
        if (!/, 0\\)$/.test(colour) && colour !== 'transparent') return colour; } return 'rgb(255, 255, 255)' };
    return [...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) &&
        !e.matches('.hidden-text, .skip, [aria-hidden=true] *, svg *, :disabled')).map(e => { window.looked = (window.looked ?? 0) + 1; const [a, b] = [luminance(getComputedStyle(e).color), luminance(ground(e))].sort((x, y) => y - x);
        return [(a + 0.05) / (b + 0.05), e.outerHTML.slice(0, 120)] }).filter(one => one[0] < 4.5)"""


def test_dark_and_light():
    daemon, web = web_daemon()
    with daemon, Browser(web) as browser:
        cluster(daemon)
        for scheme in ("dark", "light"):
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            until(f"it is {scheme} as the system is", lambda scheme=scheme: browser.run("return document.documentElement.dataset.theme") in (None, scheme))
            for view, text in (("queues", "3 queues"), ("nodes/n1", "k1"), ("applications/app", "What would help"), ("changes", "registration")):
                browser.shows(view, text)
                check(browser.run("return document.documentElement.dataset.theme") == scheme, view)
                until(f"{scheme} {view}: every text can be read, once colours have passed over", lambda: not browser.run(CONTRAST))
                check(browser.run("return window.looked") > 20, "no texts were looked at")
        chosen = []
        for _ in range(3):
            browser.run("document.getElementById('theme').click()")
            chosen.append((browser.text("#theme"), browser.run("return document.documentElement.dataset.theme")))
        check(sorted(chosen) == [("Theme: auto", "light"), ("Theme: dark", "dark"), ("Theme: light", "light")], chosen)
        while browser.text("#theme") != "Theme: dark":
            browser.run("document.getElementById('theme').click()")
        browser.shows("queues", "3 queues", fresh=True)
        check(browser.run("return document.documentElement.dataset.theme") == "dark", "what was chosen is not kept")
        check(not browser.complaints(), browser.complaints())


def test_by_keyboard_alone():
    daemon, web = web_daemon()
    with daemon, Browser(web) as browser:
        cluster(daemon)
        browser.shows("queues", "3 queues")

        def is_focused(selector):
            return browser.run("return document.activeElement.matches(arguments[0])", selector)

        def tab_to(selector):
            for _ in range(40):
                if is_focused(selector):
                    break
                browser.press(Keys.TAB)
            check(is_focused(selector), "the tab key does not come to", selector)
            outlined = browser.run("""const here = document.activeElement, place = document.getElementById(here.getAttribute('aria-activedescendant')) ?? here;
                return getComputedStyle(place).outlineStyle !== 'none'""")
            check(outlined, "nobody sees where the keys go:", selector)
        tab_to("[role=tree]")
        browser.press(Keys.HOME, Keys.ARROW_DOWN, Keys.ENTER)
        until("the queue is opened", lambda: "root.a" in browser.driver.current_url)
        browser.press(Keys.ESCAPE)
        until("it is closed, and the tree goes on", lambda: is_focused("[role=tree]"))
        for number, view in enumerate(("queues", "nodes", "applications", "history", "changes"), 1):
            browser.press(str(number))
            until(f"{number} chooses {view}", lambda view=view: browser.driver.current_url.endswith("#" + view))
            until(f"the keys go to the tab of {view}", lambda: is_focused("[role=tab][aria-selected=true]"))
        browser.press(Keys.HOME)
        until("Home chooses the first view", lambda: browser.driver.current_url.endswith("#queues"))
        browser.press("3")
        until("applications are listed", lambda: browser.run("return document.querySelector('#view-applications tbody button') !== null"))
        tab_to("tbody button")
        browser.press(Keys.ENTER)
        until("an application is opened", lambda: "#applications/" in browser.driver.current_url)
        check(not browser.complaints(), browser.complaints())


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
        with Browser(web) as browser:
            browser.shows("queues", "64 pages are told of changes")
            browser.resize(375)
            check(browser.run("return document.documentElement.scrollWidth <= innerWidth"), "the reason scrolls sideways")
        daemon.signal(signal.SIGTERM)
        answer.read()  # to its end, which is in order
        check(daemon.exit_code() == 0, daemon.text())


def test_odd_names():
    daemon, web = web_daemon()
    with daemon, Browser(web) as browser:
        rm = Rm(daemon, config=CONFIG.replace("default", "gpu/a#b").replace("name: b", "name: x/y"))
        rm.nodes({"nodeID": "..", "attributes": {"si/node-partition": "gpu/a#b"}, "schedulableResource": {"vcore": 1000, "__proto__": 48}})
        rm.applications({"applicationID": "a/b", "partitionName": "gpu/a#b"})
        browser.shows("queues/root", "gpu/a#b", "x/y", "0 / 48", fresh=True)
        browser.shows("nodes/..")
        until("the panel shows the node", lambda: "48" in browser.text("#panel"))
        browser.shows("applications", "1 application")
        check("1 applications" not in browser.text(), browser.text())
        browser.shows("applications/a%2Fb", "a/b")
        check(not browser.complaints(), browser.complaints())


main(globals())
