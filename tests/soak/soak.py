#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of the soak in turns, within a time: ./dev soak --minutes N [--seed S]. Each part is a program of its own that
prints its figures in its last line; what a part leaves of its time goes to those after it. Exits 1 when something did not hold."""
import argparse
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = [  # name, share of the time, program and arguments
    ("kills", 28, ["kills.py"]), ("stops", 10, ["stops.py"]), ("network", 8, ["proxied.py"]), ("disks", 6, ["disks.py"]),
    ("shortages", 6, ["shortages.py"]), ("histories", 12, ["histories.py"]), ("churn", 12, ["churn.py"]),
    ("takeovers", 12, ["takeovers.py"]), ("deployments", 30, ["deployments.py"]),
    ("requests", 10, ["web_requests.py"]), ("fairness", 5, ["fairness.py"]), ("messages", 18, ["attack.py", "--connections", "2000"])]


def run(name, program, seed, seconds):
    """Whether it held; prints a line, of a part that did not what it said as well."""
    begin = time.monotonic()
    done = subprocess.run([sys.executable, f"{HERE}/{program[0]}", *program[1:], "--seed", str(seed), "--seconds", f"{seconds:.0f}"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    lines = done.stdout.splitlines() or [""]
    held = done.returncode == 0
    if not held:
        print("\n".join(lines), flush=True)
    for line in lines[:-1]:
        if held and line.startswith("SKIPPED"):
            print(line, flush=True)
    print(f"{'PASS' if held else 'FAIL'} {name} (seed {seed}, {time.monotonic() - begin:.0f} s): {lines[-1]}", flush=True)
    return held


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--part", action="append", choices=[name for name, *_ in PARTS], help="only these; may be repeated")
    options = parser.parse_args()
    parts = [part for part in PARTS if not options.part or part[0] in options.part]
    end = time.monotonic() + 60 * options.minutes
    failed = 0
    for number, (name, share, program) in enumerate(parts):
        left = max(0.0, end - time.monotonic())
        failed += not run(name, program, options.seed, left * share / sum(part[1] for part in parts[number:]))
    print(f"{len(parts) - failed} parts held, {failed} did not", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
