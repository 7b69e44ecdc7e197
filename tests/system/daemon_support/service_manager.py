# SPDX-License-Identifier: Apache-2.0
"""What the daemon tells the service manager (sd_notify), which the test plays."""
from daemon_support import DEADLINE, socket

import tempfile


def notify_socket():
    folder = tempfile.mkdtemp(prefix="yk.", dir="/tmp")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(folder + "/n")
    listener.settimeout(DEADLINE)
    return listener, folder + "/n"


def next_told(listener, start):
    """The next message that begins with `start`; status lines and watchdog pings in between are skipped."""
    while True:
        told = listener.recv(4096).decode()
        if told.startswith(start):
            return told
