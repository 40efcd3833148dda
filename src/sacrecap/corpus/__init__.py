"""Captions to score, tokenised and interned once, and the document frequencies of references."""

from sacrecap.corpus.corpus import Corpus, References, tokenize
from sacrecap.corpus.document_frequency import DocumentFrequency

__all__ = ["Corpus", "DocumentFrequency", "References", "tokenize"]
__dir__ = __all__.copy
