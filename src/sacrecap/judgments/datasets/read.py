"""Files of human judgments, recognised by what is in them; users' own pairs, ratings, and opinions without references.

`docs/howto/measure-agreement.md` has the fields of pairs and ratings. `votes`, if given, are those whose majority is
the winner. Where people judged each reference, `people` has how many of them chose b and c for it; without `people`, as
many votes as references are one for each. A caption set that was rated replaces `references` that are missing; else
these come from a file of references, by image.

Opinions come without references, from a table, JSON lines or a study's export: `docs/tutorial/calibrate.md`. Ratings:
`image_id`, `system` or `caption` (or neither), and `rating`. Choices: `image_id`, `b_system` and `c_system`, or the
captions `b` and `c`, and `winner` or `votes`.
"""

from __future__ import annotations

import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from statistics import fmean
from typing import Any

from sacrecap.choices import CATEGORIES, DATASETS, UNDECIDED, VOTES
from sacrecap.data import read_references
from sacrecap.data.rows import delimiter_of, is_matlab, load_matlab
from sacrecap.data.source import PathLike, display_name, reading
from sacrecap.data.tables import is_missing, is_number, read_table
from sacrecap.data.unpack import MATLAB
from sacrecap.errors import DataError, UsageError, accepted_name, option
from sacrecap.judgments.datasets import releases
from sacrecap.judgments.datasets.records import (
    JudgedPair,
    JudgmentForm,
    RatedCaption,
    Record,
    WhatToRead,
    add_references,
    read_records,
)
from sacrecap.judgments.judged_rows import (
    READER,
    Pairs,
    Ratings,
    majority,
    with_direct_votes,
    with_notes,
    without_own_references,
)
from sacrecap.resources.outside_scores import strays

RATING = ("rating", "human_score")
IMAGE = ("image_id", "image", "imgid", "img.path", "img")
CAPTION = ("caption", "candidate", "cand")
REFERENCES = ("references", "refs")
RATERS = frozenset(
    "rater rater_id worker worker_id workerid annotator annotator_id completed_by participant participant_id "
    "prolific_pid prolific_id user user_id coder evaluator assessor subject".split()
)
"""Columns that name who rated: the file has a row per rater."""
NUMBERED = re.compile(r"(rater|annotator|worker|participant|coder|evaluator|assessor|judge|rating|r|a)[ _-]?\d+", re.I)
"""Columns of one rater each."""
KNOWN = RATERS.union(RATING, IMAGE, CAPTION, REFERENCES, ("system", "captions", "inclusion", "winner"))
WINNERS = {"b": 1, "c": -1, "tie": 0}
_KINDS = {
    "forced choices": (("winner",), ".winner"),
    "ratings of caption sets": (("captions",), ".captions"),
    "ratings of captions": (("caption", "candidate"), ".caption and (.captions | not)"),
    "answers about no caption": (("answers",), ".answers and (.caption | not)"),
}
"""What a line judges, told by its first fields of these, and the same for jq."""


def _of_one_kind(path: PathLike) -> list[Record]:
    """As `read_records`. Raises `DataError` for lines of several kinds, as of a study that asks several questions."""
    records = read_records(path)
    first: dict[str, int] = {}
    for record in records:
        first.setdefault(next((kind for kind, (names, _) in _KINDS.items() if record.has(*names)), ""), record.line)
    first.pop("", None)  # its reader says what is missing
    if len(first) > 1:
        held = ", ".join(f"{kind} (from line {line})" for kind, line in first.items())
        ways = " or ".join(f"jq -c 'select({_KINDS[kind][1]})' {records[0].source}" for kind in first)
        raise DataError(
            f"{records[0].source} has {held}; agreement is measured of one kind at a time: take the lines of one, with "
            f"{ways}"
        )
    return records


def _plain(name: str) -> str:
    """The name of a column without what tools put around it: `Input.image_id`, `Answer.rating`, `Image ID`."""
    return re.sub(r"^(input|answer)\.", "", name.strip(), flags=re.I).lower().replace(" ", "_")


def _rater_columns(names: Iterable[str], pattern: str | None = None) -> list[str]:
    """The columns of one rater each: those that fit the pattern, or two or more that are numbered."""
    matching = [name for name in names if (fnmatchcase(name, pattern) if pattern else NUMBERED.fullmatch(name.strip()))]
    return matching if pattern or len(matching) > 1 else []


def _translated(records: list[Record], words: Mapping[str, str], *names: str) -> list[Record]:
    """The records with what words stand for in the place of these, in such fields, and in lists and objects there."""
    meanings = {word.strip().lower(): meaning for word, meaning in words.items()}

    def translated(value: Any) -> Any:
        if isinstance(value, list):
            return list(map(translated, value))
        if isinstance(value, dict):
            return {name: translated(part) for name, part in value.items()}
        return meanings.get(str(value).lower(), value)

    for record in records:
        record.fields |= {name: translated(record.fields[name]) for name in names if name in record.fields}
    return records


def _by_caption(records: Sequence[Record], rater: str, rating: str) -> list[Record]:
    """Rows of one rater each, put together; what a rater rates twice are two captions that say the same."""
    names = ("image_id", "image", "imgid", "img", "system", "caption", "candidate", "captions")
    times: Counter[str] = Counter()
    merged: dict[str, Record] = {}
    columns: dict[str, list[Any]] = {}
    for record in records:
        key = repr([record.fields.get(name) for name in names])
        who = f"{key} {record.fields.get(rater)}"
        key, times[who] = f"{key} {times[who]}", times[who] + 1
        merged.setdefault(key, record)
        value = record.fields.get(rating)
        columns.setdefault(key, []).extend(value if isinstance(value, list) else [value])
    for key, record in merged.items():
        values = columns[key]
        if any(isinstance(value, dict) for value in values):
            if mixed := [value for value in values if value and not isinstance(value, dict)]:
                raise record.refuse(f"one rater's rating has aspects, another's is {mixed[0]!r}; give all in one form")
            aspects = dict.fromkeys(name for value in values if isinstance(value, dict) for name in value)
            record.fields[rating] = {name: [(value or {}).get(name) for value in values] for name in aspects}
        else:
            record.fields[rating] = values
    return [*merged.values()]


def _rating_records(path: PathLike, to_read: WhatToRead) -> list[Record]:
    """One record per caption, in plain names, whatever the layout; the rating is a list where several rated it."""
    records, pattern = _of_one_kind(path), to_read.raters
    for record in records:
        for name in [*record.fields]:
            if (spelled := _plain(name)) != name and spelled in KNOWN and spelled not in record.fields:
                record.fields[spelled] = record.fields.pop(name)
    first = records[0]
    columns = _rater_columns(first.fields, pattern)
    if pattern and not columns:
        raise DataError(f"{first.source}: no column fits {pattern!r}; its columns: {', '.join(first.fields)}")
    if columns and (pattern or not first.has(*RATING)):
        for record in records:
            record.fields[RATING[0]] = [record.fields.pop(name, None) for name in columns]
    _translated(records, to_read.words, *RATING, "winner")
    rater, rating = next(filter(RATERS.__contains__, first.fields), None), next(filter(first.has, RATING), None)
    if rater and rating:
        records = _by_caption(records, rater, rating)
    if to_read.captions is not None:
        without = [record for record in records if not record.has(*REFERENCES)]
        add_references(without, read_references(to_read.captions).to_dict(), *IMAGE)
    return records


@partial(
    JudgmentForm,
    "pairs",
    ("b", "c", "winner"),
    records=lambda path, to_read: _translated(_of_one_kind(path), to_read.words, "winner"),
)
def pairs(record: Record, to_read: WhatToRead) -> Iterator[JudgedPair]:
    """A tie needs no votes. Where nobody names categories, they are the usual ones."""
    preferred, image, references = _winner(record), record.name("image_id"), record.captions("references")
    b, c, category = record.caption("b"), record.caption("c"), record.known_name("category") or ""
    if category:
        try:
            accepted_name("category", category, CATEGORIES if to_read.categories is None else [category])
        except ValueError as error:
            named = option("categories", of=READER)
            raise record.refuse(f"{error}; others are accepted once they are named with {named}") from None
    votes = record.votes() if record.has("votes") else None if preferred else []
    of_references = votes or []  # a vote for each reference, 0 if its people were undecided
    if record.has("people"):
        people = record.find("people")
        if not isinstance(people, list) or not all(
            isinstance(pair, list) and len(pair) == 2 and all(type(count) is int and count >= 0 for count in pair)
            for pair in people
        ):
            raise record.refuse(f"people must be a list of two whole numbers (for b and for c) each, got {people!r}")
        of_references = [(for_b > for_c) - (for_b < for_c) for for_b, for_c in people]
    reference_votes = of_references if len(of_references) == len(references) else None
    b_system, c_system = map(record.known_name, ("b_system", "c_system"))
    yield JudgedPair(image, references, b, c, preferred, category, votes, reference_votes, None, b_system, c_system)


def _winner(record: Record) -> int:
    """1 for b, −1 for c, 0 for a tie."""
    named = record.find("winner")
    if not isinstance(named, str) or named.lower() not in WINNERS:
        raise record.refuse(f"winner must be one of {', '.join(WINNERS)}, got {named!r}")
    preferred = WINNERS[named.lower()]
    if record.has("votes"):
        votes = record.votes()
        if preferred != majority(votes):
            raise record.refuse(f"the winner is {named!r}, but the votes add up to {sum(votes)}; correct one of them")
    return preferred


def _aspect_of(first: Record, aspect: str | None) -> str | None:
    """The aspect that is read: of several ratings of a caption the first, unless one is asked for."""
    value = first.find(*RATING) if first.has(*RATING) else None
    if isinstance(value, dict):
        return aspect or next(iter(value), None)
    if aspect not in (None, "rating"):
        raise UsageError(f"{first.source} has one rating per caption, so there is no {aspect!r} to choose")
    return aspect


def _doubtful(records: Sequence[Record]) -> list[str]:
    """Notes on ratings that are blank, and on numbers that look as if they stood for none."""
    by_aspect: dict[str, list[Any]] = {}
    for record in records:
        value = record.find(*RATING) if record.has(*RATING) else None
        for aspect, rated in value.items() if isinstance(value, dict) else (("", value),):
            by_aspect.setdefault(aspect, []).extend(rated if isinstance(rated, list) else [rated])
    blank = sum(is_missing(cell) for cells in by_aspect.values() for cell in cells)
    notes = [f"blank ratings, left out: {blank:,}"] if blank else []
    for aspect, cells in by_aspect.items():
        numbers = [float(cell) for cell in cells if is_number(cell) and not is_missing(cell)]
        notes += strays(numbers, f"ratings of {aspect}" if aspect else "ratings")
    return notes


def _judged_caption(record: Record, to_read: WhatToRead) -> Iterator[RatedCaption]:
    if any(name in record.fields for name in RATING) and not record.has(*RATING):
        return  # a blank one
    ratings = _rating(record, to_read.rating, to_read.rating_range)
    if not ratings:
        return
    captions, image = record.captions("captions") if record.has("captions") else None, record.name(*IMAGE)
    references = record.captions(*REFERENCES, *(() if captions is None else ("captions",)))
    caption = record.caption(*CAPTION) if captions is None else "\n".join(captions)
    yield RatedCaption(image, references, caption, ratings, record.known_name("system"), sets=captions)


RATINGS = tuple(
    JudgmentForm("ratings", (name,), _judged_caption, _rating_records, aspect_of=_aspect_of, remarks=_doubtful)
    for name in RATING
)


def _rating(record: Record, aspect: str | None, bounds: tuple[float, float] | None) -> tuple[float, ...]:
    """The ratings of a line, one per rater who gave one."""
    value: Any = record.find(*RATING)
    if isinstance(value, dict):
        if aspect not in value:
            raise record.refuse(f"no rating called {aspect!r}; it has {', '.join(value) or 'none'}")
        value = value[aspect]
    values = value if isinstance(value, list) else [value]
    if not values:
        raise record.refuse("an empty list of ratings; give at least one, or remove the line")
    return tuple(record.number("rating", value, *(bounds or ())) for value in values if not is_missing(value))


FORMS = (
    *(*releases.PASCAL50S, *releases.ABSTRACT50S, releases.flickr8k_expert, releases.flickr8k_crowd),
    *(*releases.RELEASES, releases.thumb, pairs, *RATINGS, releases.composite),
)
"""A file is of the first form that fits; the first of a data set is taken where its name alone is known."""
_HEAD = 65536
"""Bytes of a file that are looked at to recognise it."""


def read_judgments(
    path: PathLike,
    *,
    dataset: str | None = None,
    captions: PathLike | None = None,
    rating: str | None = None,
    rating_range: tuple[float, float] | None = None,
    categories: Sequence[str] | None = None,
    drop_own_reference: bool = False,
    pairwise: PathLike | None = None,
    votes: str = "consensus",
    undecided: str = "out",
    raters: str | None = None,
    words: Mapping[str, str] | None = None,
) -> Ratings | Pairs:
    """Reads human judgments: a file, or a folder with one data set in it.

    Args:
        path: the file or folder.
        dataset: one of `DATASETS`; recognised from the content by default.
        captions: a file of references (or a test set) in place of those of the judgments: they meet by image. Of
            Flickr8k its token file, and of THumB its references, if they are not in the folder of the judgments.
        rating: the aspect that was rated, if a file holds several ratings of a caption.
        rating_range: smallest and largest rating of the format `ratings`.
        categories: the judgments of these categories alone, all of any category for none; those of pairs may be others
            than the usual ones, those of COMPOSITE's captions are `machine` and `human`.
        drop_own_reference: whether to remove a candidate from the references of its own row.
        pairwise: a file of direct votes on the same pairs, such as the export of a pairwise study; pairs meet by image
            and captions.
        votes: whose votes decide, where a file has both: the `consensus` of triplets, or the `direct` votes.
        raters: the columns of one rater each, such as `R*`; columns like `rater_1` are found without.
        words: what other words stand for, such as `{"model_a": "b", "model_b": "c", "unsure": "tie"}`.
        undecided: what a pair without a majority is: left `out`, or won by `b` or `c`.

    Raises:
        DataError: the judgments cannot be used; the message says where and why.
        UsageError: an unknown data set, or an argument that does not fit the data set.
        MissingDependencyError: a MATLAB file, and SciPy is not installed.
    """
    if dataset is not None:
        accepted_name("dataset", dataset, DATASETS)
    accepted_name("votes", votes, VOTES)
    accepted_name("undecided", undecided, UNDECIDED)
    form, paths = _find(path, "ratings" if raters is not None and dataset is None else dataset)
    judgments = form.read(paths, WhatToRead(captions, rating, rating_range, categories, raters, words or {}))
    if pairwise is not None:
        every = None if categories is None else ()  # these may be of other categories, or of none
        judgments = with_direct_votes(judgments, read_judgments(pairwise, categories=every))
    if votes == "direct":
        if not isinstance(judgments, Pairs) or judgments.direct is None:
            joined = option("pairwise", "FILE", of=READER)
            raise UsageError(f"{judgments.source} has no direct votes beside the winner; {joined} gives a file of them")
        judged, notes = judgments.direct, [*judgments.notes, "the majority of the direct votes decides"]
        won = list(map(majority, judged))
        judgments = replace(judgments, preferred=won, votes=judged, reference_votes=None, direct=None, notes=notes)
    if undecided != "out":
        if not isinstance(judgments, Pairs):
            raise UsageError(f"{judgments.source} has ratings; undecided {undecided!r} is for pairs")
        won = [sign or (1 if undecided == "b" else -1) for sign in judgments.preferred]
        note = f"pairs without a majority, counted as won by {undecided}: {judgments.preferred.count(0):,}"
        judgments = replace(judgments, preferred=won, notes=[*judgments.notes, note])
    return with_notes(without_own_references(judgments) if drop_own_reference else judgments)


def _find(path: PathLike, dataset: str | None) -> tuple[JudgmentForm, list[PathLike]]:
    """The file to read, or the files of one data set, and their form."""
    named = option("dataset", of=READER)
    if path == "-" and dataset is None:
        raise UsageError(f"standard input is not recognised; name what it is with {named} ({', '.join(DATASETS)})")
    if path == "-" or not os.path.isdir(path):
        recognised = None if path == "-" else recognise(path)
        if recognised is not None and dataset in (None, recognised.dataset):
            return recognised, [path]
        forms = [form for form in FORMS if form.dataset == dataset]
        if not forms:
            raise DataError(
                f"{display_name(path)}: not recognised as human judgments; name what it is with {named}, "
                f"or NAME=FILE in sacrecap meta ({', '.join(DATASETS)})"
            )
        return next((form for form in forms if form.is_matlab == is_matlab(path)), forms[0]), [path]
    folder = os.fspath(path)
    files = sorted(entry.path for entry in os.scandir(folder) if entry.is_file())
    # The same data may exist in two forms: text first, because it needs no extra package.
    every = {file: form for file in files if (form := recognise(file, text=True))}
    every = every or {file: form for file in files if (form := recognise(file))}
    form_of = {file: form for file, form in every.items() if dataset in (None, form.dataset)}
    names = sorted({form.dataset for form in form_of.values()})
    if not form_of:
        what = "human judgments" if dataset is None else dataset
        has = "; it has " + ", ".join(sorted({form.dataset for form in every.values()})) if every else ""
        raise DataError(f"{folder}: no file in this folder is recognised as {what}{has}; name the file itself")
    if len(names) > 1:
        raise UsageError(f"{folder} holds judgments of {' and '.join(names)}; choose one with {named}")
    if len(form_of) > 1 and any(form is not releases.PASCAL50S[0] for form in form_of.values()):
        listed = ", ".join(map(os.path.basename, form_of))
        raise UsageError(f"{folder} holds several files of {names[0]} ({listed}); name one of them")
    return next(iter(form_of.values())), [*form_of]


def recognise(path: PathLike, *, text: bool = False) -> JudgmentForm | None:
    """The form of a file, by the fields in the beginning of JSON, the columns of a table, or the variables of a MATLAB
    file; None for a file of none, or not of text.
    """
    with reading(path), open(path, "rb") as file:
        head = file.read(_HEAD)
    if head.startswith(b"\x1f\x8b"):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
        except zlib.error:
            return None
    begin = head.decode("utf-8-sig", "replace").lstrip()
    if head.startswith((b"PAR1", MATLAB)):
        if text:
            return None
        # The triplets of PASCAL-50S belong to its pairs: they are no data set.
        of_pairs = {"triplets"} if "pascal" in os.path.basename(path).lower() else set()
        names = set(read_table(path).columns) if head.startswith(b"PAR1") else set(load_matlab(path)) - of_pairs
    elif begin[:1] in ("[", "{"):
        names = set(re.findall(r'"([^"\\]+)"\s*:', begin))
    else:
        line = next(iter(begin.splitlines()), "")
        names = releases.columns_of(line) or {name.strip(' "') for name in line.split(delimiter_of(line) or ",")}
    matching = next((form for form in FORMS if names.issuperset(form.fields)), None)
    if matching is not None:
        return matching
    plain_names = {_plain(name) for name in names}
    is_rated = plain_names & {*RATING} or _rater_columns(names)
    return RATINGS[0] if is_rated and plain_names & {*IMAGE} and plain_names & {*CAPTION, "system"} else None


@dataclass(frozen=True)
class Opinions:
    """Ratings of captions, or choices between captions B and C; a caption may occur several times."""

    source: str
    images: list[str]
    sides: list[tuple[list[str] | None, list[str] | None]]
    """The captions that were judged, and who wrote them, as far as told: of ratings, or of b and of c."""
    values: list[float]
    """The mean rating of each line, or the share of the votes for B; a tie is half a vote."""
    answers: int
    inclusion: list[float]
    """How likely each line was to be drawn, where 1 is a plain draw."""
    notes: list[str]

    @property
    def is_choice(self) -> bool:
        """Whether people chose between captions."""
        return len(self.sides) == 2


def read_people(
    path: PathLike,
    *,
    aspect: str | None = None,
    bounds: tuple[float, float] | None = None,
    raters: str | None = None,
    words: Mapping[str, str] | None = None,
) -> Opinions:
    """Ratings or choices of a file. Raises `DataError` for any other file, or a rating out of bounds."""
    records = _rating_records(path, WhatToRead(raters=raters, words=words or {}))
    first = next((record for record in records if record.has("winner", "votes", *RATING)), records[0])
    notes: list[str] = []
    answers: list[Sequence[float]]
    if first.has("winner", "votes"):
        sides = [(_column(records, side), _column(records, f"{side}_system")) for side in ("b", "c")]
        signs = [record.votes() if record.has("votes") else [_winner(record)] for record in records]
        answers = [[(1 + sign) / 2 for sign in of_record] for of_record in signs]  # 1 for B, 0 for C, a half for a tie
    elif first.has(*RATING):
        named, notes = _aspect_of(first, aspect), _doubtful(records)
        ratings = [_rating(record, named, bounds) if record.has(*RATING) else () for record in records]
        rated = [place for place, of_record in enumerate(ratings) if of_record]
        if not rated:
            raise DataError(f"{first.source}: every rating of it is blank")
        records, answers = [records[place] for place in rated], [ratings[place] for place in rated]
        sides = [(_column(records, *CAPTION), _column(records, "system"))]
    else:
        raise DataError(f"{first.source}: no column rating, and none winner; it has {', '.join(first.fields)}")
    images, values = [record.name(*IMAGE) for record in records], list(map(fmean, answers))
    inclusion = []
    for record in records:
        inclusion.append(record.number("inclusion", record.find("inclusion")) if record.has("inclusion") else 1.0)
        if inclusion[-1] <= 0:
            raise record.refuse(f"inclusion must be a number above 0 (1 is a plain draw), got {inclusion[-1]:g}")
    return Opinions(first.source, images, sides, values, sum(map(len, answers)), inclusion, notes)


def _column(records: list[Record], *names: str) -> list[str] | None:
    """The texts of a column; None without it. Raises `DataError` where only some rows have it."""
    if not records[0].has(*names):
        return None
    return [record.name(*names).strip() for record in records]
