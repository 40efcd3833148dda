"""mBLEU: the BLEU of each caption of a set against the others.

Wang, Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019), after Shetty et al. (ICCV 2017).

    mBLEU_n   = 1/m Σ_i BLEU_n(c_i, C − {c_i}),    mBLEU-mix = 1 − 1/4 Σ_n mBLEU_n

Where papers and programs differ: docs/reference/metrics/self-cider.md.
"""

from typing import ClassVar

from sacrecap.metrics.base import SetMetric
from sacrecap.metrics.declared import parameter


class _Repetition(SetMetric):
    length: str = parameter(
        "the reference length for the brevity penalty", default="closest", choices=("closest", "average")
    )

    source: ClassVar[str] = "Shetty et al., ICCV 2017; Wang and Chan, CVPR 2019"
    cites: ClassVar[tuple[str, ...]] = ("shetty2017speaking", "wang2019describing")


class Mbleu(_Repetition):
    """mBLEU of n-grams up to `n`; corpus score = mean over images. High = less diverse."""

    n: int = parameter("the longest n-gram", default=4, least=1, most=4, in_name=True)

    family: ClassVar[str] = "mbleu"
    title: ClassVar[str] = "mBLEU"
    summary: ClassVar[str] = "The captions of a set repeat each other's n-grams: high = less diverse."
    equation: ClassVar[str] = "mBLEU_n = 1/m Σ_i BLEU_n(c_i, C − {c_i})"
    nothing: ClassVar[dict[str, str]] = {
        "one caption": "1: it varies as little as one that the others repeat",
        "equal captions": "1, from n words on; tiny below, like BLEU",
        "empty caption": "its BLEU is 0, even among empty captions",
    }
    arithmetic: ClassVar[str] = "mbleu"

    @property
    def lower_is_better(self) -> bool:
        return True


class MbleuMix(_Repetition):
    """The paper's diversity score from mBLEU: one minus the mean of mBLEU-1 to mBLEU-4."""

    family: ClassVar[str] = "mbleu-mix"
    title: ClassVar[str] = "mBLEU-mix"
    summary: ClassVar[str] = "The captions of a set do not repeat each other's n-grams."
    equation: ClassVar[str] = "1 − 1/4 Σ_n mBLEU_n"
    nothing: ClassVar[dict[str, str]] = {
        "one caption": "0: nothing varies",
        "equal captions": "0, from 4 words on; above 0 for shorter ones, whose BLEU-4 is tiny",
        "empty caption": "its BLEU is 0, so it counts as different from all",
    }
    arithmetic: ClassVar[str] = "mbleu-mix"
