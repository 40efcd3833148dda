"""Connections that take too long are closed; uvicorn by itself waits for ever for the rest of a request.

uvicorn's protocol is wrapped, and left as it is. `LimitedConnection` sees the bytes that come, with a parser of its own
that says what they are, and whether those that go are taken; `AnswersMiddleware` says when an answer has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast

import httptools
from starlette.types import ASGIApp, Receive, Scope, Send

from sacrecap_server.observability import event

_PIECE = 64 * 1024
"""Bytes: the largest head of a request, and the least that must move of a body or an answer in the time allowed."""
_IDLE, _HEAD, _BODY, _ANSWER = range(4)


@dataclass
class Limits:
    """Of the connections of a server."""

    seconds: float
    """Longest for the head of a request, and for every further 64 KiB of its body or of the answer."""
    most: int
    """Connections at a time."""
    count: int = 0
    idle: dict[LimitedConnection, None] = field(default_factory=dict)
    """Connections that wait for the rest of a head, or for another request: longest first."""
    unfinished: dict[LimitedConnection, None] = field(default_factory=dict)
    """Connections that wait for the rest of a body: longest without a piece first."""

    def around(self, protocol: type[asyncio.Protocol]) -> type[asyncio.Protocol]:
        """The protocol within these limits, as `uvicorn.Config.http_protocol_class` takes it."""

        def connection(**options: Any) -> LimitedConnection:
            return LimitedConnection(self, protocol(**options), asyncio.get_running_loop())

        return cast(type[asyncio.Protocol], connection)


class LimitedConnection(asyncio.Protocol):
    """One connection, around the protocol that serves it. Only in `_ANSWER` has the client nothing to do."""

    def __init__(self, limits: Limits, served: asyncio.Protocol, loop: asyncio.AbstractEventLoop) -> None:
        self._limits = limits
        self._served = served
        self._loop = loop
        self._parser = httptools.HttpRequestParser(self)
        self._head_bytes = self._moved = self._unanswered = 0
        self._unsent: int | None = None
        self._ending = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._served.connection_made(transport)
        self._limits.count += 1
        self._enter(_HEAD)
        self._timer = self._loop.call_later(self._limits.seconds, self._look)
        if self._limits.count > self._limits.most:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._forget()
        self._limits.count -= 1
        self._served.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._state == _IDLE:
            self._enter(_HEAD)
        _current.set(self)
        with contextlib.suppress(httptools.HttpParserError, httptools.HttpParserUpgrade):  # the server answers these
            self._parser.feed_data(data)
        self._served.data_received(data)
        if self._state == _HEAD:
            self._head_bytes += len(data)
            if self._head_bytes > _PIECE:
                self._refuse(b"431 Request Header Fields Too Large")

    def eof_received(self) -> bool | None:
        return self._served.eof_received()

    def pause_writing(self) -> None:
        self._unsent = self._transport.get_write_buffer_size()
        self._since = self._loop.time()
        self._served.pause_writing()

    def resume_writing(self) -> None:
        self._unsent = None
        self._served.resume_writing()

    # What the parser finds.

    def on_message_begin(self) -> None:
        self._enter(_HEAD)

    def on_headers_complete(self) -> None:
        self._head_bytes = 0
        self._unanswered += 1
        self._enter(_BODY)

    def on_body(self, body: bytes) -> None:
        self._moved += len(body)
        if self._moved >= _PIECE:
            self._enter(_BODY)

    def on_message_complete(self) -> None:
        self._enter(_ANSWER if self._unanswered else _IDLE)

    def answered(self) -> None:
        """The application has ended an answer; a client may have sent several requests at once."""
        self._unanswered -= 1
        if self._state == _ANSWER and not self._unanswered:
            self._enter(_IDLE)

    def _forget(self) -> None:
        self._limits.idle.pop(self, None)
        self._limits.unfinished.pop(self, None)

    def _enter(self, state: int) -> None:
        self._forget()
        if state != _ANSWER:
            (self._limits.unfinished if state == _BODY else self._limits.idle)[self] = None
        self._state = state
        self._moved = 0
        self._since = self._loop.time()

    def _look(self) -> None:
        """Looks, once in a while, whether the client has had its time."""
        seconds = self._limits.seconds
        if self._transport.is_closing():
            # What is unsent will never be taken.
            if self._ending:
                self._end("closing")
            self._ending = True
        elif self._loop.time() - self._since >= seconds:
            self._judge()
        left = self._since + seconds - self._loop.time()
        self._timer = self._loop.call_later(left if left > 0 else seconds, self._look)

    def _judge(self) -> None:
        if self._unsent is not None:
            unsent = self._transport.get_write_buffer_size()
            if unsent > self._unsent - _PIECE:
                self._end("answer")
            self._unsent, self._since = unsent, self._loop.time()
        elif not self._transport.is_reading():  # it is the server that does not read
            self._since = self._loop.time()
        elif self._state == _HEAD:
            event("slow client", part="head")
            self._refuse(b"408 Request Timeout")
        elif self._state == _BODY:
            self._end("body")

    def _end(self, part: str) -> None:
        event("slow client", part=part)
        self._transport.abort()

    def _refuse(self, status: bytes) -> None:
        if not self._transport.is_closing():
            with contextlib.suppress(OSError):
                self._transport.write(b"HTTP/1.1 %b\r\nconnection: close\r\ncontent-length: 0\r\n\r\n" % status)
            self._transport.close()

    def _make_room(self) -> None:
        """Closes the connection that is idle longest; where none is, one whose body is not whole; or this one."""
        idle, unfinished = self._limits.idle, self._limits.unfinished
        del idle[self]
        oldest = next(iter(idle or unfinished), None)
        if oldest is None:
            self._refuse(b"503 Service Unavailable")
        else:
            oldest._forget()
            oldest._transport.abort()
            idle[self] = None


_current: ContextVar[LimitedConnection] = ContextVar("connection")
"""The connection that an application is called for: the server begins its task while data are received."""


class AnswersMiddleware:
    """Tells the connection that an answer has ended."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        finally:
            if scope["type"] == "http" and (connection := _current.get(None)) is not None:
                connection.answered()
