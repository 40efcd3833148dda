"""Captions to score, tokenised and interned once, and the document frequencies of references."""

from capeval.corpus.corpus import Corpus, References, tokenize
from capeval.corpus.document_frequency import DocumentFrequency

__all__ = ["Corpus", "DocumentFrequency", "References", "tokenize"]
