#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A flood on one RM does not slow another one by more than a fifth: a measurement, for a machine that has nothing else to do.
Size: windows of each kind. (That who has much waiting does not go first is tested without a clock by
daemon_fairness.py of tests/system.)

RM b asks for one allocation after the other and waits until it is told each time. Beside it a client floods RM a, with as many
requests in flight as a connection may have; in the kind `large` with requests of megabytes to no RM at all, which cost whoever reads
and decodes them. What is compared is what the daemon decides: its queues, locks and turns. That processors are shared out among
more threads is the kernel's affair, and so is what the flood takes of them: the time to compare with is measured beside the
same flood on a second daemon, which shares the processor with RM b's but nothing of that daemon. For this both daemons run on one
processor and all clients on another one: where the kernel may place the threads as it likes, a flood on the same daemon has RM b
go at 0.8 to 2.5 times its speed, by chance. Both are measured in turns, in many short windows of the same run, so that what else goes on
on the machine meets both alike. A third kind of window has no flood at all. A8.

What counts is how many rounds RM b has in a second, which is what it waits for all in all. The medians of single rounds are printed beside it: they differ by
some hundredths of a millisecond, as half of the rounds meet something that is at work, or not quite half.

One wrong measurement is tried again."""
import statistics
import sys

from part import Clock, as_program

from daemon_support import *

MOST = 1.2
TRIES = 2
WINDOW = 0.25  # seconds
KINDS = os.environ.get("YK_KINDS", "asks nodes dumps large").split()
CPUS = sorted(os.sched_getaffinity(0))
FLOOD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system", "daemon_support", "flood.py")


class Flood:
    """A client that floods RM a of the daemon, between go_on() and stop(). It begins stopped."""

    def __init__(self, daemon, what):
        self.daemon = daemon
        self.process = subprocess.Popen([sys.executable, FLOOD, daemon.path, "a", what], stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, text=True)
        check(self.process.stdout.readline() == "ready\n", "the flood did not begin")
        pin(self.process.pid, CPUS[-1])
        self.stop()

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Returns when what it had in flight is done: its daemon uses next to nothing."""
        self.process.send_signal(signal.SIGSTOP)

        def rests():
            before = cpu_seconds(self.daemon.process.pid)
            time.sleep(0.05)  # what is measured, not waited for
            return cpu_seconds(self.daemon.process.pid) - before < 0.02
        until("the daemon is at rest", rests)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class Placing:
    """RM b: one ask in place of the last allocation, again and again."""

    def __init__(self, daemon):
        self.rm, self.number = Rm(daemon, "b"), 0
        self.rm.nodes({"nodeID": "n"})
        self.rm.applications({"applicationID": "app"})
        self.round()

    def round(self):
        self.number += 1
        key, client = f"k{self.number}", self.rm.client
        client.change("UpdateAllocation", {"rmID": "b", "asks": [
            {"allocationKey": key, "applicationID": "app", "resourceAsk": {"vcore": 1}}], "releases": {"allocationsToRelease": [
                {"applicationID": "app", "allocationKey": f"k{self.number - 1}", "terminationType": 1}]} if self.number > 1 else {}})
        while True:
            items = client.poll(ack=self.rm.ack, rm="b")["items"]
            self.rm.ack = items[-1]["n"]
            if any(one["allocationKey"] == key for item in items for one in item["body"].get("new", [])):
                return

    def window(self):
        """How long each round took."""
        took, end = [], time.monotonic() + WINDOW
        while time.monotonic() < end or not took:
            begin = time.monotonic()
            self.round()
            took.append(time.monotonic() - begin)
        return took


def pin(pid, cpu):
    """All threads of the process, and those that they begin."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), {cpu})


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(own, other, placing, what, size):
    """How many times fewer rounds a second there are beside the flood of the own daemon than beside that of the other."""
    took = {"idle": [], "other": [], "own": []}
    with Flood(own, what) as of_own, Flood(other, what) as of_other:
        floods = {"idle": None, "other": of_other, "own": of_own}
        for lap in range(size):
            for name in sorted(floods, reverse=lap % 2 == 1):
                if floods[name]:
                    floods[name].go_on()
                took[name].append(placing.window())
                if floods[name]:
                    floods[name].stop()
    rounds = {name: statistics.median(len(one) / sum(one) for one in windows) for name, windows in took.items()}
    middle = {name: statistics.median(statistics.median(one) for one in windows) for name, windows in took.items()}
    ratio = rounds["other"] / rounds["own"]
    print(f"  {what}: rounds a second beside the flood on its daemon {rounds['own']:.0f}, on another {rounds['other']:.0f}, "
          f"without {rounds['idle']:.0f}; medians {1000 * middle['own']:.2f}, {1000 * middle['other']:.2f} and "
          f"{1000 * middle['idle']:.2f} ms: {ratio:.2f} times fewer", flush=True)
    return ratio


def run(size, _seed, seconds):
    clock, found = Clock(seconds), []
    for what in KINDS:
        with Daemon() as own, Daemon() as other:
            pin(own.process.pid, CPUS[0])
            pin(other.process.pid, CPUS[0])
            pin(os.getpid(), CPUS[-1])
            placing, witnesses = Placing(own), [own.client(), other.client()]
            ratios = []
            while len(ratios) < TRIES and (not ratios or ratios[-1] > MOST and not clock.is_over()):
                ratios.append(measure(own, other, placing, what, size))
                if what != "large":
                    for witness in witnesses:
                        witness.change("UnregisterResourceManager", {"rmID": "a", "force": True})
            check(ratios[-1] <= MOST, what, "slow another RM by", ratios)
            found.append(f"{what} " + ", ".join(f"{ratio:.2f}" for ratio in ratios))
    return "; ".join(found) + " times slower"


if __name__ == "__main__":
    as_program(run, 12, __doc__.split("\n", maxsplit=1)[0])
