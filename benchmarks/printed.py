"""How often the intervals of `agreement` and `diversity` hold the truth, and their tests find what is not there.

usage: printed.py TABLE FILE [REFERENCES] [--images 10 30 100 300 1000] [--draws 400] [--samples 500]

All images of FILE are the population, and its figures are the truth; a draw takes some of them with replacement. TABLE
is one of

    ratings    FILE has judgments with ratings: intervals of τ-b, τ-c, ρ, r and τ-b in an image, and of the difference
               of two metrics in τ-b
    choices    FILE has forced choices: intervals of the accuracy, where a tie is wrong and where it is half
    sets       FILE has caption sets: intervals of each figure; and two equal systems, half of each set each, dealt at
               random: how often p ≤ 0.05, and the interval of their difference holds 0
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from measure import print_table
from sacrecap import _core, diversity
from sacrecap.data import read_caption_sets
from sacrecap.judgments import accuracy, correlation, read_judgments
from sacrecap.judgments.bootstrap import Estimate, image_numbers, ratio
from sacrecap.judgments.judged_rows import Pairs
from sacrecap.judgments.row_scorer import RowScorer, first_references
from sacrecap.metrics.registry import parse_metrics
from sacrecap.scoring.intervals import Resampling, intervals, opened, widened

Estimates = dict[str, Estimate]
LEVEL = 0.95
METRICS = ("cider-d", "bleu-4")


def drawn(images: npt.NDArray[np.uint32], given: argparse.Namespace, size: int) -> Iterator[tuple[Resampling, ...]]:
    """For each draw: how to resample, the rows, and the number of each one's image in the draw."""
    by_image = np.split(np.argsort(images, kind="stable"), np.cumsum(np.bincount(images))[:-1])
    random = np.random.default_rng(size)
    for number in range(given.draws):
        chosen = [by_image[image] for image in random.integers(0, len(by_image), size)]
        places = np.repeat(np.arange(size, dtype="<u4"), [len(own) for own in chosen])
        yield Resampling(LEVEL, samples=given.samples, seed=number), np.concatenate(chosen), places  # type: ignore[misc]


def coverage(
    images: npt.NDArray[np.uint32], given: argparse.Namespace, estimate: Callable[..., Estimates]
) -> Iterator[list[str]]:
    """Of each figure and number of images: below, inside, above, and how often there is no interval."""
    whole = estimate(Resampling(None), np.arange(len(images)), images)
    for size in given.images:
        found = {name: np.zeros(3) for name in whole}
        for drawing in drawn(images, given, size):
            for name, own in estimate(*drawing).items():
                bounds = own.interval(LEVEL)
                if bounds is not None:
                    truth = whole[name].value
                    found[name] += (truth < bounds[0], bounds[0] <= truth <= bounds[1], truth > bounds[1])
        for name, counts in found.items():
            yield [name, str(size), *(f"{count / counts.sum():.3f}" for count in counts), f"{int(counts.sum())}"]


def ratings(given: argparse.Namespace) -> Iterator[list[str]]:
    judgments = read_judgments(given.file)
    assert not isinstance(judgments, Pairs)
    scores = RowScorer(parse_metrics(METRICS)).score(judgments, first_references(judgments.rows, None)).scores
    columns = {name: own["caption"] for name, own in scores.items()}

    def estimate(how: Resampling, rows: npt.NDArray[np.int64], images: npt.NDArray[np.uint32]) -> Estimates:
        rated = [judgments.ratings[row] for row in rows.tolist()]
        by_metric = {name: correlation.correlate(own[rows], rated, images, how) for name, own in columns.items()}
        one, other = (own["kendall_b"] for own in by_metric.values())
        return {**by_metric[METRICS[0]], "difference of kendall_b": one - other}

    return coverage(image_numbers([row.image_id for row in judgments.rows]), given, estimate)


def choices(given: argparse.Namespace) -> Iterator[list[str]]:
    judgments = read_judgments(given.file)
    assert isinstance(judgments, Pairs)
    metric = parse_metrics("bleu-1")
    scores = RowScorer(metric).score(judgments, first_references(judgments.rows, None)).scores
    difference = accuracy.difference(scores["bleu-1"])
    decided = (np.asarray(judgments.preferred) != 0).astype(float)
    credits = {ties: accuracy.credit(difference, judgments, ties) * decided for ties in ("wrong", "half")}

    def estimate(how: Resampling, rows: npt.NDArray[np.int64], images: npt.NDArray[np.uint32]) -> Estimates:
        columns = np.array([own[rows] for own in credits.values()]).T
        found = ratio(columns, np.repeat(decided[rows, None], len(credits), axis=1), images, how)
        return {f"accuracy, ties {ties}": own for ties, own in zip(credits, found, strict=True)}

    return coverage(image_numbers([row.image_id for row in judgments.rows]), given, estimate)


def sets(given: argparse.Namespace) -> Iterator[list[str]]:
    captions = read_caption_sets(given.file).to_dict()
    random = np.random.default_rng(0)
    halves: list[dict[str, list[str]]] = [{}, {}]
    for image, own in captions.items():
        order = random.permutation(len(own))
        for half, places in zip(halves, (order[::2], order[1::2]), strict=True):
            half[image] = [own[place] for place in places]
    systems = {"whole": captions, "a": halves[0], "b": halves[1]}
    result = diversity(systems, given.references, interval=None)
    [whole, *parts] = ([figure.rows for figure in system.values()] for system in result.values())
    metrics = [figure.metric for figure in result["whole"].values()]
    both = [one.merge(other) for one, other in zip(*parts, strict=True)]
    count = len(result["whole"].image_ids)
    for size in given.images:
        found = np.zeros((5, len(metrics)))
        random = np.random.default_rng(size)
        for number in range(given.draws):
            places, side = random.integers(0, count, size), random.integers(0, 2, size)
            how = Resampling(LEVEL, samples=given.samples, seed=number)
            some = [rows.select(places.tolist()) for rows in whole]
            bounds = intervals(some, metrics, how, [])
            truth = [figure.value for figure in result["whole"].values()]
            dealt = [[rows.select((places + count * own).tolist()) for rows in both] for own in (side, 1 - side)]
            _, differences = _core.paired_bootstrap(dealt, given.samples, widened(LEVEL, size), number)
            for place, (own, limits) in enumerate(zip(bounds, differences, strict=True)):
                assert own is not None
                ends = metrics[place].smallest, metrics[place].largest
                low, high = opened(own, some[place].score(), ends, size, LEVEL) or own
                found[:3, place] += (truth[place] < low, low <= truth[place] <= high, truth[place] > high)
                found[3, place] += limits[0][0] <= 0 <= limits[0][1]
            found[4] += [p <= 0.05 for p in _core.paired_exact(dealt)]
        for metric, own in zip(metrics, (found / given.draws).T, strict=True):
            yield [metric.key, str(size), *(f"{share:.3f}" for share in own)]


HELD = "figure, images, truth below, inside, above"
TABLES = {
    "ratings": (ratings, f"{HELD}, draws"),
    "choices": (choices, f"{HELD}, draws"),
    "sets": (sets, f"{HELD}, difference of equal systems holds 0, p ≤ 0.05"),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("table", choices=TABLES)
    options.add_argument("file")
    options.add_argument("references", nargs="?")
    options.add_argument("--images", type=int, nargs="+", default=[10, 30, 100, 300, 1_000])
    options.add_argument("--draws", type=int, default=400)
    options.add_argument("--samples", type=int, default=500)
    given = options.parse_args()
    warnings.simplefilter("ignore")
    rows, heads = TABLES[given.table]
    print_table(heads, rows(given))


if __name__ == "__main__":
    main()
