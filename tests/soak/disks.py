#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Disks that are full, read-only or failing, under the books of a detached RM (--state), the log and the recording at once.
Scheduling goes on meanwhile; whatever a Sync promised is there after a SIGKILL, also after one while nothing could be written, and
a ykd that cannot begin says what is wrong with which directory. Size: rounds of each kind.

Needs a mount of its own (root, or user namespaces); without one the full and the read-only disk are skipped."""
import contextlib
import glob
import os
import random
import shutil
import subprocess
import sys

from part import Clock, as_program, of

from daemon_support import *
from daemon_support.detached_load import DetachedLoad
from daemon_support.failing_disk import compiled
from daemon_support.manager import Manager

FLAGS = ("--state", "@disk/state", "--log-target", "@disk/log", "--record", "@disk/records")
DISK = "12m"


def enter_own_mounts():
    """Runs this program once more in a mount namespace of its own, if that is possible."""
    if "YK_OWN_MOUNTS" in os.environ:
        return
    os.environ["YK_OWN_MOUNTS"] = "no"
    for way in (["unshare", "-m"], ["unshare", "-Urm"]):
        if subprocess.run([*way, "sh", "-c", "mount -t tmpfs none /mnt"], capture_output=True, check=False).returncode == 0:
            os.environ["YK_OWN_MOUNTS"] = "yes"
            os.execvp("unshare", [*way, sys.executable, *sys.argv])


class Disk:
    """A small tmpfs under the directory of a daemon."""

    def __init__(self, folder):
        self.folder = folder + "/disk"
        os.mkdir(self.folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + DISK, "none", self.folder], check=True)

    def fill(self):
        with contextlib.suppress(OSError), open(self.folder + "/filler", "wb", buffering=0) as file:
            for size in (65536, 512, 1):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(b"x" * size)

    def empty(self):
        os.unlink(self.folder + "/filler")

    def mount_again(self, how):
        subprocess.run(["mount", "-o", "remount," + how, self.folder], check=True)

    def close(self):
        subprocess.run(["umount", "-l", self.folder], check=True)


class FailingDisk:
    def __init__(self, folder):
        self.folder, self.switch, library = folder + "/disk", folder + "/disk-fails", folder + "/failing_disk.so"
        os.mkdir(self.folder)
        check(compiled(library), "the library that fails cannot be compiled")
        self.env = {"LD_PRELOAD": library, "FAILING_DISK": self.switch}

    def fill(self):
        with open(self.switch, "wb"):
            pass

    def empty(self):
        os.unlink(self.switch)

    def close(self):
        pass


def degraded(daemon):
    client = daemon.client()
    try:
        return client.get("Status")["degraded"]
    finally:
        client.get("Bye")
        client.close()


def began(daemon):
    """Starts it; whether it serves, and if not, what it said."""
    daemon.start(wait=False)
    until("it serves or has ended", lambda: serves(daemon) or daemon.process.poll() is not None)
    return daemon.process.poll() is None


def serves(daemon):
    try:
        daemon.client().close()
        return True
    except (OSError, EOFError):
        return False


class Kept(Daemon):
    """A ykd with everything that it writes on the disk `make(folder)`."""

    def __init__(self, make):
        self.make, self.disk = make, None
        super().__init__(*FLAGS, wait=False)
        until("it serves", lambda: serves(self))

    def start(self, wait=True):
        if self.disk is None:
            self.disk = self.make(self.folder)
            os.mkdir(self.disk.folder + "/state")
            self.env.update(getattr(self.disk, "env", {}))
        super().start(wait=False)
        if wait:
            until("it serves", lambda: serves(self))

    def forget_records(self):
        for record in glob.glob(self.disk.folder + "/records/*"):
            os.unlink(record)  # they would fill it for good

    def __exit__(self, kind, value, trace):
        if kind is not None:
            with contextlib.suppress(OSError), open(self.disk.folder + "/log", encoding="utf-8", errors="replace") as file:
                print("--- the log on the disk ---\n" + "".join(file.readlines()[-60:]))
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.disk.close()
        super().__exit__(kind, value, trace)


def worked(rm, times):
    for _ in range(times):
        rm.live()


def no_more_promises(daemon, beside):
    """Waits until the books cannot be written, which Status says; False: they still find place in the files that they have."""
    syncs = beside.syncs + 20
    said = lambda: any("cannot be written" in line for line in degraded(daemon))
    until("books cannot be written, or can", lambda: beside.hold() or said() or beside.syncs > syncs)
    return said()


def unwritable(make, size, seed, clock):
    """Rounds of a disk that takes nothing for a while, with and without a SIGKILL meanwhile."""
    choose, done, refused, killed, told = random.Random(seed), 0, 0, 0, 0
    with Kept(make) as daemon, DetachedLoad(daemon.path, seed) as beside:
        rm = Manager(daemon.path, "rm:served", seed)
        rm.come_back()
        for lap in range(size):
            if clock.is_over():
                break
            daemon.forget_records()
            worked(rm, choose.randrange(5, 60))
            daemon.disk.fill()
            told += no_more_promises(daemon, beside)
            worked(rm, 40)
            rm.agree()  # scheduling goes on
            beside.hold()
            if lap % 2:
                killed += 1
                daemon.signal(signal.SIGKILL)
                daemon.exit_code()
                if not began(daemon):
                    refused += 1
                    check(daemon.exit_code() == 1 and daemon.disk.folder in daemon.text(), daemon.process.returncode, daemon.text())
                    daemon.disk.empty()
                    daemon.start()
                else:
                    daemon.disk.empty()
            else:
                daemon.disk.empty()
            until("the books are written", lambda: not any("books" in line for line in degraded(daemon)))
            checks = beside.checks
            daemon.restart()
            rm.steadily(rm.agree)
            until("the detached RM has looked", lambda: beside.hold() or beside.checks > checks, 60.0)
            done += 1
        rm.link.close()
    check(told or not done, "no books were ever unwritable")
    return f"{of(done, size)} rounds ({told} with books that could not be written, {killed} with a SIGKILL meanwhile, {refused} starts refused)"


def read_only(size, seed, clock):
    done, choose = 0, random.Random(seed)
    with Kept(Disk) as daemon, DetachedLoad(daemon.path, seed) as beside:
        for _ in range(size):
            if clock.is_over():
                break
            syncs = beside.syncs + choose.randrange(1, 5)
            until("it has been promised something", lambda: beside.hold() or beside.syncs >= syncs)
            daemon.signal(signal.SIGKILL)
            daemon.exit_code()
            daemon.forget_records()
            daemon.disk.mount_again("ro")
            daemon.start(wait=False)
            check(daemon.exit_code() == 1, "it began on a disk that it cannot write to")
            check(daemon.disk.folder in daemon.text() and "read-only" in daemon.text().lower(), daemon.text())
            daemon.disk.mount_again("rw")
            checks = beside.checks
            daemon.start()
            until("the detached RM has looked", lambda: beside.hold() or beside.checks > checks, 60.0)
            done += 1
    return f"{of(done, size)} starts"


def run(size, seed, seconds):
    clock, figures = Clock(seconds), []
    if os.environ.get("YK_OWN_MOUNTS") == "yes":
        figures.append("full: " + unwritable(Disk, size, seed, Clock(seconds * 0.4)))
        figures.append("read-only: " + read_only(size, seed, Clock(seconds * 0.2)))
    else:
        print("SKIPPED the full and the read-only disk: no file system can be mounted here", flush=True)
    if shutil.which("cc"):
        figures.append("failing: " + unwritable(FailingDisk, size, seed, Clock(seconds - clock.passed())))
    else:
        print("SKIPPED the failing disk: there is no compiler", flush=True)
    return "; ".join(figures)


if __name__ == "__main__":
    enter_own_mounts()
    as_program(run, 30, __doc__)
