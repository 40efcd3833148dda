"""Chooses the members and the weights of sacrecap-1 by judgments of people.

usage: train.py EXPERT PASCAL ABSTRACT [--output src/sacrecap/resources/sacrecap-1.json]

EXPERT is Flickr8k's ExpertAnnotations.txt (its captions beside it), PASCAL and ABSTRACT are PASCAL-50S and ABSTRACT-50S
in any form that `sacrecap agreement` reads. Needs the extra `study` (SciPy).

A weighted mean of one to three members of `POOL` is fitted by logistic regression on pairs of captions of which people
preferred one,

    min_w  Σ_studies mean_pairs log(1 + exp(−w · (x_preferred − x_other))) + RIDGE·|w|²,   w ≥ 0

over scores x divided by their standard deviation. Of all sets of members, that one is chosen which is right on most
pairs of a study if it is fitted to the other studies, in the mean over studies. Flickr8k has ratings: 40,000 pairs of
its captions are drawn, and those with different mean ratings are used. ABSTRACT-50S is used with 5 and with 48
references.

All this is done with all studies, and again without each of them: members and weights of `sacrecap-1(without=STUDY)`
owe nothing to that study, so that `sacrecap agreement` says how well it predicts it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from sacrecap.data.atomic import atomic_write
from sacrecap.judgments import Pairs, read_judgments
from sacrecap.judgments.row_scorer import RowScorer, first_references
from sacrecap.metrics import Combine, Metric
from sacrecap.metrics.registry import parse_metrics
from sacrecap.metrics.sacrecap_1 import FILE, STUDIES

Floats = npt.NDArray[np.float64]
Members = tuple[int, ...]
"""Places in `POOL`."""

POOL = parse_metrics("bleu-4, rouge-l, cider-paper(scale=1), cider-d, spice, wmd, wmd(pool=mean, p=1)")
MOST, RIDGE, DRAWN = 3, 1e-3, 40_000
SETS = tuple(chain.from_iterable(combinations(range(len(POOL)), count) for count in range(1, MOST + 1)))


@dataclass(frozen=True, eq=False)
class Study:
    """Judgments of people, by pairs of captions of which they preferred one."""

    differences: list[Floats] = field(default_factory=list)
    """(pairs, POOL) for each number of references: the preferred caption's scores minus the other's."""

    def squares(self) -> Floats:
        """(POOL,) mean squares."""
        return np.asarray(np.mean([(own**2).mean(axis=0) for own in self.differences], axis=0))

    def right(self, members: Members, weights: Floats) -> float:
        """The share of the pairs on which the weighted sum is right; a tie is half right."""
        return float(np.mean([(1 + np.sign(own[:, members] @ weights)).mean() / 2 for own in self.differences]))


def main() -> None:
    """Chooses with all studies and without each, prints and writes the choices."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("expert", "pascal", "abstract"):
        options.add_argument(name, type=Path)
    options.add_argument("--output", type=Path, default=Path("src/sacrecap/resources") / FILE)
    given = options.parse_args()
    places = dict(zip(STUDIES, (given.expert, given.pascal, given.abstract), strict=True))
    studies = {name: study(path, (5, None) if name == "abstract-50s" else (None,)) for name, path in places.items()}
    chosen = {"none": choice(list(studies.values()))}
    for name in STUDIES:
        chosen[name] = choice([other for key, other in studies.items() if key != name])
    for name, combination in chosen.items():
        print(f"without {name}: {combination.key}")
    with atomic_write(given.output) as file:
        json.dump({name: combination.key for name, combination in chosen.items()}, file, indent=1)
        file.write("\n")


def study(path: Path, references: Sequence[int | None]) -> Study:
    """The judgments of a file or folder, scored against the first so many references; None for all."""
    judgments = read_judgments(path)
    found = Study()
    for count in references:
        columns = RowScorer(POOL).score(judgments, first_references(judgments.rows, count)).scores
        scores = {
            name: np.stack([columns[metric.key][name] for metric in POOL], axis=1) for name in judgments.candidates()
        }
        if isinstance(judgments, Pairs):
            preferred = np.array(judgments.preferred)
            differences = (scores["b"] - scores["c"])[preferred != 0] * preferred[preferred != 0, None]
        else:
            mean = np.array([np.mean(ratings) for ratings in judgments.ratings])
            first, second = np.random.default_rng(0).integers(0, len(mean), (2, DRAWN))
            better = mean[first] > mean[second]
            differences = scores["caption"][first[better]] - scores["caption"][second[better]]
        found.differences.append(differences)
    return found


def choice(studies: Sequence[Study]) -> Combine:
    """The set that predicts each study best from the others, with weights fitted to all of them."""

    def predicted(members: Members) -> float:
        others = ([other for other in studies if other is not left_out] for left_out in studies)
        return float(
            np.mean([own.right(members, fitted(rest, members)) for own, rest in zip(studies, others, strict=True)])
        )

    members = max(SETS, key=predicted)
    return combination([POOL[place] for place in members], fitted(studies, members))


def fitted(studies: Sequence[Study], members: Members) -> Floats:
    """(members,) the weights, 0 or more."""
    deviations = np.sqrt(np.mean([one.squares() for one in studies], axis=0))[list(members)]
    differences = [np.concatenate(one.differences)[:, members] / deviations for one in studies]
    shares = np.concatenate([np.full(len(own), 1 / len(own) / len(studies)) for own in differences])
    rows = np.concatenate(differences)

    def loss(weights: Floats) -> tuple[float, Floats]:
        margins = rows @ weights
        slope = rows.T @ (-shares / (1 + np.exp(margins)))
        return float(shares @ np.logaddexp(0, -margins) + RIDGE * weights @ weights), slope + 2 * RIDGE * weights

    found = minimize(loss, np.ones(len(members)), jac=True, bounds=[(0, None)] * len(members))
    return np.asarray(found.x / deviations)


def combination(members: Sequence[Metric], weights: Floats) -> Combine:
    """The members that weigh something. Weights are hundredths of each member's range, which together are the whole."""
    ranges = np.array([metric.largest for metric in members])
    parts = np.cumsum(weights * ranges) / (weights @ ranges)
    hundredths = np.diff(np.round(100 * parts), prepend=0)
    kept = [
        (metric, round(float(part / 100 / reach), 4))
        for metric, part, reach in zip(members, hundredths, ranges, strict=True)
        if part
    ]
    return Combine(*(metric for metric, _ in kept), weights=tuple(weight for _, weight in kept))


if __name__ == "__main__":
    main()
