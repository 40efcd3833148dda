"""Settings of the operator, checked before anything starts; secrets come from variables, or files that they name."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sacrecap.errors import UsageError, accepted_name
from sacrecap_server.settings.ways import Smtp, way

_REGISTRATION = ["open", "approval", "invitation"]
_DAYS = (0, 36500)
_LEAST_SECRET = 32
_SENDER = re.compile(r"(?:[^<>@\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)")


def _option(help: str, default: Any = None, *, metavar: str = "", of: Any = str) -> Any:
    """A field that `sacrecap serve` has an option for, and the environment a variable.

    `of` says what it takes: a type, the ends of whole numbers (None for no end), or a list of words.
    """
    return field(default=default, metadata={"help": help, "metavar": metavar or None, "of": of})


@dataclass(frozen=True)
class ServerSettings:
    """Everything that `create_app` depends on; nothing is read from the environment later."""

    database: str = "sqlite:///sacrecap.db"
    """SQLAlchemy URL: `sqlite:///FILE` or `postgresql://USER:PASSWORD@HOST/NAME`."""
    secret_key: str | None = None
    """The key that signs CSRF tokens; without it, one is made and kept in the database (loopback only)."""
    only_studies: bool = False
    """Whether this is `sacrecap study serve`: studies and their one owner; no teams, benchmarks or mail."""
    smtp_password: str | None = None
    oidc_client_secret: str | None = None

    host: str = _option("Address to listen on.", "127.0.0.1")
    port: int = _option("Port to listen on.", 8080, of=(1, 65535))
    public_url: str | None = _option("Where people reach the server: https://evaluation.example.org.", metavar="URL")
    behind_proxy: str | None = _option(
        "Address of the reverse proxy; its X-Forwarded-* are trusted.", metavar="ADDRESS"
    )
    tls_certificate: str | None = _option("Certificate chain (PEM), to serve HTTPS without a proxy.", metavar="FILE")
    tls_key: str | None = _option("The certificate's key (PEM).", metavar="FILE")
    registration: str = _option(
        "Who may register: everybody; everybody, whose teams an administrator approves; or people with an invitation.",
        "open",
        of=_REGISTRATION,
    )
    workers: int = _option("Scoring processes at a time.", 1, of=(0, 64))
    """With 0, another server on the same database has the queue."""
    job_seconds: int = _option("Most seconds for one scoring.", 600, of=(1, None))
    job_memory: int = _option("Most memory for one scoring, MiB.", 4096, of=(256, None))
    upload_limit: int = _option("Largest upload, MiB.", 32, of=(1, 1024))
    request_seconds: int = _option(
        "Most seconds for a client to send a request's head, or to send or receive another 64 KiB.", 20, of=(1, 3600)
    )
    connections: int = _option(
        "Most connections at a time; beyond, the one that was idle longest is closed.", 1000, of=(10, 100_000)
    )
    site_name: str = _option("Name of the server, at the top of each page.", "sacrecap")
    site_logo: str | None = _option("A logo for the top of each page (SVG or PNG).", metavar="FILE")
    site_about: str = _option("Text about the server and its host, for the first page.", "", metavar="TEXT")
    contact: str = _option("How people reach the host: e-mail, or https://…", "", metavar="ADDRESS")
    mail: str = _option(
        "none, smtp://[USER@]HOST[:PORT] (STARTTLS), smtps://… (TLS), smtp+plain://… (not encrypted), file:FOLDER or "
        "console.",
        "none",
        metavar="HOW",
    )
    mail_from: str | None = _option("The sender of mail: evaluation@example.org, or NAME <ADDRESS>.", metavar="ADDRESS")
    oidc_issuer: str | None = _option(
        "Identity provider (OpenID Connect) for signing in, in addition to passwords.", metavar="URL"
    )
    oidc_client_id: str = _option(
        "This server's name at the provider; its secret comes from SACRECAP_OIDC_CLIENT_SECRET.", "", metavar="ID"
    )
    oidc_button: str = _option(
        "Text of the button that leads to the provider.", "Sign in with your institution", metavar="TEXT"
    )
    keep_audit: int = _option("Days to keep entries of the audit log; 0: for ever.", 365, metavar="DAYS", of=_DAYS)
    keep_addresses: int = _option(
        "Days to keep IP addresses in the audit log; 0: as long as the entries.", 90, metavar="DAYS", of=_DAYS
    )
    keep_worker_ids: int = _option(
        "Days to keep the ids of crowd platforms' workers after a study closes; 0: for ever.",
        0,
        metavar="DAYS",
        of=_DAYS,
    )
    privacy_file: str | None = _option(
        "Your own text for the page /privacy, which lists what is stored.", metavar="FILE"
    )
    frame_hosts: tuple[str, ...] = _option(
        "Another origin that may frame studies for Mechanical Turk and take their results; for tests.",
        (),
        metavar="ORIGIN",
    )
    private_webhooks: bool = _option("Let webhooks go to http:// and to private networks.", False, of=bool)

    @property
    def secure(self) -> bool:
        """Whether people come by HTTPS, so that cookies must not travel otherwise."""
        return self.tls_certificate is not None or (self.public_url or "").startswith("https://")

    @property
    def url(self) -> str:
        """The address to show."""
        if self.public_url:
            return self.public_url.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls_certificate else 'http'}://{host}:{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """Names that a request's Host header may carry, without port."""
        names = {"localhost", "127.0.0.1", "[::1]", f"[{self.host}]" if ":" in self.host else self.host}
        public = urlsplit(self.public_url).hostname if self.public_url else None
        return frozenset({*names, public} - {None, "0.0.0.0", "[::]"})  # type: ignore[arg-type]  # noqa: S104

    @property
    def mail_sender(self) -> str:
        """The header From."""
        return self.mail_from or "sacrecap@localhost"

    @property
    def is_public(self) -> bool:
        """Whether people of other machines come, directly or through a proxy."""
        name = urlsplit(self.public_url).hostname if self.public_url else None
        return not is_loopback(self.host) or (name is not None and not is_loopback(name))

    def check(self) -> None:
        """Raises `UsageError` for settings that contradict each other, or that would serve people unprotected."""
        accepted_name("--registration", self.registration, _REGISTRATION)
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise UsageError("--tls-certificate and --tls-key belong together; give both or neither")
        if self.secret_key is not None and len(self.secret_key) < _LEAST_SECRET:
            raise UsageError(
                f"the secret key has {len(self.secret_key)} characters and needs {_LEAST_SECRET} or more; "
                "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
            )
        if self.public_url is not None and urlsplit(self.public_url).scheme not in {"http", "https"}:
            raise UsageError(f"--public-url must begin with https:// (or http://), got {self.public_url!r}")
        if self.behind_proxy is not None and not (self.public_url or "").startswith("https://"):
            raise UsageError("--behind-proxy needs --public-url https://…, the address that the proxy serves")
        if self.site_logo is not None:
            _check_logo(self.site_logo)
        self._check_provider()
        for origin in self.frame_hosts:
            if not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?", origin):
                raise UsageError(f"--frame-host takes origins such as https://platform.example, got {origin!r}")
        if not is_loopback(self.host):
            self._check_exposed()
        self._check_mail()

    def _check_mail(self) -> None:
        uses_smtp = isinstance(way(self.mail, self.smtp_password), Smtp)
        if self.smtp_password and not uses_smtp:
            raise UsageError("SACRECAP_SMTP_PASSWORD is set, but --mail names no mail server: smtp://USER@HOST")
        if uses_smtp and self.mail_from is None:
            raise UsageError("--mail needs --mail-from, the address that mail of this server comes from")
        if self.mail_from is not None and not _SENDER.fullmatch(self.mail_from):
            raise UsageError(
                f"--mail-from must be an address (evaluation@example.org) or NAME <ADDRESS>, got {self.mail_from!r}"
            )
        if self.is_public and self.mail == "console":
            raise UsageError("--mail console is for trying things out on one machine; give --mail smtp://USER@HOST")
        if self.is_public and self.mail == "none" and self.registration == "open":
            raise UsageError(
                "without --mail nobody can show that an e-mail address is theirs, so anybody could have any number of "
                "teams; give --mail smtp://USER@HOST, or --registration approval (an administrator approves each "
                "team), or --registration invitation"
            )

    def _check_provider(self) -> None:
        if self.oidc_issuer is None:
            if self.oidc_client_id or self.oidc_client_secret:
                raise UsageError("--oidc-client-id and its secret need --oidc-issuer, the provider's address")
            return
        parts = urlsplit(self.oidc_issuer)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            raise UsageError(f"--oidc-issuer must begin with https://, got {self.oidc_issuer!r}")
        if not self.oidc_client_id:
            raise UsageError("--oidc-issuer needs --oidc-client-id, the name that the provider gave to this server")

    def _check_exposed(self) -> None:
        missing = []
        if self.secret_key is None and not self.only_studies:
            missing.append("a secret key (SACRECAP_SECRET_KEY)")
        if self.tls_certificate is None and self.behind_proxy is None:
            missing.append(
                "TLS (--tls-certificate and --tls-key) or a proxy that has it (--behind-proxy, --public-url)"
            )
        if self.public_url is None:
            missing.append("the address people use (--public-url)")
        if missing:
            raise UsageError(
                f"--host {self.host} can be reached from outside this machine, which needs {'; and '.join(missing)}; "
                "or keep --host 127.0.0.1"
            )


def _check_logo(path: str) -> None:
    if not path.endswith((".svg", ".png")):
        raise UsageError(f"--site-logo must be an SVG or PNG file, got {path!r}")
    if not os.path.isfile(path):
        raise UsageError(f"--site-logo {path}: no such file")


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def secret(name: str) -> str | None:
    """The value of SACRECAP_NAME, or what the file SACRECAP_NAME_FILE holds, without the white space around it.

    Raises `UsageError` if both are given, and for a file that cannot be read.
    """
    value, path = os.environ.get(f"SACRECAP_{name}"), os.environ.get(f"SACRECAP_{name}_FILE")
    if not path:
        return value or None
    if value:
        raise UsageError(f"SACRECAP_{name} and SACRECAP_{name}_FILE are both set; keep one of them")
    try:
        return Path(path).read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"SACRECAP_{name}_FILE: {path} cannot be read: {reason}") from None
