"""How often intervals hold the truth: the tables of docs/explanation/intervals.md, on your own files.

usage: coverage.py TABLE REFERENCES SYSTEM... [--images 3 5 10] [--draws 1000] [--metrics bleu-4,cider-d]

The images of REFERENCES are the population; a draw takes some of them, without replacement unless they are as many as
half of the population. TABLE is one of

    methods     intervals of both methods, document frequencies fixed: those of the population
    own         the same, with the document frequencies, or Fluency's model, of the images drawn: as users get them
    tests       how often compare finds two equal systems different: captions swapped at random
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from measure import print_table
from sacrecap import _core
from sacrecap._core import Captions, Statistics
from sacrecap.corpus.corpus import Corpus
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.data import read_candidates, read_references
from sacrecap.metrics import Metric
from sacrecap.metrics.registry import parse_metrics
from sacrecap.scoring.intervals import Resampling, intervals, widened
from sacrecap.scoring.score import score_corpus

Places = npt.NDArray[np.int64]
Sample = Callable[[Places], list[Statistics]]
"""The statistics of each metric of the images at these places."""
LEVEL = 0.95
METHODS = ("percentile", "jackknife")


class Table:
    """What is measured, of these systems."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.metrics: list[Metric] = parse_metrics(given.metrics)
        self.references: Captions = read_references(str(given.references))
        self.systems: dict[str, Captions] = {path.stem: read_candidates(str(path)) for path in given.systems}

    def common(self, candidates: Captions) -> list[str]:
        """The images that have captions."""
        return [image for image in self.references.image_ids if image in candidates]

    def subset(self, candidates: Captions, ids: list[str]) -> Corpus:
        described = {image: self.references.captions(image) for image in ids}
        return Corpus(described, {image: candidates.captions(image)[0] for image in ids})

    def fixed(self, candidates: Captions) -> Sample:
        """With the document frequencies of all images."""
        frequency = DocumentFrequency.build(self.references)
        corpus = self.subset(candidates, self.common(candidates))
        result = score_corpus(corpus, self.metrics, document_frequency=frequency)
        rows = [score.statistics for score in result.values()]
        return lambda places: [table.select(places.tolist()) for table in rows]

    def own(self, candidates: Captions) -> Sample:
        """With those of the images drawn."""
        ids = self.common(candidates)

        def sample(places: Places) -> list[Statistics]:
            result = score_corpus(self.subset(candidates, [ids[place] for place in places]), self.metrics)
            return [score.statistics for score in result.values()]

        return sample

    def draws(self, population: int, images: int) -> Iterator[tuple[int, Places]]:
        """Images without replacement, as new images are, unless that would leave nothing to chance."""
        random = np.random.default_rng(images)
        replace = 2 * images > population and self.given.table != "own"
        for number in range(self.given.draws):
            yield number, random.choice(population, images, replace=replace)

    def coverage(self) -> Iterator[list[str]]:
        for name, candidates in self.systems.items():
            sample = self.own(candidates) if self.given.table == "own" else self.fixed(candidates)
            ids = self.common(candidates)
            truths = [statistics.score() for statistics in sample(np.arange(len(ids)))]
            for images in self.given.images:
                rows_of: dict[tuple[int, str], list[tuple[float, ...]]] = defaultdict(list)
                for number, places in self.draws(len(ids), images):
                    some = sample(places)
                    for method in METHODS:
                        how = Resampling(interval=LEVEL, interval_method=method, seed=number)
                        for place, bounds in enumerate(intervals(some, self.metrics, how)):
                            rows_of[place, method].append((some[place].score(), *bounds))
                for (place, method), rows in rows_of.items():
                    cells = name, self.metrics[place].key, str(images), method
                    yield [*cells, *figures(truths[place], *np.array(rows).T)]

    def tests(self) -> Iterator[list[str]]:
        whole = np.arange(len(self.references.image_ids))
        rows = {name: self.fixed(candidates)(whole) for name, candidates in self.systems.items()}
        for first, second in combinations(rows, 2):
            both = [a.merge(b) for a, b in zip(rows[first], rows[second], strict=True)]
            for images in self.given.images:
                random = np.random.default_rng(images)
                counts = np.zeros((3, len(self.metrics)))
                for number, places in self.draws(len(whole), images):
                    swapped = random.integers(0, 2, images)
                    sides = [
                        [table.select((places + len(whole) * side).tolist()) for table in both]
                        for side in (swapped, 1 - swapped)
                    ]
                    p = _core.paired_exact(sides)
                    _, differences = _core.paired_bootstrap(sides, 999, widened(LEVEL, images), number)
                    counts[0] += [value <= 0.05 for value in p]
                    counts[1] += [value <= 0.05 for _, value in differences]
                    counts[2] += [low <= 0 <= high for (low, high), _ in differences]
                for metric, shares in zip(self.metrics, counts.T / self.given.draws, strict=True):
                    yield [f"{first}, {second}", metric.key, str(images), *(f"{share:.3f}" for share in shares)]


def figures(truth: float, scores: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[str]:
    """How often intervals hold the score of all images, the mean score of such draws, and the score of another."""

    def holds(value: float | np.ndarray) -> float:
        return float(((low <= value) & (value <= high)).mean())

    true = np.subtract(*np.quantile(scores, [(1 + LEVEL) / 2, (1 - LEVEL) / 2]))
    mean = scores.mean()
    cells = [mean, truth, holds(truth), (truth < low).mean(), holds(mean), holds(np.roll(scores, 1))]
    return [f"{figure:.3f}" for figure in [*cells, np.median(high - low) / true]]


COVERAGE = """system, metric, images, method, mean score, score of all, holds that, below, holds the mean,
    holds another draw's, width / true"""
TABLES = {
    "methods": (Table.coverage, COVERAGE),
    "own": (Table.coverage, COVERAGE),
    "tests": (Table.tests, "systems, metric, images, exact, bootstrap, interval holds 0"),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("table", choices=TABLES)
    options.add_argument("references", type=Path)
    options.add_argument("systems", type=Path, nargs="+")
    options.add_argument("--images", type=int, nargs="+", default=[3, 5, 10, 20, 30, 50, 100])
    options.add_argument("--draws", type=int, default=1_000)
    options.add_argument("--metrics", default="bleu-4,meteor,rouge-l,cider-d")
    arguments = options.parse_args()
    warnings.simplefilter("ignore")
    rows, heads = TABLES[arguments.table]
    print_table(heads, rows(Table(arguments)))


if __name__ == "__main__":
    sys.exit(main())
