# SPDX-License-Identifier: Apache-2.0
"""What stands on a terminal of 200 x 50, 80 x 24 and 40 x 24 characters, drawn by tmux, beside screens/ (annoyances 5, 7 and 10 of the
administrator's day). YK_SCREENS=write writes them anew."""
import os
import pathlib
import re
import signal
import subprocess
import time

from daemon_support import *
from daemon_support.running import YKCTL, told

SCREENS = pathlib.Path(__file__).parent / "screens"
SIZES = ((200, 50), (80, 24), (40, 24))
QUEUES = """partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: production
            resources: {guaranteed: {vcore: 40, memory: 160Gi}}
            queues: [{name: web}, {name: search}]
          - {name: batch, resources: {max: {vcore: 20, memory: 400Gi}}}
"""


class Screen:
    """A command in a terminal of tmux."""

    def __init__(self, daemon, columns, rows, *words, env=None):
        self.socket = f"{daemon.folder}/tmux-{time.monotonic_ns()}"
        exports = " ".join(f"export {name}={value};" for name, value in (env or {}).items())
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "sh", "-c",
                  f"{exports} {YKCTL} -s {daemon.path} {' '.join(words)}; touch {self.socket}.ended; cat")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=True, capture_output=True, text=True, env={**os.environ, "TERM": "xterm-256color"}).stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")

    def text(self):
        return "\n".join(line.rstrip() for line in self.tmux("capture-pane", "-p").splitlines()).rstrip() + "\n"

    def shows(self, *texts):
        for text in texts:
            until(f"it shows {text!r}: {self.text()}", lambda: text in self.text())
        return self.text()

    def keys(self, *keys):
        self.tmux("send-keys", *keys)


def filled():
    daemon = Daemon("--manual-schedule", "--clock", "virtual", "--config", "@q.yaml", files={"q.yaml": QUEUES})
    told(daemon, "rm", "register", "lab")
    told(daemon, "node", "add", "rack1-n", "--count", "20", "-R", "memory=64Gi,vcore=16", "-a", "rack=r1")
    told(daemon, "node", "add", "\u673a\u5668-1", "-R", "memory=256Gi,vcore=64,nvidia.com/gpu=8")
    told(daemon, "node", "drain", "rack1-n-20")
    for app, queue in (("web", "production.web"), ("search", "production.search"), ("nightly", "batch")):
        told(daemon, "app", "add", app, "-q", f"root.{queue}", "-u", "ann:staff")
    told(daemon, "ask", "add", "web", "--key", "web", "-n", "12", "-R", "memory=4Gi,vcore=2")
    told(daemon, "ask", "add", "search", "--key", "search", "-n", "6", "-R", "memory=16Gi,vcore=4")
    told(daemon, "ask", "add", "nightly", "--key", "nightly", "-n", "30", "-R", "memory=8Gi,vcore=1")
    told(daemon, "sched", "step", "100")
    told(daemon, "clock", "advance", "90s")
    told(daemon, "sched", "step", "5")
    return daemon


def compare(name, columns, rows, picture):
    picture = re.sub(r"up \S+,", "up 1m,", picture)
    check(all(len(line) <= columns for line in picture.splitlines()), "a line is too long", picture)
    file = SCREENS / f"{name}-{columns}x{rows}.txt"
    if os.environ.get("YK_SCREENS") == "write":
        file.write_text(picture)
    check(file.read_text() == picture, f"{file.name}:\n{file.read_text()}\nand now:\n{picture}")


def test_pictures():
    with filled() as daemon:
        for columns, rows in SIZES:
            for name, words in (("node-list", ("node", "list")), ("queue-tree", ("queue", "tree")), ("explain", ("explain", "ask", "nightly-30")), ("top", ("top",))):
                with Screen(daemon, columns, rows, *words) as screen:
                    if name == "top":
                        picture = screen.shows("q quit", "root")
                    else:
                        until("it has ended", lambda: os.path.exists(screen.socket + ".ended"))
                        picture = screen.text()
                    compare(name, columns, rows, picture)


def test_a_watched_screen_does_not_scroll():
    with filled() as daemon:
        told(daemon, "node", "add", "more", "--count", "2000", "-R", "vcore=1")
        with Screen(daemon, 60, 20, "node", "list", "--watch", "--interval", "100ms") as screen:
            picture = screen.shows("more lines")
            check(picture.startswith("NAME ") and "2003 more lines" in picture, picture)
            check(screen.tmux("display-message", "-p", "#{history_size}").strip() == "0", "nothing went up over the edge")
            screen.tmux("resize-window", "-x", "50", "-y", "10")
            screen.shows("2013 more lines")
            check(screen.text().startswith("NAME "), "with another size", screen.text())
        for words in (("queue", "tree"), ("app", "show", "nightly"), ("node", "show", "rack1-n-1"), ("status",), ("health",), ("queue", "show", "root.batch")):
            with Screen(daemon, 60, 10, *words, "--watch") as screen:
                until(f"{words} is drawn", lambda: len(screen.text()) > 50)
                check(screen.tmux("display-message", "-p", "#{history_size}").strip() == "0", words, screen.text())


def test_top_by_its_keys():
    with filled() as daemon:
        with Screen(daemon, 110, 24, "top", "--interval", "200ms") as screen:
            screen.shows("[1 queues]", "root.production.web", "placed")
            screen.keys("4")
            screen.shows("[4 waiting]", "Not enough queue quota", "root.batch")
            screen.keys("Enter")
            screen.shows("[3 apps]", "in root.batch", "nightly")
            screen.keys("Enter")
            screen.shows("state:", "submitted:")
            check("^[" not in screen.text(), "codes of colours", screen.text())
            screen.keys("Escape")
            screen.shows("in root.batch", "nightly")
            screen.keys("Escape")
            screen.shows("[4 waiting]")
            screen.keys("2")
            screen.shows("[2 nodes]", "rack1-n-1", "USED")
            screen.keys("/", "r", "a", "c", "k", "1", "-", "n", "-", "2", "0", "Enter")
            until("one row", lambda: "rack1-n-1 " not in screen.text() and "rack1-n-20" in screen.text())
            screen.keys("?")
            screen.shows("sort by the next column")
            screen.keys("x", "1")
            screen.shows("[1 queues]")
            told(daemon, "app", "add", "more", "-q", "root.production.web")
            screen.shows("4 apps")
            screen.tmux("resize-window", "-x", "40", "-y", "12")
            until("it fits", lambda: all(len(line) <= 40 for line in screen.text().splitlines()) and "q quit" in screen.text())
            daemon.end(signal.SIGTERM)
            screen.shows("old:")
            daemon.start()
            until("it is back", lambda: "old:" not in screen.text())
            screen.keys("q")
            until("it has ended", lambda: os.path.exists(screen.socket + ".ended"))


def test_top_without_a_terminal():
    with filled() as daemon:
        said = told(daemon, "top", status=2)
        check("standard output is no terminal" in said and "ykctl top --once" in said, said)
        said = told(daemon, "top", "--once")
        check("root.production.web" in said and all(len(line) <= 80 for line in said.splitlines()), said)
        with Screen(daemon, 80, 24, "top", env={"TERM": "dumb"}) as screen:
            screen.shows("the terminal 'dumb' cannot be drawn on")


main(globals())
