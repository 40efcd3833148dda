"""Document frequencies of references that come batch by batch, in bounded memory."""

from __future__ import annotations

import tempfile
import weakref
from typing import TYPE_CHECKING

from sacrecap import _core
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.errors import UsageError

if TYPE_CHECKING:
    from sacrecap.choices import Tokenizer
    from sacrecap.corpus.corpus import CaptionSource


class FrequencyCounter:
    """Counts document frequencies batch by batch: see `DocumentFrequency.counter`."""

    def __init__(self, *, tokenizer: Tokenizer, n: int, stem: bool, memory: int, threads: int) -> None:
        if isinstance(memory, bool) or memory < 1:
            raise UsageError(f"memory must be a number of bytes above 0, got {memory!r}")
        folder = tempfile.TemporaryDirectory(prefix="sacrecap-", ignore_cleanup_errors=True)
        weakref.finalize(self, folder.cleanup)
        self._core = _core.FrequencyCounter(n, stem, tokenizer, memory=memory, folder=folder.name)
        self._tokenizer, self._threads = tokenizer, threads

    @property
    def documents(self) -> int:
        """Number of images so far."""
        return self._core.documents

    def add(self, references: CaptionSource) -> None:
        """Adds the references of images, none of which was added before.

        `references`: as for [`build`][sacrecap.DocumentFrequency.build]; also a list, or a column of Arrow, with the
        captions of each image, since ids do not matter here. Raises `DataError` for unusable references.
        """
        from sacrecap.corpus.corpus import encode_references

        self.add_encoded(encode_references(references, tokenizer=self._tokenizer, threads=self._threads))

    def add_encoded(self, references: _core.References) -> None:
        """Adds references that are cut into words by the counter's tokenizer."""
        self._core.add(references, self._threads)

    def merge(self, other: DocumentFrequency) -> None:
        """Adds what was counted elsewhere, of other images: in another process, which `finish` gave it.

        Raises `UsageError` when it differs in `n`, tokenizer or stemming.
        """
        self._core.merge(other._core, self._threads)

    def finish(self, *, minimum: int = 1) -> DocumentFrequency:
        """The frequencies of n-grams in at least `minimum` images; the counter is used up.

        An n-gram that one image has weighs as much as one that none has, so 2 gives the same scores in less memory.
        """
        return DocumentFrequency(self._core.finish(minimum, threads=self._threads), "built")
