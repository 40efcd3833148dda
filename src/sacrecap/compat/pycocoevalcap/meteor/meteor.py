"""METEOR 1.5."""

from __future__ import annotations

from sacrecap.compat.encoded_captions import Captions, SuiteMetric, encoded, paired, score_alone
from sacrecap.errors import MissingDependencyError
from sacrecap.metrics import Meteor as Metric
from sacrecap.resources.needs import Needs


class Meteor(SuiteMetric):
    """METEOR with its defaults for English.

    Raises `MissingDependencyError` if METEOR's tables are not installed.
    """

    printed = "METEOR"

    def __init__(self) -> None:
        missing = Metric().status(Needs()).hindrance
        if missing is not None:
            raise MissingDependencyError(f"METEOR: {missing}")

    def compute_score(self, gts: Captions, res: Captions) -> tuple[float, list[float]]:
        """The score over all images together, and the scores of the images in the order of `gts`."""
        score = score_alone(Metric(), encoded(*paired(gts, res)))
        return score.value, score.per_image_values().tolist()
