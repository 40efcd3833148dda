"""`sacrecap contest`: the door of a contest, and the links that open it."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from sacrecap.cli.group import Group, takes
from sacrecap.errors import DataError, UsageError
from sacrecap_server.cli.serving import check_extra, serving_options

_STATE = click.option(
    "--state", metavar="DIR", help="The key, what was submitted, and the board's pages.  [default: FOLDER.door]"
)
_URL = click.option(
    "--public-url", metavar="URL", help="Where people reach the door.  [default: as it was last served]"
)


@click.group(name="contest", cls=Group, section="People, studies and benchmarks")
def command() -> None:
    """Take submissions to a contest, whose folder sacrecap board ranks."""


@command.command(short_help="Take submissions, and make the board anew after them.")
@click.argument("folder")
@_STATE
@click.option("--site", metavar="DIR", help="Write the board's pages there.  [default: the folder site of --state]")
@takes(
    """
    --seconds  Most time to make a board or score a file.
    --memory  Most memory for that, MiB.
    --proxy-header NAME  The header in which the proxy of --behind-proxy passes the name of who signed in, which becomes
        the team's: X-Forwarded-User. The proxy also has to send X-Sacrecap-Proxy-Secret, the value of
        SACRECAP_PROXY_SECRET.
    """,
    seconds={"default": 900, "type": click.IntRange(1)},
    memory={"default": 4096, "type": click.IntRange(256)},
)
@serving_options("host", "port", "public_url", "behind_proxy")
def serve(
    folder: str,
    state: str | None,
    site: str | None,
    seconds: int,
    memory: int,
    proxy_header: str | None,
    behind_proxy: str | None,
    **options: Any,
) -> Callable[[], int]:
    """Take submissions to the contest FOLDER until this is told to end; again, it goes on.

    FOLDER has contest.toml, as for sacrecap board; submissions go into its folder submissions. Teams come by links,
    which sacrecap contest team prints, and the host by that of sacrecap contest host.

    By default only this machine can reach it. Another --host needs a proxy that has TLS, and --public-url.
    """
    check_extra("sacrecap contest serve")
    os.umask(0o077)
    from sacrecap.boards import Contest
    from sacrecap_server.app import serve_app
    from sacrecap_server.child import ChildFailedError, ResourceLimits, run_child
    from sacrecap_server.contest.door import Door, Proxy, create_app
    from sacrecap_server.settings import ServerSettings, secret

    settings = ServerSettings(**options, behind_proxy=behind_proxy)
    settings.check()
    proxy = None
    if proxy_header is not None:
        shared = secret("PROXY_SECRET") or ""
        if behind_proxy is None or len(shared) < 32:
            raise UsageError(
                "--proxy-header needs --behind-proxy, the address of the proxy, and SACRECAP_PROXY_SECRET of 32 "
                "characters or more, which the proxy sends too"
            )
        proxy = Proxy(proxy_header, tuple(behind_proxy.replace(",", " ").split()), shared)
    place = _place(folder, state)
    pages = Path(site) if site else place / "site"
    contest = Contest.load(folder)
    for hidden in [place, *map(Path, [*contest.references.values(), *filter(None, [contest.objects])])]:
        if hidden.resolve().is_relative_to(pages.resolve()):
            raise UsageError(f"--site {pages} has {hidden}, which participants must not see; give another folder")
    lock = sqlite3.connect(place / "lock", timeout=0, isolation_level=None)
    try:  # it ends with this process, however it ends: SQLite has a lock on every system
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        lock.close()
        raise UsageError(f"{place} is served already; one process serves a contest") from None
    (place / "url").write_text(settings.url, encoding="utf-8")
    limits = ResourceLimits(seconds, memory)
    door = Door(Path(folder).resolve(), place, pages.resolve(), settings.url, proxy=proxy, limits=limits)
    try:
        run_child("sacrecap_server.contest.work:check", {"folder": str(door.folder)}, [], limits)
    except ChildFailedError as error:
        raise DataError(str(error)) from None
    door.ledger.recover()

    def run() -> int:
        try:
            return serve_app(create_app(door, settings), settings, believes_proxy=False)
        finally:
            lock.close()

    return run


@command.command(short_help="Print the link of a team, which is made as needed.")
@click.argument("name")
@click.argument("folder")
@click.option("--renew", is_flag=True, help="Make a new link; those before open nothing any more.")
@click.option("--revoke", is_flag=True, help="Shut the team out; its files stay.")
@_STATE
@_URL
def team(name: str, folder: str, renew: bool, revoke: bool, state: str | None, public_url: str | None) -> None:
    """Print the link of the team NAME to the contest FOLDER. Whoever has a team's link is this team."""
    if renew and revoke:
        raise UsageError("--renew makes a new link, and --revoke none; give one of them")
    door = _door(folder, state, public_url)
    if (renew or revoke) and name not in (names := [team.name for team in door.ledger.teams()]):
        raise UsageError(f"there is no team {name!r}; known are {', '.join(names) or 'none'}")
    team = door.ledger.make_team(name, by_host=True)
    if renew or revoke or (team.revoked and not revoke):
        if team.revoked and not renew and not revoke:
            raise UsageError(f"{name} is shut out; --renew lets the team in again")
        team = door.ledger.renew(team.slug, revoked=revoke)
    click.echo(f"{name} is shut out" if team.revoked else door.link(team))


@command.command(short_help="Print the link of the host.")
@click.argument("folder")
@click.option("--renew", is_flag=True, help="Make a new link; those before open nothing any more.")
@_STATE
@_URL
def host(folder: str, renew: bool, state: str | None, public_url: str | None) -> None:
    """Print the link to the host's page of the contest FOLDER: teams, links, files, and the end."""
    from sacrecap_server.contest.signatures import HOST

    door = _door(folder, state, public_url)
    team = door.ledger.renew(HOST) if renew else door.ledger.team(HOST)
    assert team is not None
    click.echo(door.link(team))


def _door(folder: str, state: str | None, url: str | None) -> Any:
    check_extra("sacrecap contest")
    os.umask(0o077)
    from sacrecap_server.contest.door import Door

    place = _place(folder, state)
    url_file = place / "url"
    url = url or (url_file.read_text(encoding="utf-8") if url_file.exists() else "http://127.0.0.1:8080")
    return Door(Path(folder).resolve(), place, place / "site", url.rstrip("/"))


def _place(folder: str, state: str | None) -> Path:
    """The folder of what participants must not see. Raises `DataError` where FOLDER is no contest."""
    from sacrecap.boards import Contest

    Contest.load(folder)
    inside = Path(folder).resolve()
    place = Path(state).resolve() if state else inside.with_name(f"{inside.name}.door")
    if place.is_relative_to(inside):
        raise UsageError(f"--state {state} is in {folder}, which is shown to whoever sees the contest; give another")
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--state {place}: cannot be made: {error.strerror}") from None
    # Beside the submissions stands which state has their links and quotas.
    submissions, ours = inside / "submissions", place / "name"
    mark = submissions / ".door"
    try:
        with contextlib.suppress(FileExistsError), open(ours, "x", encoding="utf-8") as file:
            file.write(secrets.token_hex(8))
        submissions.mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError), open(mark, "x", encoding="utf-8") as file:
            file.write(ours.read_text(encoding="utf-8"))
        is_ours = mark.read_bytes() == ours.read_bytes()
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be written: {error.strerror}") from None
    if not is_ours:
        raise UsageError(
            f"{submissions} has what teams submitted by another --state than {place}, and its links and quotas are "
            f"there: give that one; where it is lost, or this is a copy of another contest, delete {mark}"
        )
    return place
