"""`create_app(settings)`: the routes, what surrounds them, and what errors become; and `serve_app`, which runs it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from sacrecap import __version__
from sacrecap.errors import UsageError, words_of_command_line
from sacrecap_server import api
from sacrecap_server.errors import Refused
from sacrecap_server.log import event, log_to_stderr
from sacrecap_server.pages import annotate, owner
from sacrecap_server.settings import ServerSettings
from sacrecap_server.web.context import AppState, RequestContext, SignInFirst
from sacrecap_server.web.security import Surrounding, refused_of
from sacrecap_server.web.templates import STATIC


def create_app(settings: ServerSettings) -> FastAPI:
    """The ASGI application of studies. Opens the database."""
    state = AppState(settings)
    app = FastAPI(
        title="sacrecap server",
        version=__version__,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        # As they are: `include_router` would build each of them again, at the first request that looks for it.
        routes=[STATIC, *owner.routes.routes, *annotate.routes.routes, *api.routes.routes],
    )
    app.state.server = state
    for kind in (SignInFirst, Refused, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _refused)
    app.add_middleware(Surrounding, settings=settings, answer=_refused)
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.server.close()


def _refused(request: Request, error: Exception) -> Response:
    if isinstance(error, SignInFirst):  # and back afterwards
        back = request.url.path if request.method == "GET" else "/"
        return RedirectResponse(f"/sign-in?next={quote(back)}", 303)
    if isinstance(error, RequestValidationError):
        places = [".".join(map(str, item["loc"][1:])) or item["loc"][0] for item in error.errors()]
        problems = [f"{place}: {item['msg']}" for place, item in zip(places, error.errors(), strict=True)]
        error = Refused(422, "The request is not as it should be.", problems)
    refused = refused_of(error)
    headers = {"Retry-After": str(refused.retry_after)} if refused.retry_after else {}
    if refused.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, HTTPException):
        headers |= error.headers or {}
    if request.url.path.startswith("/api/"):
        return JSONResponse(refused.document, refused.status, headers=headers)
    context = getattr(request.state, "context", None) or RequestContext(request)
    page = context.render("error.html", refused.status, error=refused)
    page.headers.update(headers)
    return page


_BACKLOG = 128


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
        timeout_graceful_shutdown=10,
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
