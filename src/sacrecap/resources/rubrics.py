"""Rubrics: for each image a list of items, each a statement or a question that a caption can answer."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from itertools import chain
from os import PathLike
from typing import Any

from sacrecap._core import image_ids
from sacrecap.data.rows import parsed
from sacrecap.data.source import display_name, read_bytes
from sacrecap.errors import DataError, spelled

Rubric = Mapping[str, Sequence[str]]
RubricSource = str | PathLike[str] | Mapping[Any, Sequence[str]]


def read_rubric(source: RubricSource) -> Rubric:
    """The items of each image.

    Args:
        source: the items by image; or a file of JSON, or of JSON lines: `{image id: [item, …]}`, or rows
            `{"image_id": …, "items": [item, …]}`. Checklists of public benchmarks are read, too: rows with an `id` and
            lists called `…_checklist`, whose entries have a `Question`.

    Raises:
        DataError: something else, or the file cannot be read.
    """
    if isinstance(source, Mapping):
        named = zip(image_ids(source), source.values(), strict=True)
        return {image: _texts(image, items, "the rubric") for image, items in named}
    name = display_name(source)
    document = parsed(read_bytes(source))
    if isinstance(document, dict) and not {"items", "image_id"} & {*document}:
        return {image: _texts(image, items, name) for image, items in document.items()}
    rubric: dict[str, list[str]] = {}
    for number, row in enumerate(document if isinstance(document, list) else [document], 1):
        image = row.get("image_id", row.get("id")) if isinstance(row, dict) else None
        if image is None:
            raise DataError(f"{name}, row {number}: {_EXPECTED}, got {str(row)[:100]}")
        items = row.get("items")
        lists = [entries for key, entries in row.items() if key.endswith("_checklist") and isinstance(entries, list)]
        if "items" not in row and lists:
            items = [entry.get("Question") if isinstance(entry, dict) else entry for entry in chain(*lists)]
        rubric.setdefault(image_ids([image])[0], []).extend(_texts(image, items, name))
    return rubric


_EXPECTED = 'a row of a rubric is {"image_id": …, "items": [text, …]}'


def _texts(image: object, items: Any, name: str) -> list[str]:
    if not isinstance(items, Sequence) or isinstance(items, str) or not all(isinstance(item, str) for item in items):
        raise DataError(f"{name}: the items of image {image!r} are {items!r:.100}; {_EXPECTED}")
    return list(items)


def lacks_rubric() -> str:
    """What a metric does that has no rubric, and where to give it."""
    file = spelled(python="rubric=FILE", command="--judge-settings rubric=FILE")
    return f"looks for the items of a rubric: give {file}"


def signed(rubric: Rubric) -> str:
    """What signatures say of a rubric: a checksum of its items."""
    text = json.dumps(sorted((image, [*items]) for image, items in rubric.items()))
    return f"rubric:{zlib.crc32(text.encode()):08x}"


_SAID = "described|mentioned|identified|stated|specified|noted|depicted|portrayed|indicated|characterized|listed|said"
_ASKING = re.compile(
    r"^(?:does|do) the (?:caption|description|text)s? (?:\w+ly |also )?\w+(?: that| to| as)?\b"
    rf"|\b(?:{_SAID})(?: that| as| to be| to| by| in)?\b|\bthe (?:caption|description)s?(?: of)?\b"
    r"|^(?:is|are) there a mention of\b|\bthe presence of\b",
    re.IGNORECASE,
)
"""What asks: *does the caption mention*, *described as*, *the presence of*."""


def statement(item: str) -> str:
    """What an item asks for, without the words that ask: of `Does the caption mention a dog?`, `a dog`."""
    if not item.rstrip().endswith("?"):
        return item
    return " ".join(_ASKING.sub(" ", item.rstrip(" ?")).split())
