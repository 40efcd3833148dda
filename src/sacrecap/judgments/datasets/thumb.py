"""THumB: precision, recall and penalties of captions of COCO images (Kasai et al., NAACL 2022).

`mscoco_THumB-1.0.jsonl` holds the ratings, a line per caption, and names images by `seg_id`; `mscoco_references.jsonl`
holds their references. Total = (precision + recall) / 2 minus the penalties for fluency, conciseness and
inclusive language; the release has these penalties as numbers below 0.
"""

from __future__ import annotations

import os

from sacrecap.data import fields
from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError, accepted_name, option
from sacrecap.judgments.datasets.records import READER, Record, read_records
from sacrecap.judgments.judged_rows import Ratings, Row

ASPECTS = {
    "total": ("human_score", -10.0, 5.0),
    "precision": ("P", 1.0, 5.0),
    "recall": ("R", 1.0, 5.0),
    "fluency": ("Fl", -5.0, 0.0),
    "conciseness": ("Con", -5.0, 0.0),
    "inclusive": ("Inc", -5.0, 0.0),
}
"""Fields that people rated: name, smallest and largest value."""


def read_thumb(path: PathLike, references: PathLike | None = None, aspect: str | None = None) -> Ratings:
    """Reads the ratings of one `aspect`, the total by default.

    `references`: the file of references; by default the one in the folder of the ratings. Raises `DataError`, and
        `UsageError`
    for an unknown aspect.
    """
    aspect = aspect or "total"
    accepted_name("rating", aspect, tuple(ASPECTS))
    field, least, most = ASPECTS[aspect]
    known = _references(references or _beside(path))
    records = read_records(path)
    return Ratings(
        "thumb",
        display_name(path),
        rows=[Row(record.name("seg_id"), _look_up(record, known), place) for place, record in enumerate(records)],
        captions=[record.caption("hyp") for record in records],
        ratings=[(record.read(fields.number, field, least=least, most=most),) for record in records],
        in_file=len(records),
        system=[record.name("SYS") for record in records],
        aspect=aspect,
    )


def _references(path: PathLike) -> dict[str, list[str]]:
    return {record.name("seg_id"): record.captions("refs") for record in read_records(path)}


def _look_up(record: Record, known: dict[str, list[str]]) -> list[str]:
    image = record.name("seg_id")
    if image not in known:
        raise record.refuse(f"no references of image {image!r}; add them to the file of references")
    return known[image]


def _beside(path: PathLike) -> str:
    folder = os.path.dirname(os.fspath(path)) or "."
    for name in sorted(os.listdir(folder)):
        if name.endswith(".jsonl") and is_references(os.path.join(folder, name)):
            return os.path.join(folder, name)
    raise DataError(
        f"{display_name(path)}: no file of references (JSON lines of seg_id and refs) in its folder; put it "
        f"there, or name it with {option('captions', 'FILE', of=READER)}"
    )


def is_references(path: PathLike) -> bool:
    """Whether the file's first line has THumB's references."""
    with open(path, encoding="utf-8", errors="replace") as file:
        line = file.readline()
    return '"refs"' in line and '"seg_id"' in line
