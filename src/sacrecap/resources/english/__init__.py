"""English resources of the package: WordNet's synonyms, and the parser of captions."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from sacrecap import _core

_FOLDER = files("sacrecap.resources.english")


@cache
def synonyms() -> _core.Synonyms:
    """The synonym table, read once per process."""
    return _core.Synonyms(_FOLDER.joinpath("synonyms.table").read_bytes())


@cache
def parser() -> _core.Parser:
    """The parser of captions, read once per process."""
    return _core.Parser(_FOLDER.joinpath("parser-1.model").read_bytes())
