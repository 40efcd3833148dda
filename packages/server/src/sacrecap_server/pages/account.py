"""Accounts: register, sign in and out, password, API tokens; a team for an account without one."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Form
from sqlalchemy import select
from sqlalchemy.orm import Session

from sacrecap_server.accounts import invitations, names
from sacrecap_server.accounts.access import (
    SCOPES,
    TOKEN_DAYS,
    Role,
    account_of,
    hint,
    new_token,
    set_password,
    sign_in,
    sign_out,
)
from sacrecap_server.accounts.codes import GOOD_FOR, Purpose
from sacrecap_server.accounts.limits import neighbourhood
from sacrecap_server.accounts.operate import EMAIL, address
from sacrecap_server.accounts.passwords import hash_password, problem_with
from sacrecap_server.accounts.teams import make_team, needs_approval
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.mail import letters, post
from sacrecap_server.store.models import Account, ApiToken, Invitation, Team, now
from sacrecap_server.web.attempts import Attempt
from sacrecap_server.web.context import Context, RequestContext, Response
from sacrecap_server.web.routing import Routes
from sacrecap_studies.messages import Message

routes = Routes()
Text = Annotated[str, Form(max_length=400)]

_MOST_TOKENS = 20
LIFETIMES = {30: "30 days", 90: "90 days", 365: "1 year", 1095: "3 years"}
_NEEDED = {"read": Role.MEMBER, "submit": Role.MEMBER, "studies": Role.ORGANISER, "metrics": Role.ADMIN}


@routes.page("/sign-in", role=Role.ANYONE)
def sign_in_page(context: Context, next: str = "/") -> Response:
    return context.render("sign-in.html", next=inside(next), email="", problem="")


@routes.page("/sign-in", role=Role.ANYONE, methods=("POST",))
def sign_in_done(context: Context, email: Text = "", password: Text = "", next: Text = "/") -> Response:
    """One message and one duration for every failure, so that nobody learns which addresses have accounts."""
    email = address(email)
    attempt = Attempt(context, email, "sign-in")
    account = attempt.verified(password)
    if account is None:
        problem = Message("E-mail address or password is wrong.")
        return context.render("sign-in.html", 403, next=inside(next), email=email, problem=problem)
    with context.database.write() as session:
        context.set_cookie(sign_in(session, account.id))
        attempt.succeeded(session)
    return context.redirect(inside(next))


@routes.page("/sign-out", role=Role.ANYONE, methods=("POST",))
def sign_out_done(context: Context) -> Response:
    with context.database.write() as session:
        sign_out(session, context.cookie)
        context.audit(session, "sign-out", f"account {context.caller.account_id}" if context.caller.account_id else "")
    context.forget_cookies()
    return context.redirect("/sign-in", "signed-out")


@routes.page("/register", role=Role.ANYONE)
def register_page(context: Context, invitation: str = "") -> Response:
    """The form; for whoever is signed in, what the invitation gives to their account."""
    if context.caller.account_id is not None and not invitation:
        return context.redirect("/account")
    with context.database.read() as session:
        found = _invitation(session, context, invitation)
        joins = session.get(Team, found.team_id) if found is not None and found.team_id else None
    if found is not None and context.caller.account_id is not None:
        role = Role(found.role).name.lower() if found.role > context.caller.role else ""
        return _secret(context.render("join.html", invitation=invitation, joins=joins, role=role))
    return _secret(context.render("register.html", invitation=invitation, joins=joins, given={}, problems=[]))


@routes.page("/register", role=Role.ANYONE, methods=("POST",))
def register_done(
    context: Context,
    email: Text = "",
    password: Text = "",
    team: Text = "",
    affiliation: Text = "",
    invitation: Text = "",
) -> Response:
    """A known address gets the same answer as a new one, but changes nothing; where there is mail, its owner gets one.

    Where there is mail, the team is made once the address is confirmed: a name that is free or taken afterwards would
    tell whether the address was known.
    """
    context.state.limits.register_address.take(neighbourhood(context.address))
    email, team, affiliation = address(email), names.tidy(team), names.tidy(affiliation)[:160]
    hashed = hash_password(password[:200])
    wanted = Account(email=email, password=hashed, wanted_team=team, wanted_affiliation=affiliation)

    def register(session: Session) -> Response | None:
        found = _invitation(session, context, invitation, lock=True)
        joins = session.get(Team, found.team_id) if found is not None and found.team_id else None
        problems = _problems(session, email, password, None if joins else team, affiliation)
        if problems:
            given = {"email": email, "team": team, "affiliation": affiliation}
            page = context.render(
                "register.html", 422, invitation=invitation, joins=joins, given=given, problems=problems
            )
            return _secret(page)
        known = account_of(session, email)
        if known is None:
            _make(session, context, found, joins, wanted)
        else:
            _tell_owner(session, context, found, known)
        return None

    refusal: Response | None = context.database.write_again(register)
    if refusal is not None:
        return refusal
    context.state.post.wake()
    return context.redirect("/sign-in", "registered" if context.settings.mail == "none" else "registered-mail")


def _make(
    session: Session, context: RequestContext, invitation: Invitation | None, joins: Team | None, wanted: Account
) -> None:
    settings = context.settings
    trusted = settings.mail == "none"
    account = Account(email=wanted.email, password=wanted.password, confirmed=now() if trusted else None)
    account.role = invitation.role if invitation else Role.MEMBER
    if joins is not None:
        account.team_id = joins.id
    elif trusted:
        waiting = needs_approval(settings)
        account.team_id = make_team(session, wanted.wanted_team, wanted.wanted_affiliation, waiting=waiting).id
    else:
        account.wanted_team, account.wanted_affiliation = wanted.wanted_team, wanted.wanted_affiliation
    session.add(account)
    session.flush()
    if invitation is not None:
        invitation.used_by, invitation.accepted = account.id, now()
    context.audit(session, "account.made", f"account {account.id}")
    letter = letters.confirm(post.host_of(settings), GOOD_FOR[Purpose.CONFIRM])
    _write_to(session, context, account, letter, Purpose.CONFIRM)


def _tell_owner(session: Session, context: RequestContext, invitation: Invitation | None, known: Account) -> None:
    """What happens instead where the address has an account."""
    if invitation is not None:
        # It is theirs from now on, for when they are signed in: an invitation that still worked would tell that the
        # address was known.
        invitation.used_by = known.id
    context.audit(session, "account.known", f"account {known.id}")
    _write_to(session, context, known, letters.known(post.host_of(context.settings), context.settings.url))


def _write_to(
    session: Session, context: RequestContext, account: Account, letter: tuple[str, str], purpose: Purpose | None = None
) -> None:
    """Queues a letter that strangers can cause, as far as the limit of those goes."""
    limits = context.state.limits
    if context.settings.mail != "none" and limits.allows(session, limits.mail_to.of(account.mailbox)):
        post.queue(session, context.settings, account, letter, purpose)


def _invitation(session: Session, context: RequestContext, code: str, *, lock: bool = False) -> Invitation | None:
    """The invitation of this code; None if anybody may register and no code is given."""
    if not code and context.settings.registration != "invitation":
        return None
    found = invitations.find(session, code, context.caller.account_id, lock=lock)
    if found is None:
        if context.caller.account_id is not None:
            raise not_found("invitation, or it was used, or it is too old")
        raise Refused(403, "Registration needs an invitation that is not used or expired; ask who runs this server.")
    return found


def _problems(session: Session, email: str, password: str, team: str | None, affiliation: str) -> list[str]:
    problems: list[str] = []
    if not EMAIL.fullmatch(email):
        problems.append(Message("The e-mail address must look like name@example.org."))
    if reason := problem_with(password):
        problems.append(reason)
    if team is not None:
        problems += names.problems_with_team(session, team, affiliation)
    return problems


@routes.page("/account/join", role=Role.MEMBER, methods=("POST",))
def join(context: Context, invitation: Text = "") -> Response:
    """What an invitation gives, for an account that there is: its team, and its role where that is more."""
    with context.database.write() as session:
        found = _invitation(session, context, invitation or "-", lock=True)
        account = session.get_one(Account, context.caller.account_id)
        assert found is not None
        if found.team_id is not None:
            if account.team_id is not None:
                raise Refused(
                    422, "You are in the team %(team)s already, and can be in one only.", team=context.caller.team
                )
            account.team_id = found.team_id
        account.role = max(account.role, found.role)
        found.used_by, found.accepted = account.id, now()
        context.audit(session, "invitation.accepted", f"account {account.id}")
    return context.redirect("/account", "joined" if found.team_id else "saved")


@routes.page("/account/team", role=Role.MEMBER, methods=("POST",))
def make_own_team(context: Context, team: Text = "", affiliation: Text = "") -> Response:
    """A team for an account without one."""
    context.state.limits.register_address.take(neighbourhood(context.address))
    team, affiliation = names.tidy(team), names.tidy(affiliation)[:160]

    def make(session: Session) -> list[str]:
        account = session.get_one(Account, context.caller.account_id, with_for_update=True)
        if account.team_id is not None:
            raise Refused(422, "This account is in a team already, and can be in one only.")
        problems = names.problems_with_team(session, team, affiliation)
        if not problems:
            waiting = needs_approval(context.settings, context.caller)
            made = make_team(session, team, affiliation, waiting=waiting)
            account.team_id = made.id
            context.audit(session, "team.made", f"team {made.id}")
        return problems

    problems = context.database.write_again(make)
    if problems:
        return account_answer(context, 422, given={"team": team, "affiliation": affiliation}, team_problems=problems)
    return context.redirect("/account", "team-made")


@routes.page("/account", role=Role.MEMBER)
def account_page(context: Context) -> Response:
    return account_answer(context)


@routes.page("/account/tokens", role=Role.MEMBER, methods=("POST",))
def make_token(
    context: Context,
    name: Text = "",
    scopes: Annotated[list[str] | None, Form()] = None,
    days: Annotated[int, Form()] = TOKEN_DAYS,
) -> Response:
    """The one page that ever shows the token."""
    assert context.caller.account_id is not None
    wanted = scopes or ["read", "submit"]
    if days not in LIFETIMES:
        raise Refused(
            422, "A token is good for one of these numbers of days: %(days)s.", days=", ".join(map(str, LIFETIMES))
        )
    if not set(wanted) <= set(_scopes(context)):
        raise Refused(422, "This account's tokens can be for %(scopes)s.", scopes=", ".join(_scopes(context)))
    if len([token for token in _tokens(context) if token.revoked is None and token.expires > now()]) >= _MOST_TOKENS:
        raise Refused(422, "An account has at most %(most)s tokens. Revoke one first.", most=_MOST_TOKENS)
    label = names.visible(names.tidy(name))[:80] or "token"
    with context.database.write() as session:
        token = new_token(session, context.caller.account_id, label, [each for each in SCOPES if each in wanted], days)
        context.audit(session, "token.made", hint(token))
    return account_answer(context, new_token=token)


@routes.page("/account/tokens/{token_id}/revoke", role=Role.MEMBER, methods=("POST",), always=True)
def revoke_token(context: Context, token_id: int) -> Response:
    with context.database.write() as session:
        token = session.get(ApiToken, token_id)
        if token is None or token.account_id != context.caller.account_id:
            raise not_found("token")
        token.revoked = token.revoked or now()
        context.audit(session, "token.revoked", token.hint)
    return context.redirect("/account", "revoked")


@routes.page("/account/password", role=Role.MEMBER, methods=("POST",), always=True)
def change_password(context: Context, old: Text = "", new: Text = "") -> Response:
    """Ends every other sign-in of the account, and its tokens."""
    attempt = Attempt(context, context.caller.email, "password.changed")
    account = attempt.verified(old)
    problem = Message("The present password is wrong.") if account is None else problem_with(new)
    if account is None or problem:
        return account_answer(context, 422, problem=problem)
    hashed = hash_password(new)
    with context.database.write() as session:
        set_password(session, account.id, hashed)
        context.set_cookie(sign_in(session, account.id))
        attempt.succeeded(session)
    return context.redirect("/account", "password")


def account_answer(
    context: RequestContext,
    status: int = 200,
    *,
    new_token: str = "",
    problem: str | None = "",
    given: dict[str, str] | None = None,
    team_problems: list[str] | None = None,
) -> Response:
    """The account page, with what came of a form on it."""
    with context.database.read() as session:
        account = session.get_one(Account, context.caller.account_id)
    return context.render(
        "account.html",
        status,
        account=account,
        tokens=_tokens(context),
        new_token=new_token,
        problem=problem,
        given=given or {},
        team_problems=team_problems or [],
        scopes=_scopes(context),
        lifetimes=LIFETIMES,
        usual_days=TOKEN_DAYS,
    )


def _scopes(context: RequestContext) -> dict[str, str]:
    """What tokens of this account can be for."""
    return {scope: meaning for scope, meaning in SCOPES.items() if context.caller.role >= _NEEDED[scope]}


def _tokens(context: RequestContext) -> list[ApiToken]:
    with context.database.read() as session:
        query = select(ApiToken).where(ApiToken.account_id == context.caller.account_id).order_by(ApiToken.id)
        return list(session.execute(query).scalars())


def _secret(page: Response) -> Response:
    """A page whose address has a code: no other request may tell where it comes from."""
    page.headers["Referrer-Policy"] = "no-referrer"
    return page


def inside(path: str) -> str:
    """The path where it leads to this server; a link from outside must not send people elsewhere."""
    return path if re.fullmatch(r"/(?![/\\])[^\\\x00-\x1f]*", path) else "/"
