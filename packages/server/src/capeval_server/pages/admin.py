"""Administration: accounts, invitations, the audit log."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from fastapi import Form, Query
from fastapi.responses import Response
from sqlalchemy import delete, select, update

from capeval_server.accounts.access import Role
from capeval_server.accounts.passwords import digest, new_secret
from capeval_server.store.models import Account, ApiToken, AuditEntry, Invitation, LoginSession, Team, now
from capeval_server.web.context import Context, RequestContext
from capeval_server.web.errors import Refused, not_found
from capeval_server.web.routing import Routes

routes = Routes()
_PAGE = 100
_INVITED_FOR = dt.timedelta(days=14)
ROLES = (Role.MEMBER, Role.ORGANISER, Role.ADMIN)


@routes.page("/admin", role=Role.ADMIN)
def admin_page(context: Context) -> Response:
    return _page(context, link="")


@routes.page("/admin/accounts/{account_id}", role=Role.ADMIN, methods=("POST",))
def change_account(
    context: Context, account_id: int, role: Annotated[int, Form()], disabled: Annotated[str, Form()] = ""
) -> Response:
    """A changed role or a disabled account counts from the next request; its sign-ins and tokens end."""
    if role not in ROLES:
        raise Refused(422, "There is no such role.")
    if account_id == context.caller.account_id:
        raise Refused(422, "Another administrator has to change your own account.")
    with context.database.write() as session:
        account = session.get(Account, account_id)
        if account is None:
            raise not_found("account")
        account.role, account.disabled = role, bool(disabled)
        if account.disabled:
            session.execute(delete(LoginSession).where(LoginSession.account_id == account_id))
            session.execute(
                update(ApiToken)
                .where(ApiToken.account_id == account_id, ApiToken.revoked.is_(None))
                .values(revoked=now())
            )
        state = "disabled" if account.disabled else Role(role).name.lower()
        context.audit(session, "account.changed", f"{account.email}: {state}")
    return context.redirect("/admin", "saved")


@routes.page("/admin/invitations", role=Role.ADMIN, methods=("POST",))
def invite(context: Context, role: Annotated[int, Form()]) -> Response:
    """The one page that ever shows the link."""
    if role not in ROLES:
        raise Refused(422, "There is no such role.")
    return _page(context, link=invitation_link(context, Role(role), team_id=None))


@routes.page("/account/invite", role=Role.MEMBER, methods=("POST",))
def invite_to_team(context: Context) -> Response:
    """A link by which a colleague joins the caller's team."""
    if context.caller.team_id is None:
        raise Refused(422, "This account is in no team.")
    context.state.limits.submit_account.take(f"invite {context.caller.account_id}")
    return context.render("invited.html", link=invitation_link(context, Role.MEMBER, context.caller.team_id))


def invitation_link(context: RequestContext, role: Role, team_id: int | None) -> str:
    """A new invitation, as the link to send."""
    code = new_secret()
    with context.database.write() as session:
        session.add(
            Invitation(
                code_hash=digest(code), role=role, team_id=team_id, created_by=context.caller.account_id,
                expires=now() + _INVITED_FOR,
            )
        )  # fmt: skip
        context.audit(session, "invited", role.name.lower())
    return f"{context.settings.url}/register?invitation={code}"


@routes.page("/admin/audit", role=Role.ADMIN)
def audit_page(context: Context, before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None) -> Response:
    query = (
        select(AuditEntry, Account.email)
        .outerjoin(Account, Account.id == AuditEntry.account_id)
        .order_by(AuditEntry.id.desc())
        .limit(_PAGE)
    )
    with context.database.read() as session:
        rows = session.execute(query.where(AuditEntry.id < before) if before else query).all()
    return context.render("audit.html", rows=rows, more=rows[-1][0].id if len(rows) == _PAGE else None)


def _page(context: RequestContext, link: str) -> Response:
    with context.database.read() as session:
        accounts = session.execute(
            select(Account, Team.name).outerjoin(Team, Team.id == Account.team_id).order_by(Account.id)
        ).all()
        jobs = context.state.jobs.counts()
    return context.render("admin.html", accounts=accounts, roles=ROLES, link=link, jobs=jobs)
