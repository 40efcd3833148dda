"""How often calibrated intervals hold the truth, and what ratings are worth: the tables of docs/tutorial/calibrate.md.

usage: calibration.py [JUDGMENTS --scores FILE --metrics LIST] [--n 30 100 300] [--draws 2000]

The judgments are the population: ratings of captions, or choices between two. A draw takes n of them at random, and
asks for the mean of all. Witnesses are the metrics, also columns of the scores: each alone, and all together. Without
JUDGMENTS, captions of three systems are made up, and means, differences, win rates and strengths are asked for.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from measure import print_table
from sacrecap.judgments import Pairs, agreement, calibrate, read_judgments
from sacrecap.judgments.calibration.adjusted import Evidence
from sacrecap.judgments.calibration.estimates import Calibrated, Teller, figures_of
from sacrecap.judgments.calibration.samples import STEEP, RatedSample

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
LEVEL = 0.95
HEADS = "witnesses, n, ±, ± alone, held %, held % alone, worth times"


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
        self.held: list[bool] = []
        self.held_alone: list[bool] = []
        self.halves: list[tuple[float, float]] = []

    def add(self, figure: Calibrated, truth: float) -> None:
        assert figure.interval is not None
        assert figure.alone_interval is not None
        (low, high), (least, most) = figure.interval, figure.alone_interval
        self.held.append(low <= truth <= high)
        self.held_alone.append(least <= truth <= most)
        self.halves.append(((high - low) / 2, (most - least) / 2))

    def row(self, name: str, n: int) -> list[str]:
        own, alone = np.mean(self.halves, axis=0)
        shares = (100 * np.mean(self.held), 100 * np.mean(self.held_alone))
        worth = np.mean([b**2 for _, b in self.halves]) / np.mean([a**2 for a, _ in self.halves])
        return [name, str(n), f"{own:.3f}", f"{alone:.3f}", *(f"{share:.1f}" for share in shares), f"{worth:.2f}"]


def sampled(said: Floats, scores: Floats, images: Numbers, rated: Numbers) -> RatedSample:
    """What `calibrate` makes of these rated captions of one system."""
    zeros, means = np.zeros(len(said), dtype=np.int64), scores.mean(axis=0)[None]
    own = Evidence(
        said[rated], scores[rated], images[rated], zeros[rated], means, scores.std(axis=0), np.ones(len(rated))
    )
    return RatedSample(own, ["all"], np.array([len(said)]), len(rated), is_choice=False, notes=[])


def of_judgments(given: argparse.Namespace) -> list[list[str]]:
    """A row for each set of witnesses and each n."""
    said, scores, images, names = population(given)
    rows, truth = [], float(said.mean())
    every = [[n] for n in range(len(names))] + ([list(range(len(names)))] if len(names) > 1 else [])
    for chosen in every:
        own = scores[:, chosen]
        for n in given.n:
            random, tally = np.random.default_rng(n), Tally()
            for _ in range(given.draws):
                drawn = np.sort(random.choice(len(said), n, replace=False))
                sample = sampled(said, own, images, drawn)
                [figure] = figures_of(sample)
                tally.add(Teller(sample.rated, LEVEL, (0.0, 1.0)).told(figure), truth)
            rows.append(tally.row(" + ".join(names[one] for one in chosen), n))
    return rows


SYSTEMS, IMAGES = ("a", "b", "c"), 1000


def made_up() -> list[dict[str, Any]]:
    """Captions of three systems with ratings from 1 to 5, and the scores of two witnesses."""
    random, rows = np.random.default_rng(0), []
    for image in range(IMAGES):
        easy = random.normal()
        for place, system in enumerate(SYSTEMS):
            quality = 0.4 * place + 0.7 * easy + random.normal()
            rating = int(np.clip(round(1.5 + quality), 1, 5))
            scores = {"metric": quality + random.normal(), "judge": math.tanh(quality + 0.7 * random.normal())}
            rows.append({"image_id": str(image), "system": system, **scores, "rating": rating})
    return rows


def of_systems(given: argparse.Namespace) -> list[list[str]]:
    """A row for each figure of three systems and each n."""
    rows, found = made_up(), []
    scores = {name: [row[name] for row in rows] for name in ("image_id", "system", "metric", "judge")}
    ratings = {(row["image_id"], row["system"]): row["rating"] for row in rows}
    choices = {
        (image, a, b): float(np.sign(ratings[image, a] - ratings[image, b]) + 1) / 2
        for image in map(str, range(IMAGES))
        for a, b in combinations(SYSTEMS, 2)
    }
    keys = list(choices)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "said.csv")

        def told(lines: list[str]) -> dict[str, Calibrated]:
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            result = calibrate(scores, path, rating_range=(1, 5))
            pairs = {f"{a}, {b}": own for (a, b), own in result.pairs.items()}
            return {"all": result.overall, **result.systems, **pairs}

        def of_ratings(chosen: list[int]) -> list[str]:
            rated = (f"{rows[n]['image_id']},{rows[n]['system']},{rows[n]['rating']}" for n in chosen)
            return ["image_id,system,rating", *rated]

        def of_choices(chosen: list[int]) -> list[str]:
            names = {1.0: "b", 0.5: "tie", 0.0: "c"}
            judged = (f"{','.join(keys[n])},{names[choices[keys[n]]]}" for n in chosen)
            return ["image_id,b_system,c_system,winner", *judged]

        for kind, lines, number in (("ratings", of_ratings, len(rows)), ("choices", of_choices, len(keys))):
            truth = {name: own.estimate for name, own in told(lines(list(range(number)))).items()}
            for n in given.n:
                random, tallies = np.random.default_rng(n), defaultdict(Tally)
                for _ in range(given.draws):
                    for name, own in told(lines(random.choice(number, n, replace=False).tolist())).items():
                        tallies[name].add(own, truth[name])
                found += [tally.row(f"{kind}: {name}", n) for name, tally in tallies.items()]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judgments", nargs="?")
    parser.add_argument("--scores")
    parser.add_argument("--metrics", default="cider-d")
    parser.add_argument("--n", type=int, nargs="+", default=[30, 100, 300])
    parser.add_argument("--draws", type=int, default=2000)
    given = parser.parse_args()
    print_table(HEADS, of_judgments(given) if given.judgments else of_systems(given))


if __name__ == "__main__":
    main()
