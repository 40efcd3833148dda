"""How people come to a study: links that say who comes, and how whoever answers is known when they come back.

Links are signed by the server or by Prolific, which adds `prolific_token` to the study's address: a JSON Web Token with
the participant, the study and the session, for this very address (https://docs.prolific.com, *Retrieve JSON Web Key
Set*). It publishes the keys to check them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import threading
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import urlencode, urlsplit

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from sacrecap_server.store.schema import Annotator, Study

PLATFORMS = {"prolific": "Prolific", "mturk": "Mechanical Turk"}
MTURK_FRAMES = "https://*.mturk.com"
"""What shows a study made for Mechanical Turk in its frame: pages of workers, of requesters, of the sandbox."""
_MTURK_SUBMIT = re.compile(r"https://(www|workersandbox|worker|sandbox)\.mturk\.com")


def platform_key(secret_key: str, code: str) -> str:
    """The part of a platform's link that makes its worker ids count: not to be had from the open link."""
    return _sign(secret_key, f"link:{code}")


def personal_signature(secret_key: str, code: str, worker: str) -> str:
    """The part of a personal link that proves this worker id."""
    return _sign(secret_key, f"worker:{code}:{worker}")


def place_mark(secret_key: str, code: str, address: str) -> str:
    """What people of one study have in common who began at one internet address; it tells nothing of the address."""
    return _sign(secret_key, f"place:{code}:{address}")


def is_right(password: str, expected: str) -> bool:
    """Whether a key or signature is the right one; compared in a time that tells nothing about it."""
    return hmac.compare_digest(password.encode(), expected.encode())


def _sign(secret_key: str, what: str) -> str:
    return hmac.new(secret_key.encode(), what.encode(), hashlib.sha256).hexdigest()[:32]


def open_link(base: str, code: str) -> str:
    """The address for anybody; `base` is the server's."""
    return f"{base}/s/{code}"


def personal_link(base: str, secret_key: str, code: str, worker: str) -> str:
    """The address for one person, on any of their devices."""
    query = {"worker": worker, "sig": personal_signature(secret_key, code, worker)}
    return f"{open_link(base, code)}?{urlencode(query)}"


def platform_link(base: str, secret_key: str, code: str, platform: str) -> str:
    """The address to give a platform, with what it replaces; Mechanical Turk adds its parameters by itself."""
    link = f"{open_link(base, code)}?key={platform_key(secret_key, code)}"
    names = {
        "prolific": "&PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        "mturk": "",
    }
    return link + names.get(platform, "&worker=WORKER&study=STUDY&session=SESSION")


def submit_origin(text: str, more: tuple[str, ...] = ()) -> str:
    """The origin of Mechanical Turk that a link's `turkSubmitTo` names; nothing if it is not one of its hosts."""
    origin = text.rstrip("/")
    return origin if _MTURK_SUBMIT.fullmatch(origin) or origin in more else ""


SECONDS = 5.0
"""Longest wait for another server: to connect, and between two pieces of its answer."""
_AT_ONCE = 4
"""Requests at a time: a slow server must not take all threads of this one."""
_LARGEST = 2**20
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class AwayError(Exception):
    """The other server gives no answer, or none that can be used now."""


TOKEN = "prolific_token"  # noqa: S105
KEYS = "https://api.prolific.com/.well-known/study/jwks.json"


class ProlificSignatures:
    """Checks tokens with Prolific's public keys, which are fetched when needed, and kept for an hour."""

    def __init__(self) -> None:
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._cached: tuple[float, KeySet] | None = None

    def ids(self, token: str, link: str) -> dict[str, str] | None:
        """Participant, study and session that Prolific has signed for this link; None if it did not, or long ago.

        Raises `AwayError` where Prolific's keys cannot be had now, also where too many ask for them already.
        """
        try:
            claims = self._claims(token)
            ids = claims["prolific"]
            is_fresh = float(claims["exp"]) > time.time() - 60
            base, audience = urlsplit(link), claims["aud"]
            for value in map(urlsplit, [audience] if isinstance(audience, str) else audience):
                # For this study: its address, or that of the whole server.
                is_here = value[:2] == base[:2] and value.path in ("", "/", base.path)
                if is_here and is_fresh and claims["iss"] == "https://www.prolific.com":
                    return {name: str(ids[name]) for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")}
        except (JoseError, KeyError, TypeError, ValueError):
            pass
        return None

    def _claims(self, token: str) -> dict[str, Any]:
        """What the token says, if one of the keys has signed it."""
        if not self._turns.acquire(timeout=SECONDS):
            raise AwayError
        try:
            return jwt.decode(token, self._keys(), algorithms=["RS256"]).claims
        except (JoseError, ValueError):
            # The server may have new keys.
            return jwt.decode(token, self._keys(most_seconds=10.0), algorithms=["RS256"]).claims
        finally:
            self._turns.release()

    def _keys(self, most_seconds: float = 3600.0) -> KeySet:
        """The keys, not older than so many seconds."""
        cached = self._cached
        if cached is not None and time.monotonic() - cached[0] < most_seconds:
            return cached[1]
        try:
            keys: KeySet = KeySet.import_key_set(json.loads(self._fetched()))
        except (OSError, HTTPException, JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise AwayError from error
        self._cached = time.monotonic(), keys
        return keys

    def _fetched(self) -> bytes:
        with _open(KEYS, timeout=SECONDS) as answer:
            data: bytes = answer.read(_LARGEST)
        return data


_LONGEST = 128
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""The assignment id that Mechanical Turk gives to people who have not accepted the work yet."""


@dataclass(frozen=True)
class Arrival:
    """Whom a link brings, by the names that Prolific, Mechanical Turk and we use."""

    worker: str = ""
    study: str = ""
    session: str = ""
    key: str = ""
    """What a platform's link has: its worker ids count."""
    signature: str = ""
    """What a personal link has: it proves the worker id."""
    submit_to: str = ""
    """Where Mechanical Turk takes the result; not checked yet."""

    @property
    def fields(self) -> dict[str, str]:
        """The arrival as the fields of a form, which `of` reads again."""
        return {names[0]: getattr(self, field) for field, names in _NAMES.items() if getattr(self, field)}

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Arrival:
        """From the query of a link, or from a form with `fields`."""
        identifiers = {
            field: next((values[name] for name in names if values.get(name)), "") for field, names in _NAMES.items()
        }
        plain = ("".join(filter(str.isprintable, text))[:_LONGEST].strip() for text in identifiers.values())
        return cls(**dict(zip(_NAMES, plain, strict=True)))

    def is_signed(self, secret_key: str, code: str) -> bool:
        """Whether the server made this very link for this very person."""
        return bool(self.worker) and is_right(self.signature, personal_signature(secret_key, code, self.worker))


_NAMES = {
    "worker": ("worker", "PROLIFIC_PID", "workerId"),
    "study": ("study", "STUDY_ID", "hitId"),
    "session": ("session", "SESSION_ID", "assignmentId"),
    "key": ("key",),
    "signature": ("sig",),
    "submit_to": ("turkSubmitTo",),
}
"""What links and forms call the fields of an arrival: we, Prolific, Mechanical Turk."""


class ElsewhereError(Exception):
    """Somebody began with this worker id in another browser, and this one cannot show that it is theirs too."""


def begin(
    session: Session,
    study: Study,
    cookie_hash: str,
    arrival: Arrival,
    *,
    is_signed: bool = False,
    submit_to: str = "",
    place: str | None = None,
) -> Annotator:
    """The person who begins, or goes on.

    A worker id belongs to the browser that began with it. Another browser takes it over with a signed link, or with the
    platform's session that the person began with; otherwise this raises `ElsewhereError`.
    """
    mine = (Annotator.study_id == study.id) & (Annotator.cookie_hash == cookie_hash)
    person = session.execute(select(Annotator).where(mine)).scalar_one_or_none()
    if person is None or arrival.worker not in ("", person.worker):
        person = None
        if arrival.worker:
            query = select(Annotator).where(Annotator.study_id == study.id, Annotator.worker == arrival.worker)
            person = session.execute(query).scalar_one_or_none()
        if person is not None and not is_signed:
            same_session = hmac.compare_digest(arrival.session.encode(), person.platform_session.encode())
            if not arrival.session or not same_session:
                raise ElsewhereError
        # One browser, another worker: the browser is theirs from now on.
        session.execute(update(Annotator).where(mine).values(cookie_hash=None))
        if person is None:
            # Short enough to type, without letters that look alike.
            code = "".join(secrets.choice("ABCDEFGHJKMNPQRSTUVWXYZ23456789") for _ in range(10))
            person = Annotator(study_id=study.id, worker=arrival.worker or None, completion=code, place=place)
            session.add(person)
        person.cookie_hash = cookie_hash
    person.platform_study = arrival.study or person.platform_study or ""
    person.platform_session = arrival.session or person.platform_session or ""
    person.platform_return = submit_to or person.platform_return or ""
    session.flush()
    return person
