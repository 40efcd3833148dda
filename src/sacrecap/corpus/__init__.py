"""Captions to score, tokenised and interned once, and the document frequencies of references."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus, References, tokenize
    from sacrecap.corpus.document_frequency import DocumentFrequency

__all__ = ["Corpus", "DocumentFrequency", "References", "tokenize"]
__dir__ = __all__.copy


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sacrecap.corpus' has no attribute {name!r}")
    home = "document_frequency" if name == "DocumentFrequency" else "corpus"
    return getattr(import_module(f"sacrecap.corpus.{home}"), name)
