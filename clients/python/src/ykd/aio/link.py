# SPDX-License-Identifier: Apache-2.0
"""The connections of a session in an event loop."""
from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import Any, Mapping, Optional

from ..addresses import Address
from ..core.call import Call
from ..core.session import Options, Session
from ..errors import BadBytes, YkdError

CONNECT_LIMIT = 5.0  # seconds
MOST_WRITING = 1 << 20  # bytes in the buffer of a connection
BYE_LIMIT = 1.0  # seconds that close() waits for the daemon
Answer = asyncio.Future[dict[str, Any]]


class Link:
    """Requests of tasks of one event loop."""

    def __init__(self, address: Address, options: Options, tls: Optional[ssl.SSLContext], channels: int = 1) -> None:
        self.address, self._tls = address, tls
        self.session = Session(options, channels)
        self._transports: list[Optional[asyncio.Transport]] = [None] * channels
        self._dialling: dict[int, asyncio.Task[None]] = {}
        self._timer: Optional[asyncio.TimerHandle] = None

    async def request(self, kind: str, body: Mapping[str, Any], time_limit: Optional[float], channel: int = 0) -> dict[str, Any]:
        """The body of the reply. Raises TypeError or ValueError for a body that cannot be sent, Full, Closed or what ended the session,
        and the error of the request."""
        answer: Answer = asyncio.get_running_loop().create_future()
        call = Call(kind, body, time_limit, channel, lambda done: _resolve(answer, done))
        self.session.submit(call, self._now())
        self.advance()
        try:
            return await answer
        except BaseException:
            self.session.cancel(call)
            raise

    async def close(self) -> None:
        """Says Bye and ends all requests with Closed. Twice is as once."""
        with contextlib.suppress(YkdError):
            if self.session.sid is not None:
                await self.request("Bye", {}, BYE_LIMIT)
        self.session.close()
        self.advance()
        for task in list(self._dialling.values()):
            task.cancel()
        await asyncio.gather(*self._dialling.values(), return_exceptions=True)
        await asyncio.sleep(0)  # transports end with the next turn of the loop

    def advance(self) -> None:
        """Does what the session wants done now, and sees to it that it is asked again in time."""
        now = self._now()
        for number, transport in enumerate(self._transports):
            if transport is not None and (self.session.fatal is not None or self.session.is_dead(number, now)):
                self.cut(number, f"the daemon at {self.address} did not answer")
        self.session.advance(now)
        for number, transport in enumerate(self._transports):
            if transport is not None and self.session.unwritten(number) and transport.get_write_buffer_size() < MOST_WRITING:
                transport.write(bytes(self.session.unwritten(number)))
                self.session.unwritten(number).clear()
            if self.session.wants_connection(number, now):
                self.session.connecting(number)
                self._dialling[number] = asyncio.get_running_loop().create_task(self._dial(number))
        done, self.session.completed = self.session.completed, []
        for call in done:
            if call.on_done is not None:
                call.on_done(call)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.session.fatal is None:
            self._timer = asyncio.get_running_loop().call_at(self.session.next_wake(now), self.advance)

    def cut(self, number: int, why: str) -> None:
        """The connection is gone, or is to go."""
        transport, self._transports[number] = self._transports[number], None
        if transport is not None:
            transport.abort()
            self.session.disconnected(number, why, self._now())

    def connected(self, number: int, transport: asyncio.Transport) -> None:
        """It was made."""
        self._transports[number] = transport
        self.session.connected(number, self._now())
        self.advance()

    def received(self, number: int, transport: asyncio.Transport, data: bytes) -> None:
        """Bytes came; those of a connection that was cut here do not count."""
        if self._transports[number] is not transport:
            return
        try:
            self.session.received(number, data, self._now())
        except BadBytes as error:
            self.cut(number, f"the connection to {self.address} was cut: {error}")
        self.advance()

    def lost(self, number: int, transport: asyncio.Transport, error: Optional[Exception]) -> None:
        """The other side closed it, unless it was cut here before."""
        if self._transports[number] is transport:
            self.cut(number, f"the connection to {self.address} was cut: {error or 'it was closed there'}")
            self.advance()

    async def _dial(self, number: int) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_LIMIT):
                if self.address.scheme == "ipc":
                    await loop.create_unix_connection(lambda: _Connection(self, number), self.address.path)
                else:
                    await loop.create_connection(lambda: _Connection(self, number), self.address.host, self.address.port, ssl=self._tls)
        except (OSError, TimeoutError) as error:
            self.session.disconnected(number, f"cannot connect to {self.address}: {error or 'no answer'}", self._now())
        self._dialling.pop(number, None)
        self.advance()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


class _Connection(asyncio.Protocol):
    """Passes on what the event loop says of one connection."""

    def __init__(self, link: Link, number: int) -> None:
        self._link, self._number = link, number
        self._transport: Optional[asyncio.Transport] = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._link.connected(self._number, transport)

    def data_received(self, data: bytes) -> None:
        if self._transport is not None:
            self._link.received(self._number, self._transport, data)

    def resume_writing(self) -> None:
        self._link.advance()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        if self._transport is not None:
            self._link.lost(self._number, self._transport, exc)


def _resolve(answer: Answer, call: Call) -> None:
    if not answer.done():
        if call.error is not None:
            answer.set_exception(call.error)
        else:
            answer.set_result(call.outcome)
