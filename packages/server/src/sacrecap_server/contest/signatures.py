"""What people show at the door: links of teams and of the host, and the cookies that they are exchanged for.

A link is an address whose fragment is a token: browsers send no fragment to a server, nor as a referrer, so that no log
and no proxy has one. A token is an HMAC of a team's name and of the number of its renewal: nothing is stored that
somebody could read, and a link that was renewed opens nothing any more.
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import os
import re
import secrets
import stat
import unicodedata
from pathlib import Path
from urllib.parse import quote, unquote

from sacrecap.errors import DataError

HOST = ""
"""The name of the host, which no team has."""
COOKIE_SECONDS = 30 * 86400
_LONGEST = 60
_BYTES = 32


class Key:
    """The secret of one contest. Whoever has its file is every team, and the host."""

    def __init__(self, path: Path) -> None:
        """Makes the file where there is none. Raises `DataError` for one that others may read."""
        if not path.exists():
            beside = path.with_name(f".key-{secrets.token_hex(8)}")
            with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(secrets.token_bytes(_BYTES))
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):  # another process was first, and its key stays
                os.link(beside, path)
            beside.unlink()
        self._secret = path.read_bytes()
        if len(self._secret) != _BYTES:
            raise DataError(f"{path}: is no key; delete it for a new one, with which all links end")
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise DataError(f"{path}: others may read it; chmod 600 {path}, and renew the links of all teams")

    def _sign(self, *parts: str) -> str:
        digest = hmac.digest(self._secret, "\0".join(parts).encode(), "sha256")
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def token(self, team: str, renewal: int) -> str:
        """The secret part of a link."""
        return f"{quote(team, safe='')}.{renewal}.{self._sign('link', team, str(renewal))}"

    def of_token(self, token: str) -> tuple[str, int] | None:
        """Team and renewal of a token that is ours."""
        return self._of(token, "link")

    def cookie(self, team: str, renewal: int, ends: int) -> str:
        """What a browser keeps until a time in seconds: it opens the pages, and is no link."""
        return f"{quote(team, safe='')}.{renewal}.{ends}.{self._sign('cookie', team, f'{renewal}.{ends}')}"

    def of_cookie(self, value: str, now: float) -> tuple[str, int] | None:
        """Team and renewal of a cookie that is ours and has not ended."""
        head, _, signature = value.rpartition(".")
        head, _, ends = head.rpartition(".")
        claim = self._of(f"{head}.{signature}", "cookie", ends)
        return claim if claim and int(ends) > now else None

    def _of(self, token: str, purpose: str, ends: str | None = None) -> tuple[str, int] | None:
        match = re.fullmatch(r"([\w.~%-]*)\.(\d{1,9})\.([\w-]{43})", token, re.ASCII)
        if match is None or not re.fullmatch(r"\d{1,12}", "0" if ends is None else ends, re.ASCII):
            return None
        team, renewal = unquote(match[1]), match[2]
        signed = self._sign(purpose, team, renewal if ends is None else f"{renewal}.{ends}")
        return (team, int(renewal)) if hmac.compare_digest(signed, match[3]) else None

    def form(self, team: str, renewal: int) -> str:
        """What a form of this person's page carries, so that no other site can send it."""
        return self._sign("form", team, str(renewal))


def slug_of(text: str, instead: str) -> str:
    """The text as the name of a file or folder: it begins with a letter or digit, and goes on with these, . _ and -.

    So no name is a path, hidden, markup, or a spreadsheet's formula. `instead` stands for a text without any of these.
    """
    slug = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFKC", text))
    slug = re.sub(r"^[\W_]+", "", slug)[:_LONGEST]
    while len(slug.encode()) > 3 * _LONGEST:
        slug = slug[:-1]
    return slug.rstrip(".-_") or instead
