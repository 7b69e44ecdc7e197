# SPDX-License-Identifier: Apache-2.0
"""rs R-157, rs R-028: ykctl mcs check looks at a database that no daemon uses, and mends what it safely can."""
import json
import sqlite3

from daemon_support import *

YKCTL = os.path.join(os.environ["YK_BIN"], "ykctl")


def check_database(database, *words):
    """(exit status, what was printed, what was complained of)"""
    done = subprocess.run([YKCTL, "mcs", "check", "--db", database, *words], capture_output=True, text=True, timeout=DEADLINE,
                          env={**os.environ, "NO_COLOR": "1"}, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_database_in_use_is_left_alone_and_a_broken_one_mended():
    with Daemon("--state", "@.", "--settings", "@conf", files={"conf": "mcs: {enabled: true}\n"}) as daemon:
        client, path = daemon.client(), daemon.folder + "/mcs.db"
        until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
        client.change("McsWrite", {"verb": "create", "kind": "deployment", "body": {
            "name": "web", "user": "u", "resource": {"vcore": 1000}, "replicas": 2}})
        shown = lambda: client.get("McsRead", {"what": "describe", "kind": "deployment", "id": "web"})["item"]
        until("it has both rows", lambda: "scale" in shown() and "schedule" in shown())
        status, _, said = check_database(path)
        check(status == 1 and f"in use by process {daemon.process.pid}" in said and "ykctl mcs status" in said, status, said)
        daemon.end(signal.SIGTERM)
        if os.geteuid() == 0:  # root checks what belongs to the user of the daemon
            os.unlink(path + ".lock")
            os.chown(path, 65534, 65534)
        status, printed, _ = check_database("sqlite:" + path)
        check({os.stat(path + end).st_uid for end in ("", ".lock")} == {os.stat(path).st_uid})
        check(status == 0 and "nothing is wrong" in printed and "1 deployment," in printed, status, printed)
        with sqlite3.connect(path) as base:  # without foreign keys, as a shell is
            base.execute("DELETE FROM deployment")
            base.execute("UPDATE deployment_schedule SET version = version + 1, placed = 7")
        status, printed, said = check_database(path)
        check(status == 8 and "orphan deployment_scale" in printed and "miscounted" in printed and "--repair" in said, status, printed, said)
        status, printed, _ = check_database(path, "-o", "json")
        found = json.loads(printed)["item"]["findings"]
        check(status == 8 and {one["what"] for one in found} >= {"orphan", "miscounted"}, found)
        status, printed, said = check_database(path, "--repair")
        check(status == 0 and "mended" in printed and "nothing is wrong" in printed and not said, status, printed, said)
        daemon.start()
        client = daemon.client()
        until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
        kinds = {one["kind"]: one["size"] for one in client.get("McsRead", {"what": "status"})["kinds"]}
        check(kinds["deploymentscale"] == kinds["deploymentschedule"] == 0, kinds)


def test_what_somebody_with_a_shell_has_removed_is_named():
    with Daemon("--state", "@.", "--settings", "@conf", files={"conf": "mcs: {enabled: true}\n"}) as daemon:
        client, path = daemon.client(), daemon.folder + "/mcs.db"
        until("MCS runs", lambda: client.get("McsRead", {"what": "status"})["state"] == "running")
        daemon.end(signal.SIGTERM)
        with sqlite3.connect(path) as base:
            base.execute("DELETE FROM mcs_meta WHERE key = 'log_epoch'")
            base.execute("UPDATE lease SET epoch = 9223372036854775807 WHERE name = 'scheduler'")
        status, printed, said = check_database(path)
        check(status == 8 and "missing mcs_meta log_epoch" in printed and "epoch lease scheduler" in printed, status, printed, said)
        status, printed, said = check_database(path, "--repair")
        check(status == 0 and "2 rows mended" in printed and "nothing is wrong" in printed, status, printed, said)
        with sqlite3.connect(path) as base:
            base.execute("DROP TABLE placement")
            base.execute("INSERT INTO node VALUES(x'ff00', 'n', 1, '{}', '{}', '{}', 1, 10, 20)")
            base.execute("DELETE FROM lease WHERE name = 'purge'")
        for words in ((), ("--repair",)):
            status, printed, said = check_database(path, *words)
            check(status == 8 and "missing table placement: " in printed and "put a copy" in printed and "id: it is not UTF-8" in printed
                  and "missing lease purge" in printed and "--repair" not in said, status, printed, said)
        status, printed, said = check_database(path, "-o", "json")
        found = json.loads(printed)["item"]["findings"]
        check(status == 8 and not any(one["mendable"] for one in found), found)
        with sqlite3.connect(path) as base:
            base.execute("DELETE FROM mcs_meta WHERE key = 'schema_version'")
        status, printed, said = check_database(path)
        check(status == 1 and "the row schema_version is missing in mcs_meta" in said and "put a copy back" in said, status, printed, said)


def test_what_is_no_database_is_said_and_stays_as_it_is():
    with Daemon() as daemon:
        missing = daemon.folder + "/none.db"
        status, _, said = check_database(missing)
        check(status == 4 and "no such file" in said and not os.path.exists(missing), status, said)
        for text in ("", "no database, but more than a hundred bytes of text, so that nobody takes it for an empty one" * 20):
            other = daemon.write("other", text)
            status, _, said = check_database(other)
            check(status == 1 and other in said, status, said)
            with open(other, encoding="utf-8") as file:
                check(file.read().startswith(text), "it was changed")
        with sqlite3.connect(daemon.folder + "/foreign.db") as base:
            base.execute("CREATE TABLE deployment(id TEXT)")
        status, _, said = check_database(daemon.folder + "/foreign.db")
        check(status == 1 and "foreign.db" in said, status, said)
        check(sorted(name for name in os.listdir(daemon.folder) if name.startswith("foreign")) == ["foreign.db"])
        with sqlite3.connect(daemon.folder + "/foreign.db") as base:
            check(base.execute("PRAGMA journal_mode").fetchone() == ("delete",), "it was changed")
        base = sqlite3.connect(daemon.folder + "/foreign %3f?#.db")
        check(base.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",))
        base.execute("CREATE TABLE other(id TEXT)")
        base.close()
        status, _, said = check_database(daemon.folder + "/foreign %3f?#.db")
        check(status == 1 and "foreign" in said, status, said)
        found = sorted(name for name in os.listdir(daemon.folder) if name.startswith("foreign"))
        check(found == ["foreign %3f?#.db", "foreign.db"], found)
        status, _, said = check_database(daemon.folder)
        check(status == 4 and "it is a directory" in said, status, said)
        status, _, said = check_database("/dev/null")
        check(status == 4 and "not a regular file" in said, status, said)
        status, _, said = check_database("foo:bar")
        check(status == 2 and "no scheme foo" in said and "postgresql://" in said, status, said)
        for nothing in ("sqlite:", ""):
            status, _, said = check_database(nothing)
            check(status == 2 and "the path of the file is missing" in said and "sqlite:PATH" in said, status, said)
        status, _, said = check_database("postgresql://user:secret@127.0.0.1:1/none")
        check(status == 1 and "secret" not in said and "127.0.0.1" in said, status, said)


main(globals())
