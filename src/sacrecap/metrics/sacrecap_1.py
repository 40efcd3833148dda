"""sacrecap-1: predicts people's judgments of captions from four metrics that need no model of images.

    sacrecap-1 = Σ_k f_k(M_k),    M = CIDEr-D / 10, SPICE, WMD(pool=mean, p=1), ROUGE-L

for the score of a caption; the corpus score is the mean. Each f_k is a piecewise linear curve that never falls:
if one of the metrics rises, the score never falls. The curves begin at 0 and end at f_k(1), and these sum to 1.

They were fitted to judgments of people (`scripts/train_sacrecap_1.py`): Flickr8k-Expert (Hodosh, Young, Hockenmaier,
JAIR 2013), PASCAL-50S and ABSTRACT-50S (Vedantam, Zitnick, Parikh, CVPR 2015), by logistic regression on pairs of
captions of which people preferred one. The idea of a learned combination comes from Sharif, White, Bennamoun, Shah,
*NNEval* (ECCV 2018) and *LCEval* (IJCV 2019), whose combinations are networks.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap import _core
from sacrecap.metrics.base import Bears, Metric, PythonMetric, Ready
from sacrecap.metrics.cider import CiderD
from sacrecap.metrics.combine import Composite
from sacrecap.metrics.rouge import RougeL
from sacrecap.metrics.spice.metric import Spice
from sacrecap.metrics.wmd import Wmd

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.needs import Needs

FILE = "sacrecap-1.json"
MEMBERS: tuple[tuple[Metric, float], ...] = (
    (CiderD(), 10.0),
    (Spice(), 1.0),
    (Wmd(pool="mean", p=1), 1.0),
    (RougeL(), 1.0),
)
"""The metrics, each with the score that counts as 1; higher scores also count as 1."""


@dataclass(frozen=True)
class ScoreCurve:
    """One metric's part of the score: a piecewise linear curve that never falls."""

    scores: tuple[float, ...]
    """Scores of the metric, as shares of its largest, from 0 to 1."""
    parts: tuple[float, ...]
    """What each of these scores adds, from 0."""

    def at(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The parts of these shares."""
        import numpy as np

        return np.interp(scores, self.scores, self.parts)


@cache
def _read() -> tuple[dict[str, ScoreCurve], int]:
    """The curve of each metric by its key, and the checksum of their file."""
    text = files("sacrecap.resources").joinpath(FILE).read_bytes()
    read = json.loads(text)
    return {key: ScoreCurve(tuple(own["scores"]), tuple(own["parts"])) for key, own in read.items()}, zlib.crc32(text)


def curves() -> dict[str, ScoreCurve]:
    """The curve of each metric by its key."""
    return _read()[0]


@dataclass(frozen=True)
class Contribution:
    """What one metric adds to the score of a caption."""

    metric: str
    score: float
    """The caption's score by that metric."""
    part: float
    """What the metric adds to the score."""
    most: float
    """The most that the metric can add."""


@dataclass(frozen=True)
class Contributions:
    """The terms of a caption's score. `print` shows them."""

    contributions: tuple[Contribution, ...]

    @property
    def score(self) -> float:
        """The sum."""
        return sum(one.part for one in self.contributions)

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return {"score": self.score, **asdict(self)}

    def __str__(self) -> str:
        width = max(len(one.metric) for one in self.contributions)
        lines = [
            f"{one.metric:<{width}}  {one.score:8.4f}  adds {one.part:.4f} of {one.most:.4f}"
            for one in self.contributions
        ]
        return "\n".join([f"sacrecap-1 {self.score:.4f} is the sum of", *lines])


class Sacrecap1(Composite, PythonMetric):
    """A sum of four metrics' curves, fitted to what people prefer."""

    family: ClassVar[str] = "sacrecap-1"
    title: ClassVar[str] = "sacrecap-1"
    summary: ClassVar[str] = "People would probably say that the caption is good, by four metrics."
    equation: ClassVar[str] = (
        "sacrecap-1 = Σ_k f_k(M_k),  M = CIDEr-D/10, SPICE, WMD(pool=mean, p=1), ROUGE-L; each f_k never falls"
    )
    source: ClassVar[str] = "sacrecap; after Sharif et al., ECCV 2018"
    own_cites: ClassVar[tuple[str, ...]] = ("sharif2018nneval",)
    upper: ClassVar[float | None] = 1.0
    bears: ClassVar[Bears | None] = Bears(0.3, 5, 0.3)
    explains: ClassVar[str | None] = "contribution"
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0; if a reference is empty too, what ROUGE-L adds at 1"}

    @property
    def members(self) -> tuple[Metric, ...]:
        return tuple(metric for metric, _ in MEMBERS)

    @property
    def parts(self) -> tuple[Metric, ...]:
        return (self, *super().parts)

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Makes the members ready and scores the captions by them."""
        ready = super().ready(corpus, needs)
        calls = [(member.key, member.arithmetic, member.kernel_parameters()) for member in self.members]
        resources = {id(one): one for part in ready.parts.values() for one in part.resources}
        counted = _core.evaluate(ready.corpus, calls, list(resources.values()), needs.threads)
        signature = (*ready.signature, f"curves:{_read()[1]:08x}")
        return replace(ready, signature=signature, own=_scores(counted))

    def statistics(self, corpus: Corpus, ready: Ready) -> npt.NDArray[np.float64]:  # type: ignore[override]  # noqa: ARG002
        """(N, 2): the sum of each caption, and 1."""
        import numpy as np

        total = sum(_parts(ready.own))
        return np.stack([total, np.ones(len(ready.own))], axis=1)

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Contributions:  # noqa: ARG002
        """What each metric adds to the score of the image's caption."""
        scores = ready.own[image : image + 1]
        parts = [float(part[0]) for part in _parts(scores)]
        return Contributions(
            tuple(
                Contribution(member.label, float(score), part, curves()[member.key].parts[-1])
                for member, score, part in zip(self.members, scores[0], parts, strict=True)
            )
        )


def _scores(counted: Sequence[_core.Statistics]) -> npt.NDArray[np.float64]:
    """(N, metrics): the score of each caption by each metric."""
    import numpy as np

    return np.stack([np.frombuffer(one.row_scores(), dtype="<f8") for one in counted], axis=1)


def _parts(scores: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
    """(N,) of each metric: what it adds to the score of each caption."""
    pairs = zip(MEMBERS, scores.T, strict=True)
    return [curves()[metric.key].at(own / largest) for (metric, largest), own in pairs]
