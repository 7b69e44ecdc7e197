# SPDX-License-Identifier: Apache-2.0
"""Sessions, sequence numbers and ownership (interface.md 4.3 to 4.5)."""
import shutil

from daemon_support import *

NODE = {"rmID": "rm:1", "nodes": [{"nodeID": "n1", "action": 1, "schedulableResource": {"vcore": 5}}]}


def test_hello_negotiates():  # I-320, I-321, I-343, I-350
    with Daemon() as daemon:
        client = Client(daemon.path)
        error = client.refused("E_VERSION", "Hello", {"min": 2, "max": 3, "client": "t", "role": "admin"})
        check(error["details"] == {"min": 1, "max": 1}, error)
        client.refused("E_INVALID", "Hello", {"min": 1, "max": 1, "client": "t", "role": "king"})
        client.refused("E_MISSING_FIELD", "Ping")
        client.refused("E_SESSION_UNKNOWN", "Ping", sid=b"\1" * 16)
        client.refused("E_TYPE", "Ping", sid=b"\1" * 15)
        reply = client.hello(role="observer")
        check(reply["role"] == "observer" and reply["version"] == 1 and not reply["resumed"])
        client.refused("E_FORBIDDEN", "RegisterResourceManager", {"rmID": "rm:1"}, mutating=True)
        client.refused("E_KIND", "Dance")
        client.refused("E_VERSION", "Ping", v=2)
        client.get("Bye")
        client.refused("E_SESSION_UNKNOWN", "Ping")


def test_replies_keep_to_the_limit_of_the_peer():
    """I-318"""
    with Daemon() as daemon:
        daemon.client().register(config=CONFIG + "".join(f"          - name: q{i}\n" for i in range(1000)))
        error = Client(daemon.path).refused("E_INVALID", "Hello", {"min": 1, "max": 1, "client": "t", "role": "admin", "maxMessage": 1000})
        check(error["path"] == "maxMessage", error)
        small = daemon.client(maxMessage=8192)
        small.refused("E_TOO_LARGE", "Dump", {"what": "config"})
        check(small.dump("partitions")[0]["name"] == "default")


def test_a_session_is_resumed_and_outlives_its_connection():
    with Daemon("--manual-schedule") as daemon:
        first = daemon.client()
        first.register()
        first.change("UpdateNode", NODE)
        first.close()
        second = Client(daemon.path)
        reply = second.hello(resume={"sid": first.sid, "bootID": first.boot})
        check(reply["resumed"] and reply["sid"] == first.sid and reply["lastSeq"] == 2, reply)
        check([rm["rmID"] for rm in reply["rms"]] == ["rm:1"], reply["rms"])
        again = second.ask("UpdateNode", NODE, seq=2)
        check(again["ok"] and again.get("dup") is True, "the remembered reply was not given:", again)
        fresh = Client(daemon.path).hello(resume={"sid": first.sid, "bootID": b"\0" * 16})
        check(not fresh["resumed"] and fresh["sid"] != first.sid)


def test_sequence_numbers():
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register()
        check(client.refused("E_MISSING_FIELD", "UpdateNode", NODE)["path"] == "seq")
        client.refused("E_SEQ_OLD", "UpdateNode", NODE, seq=0)
        client.get("UpdateNode", NODE, seq=2)
        client.refused("E_SEQ_CONFLICT", "UpdateNode", {"rmID": "rm:1"}, seq=2)
        for seq in range(3, 22):
            client.get("UpdateNode", {"rmID": "rm:1"}, seq=seq)
        client.refused("E_SEQ_OLD", "UpdateNode", NODE, seq=2)
        # Errors of the body use the number up, errors before it do not (I-333).
        client.refused("E_TYPE", "UpdateNode", {"rmID": 5}, seq=22)
        client.refused("E_SEQ_CONFLICT", "UpdateNode", {"rmID": "rm:1"}, seq=22)
        check(client.ask("UpdateNode", {"rmID": 5}, seq=22)["dup"] is True)
        # A gap is waited for, for a second.
        late = Client(daemon.path)
        late.sid = client.sid
        late.send("UpdateNode", {"rmID": "rm:1"}, seq=24)
        client.get("UpdateNode", {"rmID": "rm:1"}, seq=23)
        check(late.receive()["ok"])
        error = client.refused("E_SEQ_GAP", "UpdateNode", {"rmID": "rm:1"}, seq=30)
        check(error["details"]["expected"] == 25, error)


def test_many_requests_may_overtake_each_other():  # I-332, I-355
    with Daemon("--manual-schedule") as daemon:
        client = daemon.client()
        client.register()
        lanes = [Client(daemon.path) for _ in range(16)]
        for index, lane in reversed(list(enumerate(lanes))):
            lane.sid = client.sid
            lane.send("UpdateNode", {"rmID": "rm:1", "nodes": [
                {"nodeID": f"n{index:02}", "action": 1, "schedulableResource": {"vcore": 1}}]}, seq=2 + index)
        positions = [lane.receive()["body"]["position"] for lane in lanes]
        check(positions == sorted(positions), positions)
        client.get("Sync", {"rmID": "rm:1"})
        accepted = [node["nodeID"] for item in client.poll()["items"] for node in item["body"].get("accepted", [])]
        check(accepted == [f"n{i:02}" for i in range(16)], accepted)


def test_an_rm_belongs_to_the_session_that_registered_it_last():  # I-127, I-344, I-366
    with Daemon() as daemon:
        first, second = daemon.client(), daemon.client()
        second.refused("E_RM_UNKNOWN", "UpdateNode", NODE, mutating=True)
        first.register()
        second.refused("E_FORBIDDEN", "UpdateNode", NODE, mutating=True)
        second.change("UpdateNode", {**NODE, "impersonate": True})
        first.poll(ack=0)
        first.send("Poll", {"rmID": "rm:1", "streamEpoch": first.epoch, "ack": 1})
        second.wait_for_parked_poll()
        taken = second.register()
        check(taken["reRegistration"] and taken["streamEpoch"] > first.epoch, taken)
        reply = first.receive()
        check(reply["err"]["name"] == "E_SUPERSEDED", reply)
        first.refused("E_FORBIDDEN", "UpdateNode", NODE, mutating=True)
        check(second.dump("nodes")[0]["nodesInfo"] == [], "the old state survived a new registration")


def test_full_house():  # I-322
    with Daemon("--max-sessions", "3") as daemon:
        clients = [daemon.client() for _ in range(3)]
        error = Client(daemon.path).refused("E_BUSY", "Hello", {"min": 1, "max": 1, "client": "t", "role": "admin"})
        check(error["retryable"] and error["retryAfterMs"] > 0, error)
        clients[0].get("Bye")
        daemon.client()


def open_to_others(daemon):
    """The daemon's folder, with what run_as() needs: the project's own may be closed to them, as below /root."""
    support = os.path.join(os.path.dirname(os.path.abspath(__file__)), "daemon_support")
    copy = os.path.join(daemon.folder, "daemon_support")
    shutil.copytree(support, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder, _, files in os.walk(copy):
        for name in files:
            os.chmod(os.path.join(folder, name), 0o644)
        os.chmod(folder, 0o755)
    os.chmod(daemon.folder, 0o755)


def run_as(uid, daemon, code):
    """Runs `code` of this module as another user. REQUIRES: open_to_others()."""
    script = f"import sys; sys.argv = ['x']; from daemon_support import *\n{code}"
    env = {**os.environ, "PYTHONPATH": daemon.folder, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(["/usr/bin/python3", "-c", script], user=uid, group=uid, extra_groups=[], env=env, cwd="/",
                          capture_output=True, text=True, timeout=60, check=False)


def test_foreign_users():
    if os.getuid() != 0:
        return
    code = "c = Client({path!r}); print(c.hello(role={role!r})['role'])"
    peers = "peers:\n  - {uid: 1234, role: rm, rms: 'mine-*'}\n"
    with Daemon("--settings", "@conf", "--socket-mode", "0666", files={"conf": peers}) as daemon:
        open_to_others(daemon)
        check(run_as(4321, daemon, code.format(path=daemon.path, role="observer")).stdout == "observer\n")
        check("E_FORBIDDEN" in run_as(4321, daemon, code.format(path=daemon.path, role="rm")).stderr)
        check(run_as(1234, daemon, code.format(path=daemon.path, role="rm")).stdout == "rm\n")
        check("E_FORBIDDEN" in run_as(1234, daemon, code.format(path=daemon.path, role="admin")).stderr)
        own = code.format(path=daemon.path, role="rm") + "; c.register('mine-1'); c.refused('E_FORBIDDEN', 'RegisterResourceManager', {'rmID': 'x'}, mutating=True)"
        ran = run_as(1234, daemon, own)
        check(ran.returncode == 0, ran.stderr)
    with Daemon("--settings", "@conf", files={"conf": "peers: []\n"}) as daemon:
        open_to_others(daemon)
        os.chmod(daemon.path, 0o666)  # whoever opened it so: the daemon looks at the peer itself
        ran = run_as(4321, daemon, code.format(path=daemon.path, role="observer"))
        check(ran.returncode != 0 and not ran.stdout, "a stranger was let in:", ran.stdout)
        daemon.client().get("Ping")


main(globals())
