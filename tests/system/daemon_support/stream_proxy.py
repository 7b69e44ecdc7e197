# SPDX-License-Identifier: Apache-2.0
"""A bad way to a server that listens at a path: bytes are passed on as they come, until all connections are cut, or nothing is passed on for a
while."""
import contextlib
import os
import socket
import threading
import time


class StreamProxy:
    """Listens at `path`, which is passed on to `to`; begun and ended by the with statement."""

    def __init__(self, to, path):
        self.to, self.path, self.ends, self.lock, self.held_until = to, path, set(), threading.Lock(), 0.0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        os.chmod(path, 0o777)
        self.listener.listen(64)
        self.thread = threading.Thread(target=self.accept, daemon=True)

    def accept(self):
        with contextlib.suppress(OSError):  # until it is closed
            while True:
                near, _ = self.listener.accept()
                far = socket.socket(socket.AF_UNIX)
                try:
                    far.connect(self.to)
                except OSError:
                    near.close()
                    continue
                with self.lock:
                    self.ends |= {near, far}
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self.pump, args=(source, target), daemon=True).start()

    def pump(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                while (left := self.held_until - time.monotonic()) > 0:
                    time.sleep(left)
                target.sendall(data)
        for end in (source, target):  # both ways: the other thread ends, too
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        with self.lock:
            if source in self.ends and target in self.ends:
                self.ends -= {source, target}
                return  # the other thread closes them
        source.close()
        target.close()

    def cut(self):
        """All connections that there are; new ones are passed on."""
        with self.lock:
            ends = list(self.ends)
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def hold_up(self, seconds):
        """For so long nothing is passed on, and nothing is lost."""
        self.held_until = time.monotonic() + seconds

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()
