"""Captions without image ids: the position in the file is the id, counted from 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sacrecap.data.fields import decoded
from sacrecap.data.rows import Columns, Document
from sacrecap.data.shapes.family import Record, Shape


def _lists(document: Any) -> Sequence[Record] | None:
    if not isinstance(document, list) or not document or not all(isinstance(one, str | list) for one in document):
        return None
    return [{"line": number, "caption": one} for number, one in enumerate(document, 1)]


def read_lines(data: bytes) -> Document:
    """One line per image, with its captions; tabs separate several. Raises `DataError` for text that is not UTF-8."""
    lines = decoded(data, "the text").replace("\r\n", "\n").removesuffix("\n").split("\n")
    captions = [line.split("\t") if "\t" in line else line for line in lines]
    return Document(Columns({"line": list(range(1, len(lines) + 1)), "caption": captions}), kind="table")


ALL = (
    Shape("lists", "[caption or [caption, …], …]", ids=("line",), captions=("caption",), unpack=_lists),
    Shape("text", "a line per image; tabs between several captions", ids=("line",), captions=("caption",)),
)
"""A file is read as lines of text only on request: any text file would fit."""
