"""How near the p of the exact test is to the counted one: the largest errors, by kind of differences.

usage: sign_flips.py [--draws 40]
       sign_flips.py --formula REFERENCES SYSTEM SYSTEM... [--draws 40]

Differences are whole numbers, so that the distribution of their sum can be computed number by number
(tests/reference/sign_flips.py). Up to 30 images the test counts too; here are more. p is between 1 and 1e-12. Of each
kind also how often equal systems differ at 0.05, by the test and by the counted p.

--formula: metrics that are no means of images' scores, tested on few images of these systems; counted are all swaps,
each scored by the metric's formula.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

import sacrecap
from sacrecap import _core

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from reference.sign_flips import of_whole_numbers

Sizes = npt.NDArray[np.int64]
LEAST = 1e-12


def _rounded(sizes: npt.NDArray[np.float64]) -> Sizes:
    return np.minimum(np.round(sizes), 20_000).astype(np.int64) + 1


def _with_large(random: np.random.Generator, images: int, large: Sizes) -> Sizes:
    small = _rounded(np.abs(random.normal(0, 20, images)))
    kept = large[: images - 5]
    small[: len(kept)] = kept
    return small


KINDS: dict[str, Callable[[np.random.Generator, int], Sizes]] = {
    "normal": lambda random, n: _rounded(np.abs(random.normal(0, 300, n))),
    "exponential": lambda random, n: _rounded(random.exponential(300, n)),
    "uniform": lambda random, n: random.integers(1, 1_000, n),
    "Pareto, 1.5": lambda random, n: _rounded(10 * random.pareto(1.5, n)),
    "Cauchy": lambda random, n: _rounded(20 * np.abs(random.standard_cauchy(n))),
    "all equal": lambda _, n: np.ones(n, dtype=np.int64),
    "1 and 2": lambda random, n: random.integers(1, 3, n),
    "2 and 3": lambda random, n: random.integers(2, 4, n),
    "2 to 5": lambda random, n: random.integers(2, 6, n),
    "3, 5 and 7": lambda random, n: random.choice(np.array([3, 5, 7]), n),
    "12 large": lambda random, n: _with_large(random, n, random.integers(300, 1_500, 12)),
    "16 equal large": lambda random, n: _with_large(random, n, np.full(16, 500)),
    "40 equal large": lambda random, n: _with_large(random, n, np.full(40, 500)),
    "10 large, 10 huge": lambda random, n: _with_large(
        random, n, np.append(random.integers(10_000, 16_000, 10), random.integers(400, 800, 10))
    ),
    "5 to 60 nearly equal large": lambda random, n: _with_large(
        random, n, 500 + random.integers(0, 1 + random.integers(0, 150), random.integers(5, 61))
    ),
    "powers of 2": lambda _, n: np.append(2 ** np.arange(14), np.full(n - 14, 3)),
}


def tested(differences: Sizes) -> float:
    """P of a metric whose images differ by so much."""
    ones = np.ones(len(differences))
    columns = (np.column_stack((values, ones)).tobytes() for values in (differences, np.zeros(len(differences))))
    one, other = (_core.Statistics.of_rows("mean", values, 2) for values in columns)
    return _core.paired_exact([[one], [other]])[0]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--draws", type=int, default=40)
    options.add_argument("--formula", nargs="+", metavar="FILE")
    given = options.parse_args()
    if given.formula:
        of_formulas(*given.formula, draws=given.draws)
        return
    print("| sizes of the differences | images | smallest p / counted | largest | equal at 0.05 | by counting |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for kind, sizes in KINDS.items():
        for images in (31, 40, 60, 120, 300):
            random = np.random.default_rng(images)
            ratios, equal = [], []
            for draw in range(given.draws):
                own = sizes(random, images)
                share = 0.5 * draw / given.draws  # of images on which the other system is better
                differences = np.where(random.random(images) < share, -own, own)
                counted = of_whole_numbers(differences.tolist())
                if counted >= LEAST:
                    ratios.append(tested(differences) / counted)
                swapped = np.where(random.random(images) < 0.5, -own, own)
                equal.append((tested(swapped), of_whole_numbers(swapped.tolist())))
            shares = " | ".join(f"{share:.3f}" for share in np.mean(np.array(equal) <= 0.05, axis=0))
            print(f"| {kind} | {images} | {min(ratios):.3f} | {max(ratios):.3f} | {shares} |", flush=True)


def of_formulas(references: str, *systems: str, draws: int) -> None:
    """Prints how far the test is from counting every swap of two systems' images, by metric and number of images."""
    scored = [sacrecap.score(references, system, ["bleu-4", "meteor"], interval=None) for system in systems]
    print("| metric | images | largest difference of p | median | verdicts at 0.05 that differ |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for metric in ("bleu-4", "meteor"):
        for images in (6, 8, 10, 12):
            random = np.random.default_rng(images)
            pairs = []
            for _ in range(draws):
                chosen = random.choice(len(scored[0].image_ids), images, replace=False).tolist()
                one, other = (scored[n][metric].rows.select(chosen) for n in random.permutation(len(systems))[:2])
                pairs.append((_core.paired_exact([[one], [other]])[0], _counted(one, other)))
            ours, counted = np.array(pairs).T
            far = np.abs(ours - counted)
            differ = np.sum((ours <= 0.05) != (counted <= 0.05))
            print(f"| {metric} | {images} | {far.max():.3f} | {np.median(far):.4f} | {differ} of {draws} |", flush=True)


def _counted(one: _core.Statistics, other: _core.Statistics) -> float:
    """P of all ways to swap two systems' images."""
    rows = [np.frombuffer(system.values()).reshape(system.rows, system.width) for system in (one, other)]
    ways = (np.arange(2 ** len(rows[0]))[:, None] >> np.arange(len(rows[0]))) & 1
    sums = rows[0].sum(0) + ways @ (rows[1] - rows[0])
    both = rows[0].sum(0) + rows[1].sum(0)
    differences = np.array([one.formula(way.tolist()) - one.formula((both - way).tolist()) for way in sums])
    return float(np.mean(np.abs(differences) >= abs(differences[0]) - 1e-12))


if __name__ == "__main__":
    main()
