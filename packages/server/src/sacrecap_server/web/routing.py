"""Routes that cannot be added without saying whose they are."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Security
from fastapi.responses import RedirectResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor

from sacrecap_server.errors import Refused
from sacrecap_server.store.database import unstorable
from sacrecap_server.web.context import RequestContext
from sacrecap_server.web.owner import Caller, Role, by_cookie, is_token

F = TypeVar("F", bound=Callable[..., Any])
B = TypeVar("B", bound="Body")
_TOKEN = HTTPBearer(scheme_name="token", description="The owner's token.", auto_error=False)
"""As the API's description has it; `Guard` checks it."""
_SAFE = {"GET", "HEAD"}
_NO_TOKEN = "This needs the owner's token: send it as 'Authorization: Bearer TOKEN'."  # noqa: S105


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
    """A page of the owner's, asked for by somebody else."""

    def response(self, request: Request) -> RedirectResponse:
        """On to the sign-in page, and back afterwards."""
        back = request.url.path if request.method == "GET" else "/"
        return RedirectResponse(f"/sign-in?next={quote(back)}", 303)


class Guard:
    """Runs before a handler: finds the caller, then checks the role and, on pages, the CSRF token."""

    def __init__(self, role: Role, *, api: bool, annotator: bool = False) -> None:
        self.role = role
        self.api = api
        self.annotator = annotator

    async def __call__(self, request: Request) -> None:
        context = RequestContext(request)
        request.state.context = context
        if self.annotator:
            context.act_as_annotator()
        else:
            context.caller = await self._find(context)
        if context.caller.role < self.role:
            raise Refused(401, _NO_TOKEN) if self.api else SignInFirst()
        if request.method in _SAFE:
            return
        await self._check_form(request)
        if not context.caller.by_token and not (self.api and self.role is Role.ANYONE):
            await self._check_csrf(context)

    async def _find(self, context: RequestContext) -> Caller:
        scheme, _, token = context.request.headers.get("authorization", "").partition(" ")
        if self.api and scheme.lower() == "bearer":
            is_right = is_token(token.strip(), context.settings.owner_token)
            return Caller(Role.OWNER, by_token=True) if is_right else Caller()

        def of_cookie() -> Caller:
            with context.database.read() as session:
                return by_cookie(session, context.cookie)

        return await run_in_threadpool(of_cookie) if context.cookie else context.caller

    async def _check_form(self, request: Request) -> None:
        """FastAPI has parsed the form, or will use what is parsed here. The API takes no forms, but files."""
        if not self.api and _is_form(request):
            for name, value in (await request.form()).multi_items():
                if unstorable(name) or unstorable(value if isinstance(value, str) else value.filename or ""):
                    raise Refused(422, "A field of the form has a character that cannot be stored (NUL).")

    async def _check_csrf(self, context: RequestContext) -> None:
        token: object = context.request.headers.get("x-csrf-token")
        if token is None and not self.api and _is_form(context.request):
            token = (await context.request.form()).get("csrf")
        token = token.encode() if isinstance(token, str) else b""
        if not context.cookie or not hmac.compare_digest(token, context.csrf().encode()):
            raise Refused(
                403, "This form is out of date, or came from another site. Go back, reload the page, try again."
            )


def _is_form(request: Request) -> bool:
    return "form" in request.headers.get("content-type", "").lower()


class NumberConvertor(Convertor[int]):
    """The number of a row in a path: one to nine ASCII digits. Any other text leads to no page."""

    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("number", NumberConvertor())


class Routes(APIRouter):
    """A router whose every route says whose it is."""

    def page(self, path: str, *, role: Role, methods: tuple[str, ...] = ("GET",)) -> Callable[[F], F]:
        """A handler that answers with HTML, or with a file or a redirection; never part of the OpenAPI."""
        return self._add(path, Guard(role, api=False), methods, include_in_schema=False, response_model=None)

    def annotator_page(self, path: str, *, methods: tuple[str, ...] = ("GET",)) -> Callable[[F], F]:
        """A page of people who answer studies: it knows them by `RequestContext.act_as_annotator`."""
        guard = Guard(Role.ANYONE, api=False, annotator=True)
        return self._add(path, guard, methods, include_in_schema=False, response_model=None)

    def token_page(self, path: str) -> Callable[[F], F]:
        """A page of the owner's for programs, too: they show the token."""
        return self._add(path, Guard(Role.OWNER, api=True), ("GET",), include_in_schema=False, response_model=None)

    def api(self, path: str, *, role: Role, methods: tuple[str, ...] = ("GET",), **options: Any) -> Callable[[F], F]:
        """A handler under `/api/v1` that answers with a pydantic model."""
        responses = {status: {"model": ErrorBody} for status in (400, 403, 404, 413, 422, 429)}
        if role > Role.ANYONE:
            responses |= {401: {"model": ErrorBody}}
            options["dependencies"] = [Security(_TOKEN)]
        options["responses"] = {**responses, **options.get("responses", {})}
        return self._add("/api/v1" + path, Guard(role, api=True), methods, **options)

    def _add(self, path: str, guard: Guard, methods: tuple[str, ...], **options: Any) -> Callable[[F], F]:
        def add(handler: F) -> F:
            # `{study_id}` becomes `{study_id:number}`, where the handler takes a number by that name.
            types = get_type_hints(handler)
            numbered = re.sub(
                r"\{(\w+)\}", lambda match: f"{{{match[1]}:number}}" if types[match[1]] is int else match[0], path
            )
            dependencies = [Depends(guard), *options.get("dependencies", [])]
            self.add_api_route(numbered, handler, methods=list(methods), **{**options, "dependencies": dependencies})
            return handler

        return add
