"""Releases of judgments that are tables or JSON with fields of their own: one row of `RELEASES` each.

A row has the fields by which a file is recognised, and a function that makes judgments of one of its records: pairs of
captions of which people preferred one, or captions with their ratings. Everything else is common.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sacrecap.choices import CATEGORIES
from sacrecap.data import fields, read_references
from sacrecap.data.source import PathLike, display_name, read_bytes
from sacrecap.errors import DataError, accepted_name, option
from sacrecap.judgments.datasets.records import READER, Record, read_records
from sacrecap.judgments.judged_rows import Pairs, Ratings, Row

KEY = "category"
"""The field of records that are in several lists: the name of their list."""


class Preferred(NamedTuple):
    """A pair, and which of its captions people preferred: +1 for B, −1 for C, 0 for neither."""

    image: str
    references: Sequence[str]
    b: str
    c: str
    sign: int
    category: str = ""
    systems: tuple[str, str] | None = None
    votes: list[int] | None = None


class RatedCaption(NamedTuple):
    """A caption and its ratings."""

    image: str
    references: Sequence[str]
    caption: str
    ratings: tuple[float, ...]
    system: str | None = None


@dataclass(frozen=True)
class Release:
    """How the records of a release are read."""

    fields: tuple[str, ...]
    """A file with all of these is of this release."""
    judged: Callable[[Record, str], Iterator[Preferred | RatedCaption]]
    aspects: tuple[str, ...] = ("rating",)
    """What people judged; the first is read unless another one is named."""
    left_out: str = "records without a judgment, left out"
    """What the note says of them."""
    has_references: bool = True
    """Whether the references are in the file; else a file of references has them."""


def _corrected(record: Record, _: str) -> Iterator[Preferred]:
    b, c = record.caption("human_corrected_hall_caption"), record.caption("hall_caption")
    if b != c:
        yield Preferred(record.name("image_id"), [record.caption("caption")], b, c, 1)


def _foiled(record: Record, _: str) -> Iterator[Preferred]:
    if record.find("foil"):
        foil = record.caption("caption")
        right = foil.replace(record.caption("foil_word"), record.caption("target_word"))
        yield Preferred(record.name("image_id"), [], right, foil, 1)


def _battle(record: Record, _: str) -> Iterator[Preferred]:
    systems, winner = (record.name("source1"), record.name("source2")), record.name("winner")
    signs = {"equal": 0, "skip": 0, "bad": 0, systems[1]: -1, systems[0]: 1}
    if winner not in signs:
        raise record.refuse(f"winner must be one of {', '.join(map(repr, signs))}, got {winner!r}")
    # The captions of people are the references.
    if "human" not in systems:
        captions = record.caption("caption1"), record.caption("caption2")
        yield Preferred(
            record.name("img"), [record.caption("ref")], *captions, signs[winner], record.name("cluster"), systems
        )


_DOCENT = {"1_much_better": 1, "1_slightly_better": 1, "equal": 0, "2_slightly_better": -1, "2_much_better": -1}


def _described(record: Record, aspect: str) -> Iterator[Preferred]:
    label = record.name(aspect)
    if label not in _DOCENT:
        raise record.refuse(f"{aspect} must be one of {', '.join(_DOCENT)}, got {label!r}")
    captions = record.caption("model1_generation"), record.caption("model2_generation")
    systems = record.name("model1"), record.name("model2")
    yield Preferred(record.name("uuid"), [record.caption("reference")], *captions, _DOCENT[label], systems=systems)


def _heard(record: Record, _: str) -> Iterator[Preferred]:
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
        total = sum(votes)
        left = [sentence for sentence in references if sentence not in (b, c)]
        cast = [vote for vote in votes if vote]
        sign = (total > 0) - (total < 0)
        yield Preferred(record.name("audio_id", "raw_name"), left, b, c, sign, category, votes=cast)


def _long(record: Record, _: str) -> Iterator[RatedCaption]:
    score = float(record.read(fields.number, "score", least=0.0, most=float("inf")))
    yield RatedCaption(record.name("file_name"), record.captions("refs"), record.caption("cand"), (score,))


def _labelled(record: Record, _: str) -> Iterator[Preferred]:
    label, category = record.find("label"), record.name(KEY)
    if isinstance(label, bool) or label not in (0, 1):
        raise record.refuse(f"label must be 0 (the first caption is preferred) or 1 (the second is), got {label!r}")
    pair = record.captions("captions")
    if len(pair) != 2 or category not in CATEGORIES:
        raise record.refuse(f"expected two captions of a category ({', '.join(CATEGORIES)})")
    b, c = pair
    yield Preferred(record.name("image"), record.captions("references"), b, c, -1 if label else 1, category)


def _by_experts(record: Record, _: str) -> Iterator[RatedCaption]:
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


def _watched(record: Record, aspect: str) -> Iterator[RatedCaption]:
    raters = record.find("human_score")
    if not isinstance(raters, list) or not all(isinstance(one, list) and len(one) == len(_MSVD) for one in raters):
        raise record.refuse("human_score must have a list of five numbers of each person")
    place = _MSVD.index(aspect) - 1
    ratings = tuple(record.checked("human_score", fields.number, one[place], least=1.0, most=5.0) for one in raters)
    yield RatedCaption(record.name("vname"), record.captions("ref"), record.caption("candidate"), ratings)


_DETAILED = ("CogVLM", "ShareCaptioner", "LLaVA_v15")
_WRITTEN = ("GT_Caption_GPT4O", "GT_Caption_GPT4V", "GT_Caption_Gemini15Pro")


def _detailed(record: Record, _: str) -> Iterator[RatedCaption]:
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


RELEASES = {
    "d-foil": Release(
        ("human_corrected_hall_caption", "hall_caption"),
        _corrected,
        left_out="captions in which nothing was corrected, left out",
    ),
    "pascal-50s": Release(("captions", "label", "references"), _labelled),
    "flickr8k-expert": Release(("human_judgement", "ground_truth"), _by_experts),
    "foil": Release(
        ("foil_word", "target_word", "foil_id"),
        _foiled,
        left_out="captions without a foil word, which their foils give, left out",
        has_references=False,
    ),
    "caparena": Release(
        ("caption1", "caption2", "source1", "source2", "winner"),
        _battle,
        left_out="pairs with a caption of people, which is the reference, left out",
    ),
    "docent": Release(
        ("model1_generation", "model2_generation", "overall_quality"),
        _described,
        ("overall_quality", "mistakes", "omissions"),
    ),
    "audiocaps-eval": Release(("MM_1", "audio_id", "references"), _heard),
    "clotho-eval": Release(("MM_1", "raw_name", "references"), _heard),
    "longcap-arena": Release(("file_name", "refs", "cand", "score"), _long),
    "msvd-eval": Release(("vname", "ref", "candidate", "human_score"), _watched, _MSVD),
    "detailcaps": Release(
        ("GPT4_Eval", *_DETAILED, *_WRITTEN), _detailed, left_out="images that GPT-4 did not rate, left out"
    ),
}
"""By the name of the data set; a file is of the first that fits."""


def release_of(names: set[str]) -> str | None:
    """The release whose fields are among these names."""
    return next((name for name, release in RELEASES.items() if names.issuperset(release.fields)), None)


def read_released(
    name: str, path: PathLike, captions: PathLike | None = None, aspect: str | None = None
) -> Ratings | Pairs:
    """Reads a file of a release. Raises `DataError`, and `UsageError` for an unknown aspect."""
    release, source = RELEASES[name], display_name(path)
    aspect = aspect or release.aspects[0]
    accepted_name("rating", aspect, release.aspects)
    judged = [list(release.judged(record, aspect)) for record in _records(path)]
    if not release.has_references:
        judged = _described_by(judged, source, captions)
    rows, found, place = [], [], 0
    for own in judged:
        rows += [Row(one.image, one.references, place + number) for number, one in enumerate(own)]
        found += own
        place += max(1, len(own))
    if not found:
        raise DataError(f"{source}: no judgment of {name} in it")
    none = judged.count([])
    notes = [f"{release.left_out}: {none:,}"] if none else []
    return _of_kind(name, source, rows, place, found, aspect, notes)


def _described_by(
    judged: list[list[Preferred | RatedCaption]], source: str, captions: PathLike | None
) -> list[list[Preferred | RatedCaption]]:
    """The judgments with the references of a file, without the captions that they judge."""
    if captions is None:
        raise DataError(
            f"{source}: has no references; name a file of them with {option('captions', 'FILE', of=READER)}"
        )
    known = read_references(captions)
    missing = [one.image for own in judged for one in own if one.image not in known]
    if missing:
        raise DataError(f"{display_name(captions)}: no references of image {missing[0]!r}, which {source} has")
    return [
        [
            one._replace(references=[text for text in known.captions(one.image) if text.strip() not in one])
            for one in own
        ]
        for own in judged
    ]


def _of_kind(
    name: str,
    source: str,
    rows: list[Row],
    in_file: int,
    found: list[Preferred | RatedCaption],
    aspect: str,
    notes: list[str],
) -> Ratings | Pairs:
    pairs = [one for one in found if isinstance(one, Preferred)]
    rated = [one for one in found if isinstance(one, RatedCaption)]
    if rated:
        systems = [one.system for one in rated if one.system is not None]
        return Ratings(
            name,
            source,
            rows,
            [one.caption for one in rated],
            [one.ratings for one in rated],
            in_file=in_file,
            system=systems or None,
            aspect=aspect,
            notes=notes,
        )
    votes = [one.votes for one in pairs if one.votes is not None]
    authors = [one.systems for one in pairs if one.systems is not None]
    return Pairs(
        name,
        source,
        rows,
        b=[one.b for one in pairs],
        c=[one.c for one in pairs],
        preferred=[one.sign for one in pairs],
        categories=[one.category for one in pairs],
        in_file=in_file,
        votes=votes or None,
        b_system=[b for b, _ in authors] or None,
        c_system=[c for _, c in authors] or None,
        notes=notes,
    )


def _records(path: PathLike) -> list[Record]:
    """The objects of a JSON list, alone or as `annotations`, or of a JSON object; JSON lines; the rows of a table."""
    source, data = display_name(path), read_bytes(path)
    try:
        document = json.loads(data)
    except ValueError:
        return read_records(path)
    if isinstance(document, dict):
        document = document.get("annotations", _parts(document))
    found = document if isinstance(document, list) else [document]
    for number, one in enumerate(found, 1):
        if not isinstance(one, dict):
            raise DataError(f"{source}, record {number}: expected a JSON object, got {fields.shown(one)}")
    return [Record(source, number, one) for number, one in enumerate(found, 1)]


def _parts(document: dict[str, Any]) -> list[Any]:
    """The objects in a JSON object, or in its lists, which then have their list's name; else the object itself."""
    parts = list(document.values())
    if parts and all(isinstance(one, list) for one in parts) and any(isinstance(one, dict) for one in parts[0]):
        return [{**one, KEY: name} if isinstance(one, dict) else one for name, own in document.items() for one in own]
    return parts if all(isinstance(one, dict) for one in parts) else [document]
