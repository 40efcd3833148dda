"""`sacrecap study serve`: the server of one study, for people who answer and the one who owns it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError, UsageError
from sacrecap_server.cli.serve import check_extra, database_of, settings_options
from sacrecap_studies.design import read_design

_LEAST_TOKEN = 32


@click.command(name="serve", short_help="Serve a study to people, without accounts.")
@click.argument("file")
@click.option(
    "--database",
    metavar="FILE",
    help="Where answers are kept (SQLite), made as needed.  [default: the name of FILE.db]",
)
@settings_options(
    "host",
    "port",
    "public_url",
    "behind_proxy",
    "tls_certificate",
    "tls_key",
    "site_name",
    "contact",
    "keep_worker_ids",
    "privacy_file",
)
def serve(file: str, database: str | None, **options: Any) -> Callable[[], int]:
    """Serve the study FILE, which sacrecap study make wrote, until it is told to end; again, it goes on.

    The owner signs in with a token, looks at the study, opens it, sends people its links, and exports what they answer.
    There are no other accounts. The token is made and printed once, and kept beside the database; or
    SACRECAP_STUDY_TOKEN has it (32 characters or more), or SACRECAP_STUDY_TOKEN_FILE names a file that does.

    By default only this machine can reach it. Another --host needs --public-url, and either a certificate or a proxy
    that has one.
    """
    check_extra("sacrecap study serve")
    os.umask(0o077)
    from sqlalchemy import URL

    from sacrecap_server.run import serve
    from sacrecap_server.settings.server import ServerSettings
    from sacrecap_server.studies.alone import prepare

    data = read_bytes(file)
    design = read_design(data, file)
    place = database or f"{Path(file).stem}.db"
    settings = ServerSettings(
        database=URL.create("sqlite", database=place).render_as_string(),
        registration="invitation",
        only_studies=True,
        **options,
    )
    settings.check()
    token, said = _token(f"{place}.token")
    with database_of(settings) as opened:
        opened.migrate()
        if problem := prepare(opened, data, design, token):
            raise UsageError(
                f"{place} {problem}; texts and numbers of a study change on its page; give --database FILE to begin "
                "another study"
            )
    click.echo(f"sacrecap: the owner signs in at {settings.url}/ with the token {said}", err=True)
    return lambda: serve(settings)


def _token(place: str) -> tuple[str, str]:
    """The owner's token, and what to say of it: its text only where it has just been made."""
    from sacrecap_server.settings.server import secret

    if (given := secret("STUDY_TOKEN")) is not None:
        if len(given) < _LEAST_TOKEN:
            raise UsageError(f"the study token has {len(given)} characters and needs {_LEAST_TOKEN} or more")
        return given, "of SACRECAP_STUDY_TOKEN"
    try:
        with open(place, "x", opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8") as file:
            token = secrets.token_urlsafe(32)
            file.write(f"{token}\n")
        return token, f"{token} (kept in {place})"
    except FileExistsError:
        token = read_bytes(place).decode().strip()
    except OSError as error:
        raise DataError(f"{place}: cannot be written: {error.strerror}") from None
    if len(token) < _LEAST_TOKEN:
        raise DataError(f"{place}: has no token; delete the file, so that a new one is made")
    return token, f"in {place}"
