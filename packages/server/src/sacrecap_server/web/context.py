"""One request, as handlers see it: who calls, the database, and how to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import quote

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from sacrecap_server.accounts.access import NOBODY, Caller, csrf_token
from sacrecap_server.accounts.passwords import digest, new_secret
from sacrecap_server.boards.board_cache import KeptAnswer
from sacrecap_server.store.models import AuditEntry, now
from sacrecap_server.web.language import ENGLISH, asked_for, macros

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from sacrecap_server.web.state import AppState


R = TypeVar("R", bound=Response)
_SECRET = len(new_secret())
_VARY = "Accept-Language, Authorization, Cookie"


class RequestContext:
    """Handlers take it as a parameter: `def page(context: Context) -> Response`."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.state: AppState = request.app.state.server
        self.database = self.state.database
        self.settings = self.state.settings
        self.caller: Caller = NOBODY
        self.cookie_name = self.state.cookie_name
        self.cookie = request.cookies.get(self.cookie_name, "")
        self._new_cookie: str | None = None
        self.annotating = False
        self.in_address = False
        """Whether the secret of an annotator's browser travels in addresses, as `pass`, and not as a cookie."""
        self.policy: str | None = None
        """The Content-Security-Policy of this answer, error pages included, where it is not everybody's."""
        self.language = asked_for(request.headers.get("accept-language", ""))
        """The language that the browser asks for; of an annotator's page, that of its study."""

    def act_as_annotator(self) -> None:
        """From now on, the browser is whoever it is in studies, and not the account that is signed in.

        A cookie of its own says so: signing in or out loses nobody's place, and no hash links answers with an account.
        Pages in a platform's frame, where browsers keep no cookies of ours, have the secret in their address instead,
        as `pass`. Such a secret serves annotators' pages alone; a form of theirs carries its CSRF token.
        """
        self.annotating = True
        self.cookie_name = self.state.annotator_cookie_name
        given = self.request.query_params.get("pass", "")
        self.in_address = _is_secret(given)
        self.cookie = given if self.in_address else self.request.cookies.get(self.cookie_name, "")

    def keep_in_address(self) -> None:
        """Gives the browser a secret that travels in addresses, as pages need that another site frames."""
        if not self.in_address:
            self.cookie, self._new_cookie, self.in_address = new_secret(), None, True

    @property
    def address(self) -> str:
        """The address of the client; behind a trusted proxy, the address that the proxy gives."""
        return self.request.client.host if self.request.client else ""

    @property
    def cookie_hash(self) -> str:
        """The value to store to recognise this browser, for pages that need no account. See `keep_cookie`."""
        return digest(self.keep_cookie())

    def keep_cookie(self) -> str:
        """The browser's cookie; a new random one where it has none, which the answer then sets."""
        if not self.cookie:
            self.cookie = self._new_cookie = new_secret()
        return self.cookie

    def set_cookie(self, value: str) -> None:
        """Replaces the browser's cookie, as signing in and out do."""
        self.cookie = self._new_cookie = value

    def forget_cookies(self) -> None:
        """Makes the browser a new one, as after signing out."""
        self.request.cookies.clear()
        self.cookie = ""
        self.keep_cookie()

    def csrf(self) -> str:
        """The token that this browser's forms must carry as `csrf` (or the header `X-CSRF-Token`)."""
        return csrf_token(self.state.secret_key, self.keep_cookie())

    def render(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page from `templates/`; it also sees `context`, `caller` and `settings`."""
        return self.answer(HTMLResponse(self._text(template, values), status, headers={"Cache-Control": "no-store"}))

    def redirect(self, path: str, notice: str = "") -> RedirectResponse:
        """On to another page, which shows the notice: a key of `NOTICES`, so that no link can show words of its own."""
        query = f"{'&' if '?' in path else '?'}notice={quote(notice)}" if notice else ""
        return self.answer(RedirectResponse(path + query, 303))

    def download(self, text: str, name: str, media_type: str) -> PlainTextResponse:
        """A file to save; kept by no cache, since the next caller may not see it."""
        return PlainTextResponse(text, media_type=media_type, headers=self.attachment(name))

    @staticmethod
    def attachment(name: str) -> dict[str, str]:
        """The headers of a file to save, whose name is plain; kept by no cache."""
        return {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}

    def page(self, template: str, **values: Any) -> KeptAnswer:
        """The same page as text, to be kept and sent with `unchanged_or`."""
        return KeptAnswer.of(self._text(template, values))

    def _text(self, template: str, values: dict[str, Any]) -> str:
        asked = self.state.templates.get_template(template)
        language = self.language if self.annotating or template in self.state.translated else ENGLISH
        shared = {"context": self, "caller": self.caller, "settings": self.settings, "language": language}
        return asked.render(**shared, **macros(self.state.templates, language.tag), now=now(), **values)

    @property
    def is_plain(self) -> bool:
        """Whether the request could be anybody's, so that its page can be kept: no cookie, and no notice to show."""
        return not self.cookie and self.caller.account_id is None and "notice" not in self.request.query_params

    def unchanged_or(self, body: KeptAnswer, media_type: str, **headers: str) -> Response:
        """The body with its tag; 304 where the caller has it already. Whoever keeps it asks each time."""
        headers = {"ETag": body.etag, "Cache-Control": "private, no-cache", "Vary": _VARY, **headers}
        given = self.request.headers.get("if-none-match", "")
        if body.etag in (tag.strip().removeprefix("W/") for tag in given.split(",")) or given.strip() == "*":
            return self.answer(Response(status_code=304, headers=headers))
        return self.answer(Response(body.data, media_type=media_type, headers=headers))

    def answer(self, response: R) -> R:
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

    def audit(self, session: Session, action: str, subject: str) -> None:
        """Notes, in the same transaction, what the caller did: `audit(session, "benchmark.made", slug)`."""
        session.add(
            AuditEntry(
                at=now(), account_id=self.caller.account_id, address=self.address, action=action, subject=subject[:500]
            )
        )


def _is_secret(text: str) -> bool:
    """Whether this has the form of `new_secret`."""
    return len(text) == _SECRET and text.replace("-", "").replace("_", "").isalnum() and text.isascii()


async def current_context(request: Request) -> RequestContext:
    """The context that the route's guard has opened."""
    context: RequestContext = request.state.context
    return context


Context = Annotated[RequestContext, Depends(current_context)]

__all__ = ["Context", "RequestContext", "Response"]
