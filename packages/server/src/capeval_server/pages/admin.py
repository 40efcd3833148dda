"""Administration: accounts, invitations, the audit log."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from fastapi import Form, Query
from fastapi.responses import Response
from sqlalchemy import delete, select, update

from capeval_server.accounts.access import Role
from capeval_server.accounts.passwords import digest, new_secret
from capeval_server.store.models import Account, ApiToken, AuditEntry, Invitation, SignedIn, Team, now
from capeval_server.web.errors import Refused, not_found
from capeval_server.web.routing import Routes
from capeval_server.web.visit import Here, Visit

routes = Routes()
_PAGE = 100
_INVITED_FOR = dt.timedelta(days=14)
ROLES = (Role.MEMBER, Role.ORGANISER, Role.ADMIN)


@routes.page("/admin", role=Role.ADMIN)
def admin_page(visit: Here) -> Response:
    return _page(visit, link="")


@routes.page("/admin/accounts/{account_id}", role=Role.ADMIN, methods=("POST",))
def change_account(
    visit: Here, account_id: int, role: Annotated[int, Form()], disabled: Annotated[str, Form()] = ""
) -> Response:
    """A changed role or a disabled account counts from the next request; its sign-ins and tokens end."""
    if role not in ROLES:
        raise Refused(422, "There is no such role.")
    if account_id == visit.caller.account_id:
        raise Refused(422, "Another administrator has to change your own account.")
    with visit.database.write() as session:
        account = session.get(Account, account_id)
        if account is None:
            raise not_found("account")
        account.role, account.disabled = role, bool(disabled)
        if account.disabled:
            session.execute(delete(SignedIn).where(SignedIn.account_id == account_id))
            session.execute(
                update(ApiToken)
                .where(ApiToken.account_id == account_id, ApiToken.revoked.is_(None))
                .values(revoked=now())
            )
        state = "disabled" if account.disabled else Role(role).name.lower()
        visit.audit(session, "account.changed", f"{account.email}: {state}")
    return visit.redirect("/admin", "saved")


@routes.page("/admin/invitations", role=Role.ADMIN, methods=("POST",))
def invite(visit: Here, role: Annotated[int, Form()]) -> Response:
    """The one page that ever shows the link."""
    if role not in ROLES:
        raise Refused(422, "There is no such role.")
    return _page(visit, link=invitation_link(visit, Role(role), team_id=None))


@routes.page("/account/invite", role=Role.MEMBER, methods=("POST",))
def invite_to_team(visit: Here) -> Response:
    """A link by which a colleague joins the caller's team."""
    if visit.caller.team_id is None:
        raise Refused(422, "This account is in no team.")
    visit.site.limits.submit_account.take(f"invite {visit.caller.account_id}")
    return visit.render("invited.html", link=invitation_link(visit, Role.MEMBER, visit.caller.team_id))


def invitation_link(visit: Visit, role: Role, team_id: int | None) -> str:
    """A new invitation, as the link to send."""
    code = new_secret()
    with visit.database.write() as session:
        session.add(
            Invitation(
                code_hash=digest(code), role=role, team_id=team_id, created_by=visit.caller.account_id,
                expires=now() + _INVITED_FOR,
            )
        )  # fmt: skip
        visit.audit(session, "invited", role.name.lower())
    return f"{visit.settings.url}/register?invitation={code}"


@routes.page("/admin/audit", role=Role.ADMIN)
def audit_page(visit: Here, before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None) -> Response:
    query = (
        select(AuditEntry, Account.email)
        .outerjoin(Account, Account.id == AuditEntry.account_id)
        .order_by(AuditEntry.id.desc())
        .limit(_PAGE)
    )
    with visit.database.read() as session:
        rows = session.execute(query.where(AuditEntry.id < before) if before else query).all()
    return visit.render("audit.html", rows=rows, more=rows[-1][0].id if len(rows) == _PAGE else None)


def _page(visit: Visit, link: str) -> Response:
    with visit.database.read() as session:
        accounts = session.execute(
            select(Account, Team.name).outerjoin(Team, Team.id == Account.team_id).order_by(Account.id)
        ).all()
        jobs = visit.site.jobs.counts()
    return visit.render("admin.html", accounts=accounts, roles=ROLES, link=link, jobs=jobs)
