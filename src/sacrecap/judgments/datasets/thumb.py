"""THumB: precision, recall and penalties of captions of COCO images (Kasai et al., NAACL 2022).

`mscoco_THumB-1.0.jsonl` holds the ratings, a line per caption, and names images by `seg_id`; `mscoco_references.jsonl`
holds their references. Total = (precision + recall) / 2 minus the penalties for fluency, conciseness and
inclusive language; the release has these penalties as numbers below 0.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from sacrecap.data import fields
from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError, option
from sacrecap.judgments.datasets.judgment_forms import JudgmentForm, RatedCaption, WhatToRead
from sacrecap.judgments.datasets.records import READER, Record, read_records

ASPECTS = {
    "total": ("human_score", -10.0, 5.0),
    "precision": ("P", 1.0, 5.0),
    "recall": ("R", 1.0, 5.0),
    "fluency": ("Fl", -5.0, 0.0),
    "conciseness": ("Con", -5.0, 0.0),
    "inclusive": ("Inc", -5.0, 0.0),
}
"""Fields that people rated: name, smallest and largest value."""


def _records(path: PathLike, wanted: WhatToRead) -> list[Record]:
    """The ratings, with the references of the file that is given, or of the one in their folder."""
    known = {
        record.name("seg_id"): record.captions("refs") for record in read_records(wanted.captions or _beside(path))
    }
    records = read_records(path)
    for record in records:
        image = record.name("seg_id")
        if image not in known:
            raise record.refuse(f"no references of image {image!r}; add them to the file of references")
        record.fields["refs"] = known[image]
    return records


def _judged(record: Record, wanted: WhatToRead) -> Iterator[RatedCaption]:
    field, least, most = ASPECTS[wanted.rating or ""]
    rating = record.read(fields.number, field, least=least, most=most)
    yield RatedCaption(
        record.name("seg_id"), record.captions("refs"), record.caption("hyp"), (rating,), record.name("SYS")
    )


THUMB = JudgmentForm("thumb", ("seg_id", "hyp"), _judged, _records, tuple(ASPECTS), reads_captions=True)


def _beside(path: PathLike) -> str:
    folder = os.path.dirname(os.fspath(path)) or "."
    for name in sorted(os.listdir(folder)):
        if name.endswith(".jsonl") and _is_references(os.path.join(folder, name)):
            return os.path.join(folder, name)
    raise DataError(
        f"{display_name(path)}: no file of references (JSON lines of seg_id and refs) in its folder; put it "
        f"there, or name it with {option('captions', 'FILE', of=READER)}"
    )


def _is_references(path: PathLike) -> bool:
    """Whether the file's first line has THumB's references."""
    with open(path, encoding="utf-8", errors="replace") as file:
        line = file.readline()
    return '"refs"' in line and '"seg_id"' in line
