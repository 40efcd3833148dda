"""Turns failures into a status and a message. Never shows their own text, which may hold people's data."""

from __future__ import annotations

import errno
from collections.abc import Callable

from fastapi import Request, Response
from sqlalchemy.exc import DatabaseError, DataError, DBAPIError, IntegrityError, InterfaceError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette import types
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from sacrecap_server.errors import Refused
from sacrecap_server.log import error_fields, log
from sacrecap_studies.messages import Message

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_AWAY = ("is locked", "is busy", "unable to open", "disk i/o error", "readonly", "not a database", "malformed")


def refusal(error: BaseException) -> Refused:
    """The answer to a request that failed so: 507 for a full disk, 503 for files that are away, 500 for a bug."""
    if is_full(error):
        return Refused(507, "The server has no space left, and nothing was saved. Try again later.", retry_after=60)
    if is_away(error):
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
    assert isinstance(error, HTTPException)
    if error.__cause__ is not None and is_full(error.__cause__):  # an upload on its way fills a file
        return refusal(error.__cause__)
    texts = {404: Message("There is no such page."), 405: Message("That cannot be done here.")}
    return Refused(error.status_code, texts.get(error.status_code, str(error.detail)))


def is_full(error: BaseException) -> bool:
    """Whether there is no space left, for the database or for uploads on their way."""
    if isinstance(error, DBAPIError):
        return "is full" in str(error.orig)
    return isinstance(error, OSError) and error.errno in _NO_SPACE


def is_away(error: BaseException) -> bool:
    """Whether the database cannot be reached, is locked, or takes nothing now: another try may succeed."""
    if isinstance(error, (NoConnectionError, InterfaceError)):
        return True
    # SQLite calls a mistake in a statement "operational" too.
    return isinstance(error, DatabaseError) and any(words in str(error.orig).lower() for words in _AWAY)


class FaultsMiddleware:
    """Handles exceptions that nothing else has caught, and logs their type and place.

    Innermost: an exception that reached the web server would be logged with its text, and its page would lack what
    the middleware around this one adds.
    """

    def __init__(self, app: ASGIApp, *, answer: Callable[[Request, Refused], Response]) -> None:
        self.app = app
        self.answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def noticed(message: types.Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, noticed)
        except Exception as error:  # noqa: BLE001  (whatever it is, the server goes on)
            refused = refusal(error)
            self._log(scope, refused.status, error)
            if not begun:  # else the web server cuts the connection, which tells that the answer is not whole
                await self._response(scope, refused)(scope, receive, send)

    def _response(self, scope: Scope, refused: Refused) -> Response:
        if refused.status == 500:
            number = scope.get("state", {}).get("request_id", "")
            refused = Refused(
                500, "Something unexpected happened. Report it with the number %(number)s.", number=number
            )
        try:
            return self.answer(Request(scope), refused)
        except Exception as error:  # noqa: BLE001  (the page that says so may be what is broken)
            self._log(scope, 500, error)
            return Response(f"{refused.message}\n", refused.status, media_type="text/plain")

    @staticmethod
    def _log(scope: Scope, status: int, error: Exception) -> None:
        fields = {"id": scope.get("state", {}).get("request_id", ""), "status": status, **error_fields(error)}
        if status in (503, 507):  # an outage, not a bug
            log.warning("outage", extra={"fields": fields})
        elif status != 400:
            log.error("error", extra={"fields": fields})
