# SPDX-License-Identifier: Apache-2.0
"""Processes that a test has others start."""
from daemon_support import until


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(*pids):
    until(f"{pids} are gone", lambda: not any(is_running(pid) for pid in pids))
