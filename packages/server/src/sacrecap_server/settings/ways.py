"""The ways by which mail leaves: SMTP, and two for development, which write it to the terminal or into a folder."""

from __future__ import annotations

import itertools
import os
import ssl
import sys
import time
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from sacrecap.errors import UsageError

_SECONDS = 20
_PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
_ACCEPTED = (
    "none, console, file:FOLDER, smtp://[USER@]HOST[:PORT] (STARTTLS), smtps://[USER@]HOST[:PORT] (TLS) or "
    "smtp+plain://HOST[:PORT] (not encrypted)"
)


class Way(Protocol):
    """Where a message goes."""

    def send(self, message: EmailMessage, address: str) -> None:
        """Hands the message over, or raises `OSError` (`smtplib.SMTPException` is one)."""


@dataclass(frozen=True)
class Console:
    """Standard output, not standard error: there the log goes, which never holds an address or a link."""

    def send(self, message: EmailMessage, _: str) -> None:
        print(f"{message.as_string()}\n", file=sys.stdout, flush=True)


@dataclass(frozen=True)
class Folder:
    """One `.eml` file per message; its name sorts by time."""

    folder: Path

    def send(self, message: EmailMessage, _: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{time.time_ns()}-{os.getpid()}-{next(_numbers)}.eml"
        whole = self.folder / f".{name}.part"
        whole.write_bytes(message.as_bytes())
        whole.rename(self.folder / name)


_numbers = itertools.count()


@dataclass(frozen=True)
class Smtp:
    """A mail server; each message has a connection of its own, since there are few."""

    host: str
    port: int
    security: str
    """starttls, tls or none."""
    user: str = ""
    password: str = ""

    def send(self, message: EmailMessage, address: str) -> None:
        import smtplib

        if self.security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(self.host, self.port, timeout=_SECONDS, context=_tls())
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=_SECONDS)
        with server:
            if self.security == "starttls":
                # It raises where the server has no STARTTLS: nothing is ever sent in the clear instead.
                server.starttls(context=_tls())
            if self.user:
                server.login(self.user, self.password)
            server.send_message(message, to_addrs=[address])


def _tls() -> ssl.SSLContext:
    """Certificates are checked; SSL_CERT_FILE names an authority of one's own."""
    return ssl.create_default_context()


def way(mail: str, password: str | None = None) -> Way | None:
    """The way of a setting such as `smtp://me@mail.example.org`; None for `none`. Raises `UsageError`."""
    if mail == "none":
        return None
    if mail == "console":
        return Console()
    if mail.startswith("file:") and len(mail) > len("file:"):
        return Folder(Path(mail.removeprefix("file:")))
    try:
        parts = urlsplit(mail)
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        raise UsageError(f"--mail must be {_ACCEPTED}") from None
    if not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise UsageError(f"--mail must be {_ACCEPTED}")
    if parts.password is not None:
        raise UsageError("--mail has a password, which other users of this machine can see; set SACRECAP_SMTP_PASSWORD")
    user = unquote(parts.username or "")
    if bool(user) != bool(password):
        raise UsageError("the mail server's user, in --mail, and SACRECAP_SMTP_PASSWORD belong together")
    security = {"smtp": "starttls", "smtps": "tls", "smtp+plain": "none"}[parts.scheme]
    if user and security == "none":
        raise UsageError("--mail smtp+plain:// would send the password unencrypted; use smtp:// or smtps://")
    return Smtp(parts.hostname, port, security, user, password or "")
