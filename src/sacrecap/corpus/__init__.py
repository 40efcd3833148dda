"""Captions to score, tokenised and interned once; document frequencies and language models of references."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus, References, tokenize
    from sacrecap.corpus.document_frequency import DocumentFrequency
    from sacrecap.corpus.language_model import LanguageModel

__all__ = ["Corpus", "DocumentFrequency", "LanguageModel", "References", "tokenize"]
__dir__ = __all__.copy


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sacrecap.corpus' has no attribute {name!r}")
    home = {"DocumentFrequency": "document_frequency", "LanguageModel": "language_model"}.get(name, "corpus")
    return getattr(import_module(f"sacrecap.corpus.{home}"), name)
