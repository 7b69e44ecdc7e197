# SPDX-License-Identifier: Apache-2.0
"""A restart as the service manager does it: the Exec lines, directories, user, file mode mask and limits of the unit that
is installed, in a root folder of their own. A detached resource manager with 10,000 allocations is there afterwards.

Needs to be root, or user namespaces; without either nothing is tested. systemd's sandbox is none of this: `systemd-analyze`
looks at it in install.sh."""
import re
import resource
import shlex
import shutil
import sys

from daemon_support import *

ROOT_OF_SOURCES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UID = GID = 977  # of the user ykd in there


def become_root():
    """Goes on as root, of a namespace if need be."""
    if os.geteuid() == 0:
        return True
    again = ["unshare", "--user", "--map-root-user", sys.executable, os.path.abspath(__file__)]
    if "YK_IN_NAMESPACE" in os.environ or subprocess.run([*again[:3], "true"], capture_output=True).returncode != 0:
        return False
    os.execvpe(again[0], again, {**os.environ, "YK_IN_NAMESPACE": "1"})


def may_change_user():
    return "YK_IN_NAMESPACE" not in os.environ


class Unit:
    """The keys of a unit that matter here, and what the service manager makes of them."""

    def __init__(self, root):
        self.root = root
        self.install()
        text = open(f"{root}/usr/lib/systemd/system/ykd.service", encoding="utf-8").read()
        self.keys = {}
        for line in text.splitlines():
            if match := re.match(r"(\w+)=(.*)", line):
                self.keys.setdefault(match[1], []).append(match[2])
        self.environment = {"PATH": "/usr/bin", "NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": str(int(self["WatchdogSec"]) * 10**6),
                            "STATE_DIRECTORY": "/var/lib/" + self["StateDirectory"],
                            "RUNTIME_DIRECTORY": "/run/" + self["RuntimeDirectory"],
                            "CONFIGURATION_DIRECTORY": "/etc/" + self["ConfigurationDirectory"]}
        os.makedirs(root + "/run", exist_ok=True)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(root + "/run/notify")
        os.chmod(root + "/run/notify", 0o777)
        self.notify.settimeout(DEADLINE)
        self.process = None

    def __getitem__(self, key):
        return self.keys[key][-1]

    def install(self):
        """Programs with their libraries, and what `./dev install` puts beside them."""
        done = subprocess.run(["cmake", "-DCMAKE_INSTALL_PREFIX=/usr", "-DYK_SOURCE=" + ROOT_OF_SOURCES, "-P",
                               ROOT_OF_SOURCES + "/ykd/packaging/install_host_files.cmake"],
                              env={**os.environ, "DESTDIR": self.root}, capture_output=True, text=True)
        check(done.returncode == 0, done.stdout, done.stderr)
        os.makedirs(self.root + "/usr/bin")
        for program in ("ykd", "ykctl"):
            source = os.path.join(os.environ["YK_BIN"], program)
            shutil.copy(source, self.root + "/usr/bin/" + program)
            for library in re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", source], capture_output=True, text=True).stdout):
                os.makedirs(self.root + os.path.dirname(library), exist_ok=True)
                shutil.copy(library, self.root + library)
        os.makedirs(self.root + "/tmp")
        user = open(ROOT_OF_SOURCES + "/ykd/packaging/debian/ykd.sysusers", encoding="utf-8").read()
        check(re.search(r"^u ykd ", user, re.M), "the unit's user is made")
        with open(self.root + "/etc/passwd", "w", encoding="utf-8") as file:
            file.write(f"root:x:0:0::/:/bin/false\nykd:x:{UID}:{GID}::/var/lib/ykd:/usr/sbin/nologin\n")
        with open(self.root + "/etc/group", "w", encoding="utf-8") as file:
            file.write(f"root:x:0:\nykd:x:{GID}:\n")

    def make_directories(self):
        check(self["User"] == self["Group"] == "ykd")
        for key, below in (("RuntimeDirectory", "/run/"), ("StateDirectory", "/var/lib/")):
            path = self.root + below + self[key]
            os.makedirs(path, exist_ok=True)
            os.chmod(path, int(self[key + "Mode"], 8))
            if may_change_user():
                os.chown(path, UID, GID)

    def enter(self):
        """In the new process, as the service manager prepares it."""
        os.chroot(self.root)
        os.chdir("/")
        os.umask(int(self["UMask"], 8))
        most = min(int(self["LimitNOFILE"]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        if may_change_user():
            os.setgroups([])
            os.setgid(GID)
            os.setuid(UID)

    def run(self, key):
        for line in self.keys.get(key, []):
            done = subprocess.run(shlex.split(line), env=self.environment, preexec_fn=self.enter, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=DEADLINE)
            check(done.returncode == 0, line, "ended with", done.returncode, done.stdout, done.stderr)

    def start(self):
        self.make_directories()
        self.run("ExecStartPre")
        line, = self.keys["ExecStart"]
        with open(self.root + "/log", "ab") as log:
            self.process = subprocess.Popen(shlex.split(line), env=self.environment, preexec_fn=self.enter,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        check(self["Type"] == "notify")
        self.wait_for("READY=1")

    def wait_for(self, word):
        until(word, lambda: word in self.notify.recv(4096).decode().splitlines())

    def stop(self):
        self.run("ExecStop")
        self.process.send_signal(getattr(signal, self.keys.get("KillSignal", ["SIGTERM"])[-1]))
        check(self.process.wait(int(self["TimeoutStopSec"])) == 0, self.text())
        self.wait_for("STOPPING=1")
        shutil.rmtree(self.root + "/run/" + self["RuntimeDirectory"])

    def crash(self):
        """Restart=on-failure."""
        check(self["Restart"] == "on-failure")
        kill(self.process)
        shutil.rmtree(self.root + "/run/" + self["RuntimeDirectory"])

    def restart(self):
        self.stop()
        self.start()

    def reload(self):
        self.run("ExecReload")

    def text(self):
        return open(self.root + "/log", encoding="utf-8", errors="replace").read()

    def client(self):
        client = Client(self.root + "/run/ykd/ykd.sock")
        client.hello()
        return client

    def status(self):
        return self.client().get("Status")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process is not None:
            kill(self.process)
        if kind is not None:
            print(self.text() if os.path.exists(self.root + "/log") else "nothing was started")
        shutil.rmtree(self.root, ignore_errors=True)


def change(unit, kind, **body):
    client = unit.client()
    client.change(kind, {"rmID": "rm:1", **body})
    client.get("Sync", {"rmID": "rm:1"})


def test_a_restart_keeps_a_detached_rm():
    if not become_root():
        print("neither root nor user namespaces here: the unit is not run")
        return
    import tempfile
    with Unit(tempfile.mkdtemp(prefix="yk.", dir="/tmp")) as unit:
        os.chmod(unit.root, 0o755)
        unit.start()
        check(unit.status()["boots"] == 1)
        unit.client().change("RegisterResourceManager", {"rmID": "rm:1", "version": "1", "detached": {}})
        for first in range(0, 1000, 500):
            change(unit, "UpdateNode", nodes=[{"nodeID": f"n{i}", "action": 1, "schedulableResource": {"vcore": 100}}
                                              for i in range(first, first + 500)])
        change(unit, "UpdateApplication", new=[{"applicationID": "app", "queueName": "root.default", "ugi": {"user": "u"}}])
        for first in range(0, 10000, 1000):
            change(unit, "UpdateAllocation", asks=[{"allocationKey": f"k{i}", "applicationID": "app", "resourceAsk": {"vcore": 5}}
                                                   for i in range(first, first + 1000)])
        until("all are placed", lambda: unit.status()["counts"]["allocations"] == 10000, 60)
        change(unit, "UpdateAllocation", asks=[{"allocationKey": "waits", "applicationID": "app", "resourceAsk": {"vcore": 500}}])
        before = unit.status()
        for boot, again in ((2, unit.restart), (3, lambda: (unit.crash(), unit.start())), (4, unit.restart)):
            again()
            after = unit.status()
            check(after["boots"] == boot and after["counts"] == before["counts"], after)
            check(after["degraded"] == [] and after["rms"][0]["state"] == 1, after)
        queues = unit.root + "/etc/ykd/queues.yaml"
        with open(queues, "a", encoding="utf-8") as file:
            file.write("          - name: more\n")
        unit.reload()
        children = unit.client().dump("queues")[0]["children"]
        check([queue["queuename"] for queue in children] == ["root.default", "root.more"], children)
        modes = {path: os.stat(unit.root + path).st_mode & 0o777
                 for path in ("/var/lib/ykd", "/var/lib/ykd/books", "/var/lib/ykd/kept", "/var/lib/ykd/kept/daemon")}
        check(list(modes.values()) == [0o750, 0o700, 0o700, 0o600], modes)
        if may_change_user():
            check(os.stat(unit.root + "/var/lib/ykd/books").st_uid == UID, "everything is the unit's user's")
        unit.stop()
        check("lost" not in unit.text(), unit.text())


main(globals())
