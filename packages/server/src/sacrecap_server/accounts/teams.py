"""Teams made: by those who register, and by accounts without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, func
from sqlalchemy.orm import Session

from sacrecap_server.accounts.codes import Purpose, use_up
from sacrecap_server.accounts.names import keys, problems_with_team
from sacrecap_server.store.models import Account, Team, now

if TYPE_CHECKING:
    from sacrecap_server.accounts.access import Caller
    from sacrecap_server.settings.server import ServerSettings

Audit = Callable[[Session, str, str], None]
"""Notes an action and its subject, as `RequestContext.audit` does."""
BASELINE_KEY = "BASELINE "
"""What the `name_key` of a baseline's team begins with; those of names that people choose are in lower case."""


def make_team(session: Session, name: str, affiliation: str, *, waiting: bool = False) -> Team:
    """A new team; `problems_with_team` has found nothing against the tidy name."""
    name_key, look_key = keys(name)
    team = Team(name=name, name_key=name_key, look_key=look_key, affiliation=affiliation, waiting=waiting)
    session.add(team)
    session.flush()
    return team


def of_people() -> ColumnElement[bool]:
    """The condition that a team is one of people, and not a baseline's."""
    # Not LIKE, to which capitals are small letters on SQLite.
    return func.substr(Team.name_key, 1, len(BASELINE_KEY)) != BASELINE_KEY


def needs_approval(settings: ServerSettings, caller: Caller | None = None) -> bool:
    """Whether a new team of the caller has to wait; those of administrators need nobody else."""
    from sacrecap_server.accounts.access import Role

    return settings.registration == "approval" and (caller is None or caller.role < Role.ADMIN)


def confirm(session: Session, settings: ServerSettings, account: Account, audit: Audit) -> bool:
    """Notes that the account's owner reads mail to its address, and makes the team that they wanted.

    Gives whether the name of that team is no longer free.
    """
    account.confirmed = account.confirmed or now()
    use_up(session, account.id, Purpose.CONFIRM)
    name, account.wanted_team = account.wanted_team, ""
    if not name or account.team_id is not None:
        return False
    if problems_with_team(session, name, account.wanted_affiliation):
        return True
    waiting = needs_approval(settings)
    team = make_team(session, name, account.wanted_affiliation, waiting=waiting)
    account.team_id = team.id
    audit(session, "team.made", f"team {team.id}")
    return False
