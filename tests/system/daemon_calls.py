# SPDX-License-Identifier: Apache-2.0
"""Calls to an RM that has predicates: on the wire, and with ykctl rm serve --refuse (interface.md 4.9)."""
from daemon_support import *

YKCTL = os.path.join(os.environ["YK_BIN"], "ykctl")
BOTH = ["predicates", "preemptionPredicates"]


class Rm:
    """One that polls and remembers what it was asked and told."""

    def __init__(self, daemon, capabilities=None, **more):
        self.client = daemon.client()
        self.registered = self.client.register(capabilities=capabilities or BOTH, **more)
        self.ack = 0
        self.calls, self.placed = [], {}

    def poll(self, wait=0):
        for item in self.client.poll(ack=self.ack, wait=wait)["items"]:
            self.ack = item["n"]
            if "call" in item:
                self.calls.append(item)
            for allocation in item["body"].get("new", []):
                self.placed[allocation["allocationKey"]] = allocation["nodeID"]

    def next_call(self):
        until("a call", lambda: self.poll() or self.calls)
        return self.calls.pop(0)

    def answer(self, call, result=None, ok=True, **more):
        body = {"rmID": "rm:1", "streamEpoch": self.client.epoch, "call": call["call"], "ok": ok, **more}
        if result is not None:
            body["result"] = result
        return self.client.get("CallResult", body)["late"]

    def node(self, name, vcore=1000):
        self.client.change("UpdateNode", {"rmID": "rm:1", "nodes": [
            {"nodeID": name, "action": 1, "schedulableResource": {"vcore": vcore}}]})


def test_a_call_and_its_answer():
    with Daemon() as daemon:
        rm = Rm(daemon)
        check("ignoredCapabilities" not in rm.registered, rm.registered)
        rm.client.cluster()
        rm.node("n2")
        rm.client.asks("k")
        call = rm.next_call()
        check(call["kind"] == "Predicates" and call["ttl"] == 2000, call)
        check(call["body"] == {"allocationKey": "k", "applicationID": "app", "partitionName": "[rm:1]default",
                               "allocate": True, "nodes": ["n1", "n2"]}, call)
        check(not rm.answer(call, {"results": [{"nodeID": "n1", "fits": False, "reason": "taint"},
                                               {"nodeID": "n2", "fits": True}]}))
        until("k is placed", lambda: rm.poll() or rm.placed)
        check(rm.placed == {"k": "n2"}, rm.placed)
        check(rm.answer(call, {"results": []}), "a second answer is late")
        check(rm.answer({"call": 99}), "an unknown call is late")
        error = rm.client.refused("E_TYPE", "CallResult", {
            "rmID": "rm:1", "streamEpoch": rm.client.epoch, "call": 1, "ok": True, "result": {"results": [{"nodeID": 3}]}})
        check(error["path"] == "result.results[0].nodeID", error)
        text = rm.client.get("Metrics")["text"]
        check('yunikorn_rm_calls_total{rm="rm:1",call="predicates",result="answered"} 1' in text, text)
        check('yunikorn_rm_calls_total{rm="rm:1",call="predicates",result="late"} 2' in text, text)


def test_no_answer_expires_and_ten_suspend_the_rm():
    with Daemon("--predicate-timeout", "50ms") as daemon:
        rm = Rm(daemon)
        rm.client.cluster()
        rm.client.asks(*[f"k{i}" for i in range(10)])
        witness = daemon.client()
        state = lambda: witness.get("Status")["rms"][0]["state"]
        until("the RM is suspended", lambda: state() == 4)
        items = rm.client.poll()["items"]
        check(not any("call" in item for item in items), "calls that are over are not delivered", items)
        until("it goes on after a poll", lambda: state() == 1)
        asks = rm.client.dump("app", partition="default", application="app")["requests"]
        check(asks[0]["allocationLog"][0]["message"] == "predicate call timed out", asks)


def test_a_new_registration_forgets_the_calls():
    with Daemon() as daemon:
        rm = Rm(daemon)
        rm.client.cluster()
        rm.client.asks("k")
        call = rm.next_call()
        old = rm.client.epoch
        rm.client.register(capabilities=BOTH)
        check(rm.client.get("CallResult", {"rmID": "rm:1", "streamEpoch": old, "call": call["call"], "ok": True})["late"])


def test_rm_serve_refuses_nodes():
    with Daemon() as daemon:
        url = "ipc://" + daemon.path
        ykctl = lambda *words: subprocess.run([YKCTL, "-s", url, *words], capture_output=True, text=True, check=False)
        served = subprocess.Popen([YKCTL, "-s", url, "rm", "serve", "shim", "--refuse", "gpu-*"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            witness = daemon.client()
            until("it is registered", lambda: witness.get("Status")["rms"])
            for node in ("gpu-1", "plain"):
                done = ykctl("node", "add", node, "-R", "vcore=4")
                check(done.returncode == 0, done)
            check(ykctl("app", "add", "app", "-q", "root.default", "--tag", "namespace=team").returncode == 0)
            for key in ("a", "b"):
                check(ykctl("ask", "add", "app", "--key", key, "-R", "vcore=2").returncode == 0)
            placed = lambda: {a["allocationKey"]: a["nodeId"] for a in witness.dump(
                "app", partition="default", application="app").get("allocations", [])}
            until("both are placed", lambda: len(placed()) == 2)
            check(set(placed().values()) == {"plain"}, placed())
            check(ykctl("ask", "add", "app", "--key", "c", "-R", "vcore=2").returncode == 0)
            until("why is known", lambda: "refused by --refuse gpu-*" in ykctl("explain", "ask", "c").stdout)
        finally:
            served.terminate()
            served.wait(DEADLINE)


WITH_C = CONFIG + "          - name: c\n"
WITH_D = CONFIG + "          - name: d\n"
A_IS_PARENT = CONFIG.replace("- name: a", "- name: a\n            queues: [{name: deep}]")


def update(client, config, **more):
    """Sends an UpdateConfiguration without waiting for its reply."""
    client.seq += 1
    client.send("UpdateConfiguration", {"rmID": "rm:1", "config": config, **more}, seq=client.seq)


def queues_of(client):
    return [q["queuename"] for q in client.dump("queues", partition="default")[0]["children"] if q["status"] == "Active"]


def test_the_rm_stores_what_others_give_it_first():
    """I-184"""
    with Daemon() as daemon:
        rm = Rm(daemon, capabilities=["configStore"])
        check("ignoredCapabilities" not in rm.registered, rm.registered)
        admin = daemon.client()
        update(admin, WITH_C)
        call = rm.next_call()
        check(call["kind"] == "UpdateConfiguration" and call["ttl"] == 10000 and call["body"] == {"configs": WITH_C}, call)
        check("root.c" not in queues_of(rm.client), "it is not active yet")
        check(not rm.answer(call, {"success": True, "oldConfig": CONFIG}))
        reply = admin.receive()
        check(reply["ok"] and reply["body"]["changed"], reply)
        check("root.c" in queues_of(rm.client))
        # what is active, a trial and the RM's own updates are not asked about
        check(not admin.change("UpdateConfiguration", {"rmID": "rm:1", "config": WITH_C})["changed"])
        admin.change("UpdateConfiguration", {"rmID": "rm:1", "config": CONFIG, "dryRun": True})
        check(rm.client.change("UpdateConfiguration", {"rmID": "rm:1", "config": CONFIG})["changed"])
        # nor is what cannot be applied
        admin.refused("E_CONFIG_INVALID", "UpdateConfiguration", {"rmID": "rm:1", "config": "partitions: []"}, mutating=True)
        check(not rm.calls and not rm.poll() and not rm.calls, rm.calls)
        text = rm.client.get("Metrics")["text"]
        check('yunikorn_rm_calls_total{rm="rm:1",call="configStore",result="answered"} 1' in text, text)


def test_what_the_rm_does_not_store_is_not_applied():
    """I-184: refused, failed, gone; changes that come meanwhile wait in their order."""
    with Daemon() as daemon:
        rm = Rm(daemon, capabilities=["configStore"])
        admin, other = daemon.client(), daemon.client()
        for result, more, reason in (({"success": False, "reason": "disk full"}, {}, "disk full"),
                                     (None, {"ok": False, "error": "no idea"}, "no idea"), ({}, {}, "no reason")):
            update(admin, WITH_C)
            call = rm.next_call()
            rm.answer(call, result, **more)
            error = admin.receive()["err"]
            check(error["name"] == "E_CONFIG_STORE" and reason in error["message"], error)
            check("root.c" not in queues_of(rm.client), "nothing was applied")
        update(admin, WITH_C)
        first = rm.next_call()
        update(other, WITH_D)
        check(not rm.poll() and not rm.calls, "one after the other")
        rm.answer(first, {"success": True})
        check(admin.receive()["ok"])
        rm.answer(rm.next_call(), {"success": True})
        check(other.receive()["ok"])
        check("root.c" not in queues_of(rm.client), "the later one is active")
        update(admin, WITH_C)
        rm.next_call()
        rm.client.register(capabilities=["configStore"])
        error = admin.receive()["err"]
        check(error["name"] == "E_CONFIG_STORE" and "registration ended" in error["message"], error)


def test_what_cannot_be_applied_after_all_is_given_back():
    """I-184: while the RM stored it, the state changed so that it is refused."""
    with Daemon() as daemon:
        rm = Rm(daemon, capabilities=["configStore"])
        admin = daemon.client()
        update(admin, A_IS_PARENT)
        call = rm.next_call()
        rm.client.cluster()  # an application in root.a, which is to become a parent
        rm.client.get("Sync", {"rmID": "rm:1"})
        rm.answer(call, {"success": True})
        check(admin.receive()["err"]["name"] == "E_CONFIG_INVALID")
        back = rm.next_call()
        check(back["kind"] == "UpdateConfiguration" and back["body"]["configs"] == CONFIG, back)
        rm.answer(back, {"success": True})


def test_a_reload_of_the_file_is_stored_too():
    """I-184"""
    with Daemon("--config", "@q.yaml", files={"q.yaml": CONFIG}) as daemon:
        rm = Rm(daemon, capabilities=["configStore"], config="")
        daemon.write("q.yaml", WITH_C)
        daemon.signal(signal.SIGHUP)
        call = rm.next_call()
        check(call["body"]["configs"] == WITH_C, call)
        rm.answer(call, {"success": False, "reason": "read-only"})
        until("the log says so", lambda: "did not store the configuration: read-only" in daemon.text())
        check("root.c" not in queues_of(rm.client))


def test_rms_tell_their_state_in_full_dumps():
    """I-435"""
    with Daemon() as daemon:
        witness = daemon.client()
        check(witness.dump("full")["rmDiagnostics"] == {"empty": "no resource manager has capability stateDump"})
        rm = Rm(daemon, capabilities=["stateDump"])
        quiet = daemon.client()
        quiet.register(rm="rm:2")

        def answered(result, **more):
            witness.send("Dump", {"what": "full"})
            call = rm.next_call()
            check(call["kind"] == "GetStateDump" and call["ttl"] == 5000 and call["body"] == {}, call)
            rm.answer(call, result, **more)
            reply = witness.receive()
            check(reply["ok"], reply)
            return reply["body"]["data"]["rmDiagnostics"]

        check(answered({"stateDump": '{"pods": [1, 2.5, null]}'}) == {"rm:1": {"pods": [1, 2.5, None]}})
        check(answered(None, ok=False, error="locked") == {"rm:1": {"Error": "locked"}})
        check(answered({"stateDump": "{"}) == {"rm:1": {"Error": "the state is no JSON text"}})
        check("deeper" in answered({"stateDump": "[" * 40 + "]" * 40})["rm:1"]["Error"])
        keys = ",".join(f'"k{i}":{i}' for i in range(200000))
        check(len(answered({"stateDump": "{" + keys + "}"})["rm:1"]) == 200000)
        large = '"' + "x" * 3000000 + '"'
        check("there is room for" in daemon_with_small_messages(large), "larger than half of a message")


def daemon_with_small_messages(state):
    with Daemon("--max-message", "4MiB") as daemon:
        rm = Rm(daemon, capabilities=["stateDump"])
        witness = daemon.client()
        witness.send("Dump", {"what": "full"})
        rm.answer(rm.next_call(), {"stateDump": state})
        return witness.receive()["body"]["data"]["rmDiagnostics"]["rm:1"]["Error"]


def test_a_silent_rm_does_not_hold_up_the_full_dump():
    """I-435, I-376: 5 s."""
    with Daemon() as daemon:
        rm = Rm(daemon, capabilities=["stateDump"])
        witness = daemon.client()
        start = time.monotonic()
        check(witness.dump("full")["rmDiagnostics"] == {"rm:1": {"Error": "no answer within 5 s"}})
        check(4.9 < time.monotonic() - start < DEADLINE)
        check(not rm.poll() and not rm.calls, "the call was taken out of the stream")


def test_rm_serve_stores_and_tells():
    """I-184, I-435: ykctl rm serve --config-store --state-dump"""
    with Daemon() as daemon:
        url, store = "ipc://" + daemon.path, daemon.folder + "/stored.yaml"
        ykctl = lambda *words: subprocess.run([YKCTL, "-s", url, *words], capture_output=True, text=True, check=False)
        served = subprocess.Popen([YKCTL, "-s", url, "rm", "serve", "shim", "--config-store", store, "--state-dump",
                                   daemon.write("state.json", '{"pods": 3}')],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            witness = daemon.client()
            until("it is registered", lambda: witness.get("Status")["rms"])
            done = ykctl("config", "reload", "-f", daemon.write("c.yaml", WITH_C))
            check(done.returncode == 0, done)
            with open(store, encoding="utf-8") as file:
                check(file.read() == WITH_C)
            check('"pods": 3' in ykctl("dump", "all").stdout)
            os.remove(store)
            os.mkdir(store)
            done = ykctl("config", "reload", "-f", daemon.write("c.yaml", CONFIG))
            check(done.returncode == 1 and "cannot be written" in done.stderr and "E_CONFIG_STORE" in done.stderr, done)
            os.remove(daemon.folder + "/state.json")
            check("cannot be opened" in ykctl("dump", "all").stdout)
        finally:
            served.terminate()
            served.wait(DEADLINE)


main(globals())
