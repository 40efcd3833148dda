"""Requests to an application in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from httpx2 import BaseTransport, Request, Response


@contextlib.contextmanager
def one_event_loop() -> Iterator[None]:
    """All requests that are made within share one; otherwise each has its own, which takes longer than most."""
    with start_blocking_portal() as InProcess.portal:
        yield
    InProcess.portal = None


class InProcess(BaseTransport):
    """Hands a request to the ASGI application in one step, where Starlette's test client changes threads nine times."""

    portal: BlockingPortal | None = None

    def __init__(self, app: Any, address: str = "testclient") -> None:
        self.app = app
        self.address = address

    def handle_request(self, request: Request) -> Response:
        if self.portal is None:
            with one_event_loop():
                return self.handle_request(request)
        return self.portal.call(self._answer, request)

    async def _answer(self, request: Request) -> Response:
        pieces = iter(request.stream)  # type: ignore[arg-type]
        ended = False
        start: dict[str, Any] = {}
        body = bytearray()

        async def receive() -> dict[str, Any]:
            nonlocal ended
            if ended:
                await anyio.sleep_forever()
            piece = next(pieces, None)
            ended = piece is None
            return {"type": "http.request", "body": piece or b"", "more_body": not ended}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                body.extend(message.get("body", b""))

        try:
            await self.app(_scope(request, self.address), receive, send)
        except Exception:
            # What broke has been answered with its page, and is raised again for the server's log.
            if not start:
                raise
        return Response(start["status"], headers=start["headers"], content=bytes(body))


def _scope(request: Request, address: str) -> dict[str, Any]:
    url = request.url
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": url.raw_path.split(b"?")[0],
        "query_string": url.query,
        "server": (url.host, url.port),
        "client": (address, 50000),
    }
