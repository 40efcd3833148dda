"""Connections that take too long are closed; uvicorn by itself waits for ever for the rest of a request."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sacrecap_server.observability import event

_PIECE = 64 * 1024
"""Bytes: the largest head of a request, and the least that must move of a body or an answer in the time allowed."""
_IDLE, _HEAD, _BODY, _ANSWER = range(4)


class LimitedProtocol(HttpToolsProtocol):
    """HTTP with limits: see `limited`. `_ANSWER` is the only state in which the client has nothing to do."""

    seconds: ClassVar[float]
    most: ClassVar[int]
    idle: ClassVar[dict[LimitedProtocol, None]]
    """Connections that wait for the rest of a head, or for another request: longest first."""
    unfinished: ClassVar[dict[LimitedProtocol, None]]
    """Connections that wait for the rest of a body: longest without a piece first."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_bytes = self._moved = 0
        self._unsent: int | None = None
        self._ending = False
        self._enter(_HEAD)
        self._timer = self.loop.call_later(self.seconds, self._look)
        if len(self.connections) > self.most:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._state == _IDLE:
            self._enter(_HEAD)
        super().data_received(data)
        if self._state == _HEAD:
            self._head_bytes += len(data)
            if self._head_bytes > _PIECE:
                self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        self._enter(_HEAD)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_bytes = 0
        self._enter(_BODY)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._moved += len(body)
        if self._moved >= _PIECE:
            self._enter(_BODY)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._enter(_ANSWER)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self._state == _ANSWER and not self.pipeline:
            self._enter(_IDLE)
        super().on_response_complete()

    def pause_writing(self) -> None:
        self._unsent = self.transport.get_write_buffer_size()
        self._since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._unsent = None
        super().resume_writing()

    def _forget(self) -> None:
        self.idle.pop(self, None)
        self.unfinished.pop(self, None)

    def _enter(self, state: int) -> None:
        self._forget()
        if state != _ANSWER:
            (self.unfinished if state == _BODY else self.idle)[self] = None
        self._state = state
        self._moved = 0
        self._since = self.loop.time()

    def _look(self) -> None:
        """Looks, once in a while, whether the client has had its time."""
        if self.transport.is_closing():
            # What is unsent will never be taken.
            if self._ending:
                self._end("closing")
            self._ending = True
        elif self.loop.time() - self._since >= self.seconds:
            self._judge()
        left = self._since + self.seconds - self.loop.time()
        self._timer = self.loop.call_later(left if left > 0 else self.seconds, self._look)

    def _judge(self) -> None:
        if self._unsent is not None:
            unsent = self.transport.get_write_buffer_size()
            if unsent > self._unsent - _PIECE:
                self._end("answer")
            self._unsent, self._since = unsent, self.loop.time()
        elif self.flow.read_paused:  # it is we who do not read
            self._since = self.loop.time()
        elif self._state == _HEAD:
            event("slow client", part="head")
            self._refuse(b"408 Request Timeout")
        elif self._state == _BODY:
            self._end("body")

    def _end(self, part: str) -> None:
        event("slow client", part=part)
        self.transport.abort()

    def _refuse(self, status: bytes) -> None:
        if not self.transport.is_closing():
            with contextlib.suppress(OSError):
                self.transport.write(b"HTTP/1.1 %b\r\nconnection: close\r\ncontent-length: 0\r\n\r\n" % status)
            self.transport.close()

    def _make_room(self) -> None:
        """Closes the connection that is idle longest; where none is, one whose body is not whole; or this one."""
        del self.idle[self]
        oldest = next(iter(self.idle or self.unfinished), None)
        if oldest is None:
            self._refuse(b"503 Service Unavailable")
        else:
            oldest._forget()
            oldest.transport.abort()
            self.idle[self] = None


def limited(seconds: float, most: int) -> type[LimitedProtocol]:
    """The protocol for `uvicorn.Config(http=…)`.

    Args:
        seconds: longest for the head of a request, and for every further 64 KiB of its body or of the answer.
        most: connections at a time.
    """
    values: dict[str, Any] = {"seconds": seconds, "most": most, "idle": {}, "unfinished": {}}
    return type("Limited", (LimitedProtocol,), values)
