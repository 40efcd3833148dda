"""Fits the curves of sacrecap-1 to judgments of people, and tests them across data sets.

usage: train_sacrecap_1.py EXPERT PASCAL ABSTRACT [--output src/sacrecap/resources/sacrecap-1.json]

EXPERT is Flickr8k's ExpertAnnotations.txt (its captions beside it), PASCAL and ABSTRACT are PASCAL-50S and ABSTRACT-50S
in any form that `sacrecap agreement` reads. Needs the extra `study` (SciPy).

A curve is the sum of steps between fixed points, each of which rises linearly from 0 to a height of 0 or more: so a
curve never falls. The heights are those of logistic regression on pairs of captions of which people preferred one,

    min_h  Σ_sets 1/|pairs| Σ_pairs log(1 + exp(−h · (x_preferred − x_other))) + ridge·|h|² + bend·(change of slope)²

with a mean over each data set's pairs. Flickr8k has ratings: 40,000 pairs of its captions are drawn, and those with
different mean ratings are used. ABSTRACT-50S is used twice, with 5 and with 48 references. In the end heights are
scaled so that all curves together end at 1. Every data set is tested by curves that were fitted without it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import kendalltau

from sacrecap.data.atomic import atomic_write
from sacrecap.judgments import Pairs, Ratings, read_judgments
from sacrecap.judgments.row_scorer import RowScorer, first_references
from sacrecap.metrics.registry import parse_metrics
from sacrecap.metrics.sacrecap_1 import FILE, MEMBERS

Floats = npt.NDArray[np.float64]

POINTS: dict[str, tuple[float, ...]] = {
    "cider-d": (0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1),
    "spice": (0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1),
    "wmd(pool=mean, p=1)": (0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1),
    "rouge-l": (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1),
}
RIDGE, BEND, DRAWN = 1e-3, 1e-2, 40_000
SINGLES = "bleu-1, bleu-4, meteor, rouge-l, cider-paper, cider-d, spice, wmd, wmd(pool=mean, p=1)"
KEYS = [metric.key for metric, _ in MEMBERS]


class Test(NamedTuple):
    """Judged captions with the scores of metrics, and the figure that is reported."""

    name: str
    data: str
    judgments: Ratings | Pairs
    scores: dict[str, dict[str, Floats]]

    def steps(self, column: str) -> Floats:
        """(N, heights): how far each caption is up each step of each curve."""
        return np.concatenate([_steps(self.scores[key][column], key) for key in KEYS], axis=1)

    def differences(self) -> Floats:
        """(pairs, heights): the preferred caption's steps less the other's."""
        if isinstance(self.judgments, Pairs):
            preferred = np.array(self.judgments.preferred)
            differences = (self.steps("b") - self.steps("c")) * preferred[:, None]
            return differences[preferred != 0]
        mean = np.array([np.mean(ratings) for ratings in self.judgments.ratings])
        first, second = np.random.default_rng(0).integers(0, len(mean), (2, DRAWN))
        better = mean[first] > mean[second]
        steps = self.steps("caption")
        return steps[first[better]] - steps[second[better]]

    def figure(self, columns: dict[str, Floats]) -> float:
        """Kendall's τ-c with the ratings, or the share of decided pairs on which the metric agrees (ties: a half)."""
        if isinstance(self.judgments, Pairs):
            preferred = np.array(self.judgments.preferred)
            said = np.sign(columns["b"] - columns["c"])[preferred != 0]
            return float(np.where(said == 0, 0.5, said == preferred[preferred != 0]).mean())
        ratings = [rating for own in self.judgments.ratings for rating in own]
        scores = np.repeat(columns["caption"], [len(own) for own in self.judgments.ratings])
        return float(kendalltau(scores, ratings, variant="c").statistic)

    def figure_of(self, heights: Floats) -> float:
        """That of the curves."""
        return self.figure({column: self.steps(column) @ heights for column in self.judgments.candidates()})


def main() -> None:
    """Fits, prints the test of each data set, writes the curves."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("expert", "pascal", "abstract"):
        options.add_argument(name, type=Path)
    options.add_argument("--output", type=Path, default=Path("src/sacrecap/resources") / FILE)
    given = options.parse_args()
    tests = [
        scored("Flickr8k-Expert, τ-c", "expert", given.expert, None),
        scored("PASCAL-50S", "pascal", given.pascal, None),
        scored("ABSTRACT-50S, 5 references", "abstract", given.abstract, 5),
        scored("ABSTRACT-50S, 48 references", "abstract", given.abstract, None),
    ]
    everything = fitted(tests)
    print(f"{'':28} {'fitted without':>14} {'with':>8}   {'best single metric':24}")
    for test in tests:
        others = fitted([other for other in tests if other.data != test.data])
        singles = {key: test.figure(columns) for key, columns in test.scores.items()}
        best = max(singles, key=lambda key: singles[key])
        cider = max(singles["cider-d"], singles["cider-paper"])
        print(
            f"{test.name:28} {test.figure_of(others):14.3f} {test.figure_of(everything):8.3f}   "
            f"{singles[best]:.3f} {best:20} CIDEr {cider:.3f}"
        )
    curves = curves_of(everything)
    with atomic_write(given.output) as file:
        json.dump(curves, file, indent=1)
        file.write("\n")
    print(f"{given.output}: {len(curves)} curves")


def scored(name: str, data: str, path: Path, references: int | None) -> Test:
    """Judgments with the scores of all metrics that are compared."""
    judgments = read_judgments(path)
    metrics = parse_metrics([SINGLES, *KEYS])
    columns, _ = RowScorer(metrics).score(judgments, first_references(judgments.rows, references))
    return Test(name, data, judgments, columns)


def _steps(scores: Floats, key: str) -> Floats:
    [largest] = [largest for metric, largest in MEMBERS if metric.key == key]
    points = np.array(POINTS[key])
    share = np.clip(scores / largest, 0, 1)[:, None]
    return np.clip((share - points[:-1]) / np.diff(points), 0, 1)


def fitted(tests: Sequence[Test]) -> Floats:
    """The heights of all steps of all curves."""
    parts: list[tuple[Floats, Floats]] = []
    for data in dict.fromkeys(test.data for test in tests):
        own = np.concatenate([test.differences() for test in tests if test.data == data])
        parts.append((own, np.full(len(own), 1 / len(own))))
    differences, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    bends = _bends()

    def loss(heights: Floats) -> tuple[float, Floats]:
        margin, bend = differences @ heights, bends @ heights
        slope = differences.T @ (-weights / (1 + np.exp(margin)))
        total = weights @ np.logaddexp(0, -margin) + RIDGE * heights @ heights + BEND * bend @ bend
        return float(total), slope + 2 * RIDGE * heights + 2 * BEND * bends.T @ bend

    count = differences.shape[1]
    found = minimize(loss, np.zeros(count), jac=True, bounds=[(0, None)] * count, options={"maxiter": 5_000})
    return np.asarray(found.x)


def _bends() -> Floats:
    """Rows whose product with the heights is the change of slope at each inner point of each curve."""
    rows = []
    total = sum(len(POINTS[key]) - 1 for key in KEYS)
    start = 0
    for key in KEYS:
        widths = np.diff(POINTS[key])
        for step in range(len(widths) - 1):
            row = np.zeros(total)
            scale = np.sqrt(widths[step] * widths[step + 1])
            row[start + step], row[start + step + 1] = scale / widths[step], -scale / widths[step + 1]
            rows.append(row)
        start += len(widths)
    return np.array(rows)


def curves_of(heights: Floats) -> dict[str, dict[str, list[float]]]:
    """Each curve as points, scaled so that all end at 1 together."""
    curves = {}
    start = 0
    for key in KEYS:
        steps = heights[start : start + len(POINTS[key]) - 1]
        start += len(steps)
        parts = np.concatenate([[0.0], np.cumsum(steps)]) / heights.sum()
        curves[key] = {"scores": list(map(float, POINTS[key])), "parts": [round(float(part), 6) for part in parts]}
    return curves


if __name__ == "__main__":
    main()
