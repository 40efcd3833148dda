"""PASCAL-50S: 4,000 pairs of captions, 1,000 of each category (Vedantam et al., CVPR 2015).

The release is `pair_pascal.mat` (image, both captions, who wrote them, category, direct votes) and, in the same folder,
`consensus_pascal.mat` (one triplet per reference; the votes decide). Copies as JSON lines hold the pair, its
references, `category` and `consensus_label` (0: B is preferred, 1: C) on one line.
"""

from __future__ import annotations

import os
from typing import Any

from sacrecap.choices import CATEGORIES
from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError, option
from sacrecap.judgments.datasets.matlab import load, unwrap
from sacrecap.judgments.datasets.pairs import read_votes
from sacrecap.judgments.datasets.records import READER, Record, read_records
from sacrecap.judgments.datasets.triplets import read_triplets
from sacrecap.judgments.judged_rows import Pairs, Row, majority

CONSENSUS = "consensus_pascal.mat"

_LABELS = {0: 1, 1: -1}


def read_pascal50s_lines(*paths: PathLike) -> Pairs:
    """Reads a copy as JSON lines, also one in several files, such as one per category.

    Raises `DataError`, also for a pair that comes twice: its number is the field `pair`, where a copy has it.
    """
    records = [record for path in paths for record in read_records(path)]
    _check_once(records)
    voted = all(record.has("votes") for record in records)
    labelled = all("voc_objects" in record.fields for record in records)
    named = all(record.has("source_B") and record.has("source_C") for record in records)
    return Pairs(
        "pascal-50s",
        ", ".join(map(display_name, paths)),
        rows=[Row(record.name("image"), record.captions("references"), place) for place, record in enumerate(records)],
        b=[record.caption("B") for record in records],
        c=[record.caption("C") for record in records],
        preferred=[_preferred(record) for record in records],
        categories=[_category(record) for record in records],
        in_file=len(records),
        direct=[read_votes(record) for record in records] if voted else None,
        b_system=[record.name("source_B") for record in records] if named else None,
        c_system=[record.name("source_C") for record in records] if named else None,
        objects={record.name("image"): _labels(record) for record in records} if labelled else None,
    )


def _check_once(records: list[Record]) -> None:
    seen: dict[object, Record] = {}
    for record in records:
        number = record.fields.get("pair")
        if number is None:
            continue
        first = seen.setdefault(str(number), record)
        if first is not record:
            raise record.refuse(f"pair {number} is in {first.source}, line {first.line}, too; remove one of them")


def _labels(record: Record) -> list[str]:
    labels = record.fields["voc_objects"] or []
    if not isinstance(labels, list) or not all(isinstance(label, str) and label.strip() for label in labels):
        raise record.refuse(f"voc_objects must be a list of labels, got {labels!r}")
    return labels


def _preferred(record: Record) -> int:
    label = record.find("consensus_label")
    if isinstance(label, bool) or label not in _LABELS:
        raise record.refuse(f"consensus_label must be 0 (B is preferred) or 1 (C is), got {label!r}")
    return _LABELS[label]


def _category(record: Record) -> str:
    category = record.name("category")
    if category not in CATEGORIES:
        raise record.refuse(f"category must be one of {', '.join(CATEGORIES)}, got {category!r}")
    return category


def read_pascal50s(path: PathLike, captions: PathLike | None = None) -> Pairs:
    """Reads `pair_pascal.mat`.

    References and winners are those of `consensus_pascal.mat` in the same folder. Without that file, references come
    from `captions` (any reference file), and the majority of the direct votes wins. Raises `DataError`.
    """
    source = display_name(path)
    contents = load(path, "new_input", "new_data", "category", "result")
    pairs = contents["new_input"].ravel()
    images, b, c = ([str(unwrap(pair[name])).strip() for pair in pairs] for name in ("name", "sent1", "sent2"))
    results, numbers = contents["result"].ravel(), contents["category"].ravel()
    if not len(pairs) == len(results) == len(numbers) == len(contents["new_data"]):
        raise DataError(f"{source}: new_input, new_data, category and result are not equally long; download it again")
    direct = [_direct_votes(source, number, result["result"]) for number, result in enumerate(results)]
    authors = [[str(author) for author in of_pair] for of_pair in contents["new_data"].tolist()]
    consensus = os.path.join(os.path.dirname(os.fspath(path)), CONSENSUS)
    if captions is None and os.path.exists(consensus):
        references, votes = _from_triplets(consensus, b, c)
        notes = []
    else:
        references, votes = _from_captions(source, captions, images), direct
        notes = [f"without {CONSENSUS}, the majority of the direct votes wins"]
    return Pairs(
        "pascal-50s",
        source,
        rows=[Row(image, own, place) for place, (image, own) in enumerate(zip(images, references, strict=True))],
        b=b,
        c=c,
        preferred=list(map(majority, votes)),
        categories=[_named(source, place, number) for place, number in enumerate(numbers.tolist())],
        in_file=len(pairs),
        votes=votes,
        reference_votes=None if notes else votes,
        direct=None if notes else direct,
        b_system=[first for first, _ in authors],
        c_system=[second for _, second in authors],
        notes=notes,
    )


def _direct_votes(source: str, number: int, result: Any) -> list[int]:
    votes = [int(vote) for vote in result.ravel().tolist()]
    if not votes or any(vote not in (1, -1) for vote in votes):
        raise DataError(f"{source}: the votes of pair {number + 1} must be 1 or -1, got {votes}")
    return votes


def _named(source: str, place: int, number: int) -> str:
    if not 1 <= number <= len(CATEGORIES):
        raise DataError(f"{source}: pair {place + 1} is of category {number}, expected 1 to {len(CATEGORIES)}")
    return CATEGORIES[number - 1]


def _from_triplets(source: str, b: list[str], c: list[str]) -> tuple[list[list[str]], list[list[int]]]:
    """References and votes of each pair: pairs follow one another, each with equally many triplets."""
    triplets = read_triplets(source, matlab=True)
    each, rest = divmod(len(triplets), len(b))
    if rest or not each:
        raise DataError(
            f"{source}: {len(triplets):,} triplets cannot be divided evenly among {len(b):,} pairs; download it again"
        )
    grouped = [triplets[start : start + each] for start in range(0, len(triplets), each)]
    for number, (pair, *captions) in enumerate(zip(grouped, b, c, strict=True), 1):
        if any([triplet.b, triplet.c] != captions for triplet in pair):
            raise DataError(f"{source}: the triplets of pair {number} are about other captions; download it again")
    references = [[triplet.reference for triplet in pair] for pair in grouped]
    return references, [[triplet.vote for triplet in pair] for pair in grouped]


def _from_captions(source: str, captions: PathLike | None, images: list[str]) -> list[list[str]]:
    from sacrecap.data import read_references

    if captions is None:
        raise DataError(
            f"{source}: the references are not in this file; put {CONSENSUS} in its folder, or name a reference "
            f"file with {option('captions', 'FILE', of=READER)}"
        )
    known = read_references(captions)
    missing = [image for image in images if image not in known]
    if missing:
        raise DataError(
            f"{display_name(captions)}: no references of image {missing[0]!r}, of which {source} has a pair"
        )
    return [known.captions(image) for image in images]
