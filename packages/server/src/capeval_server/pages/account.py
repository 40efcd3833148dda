"""Accounts: register, sign in and out, password, API tokens."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Form
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from capeval_server.accounts.access import Role, new_token, sign_in, sign_out
from capeval_server.accounts.operate import EMAIL
from capeval_server.accounts.passwords import digest, hash_password, problem_with, verify_password
from capeval_server.store.models import Account, ApiToken, Invitation, SignedIn, Team, now
from capeval_server.web.errors import Refused, not_found
from capeval_server.web.routing import Routes
from capeval_server.web.visit import Here, Response, Visit

routes = Routes()
Text = Annotated[str, Form(max_length=400)]

_MOST_TOKENS = 20


@routes.page("/sign-in", role=Role.ANYONE)
def sign_in_page(visit: Here, next: str = "/") -> Response:
    return visit.render("sign-in.html", next=_inside(next), email="", problem="")


@routes.page("/sign-in", role=Role.ANYONE, methods=("POST",))
def sign_in_done(visit: Here, email: Text = "", password: Text = "", next: Text = "/") -> Response:
    """One message and one duration for every failure, so that nobody learns which addresses have accounts."""
    email = email.strip().lower()
    visit.site.limits.sign_in_address.take(visit.address)
    visit.site.limits.sign_in_account.take(email)
    with visit.database.read() as session:
        account = session.execute(select(Account).where(Account.email == email)).scalar_one_or_none()
    stored = account.password if account is not None and not account.disabled else None
    if not verify_password(stored, password) or account is None:
        with visit.database.write() as session:
            visit.audit(session, "sign-in.refused", email)
        problem = "E-mail address or password is wrong."
        return visit.render("sign-in.html", 403, next=_inside(next), email=email, problem=problem)
    visit.site.limits.sign_in_account.forgive(email)
    with visit.database.write() as session:
        visit.set_cookie(sign_in(session, account.id))
        visit.audit(session, "sign-in", email)
    return visit.redirect(_inside(next))


@routes.page("/sign-out", role=Role.ANYONE, methods=("POST",))
def sign_out_done(visit: Here) -> Response:
    with visit.database.write() as session:
        sign_out(session, visit.cookie)
        visit.audit(session, "sign-out", visit.caller.email)
    visit.request.cookies.clear()
    visit.cookie = ""
    visit.keep_cookie()
    return visit.redirect("/sign-in", "signed-out")


@routes.page("/register", role=Role.ANYONE)
def register_page(visit: Here, invitation: str = "") -> Response:
    with visit.database.read() as session:
        found = _invitation(session, visit, invitation)
        joins = session.get(Team, found.team_id) if found is not None and found.team_id else None
    return visit.render("register.html", invitation=invitation, joins=joins, given={}, problems=[])


@routes.page("/register", role=Role.ANYONE, methods=("POST",))
def register_done(
    visit: Here, email: Text = "", password: Text = "", team: Text = "", affiliation: Text = "", invitation: Text = ""
) -> Response:
    """A known address gets the same answer as a new one, but changes nothing."""
    visit.site.limits.register_address.take(visit.address)
    email, team = email.strip().lower(), " ".join(team.split())
    hashed = hash_password(password[:200])
    with visit.database.write() as session:
        found = _invitation(session, visit, invitation, lock=True)
        joins = session.get(Team, found.team_id) if found is not None and found.team_id else None
        problems = _problems(session, email, password, None if joins else team)
        if problems:
            given = {"email": email, "team": team, "affiliation": affiliation}
            return visit.render(
                "register.html", 422, invitation=invitation, joins=joins, given=given, problems=problems
            )
        if session.execute(select(Account.id).where(Account.email == email)).first() is None:
            _make(session, visit, found, Account(email=email, password=hashed), joins, team, affiliation)
    return visit.redirect("/sign-in", "registered")


def _make(
    session: Session,
    visit: Visit,
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
    visit.audit(session, "account.made", account.email)


def _invitation(session: Session, visit: Visit, code: str, *, lock: bool = False) -> Invitation | None:
    """The invitation of this code; None where registration is open and no code is given."""
    if not code and visit.settings.registration == "open":
        return None
    query = select(Invitation).where(
        Invitation.code_hash == digest(code), Invitation.used_by.is_(None), Invitation.expires > now()
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
def account_page(visit: Here) -> Response:
    return visit.render("account.html", tokens=_tokens(visit), new_token="", problem="")


@routes.page("/account/tokens", role=Role.MEMBER, methods=("POST",))
def make_token(visit: Here, name: Text = "") -> Response:
    """The one page that ever shows the token."""
    assert visit.caller.account_id is not None
    if len([token for token in _tokens(visit) if token.revoked is None]) >= _MOST_TOKENS:
        raise Refused(422, f"An account has at most {_MOST_TOKENS} tokens. Revoke one first.")
    with visit.database.write() as session:
        token = new_token(session, visit.caller.account_id, " ".join(name.split())[:80] or "token")
        visit.audit(session, "token.made", token[:14])
    return visit.render("account.html", tokens=_tokens(visit), new_token=token, problem="")


@routes.page("/account/tokens/{token_id}/revoke", role=Role.MEMBER, methods=("POST",))
def revoke_token(visit: Here, token_id: int) -> Response:
    with visit.database.write() as session:
        token = session.get(ApiToken, token_id)
        if token is None or token.account_id != visit.caller.account_id:
            raise not_found("token")
        token.revoked = token.revoked or now()
        visit.audit(session, "token.revoked", token.hint)
    return visit.redirect("/account", "revoked")


@routes.page("/account/password", role=Role.MEMBER, methods=("POST",))
def change_password(visit: Here, old: Text = "", new: Text = "") -> Response:
    """Ends every other sign-in of the account."""
    visit.site.limits.sign_in_account.take(visit.caller.email)
    with visit.database.read() as session:
        account = session.get_one(Account, visit.caller.account_id)
    problem = problem_with(new) if verify_password(account.password, old) else "The present password is wrong."
    if problem:
        return visit.render("account.html", 422, tokens=_tokens(visit), new_token="", problem=problem)
    hashed = hash_password(new)
    with visit.database.write() as session:
        session.execute(update(Account).where(Account.id == account.id).values(password=hashed))
        session.execute(delete(SignedIn).where(SignedIn.account_id == account.id))
        visit.set_cookie(sign_in(session, account.id))
        visit.audit(session, "password.changed", account.email)
    return visit.redirect("/account", "password")


def _tokens(visit: Visit) -> list[ApiToken]:
    with visit.database.read() as session:
        query = select(ApiToken).where(ApiToken.account_id == visit.caller.account_id).order_by(ApiToken.id)
        return list(session.execute(query).scalars())


def _inside(path: str) -> str:
    """The path where it leads to this server; a link from outside must not send people elsewhere."""
    return path if re.fullmatch(r"/(?![/\\])[^\\\x00-\x1f]*", path) else "/"
