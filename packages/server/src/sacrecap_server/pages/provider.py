"""Signing in at an identity provider, beside passwords."""

from __future__ import annotations

import hmac
import time
from typing import Annotated

from fastapi import Form, Query
from sqlalchemy import select
from sqlalchemy.orm import Session

from sacrecap_server.accounts import invitations, teams
from sacrecap_server.accounts.access import Role, account_of, sign_in
from sacrecap_server.accounts.limits import neighbourhood
from sacrecap_server.accounts.provider import (
    BACK_SECONDS,
    Journey,
    Pending,
    Person,
    Provider,
    WrongTokenError,
    opened,
    sealed,
)
from sacrecap_server.accounts.remote_documents import AwayError
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.pages.account import inside
from sacrecap_server.store.models import Account, ExternalIdentity, now
from sacrecap_server.web.attempts import Attempt
from sacrecap_server.web.context import Context, RequestContext, Response
from sacrecap_server.web.routing import Routes
from sacrecap_studies.messages import Message

routes = Routes()
Given = Annotated[str, Query(max_length=4000)]
Text = Annotated[str, Form(max_length=400)]
_AWAY = Message(
    "The provider that people sign in at cannot be reached. Try again in a minute, or sign in with a password."
)


def _provider(context: RequestContext) -> Provider:
    if context.state.provider is None:
        raise not_found("page")
    return context.state.provider


@routes.page("/sign-in/provider", role=Role.ANYONE)
def leave(context: Context, next: Given = "/", invitation: Given = "") -> Response:
    """Redirects to the provider; the cookie holds what must come back."""
    try:
        address, journey = _provider(context).leave(inside(next), invitation)
    except AwayError:
        raise Refused(503, _AWAY, retry_after=60) from None
    answer = context.redirect(address)
    _set_cookie(context, answer, sealed(context.state.secret_key, journey))
    return answer


@routes.page("/sign-in/provider/done", role=Role.ANYONE)
def arrive(context: Context, code: Given = "", state: Given = "", error: Given = "", iss: Given = "") -> Response:
    """Back from the provider: in, with the account of this person, or with a new one."""
    provider = _provider(context)
    cookie = context.request.cookies.get(_cookie_name(context), "")
    journey: Journey = opened(context.state.secret_key, Journey, cookie)
    if not hmac.compare_digest(journey.state.encode(), state.encode()) or iss not in ("", provider.issuer):
        raise Refused(403, "The provider's answer does not belong to your sign-in. Begin again on the page Sign in.")
    if error or not code:
        raise Refused(403, "The provider did not let you in. Try again, or sign in with a password.")
    context.state.limits.sign_in_address.take(neighbourhood(context.address))
    try:
        person = provider.arrive(code, journey)
    except AwayError:
        raise Refused(503, _AWAY, retry_after=60) from None
    except WrongTokenError:
        raise Refused(403, "The provider's answer could not be verified. Begin again on the page Sign in.") from None
    with context.database.write() as session:
        account = _known(session, person)
        if account is None:
            account = _account_of(session, context, person, journey)
        if account is not None:
            answer = _enter(session, context, account, journey.next)
            _set_cookie(context, answer, "")
            return answer
    pending = Pending(person.issuer, person.subject, person.email, journey.next, time.time() + BACK_SECONDS)
    page = context.render("link-provider.html", email=person.email, problem="")
    _set_cookie(context, page, sealed(context.state.secret_key, pending))
    return page


@routes.page("/sign-in/provider/link", role=Role.ANYONE, methods=("POST",))
def link(context: Context, password: Text = "") -> Response:
    """The password of an account shows that it belongs to the person whom the provider knows."""
    _provider(context)
    cookie = context.request.cookies.get(_cookie_name(context), "")
    pending: Pending = opened(context.state.secret_key, Pending, cookie)
    attempt = Attempt(context, pending.email, "identity.linked")
    known = attempt.verified(password)
    if known is None:
        return context.render("link-provider.html", 403, email=pending.email, problem=Message("The password is wrong."))

    number = known.id

    def enter(session: Session) -> Response:
        account = session.get_one(Account, number)
        attempt.succeeded(session)
        session.merge(ExternalIdentity(issuer=pending.issuer, subject=pending.subject, account_id=account.id))
        # Password and address are shown, as by the link of a message.
        taken = teams.confirm(session, context.settings, account, context.audit)
        return _enter(session, context, account, pending.next, "confirmed-taken" if taken else "linked")

    answer: Response = context.database.write_again(enter)
    _set_cookie(context, answer, "")
    return answer


def _known(session: Session, person: Person) -> Account | None:
    found = session.get(ExternalIdentity, (person.issuer, person.subject))
    return session.get(Account, found.account_id) if found is not None else None


def _account_of(session: Session, context: RequestContext, person: Person, journey: Journey) -> Account | None:
    """The account that the person's verified address has, or a new one; None if its password must be shown first."""
    if not person.email:
        raise Refused(
            403,
            "The provider does not confirm that your e-mail address is verified, so we cannot know whose account this "
            "is. Have it verified there, or sign in with a password.",
        )
    account = account_of(session, person.email)
    if account is None:
        account = _make(session, context, person, journey)
    elif _is_somebody_elses(session, account, person):
        raise Refused(
            403, "The account of this address belongs to somebody else at the provider. Ask who runs this server."
        )
    elif account.password:
        # Somebody else may have registered with this address where nobody had to confirm it, and know the password.
        return None
    session.add(ExternalIdentity(issuer=person.issuer, subject=person.subject, account_id=account.id))
    context.audit(session, "identity.linked", f"account {account.id}")
    return account


def _is_somebody_elses(session: Session, account: Account, person: Person) -> bool:
    """Whether the provider knows the account's owner as another person: addresses are given to new people."""
    query = select(ExternalIdentity).where(ExternalIdentity.account_id == account.id)
    return session.execute(query.where(ExternalIdentity.issuer == person.issuer)).first() is not None


def _make(session: Session, context: RequestContext, person: Person, journey: Journey) -> Account:
    """A new account, where registration allows one. It has no password, and no team but that of an invitation."""
    invitation = None
    if journey.invitation or context.settings.registration == "invitation":
        invitation = invitations.find(session, journey.invitation, lock=True)
        if invitation is None:
            raise Refused(403, "A new account needs an invitation that still counts; ask who runs this server.")
    account = Account(email=person.email, password="", role=Role.MEMBER, confirmed=now())
    if invitation is not None:
        account.role, account.team_id = invitation.role, invitation.team_id
    session.add(account)
    session.flush()
    if invitation is not None:
        invitation.used_by, invitation.accepted = account.id, now()
    context.audit(session, "account.made", f"account {account.id}")
    return account


def _enter(session: Session, context: RequestContext, account: Account, path: str, notice: str = "") -> Response:
    if account.disabled:
        raise Refused(403, "This account is disabled.")
    context.set_cookie(sign_in(session, account.id))
    context.audit(session, "sign-in", f"account {account.id}")
    return context.redirect(inside(path), notice)


def _cookie_name(context: RequestContext) -> str:
    return f"{context.state.cookie_name}-provider"


def _set_cookie(context: RequestContext, answer: Response, value: str) -> None:
    """Lax, since it must come along on the way back from the provider's site."""
    answer.set_cookie(
        _cookie_name(context),
        value,
        path="/",
        httponly=True,
        samesite="lax",
        secure=context.settings.secure,
        max_age=BACK_SECONDS if value else 0,
    )
