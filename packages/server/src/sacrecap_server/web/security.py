"""Around every request: who it is meant for, how much it may send, and the headers of the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from fastapi.exceptions import HTTPException
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sacrecap_server.errors import Refused
from sacrecap_server.log import LogMiddleware
from sacrecap_server.settings import ServerSettings
from sacrecap_server.store.database import unstorable
from sacrecap_server.web.faults import FaultsMiddleware

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""A page that shows images of other sites, or that a crowd platform frames, sets a policy of its own: see `policy`."""
_NO_FRAME = "frame-ancestors 'none'"


def policy(*, images: str | None = None, platforms: Sequence[str] = ()) -> str:
    """The policy of a page with images of another origin, or that platforms frame and take forms of."""
    text = CONTENT_SECURITY_POLICY
    if images is not None:
        text = text.replace("img-src", f"img-src {images}")
    if platforms:
        hosts = " ".join(platforms)
        text = text.replace("form-action 'self'", f"form-action 'self' {hosts}")
        text = text.replace(_NO_FRAME, f"frame-ancestors {hosts}")
    return text


_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


_ANY_HOST = frozenset({"/healthz"})
"""For programs beside the server, which call it by whatever name their network gives it."""
_FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
_FIELDS_LIMIT = 256 * 1024
"""Bytes of a form without files: each of its fields becomes an object in memory, however small."""


def surround(
    app: Starlette,
    settings: ServerSettings,
    answer: Callable[[Request, Exception], Response],
    *,
    limits_addresses: bool = True,
) -> None:
    """Puts around an application what each has: the log, then these rules, then words for what nobody has caught."""
    limit = settings.upload_limit * 2**20
    app.add_middleware(FaultsMiddleware, answer=answer)
    app.add_middleware(SecurityMiddleware, hosts=settings.hosts, upload_limit=limit, secure=settings.secure)
    app.add_middleware(LogMiddleware, limits_addresses=limits_addresses)


class SecurityMiddleware:
    """Refuses foreign hosts, large bodies and characters that no database stores; adds the security headers."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], upload_limit: int, secure: bool) -> None:
        self.app = app
        self.hosts = hosts
        self.upload_limit = upload_limit
        headers = {**_HEADERS, **({"strict-transport-security": "max-age=31536000"} if secure else {})}
        self.headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = {name.lower(): value for name, value in message["headers"]}
                added = [header for header in self.headers if header[0] not in headers]
                if _NO_FRAME.encode() not in headers.get(b"content-security-policy", _NO_FRAME.encode()):
                    # It names hosts, which this older header cannot; browsers would obey the stricter of the two.
                    added = [header for header in added if header[0] != b"x-frame-options"]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name, _, port = host.rpartition(":")
        if (name if name and port.isdigit() else host).lower() not in self.hosts and scope["path"] not in _ANY_HOST:
            await _refuse(send_protected, 421, "This server is not known by that host name; see --public-url.")
            return
        if problem := _problem_of_text(scope, headers):
            await _refuse(send_protected, 400, problem)
            return
        limit = self.upload_limit
        if headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            limit = min(limit, _FIELDS_LIMIT)
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > limit:  # the beginning of a longer number is too large, too
            await _refuse(send_protected, 413, _too_large(limit))
        else:
            await self.app(scope, self._counted(receive, limit), send_protected)

    def _counted(self, receive: Receive, limit: int) -> Receive:
        """Bodies that do not say how long they are."""
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise HTTPException(413, _too_large(limit))
            return message

        return counted


def _problem_of_text(scope: Scope, headers: Headers) -> str | None:
    """What is wrong with the text around the body. The web server decodes it so that only NUL can be left."""
    if unstorable(scope["path"]) or b"%00" in scope["query_string"] or b"\0" in scope["query_string"]:
        return "The address has a NUL character (%00), which nothing here has in its name."
    if any(b"\0" in value for _, value in scope["headers"]):
        return "A header has a NUL character."
    kind, _, parameters = headers.get("content-type", "").lower().partition(";")
    charset = parameters.partition("charset=")[2].partition(";")[0].strip(' "')
    if kind.strip() in _FORMS and charset not in {"", "utf-8", "utf8"}:
        return "Forms must be sent as UTF-8."
    return None


def _too_large(limit: int) -> str:
    size = f"{limit / 2**20:.0f} MiB" if limit >= 2**20 else f"{limit / 2**10:.0f} KiB"
    return f"The request is larger than the {size} that this server takes."


async def _refuse(send: Send, status: int, message: str) -> None:
    body = json.dumps(Refused(status, message).document).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
