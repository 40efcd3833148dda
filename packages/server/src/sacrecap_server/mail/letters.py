"""What the server writes to people: subject and plain text of each kind of message."""

from __future__ import annotations

from datetime import timedelta

SIGNATURE = "\n\n-- \n{host}\n"


def confirm(host: str, within: timedelta) -> tuple[str, str]:
    """To a new account."""
    return f"Confirm your address for {host}", (
        f"Somebody, probably you, made an account with this address on {host}.\n\n"
        f"Open this link within {_spoken(within)} and enter the password that you chose:\n\n{{link}}\n\n"
        "If it was not you, do nothing: without that, the account can do nothing."
    )


def known(host: str, url: str) -> tuple[str, str]:
    """To whom has an account already, where somebody registers their address again."""
    return f"You have an account on {host}", (
        f"Somebody, probably you, tried to register this address on {host}. You have an account already, and nothing "
        f"was changed.\n\nSign in: {url}/sign-in\nSet a new password: {url}/forgot\n\n"
        "If you came by an invitation, sign in and open its link again: it is kept for you."
    )


def reset(host: str, within: timedelta) -> tuple[str, str]:
    """To whom forgot the password."""
    return f"A new password for {host}", (
        f"Somebody, probably you, asked for a new password for this address on {host}.\n\n"
        f"This link sets one. It works once, within {_spoken(within)}:\n\n{{link}}\n\n"
        "If it was not you, do nothing: your password stays as it is."
    )


def approved(host: str, url: str, team: str) -> tuple[str, str]:
    """To the members of a team that an administrator approved."""
    return f"Your team on {host} is approved", (
        f"The team {team} is approved. It can submit from now on: {url}/benchmarks"
    )


def refused(host: str, url: str, team: str) -> tuple[str, str]:
    """To the members of a team that an administrator refused."""
    return f"Your team on {host} was not approved", (
        f"The people who run {host} did not approve the team {team}. Your account stays; you can join a team by an "
        f"invitation of one of its members, or propose another one: {url}/account"
    )


def password_changed(host: str, url: str) -> tuple[str, str]:
    """After a reset, so that nobody loses an account without noticing."""
    return f"Your password for {host} was changed", (
        f"The password of your account on {host} was changed just now. All sign-ins and API tokens have ended.\n\n"
        f"If it was not you, set a new password at once: {url}/forgot"
    )


def _spoken(span: timedelta) -> str:
    hours = round(span.total_seconds() / 3600)
    if hours % 24:
        return "one hour" if hours == 1 else f"{hours} hours"
    return "one day" if hours == 24 else f"{hours // 24} days"
