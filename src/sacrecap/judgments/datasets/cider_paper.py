"""The pairs of the CIDEr paper (Vedantam et al., CVPR 2015): PASCAL-50S and ABSTRACT-50S, and the triplets behind both.

A triplet is of sentences A, B and C, with a vote on which of B and C is closer to A. A is a reference of an image; the
triplets of a pair (B, C) follow one another, one for each reference. Files are the released `.mat` (a struct array
`triplets` of A, B, C and rating) or CSV of `pair,A_reference,B,C,vote`.

PASCAL-50S: 4,000 pairs of captions, 1,000 of each category. The release is `pair_pascal.mat` (image, both captions, who
wrote them, category, direct votes) and, in the same folder, `consensus_pascal.mat` (one triplet per reference; the
votes decide). Copies as JSON lines hold the pair, its references, `category` and `consensus_label` (0: B is preferred,
1: C) on one line; a copy may be in several files, such as one per category.

ABSTRACT-50S: 400 pairs of sentences about drawn scenes, 48 references each. Each reference has one vote, and the
majority wins. The release names no categories. An image has two pairs that share one sentence: the pair whose other
sentence fits the references less (lower CIDEr-D) is human incorrect (HI), the other human correct (HC).
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from sacrecap.choices import CATEGORIES
from sacrecap.data.matlab import is_matlab, load, unwrap
from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError, option
from sacrecap.judgments.datasets.own_files import read_votes
from sacrecap.judgments.datasets.records import JudgedPair, JudgmentForm, Record, WhatToRead, read_lines, read_records
from sacrecap.judgments.judged_rows import READER, majority

COLUMNS = ("A_reference", "B", "C", "vote")


class Triplet(NamedTuple):
    """A vote: +1 if B is closer to the reference, −1 if C is."""

    reference: str
    b: str
    c: str
    vote: int


def read_triplets(path: PathLike) -> list[Triplet]:
    """The triplets in the order of the file. Raises `DataError`."""
    source, triplets = display_name(path), []
    for number, (*texts, vote) in enumerate((_matlab_rows if is_matlab(path) else _csv_rows)(source, path), 1):
        where = f"{source}, triplet {number}"
        reference, b, c = (str(text).strip() for text in texts)
        if not (reference and b and c):
            raise DataError(f"{where}: an empty sentence; each of A, B and C needs one")
        if str(vote) not in ("1", "-1"):
            raise DataError(f"{where}: the vote must be 1 (B is closer) or -1 (C is), got {vote!r}")
        triplets.append(Triplet(reference, b, c, int(str(vote))))
    if not triplets:
        raise DataError(f"{source}: no triplet in it")
    return triplets


def _matlab_rows(source: str, path: PathLike) -> Iterator[list[object]]:
    triplets = load(path, "triplets")["triplets"].ravel()
    names = triplets.dtype.names or ()
    vote = [name for name in names if name not in ("A", "B", "C")]
    if len(vote) != 1 or len(names) != 4:
        raise DataError(f"{source}: triplets must have the fields A, B, C and rating, they have {', '.join(names)}")
    return ([unwrap(triplet[name]) for name in ("A", "B", "C", *vote)] for triplet in triplets)


def _csv_rows(source: str, path: PathLike) -> Iterator[list[object]]:
    rows = csv.DictReader(line for _, line in read_lines(path))
    if not set(COLUMNS) <= set(rows.fieldnames or ()):
        raise DataError(
            f"{source}: columns {', '.join(rows.fieldnames or ()) or 'none'}; expected {', '.join(COLUMNS)}"
        )
    for number, row in enumerate(rows, 1):
        if None in row or None in row.values():
            raise DataError(f"{source}, triplet {number}: not as many columns as the first line")
        yield [row[name] for name in COLUMNS]


CONSENSUS = "consensus_pascal.mat"

_LABELS = {0: 1, 1: -1}
_PEOPLE = {"6": "human", "7": "human, other image"}
"""The release has numbers of who wrote a caption; 1 to 5 are machines."""


def _of_line(record: Record, _: WhatToRead) -> Iterator[JudgedPair]:
    label, category = record.find("consensus_label"), record.name("category")
    if isinstance(label, bool) or label not in _LABELS:
        raise record.refuse(f"consensus_label must be 0 (B is preferred) or 1 (C is), got {label!r}")
    if category not in CATEGORIES:
        raise record.refuse(f"category must be one of {', '.join(CATEGORIES)}, got {category!r}")
    labels = record.fields.get("voc_objects", []) or []
    if not isinstance(labels, list) or not all(isinstance(label, str) and label.strip() for label in labels):
        raise record.refuse(f"voc_objects must be a list of labels, got {labels!r}")
    yield JudgedPair(
        record.name("image"),
        record.captions("references"),
        record.caption("B"),
        record.caption("C"),
        _LABELS[label],
        category,
        direct=read_votes(record) if record.has("votes") else None,
        b_system=_author(record.known_name("source_B")),
        c_system=_author(record.known_name("source_C")),
        objects=labels if "voc_objects" in record.fields else None,
    )


def _author(number: str | None) -> str | None:
    return _PEOPLE.get(number, number) if number else None


def _check_once(records: Sequence[Record]) -> list[str]:
    """No remark. Raises `DataError` for a pair that comes twice; its number is the field `pair`, if a copy has it."""
    by_number: dict[object, Record] = {}
    for record in records:
        number = record.fields.get("pair")
        first = record if number is None else by_number.setdefault(str(number), record)
        if first is not record:
            raise record.refuse(f"pair {number} is in {first.source}, line {first.line}, too; remove one of them")
    return []


def _pascal_pairs(path: PathLike, to_read: WhatToRead) -> list[JudgedPair]:
    """The pairs of `pair_pascal.mat`.

    References and winners are those of `consensus_pascal.mat` in the same folder. Without that file, the majority of
    the direct votes wins, and there are no references. Raises `DataError` if nobody gives others.
    """
    source = display_name(path)
    contents = load(path, "new_input", "new_data", "category", "result")
    pairs = contents["new_input"].ravel()
    images, b, c = ([str(unwrap(pair[name])).strip() for pair in pairs] for name in ("name", "sent1", "sent2"))
    results, numbers = contents["result"].ravel(), contents["category"].ravel()
    if not len(pairs) == len(results) == len(numbers) == len(contents["new_data"]):
        raise DataError(f"{source}: new_input, new_data, category and result are not equally long; download it again")
    direct = [[int(vote) for vote in result["result"].ravel().tolist()] for result in results]
    for place, (votes_of_pair, number) in enumerate(zip(direct, numbers.tolist(), strict=True), 1):
        if not votes_of_pair or any(vote not in (1, -1) for vote in votes_of_pair):
            raise DataError(f"{source}: the votes of pair {place} must be 1 or -1, got {votes_of_pair}")
        if not 1 <= number <= len(CATEGORIES):
            raise DataError(f"{source}: pair {place} is of category {number}, expected 1 to {len(CATEGORIES)}")
    consensus = os.path.join(os.path.dirname(os.fspath(path)), CONSENSUS)
    has_consensus = os.path.exists(consensus)
    if not has_consensus and to_read.captions is None:
        raise DataError(
            f"{source}: the references are not in this file; put {CONSENSUS} in its folder, or name a reference "
            f"file, such as pascal50S.mat, with {option('captions', 'FILE', of=READER)}"
        )
    references, votes = _consensus(consensus, b, c) if has_consensus else ([[]] * len(pairs), direct)
    authors = [[_author(str(author)) for author in of_pair] for of_pair in contents["new_data"].tolist()]
    columns = zip(images, references, b, c, numbers.tolist(), votes, direct, authors, strict=True)
    return [
        JudgedPair(
            image,
            sentences,
            first,
            second,
            majority(votes_of_pair),
            CATEGORIES[number - 1],
            votes_of_pair,
            votes_of_pair if has_consensus else None,
            directly if has_consensus else None,
            *of_pair,
        )
        for image, sentences, first, second, number, votes_of_pair, directly, of_pair in columns
    ]


PASCAL50S = (
    JudgmentForm("pascal-50s", ("consensus_label",), _of_line, read_records, remarks=_check_once),
    JudgmentForm(
        "pascal-50s",
        ("new_input",),
        lambda pair, _: iter([pair]),
        _pascal_pairs,
        remarks=lambda pairs: (
            [f"without {CONSENSUS}, the majority of the direct votes wins"] * (pairs[0].direct is None)
        ),
        is_matlab=True,
    ),
)


def _consensus(source: str, b: list[str], c: list[str]) -> tuple[list[list[str]], list[list[int]]]:
    """References and votes of each pair: pairs follow one another, each with equally many triplets."""
    triplets = read_triplets(source)
    size, rest = divmod(len(triplets), len(b))
    if rest or not size:
        raise DataError(
            f"{source}: {len(triplets):,} triplets cannot be divided evenly among {len(b):,} pairs; download it again"
        )
    grouped = [triplets[start : start + size] for start in range(0, len(triplets), size)]
    for number, (pair, *captions) in enumerate(zip(grouped, b, c, strict=True), 1):
        if any([triplet.b, triplet.c] != captions for triplet in pair):
            raise DataError(f"{source}: the triplets of pair {number} are about other captions; download it again")
    references = [[triplet.reference for triplet in pair] for pair in grouped]
    return references, [[triplet.vote for triplet in pair] for pair in grouped]


def _abstract_pairs(path: PathLike, _: WhatToRead) -> list[JudgedPair]:
    """The pairs of `consensus_abstract.mat`, or of the same triplets as CSV; those of the same references are of one
    image.
    """
    numbers: dict[frozenset[str], int] = {}
    pairs = []
    for (b, c), grouped in groupby(read_triplets(path), key=lambda triplet: (triplet.b, triplet.c)):
        triplets = list(grouped)
        references, votes = [triplet.reference for triplet in triplets], [triplet.vote for triplet in triplets]
        image = str(numbers.setdefault(frozenset(references), len(numbers)))
        pairs.append(JudgedPair(image, references, b, c, majority(votes), votes=votes, reference_votes=votes))
    categories = _categories(display_name(path), pairs)
    return [pair._replace(categories=category) for pair, category in zip(pairs, categories, strict=True)]


ABSTRACT50S = tuple(
    JudgmentForm(
        "abstract-50s",
        fields,
        lambda pair, _: iter([pair]),
        _abstract_pairs,
        remarks=lambda _: ["categories derived by CIDEr-D, because the release names none"],
        is_matlab=is_matlab,
    )
    for fields, is_matlab in ((COLUMNS, False), (("triplets",), True))
)


def _categories(source: str, pairs: Sequence[JudgedPair]) -> list[str]:
    """HC or HI: depends on how well the sentence that the image's two pairs do not share fits the references."""
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics import CiderD
    from sacrecap.scoring.score import score_corpus

    members: dict[str, list[int]] = {}
    for number, pair in enumerate(pairs):
        members.setdefault(pair.image, []).append(number)
    second_captions: dict[str, str] = {}
    for image, numbers in members.items():
        sentences = [{pairs[number].b, pairs[number].c} for number in numbers]
        shared = set.intersection(*sentences)
        if len(sentences) != 2 or len(shared) != 1:
            raise DataError(
                f"{source}: image {image} has {len(sentences)} pairs; ABSTRACT-50S has two per image, which share one "
                f"sentence (give other pairs as JSON lines, with {option('dataset', 'pairs', of=READER)})"
            )
        for number, both in zip(numbers, sentences, strict=True):
            [second_captions[str(number)]] = both - shared
    corpus = Corpus({str(number): pair.references for number, pair in enumerate(pairs)}, second_captions)
    fit = list(score_corpus(corpus, [CiderD()])[CiderD.family].per_image_values())
    return [
        "HI" if fit[number] == min(fit[m] for m in members[pair.image]) else "HC" for number, pair in enumerate(pairs)
    ]
