"""SPICE, with the numbers behind it for each category of what captions say."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from capeval.compat.captions import Captions, encoded, paired
from capeval.errors import DataError
from capeval.metrics import Spice as Metric
from capeval.scoring.result import Score
from capeval.scoring.score import score_corpus

_CATEGORIES = {
    "All": "all",
    "Object": "object",
    "Attribute": "attribute",
    "Relation": "relation",
    "Color": "color",
    "Cardinality": "count",
    "Size": "size",
}

Numbers = dict[str, float]
"""`pr`, `re` and `f`; `tp`, `fp` and `fn`, which they are made of; `numImages`, 1."""


class Spice:
    """SPICE of all that captions say, and of each category.

    `parser` says where scene graphs come from: `native`, the parser inside capeval, or `stanford`, the original
    program, which `capeval spice setup` sets up. Set it on the class: programs make their objects themselves.
    """

    parser: ClassVar[str] = "native"

    def compute_score(self, gts: Captions, res: Captions) -> tuple[np.float64, list[dict[str, Numbers]]]:
        """The mean score, and for each image, in the order of its sorted ids, the numbers of each category.

        Args:
            gts: `{image id: [reference, …]}`, tokens joined by blanks.
            res: `{image id: [candidate]}`.
        """
        try:
            order = sorted(gts)
        except TypeError:
            raise DataError(
                "SPICE's scores are in the order of the sorted image ids, and these cannot be sorted"
            ) from None
        names, candidates, references = paired({image: gts[image] for image in order}, res)
        metrics = {name: Metric(category=category, parser=self.parser) for name, category in _CATEGORIES.items()}
        result = score_corpus(encoded(candidates, references, names), metrics.values(), interval=None)
        found = {name: _numbers(result[metric]) for name, metric in metrics.items()}
        per_image = [{name: numbers[image] for name, numbers in found.items()} for image in range(len(order))]
        return np.float64(np.mean([numbers["All"]["f"] for numbers in per_image])), per_image

    def method(self) -> str:
        """The name that is printed."""
        return "SPICE"


def _numbers(score: Score) -> list[Numbers]:
    """What the original program tells of each image; F is NaN where the references say nothing of the category."""
    rows = np.frombuffer(score.statistics.values()).reshape(-1, score.statistics.width)
    return [
        {
            "pr": matched / said if said else 0.0,
            "re": matched / expected if expected else 0.0,
            "f": f if counted else math.nan,
            "fn": expected - matched,
            "numImages": 1.0,
            "fp": said - matched,
            "tp": matched,
        }
        for f, counted, matched, said, expected in rows.tolist()
    ]
