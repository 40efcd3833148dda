"""Runs the application on its address until it is told to end."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys

import uvicorn

from sacrecap.errors import UsageError, words_of_command_line
from sacrecap_server.app import create_app
from sacrecap_server.observability import event, log_to_stderr
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.web.connections import AnswersMiddleware, Limits

_FINISH_SECONDS = 10
_BACKLOG = 128
"""Connections that asyncio accepts before it looks at any of them: too many would use up the files meanwhile."""
_OTHER_FILES = 512
"""Files beside those of connections: the database's, uploads', jobs', and connections just accepted or closed."""


@words_of_command_line()  # an operator started it there, and no page has Python's keywords
def serve(settings: ServerSettings) -> int:
    """Serves until SIGINT or SIGTERM: then answers what is under way, puts running jobs back, and returns 0."""
    settings.check()
    log_to_stderr()
    app = create_app(settings)
    try:
        listeners = _listen(settings.host, settings.port)
    except BaseException:
        app.state.server.close()
        raise
    config = uvicorn.Config(
        AnswersMiddleware(app),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        http="httptools",
        ws="none",
        backlog=_BACKLOG,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        proxy_headers=settings.behind_proxy is not None,
        forwarded_allow_ips=settings.behind_proxy or "",
        timeout_graceful_shutdown=_FINISH_SECONDS,
        timeout_keep_alive=30,
    )
    config.load()
    limits = Limits(settings.request_seconds, _room_for(settings.connections))
    config.http_protocol_class = limits.around(config.http_protocol_class)
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


def _room_for(connections: int) -> int:
    """As many connections as wanted where the system lets this process have the files for them; else what it does."""
    try:
        import resource
    except ImportError:  # no such limit on Windows
        return connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        connections = min(connections, max(soft - _OTHER_FILES, soft // 2))
    return connections


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
