"""Teams made: by those who register, and by accounts without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from capeval_server.accounts.names import keys
from capeval_server.store.models import Team

if TYPE_CHECKING:
    from capeval_server.accounts.access import Caller
    from capeval_server.web.settings import ServerSettings


def make_team(session: Session, name: str, affiliation: str, *, waiting: bool = False) -> Team:
    """A new team; `problems_with_team` has found nothing against the tidy name."""
    name_key, look_key = keys(name)
    team = Team(name=name, name_key=name_key, look_key=look_key, affiliation=affiliation, waiting=waiting)
    session.add(team)
    session.flush()
    return team


def needs_approval(settings: ServerSettings, caller: Caller | None = None) -> bool:
    """Whether a new team of the caller has to wait; those of administrators need nobody else."""
    from capeval_server.accounts.access import Role

    return settings.registration == "approval" and (caller is None or caller.role < Role.ADMIN)
