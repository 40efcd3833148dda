"""Accounts: register, sign in and out, password, API tokens."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Form
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from capeval_server.accounts import invitations
from capeval_server.accounts.access import Role, new_token, sign_in, sign_out
from capeval_server.accounts.operate import EMAIL
from capeval_server.accounts.passwords import digest, hash_password, problem_with, verify_password
from capeval_server.store.models import Account, ApiToken, Invitation, LoginSession, Team, now
from capeval_server.web.context import Context, RequestContext, Response
from capeval_server.web.errors import Refused, not_found
from capeval_server.web.routing import Routes

routes = Routes()
Text = Annotated[str, Form(max_length=400)]

_MOST_TOKENS = 20


@routes.page("/sign-in", role=Role.ANYONE)
def sign_in_page(context: Context, next: str = "/") -> Response:
    return context.render("sign-in.html", next=inside(next), email="", problem="")


@routes.page("/sign-in", role=Role.ANYONE, methods=("POST",))
def sign_in_done(context: Context, email: Text = "", password: Text = "", next: Text = "/") -> Response:
    """One message and one duration for every failure, so that nobody learns which addresses have accounts."""
    email = email.strip().lower()
    context.state.limits.sign_in_address.take(context.address)
    context.state.limits.sign_in_account.take(email)
    with context.database.read() as session:
        account = session.execute(select(Account).where(Account.email == email)).scalar_one_or_none()
    stored = account.password if account is not None and not account.disabled else None
    if not verify_password(stored, password) or account is None:
        with context.database.write() as session:
            # Not what was typed: people mistype passwords into that field.
            context.audit(session, "sign-in.refused", f"account {account.id}" if account else "no account")
        problem = "E-mail address or password is wrong."
        return context.render("sign-in.html", 403, next=inside(next), email=email, problem=problem)
    context.state.limits.sign_in_account.forgive(email)
    with context.database.write() as session:
        context.set_cookie(sign_in(session, account.id))
        context.audit(session, "sign-in", f"account {account.id}")
    return context.redirect(inside(next))


@routes.page("/sign-out", role=Role.ANYONE, methods=("POST",))
def sign_out_done(context: Context) -> Response:
    with context.database.write() as session:
        sign_out(session, context.cookie)
        context.audit(session, "sign-out", f"account {context.caller.account_id}" if context.caller.account_id else "")
    context.request.cookies.clear()
    context.cookie = ""
    context.keep_cookie()
    return context.redirect("/sign-in", "signed-out")


@routes.page("/register", role=Role.ANYONE)
def register_page(context: Context, invitation: str = "") -> Response:
    with context.database.read() as session:
        found = _invitation(session, context, invitation)
        joins = session.get(Team, found.team_id) if found is not None and found.team_id else None
    return context.render("register.html", invitation=invitation, joins=joins, given={}, problems=[])


@routes.page("/register", role=Role.ANYONE, methods=("POST",))
def register_done(
    context: Context,
    email: Text = "",
    password: Text = "",
    team: Text = "",
    affiliation: Text = "",
    invitation: Text = "",
) -> Response:
    """A known address gets the same answer as a new one, but changes nothing."""
    context.state.limits.register_address.take(context.address)
    email, team = email.strip().lower(), " ".join(team.split())
    hashed = hash_password(password[:200])
    with context.database.write() as session:
        found = _invitation(session, context, invitation, lock=True)
        joins = session.get(Team, found.team_id) if found is not None and found.team_id else None
        problems = _problems(session, email, password, None if joins else team)
        if problems:
            given = {"email": email, "team": team, "affiliation": affiliation}
            return context.render(
                "register.html", 422, invitation=invitation, joins=joins, given=given, problems=problems
            )
        if session.execute(select(Account.id).where(Account.email == email)).first() is None:
            _make(session, context, found, Account(email=email, password=hashed), joins, team, affiliation)
    return context.redirect("/sign-in", "registered")


def _make(
    session: Session,
    context: RequestContext,
    invitation: Invitation | None,
    account: Account,
    joins: Team | None,
    team: str,
    affiliation: str,
) -> None:
    if joins is None:
        joins = Team(name=team, name_key=team.casefold(), affiliation=" ".join(affiliation.split())[:160])
        session.add(joins)
        session.flush()
    account.team_id, account.role = joins.id, invitation.role if invitation else Role.MEMBER
    session.add(account)
    session.flush()
    if invitation is not None:
        invitation.used_by = account.id
    context.audit(session, "account.made", f"account {account.id}")


def _invitation(session: Session, context: RequestContext, code: str, *, lock: bool = False) -> Invitation | None:
    """The invitation of this code; None where registration is open and no code is given."""
    if not code and context.settings.registration == "open":
        return None
    query = select(Invitation).where(
        Invitation.code_hash == digest(code), Invitation.used_by.is_(None), invitations.counts()
    )
    found = session.execute(query.with_for_update() if lock else query).scalar_one_or_none()
    if found is None:
        raise Refused(403, "Registration needs an invitation that is not used or expired; ask who runs this server.")
    return found


def _problems(session: Session, email: str, password: str, team: str | None) -> list[str]:
    problems = []
    if not EMAIL.fullmatch(email):
        problems.append("The e-mail address must look like name@example.org.")
    if reason := problem_with(password):
        problems.append(reason)
    if team is not None:
        if not 2 <= len(team) <= 80:
            problems.append("The team needs a name of 2 to 80 characters.")
        elif session.execute(select(Team.id).where(Team.name_key == team.casefold())).first() is not None:
            problems.append("A team of that name exists. To join it, ask a member for an invitation.")
    return problems


@routes.page("/account", role=Role.MEMBER)
def account_page(context: Context) -> Response:
    return context.render("account.html", tokens=_tokens(context), new_token="", problem="")


@routes.page("/account/tokens", role=Role.MEMBER, methods=("POST",))
def make_token(context: Context, name: Text = "") -> Response:
    """The one page that ever shows the token."""
    assert context.caller.account_id is not None
    if len([token for token in _tokens(context) if token.revoked is None]) >= _MOST_TOKENS:
        raise Refused(422, f"An account has at most {_MOST_TOKENS} tokens. Revoke one first.")
    with context.database.write() as session:
        token = new_token(session, context.caller.account_id, " ".join(name.split())[:80] or "token")
        context.audit(session, "token.made", token[:14])
    return context.render("account.html", tokens=_tokens(context), new_token=token, problem="")


@routes.page("/account/tokens/{token_id}/revoke", role=Role.MEMBER, methods=("POST",))
def revoke_token(context: Context, token_id: int) -> Response:
    with context.database.write() as session:
        token = session.get(ApiToken, token_id)
        if token is None or token.account_id != context.caller.account_id:
            raise not_found("token")
        token.revoked = token.revoked or now()
        context.audit(session, "token.revoked", token.hint)
    return context.redirect("/account", "revoked")


@routes.page("/account/password", role=Role.MEMBER, methods=("POST",))
def change_password(context: Context, old: Text = "", new: Text = "") -> Response:
    """Ends every other sign-in of the account."""
    context.state.limits.sign_in_account.take(context.caller.email)
    with context.database.read() as session:
        account = session.get_one(Account, context.caller.account_id)
    problem = problem_with(new) if verify_password(account.password, old) else "The present password is wrong."
    if problem:
        return context.render("account.html", 422, tokens=_tokens(context), new_token="", problem=problem)
    hashed = hash_password(new)
    with context.database.write() as session:
        session.execute(update(Account).where(Account.id == account.id).values(password=hashed))
        session.execute(delete(LoginSession).where(LoginSession.account_id == account.id))
        context.set_cookie(sign_in(session, account.id))
        context.audit(session, "password.changed", f"account {account.id}")
    return context.redirect("/account", "password")


def _tokens(context: RequestContext) -> list[ApiToken]:
    with context.database.read() as session:
        query = select(ApiToken).where(ApiToken.account_id == context.caller.account_id).order_by(ApiToken.id)
        return list(session.execute(query).scalars())


def inside(path: str) -> str:
    """The path where it leads to this server; a link from outside must not send people elsewhere."""
    return path if re.fullmatch(r"/(?![/\\])[^\\\x00-\x1f]*", path) else "/"
