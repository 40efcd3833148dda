"""What the door remembers: teams with the numbers of their links, and every submission that it took.

A submission is on the disk before it is in the table, and in the table before it is in its team's folder: whatever ends
this process, `recover` finds it whole, once. Quotas are counted in the transaction that takes the submission.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
import os
import re
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sacrecap.boards import Contest
from sacrecap.errors import DataError, UsageError
from sacrecap_server.contest.signatures import HOST, slug_of
from sacrecap_server.errors import Refused

_TABLES = """
CREATE TABLE IF NOT EXISTS team (
    slug TEXT PRIMARY KEY, folded TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE,
    renewal INTEGER NOT NULL DEFAULT 0, revoked INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS submission (
    team TEXT NOT NULL REFERENCES team, number INTEGER NOT NULL, sha TEXT NOT NULL, file TEXT NOT NULL,
    taken REAL NOT NULL, state TEXT NOT NULL, told TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (team, number), UNIQUE (team, sha)
) STRICT;
"""
_VERSION = 1
_BUSY_SECONDS = 5
INCOMING = ".tmp-"
"""How names of files begin that are on their way; boards read no name with a dot first."""
WAITS, SCORED, FAILED, GONE = "waits", "scored", "failed", "gone"


@dataclass(frozen=True)
class Team:
    """A team, or the host."""

    slug: str
    name: str
    renewal: int
    revoked: bool

    @property
    def is_host(self) -> bool:
        return self.slug == HOST


@dataclass(frozen=True)
class TakenFile:
    """A file that was taken."""

    team: str
    number: int
    sha: str
    file: str
    """Its name in the team's folder."""
    taken: dt.datetime
    state: str
    """`waits`, `scored`, `failed`, or `gone` where the host took the file away."""
    outcome: dict[str, Any]
    """What the team may know: scores, as `Contest.told` gives them, or the reason why there are none."""


class Ledger:
    """The database of one contest, and the folder `submissions` that it tells of."""

    def __init__(self, database: Path, folder: Path) -> None:
        self._database = database
        self.folder = folder / "submissions"
        self.clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.timezone.utc)
        if not database.exists():
            database.touch()
        with self._open() as connection:
            if (version := connection.execute("PRAGMA user_version").fetchone()[0]) not in (0, _VERSION):
                raise DataError(f"{database}: has tables of version {version}, and this sacrecap knows {_VERSION}")
            connection.executescript(f"{_TABLES} PRAGMA user_version = {_VERSION}")
            connection.execute("INSERT OR IGNORE INTO team (slug, folded, name) VALUES ('', '', '')")

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            # Where the file is gone, no other is made in its place: the links of all teams are in it.
            address = f"{self._database.absolute().as_uri()}?mode=rw"
            connection = sqlite3.connect(address, timeout=_BUSY_SECONDS, isolation_level=None, uri=True)
            try:
                # No write-ahead log: reading needs no space on the disk.
                connection.executescript("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
                yield connection
            finally:
                connection.close()
        except sqlite3.OperationalError as error:
            if "is full" in str(error):
                text = "The server has no space left, and nothing was saved. Try again later."
                raise Refused(507, text, retry_after=60) from error
            if any(words in str(error) for words in ("locked", "busy", "unable to open", "no such table", "disk I/O")):
                text = "The database does not answer now, and nothing was saved. Try again."
                raise Refused(503, text, retry_after=5) from error
            raise

    @contextlib.contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    def teams(self) -> list[Team]:
        """All teams by name."""
        with self._open() as connection:
            return _teams(connection, "slug != '' ORDER BY folded")

    def team(self, slug: str) -> Team | None:
        """A team, or the host."""
        with self._open() as connection:
            return next(iter(_teams(connection, "slug = ?", slug)), None)

    def make_team(self, name: str, *, by_host: bool = False) -> Team:
        """The team of this name, which is made where there is none; its folder's name is made of it.

        Raises `UsageError` for what is no name. A host, who may have written the same name in another way, gets one too
        where the folder would have another team's name; who comes through a proxy is somebody else.
        """
        name = " ".join(name.split())
        if not name or len(name) > 80 or not name.isprintable():
            raise UsageError(f"a team's name has 1 to 80 characters that can be printed, got {name!r}")
        with self._open() as connection:
            if teams := _teams(connection, "name = ?", name):
                return teams[0]
        with self._write() as connection:
            if teams := _teams(connection, "name = ?", name):
                return teams[0]
            slug = plain = slug_of(name, "team")
            number = 1
            while alike := _teams(connection, "folded = ?", slug.casefold()):
                if by_host:
                    raise UsageError(f"there is a team {alike[0].name!r}; give that name, or one that differs more")
                number += 1
                slug = f"{plain}-{number}"
            connection.execute("INSERT INTO team (slug, folded, name) VALUES (?, ?, ?)", (slug, slug.casefold(), name))
            return Team(slug, name, 0, revoked=False)

    def renew(self, slug: str, *, revoked: bool = False) -> Team:
        """Ends the team's links and cookies; without `revoked`, a new one opens the door."""
        with self._write() as connection:
            query = "UPDATE team SET renewal = renewal + 1, revoked = ? WHERE slug = ?"
            connection.execute(query, (int(revoked), slug))
            return _teams(connection, "slug = ?", slug)[0]

    def submissions(self, team: str | None = None) -> list[TakenFile]:
        """All submissions, or those of a team, the newest first."""
        with self._open() as connection:
            return _submissions(connection, "? IS NULL OR team = ? ORDER BY taken DESC, number DESC", team, team)

    def waiting(self, part: str, of: str) -> list[TakenFile]:
        """Those to be scored, or scored on another part or `of` other references; of each team the first."""
        with self._open() as connection:
            of_others = "json_extract(told, '$.part') != ? OR json_extract(told, '$.of') != ?"
            which = f"state = 'waits' OR (state = 'scored' AND ({of_others})) ORDER BY number, taken"
            waiting = _submissions(connection, which, part, of)
        firsts = {submission.team: submission for submission in reversed(waiting)}
        return [*firsts.values(), *(submission for submission in waiting if firsts[submission.team] is not submission)]

    def note(self, submission: TakenFile, state: str, scores: dict[str, Any]) -> None:
        """Stores what became of a submission."""
        with self._write() as connection:
            connection.execute(
                "UPDATE submission SET state = ?, told = ? WHERE team = ? AND number = ?",
                (state, json.dumps(scores), submission.team, submission.number),
            )

    def left(self, team: Team, contest: Contest, now: dt.datetime | None = None) -> dict[str, tuple[int, int]]:
        """For each limit of the quota, how many the team has left, and how many there are."""
        left = {}
        with self._open() as connection:
            for span, begins in _period_starts(now or self.clock()).items():
                if (most := getattr(contest.quota, span)) is not None:
                    query = "SELECT count(*) FROM submission WHERE team = ? AND taken >= ?"
                    [used] = connection.execute(query, (team.slug, begins.timestamp())).fetchone()
                    left[span] = (max(0, most - used), most)
        return left

    def check_allowed(self, team: Team, contest: Contest, now: dt.datetime) -> None:
        """Raises `Refused` if the team may not submit at this time, whatever the file."""
        check_open(contest, now)
        as_stored = self.team(team.slug)
        if as_stored is None or as_stored.revoked or as_stored.renewal != team.renewal:
            raise Refused(403, "This link was renewed or revoked. Ask the host for the new one.")
        for span, (left, most) in self.left(team, contest, now).items():
            if not left:
                later = _period_starts(now)[span] + dt.timedelta(days={"day": 1, "week": 7, "month": 32}[span])
                raise Refused(
                    429,
                    f"The team has used its {most} submissions of this {span} (UTC). "
                    f"The next one is possible from {_utc(_period_starts(later)[span])} on.",
                )

    def take(
        self, team: Team, declared: Callable[[], Contest], data: bytes, system: str, suffix: str
    ) -> tuple[TakenFile, bool]:
        """Takes a checked file: the submission, and whether it is new; a team's same file twice is one submission.

        `declared` tells what the contest is at the moment of the transaction: the host may have closed it meanwhile.
        Raises `Refused` where contest or quota say no, and `OSError` where the disk does; then nothing is taken.
        """
        sha = hashlib.sha256(data).hexdigest()
        folder = self._team_folder(team.slug)
        folder.mkdir(parents=True, exist_ok=True)
        incoming = folder / f"{INCOMING}{sha}-{secrets.token_hex(4)}"
        try:
            write(incoming, data)
            with self._write() as connection:
                now = self.clock()
                submissions = _submissions(connection, "team = ? AND sha = ?", team.slug, sha)
                if not submissions:
                    self.check_allowed(team, declared(), now)  # nobody else writes until this transaction ends
                    # One more than any that the team has, in the table or on a file that the host put into its folder.
                    query = "SELECT coalesce(max(number), 0) FROM submission WHERE team = ?"
                    numbers = [connection.execute(query, (team.slug,)).fetchone()[0]]
                    names = [path.name.partition("-")[0] for path in folder.iterdir()]
                    number = max(numbers + [int(name) for name in names if re.fullmatch(r"[0-9]{1,6}", name)]) + 1
                    file = f"{number:03}-{slug_of(system, 'system')}.{suffix}"
                    connection.execute(
                        "INSERT INTO submission (team, number, sha, file, taken, state) VALUES (?, ?, ?, ?, ?, ?)",
                        (team.slug, number, sha, file, now.timestamp(), WAITS),
                    )
        except BaseException:
            incoming.unlink(missing_ok=True)
            raise
        # From here on the submission is taken, whatever ends this process.
        submission = self.submission(team.slug, sha=sha)
        assert submission is not None
        if submission.state == GONE:
            incoming.unlink()
        else:
            self._place(incoming, submission)
        return submission, not submissions

    def submission(self, team: str, *, sha: str = "", number: int = 0) -> TakenFile | None:
        """The team's submission of these bytes, or of this number."""
        with self._open() as connection:
            return next(iter(_submissions(connection, "team = ? AND (sha = ? OR number = ?)", team, sha, number)), None)

    def path(self, submission: TakenFile) -> Path:
        return self._team_folder(submission.team) / submission.file

    def choice(self, team: str) -> str:
        """The name of the file that the team chose; empty without one."""
        try:
            return (self._team_folder(team) / "final").read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError, Refused):
            return ""

    def choose(self, team: Team, declared: Callable[[], Contest], number: int | None) -> None:
        """Lets this submission count, or again the team's best one. Raises `Refused` after the end."""
        final = self._team_folder(team.slug) / "final"
        with self._write() as connection:  # an order among several choices, and with the end
            check_open(declared(), self.clock())
            if number is None:
                final.unlink(missing_ok=True)
                return
            submissions = _submissions(connection, "team = ? AND number = ?", team.slug, number)
            if not submissions or submissions[0].state == GONE:
                raise Refused(404, "The team has no such submission.")
            place(final, f"{submissions[0].file}\n".encode())

    def recover(self) -> None:
        """After a start: places what was taken, removes what nobody was told of, and tries again what failed."""
        for submission in self.submissions():
            if submission.state == FAILED:
                self.note(submission, WAITS, {})
            if self.is_linked(submission.team) or submission.state == GONE or self.path(submission).exists():
                continue
            for path in self._team_folder(submission.team).glob(f"{INCOMING}{submission.sha}-*"):
                if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == submission.sha:
                    self._place(path, submission)
                    break
        for path in self.folder.glob(f"*/{INCOMING}*"):
            if path.is_file() and not path.parent.is_symlink():
                path.unlink()
        self.compare_folder(seconds=0)

    def compare_folder(self, seconds: float = 10) -> None:
        """Notes what the host took away, or put back; what was taken just now may be on its way into the folder."""
        before = self.clock() - dt.timedelta(seconds=seconds)
        for submission in self.submissions():
            is_there = not self.is_linked(submission.team) and self.path(submission).exists()
            if is_there and submission.state == GONE:
                self.note(submission, WAITS, {})
            elif not is_there and submission.state != GONE and submission.taken <= before:
                self.note(submission, GONE, submission.outcome)

    def read(self, submission: TakenFile) -> bytes:
        """The file. Raises `FileNotFoundError` where the host took it away, or put a link in its place."""
        path = self.path(submission)
        if path.is_symlink() or not path.is_file():
            raise FileNotFoundError(path.name)
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            return file.read()

    def is_linked(self, slug: str) -> bool:
        """Whether somebody put a link in the place of the team's folder."""
        return self.folder.is_symlink() or (self.folder / slug).is_symlink()

    def _team_folder(self, slug: str) -> Path:
        """The team's folder. Raises `Refused` where somebody put a link in its place."""
        folder = self.folder / slug
        if self.is_linked(slug):
            raise Refused(503, "The host has to look after this contest: a folder of submissions is a link.")
        return folder

    def _place(self, incoming: Path, submission: TakenFile) -> None:
        target = self.path(submission)
        if target.exists():
            incoming.unlink()
            return
        incoming.rename(target)
        sync(target.parent)


def check_open(contest: Contest, now: dt.datetime) -> None:
    """Raises `Refused` before the contest starts, and after it has ended."""
    phase = contest.phase(now)
    if phase == "before":
        raise Refused(403, f"The contest takes submissions from {_utc(contest.starts)} on.")
    if phase == "over":
        raise Refused(403, f"The contest has ended, {_utc(contest.ends)}: nothing changes any more.")


def write(path: Path, data: bytes) -> None:
    """A new file, on the disk when this returns."""
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def place(path: Path, data: bytes) -> None:
    """The file with these bytes, or, whatever happens, as it was."""
    beside = path.with_name(f"{INCOMING}{secrets.token_hex(8)}")
    try:
        write(beside, data)
        beside.replace(path)
        sync(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def sync(folder: Path) -> None:
    """The names of a folder are on the disk when this returns; Windows has no such call."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _period_starts(now: dt.datetime) -> dict[str, dt.datetime]:
    """When day, week (from Monday) and month of a time began, in UTC."""
    day = now.astimezone(dt.timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    return {"day": day, "week": day - dt.timedelta(days=day.weekday()), "month": day.replace(day=1)}


def _utc(time: dt.datetime | None) -> str:
    assert time is not None  # a phase begins or ends with it
    return f"{time.astimezone(dt.timezone.utc):%Y-%m-%d %H:%M} UTC"


def _teams(connection: sqlite3.Connection, condition: str, *values: object) -> list[Team]:
    rows = connection.execute(f"SELECT slug, name, renewal, revoked FROM team WHERE {condition}", values)  # noqa: S608
    return [Team(slug, name, renewal, bool(revoked)) for slug, name, renewal, revoked in rows]


def _submissions(connection: sqlite3.Connection, condition: str, *values: object) -> list[TakenFile]:
    columns = "team, number, sha, file, taken, state, told"
    rows = connection.execute(f"SELECT {columns} FROM submission WHERE {condition}", values)  # noqa: S608
    return [
        TakenFile(team, number, sha, file, dt.datetime.fromtimestamp(time, dt.timezone.utc), state, json.loads(scores))
        for team, number, sha, file, time, state, scores in rows
    ]
