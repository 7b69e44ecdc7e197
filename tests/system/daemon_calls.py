"""Calls to an RM that has predicates: on the wire, and with ykctl rm serve --refuse (interface.md 4.9)."""
from daemon_support import *

YKCTL = os.path.join(os.environ["YK_BIN"], "ykctl")
BOTH = ["predicates", "preemptionPredicates"]


class Rm:
    """One that polls and remembers what it was asked and told."""

    def __init__(self, daemon, **more):
        self.client = daemon.client()
        self.registered = self.client.register(capabilities=BOTH, **more)
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


main(globals())
