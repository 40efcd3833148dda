"""Settings of the operator, checked before anything starts."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from capeval.errors import UsageError, accepted_name

REGISTRATION = ("open", "invitation")
_LEAST_SECRET = 32


@dataclass(frozen=True)
class ServerSettings:
    """Everything that `create_app` depends on; nothing is read from the environment later."""

    database: str = "sqlite:///capeval.db"
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
    workers: int = 1
    """Scoring processes at a time; 0 leaves the queue to another server on the same database."""
    job_seconds: int = 600
    job_memory: int = 4096
    """Most address space of a scoring process, MiB."""
    upload_limit: int = 32 * 2**20
    """Largest request body, bytes."""
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
        if not is_loopback(self.host):
            self._check_exposed()

    def _check_exposed(self) -> None:
        missing = []
        if self.secret_key is None:
            missing.append("a secret key (CAPEVAL_SECRET_KEY)")
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


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
