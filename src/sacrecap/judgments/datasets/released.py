"""Releases of judgments that are tables or JSON with fields of their own: one form of `RELEASES` each.

A form has the fields by which a file is recognised, and a function that makes judgments of one of its records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

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
from sacrecap.judgments.judged_rows import majority


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


def _with_references(path: PathLike, given: WhatToRead) -> list[Record]:
    records = read_document(path)
    if given.captions is None:
        raise DataError(
            f"{display_name(path)}: has no references; name a file of them with {option('captions', 'FILE', of=READER)}"
        )
    add_references([record for record in records if record.find("foil")], given.captions, "image_id")
    return records


def _battle(record: Record, _: WhatToRead) -> Iterator[JudgedPair]:
    systems, winner = (record.name("source1"), record.name("source2")), record.name("winner")
    signs = {"equal": 0, "skip": 0, "bad": 0, systems[1]: -1, systems[0]: 1}
    if winner not in signs:
        raise record.refuse(f"winner must be one of {', '.join(map(repr, signs))}, got {winner!r}")
    # The captions of people are the references.
    if "human" not in systems:
        captions = record.caption("caption1"), record.caption("caption2")
        yield JudgedPair(
            record.name("img"),
            [record.caption("ref")],
            *captions,
            signs[winner],
            record.name("cluster"),
            b_system=systems[0],
            c_system=systems[1],
        )


_DOCENT = {"1_much_better": 1, "1_slightly_better": 1, "equal": 0, "2_slightly_better": -1, "2_much_better": -1}


def _described(record: Record, given: WhatToRead) -> Iterator[JudgedPair]:
    aspect = given.rating or ""
    label = record.name(aspect)
    if label not in _DOCENT:
        raise record.refuse(f"{aspect} must be one of {', '.join(_DOCENT)}, got {label!r}")
    captions = record.caption("model1_generation"), record.caption("model2_generation")
    yield JudgedPair(
        record.name("uuid"),
        [record.caption("reference")],
        *captions,
        _DOCENT[label],
        b_system=record.name("model1"),
        c_system=record.name("model2"),
    )


def _heard(record: Record, _: WhatToRead) -> Iterator[JudgedPair]:
    references = record.captions("references")
    for name, pair in record.fields.items():
        category = name[:2]
        if category not in ("HC", "HI", "HM", "MM") or pair is None:
            continue
        if not isinstance(pair, list) or len(pair) < 5 or not isinstance(pair[-1], list):
            raise record.refuse(f"{name} must be a list of two captions, who wrote them, and the votes")
        # Who wrote them is a sentence of one clip for people, so they are no systems.
        b, c = (record.checked(name, fields.text, text, accepted="a caption").strip() for text in pair[:2])
        votes = [int(record.checked(name, fields.number, vote, least=-1, most=1)) for vote in pair[-1]]
        left = [sentence for sentence in references if sentence not in (b, c)]
        cast = [vote for vote in votes if vote]
        yield JudgedPair(record.name("audio_id", "raw_name"), left, b, c, majority(votes), category, votes=cast)


def _long(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    score = float(record.read(fields.number, "score", least=0.0, most=float("inf")))
    yield RatedCaption(record.name("file_name"), record.captions("refs"), record.caption("cand"), (score,))


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
    for one in record.find("human_judgement"):
        judged = Record(record.source, record.line, one if isinstance(one, dict) else {})
        key = judged.name("image_id"), judged.caption("caption")
        ratings.setdefault(key, []).append(float(judged.read(fields.number, "rating", least=0.0, most=4.0)))
    for (image, caption), own in ratings.items():
        yield RatedCaption(image, record.captions("ground_truth"), caption, tuple(own))


_MSVD = ("mean", "accuracy", "completeness", "conciseness", "relevance")
"""Its lists have the mean last."""


def _watched(record: Record, given: WhatToRead) -> Iterator[RatedCaption]:
    raters = record.find("human_score")
    if not isinstance(raters, list) or not all(isinstance(one, list) and len(one) == len(_MSVD) for one in raters):
        raise record.refuse("human_score must have a list of five numbers of each person")
    place = _MSVD.index(given.rating or "") - 1
    ratings = tuple(record.checked("human_score", fields.number, one[place], least=1.0, most=5.0) for one in raters)
    yield RatedCaption(record.name("vname"), record.captions("ref"), record.caption("candidate"), ratings)


_DETAILED = ("CogVLM", "ShareCaptioner", "LLaVA_v15")
_WRITTEN = ("GT_Caption_GPT4O", "GT_Caption_GPT4V", "GT_Caption_Gemini15Pro")


def _detailed(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    if not record.has("GPT4_Eval"):
        return
    found: Any = record.find("GPT4_Eval")
    try:
        scores = json.loads(found) if isinstance(found, str) else found
    except ValueError:
        scores = None
    if not isinstance(scores, dict) or not set(_DETAILED) <= scores.keys():
        raise record.refuse(f"GPT4_Eval must have a number for {', '.join(_DETAILED)}")
    references = [record.caption(name) for name in _WRITTEN]
    for system in _DETAILED:
        score = float(record.checked("GPT4_Eval", fields.number, scores[system], least=0.0, most=float("inf")))
        yield RatedCaption(record.name("image"), references, record.caption(system), (score,), system)


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
    ),
    JudgmentForm(
        "caparena",
        ("caption1", "caption2", "source1", "source2", "winner"),
        _battle,
        left_out="pairs with a caption of people, which is the reference, left out",
    ),
    JudgmentForm(
        "docent",
        ("model1_generation", "model2_generation", "overall_quality"),
        _described,
        aspects=("overall_quality", "mistakes", "omissions"),
    ),
    JudgmentForm("audiocaps-eval", ("MM_1", "audio_id", "references"), _heard),
    JudgmentForm("clotho-eval", ("MM_1", "raw_name", "references"), _heard),
    JudgmentForm("longcap-arena", ("file_name", "refs", "cand", "score"), _long),
    JudgmentForm("msvd-eval", ("vname", "ref", "candidate", "human_score"), _watched, aspects=_MSVD),
    JudgmentForm(
        "detailcaps",
        ("GPT4_Eval", *_DETAILED, *_WRITTEN),
        _detailed,
        left_out="images that GPT-4 did not rate, left out",
    ),
)
"""A file is of the first that fits."""
