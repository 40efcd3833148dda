"""A contest in a folder: what `contest.toml` declares, and the files that teams submitted."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
import os
import random
import re
import secrets
import stat
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from sacrecap.boards.examination import CaptionLimits, problems
from sacrecap.data import fields
from sacrecap.data.fields import Invalid, toml_document
from sacrecap.data.source import PathLike, read_bytes, reading
from sacrecap.data.writers import atomic_write
from sacrecap.errors import DataError, nearest

if TYPE_CHECKING:
    from sacrecap.boards.contest_board import ContestBoard
    from sacrecap.resources.needs import Needs


FILE = "contest.toml"
SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".txt")
"""What the names of submissions end in."""
LARGEST = 64 * 2**20
"""Bytes of a submission."""
FINAL = "final"
"""The file in a team's folder whose line is the name of its final choice."""
ALL, PUBLIC, PRIVATE = "all", "public", "private"
Phase = Literal["before", "open", "over"]


@dataclass(frozen=True)
class Quota:
    """How many submissions a team has; None for as many as it likes."""

    day: int | None = None
    week: int | None = None
    month: int | None = None


class Submission(NamedTuple):
    """A file of a team."""

    team: str
    name: str
    """That of the file."""
    system: str
    """TEAM/FILE without the suffix: what the board calls it."""
    path: str

    def read(self) -> bytes:
        """What the file has. Raises `DataError` if it is gone, no file, or larger than `LARGEST`."""
        return _read(self.path, LARGEST)


class Submissions(NamedTuple):
    """What teams submitted."""

    teams: dict[str, list[Submission]]
    """In order of the teams' names; of a team, in order of the numbers or words that the files' names begin with."""
    final: dict[str, Submission]
    """The final choice of teams that made one."""
    left_out: list[str]
    """A sentence for each thing in the folder that is not read."""


@dataclass(frozen=True)
class Contest:
    """What `contest.toml` declares.

    Examples:
        >>> contest = sacrecap.boards.Contest.load("contest")  # doctest: +SKIP
        >>> contest.board().write("site")  # doctest: +SKIP
    """

    folder: str
    title: str
    references: dict[str, str]
    """Paths of one or several sets of references of the same images by their names, `c5` of `c5.json`: the first
    ranks; others may have fewer images."""
    host: str = ""
    """Who holds it, as text."""
    rules: str = ""
    """What teams are told, as text."""
    starts: dt.datetime | None = None
    ends: dt.datetime | None = None
    """With their zones."""
    metrics: str = "coco"
    rank_by: str | None = None
    """The metric that ranks; CIDEr-D by default, or else the first."""
    tokenizer: str = "ptb"
    rows: int = 1
    """How many systems of a team the board shows."""
    objects: str | None = None
    """The path of the images' objects, for CHAIR and VIFIDEL."""
    quota: Quota = Quota()
    private: int = 0
    """Per cent of the images whose scores are told after the end."""
    limits: CaptionLimits = field(default_factory=CaptionLimits)

    @classmethod
    def load(cls, folder: PathLike) -> Contest:
        """Reads the `contest.toml` of a folder, and no other file.

        Raises:
            DataError: it cannot be read, or declares what cannot be; in one line.
        """
        folder = os.path.abspath(folder)
        if not os.path.isdir(folder):
            raise DataError(f"{folder}: no such folder")
        path = os.path.join(folder, FILE)
        if not os.path.isfile(path):
            raise DataError(f"{folder}: has no {FILE}, which names the references; docs/howto/make-a-board.md has one")
        with reading(path), open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            document = toml_document(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}: {error}") from None
        return cls(folder, **_declared(document, path, folder))

    def phase(self, now: dt.datetime | None = None) -> Phase:
        """Whether submissions are taken: `before` the start, `open`, or `over`."""
        now = now or dt.datetime.now(dt.timezone.utc)
        if self.ends is not None and now >= self.ends:
            return "over"
        return "before" if self.starts is not None and now < self.starts else "open"

    def part(self, now: dt.datetime | None = None) -> str:
        """The images whose scores are told: `all`; or `public` until the end, and then `private`."""
        if not self.private:
            return ALL
        return PRIVATE if self.phase(now) == "over" else PUBLIC

    @cached_property
    def _images(self) -> list[str]:
        from sacrecap.corpus.corpus import as_references

        return list(as_references(self.first).image_ids)

    @property
    def first(self) -> str:
        """The path of the references that rank."""
        return next(iter(self.references.values()))

    def images(self) -> list[str]:
        """The ids of the images that each submission describes. Raises `DataError` for unreadable references."""
        return list(self._images)

    def public_images(self, now: dt.datetime | None = None) -> list[str]:
        """Those of which anybody may learn: all but the private ones, and all after the end."""
        hidden = self.private_part.images if self.part(now) == PUBLIC else ()
        return [image for image in self._images if image not in hidden]

    @property
    def private_path(self) -> str:
        """The file of the private images, `c5.private.json` beside `c5.json`."""
        folder, name = os.path.split(self.first)
        return os.path.join(folder, f"{name.partition('.')[0]}.private.json")

    @cached_property
    def private_part(self) -> PrivatePart:
        """The private images of their file; where there is none, so many per cent are drawn, and written there.

        Raises `DataError`: the file cannot be read or written, or has another draw than of these images, this share and
        the contest whose folder has this name: the contest that ends first would tell the private images of the others.
        """
        path, images, share, contest = self.private_path, self._images, self.private, os.path.basename(self.folder)
        count = round(len(images) * share / 100)
        if min(count, len(images) - count) < FEWEST:
            raise DataError(f"{path}: a private part of {share} % of {len(images):,} images leaves a part without two")
        if not os.path.exists(path):
            _draw(path, images, count, contest)
        data = read_bytes(path)
        try:
            document = json.loads(data)
            private, drawn_for = frozenset(map(str, document["images"])), document.get("contest", contest)
        except (ValueError, KeyError, TypeError):
            private, drawn_for = frozenset(), contest
        if drawn_for != contest:
            raise DataError(
                f"{path}: was drawn for the contest {drawn_for!r}, and this is {contest!r}; put a copy of the "
                "references into another folder, or give the contest's folder its name again"
            )
        if len(private) != count or not private <= set(images):
            raise DataError(
                f"{path}: has {len(private):,} images, no draw of {share} % of the {len(images):,} of the references; "
                "restore these and the share, or take it away before the contest starts"
            )
        return PrivatePart(private, data)

    def submissions(self) -> Submissions:
        """The files in `submissions/TEAM`, without following links; a folder that is not there is empty.

        Files are read later, and may be gone by then.
        """
        submitted = Submissions({}, {}, [])
        left_out = submitted.left_out
        for entry in _entries(os.path.join(self.folder, "submissions"), "submissions", left_out):
            where = f"submissions/{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                left_out.append(f"{where}: no folder of a team")
                continue
            team = submitted.teams[entry.name] = _of_team(entry, where, left_out)
            try:
                chosen = _read(os.path.join(entry.path, FINAL), 1000).decode("utf-8", "replace")
            except DataError:
                continue
            chosen = chosen.partition("\n")[0].strip()
            if named := [submission for submission in team if submission.name == chosen]:
                submitted.final[entry.name] = named[0]
            else:
                left_out.append(f"{where}/{FINAL}: names {chosen!a}, which is no submission; the best counts")
        return submitted

    def check(self) -> None:
        """Scores each image's first reference, and draws the private part.

        Raises `DataError` or `UsageError` for references, objects, metrics or parts of which no board can be made.
        """
        from sacrecap.boards.contest_board import ContestScoring

        scoring = ContestScoring(self)
        for name in scoring.references:
            scoring.score(name, scoring.references[scoring.first])

    def problems(self, data: bytes) -> list[str]:
        """Everything that is wrong with a submitted file, a sentence for each kind; none if it can be scored.

        Hostile data costs time and memory: see to both.
        """
        from sacrecap.boards.scored import limits_for

        return problems(data, self._images, limits_for(self.limits, self.metrics))

    def told(self, data: bytes, now: dt.datetime | None = None) -> dict[str, Any]:
        """What a team may know of a file without problems: `part`, and by set of references the `scores` and
        `intervals` by metric. Raises `DataError` for one with problems.
        """
        from sacrecap.boards.contest_board import ContestScoring

        return ContestScoring(self).scores_of(data, self.part(now))

    def board(
        self, now: dt.datetime | None = None, *, needs: Needs | Mapping[str, object] | None = None, threads: int = 0
    ) -> ContestBoard:
        """The board of all submissions as anybody may see it now.

        Args:
            now: private scores are on the board if the contest is over then.
            needs: what metrics need in addition to captions and objects, as for [`sacrecap.score`][].
            threads: number of threads; 0 means one per core.

        Raises:
            DataError: references or objects cannot be read, or the private part does not fit them.
        """
        from sacrecap.boards.contest_board import board_of

        return board_of(self, self.part(now), needs, threads)


def _declared(document: Mapping[str, Any], path: str, folder: str) -> dict[str, Any]:
    """The fields of a `Contest`. Raises `DataError` for the first that is wrong."""
    values = _table(document, _KEYS, path)
    if "references" not in values:
        raise DataError(f'{path}: has no references, as references = ["../hidden/c5.json"]')
    sets: dict[str, str] = {}
    for name in values["references"]:
        place = _hidden(name, "references", path, folder)
        stem = os.path.basename(place).partition(".")[0]
        if stem in sets:
            raise DataError(f"{path}: references has two files called {stem}; a board needs a name for each")
        sets[stem] = place
    if "objects" in values:
        values["objects"] = _hidden(values["objects"], "objects", path, folder)
    private = values.pop("private", {"share": 0})
    if "share" not in private:
        raise DataError(f"{path}: [private] has no share; give the per cent of the images, as share = 50")
    starts, ends = values.get("starts"), values.get("ends")
    if starts is not None and ends is not None and ends <= starts:
        raise DataError(f"{path}: ends, {ends}, is not after starts, {starts}")
    if private["share"] and ends is None:
        raise DataError(f"{path}: has a private part and no ends, so its scores would never be told; give ends")
    tables = {"quota": Quota(**values.pop("quota", {})), "limits": CaptionLimits(**values.pop("limits", {}))}
    return {"title": os.path.basename(folder), **values, **tables, "references": sets, "private": private["share"]}


def _table(document: Mapping[str, Any], keys: Mapping[str, _Check], path: str, within: str = "") -> dict[str, Any]:
    """The values of a table by its keys, each checked."""
    values = {}
    for key, value in document.items():
        if key not in keys:
            near = nearest(key, keys)
            hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(keys)}"
            raise DataError(f"{path}: unknown key {within}{key}{hint}")
        check = keys[key]
        if callable(check):
            values[key] = fields.checked(f"{path}: {within}{key}", check, value)
        elif isinstance(value, dict):
            values[key] = _table(value, check, path, f"{key}.")
        else:
            raise DataError(f"{path}: {key} {Invalid.of(value, 'a table of settings')}")
    return values


def _hidden(name: str, key: str, path: str, folder: str) -> str:
    """The absolute path of a file that participants do not see. Raises `DataError` for one that they do."""
    lexical = os.path.abspath(os.path.join(folder, name))
    for place, inside in ((lexical, folder), (os.path.realpath(lexical), os.path.realpath(folder))):
        if is_inside(place, inside):
            raise DataError(
                f"{path}: {key} has {name}, which lies in the folder that participants see, {folder}; keep it "
                f"outside, as ../hidden/{os.path.basename(name)}"
            )
    return lexical


def is_inside(path: str, folder: str) -> bool:
    """Whether an absolute path is that of a folder, or of something in it."""
    return os.path.join(path, "").startswith(os.path.join(folder, ""))


def _date(value: Any) -> dt.datetime:
    if not isinstance(value, dt.datetime) or value.tzinfo is None:
        raise Invalid.of(value, "a date and time with its zone and without quotes, as 2027-02-01T23:59:59Z")
    return value


def _texts(value: Any) -> list[str]:
    return fields.texts([value] if isinstance(value, str) else value)


def _whole(least: int, most: int = 1_000_000) -> Callable[[Any], int]:
    return lambda value: fields.whole(value, least, most)


_Check: TypeAlias = "Callable[[Any], Any] | Mapping[str, _Check]"
_KEYS: dict[str, _Check] = {
    **dict.fromkeys(("title", "host", "rules", "rank_by", "tokenizer", "objects"), fields.text),
    **dict.fromkeys(("starts", "ends"), _date),
    "metrics": lambda value: ", ".join(_texts(value)),
    "rows": _whole(1, 100),
    "references": _texts,
    "quota": dict.fromkeys(("day", "week", "month"), _whole(0)),
    "private": {"share": _whole(1, 95)},
    "limits": {"most_degenerate": _whole(0, 100), "most_same": _whole(0, 100), "longest_words": _whole(1)},
}


def _of_team(team: os.DirEntry[str], kind: str, left_out: list[str]) -> list[Submission]:
    names = []
    for entry in _entries(team.path, kind, left_out):
        if not entry.is_file(follow_symlinks=False):
            left_out.append(f"{kind}/{entry.name}: no file")
        elif entry.name.lower().endswith(SUFFIXES):
            names.append(entry.name)
        elif entry.name != FINAL:
            left_out.append(f"{kind}/{entry.name}: names of submissions end in {', '.join(SUFFIXES)}")

    def number(name: str) -> tuple[float, str]:
        """That which the name begins with; names without one come last."""
        digits = re.match(r"[0-9]{1,15}", name)
        return float(digits.group()) if digits else float("inf"), name

    stems = Counter(os.path.splitext(name)[0] for name in names)
    submissions = []
    for name in sorted(names, key=number):
        stem = os.path.splitext(name)[0]
        system = f"{team.name}/{name if stems[stem] > 1 else stem}"
        submissions.append(Submission(team.name, name, system, os.path.join(team.path, name)))
    return submissions


def _entries(folder: str, kind: str, left_out: list[str]) -> list[os.DirEntry[str]]:
    """What a folder has by name, but for names that begin with a dot or an underscore, and links, which are told."""
    if os.path.islink(folder):
        left_out.append(f"{kind}: a link, which is not followed")
        return []
    try:
        with os.scandir(folder) as scanned:
            entries = [entry for entry in scanned if not entry.name.startswith((".", "_"))]
    except FileNotFoundError:
        return []
    except OSError as error:
        left_out.append(f"{kind}: {error.strerror}")
        return []
    places = []
    for entry in sorted(entries, key=lambda entry: entry.name):
        if entry.is_symlink():
            left_out.append(f"{kind}/{entry.name!a}: a link, which is not followed")
        elif not entry.name.isprintable():
            left_out.append(f"{kind}/{entry.name!a}: its name has signs that cannot be printed")
        else:
            places.append(entry)
    return places


def _read(path: str, most: int) -> bytes:
    """A file that is no link, of at most so many bytes. Raises `DataError`, without the folder that it lies in."""
    name = os.path.basename(path)
    try:
        # So that a link or a pipe that takes a file's place is not read.
        flags = ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC")
        opened = os.open(path, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags))
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise DataError(f"{name}: no file")
    with open(opened, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise DataError(f"{name}: larger than {most:,} bytes")
    return data


FEWEST = 2
"""Images of a part; one says nothing of others."""


class PrivatePart(NamedTuple):
    """The images that are drawn, and what shows afterwards that they were not changed."""

    images: frozenset[str]
    data: bytes
    """Their file, nobody's business before the end. It has the seed of the draw, `random.Random(seed).sample` of the
    sorted ids, and a nonce: without that, whoever guesses the images could see in the checksum that they are right."""

    @property
    def checksum(self) -> str:
        """SHA-256 of the file, which is told from the beginning."""
        return hashlib.sha256(self.data).hexdigest()


def _draw(path: str, images: Sequence[str], count: int, contest: str) -> None:
    """Draws, and writes whole; a file that another process has written meanwhile stays."""
    seed = secrets.randbits(62)
    private = set(random.Random(seed).sample(sorted(images), count))
    drawn = [image for image in images if image in private]
    document = {"contest": contest, "nonce": secrets.token_hex(16), "seed": seed, "images": drawn}
    beside = f"{path}.{secrets.token_hex(4)}"
    try:
        with atomic_write(beside) as file:
            json.dump(document, file)
        with contextlib.suppress(FileExistsError):
            os.link(beside, path)
        os.unlink(beside)
    except OSError as error:
        raise DataError(f"{path}: the private part cannot be written: {error.strerror}") from None
