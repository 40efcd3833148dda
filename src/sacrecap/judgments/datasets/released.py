"""Releases of judgments that are tables or JSON with fields of their own: one form of `RELEASES` each.

A form has the fields by which a file is recognised, and a function that makes judgments of one of its records.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacrecap.choices import CATEGORIES
from sacrecap.data import fields
from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError, option
from sacrecap.judgments.datasets.judgment_forms import (
    JudgedPair,
    JudgmentForm,
    RatedCaption,
    WhatToRead,
    add_references,
)
from sacrecap.judgments.datasets.records import KEY, READER, Record, read_document


def _corrected(record: Record, _: WhatToRead) -> Iterator[JudgedPair]:
    b, c = record.caption("human_corrected_hall_caption"), record.caption("hall_caption")
    if b != c:
        yield JudgedPair(record.name("image_id"), [record.caption("caption")], b, c, 1)


def _foiled(record: Record, _: WhatToRead) -> Iterator[JudgedPair]:
    if record.find("foil"):
        foil = record.caption("caption")
        right = foil.replace(record.caption("foil_word"), record.caption("target_word"))
        references = [text for text in record.captions("references") if text not in (right, foil)]
        yield JudgedPair(record.name("image_id"), references, right, foil, 1)


def _with_references(path: PathLike, wanted: WhatToRead) -> list[Record]:
    records = read_document(path)
    if wanted.captions is None:
        raise DataError(
            f"{display_name(path)}: has no references; name a file of them with {option('captions', 'FILE', of=READER)}"
        )
    add_references([record for record in records if record.find("foil")], wanted.captions, "image_id")
    return records


def _labelled(record: Record, _: WhatToRead) -> Iterator[JudgedPair]:
    label, category = record.find("label"), record.name(KEY)
    if isinstance(label, bool) or label not in (0, 1):
        raise record.refuse(f"label must be 0 (the first caption is preferred) or 1 (the second is), got {label!r}")
    pair = record.captions("captions")
    if len(pair) != 2 or category not in CATEGORIES:
        raise record.refuse(f"expected two captions of a category ({', '.join(CATEGORIES)})")
    b, c = pair
    yield JudgedPair(record.name("image"), record.captions("references"), b, c, -1 if label else 1, category)


def _by_experts(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    """The ratings of each caption, in the order of the captions."""
    ratings: dict[tuple[str, str], list[float]] = {}
    for judgement in record.find("human_judgement"):
        judged = Record(record.source, record.line, judgement if isinstance(judgement, dict) else {})
        key = judged.name("image_id"), judged.caption("caption")
        ratings.setdefault(key, []).append(float(judged.read(fields.number, "rating", least=0.0, most=4.0)))
    for (image, caption), values in ratings.items():
        yield RatedCaption(image, record.captions("ground_truth"), caption, tuple(values))


_MSVD = ("mean", "accuracy", "completeness", "conciseness", "relevance")
"""Its lists have the mean last."""


def _watched(record: Record, wanted: WhatToRead) -> Iterator[RatedCaption]:
    raters = record.find("human_score")
    if not isinstance(raters, list) or not all(
        isinstance(rater, list) and len(rater) == len(_MSVD) for rater in raters
    ):
        raise record.refuse("human_score must have a list of five numbers of each person")
    place = _MSVD.index(wanted.rating or "") - 1
    ratings = tuple(record.checked("human_score", fields.number, rater[place], least=1.0, most=5.0) for rater in raters)
    yield RatedCaption(record.name("vname"), record.captions("ref"), record.caption("candidate"), ratings)


RELEASES = (
    JudgmentForm(
        "d-foil",
        ("human_corrected_hall_caption", "hall_caption"),
        _corrected,
        left_out="captions in which nothing was corrected, left out",
    ),
    JudgmentForm("pascal-50s", ("captions", "label", "references"), _labelled),
    JudgmentForm("flickr8k-expert", ("human_judgement", "ground_truth"), _by_experts),
    JudgmentForm(
        "foil",
        ("foil_word", "target_word", "foil_id"),
        _foiled,
        left_out="captions without a foil word, which their foils give, left out",
        records=_with_references,
        reads_captions=True,
    ),
    JudgmentForm("msvd-eval", ("vname", "ref", "candidate", "human_score"), _watched, aspects=_MSVD),
)
"""A file is of the first that fits."""
