"""Runs the application on its address until it is told to end."""

from __future__ import annotations

import errno
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
    listeners = _listen(settings.host, settings.port)
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
    server.run(sockets=listeners)
    return 0 if server.started else 2


def _listen(host: str, port: int) -> list[socket.socket]:
    """Sockets on every address of the host. Raises `UsageError` if it has none that is free."""
    listeners = []
    failure: OSError | None = None
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            # With the protocol named: asyncio sends small answers without delay (TCP_NODELAY) only then.
            listener = socket.socket(family, kind, protocol)
            try:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                listener.bind(address)
                listener.listen(_BACKLOG)
                listeners.append(listener)
            except OSError as error:
                listener.close()
                failure = error
                if error.errno != errno.EADDRNOTAVAIL:
                    break
    except OSError as error:
        failure = error
    if failure is not None and (not listeners or failure.errno != errno.EADDRNOTAVAIL):
        for listener in listeners:
            listener.close()
        reason = failure.strerror if isinstance(failure, socket.gaierror) else os.strerror(failure.errno or 0)
        raise UsageError(f"--host {host} --port {port}: cannot listen there: {reason}")
    return listeners


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
