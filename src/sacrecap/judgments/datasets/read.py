"""Files of human judgments, recognised by what is in them."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sacrecap.choices import DATASETS, UNDECIDED, VOTES
from sacrecap.data import matlab
from sacrecap.data.rows import delimiter_of
from sacrecap.data.source import PathLike, display_name, reading
from sacrecap.data.tables import read_table
from sacrecap.errors import DataError, UsageError, accepted_name, option
from sacrecap.judgments.datasets.cider_paper import ABSTRACT50S, PASCAL50S
from sacrecap.judgments.datasets.own_files import CAPTION, IMAGE, PAIRS, RATING, RATINGS
from sacrecap.judgments.datasets.records import JudgmentForm, WhatToRead, plain, rater_columns
from sacrecap.judgments.datasets.releases import COMPOSITE, CROWD, EXPERT, RELEASES, THUMB, columns_of
from sacrecap.judgments.judged_rows import (
    READER,
    Pairs,
    Ratings,
    decided_directly,
    with_direct_votes,
    with_notes,
    without_own_references,
)

FORMS = (*PASCAL50S, *ABSTRACT50S, EXPERT, CROWD, *RELEASES, THUMB, PAIRS, *RATINGS, COMPOSITE)
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
        judgments = decided_directly(judgments)
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
    if path != "-" and os.path.isdir(path):
        return _in_folder(os.fspath(path), dataset)
    recognised = None if path == "-" else recognise(path)
    if recognised is not None and dataset in (None, recognised.dataset):
        return recognised, [path]
    forms = [form for form in FORMS if form.dataset == dataset]
    if not forms:
        raise DataError(
            f"{display_name(path)}: not recognised as human judgments; name what it is with {named}, "
            f"or NAME=FILE in sacrecap meta ({', '.join(DATASETS)})"
        )
    return next((form for form in forms if form.is_matlab == matlab.is_matlab(path)), forms[0]), [path]


def _in_folder(folder: str, dataset: str | None) -> tuple[JudgmentForm, list[PathLike]]:
    files = sorted(entry.path for entry in os.scandir(folder) if entry.is_file())
    # The same data may exist in two forms: text first, because it needs no extra package.
    recognised = {file: form for file in files if (form := recognise(file, text=True))}
    recognised = recognised or {file: form for file in files if (form := recognise(file))}
    form_of = {file: form for file, form in recognised.items() if dataset in (None, form.dataset)}
    names = sorted({form.dataset for form in form_of.values()})
    if not form_of:
        what = "human judgments" if dataset is None else dataset
        held = ", ".join(sorted({form.dataset for form in recognised.values()}))
        has = f"; it has {held}" if held else ""
        raise DataError(f"{folder}: no file in this folder is recognised as {what}{has}; name the file itself")
    if len(names) > 1:
        raise UsageError(
            f"{folder} holds judgments of {' and '.join(names)}; choose one with {option('dataset', of=READER)}"
        )
    form = next(iter(form_of.values()))
    if len(form_of) > 1 and any(form is not PASCAL50S[0] for form in form_of.values()):
        listed = ", ".join(map(os.path.basename, form_of))
        raise UsageError(f"{folder} holds several files of {names[0]} ({listed}); name one of them")
    return form, [*form_of]


def recognise(path: PathLike, *, text: bool = False) -> JudgmentForm | None:
    """The form of a file, by its beginning, or the columns of a table; None for a file of none, or not of text."""
    names = _names(path, text=text)
    matching = next((form for form in FORMS if names.issuperset(form.fields)), None)
    if matching is not None:
        return matching
    plain_names = {plain(name) for name in names}
    is_rated = plain_names & {*RATING} or rater_columns(names)
    return RATINGS[0] if is_rated and plain_names & {*IMAGE} and plain_names & {*CAPTION, "system"} else None


def _names(path: PathLike, *, text: bool) -> set[str]:
    """The fields in the beginning of JSON, the columns of a table, or the variables of a MATLAB file."""
    with reading(path), open(path, "rb") as file:
        head = file.read(_HEAD)
    if head.startswith(b"\x1f\x8b"):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
        except zlib.error:
            return set()
    if head.startswith((b"PAR1", matlab.MAGIC)):
        if text:
            return set()
        if head.startswith(b"PAR1"):
            return set(read_table(path).columns)
        # The triplets of PASCAL-50S belong to its pairs: they are no data set.
        return set(matlab.variables(path)) - ({"triplets"} if "pascal" in os.path.basename(path).lower() else set())
    begin = head.decode("utf-8-sig", "replace").lstrip()
    if begin[:1] in ("[", "{"):
        return set(re.findall(r'"([^"\\]+)"\s*:', begin))
    line = next(iter(begin.splitlines()), "")
    return columns_of(line) or {name.strip(' "') for name in line.split(delimiter_of(line) or ",")}
