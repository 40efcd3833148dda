"""Teams: made by those who register, and by accounts without one; who is in one and leads it, and its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, func, select, update
from sqlalchemy.orm import Session

from sacrecap_server.accounts import invitations, names
from sacrecap_server.accounts.access import Caller, Role
from sacrecap_server.accounts.codes import Purpose, use_up
from sacrecap_server.accounts.names import keys, problems_with_team
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.store.models import Account, Invitation, Team, now
from sacrecap_studies.messages import Message

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


def members(session: Session, team_id: int) -> list[Account]:
    """The people of a team, who leads it first, the others as they came."""
    return list(session.execute(_members(team_id)).scalars())


def _members(team_id: int) -> Select[Any]:
    query = select(Account).where(Account.team_id == team_id)
    return query.order_by(Account.disabled, Account.captain.desc(), Account.joined, Account.id)


def captain_of(session: Session, team_id: int) -> Account | None:
    """The captain: the member it was handed over to, else the first member who is not disabled."""
    query = _members(team_id).where(Account.disabled.is_(False)).limit(1)
    return session.execute(query).scalar_one_or_none()


def led(session: Session, caller: Caller) -> Team:
    """The caller's team, locked, for what only its captain may do; raises `Refused`."""
    team = own(session, caller)
    captain = captain_of(session, team.id)
    if captain is None or captain.id != caller.account_id:
        raise Refused(403, "Only the captain of the team may do that.")
    return team


def own(session: Session, caller: Caller) -> Team:
    """The caller's team, locked, so that two changes of it wait for each other."""
    team = session.get(Team, caller.team_id, with_for_update=True) if caller.team_id is not None else None
    if team is None:
        raise Refused(422, "This account is in no team.")
    return team


def find(session: Session, team_id: int) -> Team:
    """A team of people, locked; raises `Refused` (404)."""
    query = select(Team).where(Team.id == team_id, of_people()).with_for_update()
    team = session.execute(query).scalar_one_or_none()
    if team is None:
        raise not_found("team")
    return team


def hand_over(session: Session, team: Team, account_id: int) -> Account:
    """Makes another member the captain."""
    account = member(session, team, account_id)
    if account.disabled:
        raise Refused(422, "This account is disabled, and cannot lead the team.")
    session.execute(update(Account).where(Account.team_id == team.id).values(captain=False))
    account.captain = True
    return account


def member(session: Session, team: Team, account_id: int) -> Account:
    """A person of the team; raises `Refused` (404)."""
    account = session.get(Account, account_id, populate_existing=True)
    if account is None or account.team_id != team.id:
        raise not_found("member")
    return account


def leave(session: Session, account: Account) -> None:
    """Takes the person out of their team, if any, and back the invitations to it that they made."""
    invitations.revoke(session, Invitation.created_by == account.id, Invitation.team_id == account.team_id)
    if is_last(session, account):
        session.get_one(Team, account.team_id).empty_since = now()
    account.team_id = None


def rename(session: Session, team: Team, name: str, affiliation: str) -> list[str]:
    """Gives the team another name; the reasons why not, where there are any."""
    name, affiliation = names.tidy(name), names.tidy(affiliation)[:160]
    found = [names.problem_with(name, "team", least=2), names.unseen(affiliation, "affiliation")]
    problems = [problem for problem in found if problem]
    other = None if problems else names.like(session, name)
    if other is not None and other.id != team.id:
        problems = [
            Message("The name cannot be told from that of the team “%(team)s”. Choose another.", team=other.name)
        ]
    if not problems:
        team.name, team.affiliation = name, affiliation
        team.name_key, team.look_key = names.keys(name)
    return problems


def is_last(session: Session, account: Account) -> bool:
    """Whether nobody else is in the account's team."""
    if account.team_id is None:
        return False
    others = select(Account.id).where(Account.team_id == account.team_id, Account.id != account.id)
    return session.execute(others.limit(1)).first() is None


def may_manage(caller: Caller, captain: Account | None) -> bool:
    """Whether the caller is the captain, or an administrator."""
    return caller.role >= Role.ADMIN or (captain is not None and captain.id == caller.account_id)
