"""Routes that cannot be added without saying who may call them."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor

from sacrecap_server.accounts.access import Caller, Role, by_cookie, by_token, note_use
from sacrecap_server.errors import Refused
from sacrecap_server.store.database import unstorable
from sacrecap_server.web.context import RequestContext

F = TypeVar("F", bound=Callable[..., Any])
B = TypeVar("B", bound="Body")
_SAFE = {"GET", "HEAD"}


class Body(BaseModel):
    """The JSON of an answer."""

    @classmethod
    def of(cls: type[B], source: object, **more: Any) -> B:
        """The body with these fields, and the others as attributes of `source` have them."""
        return cls(**{name: getattr(source, name) for name in cls.model_fields if name not in more}, **more)


class ErrorDetail(BaseModel):
    """An error: the HTTP status, one sentence, and the list of problems if there are several."""

    status: int
    message: str
    problems: list[str]


class ErrorBody(BaseModel):
    """The one shape of every error."""

    error: ErrorDetail


class SignInFirst(Exception):  # noqa: N818
    """A page that needs an account, asked for without one."""

    def response(self, request: Request) -> RedirectResponse:
        """On to the sign-in page, and back afterwards."""
        back = request.url.path if request.method == "GET" else "/"
        return RedirectResponse(f"/sign-in?next={quote(back)}", 303)


class Guard:
    """Runs before a handler: finds the caller, then checks role and, on pages, the CSRF token."""

    def __init__(
        self, role: Role, *, api: bool, scope: str = "read", always: bool = False, annotator: bool = False
    ) -> None:
        self.role = role
        self.api = api
        self.scope = scope
        self.always = always
        self.annotator = annotator

    async def __call__(self, request: Request) -> None:
        context = RequestContext(request)
        request.state.context = context
        context.caller = await self._find(context)
        request.state.account_id = context.caller.account_id
        if self.annotator:
            context.act_as_annotator()
        if context.caller.role < self.role:
            raise self._refusal(context.caller)
        if context.caller.by_token and self.scope not in context.caller.scopes:
            raise Refused(403, "This API token does not allow that; it needs the scope %(scope)s.", scope=self.scope)
        if request.method in _SAFE:
            return
        if self.role > Role.ANYONE and not self.always and context.caller.obstacle:
            raise Refused(403, context.caller.obstacle)
        await self._check_form(request)
        if not context.caller.by_token and not (self.api and self.role is Role.ANYONE):
            await self._check_csrf(context)

    async def _find(self, context: RequestContext) -> Caller:
        scheme, _, token = context.request.headers.get("authorization", "").partition(" ")
        if self.api and scheme.lower() == "bearer":
            return await run_in_threadpool(_by_token, context, token.strip())
        if not context.cookie:
            return context.caller
        return await run_in_threadpool(_by_cookie, context)

    def _refusal(self, caller: Caller) -> Exception:
        if caller.account_id is not None:
            return Refused(403, "This account may not do that.")
        if self.api:
            return Refused(401, "This needs an API token: send it as 'Authorization: Bearer TOKEN'.")
        return SignInFirst()

    async def _check_form(self, request: Request) -> None:
        """FastAPI has parsed the form, or will use what is parsed here. The API takes no forms, but files."""
        if not self.api and _is_form(request):
            for name, value in (await request.form()).multi_items():
                if unstorable(name) or unstorable(value if isinstance(value, str) else value.filename or ""):
                    raise Refused(422, "A field of the form has a character that cannot be stored (NUL).")

    async def _check_csrf(self, context: RequestContext) -> None:
        given: object = context.request.headers.get("x-csrf-token")
        if given is None and not self.api and _is_form(context.request):
            given = (await context.request.form()).get("csrf")
        given = given.encode() if isinstance(given, str) else b""
        if not context.cookie or not hmac.compare_digest(given, context.csrf().encode()):
            raise Refused(
                403, "This form is out of date, or came from another site. Go back, reload the page, try again."
            )


def _is_form(request: Request) -> bool:
    return "form" in request.headers.get("content-type", "").lower()


def _by_cookie(context: RequestContext) -> Caller:
    with context.database.read() as session:
        return by_cookie(session, context.cookie)


def _by_token(context: RequestContext, token: str) -> Caller:
    with context.database.read() as session:
        caller = by_token(session, token)
    if caller.token_id is not None and not caller.token_noted:
        with context.database.write() as session:
            note_use(session, caller.token_id)
    return caller


class NumberConvertor(Convertor[int]):
    """The number of a row in a path: one to nine ASCII digits. Any other text leads to no page."""

    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("number", NumberConvertor())


def _numbered(path: str, handler: Callable[..., Any]) -> str:
    """The path with `{study_id}` as `{study_id:number}`, where the handler takes a number by that name."""
    types = get_type_hints(handler)
    return re.sub(r"\{(\w+)\}", lambda found: f"{{{found[1]}:number}}" if types[found[1]] is int else found[0], path)


class Routes(APIRouter):
    """A router whose every route has a role; `app.state.roles` lists them for the test that walks them."""

    def page(
        self, path: str, *, role: Role, methods: tuple[str, ...] = ("GET",), always: bool = False
    ) -> Callable[[F], F]:
        """A handler that answers with HTML, or with a file or a redirection; never part of the OpenAPI.

        `always`: also what changes something is for accounts with an obstacle, such as an address not confirmed.
        """
        guard = Guard(role, api=False, always=always)
        return self._add(path, guard, methods, include_in_schema=False, response_model=None)

    def annotator_page(self, path: str, *, methods: tuple[str, ...] = ("GET",)) -> Callable[[F], F]:
        """A page of people who answer studies: it knows them by `RequestContext.act_as_annotator`."""
        guard = Guard(Role.ANYONE, api=False, annotator=True)
        return self._add(path, guard, methods, include_in_schema=False, response_model=None)

    def token_page(self, path: str, *, role: Role, scope: str) -> Callable[[F], F]:
        """A page for programs: callers show an API token with the scope, or are signed in."""
        guard = Guard(role, api=True, scope=scope)
        return self._add(path, guard, ("GET",), include_in_schema=False, response_model=None)

    def api(
        self, path: str, *, role: Role, methods: tuple[str, ...] = ("GET",), scope: str | None = None, **options: Any
    ) -> Callable[[F], F]:
        """A handler under `/api/v1` that answers with a model of `sacrecap_server.api.v1`.

        API tokens need the scope: `studies` below `/studies`; else `read` to read, `submit` to change something.
        """
        if scope is None:
            scope = "studies" if path.startswith("/studies") else "read" if set(methods) <= _SAFE else "submit"
        responses = {status: {"model": ErrorBody} for status in (400, 404, 413, 422, 429)}
        responses |= {403: {"model": ErrorBody}}
        if role > Role.ANYONE:
            responses |= {401: {"model": ErrorBody}}
            options.setdefault("openapi_extra", {}).update(security=[{"token": []}])
        options["responses"] = {**responses, **options.get("responses", {})}
        return self._add("/api/v1" + path, Guard(role, api=True, scope=scope), methods, **options)

    def _add(self, path: str, guard: Guard, methods: tuple[str, ...], **options: Any) -> Callable[[F], F]:
        def add(handler: F) -> F:
            self.add_api_route(
                _numbered(path, handler), handler, methods=list(methods), dependencies=[Depends(guard)], **options
            )
            return handler

        return add
