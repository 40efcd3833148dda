"""Runs the application on its address until it is told to end."""

from __future__ import annotations

import os
import signal
import socket
import sys

import uvicorn
from starlette.types import ASGIApp

from sacrecap.errors import UsageError, words_of_command_line
from sacrecap_server.app import create_app
from sacrecap_server.log import event, log_to_stderr
from sacrecap_server.settings import ServerSettings

_FINISH_SECONDS = 10
_BACKLOG = 128


def serve_studies(settings: ServerSettings) -> int:
    """Serves studies until SIGINT or SIGTERM: see `serve_app`."""
    return serve_app(create_app(settings), settings)


@words_of_command_line()  # an owner started it there, and no page has Python's keywords
def serve_app(app: ASGIApp, settings: ServerSettings, *, believes_proxy: bool = True) -> int:
    """Serves until SIGINT or SIGTERM: then answers what is under way, and returns 0.

    Slow clients, TLS and the number of connections are the proxy's: see the page *Run a study*.

    Args:
        app: the application; its lifespan closes what it holds.
        settings: where to listen.
        believes_proxy: whether callers have the address that the proxy gives, and not its own.
    """
    log_to_stderr()
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        opened = socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise UsageError(f"--host {settings.host} --port {settings.port}: cannot listen there: {reason}") from None
    # Opened anew, it knows its protocol: asyncio sends small answers without delay (TCP_NODELAY) only then.
    listener = socket.socket(fileno=opened.detach())
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        backlog=_BACKLOG,
        proxy_headers=believes_proxy and settings.behind_proxy is not None,
        forwarded_allow_ips=settings.behind_proxy or "",
        timeout_graceful_shutdown=_FINISH_SECONDS,
        timeout_keep_alive=30,
    )
    server = _Announcing(config, settings)
    # Once it has ended in good order, uvicorn raises the signal again, which would end this process less so.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    server.run(sockets=[listener])
    return 0 if server.started else 2


class _Announcing(uvicorn.Server):
    """Says where the server is once it listens."""

    def __init__(self, config: uvicorn.Config, settings: ServerSettings) -> None:
        super().__init__(config)
        self._settings = settings

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(sockets)  # type: ignore[arg-type]
        if self.started:
            print(f"sacrecap: serving {self._settings.url}/ (Ctrl-C ends it)", file=sys.stderr, flush=True)
            event("started", host=self._settings.host, port=self._settings.port)
