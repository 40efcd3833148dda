"""LSA diversity: how evenly the singular values of a set's word counts are spread.

Wang, Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019), after Deerwester et al. (1990).

    M = word–caption count matrix (d × m),  σ_1 ≥ … ≥ σ_m its singular values
    r = σ_1 / Σ_i σ_i,   LSA = −log_m r

Where papers and programs differ: docs/reference/metrics/self-cider.md.
"""

from typing import ClassVar

from sacrecap.metrics.base import SetMetric
from sacrecap.metrics.declared import parameter


class Lsa(SetMetric):
    """LSA diversity of a caption set; corpus score = mean over images."""

    stop: bool = parameter("count stop words (English function words and punctuation) too", default=True)

    family: ClassVar[str] = "lsa"
    title: ClassVar[str] = "LSA"
    summary: ClassVar[str] = "The captions of a set use different words."
    equation: ClassVar[str] = "−log_m(σ_1 / Σ_i σ_i),  σ the singular values of the word–caption count matrix"
    source: ClassVar[str] = "Wang and Chan, CVPR 2019"
    cites: ClassVar[tuple[str, ...]] = ("wang2019describing",)
    nothing: ClassVar[dict[str, str]] = {
        "one caption": "0: nothing varies",
        "equal captions": "0",
        "all similarities 0": "0: no caption has a word",
        "empty caption": "it counts in m and adds nothing to the spectrum",
    }
    arithmetic: ClassVar[str] = "lsa"

    def similarity(self) -> dict[str, bool | float | str]:
        return {"kernel": "words", **self.kernel_parameters()}
