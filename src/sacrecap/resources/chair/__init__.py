"""The words that CHAIR looks for: the published vocabulary of COCO's objects, a larger one from WordNet, and files."""

from __future__ import annotations

import os
from functools import cache, lru_cache
from importlib.resources import files
from typing import TypeAlias

from sacrecap import _core
from sacrecap.data.source import PathLike, read_bytes
from sacrecap.data.unpack import text_of
from sacrecap.errors import DataError, first_of, warn
from sacrecap.resources.chair.object_vocabulary import ObjectVocabulary

__all__ = ["NAMES", "ObjectVocabulary", "VocabularySource", "by_base_forms", "open_vocabulary"]

VocabularySource: TypeAlias = "PathLike | ObjectVocabulary"

NAMES = ("coco", "wordnet")
"""The vocabularies inside the package: the published synonyms of COCO's 80 objects, and the things of WordNet."""


def open_vocabulary(source: VocabularySource) -> ObjectVocabulary:
    """The vocabulary of one of the `NAMES`, or in a file of the published format: see `ObjectVocabulary`.

    Warns about words in a file that no caption can contain. Raises `DataError` for a file that cannot be used.
    """
    if isinstance(source, ObjectVocabulary):
        return source
    if source in NAMES:
        return _own(str(source))
    path = os.fspath(source)
    try:
        status = os.stat(path)
        vocabulary = _read(path, (status.st_mtime_ns, status.st_size))
    except OSError:
        raise DataError(f"{path}: no such file, and no vocabulary of that name; {_ACCEPTED}") from None
    if vocabulary.never_found:
        words = first_of([*map(repr, vocabulary.never_found)])
        warn(
            f"{path}: no caption can contain {words}: captions are compared in lower case, with one blank "
            "between words; write words in this form"
        )
    return vocabulary


_ACCEPTED = (
    f"give {' or '.join(NAMES)}, or a file with one line per object: its name and other words for it, separated "
    "by commas"
)


@cache
def _own(name: str) -> ObjectVocabulary:
    return ObjectVocabulary(_text(name), name)


@cache
def by_base_forms() -> ObjectVocabulary:
    """The published vocabulary, looked up by WordNet's base forms of a caption's words."""
    return ObjectVocabulary(_text("coco"), "coco", _core.noun_base)


def _text(name: str) -> str:
    return files("sacrecap.resources.chair").joinpath(f"{name}.txt").read_text(encoding="utf-8")


@lru_cache(maxsize=4)
def _read(path: str, version: tuple[int, int]) -> ObjectVocabulary:  # noqa: ARG001 (a file that changes is another)
    return ObjectVocabulary(text_of(read_bytes(path), f"{path}, "), path)
