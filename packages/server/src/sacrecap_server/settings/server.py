"""Settings of the operator, checked before anything starts."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from sacrecap.errors import UsageError, accepted_name
from sacrecap_server.settings.ways import Smtp, way

REGISTRATION = ("open", "approval", "invitation")
_LEAST_SECRET = 32
_SENDER = re.compile(r"(?:[^<>@\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)")


@dataclass(frozen=True)
class ServerSettings:
    """Everything that `create_app` depends on; nothing is read from the environment later."""

    database: str = "sqlite:///sacrecap.db"
    """SQLAlchemy URL: `sqlite:///FILE` or `postgresql://USER:PASSWORD@HOST/NAME`."""
    host: str = "127.0.0.1"
    port: int = 8080
    secret_key: str | None = None
    """The key that signs CSRF tokens; without it, one is made and kept in the database (loopback only)."""
    tls_certificate: str | None = None
    tls_key: str | None = None
    behind_proxy: str | None = None
    """Address, or comma-separated addresses, of the reverse proxy whose `X-Forwarded-*` headers are believed."""
    public_url: str | None = None
    """The server's address for people, such as `https://evaluation.example.org`."""
    registration: str = "open"
    """open: everybody; approval: everybody, but their teams wait for an administrator; invitation: whom one invites."""
    workers: int = 1
    """Scoring processes at a time; 0 leaves the queue to another server on the same database."""
    job_seconds: int = 600
    job_memory: int = 4096
    """Most address space of a scoring process, MiB."""
    upload_limit: int = 32 * 2**20
    """Largest request body, bytes."""
    request_seconds: int = 20
    """Longest that a client may take for the head of a request, and for each further 64 KiB of body or answer."""
    connections: int = 1000
    """Most connections at a time; the one that waits longest is closed for a new one."""

    site_name: str = "sacrecap"
    """Whose server it is: stands at the top of each page and in its title."""
    site_logo: str | None = None
    """A picture (SVG or PNG) for the top of each page."""
    site_about: str = ""
    """What the first page says of the server and its host, in place of the words that it has itself."""
    contact: str = ""
    """How people reach the host: an e-mail address, or an address on the web."""
    mail: str = "none"
    """How mail leaves, as `sacrecap_server.settings.ways.way` takes it."""
    mail_from: str | None = None
    """The sender of mail: an address, or a name and an address: `Evaluation <evaluation@example.org>`."""
    smtp_password: str | None = None
    oidc_issuer: str | None = None
    """The identity provider that people can sign in at, as its metadata call it; None for passwords only."""
    oidc_client_id: str = ""
    oidc_client_secret: str | None = None
    oidc_button: str = "Sign in with your institution"
    keep_audit: int = 365
    """Days that entries of the audit log are kept; 0 for ever."""
    keep_addresses: int = 90
    """Days that the audit log keeps IP addresses; 0 as long as the entry."""
    keep_worker_ids: int = 0
    """Days after a study closes until what crowd platforms call its people is forgotten; 0 never."""
    privacy_file: str | None = None
    """A text file that the page of what is stored begins with."""
    frame_hosts: tuple[str, ...] = ()
    """Origins besides Mechanical Turk's that may frame studies made for it, such as `http://localhost:9000`."""
    private_webhooks: bool = False
    """Whether webhooks may go to http:// addresses and to private networks, such as this machine's own."""

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
        accepted_name("--registration", self.registration, REGISTRATION)
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
        if self.secret_key is None:
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
