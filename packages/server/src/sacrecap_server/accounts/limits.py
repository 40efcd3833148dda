"""Rate limits: how often the same account or address may try within a time.

They are rows of the database, so servers of one database share them and a restart does not reset them. A refused
attempt costs one read; a counted one, a small write.

Wrong passwords are limited by pairs of account and address, with pauses that double. So strangers, who come from other
addresses, cannot keep an owner out. Very many wrong passwords from many addresses only slow down attempts from
addresses that the account was never used from.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import ipaddress
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from sacrecap_server.errors import Refused
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import RateCount, now
from sacrecap_studies.messages import Message

_PRUNE_EVERY = 200
_REMEMBERED = dt.timedelta(days=90)


class CountRule(Protocol):
    """What is done with the count of one key."""

    def wait(self, row: RateCount, moment: dt.datetime) -> float:
        """Seconds until the next one is allowed; 0 if it is now."""

    def add(self, row: RateCount, moment: dt.datetime) -> None:
        """Counts one."""


@dataclass(frozen=True)
class Window:
    """At most `times` in `seconds`, which begin with the first of them."""

    times: int
    seconds: float

    def wait(self, row: RateCount, moment: dt.datetime) -> float:
        return (row.ends - moment).total_seconds() if row.count >= self.times else 0.0

    def add(self, row: RateCount, moment: dt.datetime) -> None:
        if row.ends <= moment:
            row.count, row.ends = 0, moment + dt.timedelta(seconds=self.seconds)
        row.count += 1
        row.expires = row.ends


@dataclass(frozen=True)
class Pauses:
    """After `free` of them, a pause before each: one second, then twice as long each time, up to `longest`.

    Everything is forgotten a day after the last.
    """

    free: int
    longest: float

    def wait(self, row: RateCount, moment: dt.datetime) -> float:
        return (row.ends - moment).total_seconds()

    def add(self, row: RateCount, moment: dt.datetime) -> None:
        row.count = row.count + 1 if row.expires > moment else 1
        pause = min(2.0 ** min(row.count - self.free, 30), self.longest) if row.count >= self.free else 0.0
        row.ends, row.expires = moment + dt.timedelta(seconds=pause), moment + dt.timedelta(days=1)


class RateLimit:
    """One limit; each key, such as an account's number, has a count of its own."""

    def __init__(self, limits: RateLimits, name: str, rule: CountRule) -> None:
        self._limits = limits
        self._name = name
        self.rule = rule

    def of(self, key: str) -> LimitKey:
        """The count of a key; what is stored is a hash of it."""
        return LimitKey(hashlib.sha256(f"{self._name}:{key}".encode()).hexdigest(), self.rule)

    def take(self, key: str) -> None:
        """Counts one, in a transaction of its own; raises `Refused` (429, with the time to wait) beyond the limit."""
        self._limits.check(self.of(key))
        with self._limits.database.write() as session:
            self._limits.take(session, self.of(key))


@dataclass(frozen=True)
class LimitKey:
    """One key of a limit."""

    row: str
    rule: CountRule


class RateLimits:
    """The limits of one server, on the database that it may share with others."""

    def __init__(self, database: Database, clock: Callable[[], dt.datetime] = now) -> None:
        self.database = database
        self.clock = clock
        self._taken = itertools.count(1)
        self.sign_in_pair = RateLimit(self, "sign-in pair", Pauses(free=5, longest=900))
        self.sign_in_account = RateLimit(self, "sign-in account", Pauses(free=100, longest=10))
        self.sign_in_address = RateLimit(self, "sign-in address", Window(60, 600))
        self.signed_in_from = RateLimit(self, "signed in from", Window(1, _REMEMBERED.total_seconds()))
        """Not a limit but a memory (`remember`): the addresses that an account was used from."""
        self.register_address = RateLimit(self, "register", Window(20, 3600))
        self.begin_address = RateLimit(self, "begin", Window(60, 3600))
        """People who begin a study from one address."""
        self.link_address = RateLimit(self, "link", Window(20, 3600))
        """Links asked for, or tried, from one address."""
        self.mail_to = RateLimit(self, "mail to", Window(5, 3600))
        """Letters to one address that anybody can cause."""
        self.submit_account = RateLimit(self, "submit", Window(20, 60))
        self.submit_large = RateLimit(self, "submit large", Window(10, 600))

    def check(self, *counted: LimitKey) -> None:
        """Raises `Refused` (429) if one of them is beyond its limit, without counting."""
        with self.database.read() as session:
            rows = {row.key: row for row in session.execute(self._rows(counted)).scalars()}
        self._refuse_beyond(rows, counted)

    def take(self, session: Session, *counted: LimitKey) -> None:
        """Counts one of each, in the caller's transaction; raises `Refused` if one is beyond its limit."""
        rows = self._locked(session, counted)
        self._refuse_beyond(rows, counted)
        moment = self.clock()
        for each in counted:
            each.rule.add(rows[each.row], moment)
        if next(self._taken) % _PRUNE_EVERY == 0:
            self.prune(session)

    def allows(self, session: Session, counted: LimitKey) -> bool:
        """Counts one where the limit allows it; for what must not tell the caller."""
        try:
            self.take(session, counted)
        except Refused:
            return False
        return True

    def lock(self, session: Session, *counted: LimitKey) -> None:
        """For a transaction that then changes one after the other: so no other holds one of them and waits for us."""
        self._locked(session, counted)

    def forget(self, session: Session, *counted: LimitKey) -> None:
        """Begins anew, as after the right password."""
        session.execute(delete(RateCount).where(RateCount.key.in_([each.row for each in counted])))

    def give_back(self, session: Session, *counted: LimitKey) -> None:
        """Takes one back, which turned out to be no abuse, and any pause with it."""
        for each, row in zip(counted, self._locked(session, counted).values(), strict=True):
            row.count = max(row.count - 1, 0)
            if isinstance(each.rule, Pauses):
                row.ends = self.clock()

    def remembers(self, session: Session, counted: LimitKey) -> bool:
        """Whether `remember` was called for it in the last 90 days."""
        row = session.get(RateCount, counted.row)
        return row is not None and row.expires > self.clock()

    def remember(self, session: Session, counted: LimitKey) -> None:
        """Keeps a row for it, from now."""
        row = self._locked(session, [counted])[counted.row]
        row.ends = row.expires = self.clock() + _REMEMBERED

    def prune(self, session: Session) -> None:
        """Deletes the rows that mean nothing any more."""
        session.execute(delete(RateCount).where(RateCount.expires < self.clock()))

    def _rows(self, counted: Sequence[LimitKey]) -> Any:
        return select(RateCount).where(RateCount.key.in_([each.row for each in counted]))

    def _locked(self, session: Session, counted: Sequence[LimitKey]) -> dict[str, RateCount]:
        """The rows, in the order of `counted`: made where there are none, and locked until the transaction ends."""
        if self.database.is_sqlite:
            from sqlalchemy.dialects.sqlite import insert
        else:
            from sqlalchemy.dialects.postgresql import insert  # type: ignore[assignment]
        moment = self.clock()
        # In one order for all, so that no two transactions wait for each other.
        new = [
            {"key": key, "count": 0, "ends": moment, "expires": moment} for key in sorted(each.row for each in counted)
        ]
        # Not "do nothing": a row that is there would not be locked, and somebody could delete it meanwhile.
        made = insert(RateCount).values(new)
        same = {"key": made.excluded.key}
        session.execute(made.on_conflict_do_update(index_elements=[RateCount.key], set_=same))
        found = {row.key: row for row in session.execute(self._rows(counted)).scalars()}
        return {each.row: found[each.row] for each in counted}

    def _refuse_beyond(self, rows: dict[str, RateCount], counted: Sequence[LimitKey]) -> None:
        moment = self.clock()
        wait = max((each.rule.wait(rows[each.row], moment) for each in counted if each.row in rows), default=0.0)
        if wait > 0:
            seconds = int(wait) + 1
            raise Refused(429, "Too many attempts. Try again in %(time)s.", retry_after=seconds, time=_spoken(seconds))


def neighbourhood(address: str) -> str:
    """The address, or the network of an IPv6 address: one customer has 2**64 of those."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), 64), strict=False))


def _spoken(seconds: int) -> Message:
    if seconds < 120:
        return Message("%(number)s seconds", number=seconds)
    return Message("%(number)s minutes", number=-(-seconds // 60))
