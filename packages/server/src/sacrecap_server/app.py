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
from sacrecap_server.log import LogMiddleware
from sacrecap_server.settings import ServerSettings
from sacrecap_server.web.context import RequestContext
from sacrecap_server.web.faults import FaultsMiddleware, is_full, refusal
from sacrecap_server.web.routing import SignInFirst
from sacrecap_server.web.security import SecurityMiddleware
from sacrecap_server.web.state import AppState
from sacrecap_server.web.static import STATIC
from sacrecap_studies.messages import Message


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
    app.add_middleware(FaultsMiddleware, answer=_refused)
    app.add_middleware(
        SecurityMiddleware, hosts=settings.hosts, upload_limit=settings.upload_limit * 2**20, secure=settings.secure
    )
    app.add_middleware(LogMiddleware)
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.server.close()


def _sign_in_first(request: Request, error: Exception) -> Response:
    assert isinstance(error, SignInFirst)
    return error.response(request)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after else {}
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if request.url.path.startswith("/api/"):
        detail = {"status": error.status, "message": error.message, "problems": error.problems}
        return JSONResponse({"error": detail}, error.status, headers=headers)
    context = getattr(request.state, "context", None) or RequestContext(request)
    page = context.render("error.html", error.status, error=error)
    page.headers.update(headers)
    return page


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.__cause__ is not None and is_full(error.__cause__):  # an upload on its way fills a file
        return _refused(request, refusal(error.__cause__))
    texts = {404: Message("There is no such page."), 405: Message("That cannot be done here.")}
    response = _refused(request, Refused(error.status_code, texts.get(error.status_code, str(error.detail))))
    response.headers.update(error.headers or {})
    return response


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = [
        f"{'.'.join(str(part) for part in item['loc'][1:]) or item['loc'][0]}: {item['msg']}" for item in error.errors()
    ]
    return _refused(request, Refused(422, "The request is not as it should be.", problems))


_ERRORS = {SignInFirst: _sign_in_first, Refused: _refused, HTTPException: _http, RequestValidationError: _invalid}
