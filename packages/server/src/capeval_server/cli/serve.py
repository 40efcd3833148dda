"""`capeval serve`: the evaluation server, and what its operator does beside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from typing import Any

import click

from capeval.cli.group import Group
from capeval.errors import MissingDependencyError, UsageError

_NEEDED = (
    "alembic", "argon2", "authlib", "fastapi", "httpx2", "jinja2", "prometheus_client", "python_multipart",
    "sqlalchemy", "uvicorn",
)  # fmt: skip


def _extra() -> None:
    """Raises `MissingDependencyError` where the extra is not installed. Imports nothing, which would take a second."""
    if any(find_spec(module) is None for module in _NEEDED):
        raise MissingDependencyError("capeval serve", extra="server")


@click.group(name="serve", cls=Group, invoke_without_command=True)
@click.option(
    "--database",
    default="sqlite:///capeval.db",
    show_default=True,
    envvar="CAPEVAL_DATABASE",
    show_envvar=True,
    metavar="URL",
    help="sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME; made and migrated as needed.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8080, show_default=True, help="Port to listen on.")
@click.option("--public-url", metavar="URL", help="Where people reach the server: https://evaluation.example.org.")
@click.option(
    "--behind-proxy", metavar="ADDRESS", help="Address of the reverse proxy, whose X-Forwarded-* are believed."
)
@click.option("--tls-certificate", metavar="FILE", help="Certificate chain, PEM, to serve HTTPS without a proxy.")
@click.option("--tls-key", metavar="FILE", help="The certificate's key, PEM.")
@click.option(
    "--registration",
    type=click.Choice(["open", "invitation"]),
    default="open",
    show_default=True,
    help="Who may register: everybody, or whom an administrator invites.",
)
@click.option(
    "--workers", type=click.IntRange(0, 64), default=1, show_default=True, help="Scoring processes at a time."
)
@click.option(
    "--job-seconds", type=click.IntRange(1), default=600, show_default=True, help="Longest a scoring may take."
)
@click.option(
    "--job-memory", type=click.IntRange(256), default=4096, show_default=True, help="Most memory of a scoring, MiB."
)
@click.option(
    "--upload-limit", type=click.IntRange(1, 1024), default=32, show_default=True, help="Largest upload, MiB."
)
@click.option(
    "--oidc-issuer",
    metavar="URL",
    envvar="CAPEVAL_OIDC_ISSUER",
    show_envvar=True,
    help="Identity provider (OpenID Connect) that people can sign in at, beside passwords.",
)
@click.option(
    "--oidc-client-id",
    default="",
    metavar="ID",
    envvar="CAPEVAL_OIDC_CLIENT_ID",
    show_envvar=True,
    help="What the provider calls this server; its secret comes from CAPEVAL_OIDC_CLIENT_SECRET.",
)
@click.option(
    "--oidc-button",
    default="Sign in with your institution",
    show_default=True,
    metavar="TEXT",
    envvar="CAPEVAL_OIDC_BUTTON",
    show_envvar=True,
    help="What the button says that leads to the provider.",
)
@click.option(
    "--keep-audit",
    type=click.IntRange(0, 36500),
    default=365,
    show_default=True,
    metavar="DAYS",
    envvar="CAPEVAL_KEEP_AUDIT",
    show_envvar=True,
    help="How long the audit log keeps entries; 0 for ever.",
)
@click.option(
    "--keep-addresses",
    type=click.IntRange(0, 36500),
    default=90,
    show_default=True,
    metavar="DAYS",
    envvar="CAPEVAL_KEEP_ADDRESSES",
    show_envvar=True,
    help="How long the audit log keeps IP addresses; 0 as long as the entries.",
)
@click.option(
    "--keep-worker-ids",
    type=click.IntRange(0, 36500),
    default=0,
    show_default=True,
    metavar="DAYS",
    envvar="CAPEVAL_KEEP_WORKER_IDS",
    show_envvar=True,
    help="How long after a study closes the ids of crowd platforms' workers are kept; 0 for ever.",
)
@click.option(
    "--privacy-file",
    metavar="FILE",
    envvar="CAPEVAL_PRIVACY_FILE",
    show_envvar=True,
    help="Text of your own for the page of what is stored, /privacy.",
)
def command(upload_limit: int, **options: Any) -> Callable[[], int] | None:
    """Run the evaluation server: benchmarks with hidden references, and human studies.

    Only this machine reaches it, unless --host says otherwise, which needs CAPEVAL_SECRET_KEY (32 characters or more),
    --public-url, and either a certificate or a proxy that has one.
    """
    ctx = click.get_current_context()
    _extra()
    # The database and its backups hold hidden references: files made here are for this user alone.
    os.umask(0o077)
    from capeval_server.web.secrets import secret
    from capeval_server.web.settings import ServerSettings

    secrets: dict[str, Any] = {"secret_key": secret("SECRET_KEY"), "oidc_client_secret": secret("OIDC_CLIENT_SECRET")}
    settings = ServerSettings(upload_limit=upload_limit * 2**20, **secrets, **options)
    settings.check()
    ctx.obj = settings
    if ctx.invoked_subcommand is not None:
        return None
    from capeval_server.web.serve import serve

    return lambda: serve(settings)


@command.command(short_help="Make an administrator, or give one a new password.")
@click.argument("email")
@click.option(
    "--password-file", type=click.File(), help="Read the password from here; - is stdin. Asked for otherwise."
)
@click.pass_obj
def admin(settings: Any, email: str, password_file: Any) -> None:
    """Make the account EMAIL an administrator, with a new password."""
    from capeval_server.accounts.operate import make_admin
    from capeval_server.store.database import Database

    if password_file is not None:
        password = password_file.read().rstrip("\n")
    elif sys.stdin.isatty():
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        raise UsageError("there is no terminal to ask for the password; give --password-file FILE (- is stdin)")
    with closing(Database(settings.database)) as database:
        database.migrate()
        make_admin(database, email, password)
        click.echo(f"{email} is an administrator of {database.engine.url}", err=True)


@command.command(short_help="Write everything to a file, while the server runs.")
@click.argument("file")
@click.pass_obj
def backup(settings: Any, file: str) -> None:
    """Write everything the server holds to FILE, which --database of either kind can be restored from."""
    from capeval_server.store.backup import back_up
    from capeval_server.store.database import Database

    with closing(Database(settings.database)) as database:
        rows = back_up(database, file)
    click.echo(f"{file}: {rows:,} rows", err=True)


@command.command(short_help="Fill a database from a backup.")
@click.argument("file")
@click.option("--replace", is_flag=True, help="Delete what the database holds; a running server goes on with the new.")
@click.option(
    "--keep-sign-ins", is_flag=True, help="Keep sign-ins, tokens and invitations; for a backup that was made just now."
)
@click.pass_obj
def restore(settings: Any, file: str, replace: bool, keep_sign_ins: bool) -> None:
    """Fill --database from FILE, which capeval serve backup wrote: all of it, or nothing.

    All sign-ins, API tokens, links for new passwords and open invitations end: some may have been ended after the
    backup was made.
    """
    from capeval_server.store import backup
    from capeval_server.store.database import Database

    with closing(Database(settings.database)) as database:
        rows = backup.restore(database, file, replace=replace, keep_sign_ins=keep_sign_ins)
    click.echo(f"{file}: {rows:,} rows restored", err=True)
    if not keep_sign_ins:
        click.echo("All sign-ins, API tokens, links for new passwords and open invitations have ended.", err=True)
