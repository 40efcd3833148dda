"""The program's answers, kept in a database in the user's cache folder."""

from __future__ import annotations

import json
from typing import ClassVar

from sacrecap.resources import cache

Side = tuple[str, ...]
"""The captions of one side of the comparison: a candidate, or all references of an image, in their order."""
Tuples = tuple[tuple[str, ...], ...]
"""The scene graph of a side: (object), (object, attribute), (object, relation, object)."""


class GraphCache(cache.Cache[Side, Tuples]):
    """Scene graphs by the program's version and the captions."""

    what: ClassVar[str] = "SPICE's scene graphs"
    again: ClassVar[str] = "what is parsed now will be parsed again next time"
    table: ClassVar[str] = "graphs"
    columns: ClassVar[tuple[str, str, str]] = ("program TEXT", "captions TEXT", "tuples TEXT")

    def stored_key(self, key: Side) -> str:
        return _text(key)

    def stored(self, value: Tuples) -> str:
        return _text(value)

    def loaded(self, stored: str) -> Tuples:
        return tuple(map(tuple, json.loads(stored)))


def _text(value: Side | Tuples) -> str:
    """JSON in ASCII: SQLite does not accept lone surrogates, which a caption may hold."""
    return json.dumps(value, separators=(",", ":"))
