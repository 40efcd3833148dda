"""CIDEr-D of numbered samples, by document frequencies that have a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sacrecap.compat.encoded_captions import SuiteMetric, single_caption
from sacrecap.compat.pyciderevalcap.ciderD.ciderD_scorer import CiderScorer, Scores
from sacrecap.errors import DataError


class CiderD(SuiteMetric):
    """CIDEr-D. As in the original, `sigma` has no effect: the width of the length penalty is 6.

    `df`: `corpus`, to count document frequencies in the references of a call, or the name of the file that has them:
    `coco-train-idxs` is `data/coco-train-idxs.p`, a pickle, which is not executed.
    """

    printed = "CIDEr-D"
    scorer: type[CiderScorer] = CiderScorer

    def __init__(self, n: int = 4, sigma: float = 6.0, df: str = "corpus") -> None:
        self._n = n
        self._sigma = sigma
        self._df = df
        self.cider_scorer: Any = self.scorer(n=n, df_mode=df)

    def compute_score(self, gts: Mapping[Any, Sequence[str]], res: Sequence[Mapping[str, Any]]) -> Scores:
        """Scores samples, several of which may be of one image.

        Args:
            gts: `{image id: [reference, …]}`.
            res: `[{"image_id": …, "caption": [candidate]}, …]`.

        Returns:
            The mean, and the score of each sample, float64 of shape (samples,).
        """
        scorer: CiderScorer = self.cider_scorer.copy_empty()
        for number, sample in enumerate(res):
            try:
                image, captions = sample["image_id"], sample["caption"]
            except (KeyError, TypeError):
                raise DataError(
                    f"res[{number}] must be a dictionary with image_id and caption, got {sample!r:.80}"
                ) from None
            if image not in gts:
                raise DataError(f"res[{number}] is of image {image!r}, of which gts has no reference")
            scorer += (single_caption(captions, f"res[{number}]['caption']"), gts[image])
        return scorer.compute_score()

    def my_compute_score(
        self, gts: Sequence[Sequence[str]], res: Sequence[Sequence[str]], avg_refs: bool = True
    ) -> Scores:
        """Scores of several captions of each image, float64 of shape (images, captions), and their mean."""
        matrices = self.cider_scorer.copy_empty().my_get_ciders(list(zip(gts, res, strict=False)))
        scores = np.array([matrix.mean(axis=1) for matrix in matrices])
        return np.mean(scores), scores

    def my_self_cider(self, res: Sequence[Sequence[str]]) -> list[npt.NDArray[np.float64]]:
        """For each set of captions, the score of each of them by each of them, shape (captions, captions)."""
        scorer: CiderScorer = self.cider_scorer.copy_empty()
        return scorer.my_get_ciders([(captions, captions) for captions in res])
