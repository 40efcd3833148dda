"""Teams that wait for an administrator, where `--registration approval` says so."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form
from sqlalchemy import select

from sacrecap_server.accounts.access import Role
from sacrecap_server.boards.removal import remove_team
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.mail import letters, post
from sacrecap_server.store.models import Account, Team
from sacrecap_server.web.context import Context, Response
from sacrecap_server.web.routing import Routes

routes = Routes()
_PAGE = 100
_DECIDED = {"approve": "approved", "refuse": "refused"}


@routes.page("/admin/approvals", role=Role.ADMIN)
def approvals_page(context: Context) -> Response:
    """The oldest teams that wait, and who is in them."""
    with context.database.read() as session:
        waiting = select(Team).where(Team.waiting).order_by(Team.id).limit(_PAGE)
        teams = session.execute(waiting).scalars().all()
        people: dict[int, list[Account]] = {team.id: [] for team in teams}
        members = select(Account).where(Account.team_id.in_(people)).order_by(Account.id)
        for account in session.execute(members).scalars():
            people[account.team_id or 0].append(account)
    return context.render("approvals.html", teams=teams, people=people)


@routes.page("/admin/approvals/{team_id}", role=Role.ADMIN, methods=("POST",))
def decide(context: Context, team_id: int, decision: Annotated[str, Form()]) -> Response:
    """Approves the team, or takes it away; its members are told by mail."""
    if decision not in _DECIDED:
        raise Refused(422, "A team is approved or refused.")
    decided = _DECIDED[decision]
    settings = context.settings
    host = post.host_of(settings)
    with context.database.write() as session:
        team = session.get(Team, team_id, with_for_update=True)
        if team is None or not team.waiting:
            raise not_found("team that waits")
        members = session.execute(select(Account).where(Account.team_id == team.id)).scalars().all()
        write = letters.approved if decision == "approve" else letters.refused
        for account in members:
            post.queue(session, settings, account, write(host, settings.url, team.name))
        if decision == "approve":
            team.waiting = False
        else:
            remove_team(session, team)
        context.audit(session, f"team.{decided}", f"team {team_id}")
    context.state.post.wake()
    return context.redirect("/admin/approvals", f"team-{decided}")
