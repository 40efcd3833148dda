"""Teams, with their people, invitations, name and end: one's own, and for administrators all; those that wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Form
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sacrecap_server.accounts import invitations, teams
from sacrecap_server.accounts.access import Role
from sacrecap_server.accounts.account_removal import forget_in_audit
from sacrecap_server.boards.removal import problem_with_team_removal, remove_team
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.mail import letters, post
from sacrecap_server.store.models import Account, Invitation, Submission, Team
from sacrecap_server.web.context import Context, RequestContext, Response
from sacrecap_server.web.paging import PageNumber, Sought, page_of
from sacrecap_server.web.routing import Routes
from sacrecap_studies.messages import Message

F = TypeVar("F", bound=Callable[..., Any])
routes = Routes()
Text = Annotated[str, Form(max_length=400)]


def _both(path: str, *, methods: tuple[str, ...] = ("GET",)) -> Callable[[F], F]:
    """A route of one's own team, and of any team for administrators."""

    def add(handler: F) -> F:
        routes.page(f"/team{path}", role=Role.MEMBER, methods=methods, always=path == "/delete")(handler)
        return routes.page(f"/admin/teams/{{team_id:number}}{path}", role=Role.ADMIN, methods=methods)(handler)

    return add


def _managed(context: RequestContext, session: Session) -> Team:
    """The team of the address, locked, for an administrator; else the caller's own, for its captain."""
    number = context.request.path_params.get("team_id")
    return teams.led(session, context.caller) if number is None else teams.find(session, number)


def _to(context: RequestContext) -> str:
    """The address of the team's page."""
    number = context.request.path_params.get("team_id")
    return "/team" if number is None else f"/admin/teams/{number}"


@_both("")
def team_page(context: Context) -> Response:
    return _page(context)


def _page(context: RequestContext, problems: list[str] | None = None) -> Response:
    by_admin = "team_id" in context.request.path_params
    with context.database.read() as session:
        team = _managed(context, session) if by_admin else teams.own(session, context.caller)
        people = teams.members(session, team.id)
        captain = teams.captain_of(session, team.id)
        invited = invitations.listed(session, Invitation.team_id == team.id)
        submitted = session.execute(select(func.count()).where(Submission.team_id == team.id)).scalar_one()
    leads = by_admin or (captain is not None and captain.id == context.caller.account_id)
    return context.render(
        "team.html",
        422 if problems else 200,
        team=team,
        its=_to(context),
        by_admin=by_admin,
        leads=leads,
        manages=leads and not context.caller.obstacle,
        people=people,
        captain=captain,
        invited=invited,
        submitted=submitted,
        problems=problems or [],
    )


@_both("/rename", methods=("POST",))
def rename(context: Context, name: Text = "", affiliation: Text = "") -> Response:
    with context.database.write() as session:
        team = _managed(context, session)
        locked = _locked(context, session, team)
        problems = [locked] if locked else teams.rename(session, team, name, affiliation)
        if not problems:
            context.audit(session, "team.renamed", f"team {team.id}")
    return _page(context, problems) if problems else context.redirect(_to(context), "saved")


@_both("/members/{account_id}/captain", methods=("POST",))
def hand_over(context: Context, account_id: int) -> Response:
    with context.database.write() as session:
        team = _managed(context, session)
        teams.hand_over(session, team, account_id)
        context.audit(session, "team.captain", f"team {team.id}: account {account_id}")
    return context.redirect(_to(context), "saved")


@_both("/members/{account_id}/expel", methods=("POST",))
def expel(context: Context, account_id: int) -> Response:
    """The person keeps their account, without a team; their invitations to the team end."""
    with context.database.write() as session:
        team = _managed(context, session)
        if account_id == context.caller.account_id:
            raise Refused(422, "Whoever leaves by themselves uses the button “Leave the team”.")
        teams.leave(session, teams.member(session, team, account_id))
        context.audit(session, "team.expelled", f"team {team.id}: account {account_id}")
    return context.redirect(_to(context), "saved")


@routes.page("/team/leave", role=Role.MEMBER, methods=("POST",), always=True)
def leave(context: Context) -> Response:
    with context.database.write() as session:
        team = teams.own(session, context.caller)
        teams.leave(session, session.get_one(Account, context.caller.account_id))
        context.audit(session, "team.left", f"team {team.id}")
    return context.redirect("/account", "left")


@routes.page("/team/invitations/{invitation_id}/revoke", role=Role.MEMBER, methods=("POST",), always=True)
def revoke(context: Context, invitation_id: int) -> Response:
    """The captain revokes every invitation to the team, members those that they made."""
    with context.database.write() as session:
        invitation = session.get(Invitation, invitation_id)
        if invitation is None or context.caller.team_id is None or invitation.team_id != context.caller.team_id:
            raise not_found("invitation")
        captain = teams.captain_of(session, context.caller.team_id)
        mine = invitation.created_by == context.caller.account_id
        if not mine and not teams.may_manage(context.caller, captain):
            raise Refused(403, "Only the captain of the team, or who made the invitation, revokes it.")
        invitations.revoke(session, Invitation.id == invitation_id)
        context.audit(session, "invitation.revoked", f"invitation {invitation_id}")
    return context.redirect("/team", "saved")


@_both("/delete")
def delete_page(context: Context) -> Response:
    """Says what goes with the team, and asks for its name."""
    with context.database.read() as session:
        return _delete_page(context, session, _managed(context, session))


def _delete_page(context: RequestContext, session: Session, team: Team, problem: str = "") -> Response:
    count = session.execute(select(func.count()).where(Submission.team_id == team.id)).scalar_one()
    return context.render(
        "team-delete.html",
        422 if problem else 200,
        team=team,
        its=_to(context),
        count=count,
        locked=_locked(context, session, team),
        problem=problem,
        people=len(teams.members(session, team.id)),
    )


def _locked(context: RequestContext, session: Session, team: Team) -> str | None:
    """Why the caller cannot delete the team; an administrator always can."""
    return None if context.caller.role >= Role.ADMIN else problem_with_team_removal(session, team.id)


@_both("/delete", methods=("POST",))
def delete_done(context: Context, name: Text = "") -> Response:
    with context.database.write() as session:
        team = _managed(context, session)
        if name.split() != team.name.split():
            problem = Message("That is not the name of the team. Nothing was deleted.")
            return _delete_page(context, session, team, problem)
        if locked := _locked(context, session, team):
            raise Refused(403, locked)
        number = team.id
        forget_in_audit(session, team.name, f"team {number}")
        remove_team(session, team)
        context.audit(session, "team.deleted", f"team {number}")
    return context.redirect("/account" if _to(context) == "/team" else "/admin/teams", "deleted")


@routes.page("/admin/teams", role=Role.ADMIN)
def teams_page(context: Context, q: Sought = "", page: PageNumber = 1) -> Response:
    people = select(func.count()).where(Account.team_id == Team.id).correlate(Team).scalar_subquery()
    submitted = select(func.count()).where(Submission.team_id == Team.id).correlate(Team).scalar_subquery()
    query = select(Team, people, submitted).where(teams.of_people()).order_by(Team.name_key)
    if q.strip():
        named, at = (column.icontains(q.strip(), autoescape=True) for column in (Team.name, Team.affiliation))
        query = query.where(named | at)
    with context.database.read() as session:
        found_page = page_of(session, query, page, q.strip())
    return context.render("admin-teams.html", page=found_page)


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
