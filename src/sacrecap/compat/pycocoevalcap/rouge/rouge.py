"""ROUGE-L."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sacrecap.compat.encoded_captions import (
    Captions,
    SuiteMetric,
    caption_list,
    encoded,
    paired,
    score_alone,
    single_caption,
)
from sacrecap.metrics import RougeL


class Rouge(SuiteMetric):
    """F of the longest common subsequence; `beta` is the weight of recall."""

    printed = "Rouge"

    def __init__(self) -> None:
        self.beta = 1.2

    def calc_score(self, candidate: Sequence[str], refs: Sequence[str]) -> float:
        """The score of a list of one candidate by its references."""
        corpus = encoded([single_caption(candidate, "candidate")], [caption_list(refs, "refs")])
        return score_alone(RougeL(beta=self.beta), corpus).value

    def compute_score(self, gts: Captions, res: Captions) -> tuple[np.float64, npt.NDArray[np.float64]]:
        """The mean score, and the scores of the images in the order of `gts`, shape (images,)."""
        scores = score_alone(RougeL(beta=self.beta), encoded(*paired(gts, res))).per_image.copy()
        return np.mean(scores), scores
