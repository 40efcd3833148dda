"""How often ranks are right and how wide they are, by two methods; and what the best of many attempts does to both.

usage: ranks.py TABLE [REFERENCES SYSTEM...] [--systems 2 5 10 20 60] [--images 500] [--boards 200]

The images of REFERENCES are the population, and its scores are the truth; without files it is the example's. A board
draws images with replacement. Its systems are SYSTEM... with more and more words left out; equal systems are these with
the captions of each image dealt at random, so that none is better. TABLE is one of

    methods    any mistake where all are equal, and where all differ; pairs found, width of ranges, leader's worst rank
    attempts   how often the best of N equal attempts is wrongly ahead, and its interval wrongly above the truth

Holm is `sacrecap.scoring.ranks`. "Romano–Wolf" is the step-down of max-t over bootstrapped images, as Mogstad et al.
use it for ranks (2024).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from measure import print_table
from sacrecap import _core, example
from sacrecap._core import Statistics
from sacrecap.corpus.corpus import Corpus
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.data import read_candidates, read_references
from sacrecap.metrics.registry import parse_metrics
from sacrecap.scoring.intervals import of_best
from sacrecap.scoring.ranks import corrected, rank_ranges
from sacrecap.scoring.score import score_corpus

Floats = npt.NDArray[np.float64]
Found = set[tuple[int, int]]
"""Pairs (better, worse)."""
METRICS = ("cider-d", "bleu-4")
ALPHA = 0.05
SAMPLES = 500


class Population:
    """Systems that lose these shares of their words, and the statistics of all their captions."""

    def __init__(self, given: argparse.Namespace, lost: Sequence[float]) -> None:
        references, captions = _read(given)
        random = np.random.default_rng(0)
        metrics = parse_metrics(METRICS)
        frequency = DocumentFrequency.build(references)
        self.images = len(references)
        self.systems = len(lost)
        rows: list[list[Statistics]] = []
        for number, share in enumerate(lost):
            own = captions[number % len(captions)]
            shorter = {
                image: " ".join(word for word in caption.split() if random.random() >= share) or "a"
                for image, caption in own.items()
            }
            result = score_corpus(Corpus(references, shorter), metrics, document_frequency=frequency)
            rows.append([score.rows for score in result.values()])
        self.truth = np.array([[one.score() for one in own] for own in rows])
        self.all = []
        """Metric by metric, the captions of all systems, one system after the other."""
        for of_metric in zip(*rows, strict=True):
            joined = of_metric[0]
            for other in of_metric[1:]:
                joined = joined.merge(other)
            self.all.append(joined)

    def drawn(self, images: int, random: np.random.Generator, *, equal: bool) -> list[list[Statistics]]:
        """A board: system by system, metric by metric; equal systems have each image's captions as they are dealt."""
        places = random.integers(0, self.images, images)
        order = np.tile(np.arange(self.systems), (images, 1))
        if equal:
            order = random.permuted(order, axis=1)
        return [[self.dealt(places, order[:, number], one) for one in self.all] for number in range(self.systems)]

    def dealt(self, places: npt.NDArray[np.int64], systems: npt.NDArray[np.int64], one: Statistics) -> Statistics:
        """The captions of these images by these systems."""
        return one.select((places + self.images * systems).tolist())


def _read(given: argparse.Namespace) -> tuple[dict[str, list[str]], list[dict[str, str]]]:
    if given.references is None:
        return example.references(), list(example.systems().values())
    references = read_references(str(given.references))
    captions = [read_candidates(str(path)) for path in given.captions]
    images = [image for image in references.image_ids if all(image in own for own in captions)]
    described = {image: references.captions(image) for image in images}
    return described, [{image: own.captions(image)[0] for image in images} for own in captions]


def of_metric(rows: list[list[Statistics]], metric: int) -> tuple[list[int], Floats, dict[tuple[int, int], float]]:
    """By one metric: systems from the best, scores, and p of (better, worse)."""
    scores = np.array([own[metric].score() for own in rows])
    order = np.argsort(-scores, kind="stable").tolist()
    alone = [[rows[number][metric]] for number in order]
    return order, scores, dict(zip(combinations(order, 2), _core.paired_exact(alone), strict=True))


def by_holm(order: list[int], p: dict[tuple[int, int], float], _rows: list[Statistics]) -> Found:
    return {pair for pair, own in corrected(order, p).items() if own <= ALPHA}


def by_romano_wolf(order: list[int], _p: dict[tuple[int, int], float], rows: list[Statistics]) -> Found:
    """On the linear parts of the scores: the distances of the scores without each image."""
    images = rows[0].rows
    without = np.array([np.frombuffer(one.scores_without_each()) for one in rows])
    parts = (images - 1) * (without.mean(1, keepdims=True) - without)
    weights = np.random.default_rng(images).multinomial(images, np.full(images, 1 / images), SAMPLES)
    moved = weights @ parts.T / images
    pairs = list(combinations(order, 2))
    better, worse = np.array(pairs).T
    between = parts[better] - parts[worse]
    errors = np.maximum(between.std(1) / np.sqrt(images), 1e-12)
    scores = np.array([one.score() for one in rows])
    t = (scores[better] - scores[worse]) / errors
    drawn = np.abs(moved[:, better] - moved[:, worse]) / errors
    left = np.ones(len(pairs), dtype=bool)
    while left.any():
        limit = np.quantile(drawn[:, left].max(1), 1 - ALPHA)
        gone = left & (t > limit)
        if not gone.any():
            break
        left &= ~gone
    return {pair for pair, stays in zip(pairs, left, strict=True) if not stays}


def ladder(systems: int) -> list[float]:
    """Shares of words that so many systems lose."""
    return [0.012 * (number // 5) for number in range(systems)]


METHODS: dict[str, Callable[[list[int], dict[tuple[int, int], float], list[Statistics]], Found]] = {
    "Holm": by_holm,
    "Romano–Wolf": by_romano_wolf,
}


def methods(given: argparse.Namespace) -> Iterator[list[str]]:
    for systems in given.systems:
        population = Population(given, ladder(systems))
        for metric, name in enumerate(METRICS):
            random = np.random.default_rng(systems)
            wrong = {method: np.zeros(2) for method in given.methods}
            figures = {method: np.zeros(3) for method in given.methods}
            for _ in range(given.boards):
                for equal in (True, False):
                    rows = population.drawn(given.images, random, equal=equal)
                    order, _, p = of_metric(rows, metric)
                    truth = np.zeros(systems) if equal else population.truth[:, metric]
                    leader = int(np.argmax(truth))
                    for method in given.methods:
                        found = METHODS[method](order, p, [own[metric] for own in rows])
                        wrong[method][int(not equal)] += any(truth[a] <= truth[b] for a, b in found)
                        if not equal:
                            ranks = rank_ranges(order, found)
                            width = float(np.mean([last - first + 1 for first, last in ranks.values()]))
                            figures[method] += (len(found) / len(p), width, ranks[leader][1])
            for method in given.methods:
                cells = [*(wrong[method] / given.boards), *(figures[method] / given.boards)]
                yield [
                    str(systems),
                    name,
                    method,
                    *(f"{cell:.3f}" for cell in cells[:3]),
                    *(f"{cell:.2f}" for cell in cells[3:]),
                ]


def attempts(given: argparse.Namespace) -> Iterator[list[str]]:
    """Attempts share half of their captions, as settings of one model may do; all are equally good."""
    population = Population(given, ladder(15))
    for metric, name in enumerate(METRICS):
        truth = _truth(population, metric)
        for one, other in given.attempts:
            random = np.random.default_rng(one)
            wrong = np.zeros(5)
            for board in range(given.boards):
                places = random.integers(0, population.images, given.images)
                best = [_best_of(population, metric, places, number, random) for number in (one, other)]
                [[(low, high)], own] = (
                    _core.bootstrap_intervals([best[0]], SAMPLES, 1 - ALPHA, board),
                    _core.paired_exact([[best[0]], [best[1]]])[0],
                )
                score = best[0].score()
                ahead = score > best[1].score()
                wide_low, wide_high = of_best(score, (low, high), 1 - ALPHA, one, 1)
                wrong += (
                    ahead and own <= ALPHA,
                    ahead and own * one <= ALPHA,
                    low > truth,
                    wide_low > truth,
                    wide_high < truth,
                )
            yield [name, f"{one}, {other}", *(f"{share:.3f}" for share in wrong / given.boards)]


def _truth(population: Population, metric: int) -> float:
    """The score of captions dealt at random: the formula over the sums of all systems."""
    return float(population.all[metric].score())


def _best_of(
    population: Population, metric: int, places: npt.NDArray[np.int64], number: int, random: np.random.Generator
) -> Statistics:
    base = random.integers(0, population.systems, len(places))
    found = []
    for _ in range(number):
        other = random.integers(0, population.systems, len(places))
        mixed = np.where(random.random(len(places)) < 0.5, base, other)
        found.append(population.dealt(places, mixed, population.all[metric]))
    return max(found, key=lambda one: one.score())


TABLES = {
    "methods": (
        methods,
        """systems, metric, method, mistake: all equal, mistake: all differ, pairs found, mean width,
        leader's worst rank""",
    ),
    "attempts": (
        attempts,
        """metric, attempts of both, wrongly ahead: p, p · N, truth below the interval, below the widened, above it""",
    ),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("table", choices=TABLES)
    options.add_argument("references", type=Path, nargs="?")
    options.add_argument("captions", type=Path, nargs="*")
    options.add_argument("--systems", type=int, nargs="+", default=[2, 5, 10, 20, 60])
    options.add_argument("--images", type=int, nargs="+", default=[500])
    options.add_argument("--boards", type=int, default=200)
    options.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    given = options.parse_args()
    given.attempts = [(1, 1), (5, 1), (20, 1), (100, 1), (20, 20)]
    rows, heads = TABLES[given.table]
    of_sizes = (argparse.Namespace(**{**vars(given), "images": images}) for images in given.images)
    print_table(f"images, {heads}", ([str(own.images), *row] for own in of_sizes for row in rows(own)))


if __name__ == "__main__":
    main()
