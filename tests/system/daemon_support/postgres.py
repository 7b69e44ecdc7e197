# SPDX-License-Identifier: Apache-2.0
"""A private server of PostgreSQL: no network, a folder of its own, ended with the test, also when that is killed."""
import os
import shutil
import signal
import subprocess
import tempfile

from daemon_support import until

PROGRAMS = "/usr/lib/postgresql/15/bin/"


class Postgres:
    """Ended by the with statement. The server does not run as root: of root's tests it is nobody's."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="ykpg.", dir="/tmp")  # short: a socket's path has 107 bytes at most
        self.data = self.folder + "/data"
        self.become = []
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody", "nogroup")
            self.become = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "yk", "-N", "--locale=C", "-E", "UTF8")
        self.process = None
        self.start()

    def run(self, program, *arguments):
        done = subprocess.run([*self.become, PROGRAMS + program, *arguments], cwd="/", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, (program, arguments, done.stdout)
        return done.stdout

    def start(self):
        """SIGQUIT ends a server at once; it gets one, too, when this process ends."""
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig=QUIT", *self.become[1:], PROGRAMS + "postgres", "-D", self.data,
                 "-c", "listen_addresses=", "-c", "unix_socket_directories=" + self.folder, "-c", "max_connections=60",
                 "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "autovacuum=off"],
                cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until("the server answers", self.is_ready, 60)

    def is_ready(self):
        return subprocess.run([PROGRAMS + "pg_isready", "-q", "-h", self.folder], check=False).returncode == 0

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait(60)

    def signal_all(self, number):
        """To the server and its children: stopped, they answer nothing."""
        def parent(pid):
            try:
                with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                    return int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                return 0
        for pid in [self.process.pid] + [int(one) for one in os.listdir("/proc") if one.isdigit() and parent(one) == self.process.pid]:
            os.kill(pid, number)

    def sql(self, text, database="postgres"):
        """What a person with a shell would type; rows as lines."""
        return self.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "yk", "-d", database, "-c", text).strip()

    def begin(self, text, database):
        """The same in a process of its own, which the caller waits for."""
        return subprocess.Popen([*self.become, PROGRAMS + "psql", "-X", "-q", "-h", self.folder, "-U", "yk", "-d", database, "-c", text],
                                cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def database(self, name):
        """Its URL, as mcs.db.url wants it."""
        self.sql(f"CREATE DATABASE {name}")
        return f"postgresql://yk@/{name}?host={self.folder}"

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.end(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)
