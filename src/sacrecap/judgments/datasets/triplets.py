"""Triplets of the CIDEr paper's releases: sentences A, B and C, and a vote on which of B and C is closer to A.

A is a reference of an image; the triplets of a pair (B, C) follow one another, one for each reference. Files are the
released `.mat` (a struct array `triplets` of A, B, C and rating) or CSV of `pair,A_reference,B,C,vote`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

from sacrecap.data.matlab import is_matlab, load, unwrap
from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError
from sacrecap.judgments.datasets.records import read_lines

COLUMNS = ("A_reference", "B", "C", "vote")


class Triplet(NamedTuple):
    """A vote: +1 if B is closer to the reference, −1 if C is."""

    reference: str
    b: str
    c: str
    vote: int


def read_triplets(path: PathLike) -> list[Triplet]:
    """The triplets in the order of the file. Raises `DataError`."""
    source = display_name(path)
    triplets = list(_from_matlab(source, path) if is_matlab(path) else _from_csv(source, path))
    if not triplets:
        raise DataError(f"{source}: no triplet in it")
    return triplets


def _from_matlab(source: str, path: PathLike) -> Iterator[Triplet]:
    triplets = load(path, "triplets")["triplets"].ravel()
    names = triplets.dtype.names or ()
    vote = [name for name in names if name not in ("A", "B", "C")]
    if len(vote) != 1 or len(names) != 4:
        raise DataError(f"{source}: triplets must have the fields A, B, C and rating, they have {', '.join(names)}")
    for number, triplet in enumerate(triplets, 1):
        yield _checked(f"{source}, triplet {number}", *(unwrap(triplet[name]) for name in ("A", "B", "C", *vote)))


def _from_csv(source: str, path: PathLike) -> Iterator[Triplet]:
    rows = csv.DictReader(line for _, line in read_lines(path))
    if not set(COLUMNS) <= set(rows.fieldnames or ()):
        raise DataError(
            f"{source}: columns {', '.join(rows.fieldnames or ()) or 'none'}; expected {', '.join(COLUMNS)}"
        )
    for number, row in enumerate(rows, 1):
        if None in row or None in row.values():
            raise DataError(f"{source}, triplet {number}: not as many columns as the first line")
        yield _checked(f"{source}, triplet {number}", *(row[name] for name in COLUMNS))


def _checked(where: str, reference: object, b: object, c: object, vote: object) -> Triplet:
    texts = [str(text).strip() for text in (reference, b, c)]
    if not all(texts):
        raise DataError(f"{where}: an empty sentence; each of A, B and C needs one")
    if str(vote) not in ("1", "-1"):
        raise DataError(f"{where}: the vote must be 1 (B is closer) or -1 (C is), got {vote!r}")
    return Triplet(texts[0], texts[1], texts[2], int(str(vote)))
