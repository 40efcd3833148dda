"""What is known of a whole corpus, where it is scored part by part."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sacrecap.corpus.document_frequency import DocumentFrequency


class WholeCorpus:
    """Document frequencies of a whole corpus, and what metrics learnt of it: parts take them in the place of their own.

    Args:
        images: number of images.
        frequencies: document frequencies of stems (True) and of word forms (False), as far as they were counted.
        learnt: what each metric's learner made of all references.
    """

    def __init__(
        self, images: int, frequencies: Mapping[bool, DocumentFrequency], learnt: Mapping[Hashable, Any]
    ) -> None:
        self.images = images
        self._frequencies = frequencies
        self._learnt = learnt

    def frequencies(self, *, stems: bool) -> DocumentFrequency:
        """Document frequencies of stems, or of word forms. Raises `KeyError` if they were not counted."""
        return self._frequencies[stems]

    def learnt(self, metric: Hashable) -> Any:
        """What the metric's learner made of all references. Raises `KeyError` if it has none."""
        return self._learnt[metric]
