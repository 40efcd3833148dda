"""SPIDEr: the mean of SPICE and CIDEr-D.

Liu, Zhu, Ye, Guadarrama, Murphy, *Improved Image Captioning via Policy Gradient optimization of SPIDEr* (ICCV 2017).

    SPIDEr = (SPICE + CIDEr-D) / 2
"""

from __future__ import annotations

from typing import ClassVar

from sacrecap.metrics.base import Metric
from sacrecap.metrics.cider import CiderD
from sacrecap.metrics.combine import WeightedMean
from sacrecap.metrics.spice.spice import Spice


class Spider(WeightedMean):
    """The mean of SPICE and CIDEr-D."""

    family: ClassVar[str] = "spider"
    title: ClassVar[str] = "SPIDEr"
    summary: ClassVar[str] = "The candidate means what the references mean (SPICE), in similar words (CIDEr-D)."
    proposed_in: ClassVar[str] = "Liu et al., ICCV 2017"
    own_cites: ClassVar[tuple[str, ...]] = ("liu2017spider",)

    @property
    def members(self) -> tuple[Metric, ...]:
        """SPICE and CIDEr-D."""
        return Spice(), CiderD()

    @property
    def weights(self) -> tuple[float, ...]:
        """Equal weights."""
        return 1.0, 1.0
