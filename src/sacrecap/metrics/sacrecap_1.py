"""sacrecap-1: predicts people's judgments of captions from metrics that need no model of images.

It is a weighted mean of metrics. Which ones, and their weights, were fitted to judgments of people
(`models/sacrecap-1/train.py`): Flickr8k-Expert (Hodosh, Young, Hockenmaier, JAIR 2013), PASCAL-50S and ABSTRACT-50S
(Vedantam, Zitnick, Parikh, CVPR 2015). The idea of a learned combination comes from Sharif, White, Bennamoun, Shah,
*NNEval* (ECCV 2018) and *LCEval* (IJCV 2019), whose combinations are networks.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, ClassVar, cast

from sacrecap.metrics.combine import WeightedMean
from sacrecap.metrics.declared import parameter

if TYPE_CHECKING:
    from sacrecap.metrics.base import Metric
    from sacrecap.metrics.combine import Combine

FILE = "sacrecap-1.json"
STUDIES = ("flickr8k-expert", "pascal-50s", "abstract-50s")
"""The data sets that it was fitted to, by the names of `sacrecap agreement --dataset`."""


@cache
def _combinations() -> dict[str, Combine]:
    """By the study that was left out: the combination that was chosen and fitted without it."""
    from sacrecap.metrics.registry import parse_metrics

    read: dict[str, str] = json.loads(files("sacrecap.resources").joinpath(FILE).read_bytes())
    return {without: cast("Combine", parse_metrics(text)[0]) for without, text in read.items()}


class Sacrecap1(WeightedMean):
    """A weighted mean of metrics, fitted to what people prefer."""

    without: str = parameter(
        "the study of which it knows nothing, so that its agreement there is a prediction",
        default="none",
        choices=("none", *STUDIES),
    )

    family: ClassVar[str] = "sacrecap-1"
    title: ClassVar[str] = "sacrecap-1"
    summary: ClassVar[str] = "People would probably say that the caption is good, by three metrics."
    proposed_in: ClassVar[str] = "sacrecap; after Sharif et al., ECCV 2018"
    own_cites: ClassVar[tuple[str, ...]] = ("sharif2018nneval",)
    explains: ClassVar[str | None] = "contribution"

    @property
    def trained_on(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(study for study in STUDIES if study != self.without)

    @property
    def members(self) -> tuple[Metric, ...]:
        return _combinations()[self.without].members

    @property
    def weights(self) -> tuple[float, ...]:
        return _combinations()[self.without].weights

    def signature_parts(self) -> list[str]:
        """The study that was left out, then those of the combination."""
        return [f"without:{self.without}", *super().signature_parts()]
