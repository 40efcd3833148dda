"""The scorer under BLEU: captions are added one image after the other, and scored together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sacrecap.compat.encoded_captions import NgramScorer, encoded
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics import Bleu
from sacrecap.metrics.bleu import LENGTHS, MATCHES
from sacrecap.scoring.score import score_corpus

if TYPE_CHECKING:
    from typing_extensions import Self

Scores = tuple[list[float], list[list[float]]]
"""BLEU-1 to BLEU-n of all images together, and for each of them the scores of the images in their order."""


class BleuScorer(NgramScorer):
    """Candidates and references of images, as text."""

    def __init__(
        self, test: str | None = None, refs: Sequence[str] | None = None, n: int = 4, special_reflen: None = None
    ) -> None:
        if special_reflen is not None:
            raise UsageError(
                f"special_reflen must be None here, got {special_reflen!r}; BLEU takes the references' lengths"
            )
        super().__init__(n, test, refs)
        self._testlen = self._reflen = 0.0

    def retest(self, new_test: str | Sequence[str]) -> Self:
        """Takes other candidates for the same references."""
        tests = [new_test] if isinstance(new_test, str) else list(new_test)
        if len(tests) != len(self.crefs):
            raise DataError(f"{len(tests):,} candidates for {len(self.crefs):,} images")
        self.ctest = tests
        return self

    def rescore(self, new_test: str | Sequence[str]) -> Scores:
        """Scores other candidates."""
        return self.retest(new_test).compute_score()

    def compute_score(self, option: str | None = None, verbose: int = 0) -> Scores:
        """BLEU-1 to BLEU-n.

        Args:
            option: the reference length that a candidate's is compared with: `closest`, `average` or `shortest`. By
                default the average where there is one image, and the closest where there are several.
            verbose: above 0, the counts behind the scores are printed.
        """
        candidates, references = self.texts()
        if option is None:
            option = "average" if len(references) == 1 else "closest"
        metrics = [Bleu(n=n, length=option) for n in range(1, self.n + 1)]
        scores = score_corpus(encoded(candidates, references), metrics).values()
        rows = next(iter(scores)).rows
        # As the original adds them up, image after image: it prints every digit.
        sums = sum(np.frombuffer(rows.values(), dtype="<f8").reshape(rows.rows, rows.width), np.zeros(rows.width))
        self._testlen, self._reflen = float(sums[LENGTHS["candidate"]]), float(sums[LENGTHS[option]])
        if verbose > 0:
            counts = np.array(sums[MATCHES:], dtype=int).reshape(-1, 2)[: self.n]
            lengths: dict[str, Any] = {"testlen": int(self._testlen), "reflen": self._reflen}
            if option != "average":
                lengths["reflen"] = int(self._reflen)
            print({**lengths, "guess": counts[:, 1].tolist(), "correct": counts[:, 0].tolist()})
            print("ratio:", self._ratio())
        return [score.value for score in scores], [score.per_image_values().tolist() for score in scores]

    recompute_score = compute_score

    def _ratio(self) -> float:
        return (self._testlen + 1e-15) / (self._reflen + 1e-9)

    def ratio(self, option: str | None = None) -> float:
        """Words of the candidates over those of the references."""
        self.compute_score(option)
        return self._ratio()

    def testlen(self, option: str | None = None) -> int:
        """Number of words of the candidates."""
        self.compute_score(option)
        return int(self._testlen)

    def reflen(self, option: str | None = None) -> float:
        """Number of words of the references, one length for each image."""
        self.compute_score(option)
        return self._reflen
