"""What a server depends on, checked before anything starts; secrets come from variables, or files that they name."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sacrecap.errors import UsageError


def _option(default: Any, help: str, metavar: str | None = None) -> Any:
    """A field that commands have an option for."""
    return field(default=default, metadata={"help": help, "metavar": metavar})


@dataclass(frozen=True)
class ServerSettings:
    """Everything that `create_app` depends on; nothing is read from the environment later."""

    database: str = "sacrecap.db"
    """The SQLite file, made as needed."""
    owner_token: str | None = field(default=None, repr=False)
    """What the owner shows; without it, there is none."""
    host: str = _option("127.0.0.1", "Address to listen on.")
    port: int = _option(8080, "Port to listen on.")
    public_url: str | None = _option(None, "Where people reach the server: https://evaluation.example.org.", "URL")
    behind_proxy: str | None = _option(None, "Address of the reverse proxy; its X-Forwarded-* are trusted.", "ADDRESS")
    site_name: str = _option("sacrecap", "Name of the server, at the top of each page.")
    contact: str = _option("", "How people reach the host: e-mail, or https://…", "ADDRESS")
    privacy_file: str | None = _option(None, "Your own text for the page /privacy, which lists what is stored.", "FILE")
    upload_limit: int = 32
    """The largest body of a request, MiB."""
    frame_hosts: tuple[str, ...] = ()
    """Origins beside Mechanical Turk's that may frame studies and take their results; for tests."""

    @property
    def secure(self) -> bool:
        """Whether people come by HTTPS, so that cookies must not travel otherwise."""
        return (self.public_url or "").startswith("https://")

    @property
    def url(self) -> str:
        """The address to show."""
        if self.public_url:
            return self.public_url.rstrip("/")
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """Names that a request's Host header may carry, without port."""
        names = {"localhost", "127.0.0.1", "[::1]", f"[{self.host}]" if ":" in self.host else self.host}
        public = urlsplit(self.public_url).hostname if self.public_url else None
        return frozenset({*names, public} - {None, "0.0.0.0", "[::]"})  # type: ignore[arg-type]  # noqa: S104

    def check(self) -> None:
        """Raises `UsageError` for settings that contradict each other, or that would serve people unprotected."""
        if self.public_url is not None and urlsplit(self.public_url).scheme not in {"http", "https"}:
            raise UsageError(f"--public-url must begin with https:// (or http://), got {self.public_url!r}")
        if self.behind_proxy is not None and not self.secure:
            raise UsageError("--behind-proxy needs --public-url https://…, the address that the proxy serves")
        for origin in self.frame_hosts:
            if not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?", origin):
                raise UsageError(f"frame_hosts takes origins such as https://platform.example, got {origin!r}")
        if not is_loopback(self.host) and self.behind_proxy is None:
            raise UsageError(
                f"--host {self.host} can be reached from outside this machine, which needs a proxy that has TLS "
                "(--behind-proxy) and the address that it serves (--public-url); or keep --host 127.0.0.1"
            )


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
