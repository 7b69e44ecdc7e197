# SPDX-License-Identifier: Apache-2.0
"""The threads that serve the connections of a session: one for each."""
from __future__ import annotations

import concurrent.futures
import contextlib
import math
import select
import socket
import ssl
import threading
import time
from typing import Any, Mapping, Optional

from .addresses import Address
from .core.call import Call
from .core.session import Options, Session
from .errors import BadBytes, YkdError

CONNECT_LIMIT = 5.0  # seconds
CHUNK = 1 << 18  # bytes, read or written at once
BYE_LIMIT = 1.0  # seconds that close() waits for the daemon
Answer = concurrent.futures.Future[dict[str, Any]]


class Link:
    """Requests from any thread. The threads start with the first request and end with close()."""

    def __init__(self, address: Address, options: Options, tls: Optional[ssl.SSLContext], channels: int = 1) -> None:
        self._address, self._tls = address, tls
        self._lock = threading.Lock()
        self.session = Session(options, channels)  # only with the lock
        self._wakers = [_Waker() for _ in range(channels)]
        self._threads = [threading.Thread(target=self._serve, args=(number,), name=f"ykd-link-{number}", daemon=True)
                         for number in range(channels)]
        self._started = False

    def submit(self, kind: str, body: Mapping[str, Any], time_limit: Optional[float], channel: int = 0) -> Answer:
        """Sends a request; its outcome comes with the future. `time_limit` is in seconds, None for none.

        Raises TypeError or ValueError for a body that cannot be sent, Full, and Closed or what ended the session.
        """
        return self._submit(kind, body, time_limit, channel)[0]

    def request(self, kind: str, body: Mapping[str, Any], time_limit: Optional[float], channel: int = 0) -> dict[str, Any]:
        """The body of the reply. Raises what submit() raises, and the error of the request."""
        answer, call = self._submit(kind, body, time_limit, channel)
        try:
            return answer.result()
        except BaseException:
            with self._lock:
                self.session.cancel(call)
            raise

    def close(self) -> None:
        """Says Bye, ends all requests with Closed and waits for the threads. Twice is as once."""
        with contextlib.suppress(YkdError):
            if self.session.sid is not None:
                self.request("Bye", {}, BYE_LIMIT)
        with self._lock:
            self.session.close()
            done, self.session.completed = self.session.completed, []
        _report(done)
        for number, thread in enumerate(self._threads):
            self._wakers[number].wake()
            if self._started:
                thread.join()
            self._wakers[number].close()

    def _submit(self, kind: str, body: Mapping[str, Any], time_limit: Optional[float], channel: int) -> tuple[Answer, Call]:
        answer: Answer = concurrent.futures.Future()
        call = Call(kind, body, time_limit, channel, lambda done: _resolve(answer, done))
        with self._lock:
            self.session.submit(call, time.monotonic())
            start, self._started = not self._started, True
        if start:
            for thread in self._threads:
                thread.start()
        self._wakers[0 if call.changes else channel].wake()
        return answer, call

    # --- the thread of a connection ---

    def _serve(self, number: int) -> None:
        sock: Optional[socket.socket] = None
        while True:
            now = time.monotonic()
            with self._lock:
                dead = self.session.is_dead(number, now)
                if dead:
                    self.session.disconnected(number, f"the daemon at {self._address} did not answer", now)
                self.session.advance(now)
                ended = self.session.fatal is not None
                connects = not ended and self.session.wants_connection(number, now)
                if connects:
                    self.session.connecting(number)
                wake = self.session.next_wake(now)
                done, self.session.completed = self.session.completed, []
                for other, waker in enumerate(self._wakers):
                    if other != number and (ended or self.session.unwritten(other) or self.session.wants_connection(other, now)):
                        waker.wake()
            _report(done)
            if sock is not None and (dead or ended):
                sock.close()
                sock = None
            if ended:
                return
            if connects:
                sock = self._connect(number)
            elif self._wait(number, sock, wake - now):
                assert sock is not None
                sock = self._move_bytes(number, sock)

    def _connect(self, number: int) -> Optional[socket.socket]:
        try:
            sock = _dial(self._address, self._tls)
        except OSError as error:
            with self._lock:
                self.session.disconnected(number, f"cannot connect to {self._address}: {error}", time.monotonic())
            return None
        with self._lock:
            self.session.connected(number, time.monotonic())
        return sock

    def _wait(self, number: int, sock: Optional[socket.socket], seconds: float) -> bool:
        """Whether there is something to do with the socket; it returns after `seconds` or when the thread is woken, too."""
        waker, poller = self._wakers[number], select.poll()
        poller.register(waker, select.POLLIN)
        if sock is not None:
            poller.register(sock, select.POLLIN | (select.POLLOUT if self.session.unwritten(number) else 0))
            if isinstance(sock, ssl.SSLSocket) and sock.pending():
                seconds = 0
        for file, _ in poller.poll(math.ceil(1000 * max(0.0, min(seconds, 60.0)))):
            if file == waker.fileno():
                waker.clear()
        return sock is not None

    def _move_bytes(self, number: int, sock: socket.socket) -> Optional[socket.socket]:
        """Reads and writes what is possible. The socket, or None when the connection is gone."""
        try:
            with self._lock:
                chunk = bytes(self.session.unwritten(number)[:CHUNK])
            written = _send(sock, chunk) if chunk else 0
            data = _receive(sock)
            with self._lock:
                del self.session.unwritten(number)[:written]
                if data:
                    self.session.received(number, data, time.monotonic())
            if data == b"":
                raise ConnectionError("it was closed there")
        except (OSError, BadBytes) as error:
            sock.close()
            with self._lock:
                self.session.disconnected(number, f"the connection to {self._address} was cut: {error}", time.monotonic())
            return None
        return sock


class _Waker:
    """Wakes a thread that waits in select()."""

    def __init__(self) -> None:
        self._there, self._here = socket.socketpair()
        self._there.setblocking(False)
        self._here.setblocking(False)

    def fileno(self) -> int:
        return self._here.fileno()

    def wake(self) -> None:
        with contextlib.suppress(OSError):  # it is full and the thread wakes anyway, or it has ended
            self._there.send(b"\0")

    def close(self) -> None:
        self._there.close()
        self._here.close()

    def clear(self) -> None:
        self._here.recv(4096)


def _dial(address: Address, tls: Optional[ssl.SSLContext]) -> socket.socket:
    if address.scheme == "ipc":
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.settimeout(CONNECT_LIMIT)
            sock.connect(address.path)
        except OSError:
            sock.close()
            raise
    else:
        sock = socket.create_connection((address.host, address.port), CONNECT_LIMIT)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            sock = tls.wrap_socket(sock, server_hostname=address.host)
    sock.setblocking(False)
    return sock


def _send(sock: socket.socket, chunk: bytes) -> int:
    try:
        return sock.send(chunk)
    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return 0


def _receive(sock: socket.socket) -> Optional[bytes]:
    """What came; None for nothing, empty at the end."""
    try:
        return sock.recv(CHUNK)
    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return None


def _resolve(answer: Answer, call: Call) -> None:
    with contextlib.suppress(concurrent.futures.InvalidStateError):  # the caller cancelled it
        if call.error is not None:
            answer.set_exception(call.error)
        else:
            answer.set_result(call.outcome)


def _report(calls: list[Call]) -> None:
    for call in calls:
        if call.on_done is not None:
            call.on_done(call)
