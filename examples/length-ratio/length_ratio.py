"""Two metrics that sacrecap finds once this package is installed: a class, and a function."""

from typing import ClassVar

import sacrecap
from sacrecap.metrics import PythonMetric, parameter


class LengthRatio(PythonMetric):
    """How near the candidate's length is to that of the nearest reference."""

    power: float = parameter("exponent of the ratio", default=1.0, above=0.0)

    title = "Length-Ratio"
    summary = "The candidate is as long as a reference."
    equation = "max_j (min(|c|, |s_j|) / max(|c|, |s_j|))^power"
    source = "an example"
    upper = 1.0
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0"}

    def score_caption(self, candidate: str, references: list[str]) -> float:
        """The ratio of lengths with the nearest reference, 0 to 1."""
        mine = len(candidate.split())
        lengths = [len(reference.split()) for reference in references]
        best = max((min(mine, n) / max(mine, n, 1) for n in lengths), default=0.0)
        return float(best**self.power)


@sacrecap.metric(upper=1.0)
def shared_words(references: list[str], candidate: str) -> float:
    """The candidate's words are a reference's."""
    vocabulary = {word for reference in references for word in reference.split()}
    words = candidate.split()
    return sum(word in vocabulary for word in words) / max(len(words), 1)
