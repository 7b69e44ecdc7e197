# SPDX-License-Identifier: Apache-2.0
"""When the configuration that is kept of an RM goes (I-272)."""
from daemon_support import *
from daemon_support.books import line_hash

STATE = ("--state", "@.")
OTHER = CONFIG.replace("- name: b", "- name: b2")


def folder(daemon):
    return daemon.folder + "/kept"


def kept(daemon):
    """The names of the files."""
    return {name for name in os.listdir(folder(daemon)) if name.endswith(".config")}


def file_of(daemon, rm):
    """The name of the file of a new RM, and the client that registered it."""
    before, client = kept(daemon), daemon.client()
    client.register(rm, config=OTHER, recovery={"id": "r"})
    made = kept(daemon) - before
    check(len(made) == 1, "written before the registration is answered", made)
    return made.pop(), client


def queues(client, rm):
    """After a registration that brings no configuration."""
    client.register(rm, config="", recovery={"id": "r"})
    return [queue["queuename"] for queue in client.dump("queues", rmID=rm)[0]["children"]]


def test_who_leaves_for_good_is_forgotten():  # I-272, I-128, I-254, I-385
    with Daemon(*STATE, "--manual-schedule", "--clock", "virtual", "--settings", "@conf", "--config", "@queues.yaml",
                files={"conf": "rmRetention: 10m\n", "queues.yaml": CONFIG}) as daemon:
        files = {}
        for rm in ("stays", "unregisters", "aborts", "falls-silent"):
            files[rm], client = file_of(daemon, rm)
            if rm == "stays":
                alive = client  # it moves the clock, so it is heard all the time
        check(kept(daemon) == set(files.values()), files, kept(daemon))
        admin = daemon.client()

        def goes(rm):
            until(f"the file of {rm} is removed", lambda: files[rm] not in kept(daemon))
            del files[rm]
            check(kept(daemon) == set(files.values()), "only that one", rm, kept(daemon))

        admin.change("UnregisterResourceManager", {"rmID": "unregisters", "impersonate": True})
        goes("unregisters")
        admin.change("ResolveRecovery", {"rmID": "aborts", "action": "abort"})
        goes("aborts")
        state = lambda rm: next((one["state"] for one in admin.get("Status")["rms"] if one["rmID"] == rm), None)
        alive.change("Clock", {"advanceMs": 400_000})
        check(state("falls-silent") == 5 and len(kept(daemon)) == 2, "a lost one may come back", state("falls-silent"))
        alive.change("Clock", {"advanceMs": 201_000})
        goes("falls-silent")
        check(state("falls-silent") is None and state("stays") is not None)
        daemon.restart()
        client = daemon.client()
        found = {rm: queues(client, rm)[-1] for rm in ("stays", "unregisters", "aborts", "falls-silent")}
        check(found == {"stays": "root.b2", "unregisters": "root.b", "aborts": "root.b", "falls-silent": "root.b"}, found)


def test_of_too_many_the_oldest_go():  # I-272
    with Daemon(*STATE, "--config", "@queues.yaml", files={"queues.yaml": CONFIG}) as daemon:
        name_of = lambda rm: f"{rm}-{line_hash(rm):016x}.config"
        made, _ = file_of(daemon, "rm0")
        check(made == name_of("rm0"), made)
        daemon.end(signal.SIGTERM)
        with open(f"{folder(daemon)}/{made}", "rb") as file:
            contents = file.read()
        names = [name_of(f"rm{i}") for i in range(260)]
        for i, name in enumerate(names):  # the lower the number, the younger
            with open(os.open(f"{folder(daemon)}/{name}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
                file.write(contents)
            os.utime(f"{folder(daemon)}/{name}", (10**9 - i, 10**9 - i))
        daemon.start()
        until("the oldest are removed", lambda: kept(daemon) == set(names[:256]))
        client = daemon.client()
        check(client.get("Status")["degraded"] == [], client.get("Status")["degraded"])
        found = {rm: queues(client, rm)[-1] for rm in ("rm0", "rm255", "rm256", "rm259")}
        check(found == {"rm0": "root.b2", "rm255": "root.b2", "rm256": "root.b", "rm259": "root.b"}, found)


main(globals())
