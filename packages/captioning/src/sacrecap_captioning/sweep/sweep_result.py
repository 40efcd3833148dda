"""The result of a sweep: figures of each captioner, means over seeds, people, and whether the paper's findings hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import sacrecap
from sacrecap.data.atomic import atomic_write
from sacrecap.scoring.diversity_result import SystemDiversity
from sacrecap_captioning.sweep.blind import BLIND
from sacrecap_captioning.sweep.sweep_plan import Sweep, SweepCell, SweepPlan

SETS = "sets"
"""The folder of caption sets."""

FIGURES = {
    "accuracy": "CIDEr-D",
    "self-cider": "Self-CIDEr",
    "f": "F",
    "vocabulary": "vocabulary",
    "mbleu-mix": "mBLEU-mix",
    "div-2": "Div-2",
}
"""Figures of the tables, with their headings."""
MEASURES = {**FIGURES, "lsa": "LSA"}
"""All figures that are kept."""
PEOPLE = "people"


@dataclass(frozen=True)
class Place:
    """A captioner of the grid, over its seeds, on one of the curves that its loss is on."""

    model: str
    curve: str
    """The curve's name: `xe + λ*cider-d`."""
    weight: str
    """λ; empty on a curve of one loss."""
    loss: str
    method: str
    figures: Mapping[str, tuple[float, ...]]
    """Of each seed."""

    def mean(self, figure: str) -> float:
        """Over the seeds."""
        return mean(self.figures[figure])


@dataclass(frozen=True)
class LambdaEffect:
    """The effect of λ on a model's sets by one method."""

    model: str
    curve: str
    method: str
    steps: int
    """Steps from one λ to the next, over all seeds."""
    rises: int
    """Steps at which accuracy rises; the paper's finding: all."""
    falls: int
    """Steps at which Self-CIDEr falls; the paper's finding: all."""
    smallest_vocabulary: str
    """λ of the smallest mean vocabulary; the paper's finding: the reward alone."""


@dataclass(frozen=True)
class SweepResult:
    """All of a sweep."""

    sweep: Sweep
    places: tuple[Place, ...]
    people: Place | None
    """References as caption sets, leaving one out; None where no image has two."""
    findings: tuple[LambdaEffect, ...]
    blind: tuple[Place, ...] = ()
    """Captions that need no captioner; captioners should beat them."""
    left_out: tuple[str, ...] = ()
    """For each impossible pair of the grid, a line that says why."""

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the figures."""
        of_val = (
            "each captioner is the best of its checkpoints on these very images, so its accuracy is too high: score "
            "the split test, or compare with `sacrecap compare --attempts N`, N checkpoints"
        )
        return [of_val] if self.sweep.split == "val" else []

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {
            "sacrecap": sacrecap.__version__,
            "places": [
                {
                    "model": place.model,
                    "curve": place.curve,
                    "weight": place.weight,
                    "loss": place.loss,
                    "method": place.method,
                    **{figure: {"mean": mean(seeds), "seeds": list(seeds)} for figure, seeds in place.figures.items()},
                }
                for place in self.places
            ],
            "people": {figure: mean(seeds) for figure, seeds in self.people.figures.items()} if self.people else {},
            "blind": {
                place.model: {figure: mean(seeds) for figure, seeds in place.figures.items()} for place in self.blind
            },
            "findings": [vars(finding) for finding in self.findings],
            "left_out": list(self.left_out),
            **({"notes": self.notes} if self.notes else {}),
        }


def collect(sweep: Sweep, plan: SweepPlan, folder: Path, references: Mapping[str, Sequence[str]]) -> SweepResult:
    """Scores the sets of a sweep that is done, and writes `results.json`."""
    files = [*BLIND.values(), *(file for cell in plan.captioners for file in plan.files(cell).values())]
    scored = sacrecap.diversity({file: folder / SETS / file for file in files}, references, interval=None)
    seeds = range(plan.seeds)
    places = tuple(
        Place(*who, _figures([scored[plan.files(SweepCell(model, seed, point.loss))[method]] for seed in seeds]))
        for model in sweep.models
        for method in plan.methods[model]
        for curve in sweep.curves
        for point in curve.points
        if point.loss in plan.losses[model]
        for who in [(model, curve.name, point.weight, point.loss, method)]
    )
    people = None if scored.human is None else _alone(PEOPLE, scored.human)
    blind = tuple(_alone(name, scored[file]) for name, file in BLIND.items())
    result = SweepResult(sweep, places, people, tuple(_findings(places)), blind, plan.left_out)
    with atomic_write(folder / "results.json") as file:
        file.write(json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n")
    return result


def _figures(systems: Sequence[SystemDiversity]) -> dict[str, tuple[float, ...]]:
    """The figures of a captioner's seeds."""
    rows = [system.to_dict() for system in systems]
    return {name: tuple(float(row[name]) for row in rows) for name in MEASURES}


def _alone(who: str, figures: SystemDiversity) -> Place:
    """Of those who have neither loss nor seeds."""
    return Place(who, "", "", "", "", _figures([figures]))


def _findings(places: Sequence[Place]) -> list[LambdaEffect]:
    """One per curve of two places or more, of each model and method."""
    curves: dict[tuple[str, str, str], list[Place]] = {}
    for place in places:
        curves.setdefault((place.model, place.curve, place.method), []).append(place)
    return [
        LambdaEffect(
            *who,
            len(_steps(own, "accuracy")),
            sum(step > 0 for step in _steps(own, "accuracy")),
            sum(step < 0 for step in _steps(own, "self-cider")),
            min(own, key=lambda place: place.mean("vocabulary")).weight,
        )
        for who, own in curves.items()
        if len(own) > 1
    ]


def _steps(places: Sequence[Place], figure: str) -> list[float]:
    """How much the figure grows from one λ to the next, in each seed. The places stand in the order of λ."""
    seeds = zip(*(place.figures[figure] for place in places), strict=True)
    return [later - earlier for values in seeds for earlier, later in pairwise(values)]
