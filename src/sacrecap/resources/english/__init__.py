"""English resources of the package: WordNet's synonyms, and the parser of captions."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrecap import _core


@cache
def synonyms() -> _core.Synonyms:
    """The synonym table, read once per process."""
    from sacrecap import _core

    return _core.Synonyms(_bytes("synonyms.table"))


@cache
def parser() -> _core.Parser:
    """The parser of captions, read once per process."""
    from sacrecap import _core

    return _core.Parser(_bytes("parser-1.model"))


def _bytes(name: str) -> bytes:
    return files("sacrecap.resources.english").joinpath(name).read_bytes()
