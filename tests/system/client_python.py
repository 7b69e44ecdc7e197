# SPDX-License-Identifier: Apache-2.0
"""The Python client (clients/python) against a real ykd: both flavours, connections that are cut, restarts, errors, callbacks that are
slow or raise, thousands of asks, TLS, tokens, its example, and its own unit tests."""
from daemon_support import *

import asyncio
import contextlib
import hashlib
import logging
import pathlib
import random
import sys
import tempfile
import threading
import unittest
import unittest.mock

from daemon_support.certificates import make_certificate

CLIENT = pathlib.Path(__file__).resolve().parent.parent.parent / "clients/python"
sys.path.insert(0, str(CLIENT / "src"))

import ykd
import ykd.aio

NODES = [ykd.Node(f"n{number}", {"vcore": 100_000}) for number in range(3)]
APPLICATION = ykd.Application("app", queue="root.a", user="u")


def ask(key, **more):
    return ykd.Ask("app", key, {"vcore": 10}, **more)


def raises(wanted, call, *arguments, **named):
    """The exception, which must be of that class."""
    try:
        call(*arguments, **named)
    except wanted as error:
        return error
    raise AssertionError(f"{wanted.__name__} was not raised")


class Told(ykd.Callbacks):
    """Notes all callbacks; `slow` seconds in each allocated(), which raises for keys in `faulty`."""

    def __init__(self, slow=0.0, faulty=()):
        self.calls, self.slow, self.faulty, self.rm = [], slow, faulty, None

    def of(self, method):
        return [argument for name, argument in list(self.calls) if name == method]

    def keys(self, method):
        return [argument.key for argument in self.of(method)]

    def allocated(self, allocation):
        time.sleep(self.slow)
        self.calls.append(("allocated", allocation))
        if allocation.key in self.faulty:
            raise KeyError(allocation.key)


def noting(name):
    return lambda self, argument: self.calls.append((name, argument))


for method in vars(ykd.Callbacks):
    if not method.startswith(("_", "call_")) and method not in vars(Told):
        setattr(Told, method, noting(method))


@contextlib.contextmanager
def serving(daemon, told=None, rm_id="rm:1", address=None, **more):
    """A resource manager with three nodes and one application, which has left in the end."""
    told = told or Told()
    rm = ykd.ResourceManager(address or "ipc://" + daemon.path, rm_id, told, config=CONFIG, **more)
    try:
        rm.start()
        rm.add_nodes(*NODES)
        rm.add_applications(APPLICATION)
        rm.sync()
        yield rm, told
        rm.leave(force=True)
    finally:
        rm.close()


class Cutter:
    """A proxy on ipc that cuts each connection when it has forwarded so many bytes of the client, or, of a reply, only so many."""

    def __init__(self, daemon, path):
        self.target, self.path, self.cut_requests, self.cut_replies, self.cuts = daemon.path, path, 0, 0, 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(self.target)
                except OSError:
                    client.close()
                    continue
                for source, target, what in ((client, server, "cut_requests"), (server, client, "cut_replies")):
                    threading.Thread(target=self.relay, args=(source, target, what), daemon=True).start()

    def relay(self, source, target, what):
        """Forwards half of what comes, and cuts, while there are cuts to be made."""
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if getattr(self, what) > 0 and len(data) > 20:
                    setattr(self, what, getattr(self, what) - 1)
                    self.cuts += 1
                    target.sendall(data[:len(data) // 2])
                    break
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def test_unit_tests_of_the_core():
    ran = subprocess.run([sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", "."], cwd=CLIENT, capture_output=True,
                         text=True, check=False)
    check(ran.returncode == 0, ran.stdout, ran.stderr)


def test_the_example_is_a_whole_resource_manager():
    with Daemon() as daemon:
        ran = subprocess.run([sys.executable, str(CLIENT / "examples/minimal_rm.py"), "ipc://" + daemon.path], capture_output=True,
                             text=True, timeout=DEADLINE, env={**os.environ, "PYTHONPATH": str(CLIENT / "src")}, check=False)
        check(ran.returncode == 0 and ran.stderr == "", ran.returncode, ran.stdout, ran.stderr)
        lines = ran.stdout.splitlines()
        check(sum(" placed on node-" in line for line in lines) == 10 and sum(" released" in line for line in lines) == 10, ran.stdout)
        check(lines[-1] == "left", ran.stdout)
        with ykd.Client("ipc://" + daemon.path) as client:
            check(client.status()["rms"] == [], client.status())


def test_the_example_of_the_readme():
    with open(CLIENT.parent.parent / "README.md", encoding="utf-8") as file:
        block = file.read().split("```python\n")[1].split("```")[0]
    check("ipc:///run/ykd/ykd.sock" in block and "import ykd" in block, block)
    with Daemon() as daemon:
        ran = subprocess.Popen([sys.executable, "-uc", block.replace("ipc:///run/ykd/ykd.sock", "ipc://" + daemon.path)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(CLIENT / "src")}, text=True)
        check(ran.stdout.readline() == "ask-1 placed on node-1\n")
        check(ran.communicate("\n", timeout=DEADLINE)[0] == "" and ran.returncode == 0, ran.returncode)


def test_the_end_of_a_block_sends_what_was_added_and_a_refusal_is_not_silent():
    with Daemon() as daemon:
        with ykd.ResourceManager("ipc://" + daemon.path, "brief") as rm:
            rm.add_applications(ykd.Application("app", user="me", tags={"namespace": "default"}))
            rm.add_asks(*(ykd.Ask("app", f"a{number}", {"vcore": 1}) for number in range(3000)))
        check(len(daemon.client().dump("app", application="app", rmID="brief")["requests"]) == 3000)
        with unittest.TestCase().assertLogs("ykd", "WARNING") as logs:
            with ykd.ResourceManager("ipc://" + daemon.path, "other") as rm:
                rm.add_applications(ykd.Application("lost", queue="root.nowhere", user="me"))
        check("application lost was rejected" in logs.output[0], logs.output)


def test_a_whole_life():
    with Daemon() as daemon, serving(daemon) as (rm, told):
        check(told.of("node_accepted") == ["n0", "n1", "n2"] and told.of("application_accepted") == ["app"], told.calls)
        rm.add_asks(*(ask(f"k{number}") for number in range(5)))
        until("all are placed", lambda: len(told.keys("allocated")) == 5)
        check({one.key for one in rm.allocations()} == {f"k{number}" for number in range(5)} and rm.pending() == [])
        check(told.of("allocated")[0].queue == "root.a" and told.of("allocated")[0].partition == "default")
        error = raises(ykd.Refused, rm.leave)
        check(error.code == ykd.Code.E_BUSY_STATE, error)
        rm.release("app", "k0", "k1")
        rm.sync()
        check(told.keys("released") == ["k0", "k1"], told.of("released"))
        check(all(one.termination_type == ykd.TerminationType.STOPPED_BY_RM and one.node_id for one in told.of("released")))
        rm.drain_nodes("n0", "n1", "n2")
        rm.add_asks(ask("late"))
        rm.sync()
        check(rm.pending() == [("app", "late")])
        rm.remove_asks("app", "late")
        rm.undrain_nodes("n0", "n1", "n2")
        rm.sync()
        check(rm.pending() == [] and "late" not in told.keys("allocated"))
        rm.remove_nodes("n0", "n1", "n2")
        rm.sync()
        check(sorted(told.keys("released")) == ["k0", "k1", "k2", "k3", "k4"], told.keys("released"))
        rm.remove_applications("app")
        rm.sync()
        check(rm.allocations() == [])


def test_rejections_come_by_callback():
    with Daemon() as daemon, serving(daemon) as (rm, told):
        rm.add_nodes(NODES[0])
        rm.add_applications(ykd.Application("lost", queue="root.none", user="u"), APPLICATION)
        rm.add_asks(ykd.Ask("nobody", "k", {"vcore": 1}), ykd.Ask("app", "empty", {}))
        rm.release("app", "never")
        rm.sync()
        first = [(one.what, one.code) for one in told.of("rejected")][:3]
        check(first == [("node", 1021), ("application", 1014), ("application", 1011)], told.of("rejected"))
        check({(one.what, one.key, one.code) for one in told.of("rejected")[3:]} ==
              {("ask", "k", 1010), ("ask", "empty", 1030), ("release", "never", 1040)}, told.of("rejected"))
        rm.add_asks(ask("good"))
        until("the node is still known", lambda: told.keys("allocated") == ["good"])


def test_the_asyncio_flavour():
    class Awaited(ykd.Callbacks):
        def __init__(self):
            self.placed, self.ended, self.all_placed = [], [], asyncio.Event()

        async def allocated(self, allocation):
            await asyncio.sleep(0)
            self.placed.append(allocation.key)
            if len(self.placed) == 20:
                self.all_placed.set()

        def released(self, release):
            self.ended.append(release.key)

    async def life(address):
        told = Awaited()
        async with ykd.aio.ResourceManager(address, "rm:1", told, config=CONFIG) as rm:
            await rm.add_nodes(*NODES)
            await rm.add_applications(APPLICATION)
            await rm.add_asks(*(ask(f"k{number}") for number in range(20)))
            async with asyncio.timeout(DEADLINE):
                await told.all_placed.wait()
            await rm.release("app", *told.placed)
            await rm.sync()
            check(sorted(told.ended) == sorted(told.placed), told.ended)
            await rm.leave()
        async with ykd.aio.Client(address) as client:
            pings = await asyncio.gather(*(client.ping() for _ in range(100)))
            check(len(pings) == 100 and (await client.status())["rms"] == [])
            try:
                await client.explain("queue", queue="root.a")
                raise AssertionError("it was not refused")
            except ykd.Refused as error:
                check(error.code == ykd.Code.E_NOT_FOUND, error)
            try:
                await asyncio.wait_for(client.request("EventStream", {"count": 0, "waitMs": 60000, "streamID": "x"}), 0.001)
            except (TimeoutError, ykd.Refused):
                pass
            check((await client.ping())["state"] == 0, "a request that was cancelled leaves the connection as it was")

    with Daemon() as daemon:
        asyncio.run(life("ipc://" + daemon.path))


def test_errors_are_exceptions():
    with Daemon() as daemon, ykd.Client("ipc://" + daemon.path, role="rm") as client:
        error = raises(ykd.Refused, client.explain, "queue", queue="root.none")
        check((error.code, error.name, error.kind) == (320, "E_NOT_FOUND", "Explain") and "E_NOT_FOUND" in str(error), error)
        error = raises(ykd.Refused, client.register, "bad[")
        check(error.name == "E_INVALID" and error.path == "rmID", error)
        check(raises(ykd.Refused, client.register, "rm:1", "partitions: 7").code == ykd.Code.E_CONFIG_INVALID)
        check(raises(ykd.Refused, client.request, "Nonsense").code == ykd.Code.E_KIND)
        check(raises(ykd.Refused, client.update_nodes, "rm:1", [{"action": 1}]).path == "nodes[0].nodeID")
        check(raises(ykd.Refused, client.update_nodes, "rm:1", []).code == ykd.Code.E_RM_UNKNOWN)
        check(raises(ykd.Refused, client.request, "Step", {"cycles": 1}).code == ykd.Code.E_FORBIDDEN)
        check(client.register("rm:1", CONFIG)["partitions"] == ["[rm:1]default"], "numbers that refusals left free are used up")
        check(raises(ykd.Refused, client.request, "Dump", {"what": "nodes", "limit": "x"}).code == ykd.Code.E_TYPE)
        raises(TypeError, client.request, "Ping", {"x": object()})
        raises(ykd.TooLarge, client.request, "Ping", {"x": "x" * (17 << 20)})
        check(client.update_nodes("rm:1", [])["position"] >= 1 and client.hello["role"] == "rm")
        other = ykd.Client("ipc://" + daemon.path, role="rm")
        check(raises(ykd.Refused, other.update_nodes, "rm:1", []).code == ykd.Code.E_FORBIDDEN)
        other.close()
        raises(ykd.Closed, other.ping)
    with ykd.Client("ipc:///tmp/nobody-listens-here", time_limit=0.2) as nobody:
        check("cannot connect to ipc:///tmp/nobody-listens-here" in str(raises(ykd.NoAnswer, nobody.ping)))


def test_a_client_does_what_a_resource_manager_needs():
    with Daemon() as daemon, ykd.Client("ipc://" + daemon.path, role="rm") as client:
        epoch = client.register("rm:1", CONFIG)["streamEpoch"]
        client.update_nodes("rm:1", [{"nodeID": "n", "action": 1, "schedulableResource": {"vcore": 10}}])
        client.update_applications("rm:1", [{"applicationID": "app", "queueName": "root.a", "ugi": {"user": "u"}}])
        client.update_allocations("rm:1", asks=[{"allocationKey": "k", "applicationID": "app", "resourceAsk": {"vcore": 1}}])
        check(client.sync("rm:1", asks=[{"allocationKey": "k", "applicationID": "app"}])["asks"][0]["outcome"] == "placed")
        items = client.poll("rm:1", epoch, 0)["items"]
        check(items[0]["kind"] == "UpdateNode" and items[0]["n"] == 1, items)
        check(client.dump("nodes", rmID="rm:1")[0]["nodesInfo"][0]["nodeID"] == "n")
        check(len(list(client.dump_pages("allocations", rmID="rm:1"))) == 1)
        check(client.explain("ask", application="app", allocationKey="k", rmID="rm:1")["verdict"] == "PLACED")
        check(client.events(0)["EventRecords"] and client.health()["HealthChecks"] and client.metrics("yunikorn_queue"))
        check(client.validate_configuration("partitions: 7")["allowed"] is False)
        check(client.update_configuration("rm:1", CONFIG)["changed"] is False)
        check(client.ping("rm:1")["state"] == ykd.CoreState.RUNNING)
        check(client.recovery_list("rm:1", "nodes")["items"][0]["nodeID"] == "n")
        client.update_allocations("rm:1", releases=[{"applicationID": "app", "allocationKey": "k", "terminationType": 1}])
        client.unregister("rm:1")
        check(client.status()["rms"] == [])


def test_a_connection_that_is_cut_in_the_middle_loses_and_doubles_nothing():
    with Daemon() as daemon, Cutter(daemon, daemon.folder + "/proxy") as proxy:
        with ykd.Client("ipc://" + proxy.path, role="rm") as client:
            client.register("rm:1", CONFIG)
            before = client.update_nodes("rm:1", [])["position"]
            for number in range(40):
                if number % 2:
                    proxy.cut_requests = 1
                else:
                    proxy.cut_replies = 1
                check(client.update_nodes("rm:1", [{"nodeID": f"n{number}", "action": 1}])["position"] == before + number + 1, "carried out once")
            check(proxy.cuts >= 40, proxy.cuts)
            client.unregister("rm:1")
        with serving(daemon, address="ipc://" + proxy.path) as (rm, told):
            for number in range(200):
                rm.add_asks(ask(f"k{number}"))
                if number % 10 == 0:
                    proxy.cut_requests = proxy.cut_replies = 1
                    rm.flush()
            until("all are placed", lambda: len(told.keys("allocated")) == 200)
            check(len(set(told.keys("allocated"))) == 200 and told.of("rejected") == [], told.of("rejected"))


def test_a_restart_of_the_daemon_in_the_middle():
    with Daemon() as daemon, serving(daemon) as (rm, told):
        rm.add_asks(*(ask(f"a{number}") for number in range(100)))
        until("all are placed", lambda: len(told.keys("allocated")) == 100)
        rm.drain_nodes("n2")
        rm.release("app", "a0", "a1")
        rm.sync()
        feeding = threading.Thread(target=lambda: [rm.add_asks(ask(f"b{number}")) for number in range(3000)])
        feeding.start()
        for number in (signal.SIGKILL, signal.SIGTERM):
            daemon.restart(number)
            until("it has recovered", lambda: len(told.of("recovered")) > (number == signal.SIGTERM))
        feeding.join()
        until("all are placed", lambda: len(set(told.keys("allocated"))) == 3100)
        rm.release("app", "a2")
        rm.sync()
        placed, ended = told.keys("allocated"), told.keys("released")
        check(len(placed) == 3100, "an allocation was announced twice")
        check(ended == ["a0", "a1", "a2"], ended)
        check(told.of("recovery_failed") == [] and told.of("rejected") == [], told.of("rejected"))
        there = {one["allocationKey"]: one["nodeId"] for page in ykd_pages(daemon) for one in page}
        check(there == {one.key: one.node_id for one in rm.allocations()} and len(there) == 3097, len(there))


def test_a_restart_with_more_than_fits_into_one_request():
    with Daemon() as daemon, serving(daemon) as (rm, told):
        tags = {"a": "x" * (64 << 10), "b": "x" * (64 << 10)}
        rm.add_asks(*(ask(f"a{number}", required_node="none", tags=tags) for number in range(140)))  # 18 MB
        rm.sync()
        daemon.restart()
        until("it has recovered", lambda: told.of("recovered"))
        rm.sync()
        check(len(rm.pending()) == 140 and told.of("rejected") == [], told.of("rejected"))


def test_cuts_and_restarts_together_lose_and_double_nothing():
    for seed in range(2):
        chance, count, asked = random.Random(seed), 0, set()
        with Daemon() as daemon, Cutter(daemon, daemon.folder + "/proxy") as proxy, serving(daemon, address="ipc://" + proxy.path) as (rm, told):
            for turn in range(10):
                rm.add_asks(*(ask(f"k{count + number}") for number in range(50)))
                count += 50
                proxy.cut_requests, proxy.cut_replies = chance.randrange(3), chance.randrange(3)
                ended = [key for key in told.keys("allocated") if key not in asked][:5]
                asked.update(ended)
                rm.release("app", *ended)
                if turn % 4 == 3:
                    daemon.restart()
                if chance.randrange(2):
                    rm.flush()
            until("all are placed", lambda: len(set(told.keys("allocated"))) == count)
            rm.sync()
            check(len(told.keys("allocated")) == count and sorted(told.keys("released")) == sorted(asked), told.keys("released"), asked)
            check(told.of("rejected") == [] and proxy.cuts > 0, told.of("rejected"))
            there = {one["allocationKey"]: one["nodeId"] for page in ykd_pages(daemon) for one in page}
            check(there == {one.key: one.node_id for one in rm.allocations()}, len(there), len(rm.allocations()))


def ykd_pages(daemon):
    with ykd.Client("ipc://" + daemon.path) as client:
        return list(client.dump_pages("allocations", rmID="rm:1"))


def test_a_restart_under_the_asyncio_flavour():
    async def life(daemon, told):
        async with ykd.aio.ResourceManager("ipc://" + daemon.path, "rm:1", told, config=CONFIG) as rm:
            await rm.add_nodes(*NODES)
            await rm.add_applications(APPLICATION)
            await rm.add_asks(*(ask(f"a{number}") for number in range(100)))
            await rm.sync()
            restart = asyncio.get_running_loop().run_in_executor(None, daemon.restart)
            for number in range(1000):
                await rm.add_asks(ask(f"b{number}"))
                await asyncio.sleep(0)
            await restart
            async with asyncio.timeout(DEADLINE):
                while len(told.keys("allocated")) < 1100:
                    await asyncio.sleep(0.01)
            await rm.release("app", "a0")
            await rm.sync()
            check(len(set(told.keys("allocated"))) == len(told.keys("allocated")) == 1100 and told.keys("released") == ["a0"])
            await rm.leave(force=True)

    with Daemon() as daemon:
        asyncio.run(life(daemon, Told()))


def test_a_process_that_was_restarted_reports_what_it_had():
    with Daemon() as daemon:
        told, rm = Told(), None
        had = [ykd.Allocation("app", f"k{number}", "n1", {"vcore": 10}) for number in range(10)]
        for _ in range(2):  # the second one takes the place of the first
            rm = ykd.ResourceManager("ipc://" + daemon.path, "rm:1", told, config=CONFIG)
            rm.restore(NODES, [APPLICATION], had, [ask("waits")])
            rm.start()
            until("the ask is placed", lambda: told.keys("allocated") == ["waits"])
            rm.close()
            told.calls.clear()
        with ykd.Client("ipc://" + daemon.path) as client:
            check(client.status()["counts"]["allocations"] == 11, client.status()["counts"])


def test_another_process_takes_it_over():
    with Daemon() as daemon:
        told = Told()
        first = ykd.ResourceManager("ipc://" + daemon.path, "rm:1", told, config=CONFIG)
        first.start()
        with serving(daemon):
            until("the first one stops", lambda: told.of("stopped"))
            error = raises(ykd.NotServing, first.add_nodes, NODES[0])
            check("another process has taken it over" in str(error), error)
        first.close()


def test_a_slow_callback_delays_nothing_but_other_callbacks():
    with Daemon("--settings", "@conf", files={"conf": "livenessTimeout: 2s\n"}) as daemon, serving(daemon, Told(slow=3.5)) as (rm, told):
        rm.add_asks(ask("a"))
        with ykd.Client("ipc://" + daemon.path) as client:
            until("it is called", lambda: client.status()["counts"]["allocations"] == 1)
            states = []
            until("it is over", lambda: states.append(client.ping("rm:1")["state"]) or told.keys("allocated"))
            check(set(states) == {1}, "it must not count as silent", set(states))
            rm.add_nodes(ykd.Node("more", {"vcore": 1}))
            rm.sync()
        check(told.of("state_changed") == [], told.of("state_changed"))


def test_callbacks_that_raise_are_named_and_the_others_go_on():
    logging.getLogger("ykd").setLevel(logging.CRITICAL)
    with Daemon() as daemon, serving(daemon, Told(faulty=("a", "b"))) as (rm, told):
        rm.add_asks(ask("a"), ask("b"), ask("c"))
        until("all are called", lambda: sorted(told.keys("allocated")) == ["a", "b", "c"])
        rm.sync()
        check([(name, type(error)) for name, error in told.of("callback_failed")] == [("allocated", KeyError)] * 2, told.of("callback_failed"))


def test_callbacks_use_the_resource_manager_but_do_not_wait_for_themselves():
    class Releasing(Told):
        def allocated(self, allocation):
            self.calls.append(("waited", raises(RuntimeError, self.rm.sync)))
            self.rm.release(allocation.application_id, allocation.key)
            super().allocated(allocation)

    told = Releasing()
    with Daemon() as daemon, serving(daemon, told) as (rm, _):
        told.rm = rm
        rm.add_asks(ask("a"), ask("b"))
        until("they are released", lambda: sorted(told.keys("released")) == ["a", "b"])


def threads_of_the_client():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("ykd-")]


def test_a_block_that_is_not_entered_leaves_nothing_behind():
    async def life(daemon):
        rm = ykd.aio.ResourceManager("ipc://" + daemon.path, "rm:1", config=CONFIG)
        try:
            async with asyncio.timeout(0.2), rm:
                raise AssertionError("it was entered")
        except TimeoutError:
            check(asyncio.all_tasks() == {asyncio.current_task()}, asyncio.all_tasks())

    with Daemon() as daemon, unittest.mock.patch("ykd.manager.TIME_LIMIT", 0.2):
        daemon.end()
        rm = ykd.ResourceManager("ipc://" + daemon.path, "rm:1", config=CONFIG)
        raises(ykd.NoAnswer, rm.__enter__)
        check(threads_of_the_client() == [], threads_of_the_client())
        asyncio.run(life(daemon))


def test_a_second_start_is_refused_and_disturbs_nothing():
    async def life(daemon):
        async with ykd.aio.ResourceManager("ipc://" + daemon.path, "rm:2", config=CONFIG) as rm:
            for again in (rm.start, rm.__aenter__):
                try:
                    await again()
                    raise AssertionError("it was started twice")
                except RuntimeError as error:
                    check("already started" in str(error), error)
            await rm.sync()
            await rm.leave()

    with Daemon() as daemon, serving(daemon) as (rm, _):
        for again in (rm.start, rm.__enter__):
            check("already started" in str(raises(RuntimeError, again)))
        rm.sync()
        asyncio.run(life(daemon))


def test_close_waits_for_callbacks_no_longer_than_it_may():
    class Hanging(Told):
        def __init__(self):
            super().__init__()
            self.go_on = threading.Event()

        def allocated(self, allocation):
            self.calls.append(("allocated", allocation))
            self.go_on.wait(DEADLINE)

    with Daemon() as daemon:
        told = Hanging()
        rm = ykd.ResourceManager("ipc://" + daemon.path, "rm:1", told, config=CONFIG)
        rm.start()
        rm.add_nodes(*NODES)
        rm.add_applications(APPLICATION)
        rm.add_asks(ask("a"))
        until("it is called", lambda: told.of("allocated"))
        check("callbacks did not end within the time limit" in str(raises(ykd.NoAnswer, rm.close, 0.1)))
        until("only that is left", lambda: threads_of_the_client() == ["ykd-callbacks"])
        told.go_on.set()
        rm.close()
        check(len(told.of("stopped")) == 1 and threads_of_the_client() == [], told.of("stopped"))


def test_asyncio_callbacks_that_are_cancelled_or_hang():
    logging.getLogger("ykd").setLevel(logging.CRITICAL)

    class Awaited(Told):
        async def allocated(self, allocation):
            self.calls.append(("allocated", allocation))
            if allocation.key == "a":
                raise asyncio.CancelledError
            if allocation.key == "hangs":
                await self.go_on.wait()

    async def life(daemon, told):
        told.go_on = asyncio.Event()
        rm = ykd.aio.ResourceManager("ipc://" + daemon.path, "rm:1", told, config=CONFIG)
        await rm.start()
        await rm.add_nodes(*NODES)
        await rm.add_applications(APPLICATION)
        await rm.add_asks(ask("a"), ask("b"))
        async with asyncio.timeout(DEADLINE):
            while len(told.keys("allocated")) < 2:
                await asyncio.sleep(0.01)
            await rm.sync()
            check([(name, type(error)) for name, error in told.of("callback_failed")] == [("allocated", RuntimeError)], told.of("callback_failed"))
            await rm.add_asks(ask("hangs"))
            while "hangs" not in told.keys("allocated"):
                await asyncio.sleep(0.01)
            for wanted, closing in ((TimeoutError, asyncio.wait_for(rm.close(), 0.1)), (ykd.NoAnswer, rm.close(0.1))):
                try:
                    await closing
                    raise AssertionError(f"{wanted.__name__} was not raised")
                except wanted:
                    pass
            told.go_on.set()
            await rm.close()
        check(len(told.of("stopped")) == 1 and asyncio.all_tasks() == {asyncio.current_task()}, told.of("stopped"), asyncio.all_tasks())

    with Daemon() as daemon:
        asyncio.run(life(daemon, Awaited()))


def test_victims_are_confirmed():
    config = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
          - name: b
            properties: {preemption.delay: 1s}
            resources: {guaranteed: {vcore: 1000}}
"""
    class Confirming(Told):
        def stop_requested(self, release):
            self.calls.append(("stop_requested", release))
            self.rm.confirm(release)

    told = Confirming()
    with Daemon() as daemon:
        with ykd.ResourceManager("ipc://" + daemon.path, "rm:1", told, config=config) as rm:
            told.rm = rm
            rm.add_nodes(ykd.Node("n", {"vcore": 1000}))
            rm.add_applications(ykd.Application("app", "root.a", "u"), ykd.Application("prod", "root.b", "u"))
            rm.add_asks(*(ykd.Ask("app", f"low{number}", {"vcore": 500}) for number in range(2)))
            until("they are placed", lambda: len(told.keys("allocated")) == 2)
            rm.add_asks(ykd.Ask("prod", "high", {"vcore": 500}, allow_preempt_other=True, priority=10))
            until("the ask is placed", lambda: "high" in told.keys("allocated"), 60)
            victims = told.of("stop_requested")
            check(len(victims) == 1 and victims[0].termination_type == ykd.TerminationType.PREEMPTED_BY_SCHEDULER, victims)
            rm.sync()
            check(told.keys("released") == [victims[0].key], told.keys("released"))
            rm.leave(force=True)


def test_thousands_of_asks():
    with Daemon() as daemon, serving(daemon) as (rm, told):
        rm.add_asks(*(ask(f"k{number}") for number in range(10_000)))
        until("all are placed", lambda: len(told.keys("allocated")) == 10_000)
        rm.release("app", *(f"k{number}" for number in range(10_000)))
        until("all are released", lambda: len(told.keys("released")) == 10_000)
        check(len(set(told.keys("released"))) == 10_000)


def test_predicates_are_answered():
    class Choosing(Told):
        def call_predicates(self, call):
            return {"results": [{"nodeID": node, "fits": node == "n1", "reason": "" if node == "n1" else "not that one"} for node in call["nodes"]]}

    with Daemon() as daemon, serving(daemon, Choosing(), capabilities=["predicates"]) as (rm, told):
        rm.add_asks(ask("a"), ask("b"))
        until("they are placed", lambda: len(told.of("allocated")) == 2)
        check([one.node_id for one in told.of("allocated")] == ["n1", "n1"])


def test_tokens_and_tls():
    port, tls_port = free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="yk.", dir="/tmp") as place:
        make_certificate(place, "server")
        tokens = f"rm rm:* {hashlib.sha256(b'hush').hexdigest()}\n"
        context = ssl.create_default_context(cafile=place + "/server.pem")
        with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--listen", f"tls+tcp://127.0.0.1:{tls_port}", "--tokens", "@tokens", "--tls-cert",
                    place + "/server.pem", "--tls-key", place + "/server.key", files={"tokens": tokens}) as daemon:
            for address, tls in ((f"tcp://127.0.0.1:{port}", None), (f"tls+tcp://localhost:{tls_port}", context)):
                with serving(daemon, address=address, token="hush", tls=tls) as (rm, told):
                    rm.add_asks(*(ask(f"k{number}") for number in range(500)))
                    until("all are placed", lambda: len(told.keys("allocated")) == 500)
                asyncio.run(awaited_ping(address, tls))
                with ykd.Client(address, token="wrong", tls=tls) as client:
                    check(raises(ykd.Refused, client.ping).name == "E_AUTH")
                    check(raises(ykd.Refused, client.ping).name == "E_AUTH", "it does not guess again")
            other = ykd.ResourceManager(f"tcp://127.0.0.1:{port}", "other", token="hush")
            error = raises(ykd.NotServing, other.start)
            check(error.__cause__.code == ykd.Code.E_FORBIDDEN, error)
            other.close()
            with ykd.Client(f"tls+tcp://localhost:{tls_port}", token="hush", tls=ssl.create_default_context(), time_limit=0.3) as client:
                check("certificate verify failed" in str(raises(ykd.NoAnswer, client.ping)))
            with ykd.Client(f"tcp://127.0.0.1:{tls_port}", token="hush", time_limit=0.3) as client:
                raises(ykd.NoAnswer, client.ping)
            raises(ValueError, ykd.Client, f"tls+tcp://localhost:{tls_port}")


async def awaited_ping(address, tls):
    async with ykd.aio.Client(address, role="rm", token="hush", tls=tls) as client:
        check((await client.ping())["state"] == 0)


main(globals())
