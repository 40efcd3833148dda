"""The log: one JSON line per request and event on standard error."""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import sacrecap
import sacrecap_studies

log = logging.getLogger("sacrecap_server")
_OURS = {Path(package).parent for package in (__file__, sacrecap.__file__, sacrecap_studies.__file__)}
"""The folders of our packages."""


class JsonLines(logging.Formatter):
    """One object per line: time, level, event, and what the event carries in `extra={"fields": …}`.

    Text that others wrote (of exceptions, or filled into a library's message) may hold what people sent: it is left
    out, and the type and the place of an exception stand for it.
    """

    def format(self, record: logging.LogRecord) -> str:
        ours = record.name == log.name
        entry: dict[str, object] = {
            "time": dt.datetime.fromtimestamp(record.created, dt.timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage() if ours else _fixed_part(record.msg),
            **getattr(record, "fields", {}),
        }
        if not ours:
            entry["logger"] = record.name
        if record.exc_info and record.exc_info[1] is not None:
            entry |= error_fields(record.exc_info[1])
        return json.dumps(entry, ensure_ascii=False, default=str)


def _fixed_part(message: object) -> str:
    """What a library's message says each time: the first line of its template, or the type of an exception."""
    return next(iter(message.splitlines()), "") if isinstance(message, str) else type(message).__name__


def error_fields(error: BaseException) -> dict[str, object]:
    """What the log says of an exception: its type, and where it was raised, without the values there.

    These are our own last frames, and the last two of all.
    """
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames[:-2] if not _OURS.isdisjoint(Path(frame.filename).parents)][-6:]
    at = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in (*ours, *frames[-2:])]
    return {"error": type(error).__name__, "at": at}


def log_to_stderr() -> None:
    """Our own lines, and the warnings and errors of every library, as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    log.setLevel(logging.INFO)
    # Both would print the text of what went wrong.
    warnings.showwarning = _log_warning  # type: ignore[assignment]
    threading.excepthook = _log_thread


def _log_warning(_: object, category: type[Warning], filename: str, line: int, *__: object) -> None:
    log.warning("warning", extra={"fields": {"warning": category.__name__, "at": [f"{filename}:{line}"]}})


def _log_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None:
        log.error("thread ended", extra={"fields": error_fields(ended.exc_value)})


def event(name: str, **fields: object) -> None:
    """Logs an event.

    Never captions, names, addresses, tokens or query strings: more people read logs than the database.
    """
    log.info(name, extra={"fields": fields})


class LogMiddleware:
    """Logs every request under its route's path, not the path asked for, which strangers choose.

    It answers HEAD as GET without the body, for every route. An application that `limits_addresses` is told of a proxy
    that the settings do not name.
    """

    def __init__(self, app: ASGIApp, *, limits_addresses: bool) -> None:
        self.app = app
        self._knows_proxy = limits_addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500
        number = os.urandom(6).hex()
        method = scope["method"]

        async def send_numbered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", number.encode())]
            elif method == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        # The web server keeps its own scope: it counts the bytes of a body only where the method has one.
        inner = {**scope, "method": "GET"} if method == "HEAD" else scope
        inner.setdefault("state", {})["request_id"] = number
        try:
            await self.app(inner, receive, send_numbered)
        finally:
            self._note(inner, method, number, status, time.perf_counter() - started)

    def _note(self, scope: Scope, method: str, number: str, status: int, seconds: float) -> None:
        self._warn_of_proxy(scope)
        if scope["path"].startswith("/static/") and status < 400:  # one line for a page is enough
            return
        matched = scope.get("route")
        route = matched.path_format if isinstance(matched, Route) else "(none)"
        method = method if method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} else "OTHER"
        event("request", id=number, method=method, route=route, status=status, ms=round(seconds * 1000, 1))

    def _warn_of_proxy(self, scope: Scope) -> None:
        """Says once that a proxy is not the one of the settings: to the limits, all people behind it are one."""
        forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for").decode("latin1")
        # uvicorn takes the caller's address from there, if the proxy is that of the settings.
        if self._knows_proxy and forwarded and scope["client"] and scope["client"][0] not in forwarded:
            self._knows_proxy = False
            remedy = "Requests come through a proxy that --behind-proxy does not name: all people share its limits."
            log.warning("unknown proxy", extra={"fields": {"remedy": remedy}})
