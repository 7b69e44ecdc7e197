# SPDX-License-Identifier: Apache-2.0
"""Devices of nodes by ykctl: nodes and asks with them, what is shown of them, apply and diff, a restart, REST (F-001 to F-008)."""
import json
import subprocess
import urllib.request

from daemon_support import *
from daemon_support.running import PROD_AND_BATCH, YKCTL, told

GPU = "nvidia.com/gpu"


def started(*flags):
    daemon = Daemon("--config", "@queues.yaml", *flags, files={"queues.yaml": PROD_AND_BATCH})
    told(daemon, "rm", "register", "a")
    told(daemon, "node", "add", "g1", "-R", "vcore=64", "--devices", f"{GPU}=2x1000+2x500")
    told(daemon, "app", "add", "job", "--queue", "root.prod")
    return daemon


def refused(daemon, *words, status):
    done = subprocess.run([YKCTL, "-s", daemon.path, *words], capture_output=True, text=True, timeout=60, check=False)
    check(done.returncode == status, words, done.returncode, done.stdout, done.stderr)
    return done.stderr


def shown(daemon, *words):
    return json.loads(told(daemon, *words, "-o", "json"))["item"]


def used(daemon):
    return shown(daemon, "node", "show", "g1")["usedDevices"][GPU]


def test_asks_and_what_is_shown():
    with started() as daemon:
        told(daemon, "ask", "add", "job", "--key", "two", "-R", "vcore=1", "--devices", f"{GPU}=2x300", "--wait")
        told(daemon, "ask", "add", "job", "--key", "whole", "-R", f"vcore=1,{GPU}=1000", "--wait")
        check(used(daemon) == [1000, 0, 300, 300], used(daemon))
        text = told(daemon, "node", "show", "g1")
        check("nvidia.com/gpu 0:" in text and "1000 of 1000" in text and "300 of 500" in text, text)
        check(f"devices of {GPU}:  2 (300), 3 (300)" in told(daemon, "alloc", "show", "two"), told(daemon, "alloc", "show", "two"))
        told(daemon, "ask", "add", "job", "--key", "odd", "-R", f"vcore=1,{GPU}=1500")
        told(daemon, "ask", "add", "job", "--key", "three", "-R", "vcore=1", "--devices", f"{GPU}=3x400")
        check(f"devices of {GPU}:" in told(daemon, "ask", "show", "three") and "3 x 400" in told(daemon, "ask", "show", "three"), "stated")
        odd, three = told(daemon, "explain", "ask", "odd"), told(daemon, "explain", "ask", "three")
        check("IMPOSSIBLE" in odd and "DEVICE_SHAPE" in odd and "neither a part of one device nor whole devices" in odd and "would help" in odd, odd)
        check("WAITING" in three and "1 with enough in all, but no one device with enough" in three, three)
        told(daemon, "node", "update", "g1", "-R", "vcore=64", "--devices", f"{GPU}=1x1000+1x500")
        node = shown(daemon, "node", "show", "g1")
        check(node["lostDevices"] == {GPU: [2, 3]} and node["usedDevices"][GPU] == [1000, 0, 300, 300], node)
        check("gone, 300 in use" in told(daemon, "node", "show", "g1"), told(daemon, "node", "show", "g1"))


def test_refusals_name_what_is_wrong():
    with started() as daemon:
        check("is not COUNTxSIZE" in refused(daemon, "node", "add", "x", "-R", "vcore=1", "--devices", f"{GPU}=8", status=2), "no count")
        check("at most 64" in refused(daemon, "node", "add", "x", "-R", "vcore=1", "--devices", f"{GPU}=65x1", status=2), "too many")
        check("given twice" in refused(daemon, "node", "add", "x", "-R", "vcore=1", "--devices", f"{GPU}=1x1,{GPU}=1x1", status=2), "twice")
        check("the same of each device" in refused(daemon, "ask", "add", "job", "--devices", f"{GPU}=1x1+2x2", status=2), "an ask")
        said = refused(daemon, "ask", "add", "job", "--devices", f"{GPU}=300", status=2)
        check("is not COUNTxAMOUNT" in said and f"{GPU}=2x500" in said, said)
        said = refused(daemon, "node", "add", "x", "-R", f"vcore=1,{GPU}=3", "--devices", f"{GPU}=2x2", status=1)
        check("with 4 in all, but a capacity of 3" in said and "P_DEVICES" in said, said)
        said = refused(daemon, "node", "update", "g1", "-R", f"vcore=64,{GPU}=9", status=1)
        check("cannot be 9 without new devices" in said, said)
        said = refused(daemon, "ask", "add", "job", "-R", f"vcore=1,{GPU}=7", "--devices", f"{GPU}=2x4", status=1)
        check("states 2 x 4 of nvidia.com/gpu, but asks for 7" in said, said)
        said = refused(daemon, "node", "add", "x", "-R", "vcore=1", "--devices", f"{GPU}=2x2", "-a", "ykd.io/device-groups=0,1", status=1)
        check("list of lists of devices" in said, said)


def test_a_node_may_have_nothing_but_devices():
    with started() as daemon:
        told(daemon, "node", "add", "bare", "--devices", f"{GPU}=1x7")
        check(shown(daemon, "node", "show", "bare")["capacity"] == {GPU: 7}, shown(daemon, "node", "show", "bare"))


def test_apply_and_diff_read_back_what_is_shown():
    with started() as daemon:
        text = told(daemon, "node", "show", "g1", "-o", "yaml")
        done = subprocess.run([YKCTL, "-s", daemon.path, "diff", "-f", "-"], input=text, capture_output=True, text=True, timeout=60, check=False)
        check(done.returncode == 0, done.stdout, done.stderr)
        other = f"nodes:\n- nodeID: g1\n  devices: {{{GPU}: [1000]}}\nasks:\n- {{allocationKey: k, applicationID: job, resourceAsk: {{{GPU}: 600}}, devices: {{{GPU}: {{count: 2, each: 300}}}}}}\n"
        done = subprocess.run([YKCTL, "-s", daemon.path, "apply", "-f", "-"], input=other, capture_output=True, text=True, timeout=60, check=False)
        check(done.returncode == 0 and "devices" in done.stdout and "ask k created" in done.stdout, done.stdout, done.stderr)
        check(shown(daemon, "node", "show", "g1")["devices"] == {GPU: [1000]}, "fewer")


def test_a_detached_rm_has_the_same_devices_after_a_restart():
    with started("--state", "@.") as daemon:
        told(daemon, "ask", "add", "job", "--key", "a", "-R", f"vcore=1,{GPU}=400", "--wait")
        told(daemon, "ask", "add", "job", "--key", "b", "-R", f"vcore=1,{GPU}=1000", "--wait")
        told(daemon, "ask", "add", "job", "--key", "c", "-R", f"vcore=1,{GPU}=1000", "--wait")
        told(daemon, "alloc", "release", "b")
        told(daemon, "ask", "add", "job", "--key", "d", "-R", "vcore=1", "--devices", f"{GPU}=5x100")
        told(daemon, "node", "update", "g1", "--devices", f"{GPU}=2x1000+1x500")
        before = shown(daemon, "node", "show", "g1"), shown(daemon, "ask", "show", "d")["devices"]
        check(before[0]["usedDevices"][GPU] == [0, 1000, 400], before)
        daemon.restart()
        until("it is there again", lambda: used(daemon) == [0, 1000, 400])
        node = shown(daemon, "node", "show", "g1")
        check(node["devices"] == {GPU: [1000, 1000, 500]} and shown(daemon, "ask", "show", "d")["devices"] == before[1], node)


def test_rest_has_the_devices():
    port = free_port()
    with started("--http", f"127.0.0.1:{port}") as daemon:
        told(daemon, "ask", "add", "job", "--key", "two", "-R", "vcore=1", "--devices", f"{GPU}=2x300", "--wait")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ws/v1/partition/default/nodes", timeout=10) as answer:
            node, = json.load(answer)
        check(node["devices"] == {GPU: [1000, 1000, 500, 500]} and node["usedDevices"] == {GPU: [0, 0, 300, 300]}, node)
        check(node["allocations"][0]["devices"] == {GPU: [{"index": 2, "amount": 300}, {"index": 3, "amount": 300}]}, node)


main(globals())
