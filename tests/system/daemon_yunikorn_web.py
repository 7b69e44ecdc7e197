# SPDX-License-Identifier: Apache-2.0
"""What yunikorn-web asks of a scheduler, the web interface of the original. It was built from its public sources (commit 63b7660), served
by `ykd --web-root` and driven in a browser through all its pages; these are its requests, and the members of the answers that it reads."""
from daemon_support import *

from daemon_support.web import Web

PAGES = {"ui/index.html": "<base href=/><script src=main-ESXKJ3RA.js></script>", "ui/main-ESXKJ3RA.js": "fetch('assets/config/envconfig.json')",
         "ui/assets/config/envconfig.json": '{"localSchedulerWebAddress": "http://localhost:9889"}', "ui/media/roboto.woff2": "font",
         "ui/assets/images/logo.png": "logo", "ui/assets/images/config.svg": "<svg/>", "ui/favicon.ico": "icon", "ui/styles-5YOIUCLI.css": "a{}"}
# What its pages load, with the type that a browser insists on.
FILES = {"/": "text/html", "/main-ESXKJ3RA.js": "text/javascript", "/styles-5YOIUCLI.css": "text/css", "/media/roboto.woff2": "font/woff2",
         "/assets/config/envconfig.json": "application/json", "/assets/images/logo.png": "image/png", "/assets/images/config.svg": "image/svg+xml",
         "/favicon.ico": "image/x-icon"}

ALLOCATION = {"allocationKey": str, "allocationTags": dict, "resource": dict, "priority": str, "nodeId": str, "applicationId": str, "partition": str}
QUEUE = {"queuename": str, "status": str, "isLeaf": bool, "isManaged": bool, "partition": str, "maxResource": dict, "guaranteedResource": dict,
         "allocatedResource": dict, "pendingResource": dict, "absUsedCapacity": dict, "properties": dict, "template": (dict, type(None))}
QUEUE["children"] = [QUEUE]
# Each page: what it asks for, and what it reads of the answer. A list with one entry is a list of such objects, and has some here.
REQUESTS = {
    "clusters": [{"startTime": int, "rmBuildInformation": list, "partition": str, "clusterName": str}],
    "partitions": [{"name": str, "state": str, "clusterId": str, "capacity": {"capacity": dict, "usedCapacity": dict},
                    "nodeSortingPolicy": {"type": str, "resourceWeights": dict}, "applications": {"total": int, "Running": int},
                    "lastStateTransitionTime": int, "totalNodes": int, "totalContainers": int}],
    "history/apps": [{"timestamp": int, "totalApplications": str}],
    "history/containers": [{"timestamp": int, "totalContainers": str}],
    "scheduler/node-utilizations": [{"clusterId": str, "partition": str,
                                     "utilizations": [{"type": str, "utilization": [{"bucketName": str, "numOfNodes": int, "nodeNames": (list, type(None))}]}]}],
    "partition/default/queues": QUEUE,
    "partition/default/queue/root.a/applications": [
        {"applicationID": str, "usedResource": dict, "pendingResource": dict, "maxUsedResource": dict, "submissionTime": int,
         "stateLog": [{"time": int, "applicationState": str}], "finishedTime": (int, type(None)), "applicationState": str, "allocations": [ALLOCATION]}],
    "partition/default/nodes": [
        {"nodeID": str, "hostName": str, "rackName": str, "partition": str, "capacity": dict, "allocated": dict, "occupied": dict, "available": dict,
         "utilized": dict, "attributes": dict, "allocations": [ALLOCATION], "foreignAllocations": list}],
    "scheduler/healthcheck": {"Healthy": bool, "HealthChecks": [{"Name": str, "Succeeded": bool, "Description": str, "DiagnosisMessage": str}]},
}
# Members that the original leaves out when they are empty; the interface reads them with that in mind.
MAY_BE_ABSENT = {"children", "properties", "template", "absUsedCapacity", "maxResource", "guaranteedResource", "allocatedResource", "pendingResource",
                 "allocationTags", "hostName", "rackName", "attributes", "finishedTime", "foreignAllocations", "maxUsedResource", "occupied", "utilized",
                 "isManaged", "partition", "numOfNodes", "nodeNames"}


def compare(wanted, got, place):
    if isinstance(wanted, dict):
        check(isinstance(got, dict), place, "is no object:", got)
        for name, of in wanted.items():
            if name in got:
                compare(of, got[name], f"{place}.{name}")
            else:
                check(name in MAY_BE_ABSENT, place, "lacks", name, got)
    elif isinstance(wanted, list):
        check(isinstance(got, list) and (got or place.endswith(".children")), place, "is empty, or no list:", got)
        for number, each in enumerate(got):
            compare(wanted[0], each, f"{place}[{number}]")
    else:
        kinds = wanted if isinstance(wanted, tuple) else (wanted,)
        check(type(got) in kinds, place, "should be of", kinds, "and is", got)


def test_the_web_interface_of_the_original_gets_what_it_reads():
    port = free_port()
    with Daemon("--http", f"127.0.0.1:{port}", "--web-root", "@ui", "--manual-schedule", "--settings", "@conf",
                files=PAGES | {"conf": "historyInterval: 100ms\n"}) as daemon:
        web = Web(port)
        for path, kind in FILES.items():
            status, headers, body = web.ask(path)
            check(status == 200 and headers["Content-Type"].split(";")[0] == kind and body.decode() == PAGES["ui" + (path if path != "/" else "/index.html")], path, headers)
            check(web.ask(path, If_None_Match=headers["ETag"])[0] == 304, path)
        rm = Rm(daemon)
        rm.nodes({"nodeID": "n1"}, {"nodeID": "n2"})
        rm.applications({"applicationID": "app"})
        rm.asks(*({"allocationKey": f"k{number}"} for number in range(4)))
        rm.step()
        until("the history has a sample", lambda: web.get("history/apps"))
        for path, members in REQUESTS.items():
            compare(members, web.get(path), path)
        check([web.get("partition/default/nodes")[0]["allocations"][0]["nodeId"]] == ["n1"])


main(globals())
