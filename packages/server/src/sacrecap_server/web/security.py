"""Around every request: who it is meant for, how much it may send, the headers of the answer, its line in the log, and
words for what nobody has caught, which never have its own text, since that may hold people's data. And rate limits.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import urlsplit

from fastapi.exceptions import HTTPException
from sqlalchemy.exc import DatabaseError, DataError, DBAPIError, IntegrityError, InterfaceError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette import types
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException as PlainHTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sacrecap_server.errors import Refused
from sacrecap_server.log import error_fields, event, log
from sacrecap_server.settings import ServerSettings
from sacrecap_server.store.database import unstorable
from sacrecap_studies.messages import Message

_AWAY = ("is locked", "is busy", "unable to open", "disk i/o error", "readonly", "not a database", "malformed")


def refusal(error: BaseException) -> Refused:
    """The answer to a request that failed so: 507 for a full disk, 503 for files that are away, 500 for a bug."""
    if _is_full(error):
        return Refused(507, "The server has no space left, and nothing was saved. Try again later.", retry_after=60)
    # SQLite calls a mistake in a statement "operational" too.
    is_away = isinstance(error, DatabaseError) and any(words in str(error.orig).lower() for words in _AWAY)
    if is_away or isinstance(error, (NoConnectionError, InterfaceError)):
        return Refused(
            503, "The database does not answer now, and nothing was saved. Try again in a few seconds.", retry_after=5
        )
    if isinstance(error, IntegrityError):
        return Refused(409, "Somebody changed the same thing at this moment, and nothing was saved. Please try again.")
    if isinstance(error, (DataError, UnicodeError)):
        return Refused(422, "A text or a number of this request cannot be stored.")
    if isinstance(error, ClientDisconnect):
        return Refused(400, "The request ended before it was complete.")
    if not isinstance(error, OSError):
        return Refused(500, "Something unexpected happened.")
    return Refused(503, "The server cannot use its files now. Try again later.", retry_after=60)


def refused_of(error: Exception) -> Refused:
    """The refusal that an exception of a handler or of the framework is."""
    if isinstance(error, Refused):
        return error
    assert isinstance(error, PlainHTTPException)
    if error.__cause__ is not None and _is_full(error.__cause__):  # an upload on its way fills a file
        return refusal(error.__cause__)
    texts = {404: Message("There is no such page."), 405: Message("That cannot be done here.")}
    return Refused(error.status_code, texts.get(error.status_code, str(error.detail)))


def _is_full(error: BaseException) -> bool:
    """Whether there is no space left, for the database or for uploads on their way."""
    if isinstance(error, DBAPIError):
        return "is full" in str(error.orig)
    return isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""A page that shows images of other sites, or that a crowd platform frames, sets a policy of its own: see `policy`."""
_NO_FRAME = "frame-ancestors 'none'"


def policy(images: Iterable[str | None], platforms: Sequence[str] = ()) -> str:
    """The policy of a page with images at these addresses, or kept here, which platforms frame and take forms of."""
    text = CONTENT_SECURITY_POLICY
    if origins := {f"{url.scheme}://{url.netloc}" for url in map(urlsplit, filter(None, images))}:
        text = text.replace("img-src", f"img-src {' '.join(sorted(origins))}")
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


class Surrounding:
    """Refuses foreign hosts, large bodies and characters that no database stores; answers what nobody has caught.

    It adds the security headers, and logs every request under its route's path, not the path asked for, which strangers
    choose. HEAD is answered as GET without the body, for every route. An exception that reached the web server would be
    logged with its text. An application that `limits_addresses` is told of a proxy that the settings do not name.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ServerSettings,
        answer: Callable[[Request, Exception], Response],
        limits_addresses: bool = True,
    ) -> None:
        self.app = app
        self.answer = answer
        self._knows_proxy = limits_addresses
        self._hosts = settings.hosts
        self._upload_limit = settings.upload_limit * 2**20
        headers = {**_HEADERS, **({"strict-transport-security": "max-age=31536000"} if settings.secure else {})}
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status, number, method = time.perf_counter(), 0, os.urandom(6).hex(), scope["method"]

        async def send_protected(message: types.Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = [*self._added(message["headers"]), (b"x-request-id", number.encode())]
                message["headers"] = [*message["headers"], *added]
            elif method == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        # The web server keeps its own scope: it counts the bytes of a body only where the method has one.
        inner = {**scope, "method": "GET"} if method == "HEAD" else scope
        inner.setdefault("state", {})["request_id"] = number
        headers = Headers(scope=scope)
        limit = self._upload_limit
        if headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            limit = min(limit, 256 * 1024)  # each of its fields becomes an object in memory, however small
        try:
            refused, message = self._problem(scope, headers, limit) or (0, "")
            if refused:
                document = Refused(refused, message).document
                await JSONResponse(document, refused, {"connection": "close"})(scope, receive, send_protected)
            else:
                await self.app(inner, _counted(receive, limit), send_protected)
        except Exception as error:  # noqa: BLE001  (whatever it is, the server goes on)
            refused_so = refusal(error)
            _log(inner, refused_so.status, error)
            if not status:  # else the web server cuts the connection, which tells that the answer is not whole
                await self._response(inner, refused_so)(inner, receive, send_protected)
        finally:
            self._warn_of_proxy(inner)
            if not scope["path"].startswith("/static/") or status >= 400:  # one line for a page is enough
                matched = inner.get("route")
                event(
                    "request",
                    id=number,
                    method=method if method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} else "OTHER",
                    route=matched.path_format if isinstance(matched, Route) else "(none)",
                    status=status or 500,
                    ms=round((time.perf_counter() - started) * 1000, 1),
                )

    def _added(self, headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """The security headers that an answer with these lacks."""
        there = {name.lower(): value for name, value in headers}
        added = [header for header in self._headers if header[0] not in there]
        if _NO_FRAME.encode() not in there.get(b"content-security-policy", _NO_FRAME.encode()):
            # It names hosts, which this older header cannot; browsers would obey the stricter of the two.
            added = [header for header in added if header[0] != b"x-frame-options"]
        return added

    def _problem(self, scope: Scope, headers: Headers, limit: int) -> tuple[int, str] | None:
        """What is wrong around the body. The web server decodes this text so that only NUL can be left."""
        host = headers.get("host", "")
        name, _, port = host.rpartition(":")
        # Programs beside the server call /healthz by whatever name their network gives it.
        if (name if name and port.isdigit() else host).lower() not in self._hosts and scope["path"] != "/healthz":
            return 421, "This server is not known by that host name; see --public-url."
        if unstorable(scope["path"]) or b"%00" in scope["query_string"] or b"\0" in scope["query_string"]:
            return 400, "The address has a NUL character (%00), which nothing here has in its name."
        if any(b"\0" in value for _, value in scope["headers"]):
            return 400, "A header has a NUL character."
        kind, _, parameters = headers.get("content-type", "").lower().partition(";")
        charset = parameters.partition("charset=")[2].partition(";")[0].strip(' "')
        is_form = kind.strip() in {"application/x-www-form-urlencoded", "multipart/form-data"}
        if is_form and charset not in {"", "utf-8", "utf8"}:
            return 400, "Forms must be sent as UTF-8."
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > limit:  # the beginning of a longer number is too large, too
            return 413, _too_large(limit)
        return None

    def _response(self, scope: Scope, refused: Refused) -> Response:
        if refused.status == 500:
            id = scope["state"]["request_id"]
            refused = Refused(500, "Something unexpected happened. Report it with the number %(number)s.", number=id)
        try:
            return self.answer(Request(scope), refused)
        except Exception as error:  # noqa: BLE001  (the page that says so may be what is broken)
            _log(scope, 500, error)
            return Response(f"{refused.message}\n", refused.status, media_type="text/plain")

    def _warn_of_proxy(self, scope: Scope) -> None:
        """Says once that a proxy is not the one of the settings: to the limits, all people behind it are one."""
        forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for").decode("latin1")
        # uvicorn takes the caller's address from there, if the proxy is that of the settings.
        if self._knows_proxy and forwarded and scope["client"] and scope["client"][0] not in forwarded:
            self._knows_proxy = False
            remedy = "Requests come through a proxy that --behind-proxy does not name: all people share its limits."
            log.warning("unknown proxy", extra={"fields": {"remedy": remedy}})


def _log(scope: Scope, status: int, error: Exception) -> None:
    fields = {"id": scope["state"]["request_id"], "status": status, **error_fields(error)}
    if status in (503, 507):  # an outage, not a bug
        log.warning("outage", extra={"fields": fields})
    elif status != 400:
        log.error("error", extra={"fields": fields})


def _counted(receive: Receive, limit: int) -> Receive:
    """Bodies that do not say how long they are."""
    received = 0

    async def counted() -> types.Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise HTTPException(413, _too_large(limit))
        return message

    return counted


def _too_large(limit: int) -> str:
    size = f"{limit / 2**20:.0f} MiB" if limit >= 2**20 else f"{limit / 2**10:.0f} KiB"
    return f"The request is larger than the {size} that this server takes."


class RateLimit:
    """At most `times` in `seconds`, which begin with the first of them; each key has a count of its own."""

    def __init__(self, times: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.times, self.seconds, self.clock = times, seconds, clock
        self._lock = threading.Lock()
        self._counts: dict[str, tuple[float, int]] = {}
        """By key: when its time ends, and how many there were."""

    def take(self, key: str) -> None:
        """Counts one; raises `Refused` (429, with the time to wait) beyond the limit."""
        moment = self.clock()
        with self._lock:
            if len(self._counts) > 10_000:  # those whose time is over are forgotten
                self._counts = {key: counted for key, counted in self._counts.items() if counted[0] > moment}
            ends, count = self._counts.get(key, (0.0, 0))
            if ends <= moment:
                ends, count = moment + self.seconds, 0
            if count < self.times:
                self._counts[key] = ends, count + 1
                return
        wait = int(ends - moment) + 1
        time_left = Message("%(number)s seconds", number=wait)
        if wait >= 120:
            time_left = Message("%(number)s minutes", number=-(-wait // 60))
        raise Refused(429, "Too many attempts. Try again in %(time)s.", retry_after=wait, time=time_left)


def neighbourhood(address: str) -> str:
    """The address, or the network of an IPv6 address: one customer has 2**64 of those."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(ipaddress.IPv6Network((int(parsed), 64), strict=False))
