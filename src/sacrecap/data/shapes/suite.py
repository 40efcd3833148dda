"""The COCO suite's structures in memory, TextCaps, and rows with the suite's columns, in any kind of file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sacrecap.data.shapes.family import Record, Shape

_WRAPPERS = {"annotations", "captions", "data", "images", "predictions", "results", "rows", "samples"}
"""Keys that hold a list of rows: they are not image ids."""


def _gts(document: Any) -> Sequence[Record] | None:
    """Rows of `{id: [{"caption"}, …]}`, as pycocoevalcap's `gts` and `res` are."""
    if not isinstance(document, dict) or not document or document.keys() <= _WRAPPERS:
        return None
    rows = []
    for image, entries in document.items():
        if not isinstance(entries, list) or not all(isinstance(one, dict) and "caption" in one for one in entries):
            return None
        rows.append({"id": image, "caption": [one["caption"] for one in entries]})
    return rows


ALL = (
    Shape("gts", '{id: [{"caption"}, …], …}', ids=("id",), captions=("caption",), unpack=_gts),
    Shape(
        "textcaps",
        '{"data": [{"image_id", "caption_str", "reference_strs"}, …]}',
        ids=("image_id",),
        captions=("caption_str",),
        also=("image_id", "caption_str"),
    ),
    Shape(
        "rows",
        "a table, spreadsheet or wrapped list with image_id, and caption or captions",
        ids=("image_id",),
        captions=("caption", "captions"),
        any_case=True,
    ),
)
