"""Files of human judgments, recognised by what is in them."""

from __future__ import annotations

import json
import math
import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sacrecap.choices import CATEGORIES, DATASETS, UNDECIDED, VOTES
from sacrecap.data.source import PathLike, display_name, reading
from sacrecap.data.tables import read_table
from sacrecap.errors import DataError, UsageError, accepted_name, option
from sacrecap.judgments.datasets import flickr8k, matlab, triplets
from sacrecap.judgments.datasets.abstract50s import read_abstract50s
from sacrecap.judgments.datasets.direct_votes import decided_directly, with_direct_votes
from sacrecap.judgments.datasets.pairs import read_pairs
from sacrecap.judgments.datasets.pascal50s import read_pascal50s, read_pascal50s_lines
from sacrecap.judgments.datasets.ratings import RATING, read_ratings
from sacrecap.judgments.datasets.records import READER
from sacrecap.judgments.datasets.released import RELEASES, read_released, release_of
from sacrecap.judgments.datasets.thumb import read_thumb
from sacrecap.judgments.judged_rows import Pairs, Ratings, with_notes, without_own_references

_HEAD = 65536
"""Bytes of a file that are looked at to recognise it."""
_ONLY_RELEASED = {*RELEASES} - {"pascal-50s", "flickr8k-expert"}
"""The data sets that have no other form than that of `RELEASES`."""


@dataclass(frozen=True)
class _FoundFile:
    """A file that holds judgments: of which data set, and in which of its forms."""

    path: str
    dataset: str
    form: str = "text"
    others: tuple[str, ...] = ()
    """More files of the same data set, where its copies may come in several."""


def read_judgments(
    path: PathLike,
    *,
    dataset: str | None = None,
    captions: PathLike | None = None,
    rating: str | None = None,
    rating_range: tuple[float, float] | None = None,
    categories: Sequence[str] = CATEGORIES,
    drop_own_reference: bool = False,
    pairwise: PathLike | None = None,
    votes: str = "consensus",
    undecided: str = "out",
) -> Ratings | Pairs:
    """Reads human judgments: a file, or a folder with one data set in it.

    Args:
        path: the file or folder.
        dataset: one of `DATASETS`; recognised from the content by default.
        captions: the file with captions or references, if they are not in the folder of the judgments.
        rating: the aspect that was rated, if a file holds several ratings of a caption.
        rating_range: smallest and largest rating of the format `ratings`.
        categories: accepted categories of the format `pairs`.
        drop_own_reference: whether to remove a candidate from the references of its own row.
        pairwise: a file of direct votes on the same pairs, such as the export of a pairwise study; pairs meet by image
            and captions.
        votes: whose votes decide, where a file has both: the `consensus` of triplets, or the `direct` votes.
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
    file = _find(path, dataset)
    judgments = _read(file, captions, rating, rating_range, categories)
    if pairwise is not None:
        judgments = with_direct_votes(judgments, read_judgments(pairwise, categories=categories))
    if votes == "direct":
        judgments = decided_directly(judgments)
    if undecided != "out":
        judgments = _won_by(judgments, undecided)
    return with_notes(without_own_references(judgments) if drop_own_reference else judgments)


def _won_by(judgments: Ratings | Pairs, caption: str) -> Pairs:
    """The same pairs, where those without a majority are won by this caption. Raises `UsageError` for ratings."""
    if not isinstance(judgments, Pairs):
        raise UsageError(f"{judgments.source} has ratings; undecided {caption!r} is for pairs")
    won = [sign or (1 if caption == "b" else -1) for sign in judgments.preferred]
    note = f"pairs without a majority, counted as won by {caption}: {judgments.preferred.count(0):,}"
    return replace(judgments, preferred=won, notes=[*judgments.notes, note])


def _read(
    found: _FoundFile,
    captions: PathLike | None,
    rating: str | None,
    rating_range: tuple[float, float] | None,
    categories: Sequence[str],
) -> Ratings | Pairs:
    if found.form == "release" and rating_range is None:
        return read_released(found.dataset, found.path, captions, rating)
    if rating is not None and found.dataset not in ("thumb", "ratings"):
        raise UsageError(f"{found.dataset} has one kind of rating; leave the rating {rating!r} out")
    if rating_range is not None and found.dataset != "ratings":
        raise UsageError(f"the range of ratings is for the format ratings; {found.dataset} has its own")
    match found.dataset, found.form:
        case "pascal-50s", "matlab":
            return read_pascal50s(found.path, captions)
        case "pascal-50s", _:
            return read_pascal50s_lines(found.path, *found.others)
        case "abstract-50s", form:
            return read_abstract50s(found.path, matlab=form == "matlab")
        case ("flickr8k-expert" | "flickr8k-cf") as name, _:
            return (flickr8k.read_expert if name == "flickr8k-expert" else flickr8k.read_crowd)(found.path, captions)
        case "thumb", _:
            return read_thumb(found.path, captions, rating)
        case "pairs", _:
            return read_pairs(found.path, categories)
        case _:
            return read_ratings(found.path, captions, aspect=rating, bounds=rating_range or (-math.inf, math.inf))


def _named() -> str:
    return option("dataset", of=READER)


def _find(path: PathLike, dataset: str | None) -> _FoundFile:
    """The file to read."""
    if path == "-":
        if dataset is None:
            raise UsageError(
                f"standard input is not recognised; name what it is with {_named()} ({', '.join(DATASETS)})"
            )
        return _FoundFile("-", dataset, "release" if dataset in _ONLY_RELEASED else "text")
    if os.path.isdir(path):
        return _in_folder(os.fspath(path), dataset)
    recognised = _recognise(os.fspath(path))
    if recognised is not None and dataset in (None, recognised.dataset):
        return recognised
    if dataset is None:
        raise DataError(
            f"{display_name(path)}: not recognised as human judgments; name what it is with {_named()}, "
            f"or NAME=FILE in sacrecap meta ({', '.join(DATASETS)})"
        )
    return _FoundFile(os.fspath(path), dataset, "release" if dataset in _ONLY_RELEASED else _form(path))


def _in_folder(folder: str, dataset: str | None) -> _FoundFile:
    files = sorted(entry.path for entry in os.scandir(folder) if entry.is_file())
    # The same data may exist in two forms: text first, because it needs no extra package.
    recognised = [file for file in map(_recognise_text, files) if file is not None]
    recognised = recognised or [file for file in map(_recognise, files) if file is not None]
    wanted = [file for file in recognised if dataset in (None, file.dataset)]
    names = sorted({file.dataset for file in wanted})
    if not wanted:
        what = "human judgments" if dataset is None else dataset
        held = f"; it has {', '.join(sorted({f.dataset for f in recognised}))}" if recognised else ""
        raise DataError(f"{folder}: no file in this folder is recognised as {what}{held}; name the file itself")
    if len(names) > 1:
        raise UsageError(f"{folder} holds judgments of {' and '.join(names)}; choose one with {_named()}")
    if len(wanted) > 1 and names == ["pascal-50s"] and all(file.form == "text" for file in wanted):
        return replace(wanted[0], others=tuple(file.path for file in wanted[1:]))
    if len(wanted) > 1:
        listed = ", ".join(os.path.basename(file.path) for file in wanted)
        raise UsageError(f"{folder} holds several files of {names[0]} ({listed}); name one of them")
    return wanted[0]


def _form(path: PathLike) -> str:
    return "matlab" if matlab.is_matlab(_head(path)) else "text"


def _head(path: PathLike) -> bytes:
    with reading(path), open(path, "rb") as file:
        head = file.read(_HEAD)
    if not head.startswith(b"\x1f\x8b"):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head, _HEAD)
    except zlib.error:
        return b""


def _recognise(path: str) -> _FoundFile | None:
    """Recognises the data set of a file by its beginning, that of a table by its columns."""
    if _head(path).startswith(b"PAR1"):
        columns = set(read_table(path).columns)
        released = release_of(columns)
        if released is not None:
            return _FoundFile(path, released, "release")
        name = _of_columns(columns)
        return _FoundFile(path, name) if name else None
    if _form(path) == "text":
        return _recognise_text(path)
    name = _matlab_dataset(path)
    return _FoundFile(path, name, "matlab") if name else None


def _recognise_text(path: str) -> _FoundFile | None:
    head = _head(path).decode("utf-8-sig", "replace").lstrip()
    line = next(iter(head.splitlines()), "")
    released = release_of(_keys(head, line))
    if released is not None:
        return _FoundFile(path, released, "release")
    name = flickr8k.kind(line) or _csv_dataset(line) or _json_dataset(line)
    return _FoundFile(path, name) if name else None


def _keys(head: str, line: str) -> set[str]:
    """The fields in the beginning of JSON, or the columns of a table."""
    return set(re.findall(r'"([^"\\]+)"\s*:', head)) if head[:1] in ("[", "{") else _columns(line)


def _columns(line: str) -> set[str]:
    return {name.strip(' "') for name in line.split("\t" if "\t" in line else ",")}


def _matlab_dataset(path: str) -> str | None:
    """Recognises MATLAB files by variable names. The triplets of PASCAL-50S belong to its pairs: not a data set."""
    names = matlab.variables(path)
    if "new_input" in names:
        return "pascal-50s"
    return "abstract-50s" if "triplets" in names and "pascal" not in os.path.basename(path).lower() else None


def _csv_dataset(line: str) -> str | None:
    columns = _columns(line)
    return "abstract-50s" if set(triplets.COLUMNS) <= columns else _of_columns(columns)


def _json_dataset(line: str) -> str | None:
    """Recognises text by the fields of its first object. An object that the end of the head cuts off does not count."""
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    if not isinstance(fields, dict):
        return None
    if "consensus_label" in fields:
        return "pascal-50s"
    return "thumb" if "seg_id" in fields and "hyp" in fields else _of_columns(set(fields))


def _of_columns(names: set[str]) -> str | None:
    """Recognises the general formats by their columns."""
    if {"b", "c", "winner"} <= names:
        return "pairs"
    return None if names.isdisjoint(RATING) else "ratings"
