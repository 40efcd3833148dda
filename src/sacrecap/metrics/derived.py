"""Figures derived from other scores of caption sets: accuracy, the best caption of a set, F, novelty.

They are metrics like all others, so that every score has its name, its direction and its source. They cannot be asked
for by name: [`sacrecap.diversity`][] computes them from what it counts anyway.
"""

from __future__ import annotations

from typing import ClassVar

from sacrecap.metrics.base import Bears, Metric, SetMetric
from sacrecap.metrics.declared import parameter, spell


class _OfSets(SetMetric):
    """A figure of caption sets that `diversity` derives; it has no arithmetic of its own."""

    arithmetic: ClassVar[str] = ""
    nothing: ClassVar[dict[str, str]] = {}


class _OfCaptions(_OfSets):
    """A figure computed from a metric's score of each caption of a set."""

    needs: ClassVar[tuple[str, ...]] = ("caption_sets", "references")
    of: Metric

    def __init__(self, *, of: Metric) -> None:
        vars(self)["of"] = of

    @property
    def label(self) -> str:
        return f"{self.title} ({self.of.label})"

    @property
    def key(self) -> str:
        return self.family

    @property
    def largest(self) -> float | None:
        return self.of.largest

    @property
    def lower_is_better(self) -> bool:
        return self.of.lower_is_better

    @property
    def bears(self) -> Bears | None:  # type: ignore[override]
        return self.of.bears


class Accuracy(_OfCaptions):
    """The mean score of a set's captions by a metric that compares each with the references."""

    family: ClassVar[str] = "accuracy"
    title: ClassVar[str] = "Accuracy"
    summary: ClassVar[str] = "The captions of a set agree with what people say."
    equation: ClassVar[str] = "mean over the captions of a set, then over images"
    source: ClassVar[str] = "Wang and Chan, CVPR 2019"
    cites: ClassVar[tuple[str, ...]] = ("wang2019describing",)


class Oracle(_OfCaptions):
    """The score of the best caption of each set."""

    family: ClassVar[str] = "oracle"
    title: ClassVar[str] = "Best of a set"
    summary: ClassVar[str] = "The best caption of a set agrees with what people say."
    equation: ClassVar[str] = "largest over the captions of a set, mean over images"
    source: ClassVar[str] = "Wang and Chan, CVPR 2019"
    cites: ClassVar[tuple[str, ...]] = ("wang2019describing",)


class F(_OfSets):
    """The weighted harmonic mean of diversity (Self-CIDEr) and accuracy."""

    beta2: float = parameter("β²: weight of accuracy relative to diversity", default=5.0, above=0.0)

    family: ClassVar[str] = "f"
    title: ClassVar[str] = "F"
    summary: ClassVar[str] = "The captions of a set are both varied and accurate."
    equation: ClassVar[str] = "F = (1 + β²) · diversity · accuracy / (β² · diversity + accuracy)"
    source: ClassVar[str] = "Wang and Chan, CVPR 2019"
    cites: ClassVar[tuple[str, ...]] = ("wang2019describing",)

    @property
    def label(self) -> str:
        return f"F (β² = {spell(self.beta2)})"

    @property
    def key(self) -> str:
        return self.family

    @property
    def largest(self) -> float | None:
        return None


class Novelty(_OfSets):
    """The share of captions that are not among the training captions, word for word."""

    family: ClassVar[str] = "novelty"
    title: ClassVar[str] = "Novel captions"
    summary: ClassVar[str] = "The captions are not copies of training captions."
    equation: ClassVar[str] = "share of captions that no training caption equals"
    source: ClassVar[str] = "Wang and Chan, CVPR 2019"
    cites: ClassVar[tuple[str, ...]] = ("wang2019describing",)
