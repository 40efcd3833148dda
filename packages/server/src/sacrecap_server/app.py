"""`create_app(settings)`: the routes, what surrounds them, and what their errors become."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from sacrecap import __version__
from sacrecap_server import api, pages
from sacrecap_server.errors import Refused
from sacrecap_server.settings import ServerSettings
from sacrecap_server.web.context import RequestContext
from sacrecap_server.web.faults import refused_of
from sacrecap_server.web.format import STATIC
from sacrecap_server.web.routing import SignInFirst
from sacrecap_server.web.security import surround
from sacrecap_server.web.state import AppState


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
        routes=[STATIC, *(route for routes in (*pages.ROUTES, *api.ROUTES) for route in routes.routes)],
    )
    app.state.server = state
    for kind, handler in _ERRORS.items():
        app.add_exception_handler(kind, handler)
    surround(app, settings, _refused)
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.server.close()


def _sign_in_first(request: Request, error: Exception) -> Response:
    assert isinstance(error, SignInFirst)
    return error.response(request)


def _refused(request: Request, error: Exception) -> Response:
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


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = [
        f"{'.'.join(str(part) for part in item['loc'][1:]) or item['loc'][0]}: {item['msg']}" for item in error.errors()
    ]
    return _refused(request, Refused(422, "The request is not as it should be.", problems))


_ERRORS = {SignInFirst: _sign_in_first, Refused: _refused, HTTPException: _refused, RequestValidationError: _invalid}
