"""The result of a sweep: figures of each captioner, means over seeds, people, and whether the paper's findings hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import capeval
from capeval.data.atomic import atomic_write
from capeval.data.source import read_bytes
from capeval.judgments.correlation import plain
from capeval_captioning.sweep.grid import Sweep, strength
from capeval_captioning.sweep.jobs import score_files

FIGURES = {
    "accuracy": "CIDEr-D",
    "self-cider": "Self-CIDEr",
    "f": "F",
    "vocabulary": "vocabulary",
    "mbleu-mix": "mBLEU-mix",
    "div-2": "Div-2",
}
"""Figures of the tables, with their headings."""


@dataclass(frozen=True)
class Place:
    """A captioner of the grid, over its seeds."""

    model: str
    weight: str
    """λ."""
    method: str
    figures: Mapping[str, tuple[float, ...]]
    """Of each seed."""

    def mean(self, figure: str) -> float:
        """Over the seeds."""
        return mean(self.figures[figure])


@dataclass(frozen=True)
class Finding:
    """The effect of λ on a model's sets by one method."""

    model: str
    method: str
    accuracy: float
    """Mean over seeds of Spearman's ρ of λ and accuracy; the paper's finding: it rises."""
    diversity: float
    """The same of λ and Self-CIDEr; the paper's finding: it falls."""
    smallest_vocabulary: str
    """λ of the smallest mean vocabulary; the paper's finding: the reward alone."""


@dataclass(frozen=True)
class SweepResult:
    """All of a sweep."""

    sweep: Sweep
    places: tuple[Place, ...]
    people: Mapping[str, float]
    """Figures of people, leaving one reference out."""
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {
            "capeval": capeval.__version__,
            "places": [
                {
                    "model": place.model,
                    "lambda": place.weight,
                    "method": place.method,
                    **{figure: {"mean": mean(seeds), "seeds": list(seeds)} for figure, seeds in place.figures.items()},
                }
                for place in self.places
            ],
            "people": dict(self.people),
            "findings": [vars(finding) for finding in self.findings],
        }


def collect(sweep: Sweep, folder: Path, references: Mapping[str, Sequence[str]]) -> SweepResult:
    """Reads the figures of a sweep that is done, and writes `results.json`."""
    rows = [json.loads(read_bytes(path)) for path in score_files(sweep, folder)]
    places = tuple(
        Place(model, weight, method, {name: _column(rows, name, model, weight, method) for name in FIGURES})
        for model in sweep.models
        for method in sweep.methods
        for weight in sweep.lambdas
    )
    result = SweepResult(sweep, places, _people(references), tuple(_findings(sweep, places)))
    with atomic_write(folder / "results.json") as file:
        file.write(json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n")
    return result


def _column(rows: Sequence[Mapping[str, Any]], figure: str, *who: str) -> tuple[float, ...]:
    chosen = [row for row in rows if (row["model"], row["lambda"], row["method"]) == who]
    return tuple(float(row[figure]) for row in sorted(chosen, key=lambda row: int(row["seed"])))


def _people(references: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """References as caption sets, of images that have two or more: what people score beside them."""
    several = {image: list(texts) for image, texts in references.items() if len(texts) > 1}
    human = capeval.diversity({"people": several}, several, interval=None, threads=1).human
    return {} if human is None else {name: float(human.to_dict()[name]) for name in FIGURES}


def _findings(sweep: Sweep, places: Sequence[Place]) -> list[Finding]:
    if len(sweep.lambdas) < 2:
        return []
    found = []
    for model in sweep.models:
        for method in sweep.methods:
            own = [place for place in places if (place.model, place.method) == (model, method)]
            smallest = min(own, key=lambda place: place.mean("vocabulary"))
            found.append(
                Finding(model, method, _spearman(own, "accuracy"), _spearman(own, "self-cider"), smallest.weight)
            )
    return found


def _spearman(places: Sequence[Place], figure: str) -> float:
    """Mean over seeds of Spearman's ρ of λ and the figure; 0 for a figure that is the same for every λ."""
    order = [float(rank) for rank, _ in enumerate(sorted(places, key=lambda place: strength(place.weight)))]
    seeds = zip(*(place.figures[figure] for place in places), strict=True)
    return mean(plain(list(values), order)["spearman"] if len(set(values)) > 1 else 0.0 for values in seeds)
