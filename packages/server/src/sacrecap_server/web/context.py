"""One request, as handlers see it: who calls, the database, and how to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import quote

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from sacrecap_server.store.schema import now
from sacrecap_server.web.language import ENGLISH, asked_for, macros
from sacrecap_server.web.owner import Caller, csrf_token, digest, is_secret, new_secret

if TYPE_CHECKING:
    from sacrecap_server.web.state import AppState


R = TypeVar("R", bound=Response)


class RequestContext:
    """Handlers take it as a parameter: `def page(context: Context) -> Response`."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.state: AppState = request.app.state.server
        self.database = self.state.database
        self.settings = self.state.settings
        self.caller = Caller()
        self.cookie_name = self.state.cookie_name
        self.cookie = request.cookies.get(self.cookie_name, "")
        self._new_cookie: str | None = None
        self.annotating = False
        self.in_address = False
        """Whether the secret of an annotator's browser travels in addresses, as `pass`, and not as a cookie."""
        self.policy: str | None = None
        """The Content-Security-Policy of this answer, error pages included, where it is not everybody's."""
        self.language = ENGLISH
        """Of an annotator's page, the one that the browser asks for, and once it is known, that of the study."""

    def act_as_annotator(self) -> None:
        """From now on, the browser is whoever it is in studies, and not the owner who is signed in.

        A cookie of its own says so: signing in or out loses nobody's place. Pages in a platform's frame, where browsers
        keep no cookies of ours, have the secret in their address instead, as `pass`. Such a secret serves annotators'
        pages alone; a form of theirs carries its CSRF token.
        """
        self.cookie_name = f"{self.state.cookie_name}-study"
        self.cookie = self.request.cookies.get(self.cookie_name, "")
        self.annotating = True
        self.language = asked_for(self.request.headers.get("accept-language", ""))
        password = self.request.query_params.get("pass", "")
        self.in_address = is_secret(password)
        if self.in_address:
            self.cookie = password

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

    def render(self, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page from `templates/`; it also sees `context`, `caller` and `settings`."""
        shared = {"context": self, "caller": self.caller, "settings": self.settings, "language": self.language}
        shared |= macros(self.state.templates, self.language.tag)
        text = self.state.templates.get_template(template).render(**shared, now=now(), **values)
        return self.answer(HTMLResponse(text, status, headers={"Cache-Control": "no-store"}))

    def redirect(self, path: str, notice: str = "") -> RedirectResponse:
        """On to another page, which shows the notice: a key of `NOTICES`, so that no link can show words of its own."""
        query = f"{'&' if '?' in path else '?'}notice={quote(notice)}" if notice else ""
        return self.answer(RedirectResponse(path + query, 303))

    def download(self, text: str, name: str, media_type: str) -> PlainTextResponse:
        """A file to save, whose name is plain; kept by no cache, since the next caller may not see it."""
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return PlainTextResponse(text, media_type=media_type, headers=headers)

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


async def current_context(request: Request) -> RequestContext:
    """The context that the route's guard has opened."""
    context: RequestContext = request.state.context
    return context


Context = Annotated[RequestContext, Depends(current_context)]

__all__ = ["Context", "RequestContext", "Response"]
