# SPDX-License-Identifier: Apache-2.0
"""A Manager as a process of its own, which can be killed or stopped, and what starts and watches it.

The process says lines of JSON: {"running": N} when it has come back for the Nth time and agrees with the daemon, {"placed": N},
some times a second, when more was placed since. Its books are the file FOLDER/rm.books."""
import json
import os
import signal
import subprocess
import sys
import time

from daemon_support import DEADLINE, check, kill, until
from daemon_support.manager import Manager


def serve(where, books, seed):
    manager = Manager(where, "rm:served", seed, books)
    leave = []
    signal.signal(signal.SIGTERM, lambda *_: leave.append(True))
    say = lambda **what: print(json.dumps(what), flush=True)
    manager.come_back()
    while not leave:
        manager.steadily(manager.agree)
        life = manager.life
        books = manager.books
        say(running=life, nodes=len(books.nodes), applications=len(books.apps), allocations=len(books.placed),
            pending=len(books.asks) - len(books.placed))
        placed, last = 0, 0.0
        while not leave and manager.life == life:
            manager.live()
            if manager.life == life and manager.placements > placed and time.monotonic() > last + 0.1:
                placed, last = manager.placements, time.monotonic()
                say(placed=placed)
    manager.steadily(manager.settle)
    say(figures=manager.figures())


class Served:
    """The process, as its parent sees it. `where`: the path of the socket."""

    def __init__(self, where, folder, seed):
        self.where, self.folder, self.seed, self.starts = where, folder, seed, 0
        self.errors = open(folder + "/rm.errors", "wb")
        self.start()

    def start(self):
        self.starts += 1
        self.said = open(self.folder + "/rm.said", "w+b")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "daemon_support.served_rm", self.where, self.folder + "/rm.books", str(self.seed + self.starts)],
            stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.errors,
            env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))})

    def lines(self):
        with open(self.folder + "/rm.said", "rb") as file:
            return [json.loads(line) for line in file.read().split(b"\n")[:-1]]

    def watched(self):
        """Its lines so far. It ends by itself only when something did not hold."""
        if self.process.poll() is not None:
            with open(self.folder + "/rm.errors", encoding="utf-8", errors="replace") as file:
                raise AssertionError("the RM ended: " + file.read() + "\n" +
                                     "\n".join(str(line) for line in self.lines()[-3:]))
        return self.lines()

    def past(self):
        """To be given to `works`."""
        return len(self.watched())

    def works(self, past=0, again=True, deadline=3 * DEADLINE):
        """Waits for a placement said after the line `past`, and after it has come back, which it must have (again) or may have
        done since. The lines of coming back."""
        def placed():
            lines = self.watched()[past:]
            back = [i for i, line in enumerate(lines) if "running" in line]
            if again and not back:
                return None
            return any("placed" in line for line in lines[back[-1] if back else 0:]) and [[lines[i] for i in back]]
        return until("the RM works", placed, deadline)[0]

    def lives(self):
        """How often it came back so far."""
        return max((line["running"] for line in self.watched() if "running" in line), default=0)

    def kill(self):
        kill(self.process)

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        """In peace; its figures."""
        self.watched()
        self.signal(signal.SIGTERM)
        check(self.process.wait(DEADLINE) == 0, "the RM ended with", self.process.returncode)
        return self.lines()[-1]["figures"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        kill(self.process)
        self.said.close()
        self.errors.close()


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]))
