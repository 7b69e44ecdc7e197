# SPDX-License-Identifier: Apache-2.0
"""What ykd writes is closed to others, and what is secret stands in nothing that it shows or logs: tokens, private keys, and
settings whose names say that they are secret (docs/security.md, assets)."""
from daemon_support import *

import hashlib
import stat
import tempfile

TOKEN, GUESS, SECRET = "token-" + "a1b2c3" * 4, "guess-" + "d4e5f6" * 4, "swordfish-" + "778899" * 4
CTL = os.path.join(os.environ["YK_BIN"], "ykctl")


def files_below(folder):
    for where, folders, names in os.walk(folder):
        for name in folders + names:
            yield os.path.join(where, name)


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def spoken(daemon, *words):
    """What ykctl prints, on both streams."""
    ran = subprocess.run([CTL, "-s", "ipc://" + daemon.path, *words], capture_output=True, text=True, check=False,
                         env={**os.environ, "NO_COLOR": "1"}, timeout=DEADLINE)
    return ran.stdout + ran.stderr


def make_key(folder):
    ran = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                          "-keyout", folder + "/key.pem", "-out", folder + "/cert.pem"], capture_output=True, check=False)
    check(ran.returncode == 0, ran.stderr)
    with open(folder + "/key.pem", encoding="ascii") as file:
        return file.read().splitlines()[1]  # a line of the key itself


def test_nothing_secret_is_shown_and_nothing_is_open_to_others():
    old = os.umask(0)  # whatever the one who starts it has
    try:
        with tempfile.TemporaryDirectory(prefix="yk.", dir="/tmp") as place:
            key = make_key(place)
            os.chmod(place + "/key.pem", 0o600)
            for name in ("state", "records"):
                os.mkdir(f"{place}/{name}", 0o700)
            port = free_port()
            digest = hashlib.sha256(TOKEN.encode()).hexdigest()
            with Daemon("--state", place + "/state", "--record", place + "/records", "--listen", f"tls+tcp://127.0.0.1:{port}",
                        "--tls-cert", place + "/cert.pem", "--tls-key", place + "/key.pem", "--tokens", "@tokens", "--log-target",
                        place + "/ykd.log", "--pidfile", place + "/ykd.pid", wait=False,
                        files={"tokens": f"rm * {digest}\n"}) as daemon:
                use(daemon, port, place)
                examine(daemon, place, [TOKEN, GUESS, SECRET, key, digest[8:]])
    finally:
        os.umask(old)


def log_of(place):
    try:
        with open(place + "/ykd.log", encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def use(daemon, port, place):
    until("ykd is ready", lambda: "is ready" in log_of(place))
    client = daemon.client()
    secrets = {"service.db.password": SECRET, "service.apiToken": SECRET, "log.level": "DEBUG"}
    client.register("spark-1", detached={"confirmReleases": True}, extraConfig=secrets)
    client.cluster("spark-1")
    client.asks("k", rm="spark-1")
    client.get("Sync", {"rmID": "spark-1"})
    client.change("UpdateConfiguration", {"rmID": "spark-1", "config": CONFIG + "          - name: c\n",
                                          "extraConfig": {**secrets, "service.db.password": SECRET + "-2"}})
    client.change("SetExtraConfig", {"extraConfig": {"service.otherSecret": SECRET}})
    context = ssl.create_default_context(cafile=place + "/cert.pem")
    context.check_hostname = False
    guest = Client(("127.0.0.1", port), tls=context)
    guest.refused("E_AUTH", "Hello", {"min": 1, "max": 1, "client": "t", "role": "rm", "token": GUESS})
    check(guest.hello(role="rm", token=TOKEN)["role"] == "rm")
    guest.refused("E_FORBIDDEN", "Shutdown", {}, mutating=True)
    daemon.signal(signal.SIGUSR1)
    until("the state is dumped", lambda: [n for n in os.listdir(place + "/state") if n.startswith("dump-")])
    daemon.signal(signal.SIGHUP)
    until("it has read its files again", lambda: client.get("Status").get("settingsReload"))


def examine(daemon, place, secrets):
    shown = {name: spoken(daemon, *words) for name, words in {
        "status": ("status", "-o", "json"), "rms": ("rm", "show", "spark-1", "-o", "json"), "dump": ("dump", "all"),
        "config": ("config", "show"), "history": ("config", "history"), "log": ("log", "level"), "metrics": ("metrics",),
        "events": ("events",), "health": ("health",), "told": ("rm", "log"), "trace": ("--trace-wire", "dump", "config"),
        "why": ("explain", "config", "service.db.password"), "why other": ("explain", "config", "service.otherSecret")}.items()}
    check("***" in shown["why"] and "***" in shown["dump"], "the settings are not shown at all", shown["why"], shown["dump"][:2000])
    for path in files_below(place):
        if os.path.isfile(path) and not path.endswith(("key.pem", ".books", ".books-wal")):
            with open(path, encoding="latin-1") as file:
                shown[path] = file.read()
    check(any(path.endswith(".ykrec") for path in shown) and any("/dump-" in path for path in shown), list(shown))
    for name, text in shown.items():
        for secret in secrets:
            check(secret not in text, secret, "stands in", name)
    others = {path: oct(mode_of(path)) for path in files_below(place) if mode_of(path) & 0o007}
    check(not {path for path in others if not path.endswith(("cert.pem", "ykd.pid"))}, others)
    check(mode_of(place + "/ykd.pid") & 0o022 == 0, others)
    check(mode_of(place + "/state/books") == 0o700 and mode_of(daemon.path) == 0o600)
    for path in files_below(place + "/state"):
        check(os.path.isdir(path) or mode_of(path) == 0o600, path, oct(mode_of(path)))
    for path in files_below(place + "/records"):
        check(mode_of(path) == 0o640, path, oct(mode_of(path)))


def test_a_token_file_that_others_can_read_is_refused():
    for mode, taken in ((0o600, True), (0o400, True), (0o640, False), (0o604, False), (0o620, False)):
        port = free_port()
        with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens", wait=False) as unused:
            unused.exit_code()  # there is no such file
            path = unused.write("tokens", "observer * " + "a" * 64 + "\n", mode)
            with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--tokens", path, wait=False) as daemon:
                if taken:
                    until("ykd is ready", lambda d=daemon: "is ready" in d.text())
                else:
                    check(daemon.exit_code() != 0 and "closed to others (chmod 600)" in daemon.text(), oct(mode), daemon.text())


def test_a_state_directory_that_others_may_write_is_refused():
    for mode, refused in ((0o700, False), (0o770, True), (0o707, True)):
        with tempfile.TemporaryDirectory(prefix="yk.", dir="/tmp") as place:
            os.mkdir(place + "/books")
            os.chmod(place + "/books", mode)
            with Daemon("--state", place, wait=False) as daemon:
                until("it runs or has ended", lambda d=daemon: "is ready" in d.text() or d.process.poll() is not None)
                check((daemon.process.poll() is not None) == refused, oct(mode), daemon.text())
                check(not refused or "may be written by others" in daemon.text(), daemon.text())


main(globals())
