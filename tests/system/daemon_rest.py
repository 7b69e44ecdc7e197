# SPDX-License-Identifier: Apache-2.0
"""The REST interface as its clients see it: routes, lists that are longer than a page, streams of events, TLS, and what rude clients may not do
(interface.md 5.4). That its answers are the original's, field for field, tests/rest compares."""
from daemon_support import *

import gzip
import hashlib
import http.client
import json
import random
import threading
from urllib.parse import quote, unquote

from daemon_support.certificates import make_certificate
from daemon_support.deployments import change
from daemon_support.web import Web, web_daemon


def test_every_route_answers():  # I-430, I-432
    daemon, web = web_daemon("--manual-schedule", "--clock", "virtual")
    with daemon:
        check(web.get("clusters") == [] and web.get("scheduler/node-utilizations") is None)
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1"})
        rm.applications({"applicationID": "app"})
        rm.asks({"allocationKey": "k1"}, {"allocationKey": "k2", "resourceAsk": {"vcore": 5000}})
        rm.step()
        check([one["partition"] for one in web.get("clusters")] == ["default"])
        check(web.get("partitions")[0]["totalNodes"] == 1)
        check(web.get("partition/default/queues")["children"][0]["queuename"] == "root.a")
        queue = web.get("partition/default/queue/root")
        check("children" not in queue and queue["childNames"] == ["root.a", "root.b"], queue)
        check(len(web.get("partition/default/queue/Root?subtree")["children"]) == 2)
        check(web.get("partition/default/nodes")[0]["allocations"][0]["allocationKey"] == "k1")
        check(web.get("partition/default/node/n1")["nodeID"] == "n1")
        for path in ("applications/active", "queue/root.a/applications", "queue/root.a/applications/active?status=Running"):
            check([one["applicationID"] for one in web.get("partition/default/" + path)] == ["app"], path)
        check(web.get("partition/default/queue/root.b/applications") == [])
        app = web.get("partition/default/application/app")
        check(app == web.get("partition/default/queue/root.a/application/app") and app["requests"][0]["allocationKey"] == "k2", app)
        check(web.get("partition/default/usage/users")[0]["userName"] == "u" == web.get("partition/default/usage/user/u")["userName"])
        check(web.get("partition/default/usage/groups") == [])
        check(web.get("partition/default/placementrules")[0]["name"] == "provided")
        check(web.get("scheduler/healthcheck")["Healthy"] and web.get("history/apps") == [])
        check(web.get("scheduler/node-utilizations")[0]["partition"] == "default")
        events = web.get("events/batch?count=3")
        check(len(events["EventRecords"]) == 3 and events["EventRecords"][0]["resource"] == {}, events)
        check(web.get("config", Accept="application/json")["Partitions"][0]["Queues"][0]["Name"] == "root")
        status, headers, body = web.ask("/ws/v1/config")
        check(status == 200 and headers["Content-Type"] == "application/x-yaml; charset=UTF-8" and b"name: root" in body, body)
        status, headers, body = web.ask("/ws/v1/metrics")
        check(status == 200 and b"\n# TYPE yunikorn_scheduler_node gauge\n" in body and "Access-Control-Allow-Origin" not in headers)
        status, _, body = web.ask("/debug/fullstatedump")
        check(status == 200 and json.loads(body)["applications"][0]["applicationID"] == "app", body[:300])
        for path in ("/livez", "/readyz"):
            check(web.ask(path)[::2] == (200, b"ok\n"), path)
        check(json.loads(web.ask("/ws/v1/validate-conf", "POST", CONFIG)[2]) == {"allowed": True})
        check(json.loads(web.ask("/ws/v1/validate-conf", "POST", "partitions: [")[2])["allowed"] is False)
        web.refused(404, "partition/nope/queues")
        web.refused(404, "partition/default/queue/root.nope")
        web.refused(404, "partition/default/application/nope")
        web.refused(404, "partition/default/usage/user/nope")
        web.refused(400, "partition/default/queue/root..a")
        web.refused(400, "partition/default/usage/user/a%2521b")
        web.refused(400, "partition/default/applications/finished")
        web.refused(400, "partition/default/applications/active?status=completed")
        web.refused(400, "events/batch?count=0")
        web.refused(405, "partitions", method="DELETE")
        check("mcs: {enabled: true}" in web.refused(409, "mcs/status"), "it says how")
        check(web.ask("/ws/v1/Partitions/")[1]["Location"] == "/ws/v1/partitions")
        _, headers, body = web.ask('/ws/v1/Partitions/?"><script>')
        check(headers["Location"] == '/ws/v1/partitions?"><script>' and b'href="/ws/v1/partitions?&#34;&gt;&lt;script&gt;"' in body, headers, body)
        for path in ("events/batch?start=%ff", "events/batch?count=%ff", "events/stream?count=%ff", "page/use?span=%ff",
                     "partition/default/applications/%ff", "partition/default/queue/%ff", "partition/default/usage/user/%ff",
                     "partition/default/node/%ff", "partition/default/application/%ff"):
            check("this should not have happened" not in web.refused(400, path), path)
        web.refused(404, "partition/%ff/queues")


def test_metrics_of_many_queues_are_those_of_the_protocol():  # I-500
    leaves = 3000
    daemon, web = web_daemon("--manual-schedule", "--clock", "virtual")
    with daemon:
        rm = Rm(daemon, config="partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: ["
                + ", ".join(f"{{name: q{leaf}, resources: {{max: {{vcore: {leaf + 1}}}}}}}" for leaf in range(leaves)) + "]}]}]")
        stalled = []  # they ask, and read nothing
        for _ in range(20):
            stalled.append(socket.create_connection(("127.0.0.1", web.port)))
            stalled[-1].sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        for path, names, begin in (("/ws/v1/metrics", "original", "yunikorn_queue_resource"), ("/metrics", "own", "ykd_queue_resource")):
            whole = until("it is answered", lambda: (lambda answer: answer[0] == 200 and answer[2].decode())(web.ask(path)))
            check(whole.startswith("# HELP ") and whole.endswith("\n") and "\nprocess_start_time_seconds" in whole, whole[:200], whole[-200:])
            text, page = "", rm.client.get("Metrics", {"names": names, "prefix": begin, "maxBytes": 20_000})
            while True:
                text += page["text"]
                if "cursor" not in page:
                    break
                page = rm.client.get("Metrics", {"names": names, "prefix": begin, "cursor": page["cursor"], "maxBytes": 20_000})
            head = f"# HELP {begin} "
            check(text.count("\n") > leaves and head + whole.split(head)[1].split("\n# HELP ")[0] + "\n" == text, path, len(text))
            packed = web.ask(path, **{"Accept-Encoding": "gzip"})[2]
            check(gzip.decompress(packed).count(b"\n") >= whole.count("\n") - 10, path)
        for each in stalled:
            each.close()


def test_names_with_slashes_and_dots():
    daemon, web = web_daemon("--manual-schedule")
    with daemon:
        rm = Rm(daemon, config=CONFIG.replace("default", "gpu/a#b"))
        place = {"partitionName": "gpu/a#b"}
        names = ("a/b", "a%2Fc", ".", "..", "%", "a+b")
        rm.nodes(*({"nodeID": name, "attributes": {"si/node-partition": "gpu/a#b"}} for name in names))
        rm.applications(*({"applicationID": name, **place} for name in names))

        def escaped(name):
            return quote(quote(name, safe="").replace(".", "%2E"), safe="")
        partition = "partition/" + escaped("gpu/a#b")
        check(len(web.get(partition + "/nodes")) == len(names) and len(web.get(f"page/{partition}/nodes")["nodes"]) == len(names))
        for name in names:
            check(web.get(f"{partition}/node/{escaped(name)}")["nodeID"] == name, name)
            for path in (f"{partition}/application/", f"{partition}/queue/root.a/application/"):
                check(web.get(path + escaped(name))["applicationID"] == name, path, name)
        for once in ("%25", "a+b", "a%252Fc"):  # as the original knows them
            check(web.get(f"{partition}/node/{once}")["nodeID"] == unquote(once), once)


def test_partitions_of_several_rms():  # I-431
    daemon, web = web_daemon()
    with daemon:
        for rm in ("a", "b"):
            Rm(daemon, rm=rm).nodes({"nodeID": "of-" + rm})
        check("a, b" in web.refused(400, "partition/default/nodes"))
        check([one["nodeID"] for one in web.get("partition/default/nodes?rmID=b")] == ["of-b"])
        check(len(web.get("partitions")) == 2)
        check("rmID" in web.refused(400, "config"))
        check(web.get("config?rmID=a", Accept="application/json")["Partitions"])


def test_long_lists_come_whole():  # I-405
    daemon, web = web_daemon("--manual-schedule")
    with daemon:
        rm = Rm(daemon)
        for first in range(0, 5000, 500):
            rm.nodes(*({"nodeID": f"n{first + i}"} for i in range(500)))
            rm.applications(*({"applicationID": f"a{first + i}"} for i in range(500)))
        check(len({one["nodeID"] for one in web.get("partition/default/nodes")}) == 5000)
        check(len({one["applicationID"] for one in web.get("partition/default/applications/active")}) == 5000)
        status, headers, body = web.ask("/ws/v1/partition/default/nodes", Accept_Encoding="gzip")
        check(status == 200 and headers["Content-Encoding"] == "gzip")
        check(len(json.loads(gzip.decompress(body))) == 5000)


def test_large_full_dumps_are_sent_list_by_list():  # I-435
    daemon, web = web_daemon()
    with daemon:
        rm = Rm(daemon)
        rm.nodes(*({"nodeID": f"n{number:03}"} for number in range(100)))
        rm.applications(*({"applicationID": f"app{number}"} for number in range(10)))

        def asks(first, last):
            rm.asks(*({"allocationKey": f"k{number}", "applicationID": f"app{number % 10}"} for number in range(first, last)))
        asks(0, 12_000)
        until("10,000 are placed", lambda: rm.dump("partitions")[0].get("totalContainers") == 10_000)
        small = json.loads(web.ask("/debug/fullstatedump")[2])
        asks(12_000, 22_000)
        rm.told()
        status, headers, body = web.ask("/debug/fullstatedump")
        large = json.loads(body)
        check(status == 200 and "Content-Length" not in headers and set(large) == set(small), status, headers, set(large) ^ set(small))
        check(all(type(large[name]) is type(small[name]) for name in large), {name: type(value) for name, value in large.items()})
        check(large["nodes"] == small["nodes"] and len(large["nodes"][0]["nodesInfo"]) == 100, large["nodes"][0].keys())
        check([one["queuename"] for one in large["queues"]] == [one["queuename"] for one in small["queues"]], large["queues"])
        check(sum(len(one["requests"]) for one in large["applications"]) == 12_000, "not all asks are in it")
        check(sum(len(one["allocations"]) for one in large["applications"]) == 10_000, "not all allocations are in it")
        check([one["userName"] for one in large["users"]] == ["u"] and large["partitions"][0]["name"] == "default", large["users"])


def test_events_as_they_come():  # I-630 to I-634
    daemon, web = web_daemon()
    with daemon:
        rm = Rm(daemon)
        connection = web.connection()
        connection.request("GET", "/ws/v1/events/stream?count=1")
        answer = connection.getresponse()
        check(answer.status == 200 and list(json.loads(answer.readline())) == ["InstanceUUID"])
        past = json.loads(answer.readline())
        check(past["objectID"].startswith("root"), past)
        rm.nodes({"nodeID": "n1"})
        found = [json.loads(answer.readline())["objectID"] for _ in range(3)]
        check("n1" in found, found)
        web.refused(400, "events/stream?count=x")
        others = []
        while True:  # as many as one host may have
            other = web.connection()
            other.request("GET", "/ws/v1/events/stream")
            status = other.getresponse().status
            others.append(other)
            if status != 200:
                break
            check(len(others) < 1000, "no end of streams")
        check(status == 503, status)
        for each in others:
            each.close()
        until("streams of clients that have gone are closed", lambda: web.get("events/batch?count=1") and
              len([one for one in daemon.client().dump("streams") if "streamID" in one]) == 1)
        daemon.signal(signal.SIGTERM)
        answer.read()  # to its end, which is in order
        check(daemon.exit_code() == 0, daemon.text())


def test_deployments_can_be_read():  # rs R-153, rs R-156, rs R-157
    daemon, web = web_daemon("--state", "@.", "--settings", "@conf", files={"conf": "mcs: {enabled: true}\n"})
    with daemon:
        until("MCS runs", lambda: web.get("mcs/status")["state"] == "running")
        client = daemon.client()
        made = change(client, "deployment", "create", "web", replicas=2)
        check([one["name"] for one in web.get("mcs/deployments")] == ["web"])
        until("it is asked for", lambda: web.get("mcs/deployments/web").get("schedule", {}).get("pending") == 2)
        row = web.get("mcs/deployments/web")
        until("all of it is seen", lambda: web.get("mcs/cache/deployment/" + row["id"])["verdict"] == "in sync")
        web.refused(404, "mcs/deployments/nope")
        web.refused(404, "mcs/cache/deployment/nope")
        check(made, "an answer")


def test_deployments_are_written_with_a_token():  # rs R-157
    tokens = "".join(f"{role} * {hashlib.sha256(role.encode()).hexdigest()}\n" for role in ("admin", "rm"))
    daemon, web = web_daemon("--state", "@.", "--settings", "@conf", "--tokens", "@tokens",
                             files={"conf": "mcs: {enabled: true, maxDeployments: 3}\n", "tokens": tokens})
    admin = {"Authorization": "Bearer admin"}

    def ask(wanted, method, path="", body=None, **headers):
        status, answered, text = web.ask("/ws/v1/mcs/deployments" + path, method, body if body is None or isinstance(body, str) else json.dumps(body),
                                         **{**admin, **headers})
        check(status == wanted, method, path, "wanted", wanted, "got", status, text[:300])
        return answered, json.loads(text)

    with daemon:
        until("MCS runs", lambda: web.get("mcs/status")["state"] == "running")
        web_row = {"id": "w", "name": "web", "user": "ann", "resource": {"vcore": 100}, "replicas": 1}
        # who may
        headers, _ = ask(401, "POST", body=web_row, Authorization="")
        check(headers["WWW-Authenticate"] == "Bearer", headers)
        for empty in ("Bearer", "Bearer ", "Bearer    ", "Basic YTpi"):
            ask(401, "POST", body=web_row, Authorization=empty)
        check("not known" in ask(401, "POST", body=web_row, Authorization="Bearer guess")[1]["message"])
        check("admin" in ask(403, "POST", body=web_row, Authorization="Bearer rm")[1]["message"])
        # what
        check("body.policy" in ask(400, "POST", body={**web_row, "policy": {"metrics": [{}]}})[1]["message"], "it names the field")
        check("body.size" in ask(400, "POST", body={**web_row, "size": 1})[1]["message"])
        for bad in ("", "[]", "{", '"\xff"', "{\"name\": " + "[" * 100000 + "]" * 100000 + "}", {"name": "web"}, {**web_row, "replicas": "two"},
                    {**web_row, "replicas": 1.5}, {**web_row, "id": 7}, {**web_row, "size": 1}):
            ask(400, "POST", body=bad)
        check(web.get("mcs/deployments") == [], "nothing was made of that")
        headers, made = ask(201, "POST", body=web_row)
        check(made["id"] == "w" and headers["ETag"] == f'"{made["version"]}"', made, headers)
        policy = {"metrics": [{"name": "load", "target": 1000, "type": "value", "source": "push"}]}
        other = ask(201, "POST", body={"name": "api", "user": "ann", "resource": {"vcore": 100}, "policy": policy})[1]
        check(other["id"] and web.get("mcs/deployments/api")["id"] == other["id"], other)
        check("web" in ask(409, "POST", body={**web_row, "id": "v"})[1]["message"])
        # from which version
        headers, row = ask(200, "GET", "/web")
        tag = headers["ETag"]
        check(row["name"] == "web" and tag == f'"{row["version"]}"', headers, row)
        changed = ask(200, "PUT", "/w", {"replicas": 3}, If_Match=tag)[1]
        conflict = ask(409, "PUT", "/w", {"replicas": 4}, If_Match=tag)[1]
        check(conflict["version"] == changed["version"], conflict, changed)
        check(web.get("mcs/deployments/w")["replicas"] == 3)
        ask(400, "PUT", "/w", {"replicas": 4}, If_Match="latest")
        ask(404, "PUT", "/nope", {"replicas": 4})
        ask(200, "PUT", "/web", {"tags": {"team": "shop"}})
        check(web.get("mcs/deployments/w")["replicas"] == 3, "what is absent stays as it is")
        # and its end
        ask(409, "DELETE", "/w", If_Match=tag)
        ask(400, "DELETE", "/w?deleteMode=gently")
        ask(200, "DELETE", "/w")
        ask(404, "DELETE", "/w")
        check([one["name"] for one in web.get("mcs/deployments")] == ["api"])
        status, headers, _ = web.ask("/ws/v1/mcs/deployments/w", "PATCH", "{}", **admin)
        check(status == 405 and headers["Allow"] == "DELETE, GET, OPTIONS, PUT", status, headers)
        # who guesses
        for number in range(2, 7):
            told = ask(401, "DELETE", "/nope", Authorization=f"Bearer guess{number}")[1]["message"]
            check(("not known" if number < 6 else "wrong tokens came from") in told, number, told)
        check("wrong tokens came from" in ask(401, "DELETE", "/nope")[1]["message"])


def test_tls_and_addresses():
    daemon, web = Daemon("--http", "@", wait=False), None
    with daemon:
        check(daemon.exit_code() != 0 and "ADDR:PORT" in daemon.text(), daemon.text())
    port = free_port()
    with Daemon("--http", f"0.0.0.0:{port}", wait=False) as daemon:
        check(daemon.exit_code() != 0 and "--allow-plaintext" in daemon.text(), daemon.text())
    with Daemon("--settings", "@settings", wait=False, files={"settings": "http: {listen: '127.0.0.1:1', tls: {cert: /nowhere}}\n"}) as daemon:
        check(daemon.exit_code() != 0 and "/nowhere" in daemon.text(), daemon.text())
    with Daemon("--http", f"127.0.0.1:{port}") as first, Daemon("--http", f"127.0.0.1:{port}", wait=False) as second:
        check(second.exit_code() != 0 and "another program listens there" in second.text() and first.process.poll() is None, second.text())
    folder = Daemon("--settings", "@settings", wait=False, files={"settings": "{}"})
    with folder:
        kill(folder.process)
        make_certificate(folder.folder, "server")
        folder.write("settings", f"http:\n  listen: 127.0.0.1:{port}\n  cors: [https://dash.example.com]\n"
                                 f"  tls: {{cert: {folder.folder}/server.pem, key: {folder.folder}/server.key}}\n")
        folder.start()
        web = Web(port, ssl.create_default_context(cafile=folder.folder + "/server.pem"))
        check(web.get("clusters") == [])
        check(web.ask("/ws/v1/clusters", Origin="https://dash.example.com")[1]["Access-Control-Allow-Origin"] == "https://dash.example.com")
        check("Access-Control-Allow-Origin" not in web.ask("/ws/v1/clusters", Origin="https://evil.example.com")[1])
        asked = {"Access_Control_Request_Method": "PUT", "Access_Control_Request_Headers": "authorization,if-match"}
        status, headers, _ = web.ask("/ws/v1/mcs/deployments/x", method="OPTIONS", Origin="https://dash.example.com", **asked)
        check(status == 200 and headers["Access-Control-Allow-Origin"] == "https://dash.example.com" and headers["Vary"] == "Origin", status, headers)
        check("PUT" in headers["Access-Control-Allow-Methods"] and "Authorization,If-Match" in headers["Access-Control-Allow-Headers"], headers)
        headers = web.ask("/ws/v1/mcs/deployments", method="POST", body=b"{}", Origin="https://dash.example.com")[1]
        check(headers["Access-Control-Allow-Origin"] == "https://dash.example.com", "what is refused can be read, too", headers)
        headers = web.ask("/ws/v1/mcs/deployments/x", method="OPTIONS", Origin="https://evil.example.com", **asked)[1]
        check(not any(name.startswith("Access-Control") for name in headers), headers)
        plain = Web(port)
        try:
            plain.ask("/livez")
            check(False, "plain HTTP was answered where TLS is wanted")
        except (http.client.HTTPException, OSError):
            pass
        check(web.get("clusters") == [])


def test_web_pages_are_sent_beside_the_routes():
    pages = {"pages/index.html": "<script src=main.js></script>", "pages/main.js": "fetch('/ws/v1/partitions')\n" * 10_000, "pages/.git/config": "secret"}
    port = free_port()
    with Daemon("--http", f"127.0.0.1:{port}", "--web-root", "@pages", files=pages) as daemon:
        web = Web(port)
        status, headers, body = web.ask("/")
        check(status == 200 and headers["Content-Type"].startswith("text/html") and body.decode() == pages["pages/index.html"], status, headers, body)
        status, headers, body = web.ask("/main.js", Accept_Encoding="gzip")
        check(headers["Content-Type"].startswith("text/javascript") and gzip.decompress(body).decode() == pages["pages/main.js"], headers)
        check(web.ask("/main.js", If_None_Match=headers["ETag"])[::2] == (304, b""))
        for path in ("/nope.js", "/.git/config", "/%2e%2e/s", "/pages", "//main.js"):
            check(web.ask(path)[0] in (301, 404), path, web.ask(path))
        check(web.get("partitions") == [] and web.ask("/livez")[0] == 200 and web.ask("/", "POST", "x")[0] == 405)
        threads = [threading.Thread(target=lambda: [web.ask("/main.js") for _ in range(20)]) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        check(daemon.client().get("Ping") is not None)
    with Daemon("--http", f"127.0.0.1:{port}", "--web-root", "/nowhere", wait=False) as daemon:
        check(daemon.exit_code() != 0 and "/nowhere" in daemon.text(), daemon.text())
    with Daemon("--web-root", "/tmp", wait=False) as daemon:
        check(daemon.exit_code() != 0 and "--http" in daemon.text(), daemon.text())


def rude(port, number):
    """Sends something that no client should, and does not read what comes."""
    chance = random.Random(number)
    with socket.create_connection(("127.0.0.1", port)) as peer:
        lines = [b"GET /ws/v1/%s HTTP/1.1\r\n", b"POST /ws/v1/validate-conf HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n%s",
                 b"\x16\x03\x01%s", b"GET %s", b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n%s"]
        try:
            peer.sendall(chance.choice(lines) % chance.randbytes(chance.randrange(2000)))
        except OSError:
            pass


def test_large_requests_are_told_so():
    daemon, web = web_daemon()
    with daemon:
        status, _, body = web.ask("/ws/v1/validate-conf", "POST", b"#" * (5 << 20))
        check(status == 413 and b"too large" in body, status, body)
        check(web.ask("/ws/v1/validate-conf", "POST", b"#" * (3 << 20))[0] == 200)


def test_rude_clients_harm_nobody():
    daemon, web = web_daemon("--settings", "@settings", files={"settings": "http: {maxConnections: 16}\n"})
    with daemon:
        Rm(daemon).nodes({"nodeID": "n1"})
        silent = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(64)]  # four times the places
        for number in range(500):
            rude(web.port, number)
        nodes = "/ws/v1/partition/default/nodes"  # 503 while the last of them are being answered
        check(b'"nodeID":"n1"' in until("a polite one is answered", lambda: (lambda answer: answer[0] == 200 and answer[2])(web.ask(nodes))))
        for each in silent:
            each.close()
        until("their places are free", lambda: web.ask("/livez")[0] == 200)
        threads = [threading.Thread(target=lambda: [web.ask("/ws/v1/partition/default/queues") for _ in range(50)]) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        check(web.get("clusters") and daemon.client().get("Ping"))
        daemon.signal(signal.SIGTERM)
        check(daemon.exit_code() == 0, daemon.text())


main(globals())
