"""Administration: accounts, invitations, jobs, the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form
from fastapi.responses import Response
from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from sacrecap_server.accounts import invitations, teams
from sacrecap_server.accounts.access import Role, account_of, end_access
from sacrecap_server.accounts.account_removal import belongings, give_everything, remove_account, search
from sacrecap_server.boards.removal import show_on_boards
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.store.models import Account, AuditEntry, ExternalIdentity, Invitation, Job, Submission, Team
from sacrecap_server.web.context import Context, RequestContext
from sacrecap_server.web.paging import PageNumber, Sought, page_of
from sacrecap_server.web.routing import Routes

routes = Routes()
Text = Annotated[str, Form(max_length=400)]
ROLES = (Role.MEMBER, Role.ORGANISER, Role.ADMIN)
JOB_STATES = ("failed", "queued", "running", "done")


@routes.page("/admin", role=Role.ADMIN)
def admin_page(context: Context) -> Response:
    return _overview(context, link="")


def _overview(context: RequestContext, link: str) -> Response:
    with context.database.read() as session:
        accounts = select(func.count()).select_from(Account).where(Account.removed.is_(None))
        made = select(func.count()).select_from(Team).where(teams.of_people())
        open_ = select(func.count()).select_from(Invitation).where(Invitation.used_by.is_(None), invitations.counts())
        counts = {
            "accounts": session.execute(accounts).scalar_one(),
            "teams": session.execute(made).scalar_one(),
            "invitations": session.execute(open_).scalar_one(),
        }
    return context.render("admin.html", counts=counts, roles=ROLES, link=link, jobs=context.state.jobs.counts())


@routes.page("/admin/accounts", role=Role.ADMIN)
def accounts_page(context: Context, q: Sought = "", page: PageNumber = 1) -> Response:
    query = select(Account, Team.name).outerjoin(Team, Team.id == Account.team_id).where(Account.removed.is_(None))
    if q.strip():
        query = query.where(search(q.strip()))
    with context.database.read() as session:
        found_page = page_of(session, query.order_by(Account.email), page, q.strip())
    return context.render("admin-accounts.html", page=found_page, roles=ROLES)


@routes.page("/admin/accounts/{account_id}", role=Role.ADMIN)
def account_page(context: Context, account_id: int) -> Response:
    """One account: what it is and has, and what an administrator does with it."""
    return _account(context, account_id)


def _account(context: RequestContext, account_id: int, problem: str = "") -> Response:
    with context.database.read() as session:
        account = _find(session, account_id)
        team = session.get(Team, account.team_id) if account.team_id is not None else None
        mine = select(func.count()).where(Submission.account_id == account_id)
        submitted = session.execute(mine).scalar_one()
        owned = belongings(session, account)
        query = select(ExternalIdentity).where(ExternalIdentity.account_id == account_id)
        identities = session.execute(query).scalars().all()
    return context.render(
        "admin-account.html",
        422 if problem else 200,
        account=account,
        team=team,
        submitted=submitted,
        owned=owned,
        identities=identities,
        roles=ROLES,
        problem=problem,
    )


def _find(session: Session, account_id: int) -> Account:
    account = session.get(Account, account_id)
    if account is None or account.removed is not None:
        raise not_found("account")
    return account


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
        account = _find(session, account_id)
        account.role, account.disabled = role, bool(disabled)
        if account.disabled:
            end_access(session, account_id)
        state = "disabled" if account.disabled else Role(role).name.lower()
        context.audit(session, "account.changed", f"account {account_id}: {state}")
    return context.redirect(f"/admin/accounts/{account_id}", "saved")


@routes.page("/admin/accounts/{account_id}/boards", role=Role.ADMIN, methods=("POST",))
def change_boards(context: Context, account_id: int, shown: Annotated[str, Form()] = "") -> Response:
    """Takes what the account submitted off all boards, or puts it back."""
    with context.database.write() as session:
        account = _find(session, account_id)
        show_on_boards(session, account, shown=bool(shown))
        context.audit(session, "account.on-boards" if shown else "account.off-boards", f"account {account_id}")
    context.state.jobs.wake()
    return context.redirect(f"/admin/accounts/{account_id}", "saved")


@routes.page("/admin/accounts/{account_id}/give", role=Role.ADMIN, methods=("POST",))
def give(context: Context, account_id: int, email: Text = "") -> Response:
    """Gives the account's benchmarks and studies to another organiser."""
    with context.database.write() as session:
        account, to = _find(session, account_id), account_of(session, email)
        if to is not None:
            give_everything(session, account, to)
            context.audit(session, "account.gave", f"account {account_id} to account {to.id}")
    if to is None:
        return _account(context, account_id, "There is no account of that address.")
    return context.redirect(f"/admin/accounts/{account_id}", "saved")


@routes.page("/admin/accounts/{account_id}/delete", role=Role.ADMIN, methods=("POST",))
def delete_account(context: Context, account_id: int, email: Text = "") -> Response:
    """The administrator writes the address, to be sure. What the team submitted stays with the team."""
    if account_id == context.caller.account_id:
        raise Refused(422, "You delete your own account on the page Account.")
    with context.database.write() as session:
        account = _find(session, account_id)
        sure = email.strip().lower() == account.email
        if sure:
            remove_account(session, account)
            context.audit(session, "account.deleted", f"account {account_id}")
    if not sure:
        return _account(context, account_id, "That is not the address of this account. Nothing was deleted.")
    return context.redirect("/admin/accounts", "deleted")


@routes.page("/admin/invitations", role=Role.ADMIN)
def invitations_page(context: Context, page: PageNumber = 1) -> Response:
    with context.database.read() as session:
        found_page = page_of(session, invitations.open_ones(), page)
    return context.render("admin-invitations.html", page=found_page, roles=ROLES)


@routes.page("/admin/invitations", role=Role.ADMIN, methods=("POST",))
def invite(context: Context, role: Annotated[int, Form()]) -> Response:
    """The one page that ever shows the link."""
    if role not in ROLES:
        raise Refused(422, "There is no such role.")
    return _overview(context, link=invitation_link(context, Role(role), team_id=None))


@routes.page("/admin/invitations/{invitation_id}/revoke", role=Role.ADMIN, methods=("POST",))
def revoke_invitation(context: Context, invitation_id: int) -> Response:
    with context.database.write() as session:
        if session.get(Invitation, invitation_id) is None:
            raise not_found("invitation")
        invitations.revoke(session, Invitation.id == invitation_id)
        context.audit(session, "invitation.revoked", f"invitation {invitation_id}")
    return context.redirect("/admin/invitations", "saved")


@routes.page("/account/invite", role=Role.MEMBER, methods=("POST",))
def invite_to_team(context: Context) -> Response:
    """A link by which a colleague joins the caller's team."""
    if context.caller.team_id is None:
        raise Refused(422, "This account is in no team.")
    context.state.limits.submit_account.take(f"invite {context.caller.account_id}")
    return context.render("invited.html", link=invitation_link(context, Role.MEMBER, context.caller.team_id))


def invitation_link(context: RequestContext, role: Role, team_id: int | None) -> str:
    """A new invitation, as the link to send."""
    with context.database.write() as session:
        code = invitations.make(session, context.caller, role, team_id)
        context.audit(session, "invited", role.name.lower())
    return f"{context.settings.url}/register?invitation={code}"


@routes.page("/admin/jobs", role=Role.ADMIN)
def jobs_page(context: Context, state: Sought = "", page: PageNumber = 1) -> Response:
    """The jobs, those that failed first asked for; a failed one can be tried again."""
    query = select(Job).order_by(Job.id.desc())
    if state in JOB_STATES:
        query = query.where(Job.state == state)
    with context.database.read() as session:
        found_page = page_of(session, query, page, state if state in JOB_STATES else "")
    return context.render("admin-jobs.html", page=found_page, states=JOB_STATES, counts=context.state.jobs.counts())


@routes.page("/admin/jobs/{job_id}/retry", role=Role.ADMIN, methods=("POST",))
def retry_job(context: Context, job_id: int) -> Response:
    """Puts a job that failed back into the queue."""
    with context.database.write() as session:
        job = session.get(Job, job_id)
        if job is None:
            raise not_found("job")
        values = {"state": "queued", "attempts": 0, "message": "", "progress": "", "finished": None}
        session.execute(update(Job).where(Job.id == job_id, Job.state == "failed").values(values))
        context.audit(session, "job.retried", f"job {job_id}")
    context.state.jobs.wake()
    return context.redirect("/admin/jobs?state=failed", "saved")


@routes.page("/admin/audit", role=Role.ADMIN)
def audit_page(context: Context, q: Sought = "", page: PageNumber = 1) -> Response:
    query = select(AuditEntry, Account.email).outerjoin(Account, Account.id == AuditEntry.account_id)
    if sought := q.strip():
        texts = (AuditEntry.action, AuditEntry.subject, Account.email)
        named = or_(*(column.icontains(sought, autoescape=True) for column in texts))
        query = query.where(named | (AuditEntry.address == sought))
    with context.database.read() as session:
        found_page = page_of(session, query.order_by(AuditEntry.id.desc()), page, sought)
    return context.render("audit.html", page=found_page)
