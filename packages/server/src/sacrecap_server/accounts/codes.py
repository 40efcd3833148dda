"""One-time links: to confirm an address, and to set a new password."""

from __future__ import annotations

import datetime as dt
import enum
from typing import TYPE_CHECKING

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from sacrecap_server.accounts.passwords import digest, new_secret
from sacrecap_server.store.models import OneTimeCode, now

if TYPE_CHECKING:
    from sacrecap_server.settings.server import ServerSettings


class Purpose(enum.Enum):
    """What a link is for."""

    CONFIRM = "confirm"
    RESET = "reset"
    """Sent by mail: whoever uses it has shown that they read the account's mail."""
    HANDED = "handed"
    """A new password too, but handed over by an administrator: it shows nothing about the address."""


GOOD_FOR = {
    Purpose.CONFIRM: dt.timedelta(days=3),
    Purpose.RESET: dt.timedelta(hours=1),
    Purpose.HANDED: dt.timedelta(days=1),
}
_PATHS = {Purpose.CONFIRM: "/confirm", Purpose.RESET: "/reset", Purpose.HANDED: "/reset"}


def link(session: Session, settings: ServerSettings, account_id: int, purpose: Purpose) -> str:
    """A new link for the account: its only appearance in full. Stored is a hash."""
    code = new_secret()
    session.execute(delete(OneTimeCode).where(OneTimeCode.expires < now()))
    session.add(
        OneTimeCode(
            code_hash=digest(code), account_id=account_id, purpose=purpose.value, expires=now() + GOOD_FOR[purpose]
        )
    )
    return f"{settings.url}{_PATHS[purpose]}?code={code}"


def find(session: Session, code: str, *purposes: Purpose, lock: bool = False) -> OneTimeCode | None:
    """What the code of a link is for, where it is good and for one of the purposes."""
    wanted = [purpose.value for purpose in purposes]
    query = select(OneTimeCode).where(
        OneTimeCode.code_hash == digest(code), OneTimeCode.purpose.in_(wanted), OneTimeCode.expires > now()
    )
    return session.execute(query.with_for_update() if lock else query).scalar_one_or_none()


def use_up(session: Session, account_id: int, *purposes: Purpose) -> None:
    """Ends all links of the account for these purposes: the one that was used, and those that were not."""
    wanted = [purpose.value for purpose in purposes]
    session.execute(delete(OneTimeCode).where(OneTimeCode.account_id == account_id, OneTimeCode.purpose.in_(wanted)))
