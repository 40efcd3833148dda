"""COMPOSITE as released: captions of machines and people, rated from 1 to 5 (Aditya et al., CVIU 2018).

Tables of Mechanical Turk's form, separated by semicolons, with a row per image: `Input.image_url`, three or four
captions (`Input.text1`, …) and their ratings (`Answer.Q1Answer`, …). `coco_correctness.csv` has their relevance,
`coco_throughness.csv` how thorough they are; likewise `8k_…` and `30k_…`. The release has no references, and does not
say who wrote a caption: one that is among the references of its image is a human's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from sacrecap.data import fields, read_references
from sacrecap.data.image_ids import key
from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError, UsageError, option
from sacrecap.judgments.datasets.judgment_forms import JudgmentForm, RatedCaption, WhatToRead
from sacrecap.judgments.datasets.records import READER, Record, read_records
from sacrecap.judgments.judged_rows import letters_of

_URL, _TEXT, _ANSWER = "Input.image_url", "Input.text", "Answer."


def _records(path: PathLike, wanted: WhatToRead) -> list[Record]:
    """The rows, with the references of their images."""
    if wanted.captions is None:
        captions = option("captions", "FILE", of=READER)
        raise DataError(f"{display_name(path)}: has no references; name a file of them with {captions}")
    known = read_references(wanted.captions)
    records = read_records(path)
    for record in records:
        if not _answers(record):
            continue
        url = record.name(_URL)
        names = [url.rpartition("/")[2], *(key(url, how) or "" for how in ("stem", "number"))]
        image = next((name for name in names if name in known), None)
        if image is None:
            raise record.refuse(f"no references of image {names[0]!r} in {display_name(wanted.captions)}; add them")
        record.fields |= {"image": image, "references": known.captions(image)}
    return records


def _answers(record: Record) -> list[str]:
    """The ratings that are there; none in the rows below the table that some copies have."""
    return [name for name in record.fields if name.startswith(_ANSWER) and str(record.fields[name] or "").strip()]


def _judged(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    answers = _answers(record)
    texts = [name for name in record.fields if name.startswith(_TEXT) and str(record.fields[name] or "").strip()]
    if answers and len(texts) != len(answers):
        raise record.refuse(f"{len(texts)} captions and {len(answers)} ratings; expected one for each")
    references = record.fields.get("references", [])
    human = set(map(letters_of, references))
    for text, answer in zip(texts, answers, strict=False):
        value = record.find(answer)
        number = float(value) if isinstance(value, str) and value.strip().isdecimal() else value
        rating = record.checked(answer, fields.number, number, least=1.0, most=5.0)
        caption = record.caption(text)
        is_human = letters_of(caption) in human
        yield RatedCaption(
            record.name("image"),
            references,
            caption,
            (rating,),
            "human" if is_human else text.removeprefix("Input."),
            categories="human" if is_human else "machine",
        )


def _aspect(first: Record, wanted: str | None) -> str:
    """What the file's ratings are of, by its name."""
    aspect = "thoroughness" if "through" in os.path.basename(first.source).lower() else "relevance"
    if wanted not in (None, aspect):
        raise UsageError(f"{first.source} has ratings of {aspect}, those of {wanted!r} are in another file")
    return aspect


COMPOSITE = JudgmentForm(
    "ratings",
    (_URL, f"{_TEXT}1"),
    _judged,
    _records,
    aspect_of=_aspect,
    left_out="rows without ratings, left out",
    reads_captions=True,
)
