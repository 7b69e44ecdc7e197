# SPDX-License-Identifier: Apache-2.0
"""A private server of NATS with JetStream: at 127.0.0.1 and a port that was free, a folder of its own, ended with the test, also
when that is killed."""
import os
import shutil
import signal
import socket
import subprocess
import tempfile

from daemon_support import until

PROGRAM = "/usr/sbin/nats-server"


def quiet_port():
    """Below those that the system gives to connections: one of them might take the port while the server is down."""
    for number in range(20_000 + os.getpid() % 9_000, 30_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", number))
                return number
            except OSError:
                continue
    raise AssertionError("no port is free")


class Nats:
    """Ended by the with statement."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="yknats.", dir="/tmp")
        self.port = quiet_port()
        self.place = f"nats://127.0.0.1:{self.port}"
        self.process = None
        self.start()

    def start(self, user=None, password=None):
        """With a user it refuses all who do not give that and the password."""
        access = ["--user", user, "--pass", password] if user else []
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig=KILL", PROGRAM, "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", self.folder + "/store", *access],
                cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until("the server of NATS answers", self.is_ready, 60)

    def is_ready(self):
        if self.process.poll() is not None:
            with open(self.folder + "/log", encoding="utf-8") as log:
                raise AssertionError("the server of NATS ended: " + log.read())
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self):
        """As a crash does; it can be started again with what it had."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def signal(self, number):
        self.process.send_signal(number)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
