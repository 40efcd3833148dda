"""How often calibrated intervals hold the truth, and what ratings are worth: the tables of docs/tutorial/calibrate.md.

usage: calibration.py [JUDGMENTS --scores FILE --metrics LIST] [--n 30 100 300] [--draws 2000] [--seed 0] [--only NAME]

The judgments are the population: ratings of captions, or choices between two. A draw takes n of them at random, and
asks for the mean of all. Witnesses are the metrics, also columns of the scores: each alone, and all together. Without
JUDGMENTS, studies of 2 to 30 systems are made up, and means, differences, win rates and strengths are asked for. A vote
is drawn anew in each draw: the truth is how often people choose a caption.

Welch's interval (Biometrika 1947) is of the ratings alone, with Satterthwaite's degrees of freedom: without witnesses,
bounds, or a finite number of captions. Of strengths, and of pairs with a single vote, there is none.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from measure import print_table
from sacrecap.judgments import Pairs, agreement, read_judgments
from sacrecap.judgments.calibration.calibration_result import Calibrated
from sacrecap.judgments.calibration.estimates import Evidence, Figure
from sacrecap.judgments.calibration.samples import STEEP, together_in, within
from sacrecap.judgments.calibration.strengths import bradley_terry
from sacrecap.judgments.calibration.teller import NO_BOUNDS, Teller, reach

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
LEVEL = 0.95
HEADS = "witnesses, n, ±, ± alone, ± Welch, / Welch, held %, held % alone, held % Welch, worth times"


def population(given: argparse.Namespace) -> tuple[Floats, Floats, Numbers, list[str]]:
    """What people said of each caption or pair, its scores, its image; and the witnesses."""
    judgments = read_judgments(given.judgments)
    found = agreement(judgments, given.metrics, scores=given.scores, interval=None)
    images = np.unique([row.image_id for row in judgments.rows], return_inverse=True)[1]
    names = [one.name for one in found.measured]
    if not isinstance(judgments, Pairs):
        scores = np.array([one.scores["caption"] for one in found.measured]).T
        return np.array([np.mean(own) for own in judgments.ratings]), scores, images, names
    differences = np.array([one.scores["b"] - one.scores["c"] for one in found.measured]).T
    scores = np.tanh(STEEP * differences / differences.std(axis=0))
    return (np.array(judgments.preferred) + 1) / 2, scores, images, names


class Tally:
    """Figures of many draws beside the truth."""

    def __init__(self) -> None:
        self.held: list[tuple[bool, bool]] = []
        self.halves: list[tuple[float, float]] = []
        self.welch: list[tuple[bool, float, float]] = []
        """Whether Welch's interval held, half its length, and half the length of ours."""

    def add(self, figure: Calibrated | None, truth: float, welch: tuple[float, float] | None = None) -> None:
        """A figure; without one, or without an interval, it is missed."""
        if figure is None or figure.interval is None or figure.alone_interval is None:
            self.held.append((False, False))
            return
        (low, high), (least, most) = figure.interval, figure.alone_interval
        self.held.append((low <= truth <= high, least <= truth <= most))
        self.halves.append(((high - low) / 2, (most - least) / 2))
        if welch is not None:
            value, half = welch
            self.welch.append((value - half <= truth <= value + half, half, (high - low) / 2))

    def row(self, name: str, *numbers: int) -> list[str]:
        half, alone = np.mean(self.halves, axis=0)
        shares = 100 * np.mean(self.held, axis=0)
        worth = np.mean([b**2 for _, b in self.halves]) / np.mean([a**2 for a, _ in self.halves])
        by_welch = ["–", "–", "–"]
        if self.welch:
            held, of_welch, same_draws = np.mean(self.welch, axis=0)
            by_welch = [f"{of_welch:.3f}", f"{same_draws / of_welch:.2f}", f"{100 * held:.1f}"]
        return [
            name,
            *map(str, numbers),
            f"{half:.3f}",
            f"{alone:.3f}",
            *by_welch[:2],
            *(f"{share:.1f}" for share in shares),
            by_welch[2],
            f"{worth:.2f}",
        ]


def welch(ratings: Floats, groups: Numbers, parts: Floats) -> tuple[float, float] | None:
    """The sum of the groups' means, each times its part, and half the length of its interval; None where a group has
    no variance of its own.
    """
    of_groups = [(part, ratings[groups == group]) for group, part in enumerate(parts) if part]
    if any(len(of_group) < 2 for _, of_group in of_groups):
        return None
    variances = np.array([part**2 * of_group.var(ddof=1) / len(of_group) for part, of_group in of_groups])
    value, variance = sum(part * float(of_group.mean()) for part, of_group in of_groups), float(variances.sum())
    below = sum(own**2 / (len(of_group) - 1) for own, (_, of_group) in zip(variances, of_groups, strict=True))
    return value, reach(LEVEL, Figure(value, variance, variance**2 / below)) if variance else 0.0


def of_captions(
    said: Floats, scores: Floats, images: Numbers, groups: Numbers, rated: Numbers, finite: bool
) -> Evidence:
    """What `calibrate` makes of these rated captions of groups."""
    means, covariance = within(scores, groups)
    sizes = np.bincount(groups).astype(np.float64)
    together = together_in(images, groups, len(sizes))
    own = said[rated], scores[rated], images[rated], groups[rated]
    return Evidence(*own, means, covariance, sizes, together, np.ones(len(rated)), finite)


def of_judgments(given: argparse.Namespace) -> list[list[str]]:
    """A row for each set of witnesses and each n."""
    said, scores, images, names = population(given)
    rows, truth = [], float(said.mean())
    every = [[n] for n in range(len(names))] + ([list(range(len(names)))] if len(names) > 1 else [])
    for chosen in every:
        own = scores[:, chosen]
        for n in given.n:
            random, tally = np.random.default_rng([given.seed, n]), Tally()
            for _ in range(given.draws):
                drawn = np.sort(random.choice(len(said), n, replace=False))
                evidence = of_captions(said, own, images, np.zeros(len(said), dtype=np.int64), drawn, True)
                figure = Teller(evidence, LEVEL, {*said.tolist()} <= {0.0, 1.0}).mean(np.ones(1), NO_BOUNDS)
                tally.add(figure, truth, welch(said[drawn], evidence.groups, np.ones(1)))
            rows.append(tally.row(" + ".join(names[one] for one in chosen), n))
    return rows


IMAGES = 300
POPULATIONS = 20
"""Of each kind of study so many are made up; the draws are of one after the other."""


class Cell(NamedTuple):
    """A kind of study that is drawn again and again."""

    name: str
    systems: int
    each: int
    """Ratings of each system, or votes in all."""
    images: int = IMAGES
    knows: float = 0.7
    """How much the witness knows of the quality."""
    easy: float = 0.3
    """The share of the quality that is the image's."""
    shape: str = ""
    """`skew`: most ratings are 1; `binary`: yes or no."""
    wild: float = 0.0
    """The share of scores that are −999."""
    whole: bool = False
    """Whether all systems' captions of an image are rated together."""


RATINGS = [
    *(
        Cell("ratings", *own)
        for own in ((2, 15), (3, 10), (5, 6), (10, 3), (10, 6), (15, 2), (20, 2), (20, 3), (30, 3))
    ),
    *(Cell("ratings", *own) for own in ((2, 20), (3, 20), (10, 20))),
    *(Cell("witness that knows nothing", *own, knows=0.0) for own in ((3, 10), (10, 6), (20, 3))),
    *(Cell("witness that knows much", *own, knows=0.95) for own in ((3, 10), (10, 6), (20, 3))),
    *(Cell("1 % of scores −999", *own, wild=0.01) for own in ((3, 20), (10, 6), (20, 3))),
    *(Cell("skewed ratings", *own, shape="skew") for own in ((2, 15), (3, 20), (10, 6), (20, 3))),
    *(Cell("yes or no", *own, shape="binary") for own in ((2, 20), (10, 6), (20, 3))),
    *(Cell("30 images", *own, images=30) for own in ((2, 15), (3, 10), (10, 6))),
    *(Cell("easy and hard images", *own, images=100, easy=0.7) for own in ((3, 20), (10, 6))),
    *(Cell("whole images", *own, whole=True, easy=0.7) for own in ((3, 20), (10, 10))),
]
CHOICES = [Cell("choices", *own) for own in ((3, 30), (3, 100), (4, 60), (6, 60), (8, 60), (8, 100), (8, 300))]


def quality(cell: Cell, random: np.random.Generator) -> tuple[Floats, Floats]:
    """The quality of each caption and its score, shape (systems, images)."""
    shape = (cell.systems, cell.images)
    own = math.sqrt(cell.easy) * random.normal(size=cell.images) + math.sqrt(1 - cell.easy) * random.normal(size=shape)
    own = own + np.linspace(-0.5, 0.5, cell.systems)[:, None]
    scores = cell.knows * own + math.sqrt(1 - cell.knows**2) * random.normal(size=shape)
    scores = np.where(random.random(shape) < cell.wild, -40.0, scores)
    return own, scores


def of_ratings(cell: Cell, draws: int, seed: int) -> list[list[str]]:
    """All captions, a system and a difference, each by how often intervals hold."""
    random = np.random.default_rng([seed, cell.systems, cell.each, cell.images])
    number = cell.systems
    groups, images = np.repeat(np.arange(number), cell.images), np.tile(np.arange(cell.images), number)
    parts = {
        "all": np.full(number, 1 / number),
        "system": np.eye(number)[0],
        "difference": np.eye(number)[0] - np.eye(number)[-1],
    }
    least, most = (0.0, 1.0) if cell.shape == "binary" else (1.0, 5.0)
    tallies = {name: Tally() for name in parts}
    for draw in range(draws):
        if draw % math.ceil(draws / POPULATIONS) == 0:
            said, scores = opinions(cell, random)
            evidence = of_captions(said.ravel(), scores.ravel()[:, None], images, groups, np.arange(1), True)
        chosen = [random.choice(cell.images, cell.each, replace=False) for _ in range(1 if cell.whole else number)]
        rated = np.concatenate(
            [place * cell.images + own for place, own in enumerate(chosen * (number if cell.whole else 1))]
        )
        drawn = said.ravel()[rated], scores.ravel()[rated][:, None], images[rated], groups[rated]
        teller = Teller(replace_rated(evidence, *drawn), LEVEL, cell.shape == "binary")
        for name, part in parts.items():
            bounds = (least - most, most - least) if name == "difference" else (least, most)
            by_welch = welch(drawn[0], drawn[3], part)
            tallies[name].add(teller.mean(part, bounds), float(part @ said.mean(axis=1)), by_welch)
    return [tally.row(f"{cell.name}: {name}", cell.systems, cell.each) for name, tally in tallies.items()]


def opinions(cell: Cell, random: np.random.Generator) -> tuple[Floats, Floats]:
    """What people say of each caption and its score, shape (systems, images)."""
    good, scores = quality(cell, random)
    if cell.shape == "binary":
        return (good > 0.5).astype(np.float64), scores
    return np.clip(np.round(np.exp(0.8 * good) if cell.shape == "skew" else 3 + good), 1, 5), scores


def replace_rated(evidence: Evidence, ratings: Floats, scores: Floats, images: Numbers, groups: Numbers) -> Evidence:
    """The same captions, of which others were rated."""
    return replace(
        evidence, ratings=ratings, scores=scores, images=images, groups=groups, weights=np.ones(len(ratings))
    )


def of_choices(cell: Cell, draws: int, seed: int) -> list[list[str]]:
    """Votes on pairs of captions that are drawn from all: how often the first wins, a pair, a strength."""
    random = np.random.default_rng([seed, cell.systems, cell.each])
    pairs = np.array([*combinations(range(cell.systems), 2)])
    groups, images = np.repeat(np.arange(len(pairs)), cell.images), np.tile(np.arange(cell.images), len(pairs))
    of_first, of_pair = pairs[:, 0] == 0, np.eye(len(pairs))[0]
    tallies = {name: Tally() for name in ("share of the first", "pair", "strength")}
    for draw in range(draws):
        if draw % math.ceil(draws / POPULATIONS) == 0:
            good, scores = quality(cell, random)
            chance = 1 / (1 + np.exp(-2 * np.stack([good[a] - good[b] for a, b in pairs])))
            differences = np.stack([scores[a] - scores[b] for a, b in pairs])
            choice = np.tanh(STEEP * differences / differences.std())
            evidence = of_captions(chance.ravel(), choice.ravel()[:, None], images, groups, np.arange(1), False)
            won = np.zeros((cell.systems, cell.systems))
            won[pairs[:, 0], pairs[:, 1]], won[pairs[:, 1], pairs[:, 0]] = chance.mean(axis=1), 1 - chance.mean(axis=1)
            theta = (bradley_terry(won) or (np.zeros(cell.systems),))[0]
        rated = random.choice(chance.size, cell.each, replace=False)
        votes = (random.random(cell.each) < chance.ravel()[rated]).astype(np.float64)
        drawn = votes, choice.ravel()[rated][:, None], images[rated], groups[rated]
        teller = Teller(replace_rated(evidence, *drawn), LEVEL, True)
        counts = np.bincount(groups[rated], minlength=len(pairs))
        compared = of_first & (counts > 0)
        if compared.any():
            parts = compared / compared.sum()
            enough = bool((counts[compared] > 1).all())
            figure = (teller.mean if enough else teller.together)(parts, (0.0, 1.0))
            by_welch = welch(votes, groups[rated], parts)
            tallies["share of the first"].add(figure, float(chance[of_first].mean()), by_welch)
        if counts[0] > 1:
            by_welch = welch(votes, groups[rated], of_pair)
            tallies["pair"].add(teller.mean(of_pair, (0.0, 1.0)), float(chance[0].mean()), by_welch)
        strengths = teller.strengths(pairs, cell.systems)
        if strengths is not None:
            tallies["strength"].add(strengths[0], float(theta[0]))
        elif np.bincount(pairs[groups[rated]].ravel(), minlength=cell.systems).min() > 1:
            tallies["strength"].add(None, float(theta[0]))
    return [tally.row(f"{cell.name}: {name}", cell.systems, cell.each) for name, tally in tallies.items()]


def made_up(given: argparse.Namespace) -> list[list[str]]:
    """A row for each figure of each kind of study."""
    rows = []
    for cell in RATINGS + CHOICES:
        if given.only in cell.name:
            rows += (of_choices if cell.name == "choices" else of_ratings)(cell, given.draws, given.seed)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judgments", nargs="?")
    parser.add_argument("--scores")
    parser.add_argument("--metrics", default="cider-d")
    parser.add_argument("--n", type=int, nargs="+", default=[30, 100, 300])
    parser.add_argument("--only", default="", help="kinds of studies whose name has this")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.judgments:
        print_table(HEADS, of_judgments(given))
    else:
        print_table(f"figure, systems, each, {HEADS.partition('n, ')[2]}", made_up(given))


if __name__ == "__main__":
    main()
