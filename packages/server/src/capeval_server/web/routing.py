"""Routes that cannot be added without saying who may call them."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from capeval_server.accounts.access import Caller, Role, by_cookie, by_token
from capeval_server.api.schemas import ErrorBody
from capeval_server.web.context import RequestContext
from capeval_server.web.errors import Refused, not_found

F = TypeVar("F", bound=Callable[..., Any])
_SAFE = {"GET", "HEAD"}


class SignInFirst(Exception):  # noqa: N818
    """A page that needs an account, asked for without one."""

    def response(self, request: Request) -> RedirectResponse:
        """On to the sign-in page, and back afterwards."""
        back = request.url.path if request.method == "GET" else "/"
        return RedirectResponse(f"/sign-in?next={quote(back)}", 303)


class Guard:
    """Runs before a handler: finds the caller, then checks role and, on pages, the CSRF token."""

    def __init__(self, role: Role, *, api: bool, annotator: bool = False) -> None:
        self.role = role
        self.api = api
        self.annotator = annotator

    async def __call__(self, request: Request) -> None:
        context = RequestContext(request)
        request.state.context = context
        if any(_is_beyond(value) for value in request.path_params.values()):
            raise not_found("page")
        context.caller = await run_in_threadpool(self._find, context)
        request.state.account_id = context.caller.account_id
        if self.annotator:
            context.act_as_annotator()
        if context.caller.role < self.role:
            raise self._refusal(context.caller)
        if request.method not in _SAFE and not context.caller.by_token and not (self.api and self.role is Role.ANYONE):
            await self._check_csrf(context)

    def _find(self, context: RequestContext) -> Caller:
        scheme, _, token = context.request.headers.get("authorization", "").partition(" ")
        with context.database.read() as session:
            if self.api and scheme.lower() == "bearer":
                return by_token(session, token.strip())
            return by_cookie(session, context.cookie) if context.cookie else context.caller

    def _refusal(self, caller: Caller) -> Exception:
        if caller.account_id is not None:
            return Refused(403, "This account may not do that.")
        if self.api:
            return Refused(401, "This needs an API token: send it as 'Authorization: Bearer TOKEN'.")
        return SignInFirst()

    async def _check_csrf(self, context: RequestContext) -> None:
        given: object = context.request.headers.get("x-csrf-token")
        if given is None and "form" in context.request.headers.get("content-type", ""):
            given = (await context.request.form()).get("csrf")
        if (
            not context.cookie
            or not isinstance(given, str)
            or not hmac.compare_digest(given.encode(), context.csrf().encode())
        ):
            raise Refused(
                403, "This form is out of date, or came from another site. Go back, reload the page, try again."
            )


def _is_beyond(value: object) -> bool:
    """Whether a part of the path is a number that no row can have; databases fail on those."""
    return isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) > 9


class Routes(APIRouter):
    """A router whose every route has a role; `app.state.roles` lists them for the test that walks them."""

    def page(self, path: str, *, role: Role, methods: tuple[str, ...] = ("GET",)) -> Callable[[F], F]:
        """A handler that answers with HTML, or with a file or a redirection; never part of the OpenAPI."""
        return self._add(path, Guard(role, api=False), methods, include_in_schema=False, response_model=None)

    def annotator_page(self, path: str, *, methods: tuple[str, ...] = ("GET",)) -> Callable[[F], F]:
        """A page of people who answer studies: it knows them by `RequestContext.act_as_annotator`."""
        guard = Guard(Role.ANYONE, api=False, annotator=True)
        return self._add(path, guard, methods, include_in_schema=False, response_model=None)

    def token_page(self, path: str, *, role: Role) -> Callable[[F], F]:
        """A page for programs: callers show an API token, or are signed in."""
        return self._add(path, Guard(role, api=True), ("GET",), include_in_schema=False, response_model=None)

    def api(self, path: str, *, role: Role, methods: tuple[str, ...] = ("GET",), **options: Any) -> Callable[[F], F]:
        """A handler under `/api/v1` that answers with a model of `capeval_server.api.schemas`."""
        responses = {status: {"model": ErrorBody} for status in (400, 404, 413, 422, 429)}
        if role > Role.ANYONE:
            responses |= {status: {"model": ErrorBody} for status in (401, 403)}
            options.setdefault("openapi_extra", {}).update(security=[{"token": []}])
        options["responses"] = {**responses, **options.get("responses", {})}
        return self._add("/api/v1" + path, Guard(role, api=True), methods, **options)

    def _add(self, path: str, guard: Guard, methods: tuple[str, ...], **options: Any) -> Callable[[F], F]:
        def add(handler: F) -> F:
            self.add_api_route(path, handler, methods=list(methods), dependencies=[Depends(guard)], **options)
            return handler

        return add
