"""One request: who calls (the owner, by a token; an annotator, by a browser's cookie), what handlers see, and routes.

The owner shows one token: as a program in each request, or once in a browser, for a cookie. `Routes` adds no route that
does not say whose it is.
"""

from __future__ import annotations

import datetime as dt
import enum
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Security
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from sqlalchemy import delete
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import FormData

from sacrecap.errors import DataError
from sacrecap_server.errors import Refused
from sacrecap_server.settings import ServerSettings
from sacrecap_server.store.database import Database, unstorable
from sacrecap_server.store.schema import KeyValue, SignedIn, now
from sacrecap_server.studies.arrivals import ProlificSignatures
from sacrecap_server.studies.results import Counting
from sacrecap_server.web.security import RateLimit
from sacrecap_server.web.templates import ENGLISH, PACKAGE, asked_for, macros, templates

SIGNED_IN_FOR = dt.timedelta(days=14)


def new_secret() -> str:
    """256 random bits as text, for cookies and tokens."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """The hash that is stored for a random secret. Nobody can guess 256 bits, so it need not be slow."""
    return hashlib.sha256(secret.encode()).hexdigest()


def csrf_token(secret_key: str, cookie: str) -> str:
    """The CSRF token for this cookie: only our own pages can know it, and it expires with the cookie."""
    return hmac.new(secret_key.encode(), b"csrf:" + cookie.encode(), hashlib.sha256).hexdigest()


class Role(enum.IntEnum):
    """Whose a route is."""

    ANYONE = 0
    OWNER = 1


def is_token(text: str, token: str | None) -> bool:
    """Whether this is the owner's token; compared in a time that tells nothing about it."""
    return token is not None and hmac.compare_digest(digest(text), digest(token))


def sign_in(session: Session) -> str:
    """A new sign-in: the cookie's value."""
    secret = new_secret()
    session.execute(delete(SignedIn).where(SignedIn.expires < now()))
    session.add(SignedIn(token_hash=digest(secret), expires=now() + SIGNED_IN_FOR))
    return secret


class AppState:
    """Made once by `create_app`; handlers reach it as `context.state`."""

    def __init__(self, settings: ServerSettings) -> None:
        settings.check()
        self.settings = settings
        self.database = Database(settings.database)
        self.database.prepare()
        with self.database.write() as session:
            key = session.get(KeyValue, "secret_key") or KeyValue(name="secret_key", value=new_secret())
            session.add(key)
            hashed = "" if settings.owner_token is None else digest(settings.owner_token)
            row = session.get(KeyValue, "owner_token")
            if row is None or row.value != hashed:  # whoever signed in by another token is signed out
                session.execute(delete(SignedIn))
                session.merge(KeyValue(name="owner_token", value=hashed))
        self.secret_key = key.value
        # The prefix makes browsers refuse the cookie from anywhere but this host, and without HTTPS.
        self.cookie_name = "__Host-sacrecap" if settings.secure else "sacrecap"
        self.templates = templates(PACKAGE / "templates")
        self.privacy_text = ""
        """The owner's own text for /privacy."""
        if settings.privacy_file is not None:
            try:
                self.privacy_text = Path(settings.privacy_file).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise DataError(f"--privacy-file {settings.privacy_file}: cannot be read: {error}") from None
        self.sign_ins = RateLimit(60, 600)
        """Attempts to sign in, by address."""
        self.beginnings = RateLimit(60, 3600)
        """People who begin a study, by address."""
        self.prolific = ProlificSignatures()
        self.counting = Counting(self.database)

    def close(self) -> None:
        """Ends what is being counted, and lets the database go."""
        self.counting.stop()
        self.database.close()


NOTICES = {
    "saved": "Saved.",
    "study-made": "The study is made, and paused. Look at the preview, then open it.",
    "study-deleted": "The study and its answers are deleted.",
    "too-late": "That answer was not saved: it came too late, or somebody else has the question now.",
    "deleted": "Deleted.",
}
"""Messages that a redirection may show on its target page, by key."""


class RequestContext:
    """Handlers take it as a parameter: `def page(context: Context) -> Response`.

    Where it is `annotating`, the browser is whoever it is in studies, and not the owner who is signed in. A cookie of
    its own says so: signing in or out loses nobody's place. Pages in a platform's frame, where browsers keep no cookies
    of ours, have the secret in their address instead, as `pass`. Such a secret serves annotators' pages alone; a form
    of theirs carries its CSRF token.
    """

    def __init__(self, request: Request, *, annotating: bool = False) -> None:
        self.request = request
        self.state: AppState = request.app.state.server
        self.database = self.state.database
        self.settings = self.state.settings
        self.role = Role.ANYONE
        self.by_token = False
        """No cookie is involved, so no other site can have caused the request."""
        self.annotating = annotating
        self.cookie_name = f"{self.state.cookie_name}-study" if annotating else self.state.cookie_name
        password = request.query_params.get("pass", "") if annotating else ""
        is_plain = password.replace("-", "").replace("_", "").isalnum() and password.isascii()
        self.in_address = is_plain and len(password) == 43  # as `new_secret` makes them
        """Whether the secret of an annotator's browser travels in addresses, as `pass`, and not as a cookie."""
        self.cookie = password if self.in_address else request.cookies.get(self.cookie_name, "")
        self._new_cookie: str | None = None
        self.policy: str | None = None
        """The Content-Security-Policy of this answer, error pages included, where it is not everybody's."""
        self.problems: list[str] = []
        """What was wrong with a form, said by its page, which is shown again."""
        self.language = asked_for(request.headers.get("accept-language", "")) if annotating else ENGLISH
        """Of an annotator's page, the one that the browser asks for, and once it is known, that of the study."""

    def keep_in_address(self) -> None:
        """Gives the browser a secret that travels in addresses, as pages need that another site frames."""
        if not self.in_address:
            self.cookie, self._new_cookie, self.in_address = new_secret(), None, True

    @property
    def address(self) -> str:
        """The address of the client; behind a trusted proxy, the address that the proxy gives."""
        return self.request.client.host if self.request.client else ""

    @property
    def base_address(self) -> str:
        """The server's address for people: the owner's setting, or the address of this request."""
        return self.settings.url if self.settings.public_url else str(self.request.base_url).rstrip("/")

    @property
    def cookie_hash(self) -> str:
        """The value to store to recognise this browser. See `keep_cookie`."""
        return digest(self.keep_cookie())

    def keep_cookie(self) -> str:
        """The browser's cookie; a new random one where it has none, which the answer then sets."""
        if not self.cookie:
            self.cookie = self._new_cookie = new_secret()
        return self.cookie

    def set_cookie(self, value: str) -> None:
        """Replaces the browser's cookie, as signing in and out do."""
        self.cookie = self._new_cookie = value

    def csrf(self) -> str:
        """The token that this browser's forms must carry as `csrf` (or the header `X-CSRF-Token`)."""
        return csrf_token(self.state.secret_key, self.keep_cookie())

    def render(self, template: str, status: int | None = None, **values: Any) -> Response:
        """A page from `templates/`; it also sees `context`, `settings`, `language` and the macros `forms`."""
        status = status or (422 if self.problems else 200)
        shared = {"context": self, "settings": self.settings, "language": self.language, "NOTICES": NOTICES}
        shared |= macros(self.state.templates, self.language.tag)
        text = self.state.templates.get_template(template).render(**shared, **values)
        return self._answer(HTMLResponse(text, status, headers={"Cache-Control": "no-store"}))

    def redirect(self, path: str, notice: str = "") -> Response:
        """On to another page, which shows the notice: a key of `NOTICES`, so that no link can show words of its own."""
        query = f"{'&' if '?' in path else '?'}notice={quote(notice)}" if notice else ""
        return self._answer(RedirectResponse(path + query, 303))

    def _answer(self, response: Response) -> Response:
        """Adds the cookie where it is new, and the policy where it is another than everybody's."""
        if self.policy is not None:
            response.headers["Content-Security-Policy"] = self.policy
        if self._new_cookie is not None:
            response.set_cookie(
                self.cookie_name,
                self._new_cookie,
                path="/",
                httponly=True,
                samesite="lax",
                secure=self.settings.secure,
                max_age=14 * 86400,
            )
        return response


async def current_context(request: Request) -> RequestContext:
    """The context that the route's guard has opened."""
    context: RequestContext = request.state.context
    return context


Context = Annotated[RequestContext, Depends(current_context)]


F = TypeVar("F", bound=Callable[..., Any])
B = TypeVar("B", bound="Body")
_BEARER = HTTPBearer(scheme_name="token", description="The owner's token.", auto_error=False)
"""As the API's description has it; `Guard` checks it."""
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


class Guard:
    """Runs before a handler: finds the caller, then checks the role and, on pages, the CSRF token."""

    def __init__(self, role: Role, *, api: bool, annotator: bool = False) -> None:
        self.role = role
        self.api = api
        self.annotator = annotator

    async def __call__(self, request: Request) -> None:
        context = request.state.context = RequestContext(request, annotating=self.annotator)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if self.api and scheme.lower() == "bearer":
            context.by_token = is_token(token.strip(), context.settings.owner_token)
            context.role = Role.OWNER if context.by_token else Role.ANYONE
        elif context.cookie and not self.annotator:
            context.role = Role.OWNER if await run_in_threadpool(_is_signed_in, context) else Role.ANYONE
        if context.role < self.role:
            raise Refused(401, _NO_TOKEN) if self.api else SignInFirst()
        if request.method in {"GET", "HEAD"}:
            return
        # FastAPI has parsed the form, or will use what is parsed here. The API takes no forms, but files.
        is_form = not self.api and "form" in request.headers.get("content-type", "").lower()
        form = await request.form() if is_form else FormData()
        for name, value in form.multi_items():
            if unstorable(name) or unstorable(value if isinstance(value, str) else value.filename or ""):
                raise Refused(422, "A field of the form has a character that cannot be stored (NUL).")
        if not context.by_token:
            csrf = request.headers.get("x-csrf-token", form.get("csrf"))
            is_known = context.cookie and isinstance(csrf, str)
            if not is_known or not hmac.compare_digest(str(csrf).encode(), context.csrf().encode()):
                raise Refused(
                    403, "This form is out of date, or came from another site. Go back, reload the page, try again."
                )


def _is_signed_in(context: RequestContext) -> bool:
    """Whether the cookie is of a sign-in that has not ended."""
    with context.database.read() as session:
        row = session.get(SignedIn, digest(context.cookie))
        return row is not None and row.expires > now()


class NumberConvertor(IntegerConvertor):
    """The number of a row in a path: one to nine ASCII digits. Any other text leads to no page."""

    regex = "[0-9]{1,9}"


register_url_convertor("number", NumberConvertor())


class Routes(APIRouter):
    """A router whose every route says whose it is."""

    def page(self, path: str, *, role: Role, methods: tuple[str, ...] = ("GET",)) -> Callable[[F], F]:
        """A handler that answers with HTML, or with a file or a redirection; never part of the OpenAPI."""
        return self._add(path, Guard(role, api=False), methods, include_in_schema=False, response_model=None)

    def annotator_page(self, path: str, *, methods: tuple[str, ...] = ("GET",)) -> Callable[[F], F]:
        """A page of people who answer studies."""
        guard = Guard(Role.ANYONE, api=False, annotator=True)
        return self._add(path, guard, methods, include_in_schema=False, response_model=None)

    def token_page(self, path: str) -> Callable[[F], F]:
        """A page of the owner's for programs, too: they show the token."""
        return self._add(path, Guard(Role.OWNER, api=True), ("GET",), include_in_schema=False, response_model=None)

    def api(self, path: str, *, methods: tuple[str, ...] = ("GET",), **options: Any) -> Callable[[F], F]:
        """The owner's handler under `/api/v1`, which answers with a pydantic model."""
        responses = {status: {"model": ErrorBody} for status in (400, 403, 404, 413, 422, 429, 401)}
        options["responses"] = {**responses, **options.get("responses", {})}
        options["dependencies"] = [Security(_BEARER)]
        return self._add("/api/v1" + path, Guard(Role.OWNER, api=True), methods, **options)

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
