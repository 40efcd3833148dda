"""The scores of a corpus row by row, and what metrics need for it, as rewards and their guards use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sacrecap.errors import UsageError
from sacrecap.metrics.cider import frequencies_for
from sacrecap.scoring.count import count

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap._core import Captions
    from sacrecap.choices import Tokenizer
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics import Metric
    from sacrecap.resources.needs import Needs


def row_scores(corpus: Corpus, metric: Metric, needs: Needs) -> npt.NDArray[np.float64]:
    """The score of each caption of the corpus, or of each set; 0 for one that the metric does not score."""
    [counted] = count(corpus, (metric,), needs)
    scores: npt.NDArray[np.float64] = np.frombuffer(counted.statistics.row_scores(), dtype="<f8")
    return np.nan_to_num(scores, nan=0.0)


def ready_needs(metric: Metric, references: Captions | None, tokenizer: Tokenizer, needs: Needs) -> Needs:
    """The needs of a metric, with document frequencies of all references if none are given.

    Raises:
        UsageError: something that the metric needs is not given.
    """
    reason = metric.status(needs).hindrance
    if reason is not None:
        raise UsageError(f"{metric.key}: {reason}")
    weighted = [part for part in metric.parts if part.uses_document_frequency]
    if not weighted or "document_frequency" in needs:
        return needs
    if references is None:
        raise UsageError(
            f"{metric.key} weights words by how many images have them, and the references of a batch are few; give "
            "document frequencies (document_frequency=…)"
        )
    if references.image_count < 2:
        raise UsageError(
            f"{metric.key} weights words by how many images have them, and these are the references of one image; give "
            "those of the whole training split, or document frequencies (document_frequency=…)"
        )
    return needs.with_({"document_frequency": frequencies_for([metric], references, tokenizer=tokenizer)})
