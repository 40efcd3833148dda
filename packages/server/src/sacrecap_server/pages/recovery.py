"""Links with a code: confirm an address, set a new password."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form
from sqlalchemy.orm import Session

from sacrecap_server.accounts import teams
from sacrecap_server.accounts.access import Role, account_of, set_password, sign_in
from sacrecap_server.accounts.codes import GOOD_FOR, Purpose, find, link, use_up
from sacrecap_server.accounts.limits import neighbourhood
from sacrecap_server.accounts.operate import address
from sacrecap_server.accounts.passwords import hash_password, problem_with
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.mail import letters, post
from sacrecap_server.store.models import Account, mailbox, now
from sacrecap_server.web.attempts import Attempt
from sacrecap_server.web.context import Context, RequestContext, Response
from sacrecap_server.web.routing import Routes
from sacrecap_studies.messages import Message

routes = Routes()
Text = Annotated[str, Form(max_length=400)]
_NEW_PASSWORD = (Purpose.RESET, Purpose.HANDED)


@routes.page("/forgot", role=Role.ANYONE)
def forgot_page(context: Context) -> Response:
    return context.render("forgot.html")


@routes.page("/forgot", role=Role.ANYONE, methods=("POST",))
def forgot_done(context: Context, email: Text = "") -> Response:
    """The same answer whether the address has an account or not."""
    settings, limits = context.settings, context.state.limits
    if settings.mail == "none":
        raise Refused(422, "This server sends no mail. Ask the people who run it for a link that sets a new password.")
    limits.link_address.take(neighbourhood(context.address))
    email = address(email)
    with context.database.write() as session:
        account = account_of(session, email)
        allowed = limits.allows(session, limits.mail_to.of(mailbox(email)))
        context.audit(session, "reset.asked", f"account {account.id}" if account else "no account")
        if allowed and account is not None and not account.disabled:
            letter = letters.reset(post.host_of(settings), GOOD_FOR[Purpose.RESET])
            post.queue(session, settings, account, letter, Purpose.RESET)
    context.state.post.wake()
    return context.redirect("/forgot", "reset-sent")


@routes.page("/reset", role=Role.ANYONE)
def reset_page(context: Context, code: str = "") -> Response:
    with context.database.read() as session:
        account = _of(session, code, *_NEW_PASSWORD)
    return _with_code(context, "reset.html", code, account)


@routes.page("/reset", role=Role.ANYONE, methods=("POST",))
def reset_done(context: Context, code: Text = "", new: Text = "") -> Response:
    """Sets the password, ends all sign-ins, tokens and links of the account, and signs in."""
    with context.database.read() as session:
        account = _of(session, code, *_NEW_PASSWORD)
    if problem := problem_with(new):
        return _with_code(context, "reset.html", code, account, problem=problem, status=422)
    hashed = hash_password(new)
    settings, limits = context.settings, context.state.limits
    with context.database.write() as session:
        account = _of(session, code, *_NEW_PASSWORD, lock=True)
        if find(session, code, Purpose.RESET) is not None and account.confirmed is None:
            # The team is not made: whoever wanted it need not be who reads the mail.
            account.confirmed, account.wanted_team = now(), ""
            use_up(session, account.id, Purpose.CONFIRM)
        set_password(session, account.id, hashed)
        limits.forget(session, limits.sign_in_pair.of(f"{account.mailbox} {neighbourhood(context.address)}"))
        context.set_cookie(sign_in(session, account.id))
        context.audit(session, "password.reset", f"account {account.id}")
        post.queue(session, settings, account, letters.password_changed(post.host_of(settings), settings.url))
    context.state.post.wake()
    return context.redirect("/account", "reset-done")


@routes.page("/admin/accounts/{account_id}/reset", role=Role.ADMIN, methods=("POST",))
def hand_over(context: Context, account_id: int) -> Response:
    """The one page that ever shows the link, which an administrator hands over."""
    with context.database.write() as session:
        account = session.get(Account, account_id)
        if account is None:
            raise not_found("account")
        if account.disabled:
            raise Refused(422, "The account is disabled. Enable it first.")
        made = link(session, context.settings, account.id, Purpose.HANDED)
        context.audit(session, "reset.handed", f"account {account.id}")
    return context.render("handed.html", account=account, link=made)


@routes.page("/confirm", role=Role.ANYONE)
def confirm_page(context: Context, code: str = "") -> Response:
    with context.database.read() as session:
        account = _of(session, code, Purpose.CONFIRM)
    return _with_code(context, "confirm.html", code, account)


@routes.page("/confirm", role=Role.ANYONE, methods=("POST",))
def confirm_done(context: Context, code: Text = "", password: Text = "") -> Response:
    """Confirms the address, makes the team that was wanted, and signs in.

    It needs the password, or the sign-in: who only clicks, because a stranger gave their address, confirms nothing.
    """
    with context.database.read() as session:
        account = _of(session, code, Purpose.CONFIRM)
    attempt = None
    if context.caller.account_id != account.id:
        attempt = Attempt(context, account.email, "account.confirmed")
        if attempt.verified(password) is None:
            problem = Message("The password is wrong. It is the one that you chose when you registered.")
            return _with_code(context, "confirm.html", code, account, problem=problem, status=403)

    def confirm(session: Session) -> bool:
        account = _of(session, code, Purpose.CONFIRM, lock=True)
        if attempt is None:
            context.audit(session, "account.confirmed", f"account {account.id}")
        else:
            attempt.succeeded(session)
            context.set_cookie(sign_in(session, account.id))
        return teams.confirm(session, context.settings, account, context.audit)

    taken = context.database.write_again(confirm)
    return context.redirect("/account", "confirmed-taken" if taken else "confirmed")


@routes.page("/account/confirm", role=Role.MEMBER, methods=("POST",), always=True)
def send_again(context: Context) -> Response:
    """Another link for an address that is not confirmed."""
    settings, limits = context.settings, context.state.limits
    with context.database.write() as session:
        account = session.get_one(Account, context.caller.account_id)
        if account.confirmed is None:
            limits.take(session, limits.mail_to.of(account.mailbox))
            letter = letters.confirm(post.host_of(settings), GOOD_FOR[Purpose.CONFIRM])
            post.queue(session, settings, account, letter, Purpose.CONFIRM)
    context.state.post.wake()
    return context.redirect("/account", "confirm-sent")


def _of(session: Session, code: str, *purposes: Purpose, lock: bool = False) -> Account:
    """The account of a link's code; raises `Refused` if the link is not good (any more)."""
    found = find(session, code, *purposes, lock=lock)
    account = session.get(Account, found.account_id) if found is not None else None
    if account is None or account.disabled:
        raise Refused(404, "This link was used already, or is too old. Ask for a new one.")
    return account


def _with_code(
    context: RequestContext, template: str, code: str, account: Account, problem: str = "", status: int = 200
) -> Response:
    """A page whose address has the code: no other request may tell where it comes from."""
    page = context.render(template, status, code=code, account=account, problem=problem)
    page.headers["Referrer-Policy"] = "no-referrer"
    return page
