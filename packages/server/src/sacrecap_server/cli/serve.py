"""`sacrecap serve`: the evaluation server, and its operator's tasks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import fields
from importlib.util import find_spec
from typing import Any

import click

from sacrecap.cli.group import Group
from sacrecap.errors import MissingDependencyError, UsageError

_NEEDED = (
    "alembic",
    "argon2",
    "authlib",
    "confusable_homoglyphs",
    "fastapi",
    "httpx2",
    "jinja2",
    "prometheus_client",
    "python_multipart",
    "sqlalchemy",
    "uvicorn",
)


def check_extra(command: str) -> None:
    """Raises `MissingDependencyError` if the extra is not installed. Does not import it, which would take a second."""
    if any(find_spec(module) is None for module in _NEEDED):
        raise MissingDependencyError(command, extra="server")


def settings_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The settings of these names, or all, as options that can also come from the environment.

    So `--job-seconds` comes from SACRECAP_JOB_SECONDS, too.
    """
    from sacrecap_server.settings.server import ServerSettings

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for each in reversed(fields(ServerSettings)):
            if each.metadata and (not names or each.name in names):
                command = _option(each.name, each.default, **each.metadata)(command)
        return command

    return add


def _option(name: str, default: Any, **settings: Any) -> Callable[[Any], Any]:
    of, is_many = settings.pop("of"), isinstance(default, tuple)
    if isinstance(of, tuple):
        settings["type"] = click.IntRange(*of)
    elif isinstance(of, list):
        settings["type"] = click.Choice(of)
    word = name.removesuffix("s") if is_many else name
    option = f"--{word.replace('_', '-')}"
    variable = f"SACRECAP_{word.upper()}"
    shown = {"show_default": False} if default == "" else {}
    given: dict[str, Any] = (
        {"multiple": True} if is_many else {"is_flag": True} if of is bool else {"default": default, **shown}
    )
    return click.option(option, name, envvar=variable, show_envvar=True, **given, **settings)


@click.group(name="serve", cls=Group, section="People, studies and benchmarks", invoke_without_command=True)
@click.option(
    "--database",
    envvar="SACRECAP_DATABASE",
    show_envvar=True,
    metavar="URL",
    help="sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME; made and migrated as needed.  "
    "[default: sqlite:///sacrecap.db]",
)
@settings_options()
def command(database: str | None, **options: Any) -> Callable[[], int] | None:
    """Run the evaluation server: benchmarks with hidden references, and human studies.

    By default only this machine can reach it. Another --host needs a secret key (32 characters or more),
    --public-url, and either a certificate or a proxy that has one.

    Secrets are never options: SACRECAP_SECRET_KEY, SACRECAP_SMTP_PASSWORD and SACRECAP_OIDC_CLIENT_SECRET hold them.
    Each of them, and SACRECAP_DATABASE, may be in a file instead: SACRECAP_SECRET_KEY_FILE names it.
    """
    ctx = click.get_current_context()
    check_extra("sacrecap serve")
    # The database and its backups hold hidden references: files made here are for this user alone.
    os.umask(0o077)
    from sacrecap_server.settings.server import ServerSettings, secret

    from_environment = secret("DATABASE")
    settings = ServerSettings(
        database=database or from_environment or "sqlite:///sacrecap.db",
        secret_key=secret("SECRET_KEY"),
        smtp_password=secret("SMTP_PASSWORD"),
        oidc_client_secret=secret("OIDC_CLIENT_SECRET"),
        **options,
    )
    settings.check()
    ctx.obj = settings
    if ctx.invoked_subcommand is not None:
        return None
    from sacrecap_server.run import serve

    return lambda: serve(settings)


@contextmanager
def database_of(settings: Any) -> Iterator[Any]:
    """The database; a fault in it ends the command with one line."""
    from sacrecap_server.store.database import Database

    with closing(Database(settings.database)) as database, database.in_words():
        yield database


@command.command(short_help="Make an administrator, or give one a new password.")
@click.argument("email")
@click.option(
    "--password-file",
    type=click.File(),
    help="Read the password from here; - is stdin. By default the command asks for it.",
)
@click.pass_obj
def admin(settings: Any, email: str, password_file: Any) -> Callable[[], None] | None:
    """Make the account EMAIL an administrator, with a new password."""
    from sacrecap_server.accounts.operate import make_admin

    def make(password: str) -> None:
        with database_of(settings) as database:
            database.migrate()
            make_admin(database, email, password)
            click.echo(f"{email} is an administrator of {database.engine.url}", err=True)

    if password_file is not None:
        make(password_file.read().rstrip("\n"))
        return None
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask for the password; give --password-file FILE (- is stdin)")
    # While a command runs, a line about its progress replaces the terminal's last line, which has the question. So the
    # question is asked after it.
    return lambda: make(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


@command.command(short_help="Print a link that gives an account a new password.")
@click.argument("email")
@click.pass_obj
def reset(settings: Any, email: str) -> None:
    """Print a link that sets a new password for the account EMAIL, to hand over. It works once, for a day.

    It begins with --public-url, and changes nothing until it is used.
    """
    from sacrecap_server.accounts.operate import reset_link

    with database_of(settings) as database:
        database.migrate()
        click.echo(reset_link(database, settings, email))


@command.command(short_help="Write everything to a file, while the server runs.")
@click.argument("file")
@click.pass_obj
def backup(settings: Any, file: str) -> None:
    """Write everything the server holds to FILE. Both kinds of --database can be restored from it."""
    from sacrecap_server.store.backup import back_up

    with database_of(settings) as database:
        rows = back_up(database, file)
    click.echo(f"{file}: {rows:,} rows", err=True)


@command.command(short_help="Fill a database from a backup.")
@click.argument("file")
@click.option("--replace", is_flag=True, help="Delete the old contents; a running server then uses the new ones.")
@click.option(
    "--keep-sign-ins", is_flag=True, help="Keep sign-ins, tokens and invitations; for a backup that was made just now."
)
@click.pass_obj
def restore(settings: Any, file: str, replace: bool, keep_sign_ins: bool) -> None:
    """Fill --database from FILE, which sacrecap serve backup wrote: all of it, or nothing.

    All sign-ins, API tokens, links for new passwords and open invitations end: some may have been ended after the
    backup was made.
    """
    from sacrecap_server.store import backup

    with database_of(settings) as database:
        rows = backup.restore(database, file, replace=replace, keep_sign_ins=keep_sign_ins)
    click.echo(f"{file}: {rows:,} rows restored", err=True)
    if not keep_sign_ins:
        click.echo("All sign-ins, API tokens, links for new passwords and open invitations have ended.", err=True)
