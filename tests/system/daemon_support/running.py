# SPDX-License-Identifier: Apache-2.0
"""A ykctl, also one in the background."""
import json
import os
import pty
import shutil
import subprocess
import threading
import time

from daemon_support import DEADLINE, check, kill, until

YKCTL = os.path.join(os.environ["YK_BIN"], "ykctl")
PROD_AND_BATCH = "partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: prod}, {name: batch}]}]}]\n"


def told(daemon, *words, status=0):
    """What it said when it had ended with that status."""
    done = subprocess.run([YKCTL, "-s", daemon.path, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    check(done.returncode == status, words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def told_as(uid, daemon, *words, status=0):
    """The same as another user, with a copy of ykctl, since the project's own may be closed to them, as below /root."""
    copy = daemon.folder + "/ykctl"
    if not os.path.exists(copy):
        shutil.copy(YKCTL, copy)
        os.chmod(copy, 0o755)
        os.chmod(daemon.folder, 0o755)
    done = subprocess.run([copy, "-s", daemon.path, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
                          user=uid, group=uid, extra_groups=[], cwd="/")
    check(done.returncode == status, words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


class Running:
    """A ykctl that runs on; what it says is read all the while."""

    def __init__(self, daemon, *words, address=None, terminal=False):
        out = pty.openpty() if terminal else os.pipe()
        self.process = subprocess.Popen([YKCTL, "-s", address or "ipc://" + daemon.path, *words], stdin=subprocess.DEVNULL,
                                        stdout=out[1], stderr=subprocess.PIPE,
                                        env={**os.environ, "NO_COLOR": "1"})
        os.close(out[1])
        self.out = self.err = ""
        self.readers = [threading.Thread(target=self.read, args=("out", out[0])),
                        threading.Thread(target=self.read, args=("err", self.process.stderr.fileno()))]
        for reader in self.readers:
            reader.start()

    def read(self, name, source):
        while True:
            try:
                more = os.read(source, 65536)
            except OSError:  # how a terminal ends
                more = b""
            if not more:
                return
            setattr(self, name, getattr(self, name) + more.decode())

    def says(self, *texts, on="err"):
        """Waits until it has said all of that."""
        for text in texts:
            until(f"it says {text!r}", lambda: text in getattr(self, on) or self.process.poll() is not None)
            if text not in getattr(self, on):  # it has ended, and what it said last may be unread
                for reader in self.readers:
                    reader.join()
            check(text in getattr(self, on), "it ended", self.process.poll(), "without", text, ":", self.out, self.err)

    def lines(self):
        return [json.loads(line) for line in self.out.splitlines() if line.endswith("}")]

    def signal(self, number):
        self.process.send_signal(number)

    def ends(self, *wanted):
        """What it said, when it ends with one of these statuses."""
        found = self.process.wait(DEADLINE)
        for reader in self.readers:
            reader.join()
        check(found in wanted, "ended with", found, "not", wanted, self.out[-500:], self.err)
        return self.err

    def ends_at_once(self, *wanted):
        """The same, without waiting for anybody."""
        began = time.monotonic()
        said = self.ends(*wanted)
        check(time.monotonic() - began < 2, "at once, not after", time.monotonic() - began)
        return said

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        kill(self.process)
        self.process.stderr.close()
