"""How often intervals hold the truth: the tables of docs/explanation/intervals.md, on your own files.

usage: coverage.py TABLE REFERENCES SYSTEM... [--images 3 5 10] [--draws 1000] [--metrics bleu-4,cider-d]

The images of REFERENCES are the population; a draw takes some of them, without replacement unless they are as many as
half of the population. TABLE is one of

    methods     intervals of several methods, document frequencies fixed: those of the population
    corpus      CIDEr-D and CIDEr as users get them: document frequencies of the images drawn
    fluency     Fluency, whose model is made of the references drawn
    prediction  how often the interval holds the score of another draw
    tests       how often compare finds two equal systems different: captions swapped at random
    bootstraps  intervals of the multinomial and the Poisson bootstrap, on all images, with `--draws` seeds
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtrit

from sacrecap import _core
from sacrecap._core import Captions
from sacrecap.corpus.corpus import Corpus
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.data import read_candidates, read_references
from sacrecap.metrics.meteor.metric import Meteor
from sacrecap.metrics.registry import parse_metrics
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.score import score_corpus

Floats = npt.NDArray[np.float64]
Formula = Callable[[Floats], Floats]

LEVEL = 0.95
SAMPLES = 1_000
Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


# Formulas over sums of statistics, for many sums at once


def mean(sums: Floats) -> Floats:
    """Of metrics that are means over images."""
    return sums[..., 0] / sums[..., 1]


def bleu_4(sums: Floats) -> Floats:
    """The COCO code's, from pooled counts."""
    matches, all_ = sums[..., 4::2], sums[..., 5::2]
    precision = ((matches + 1e-15) / (all_ + 1e-9)).prod(axis=-1) ** 0.25
    ratio = (sums[..., 0] + 1e-15) / (sums[..., 1] + 1e-9)
    return precision * np.where(ratio < 1, np.exp(1 - 1 / ratio), 1.0)


def meteor(sums: Floats) -> Floats:
    """METEOR 1.5 for English, from pooled counts."""
    metric = Meteor()
    modules = np.array([metric.exact, metric.stem, metric.synonym, metric.paraphrase])
    matched = sums[..., 4:20].reshape(*sums.shape[:-1], 4, 4)
    shares = []
    for side in (0, 1):
        length, function = sums[..., side], sums[..., side + 2]
        total = metric.delta * (length - function) + (1 - metric.delta) * function
        weighed = metric.delta * matched[..., side] + (1 - metric.delta) * matched[..., side + 2]
        shares.append(weighed @ modules / total)
    with np.errstate(divide="ignore", invalid="ignore"):
        f = 1 / ((1 - metric.alpha) / shares[0] + metric.alpha / shares[1])
        # The last column of the table is the chunks as a corpus counts them.
        scattered = sums[..., 20] / ((sums[..., 21] + sums[..., 22]) / 2)
        score = f * (1 - metric.gamma * scattered**metric.beta)
    return np.where(score > 0, score, 0.0)


FORMULAS: dict[str, Formula] = {"bleu-4": bleu_4, "meteor": meteor}


# Methods: from one draw's statistics to bounds


def spread(table: Floats, formula: Formula, weights: Floats) -> Floats:
    """The jackknife's standard error of each bootstrap sample."""
    count = len(table)
    if formula is mean:
        values = table[:, 0] / table[:, 1]
        middle = weights @ values / count
        return np.sqrt(np.maximum(weights @ values**2 / count - middle**2, 0) / (count - 1))
    left = formula((weights @ table)[:, None, :] - table)  # (samples, images)
    middle = (weights * left).sum(axis=1, keepdims=True) / count
    variance: Floats = (weights * (left - middle) ** 2).sum(axis=1) * (count - 1) / count
    return np.sqrt(variance)


def resampled(random: np.random.Generator, images: int) -> Floats:
    """How often each image is drawn in each bootstrap sample."""
    drawn = random.integers(0, images, (SAMPLES, images)) + images * np.arange(SAMPLES)[:, None]
    return np.bincount(drawn.ravel(), minlength=images * SAMPLES).reshape(SAMPLES, images).astype(float)


def methods(table: Floats, formula: Formula, weights: Floats, *, studentised: bool) -> dict[str, Floats]:
    """The bounds of each method, from the same bootstrap samples: how often each image is drawn, sample by sample."""
    count = len(table)
    samples = formula(weights @ table)
    score = float(formula(table.sum(axis=0)))
    student = stdtrit(count - 1, (1 + LEVEL) / 2)
    ends = np.array([-Z, Z])
    expanded = np.array([-1, 1]) * student * np.sqrt(count / (count - 1))
    left = formula(table.sum(axis=0) - table)
    deviations = left.mean() - left
    squares = float((deviations**2).sum())
    error = np.sqrt(squares * (count - 1) / count)
    acceleration = float((deviations**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
    below = float((samples < score).sum() + (samples == score).sum() / 2) / SAMPLES
    bias = float(ndtri(np.clip(below, 1 / SAMPLES, 1 - 1 / SAMPLES)))
    moved = bias + (bias + ends) / (1 - acceleration * (bias + ends))
    found = np.quantile(samples, ndtr(np.concatenate([ends, expanded, moved])))
    bounds = {
        "percentile": found[:2],
        "expanded": found[2:4],
        "bca": found[4:],
        "jackknife": score + np.array([-student, student]) * error,
    }
    if studentised:
        errors = spread(table, formula, weights)
        usable = errors > 1e-12
        t = np.quantile((samples[usable] - score) / errors[usable], ndtr(ends)) if usable.any() else np.zeros(2)
        bounds["bootstrap-t"] = np.array([score - t[1] * error, score - t[0] * error])
    return bounds


# The tables


def population(references: Captions, candidates: Captions, metrics: str) -> dict[str, tuple[Floats, Formula]]:
    """Each metric's statistics of all images, with the formula, which is checked against the score."""
    frequency = DocumentFrequency.build(references)
    corpus = Corpus(references, candidates, on_missing="skip")
    result = score_corpus(corpus, parse_metrics(metrics), document_frequency=frequency)
    found = {}
    for key, score in result.items():
        rows = score.statistics
        table = np.frombuffer(rows.values()).reshape(rows.rows, rows.width)
        if key == "meteor":
            table = np.column_stack(
                [table[:, :20], table[:, -1:] if rows.width > 23 else table[:, 20:21], table[:, 21:23]]
            )
        formula = FORMULAS.get(key, mean)
        assert abs(float(formula(table.sum(axis=0))) - score.value) < 1e-12, (
            key,
            float(formula(table.sum(axis=0))),
            score.value,
        )
        found[key] = table, formula
    return found


def draw(random: np.random.Generator, count: int, images: int) -> npt.NDArray[np.int64]:
    """Images of one draw: without replacement, as new images are, unless that would leave nothing to chance."""
    return random.choice(count, images, replace=2 * images > count)


def methods_table(given: argparse.Namespace, references: Captions, systems: dict[str, Captions]) -> Iterator[list[str]]:
    tables = {
        (name, metric): found
        for name, candidates in systems.items()
        for metric, found in population(references, candidates, given.metrics).items()
    }
    for images in given.images:
        random = np.random.default_rng(images)
        scores: dict[tuple[str, str], list[float]] = defaultdict(list)
        bounds: dict[tuple[str, str, str], list[Floats]] = defaultdict(list)
        for _ in range(given.draws):
            drawn = draw(random, len(next(iter(tables.values()))[0]), images)
            weights = resampled(random, images)
            for key, (table, formula) in tables.items():
                scores[key].append(float(formula(table[drawn].sum(axis=0))))
                for method, ends in methods(
                    table[drawn], formula, weights, studentised=images <= given.studentised
                ).items():
                    bounds[(*key, method)].append(ends)
        for (name, metric, method), found in bounds.items():
            table, formula = tables[name, metric]
            truth = float(formula(table.sum(axis=0)))
            low, high = np.maximum(np.array(found), 0).T
            true = np.subtract(*np.quantile(scores[name, metric], [(1 + LEVEL) / 2, (1 - LEVEL) / 2]))
            below, above = (truth < low).mean(), (truth > high).mean()
            figures = [1 - below - above, below, above, np.median(high - low) / true]
            yield [name, metric, str(images), method, *(f"{figure:.3f}" for figure in figures)]


def subset(references: Captions, candidates: Captions, ids: list[str]) -> Corpus:
    return Corpus(
        {image: references.captions(image) for image in ids}, {image: candidates.captions(image)[0] for image in ids}
    )


def own_table(given: argparse.Namespace, references: Captions, systems: dict[str, Captions]) -> Iterator[list[str]]:
    """Metrics that learn from the images drawn."""
    metrics = parse_metrics("fluency" if given.table == "fluency" else "cider-d, cider-paper")
    for name, candidates in systems.items():
        ids = [image for image in references.image_ids if image in candidates]
        whole = score_corpus(subset(references, candidates, ids), metrics)
        for images in given.images:
            random = np.random.default_rng(images)
            scores, bounds = [], []
            for number in range(given.draws):
                some = [ids[place] for place in random.choice(len(ids), images, replace=False)]
                result = score_corpus(
                    subset(references, candidates, some), metrics, resampling=Resampling(samples=400, seed=number)
                )
                scores.append([score.value for score in result.values()])
                bounds.append([score.interval for score in result.values()])
            for place, (key, score) in enumerate(whole.items()):
                values, (low, high) = np.array(scores)[:, place], np.array(bounds)[:, place].T
                average = values.mean()
                holds = [((low <= truth) & (truth <= high)).mean() for truth in (score.value, average)]
                true = np.subtract(*np.quantile(values, [(1 + LEVEL) / 2, (1 - LEVEL) / 2]))
                figures = [average, score.value, *holds, np.median(high - low) / true]
                yield [name, key, str(images), *(f"{figure:.3f}" for figure in figures)]


def prediction_table(
    given: argparse.Namespace, references: Captions, systems: dict[str, Captions]
) -> Iterator[list[str]]:
    for name, candidates in systems.items():
        for metric, (table, formula) in population(references, candidates, given.metrics).items():
            for images in given.images:
                random = np.random.default_rng(images)
                held = 0
                for _ in range(given.draws):
                    some = table[draw(random, len(table), images)]
                    weights = resampled(random, images)
                    low, high = np.quantile(formula(weights @ some), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
                    held += low <= float(formula(table[draw(random, len(table), images)].sum(axis=0))) <= high
                yield [name, metric, str(images), f"{held / given.draws:.3f}"]


def tests_table(given: argparse.Namespace, references: Captions, systems: dict[str, Captions]) -> Iterator[list[str]]:
    frequency = DocumentFrequency.build(references)
    metrics = parse_metrics(given.metrics)
    rows = {}
    for name, candidates in systems.items():
        result = score_corpus(Corpus(references, candidates), metrics, document_frequency=frequency)
        rows[name] = [score.statistics for score in result.values()]
    for one, other in combinations(rows, 2):
        both = [a.merge(b) for a, b in zip(rows[one], rows[other], strict=True)]
        count = rows[one][0].rows
        for images in given.images:
            random = np.random.default_rng(images)
            found = np.zeros((3, len(metrics)))
            for number in range(given.draws):
                some = draw(random, count, images)
                swapped = random.integers(0, 2, images)
                sides = [
                    [table.select((some + count * side).tolist()) for table in both] for side in (swapped, 1 - swapped)
                ]
                p = _core.paired_permutation(sides, 999, number)
                _, differences = _core.paired_bootstrap(sides, 999, LEVEL, number)
                found[0] += [value <= 0.05 for value in p]
                found[1] += [value <= 0.05 for _, value in differences]
                found[2] += [low <= 0 <= high for (low, high), _ in differences]
            for place, metric in enumerate(metrics):
                yield [
                    f"{one}, {other}",
                    metric.key,
                    str(images),
                    *(f"{value:.3f}" for value in found[:, place] / given.draws),
                ]


def bootstraps_table(
    given: argparse.Namespace, references: Captions, systems: dict[str, Captions]
) -> Iterator[list[str]]:
    metrics = parse_metrics(given.metrics)
    for name, candidates in systems.items():
        corpus = Corpus(references, candidates, on_missing="skip")
        intervals: dict[tuple[str, str], list[tuple[float, float] | None]] = defaultdict(list)
        for seed in range(given.draws):
            for bootstrap in ("multinomial", "poisson"):
                how = Resampling(bootstrap=bootstrap, seed=seed)
                for key, score in score_corpus(corpus, metrics, resampling=how).items():
                    intervals[key, bootstrap].append(score.interval)
        for metric in metrics:
            usual, poisson = (np.array(intervals[metric.key, name]) for name in ("multinomial", "poisson"))
            widths = usual[:, 1] - usual[:, 0]
            width = widths.mean()
            ratio = (poisson[:, 1] - poisson[:, 0]).mean() / width
            moved = (poisson.mean() - usual.mean()) / width
            figures = [width, ratio, moved, widths.std(ddof=1) / width]
            yield [name, metric.key, *(f"{figure:.4f}" for figure in figures)]


OWN = [
    "system",
    "metric",
    "images",
    "mean score",
    "score of all",
    "holds that of all",
    "holds the mean",
    "width / true",
]
HEADS = {
    "methods": ["system", "metric", "images", "method", "holds", "truth below", "truth above", "width / true"],
    "corpus": OWN,
    "fluency": OWN,
    "prediction": ["system", "metric", "images", "holds another draw's score"],
    "tests": ["systems", "metric", "images", "permutation", "bootstrap", "interval holds 0"],
    "bootstraps": ["system", "metric", "width", "Poisson / multinomial", "centre moves, widths", "seeds vary, widths"],
}
TABLES = {
    "methods": methods_table,
    "corpus": own_table,
    "fluency": own_table,
    "prediction": prediction_table,
    "tests": tests_table,
    "bootstraps": bootstraps_table,
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("table", choices=HEADS)
    options.add_argument("references", type=Path)
    options.add_argument("systems", type=Path, nargs="+")
    options.add_argument("--images", type=int, nargs="+", default=[3, 5, 10, 20, 30, 50, 100])
    options.add_argument("--draws", type=int, default=1_000)
    options.add_argument(
        "--studentised", type=int, default=0, metavar="N", help="the bootstrap-t too, up to N images: slow"
    )
    options.add_argument("--metrics", default="bleu-4,meteor,rouge-l,cider-d")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    references = read_references(str(given.references))
    systems = {path.stem: read_candidates(str(path)) for path in given.systems}
    print("| " + " | ".join(HEADS[given.table]) + " |")
    print("|" + " --- |" * len(HEADS[given.table]), flush=True)
    for row in TABLES[given.table](given, references, systems):
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
