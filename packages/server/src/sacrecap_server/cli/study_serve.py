"""`sacrecap study serve`: the server of studies, for people who answer and the one who owns them."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from sacrecap.data.source import read_bytes
from sacrecap.errors import UsageError
from sacrecap_server.cli.serving import check_extra, owner_token, serving_options
from sacrecap_studies.design import read_design


@click.command(name="serve", short_help="Serve studies to people, without accounts.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--database",
    metavar="FILE",
    help="Where answers are kept (SQLite), made as needed.  [default: the name of the first FILE.db]",
)
@serving_options()
def serve(files: tuple[str, ...], database: str | None, **options: Any) -> Callable[[], int]:
    """Serve the studies FILE..., which sacrecap study make wrote, until it is told to end; again, it goes on.

    The owner signs in with a token, looks at the studies, opens them, sends people their links, and exports what they
    answer. There are no other accounts. The token is made and printed once, and kept beside the database; or
    SACRECAP_STUDY_TOKEN has it (32 characters or more), or SACRECAP_STUDY_TOKEN_FILE names a file that does.

    By default only this machine can reach it. Another --host needs a proxy that has TLS, --behind-proxy and
    --public-url.
    """
    check_extra("sacrecap study serve")
    os.umask(0o077)
    from sacrecap_server.run import serve_studies
    from sacrecap_server.settings import ServerSettings
    from sacrecap_server.store.database import Database
    from sacrecap_server.studies.repository import make_once

    read = [(file, data, read_design(data, file)) for file, data in ((file, read_bytes(file)) for file in files)]
    place = database or f"{Path(files[0]).stem}.db"
    ServerSettings(database=place, **options).check()
    token, origin = owner_token(f"{place}.token", "STUDY_TOKEN")
    settings = ServerSettings(database=place, owner_token=token, **options)
    with closing(Database(place)) as opened:
        opened.prepare()
        with opened.write() as session:
            for file, data, design in read:
                if problem := make_once(session, Path(file).name, data, design):
                    raise UsageError(
                        f"{file}: {problem}, in {place}; texts and numbers of a study change on its page; give "
                        "--database FILE to begin another study, or the file another name"
                    )
    click.echo(f"sacrecap: the owner signs in at {settings.url}/ with the token {origin}", err=True)
    return lambda: serve_studies(settings)
