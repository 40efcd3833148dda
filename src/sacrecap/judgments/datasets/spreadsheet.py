"""Ratings as people have them: a row per rater, a column per rater, blank cells, names and words of other tools.

What MTurk, Label Studio, Potato, Prolific and spreadsheets write becomes a record per caption, with a list of ratings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from sacrecap.data.tables import is_missing
from sacrecap.errors import DataError
from sacrecap.judgments.datasets.records import Record

RATERS = frozenset(
    "rater rater_id worker worker_id workerid annotator annotator_id completed_by participant participant_id "
    "prolific_pid prolific_id user user_id coder evaluator assessor subject".split()
)
"""Columns that name who rated: the file has a row per rater."""
NUMBERED = re.compile(r"(rater|annotator|worker|participant|coder|evaluator|assessor|judge|rating|r|a)[ _-]?\d+", re.I)
"""Columns of one rater each."""


def plain(name: str) -> str:
    """The name of a column without what tools put around it: `Input.image_id`, `Answer.rating`, `Image ID`."""
    return re.sub(r"^(input|answer)\.", "", name.strip(), flags=re.I).lower().replace(" ", "_")


def rater_columns(names: Iterable[str], pattern: str | None = None) -> list[str]:
    """The columns of one rater each: those that fit the pattern, or two or more that are numbered."""
    matching = [name for name in names if (fnmatchcase(name, pattern) if pattern else NUMBERED.fullmatch(name.strip()))]
    return matching if pattern or len(matching) > 1 else []


def in_one_form(
    records: Sequence[Record],
    known: frozenset[str],
    rating: Sequence[str],
    pattern: str | None,
    words: Mapping[str, str],
) -> list[Record]:
    """One record per caption, whose rating is a list where several people rated it; others are as they are.

    Args:
        records: of one file.
        known: the fields that have a meaning, under their plain names.
        rating: the fields of ratings.
        pattern: of the columns of one rater each, such as `R*`.
        words: what other words stand for.

    Raises `DataError` where no column fits the pattern, or the captions of a row per rater are not named.
    """
    _plain_names(records, known | RATERS)
    first = records[0]
    columns = rater_columns(first.fields, pattern)
    if pattern and not columns:
        raise DataError(f"{first.source}: no column fits {pattern!r}; its columns: {', '.join(first.fields)}")
    if columns and (pattern or not first.has(*rating)):
        for record in records:
            record.fields[rating[0]] = [record.fields.pop(name, None) for name in columns]
    translated = {word.strip().lower(): translation for word, translation in words.items()}
    for record in records:
        for name in (*rating, "winner"):
            if name in record.fields:
                record.fields[name] = _each(record.fields[name], lambda cell: translated.get(str(cell).lower(), cell))
    if rater := next((name for name in first.fields if name in RATERS and first.has(*rating)), None):
        return _by_caption(records, rater, next(name for name in rating if first.has(name)))
    return [*records]


def _plain_names(records: Sequence[Record], known: frozenset[str]) -> None:
    """Gives fields that have a meaning their plain names."""
    for record in records:
        for name in [*record.fields]:
            if (spelled := plain(name)) != name and spelled in known and spelled not in record.fields:
                record.fields[spelled] = record.fields.pop(name)


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, list):
        return [_each(part, change) for part in value]
    return {name: _each(part, change) for name, part in value.items()} if isinstance(value, dict) else change(value)


def _by_caption(records: Sequence[Record], rater: str, rating: str) -> list[Record]:
    """Rows of one rater each, put together; what a rater rates twice are two captions that say the same."""
    names = ("image_id", "image", "imgid", "img", "system", "caption", "candidate", "captions")
    seen: Counter[str] = Counter()
    merged: dict[str, Record] = {}
    columns: dict[str, list[Any]] = {}
    for record in records:
        key = repr([record.fields.get(name) for name in names])
        who = f"{key} {record.fields.get(rater)}"
        key, seen[who] = f"{key} {seen[who]}", seen[who] + 1
        merged.setdefault(key, record)
        value = record.fields.get(rating)
        columns.setdefault(key, []).extend(value if isinstance(value, list) else [value])
    for key, record in merged.items():
        values = columns[key]
        if any(isinstance(value, dict) for value in values):
            aspects = dict.fromkeys(name for value in values if isinstance(value, dict) for name in value)
            record.fields[rating] = {name: [(value or {}).get(name) for value in values] for name in aspects}
        else:
            record.fields[rating] = values
    return [*merged.values()]


def without_blanks(values: Sequence[Any]) -> list[Any]:
    """The ratings that were given."""
    return [value for value in values if not is_missing(value)]
