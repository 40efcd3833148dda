"""Runs the application on its address until it is told to end."""

from __future__ import annotations

import signal
import sys

import uvicorn

from capeval_server.web.app import create_app
from capeval_server.web.observability import event, log_to_stderr
from capeval_server.web.settings import ServerSettings

_FINISH_SECONDS = 10


def serve(settings: ServerSettings) -> int:
    """Serves until SIGINT or SIGTERM: then answers what is under way, puts running jobs back, and returns 0."""
    settings.check()
    log_to_stderr()
    app = create_app(settings)
    config = uvicorn.Config(
        app, host=settings.host, port=settings.port, log_config=None, access_log=False, server_header=False,
        ssl_certfile=settings.tls_certificate, ssl_keyfile=settings.tls_key,
        proxy_headers=settings.behind_proxy is not None, forwarded_allow_ips=settings.behind_proxy or "",
        timeout_graceful_shutdown=_FINISH_SECONDS, timeout_keep_alive=30, h11_max_incomplete_event_size=64 * 1024,
    )  # fmt: skip
    server = _Announcing(config, settings)
    # Once it has ended in good order, uvicorn raises the signal again, which would end this process less so.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    server.run()
    return 0 if server.started else 2


class _Announcing(uvicorn.Server):
    """Says where the server is once it listens."""

    def __init__(self, config: uvicorn.Config, settings: ServerSettings) -> None:
        super().__init__(config)
        self._settings = settings

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(sockets)  # type: ignore[arg-type]
        if self.started:
            print(f"capeval: serving {self._settings.url}/ (Ctrl-C ends it)", file=sys.stderr, flush=True)
            event("started", host=self._settings.host, port=self._settings.port)
