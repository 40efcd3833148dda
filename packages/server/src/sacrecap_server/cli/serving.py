"""What the commands that serve have in common: their options, and the owner's token."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import fields
from importlib.util import find_spec
from typing import Any

import click

from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap_server.settings import ServerSettings, secret

LEAST_TOKEN = 32
"""Characters."""
_NEEDED = ("fastapi", "jinja2", "joserfc", "python_multipart", "sqlalchemy", "uvicorn")


def check_extra(command: str) -> None:
    """Raises `MissingDependencyError` if the extra is not installed. Does not import it, which would take a second."""
    if any(find_spec(module) is None for module in _NEEDED):
        raise MissingDependencyError(command, extra="server")


def serving_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds options of a server, by the names of the fields of `ServerSettings`; all where none is named.

    Each can also come from the environment: `--public-url` from SACRECAP_PUBLIC_URL.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for field in reversed(fields(ServerSettings)):
            if field.metadata and field.name in (names or (field.name,)):
                how: dict[str, Any] = {"type": click.IntRange(1, 65535)} if field.name == "port" else {}
                how |= {"show_default": False} if field.default == "" else {}
                name, variable = field.name.replace("_", "-"), f"SACRECAP_{field.name.upper()}"
                how |= {"envvar": variable, "show_envvar": True, "default": field.default}
                command = click.option(f"--{name}", **how, **field.metadata)(command)
        return command

    return add


def owner_token(place: str) -> tuple[str, str]:
    """The owner's token, and what to say of it: its text only where it has just been made.

    `place` is the file that keeps it, made where there is none; SACRECAP_STUDY_TOKEN has it instead, or
    SACRECAP_STUDY_TOKEN_FILE names a file that does.
    """
    if (value := secret("STUDY_TOKEN")) is not None:
        if len(value) < LEAST_TOKEN:
            raise UsageError(f"SACRECAP_STUDY_TOKEN has {len(value)} characters and needs {LEAST_TOKEN} or more")
        return value, "of SACRECAP_STUDY_TOKEN"
    try:
        with open(place, "x", opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8") as file:
            token = secrets.token_urlsafe(32)
            file.write(f"{token}\n")
        return token, f"{token} (kept in {place})"
    except FileExistsError:
        pass
    except OSError as error:
        raise DataError(f"{place}: cannot be written: {error.strerror}") from None
    try:
        with open(place, encoding="utf-8") as file:
            token = file.read().strip()
    except (OSError, UnicodeError) as error:
        raise DataError(f"{place}: cannot be read: {error}") from None
    if len(token) < LEAST_TOKEN:
        raise DataError(f"{place}: has no token; delete the file, so that a new one is made")
    return token, f"in {place}"
