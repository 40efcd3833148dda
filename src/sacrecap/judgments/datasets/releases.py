"""Releases of judgments in files of their own, as one form each.

A form has the fields by which a file is recognised, and a function that makes judgments of one of its records.

Flickr8k (Hodosh, Young, Hockenmaier, JAIR 2013): expert ratings and crowd votes of captions retrieved for images. Both
name captions of the token file by `image.jpg#number`. Expert: image, caption, three ratings from 1 (does not describe
the image) to 4 (describes it without error). CrowdFlower: image, caption, share of yes, votes for yes and no.

THumB (Kasai et al., NAACL 2022): precision, recall and penalties of captions of COCO images. `mscoco_THumB-1.0.jsonl`
holds the ratings, a line per caption, and names images by `seg_id`; `mscoco_references.jsonl` holds their references.
Total = (precision + recall) / 2 minus the penalties for fluency, conciseness and inclusive language; the release has
these penalties as numbers below 0.

COMPOSITE (Aditya et al., CVIU 2018): captions of machines and people, rated from 1 to 5. Tables of Mechanical Turk's
form, separated by semicolons, with a row per image: `Input.image_url`, three or four captions (`Input.text1`, …) and
their ratings (`Answer.Q1Answer`, …). `coco_correctness.csv` has their relevance, `coco_throughness.csv` how thorough
they are; likewise `8k_…` and `30k_…`. The release has no references, and does not say who wrote a caption: one that is
among the references of its image is a human's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sacrecap.choices import CATEGORIES
from sacrecap.data import read_references
from sacrecap.data.image_ids import key
from sacrecap.data.source import PathLike, display_name
from sacrecap.data.tables import is_number
from sacrecap.errors import DataError, UsageError, option
from sacrecap.judgments.datasets.records import (
    KEY,
    JudgedPair,
    JudgmentForm,
    RatedCaption,
    Record,
    WhatToRead,
    add_references,
    read_document,
    read_lines,
    read_records,
)
from sacrecap.judgments.judged_rows import READER, letters_of

TOKENS = "Flickr8k.token.txt"

_EXPERT = ("image", "caption", "first rating", "second rating", "third rating")
_CROWD = ("image", "caption", "share of yes", "votes for yes", "votes for no")
_SHARE_TOLERANCE = 1e-6


def columns_of(line: str) -> set[str]:
    """The columns of the file that a line is of, if it is one of the two."""
    parts = line.split("\t")
    if len(parts) != 5 or "#" not in parts[1]:
        return set()
    share, *votes = parts[2:]
    # Ratings are whole numbers from 1; a share is a fraction, 0, or 1 if all votes are yes.
    is_share = "." in share or "0" in (share, *votes)
    return set(_CROWD if is_share else _EXPERT)


def _flickr8k_records(path: PathLike, to_read: WhatToRead) -> list[Record]:
    """The lines, with the captions that they are about, and the references of their images by id.

    The token file is in the folder of the judgments, unless `captions` is given.
    """
    source, tokens, records = display_name(path), to_read.captions, []
    if tokens is None:
        tokens = os.path.join(os.path.dirname(os.fspath(path)), TOKENS)
        if not os.path.exists(tokens):
            raise DataError(
                f"{source}: the captions are in {TOKENS}, which is not in the same folder; put it there, or name it "
                f"with {option('captions', 'FILE', of=READER)}"
            )
    sentences: dict[str, dict[str, str]] = {}
    for number, line in read_lines(tokens):
        name, tab, sentence = line.partition("\t")
        if not tab or "#" not in name:
            raise DataError(f"{display_name(tokens)}, line {number}: expected image.jpg#0, a tab and a caption")
        sentences.setdefault(name.partition("#")[0], {})[name] = sentence.strip()
    for number, line in read_lines(path):
        parts = line.split("\t")
        if len(parts) != 5:
            raise DataError(
                f"{source}, line {number}: {len(parts)} columns, expected 5: image, caption id, and three "
                "numbers, with tabs between"
            )
        image, name, *numbers = parts
        record = Record(source, number, {"image": image, "id": name, "numbers": numbers})
        if image not in sentences:
            raise record.refuse(f"no captions of image {image!r} in the token file; add them or remove the row")
        text = sentences.get(name.partition("#")[0], {}).get(name)
        if text is None:
            raise record.refuse(f"no caption {name!r} in the token file; add it or remove the row")
        record.fields |= {"caption": text, "references": sentences[image]}
        records.append(record)
    if not records:
        raise DataError(f"{source}: no judgment in it")
    return records


def _is_reference(record: Record) -> bool:
    """Whether the caption is one of its own image's references."""
    return bool(record.fields["id"].partition("#")[0] == record.fields["image"])


def _count(record: Record, text: str, what: str, least: int, most: float = math.inf) -> int:
    value = int(text) if text.strip().isdecimal() else -1
    if not least <= value <= most:
        bounds = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
        raise record.refuse(f"{what} must be a whole number {bounds}, got {text!r}")
    return value


def _by_three_experts(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    image, references = record.fields["image"], tuple(record.fields["references"].values())
    ratings = tuple(float(_count(record, number, "a rating", 1, 4)) for number in record.fields["numbers"])
    if not _is_reference(record):
        yield RatedCaption(image, references, record.fields["caption"], ratings)


def _by_crowd(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    """The share of yes."""
    image, references = record.fields["image"], tuple(record.fields["references"].values())
    if not references:
        raise record.refuse(f"every reference of image {image!r} is itself judged, so no reference is left")
    text, *counts = record.fields["numbers"]
    yes, no = (_count(record, count, "a number of votes", 0) for count in counts)
    share = float(text) if is_number(text) else -1.0
    if not 0 <= share <= 1:
        raise record.refuse(f"the share of yes must be a number from 0 to 1, got {text!r}")
    if yes + no == 0 or abs(share - yes / (yes + no)) > _SHARE_TOLERANCE:
        raise record.refuse(f"a share of {text} does not follow from {yes} votes for yes and {no} for no")
    yield RatedCaption(image, references, record.fields["caption"], (share,), votes=(yes, no))


def _without_judged(records: Sequence[Record]) -> list[str]:
    """Removes judged captions from the references of their own image, and says how many."""
    judged = {record.fields["id"] for record in records if _is_reference(record)}
    for record in records:
        references = record.fields["references"].items()
        record.fields["references"] = {name: text for name, text in references if name not in judged}
    return [f"judged captions removed from the references of their own image: {len(judged):,}"] if judged else []


EXPERT = JudgmentForm(
    "flickr8k-expert",
    _EXPERT,
    _by_three_experts,
    _flickr8k_records,
    reads_captions=True,
    left_out="rows left out whose caption is one of the image's own references",
)
CROWD = JudgmentForm("flickr8k-cf", _CROWD, _by_crowd, _flickr8k_records, remarks=_without_judged, reads_captions=True)


ASPECTS = {
    "total": ("human_score", -10.0, 5.0),
    "precision": ("P", 1.0, 5.0),
    "recall": ("R", 1.0, 5.0),
    "fluency": ("Fl", -5.0, 0.0),
    "conciseness": ("Con", -5.0, 0.0),
    "inclusive": ("Inc", -5.0, 0.0),
}
"""Fields that people rated: name, smallest and largest value."""


def _thumb_records(path: PathLike, to_read: WhatToRead) -> list[Record]:
    """The ratings, with the references of the file that is given, or of the first of their folder that has some."""
    captions = to_read.captions
    if captions is None:
        for file in sorted(Path(path).parent.glob("*.jsonl")):
            with open(file, encoding="utf-8", errors="replace") as lines:
                first = lines.readline()
            if '"refs"' in first and '"seg_id"' in first:
                captions = file
                break
        else:
            raise DataError(
                f"{display_name(path)}: no file of references (JSON lines of seg_id and refs) in its folder; put it "
                f"there, or name it with {option('captions', 'FILE', of=READER)}"
            )
    references = {record.name("seg_id"): record.captions("refs") for record in read_records(captions)}
    records = read_records(path)
    add_references(records, references, "seg_id")
    return records


def _rated_by_aspect(record: Record, to_read: WhatToRead) -> Iterator[RatedCaption]:
    field, least, most = ASPECTS[to_read.rating or ""]
    rating = (record.number(field, record.find(field), least, most),)
    yield RatedCaption(
        record.name("seg_id"), record.captions("references"), record.caption("hyp"), rating, record.name("SYS")
    )


THUMB = JudgmentForm("thumb", ("seg_id", "hyp"), _rated_by_aspect, _thumb_records, tuple(ASPECTS), reads_captions=True)


_URL, _TEXT, _ANSWER = "Input.image_url", "Input.text", "Answer."


def _captions_of(path: PathLike, to_read: WhatToRead) -> PathLike:
    """The file of references that a call names for a file that has none. Raises `DataError` where it does not."""
    if to_read.captions is None:
        captions = option("captions", "FILE", of=READER)
        raise DataError(f"{display_name(path)}: has no references; name a file of them with {captions}")
    return to_read.captions


def _composite_records(path: PathLike, to_read: WhatToRead) -> list[Record]:
    """The rows, with the references of their images."""
    captions = _captions_of(path, to_read)
    described, records = read_references(captions), read_records(path)
    for record in records:
        if not _filled(record, _ANSWER):
            continue
        url = record.name(_URL)
        names = [url.rpartition("/")[2], *(key(url, how) or "" for how in ("stem", "number"))]
        image = next((name for name in names if name in described), None)
        if image is None:
            raise record.refuse(f"no references of image {names[0]!r} in {display_name(captions)}; add them")
        record.fields |= {"image": image, "references": described.captions(image)}
    return records


def _filled(record: Record, beginning: str) -> list[str]:
    """The columns of ratings, or captions, that are there; none in the rows below the table that some copies have."""
    return [name for name in record.fields if name.startswith(beginning) and str(record.fields[name] or "").strip()]


def _rated_answers(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    answers, texts = _filled(record, _ANSWER), _filled(record, _TEXT)
    if answers and len(texts) != len(answers):
        raise record.refuse(f"{len(texts)} captions and {len(answers)} ratings; expected one for each")
    references = record.fields.get("references", [])
    human = set(map(letters_of, references))
    for text, answer in zip(texts, answers, strict=False):
        rating, caption = record.number(answer, record.find(answer), 1.0, 5.0), record.caption(text)
        is_human = letters_of(caption) in human
        yield RatedCaption(
            record.name("image"),
            references,
            caption,
            (rating,),
            "human" if is_human else text.removeprefix("Input."),
            categories="human" if is_human else "machine",
        )


def _aspect(first: Record, named: str | None) -> str:
    """What the file's ratings are of, by its name."""
    aspect = "thoroughness" if "through" in os.path.basename(first.source).lower() else "relevance"
    if named not in (None, aspect):
        raise UsageError(f"{first.source} has ratings of {aspect}, those of {named!r} are in another file")
    return aspect


COMPOSITE = JudgmentForm(
    "ratings",
    (_URL, f"{_TEXT}1"),
    _rated_answers,
    _composite_records,
    aspect_of=_aspect,
    left_out="rows without ratings, left out",
    reads_captions=True,
)


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


def _foil_records(path: PathLike, to_read: WhatToRead) -> list[Record]:
    records, references = read_document(path), read_references(_captions_of(path, to_read)).to_dict()
    add_references([record for record in records if record.find("foil")], references, "image_id")
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
        ratings.setdefault(key, []).append(judged.number("rating", judged.find("rating"), 0.0, 4.0))
    for (image, caption), values in ratings.items():
        yield RatedCaption(image, record.captions("ground_truth"), caption, tuple(values))


_MSVD = ("mean", "accuracy", "completeness", "conciseness", "relevance")
"""Its lists have the mean last."""


def _watched(record: Record, to_read: WhatToRead) -> Iterator[RatedCaption]:
    raters = record.find("human_score")
    if not isinstance(raters, list) or not all(
        isinstance(rater, list) and len(rater) == len(_MSVD) for rater in raters
    ):
        raise record.refuse("human_score must have a list of five numbers of each person")
    place = _MSVD.index(to_read.rating or "") - 1
    ratings = tuple(record.number("human_score", rater[place], 1.0, 5.0) for rater in raters)
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
        records=_foil_records,
        reads_captions=True,
    ),
    JudgmentForm("msvd-eval", ("vname", "ref", "candidate", "human_score"), _watched, aspects=_MSVD),
)
"""A file is of the first that fits."""
