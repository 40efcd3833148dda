"""Logs and metrics for operators: one JSON line per request and event on standard error, and Prometheus metrics."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
import time
import uuid

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("capeval_server")

_BUCKETS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


class JsonLines(logging.Formatter):
    """One object per line: time, level, event, and what the event carries in `extra={"fields": …}`."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": dt.datetime.fromtimestamp(record.created, dt.timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


def log_to_stderr() -> None:
    """Our own lines and the web server's warnings, all as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (("capeval_server", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False


def event(name: str, **fields: object) -> None:
    """Logs an event. Never captions, tokens or query strings: logs are read by more people than the database."""
    log.info(name, extra={"fields": fields})


class Meters:
    """The Prometheus metrics of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "capeval_requests_total", "Requests, by route and status.", ["method", "route", "status"],
            registry=self.registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "capeval_request_seconds", "Time to answer, by route.", ["route"], buckets=_BUCKETS, registry=self.registry
        )
        self.jobs = Gauge("capeval_jobs", "Jobs, by kind and state.", ["kind", "state"], registry=self.registry)
        self.job_seconds = Histogram(
            "capeval_job_seconds", "Time a job ran, by kind.", ["kind"], registry=self.registry
        )
        self.letters = Counter(
            "capeval_letters_total", "Attempts to send mail, by outcome.", ["outcome"], registry=self.registry
        )


class ObservabilityMiddleware:
    """Logs and counts every request under its route's path, not the path asked for, which strangers choose."""

    def __init__(self, app: ASGIApp, *, meters: Meters) -> None:
        self.app = app
        self.meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500
        number = uuid.uuid4().hex[:12]

        async def send_numbered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", number.encode())]
            await send(message)

        scope.setdefault("state", {})["request_id"] = number
        try:
            await self.app(scope, receive, send_numbered)
        finally:
            self._note(scope, number, status, time.perf_counter() - started)

    def _note(self, scope: Scope, number: str, status: int, seconds: float) -> None:
        matched = scope.get("route")
        route = matched.path if isinstance(matched, Route) else "(none)"
        method = scope["method"] if scope["method"] in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} else "OTHER"
        self.meters.requests.labels(method, route, str(status)).inc()
        self.meters.seconds.labels(route).observe(seconds)
        event(
            "request", id=number, method=method, route=route, status=status, ms=round(seconds * 1000, 1),
            account=scope["state"].get("account_id"), client=(scope.get("client") or ("",))[0],
        )  # fmt: skip
