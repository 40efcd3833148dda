"""Claims of the papers of CIDEr, VIFIDEL and Self-CIDEr as tests: docs/explanation/papers.md.

usage: claims.py FOLDER [claim …]

FOLDER has `abstract50s`, `pascal50s`, `coco-val2017/captions_val2017.json`, and `diversity-5k/sets.json`, captions of a
captioner, ten of an image. Prints the files of `benchmarks/papers/claims`. Differences have a paired bootstrap over
images. The last column of a claim that is not confirmed is the number of pairs or images with which a test at 5 % finds
a difference of the size seen with a probability of 80 %.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import sacrecap
from sacrecap import example
from sacrecap.corpus.corpus import as_references
from sacrecap.judgments import read_judgments
from sacrecap.judgments.agreement_statistics import accuracy, credit, plain, preference
from sacrecap.judgments.bootstrap import Estimate, p_value, williams
from sacrecap.judgments.judged_rows import Pairs
from sacrecap.judgments.row_scorer import RowScorer, drawn_references, first_references
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.intervals import Resampling

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.judgments.bootstrap import Columns
    from sacrecap.scoring.diversity_result import SystemDiversity

Estimates = dict[str, Estimate]
"""Accuracy by category."""
SAMPLES = 4000
DRAWS = {"ABSTRACT-50S": 10, "PASCAL-50S": 4}
SEED = 0
BETA2 = 5.0
"""β² of F, as in the paper of Self-CIDEr."""
QUANTILES = 1.959964 + 0.841621
"""Of the normal distribution: two-sided 5 %, and a power of 80 %."""
BEFORE = {"ABSTRACT-50S": "abstract50s", "PASCAL-50S": "pascal50s"}
REFERENCES = {"PASCAL-50S": "pascal50s/pascal50S.mat"}
"""References in place of those that the judgments have."""
MOST = 48
"""References of an image in the paper; of PASCAL-50S it drops two of 50."""


def main() -> None:
    """Prints the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("claims", nargs="*", help=f"of {', '.join(CLAIMS)}; all by default")
    arguments = options.parse_args()
    warnings.simplefilter("ignore")
    data = Data(arguments.folder)
    for name in arguments.claims or CLAIMS:
        print(name, table_of(name, data), sep="\n")


def table_of(name: str, data: Data) -> str:
    """The table of a claim, as CSV."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(CLAIMS[name](data))
    return written.getvalue()


class Data:
    """The judgments, and the accuracies of metrics on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.accuracy = cache(self._accuracy)
        self.drawn = cache(self._drawn)
        self.pairs = cache(self._pairs)

    def _pairs(self, name: str) -> Pairs:
        """The pairs of a data set."""
        captions = self.folder / REFERENCES[name] if name in REFERENCES else None
        pairs = read_judgments(self.folder / BEFORE[name], captions=captions)
        assert isinstance(pairs, Pairs)
        return replace(pairs, rows=[replace(row, references=row.references[:MOST]) for row in pairs.rows])

    def _scores(self, name: str, metric: str, references: list[Sequence[str]]) -> Columns:
        pairs = self.pairs(name)
        needs = Needs({} if pairs.objects is None else {"objects": pairs.objects})
        [columns] = RowScorer(parse_metrics(metric), "images", needs=needs).score(pairs, references)[0].values()
        return columns

    def _accuracy(self, name: str, metric: str, count: int | None = None) -> Estimates:
        pairs = self.pairs(name)
        return _accuracy_by(self._scores(name, metric, first_references(pairs.rows, count)), pairs, "wrong")

    def _drawn(self, name: str, metric: str, count: int, ties: str = "wrong") -> Estimates:
        """The mean over random draws of references."""
        pairs, generator = self.pairs(name), np.random.default_rng([SEED, count])
        every = count == min(len(row.references) for row in pairs.rows)
        drawn = []
        for _ in range(1 if every else DRAWS[name]):
            references = drawn_references(pairs.rows, count, generator)
            drawn.append(_accuracy_by(self._scores(name, metric, references), pairs, ties))
        return {category: Estimate.mean([sample[category] for sample in drawn]) for category in drawn[0]}

    def decided(self, name: str, category: str) -> int:
        """How many pairs people decided."""
        pairs = self.pairs(name)
        return sum(
            bool(preferred) and category in (categories, "all")
            for preferred, categories in zip(pairs.preferred, pairs.categories, strict=True)
        )


def _accuracy_by(columns: Columns, pairs: Pairs, ties: str) -> Estimates:
    """With ties of `rounding`, the last bits of the scores decide."""
    difference = columns["b"] - columns["c"] if ties == "rounding" else preference(columns)
    credits = credit(difference, pairs.preferred, "wrong" if ties == "rounding" else ties)
    return accuracy(credits, pairs, Resampling(samples=SAMPLES))


# A row of a test

HEADER = ("claim", "on", "difference", "95% interval", "p", "holds")


def tested(claim: str, on: str, a: Estimate, b: Estimate, n: int) -> tuple[str, ...]:
    """The claim that `a` is better than `b`, on n pairs or images."""
    difference = a - b
    low, high = difference.interval(0.95) or (np.nan, np.nan)
    p = p_value(difference) or np.nan
    if p < 0.05:
        holds = "yes" if difference.value > 0 else "the opposite"
    elif difference.value <= 0:
        holds = "no"
    else:
        needed = n * (QUANTILES * float(np.std(difference.samples)) / difference.value) ** 2
        holds = f"needs {max(100, round(needed, -2)):,.0f}"
    return claim, on, f"{difference.value:+.3f}", f"{low:+.3f} to {high:+.3f}", _p(p), holds


def _p(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


# Vedantam et al. (2015)


def meteor(data: Data) -> list[Sequence[str]]:
    """CIDEr is better than METEOR."""
    places = [("ABSTRACT-50S", kind) for kind in ("HC", "HI", "all")]
    places += [("PASCAL-50S", kind) for kind in ("HC", "HI", "HM", "MM", "all")]
    rows = [_versus(data, "cider-paper", "meteor", *place) for place in places]
    few = [_versus(data, "cider-paper", "meteor", name, "all", 5) for name in BEFORE]
    return [HEADER, *rows, *few]


def _versus(
    data: Data, a: str, b: str, name: str, category: str = "all", references: int | None = None
) -> tuple[str, ...]:
    first, second = (data.accuracy(name, metric, references)[category] for metric in (a, b))
    on = f"{name}, {category}" + (f", references: {references}" if references else "")
    return tested(f"{a} > {b}", on, first, second, data.decided(name, category))


VARIANTS = {
    "no IDF": "cider-paper(idf=no)",
    "maximum": "cider-paper(pool=max)",
    "exponential weights": "cider-paper(weights=exponential)",
    "n = 1": "cider-paper(only=1)",
    "n = 2": "cider-paper(only=2)",
    "n = 3": "cider-paper(only=3)",
    "n = 4": "cider-paper(only=4)",
    "CIDEr-D": "cider-d",
}


def variants(data: Data) -> list[Sequence[str]]:
    """CIDEr is better than each of its variants."""
    rows = []
    for label, variant in VARIANTS.items():
        for name in BEFORE:
            row = _versus(data, "cider-paper", variant, name)
            rows.append((f"CIDEr > {label}", name, *row[2:]))
    return [HEADER, *rows]


def references(data: Data) -> list[Sequence[str]]:
    """More references help, and what they bring ends near 50."""
    rows = []
    for metric in ("cider-paper", "cider-d", "rouge-1", "meteor"):
        for name in BEFORE:
            drawn = {count: data.drawn(name, metric, count)["all"] for count in (5, 10, 24, 48)}
            pairs = data.decided(name, "all")
            rows += [
                tested(f"{metric}: {more} > {less}", name, drawn[more], drawn[less], pairs)
                for less, more in ((5, 10), (10, 24), (24, 48))
            ]
    return [HEADER, *rows]


def bleu(data: Data) -> list[Sequence[str]]:
    """BLEU-1 falls with references: by the formula or the constants of the COCO suite, with ties wrong, half, or left
    to rounding.
    """
    rows = []
    for label, metric, ties in (
        ("formula, ties wrong", "bleu-1(smoothing=none)", "wrong"),
        ("formula, ties half", "bleu-1(smoothing=none)", "half"),
        ("constants, rounding decides", "bleu-1", "rounding"),
    ):
        for name, few in product(BEFORE, (5, 24)):
            drawn = {count: data.drawn(name, metric, count, ties)["all"] for count in (few, 48)}
            on = f"{name}: {drawn[few].value:.3f}, {drawn[48].value:.3f}"
            rows.append(tested(f"{label}: {few} > 48", on, drawn[few], drawn[48], data.decided(name, "all")))
    return [("claim", "accuracies", *HEADER[2:]), *rows]


def gaming(data: Data) -> list[Sequence[str]]:
    """CIDEr-D resists repetition: what is left of the score of 5,000 captions of people, and how many gain."""
    references = as_references(str(data.folder / "coco-val2017/captions_val2017.json")).to_dict()
    words = dict(zip(references, sacrecap.tokenize([texts[0] for texts in references.values()]), strict=True))
    other_texts = {image: texts[1:] for image, texts in references.items()}
    counts = Counter(
        word for texts in other_texts.values() for word in {w for c in sacrecap.tokenize(texts) for w in c}
    )
    confident = {image: _confident(sacrecap.tokenize(texts), counts) for image, texts in other_texts.items()}
    changes: dict[str, Callable[[str, list[str]], list[str]]] = {
        "as it is": lambda _, words: words,
        "caption twice": lambda _, words: words + words,
        "last three words again": lambda _, words: words + words[-3:],
        "rarest word four times more": lambda _, words: words + 4 * [min(words, key=lambda word: counts[word])],
        "word of the references four times more": lambda image, words: words + 4 * [confident[image]],
    }
    metrics = ("cider-paper", "cider-paper(stem=no)", "cider-d")
    scores = {}
    for label, change in changes.items():
        captions = {image: " ".join(change(image, caption)) for image, caption in words.items()}
        result = sacrecap.score(other_texts, captions, metrics, interval=None)
        scores[label] = {metric: np.asarray(result[metric].per_image) for metric in metrics}
    honest = scores.pop("as it is")
    draws = np.random.default_rng(SEED).integers(len(words), size=(1000, len(words)))
    rows = []
    for label, values in scores.items():
        left = {metric: values[metric].mean() / honest[metric].mean() for metric in metrics}
        gained = {metric: np.mean(values[metric] > honest[metric] + 1e-9) for metric in metrics}
        drawn = [values[metric][draws].mean(1) / honest[metric][draws].mean(1) for metric in ("cider-paper", "cider-d")]
        low, high = np.quantile(drawn[0] - drawn[1], (0.025, 0.975))
        cells = [f"{100 * left[metric]:.0f} %, {100 * gained[metric]:.0f} %" for metric in metrics]
        rows.append((label, *cells, f"{100 * low:.1f} to {100 * high:.1f}"))
    return [("made of a caption", "CIDEr", "without stems", "CIDEr-D", "95% interval, CIDEr − CIDEr-D"), *rows]


def _confident(captions: Sequence[Sequence[str]], counts: Counter[str]) -> str:
    """The word that most of the captions have; of several the rarest elsewhere."""
    documents = Counter(word for caption in captions for word in set(caption))
    return max(sorted(documents), key=lambda word: documents[word] * np.log(5000 / counts[word]))


# Madhyastha et al. (2019)


VIFIDEL = (
    ("vifidel(references=no)", "bleu-4 rouge-l meteor cider-d cider-paper", "MM", None),
    ("vifidel(references=no)", "bleu-4 rouge-l meteor cider-d", "MM", 5),
    ("vifidel", "meteor cider-d", "MM", 1),
    ("vifidel", "vifidel(references=no) meteor cider-d wmd", "MM", None),
    ("combine(vifidel, cider-d)", "vifidel cider-d cider-paper meteor wmd", "MM", None),
    ("combine(vifidel, cider-d)", "vifidel cider-d cider-paper meteor wmd", "all", None),
    ("vifidel(p=1)", "vifidel", "MM", None),
    ("vifidel(p=1)", "vifidel", "all", None),
)
"""What is better than what, on pairs of which category, with how many references."""


def vifidel(data: Data) -> list[Sequence[str]]:
    """Without references as good as others with them; with CIDEr best; p."""
    return [
        HEADER,
        *(
            _versus(data, metric, other, "PASCAL-50S", category, references)
            for metric, rivals, category, references in VIFIDEL
            for other in rivals.split()
        ),
    ]


# Wang and Chan (2019)

PRINTED = {"self-cider": 0.616, "lsa": 0.601, "mbleu-mix": 0.585}
"""Pearson's r with people, of 9 sets of each of 100 images."""


def table_2(data: Data) -> list[Sequence[str]]:
    """Whether the printed correlations differ by more than chance, if the 900 sets were independent, and if 100 are."""
    papers = example.PATH / "papers" / "diversity"
    sets = {
        f"{path.parent.parent.name} {path.stem} {image}": captions
        for path in sorted(papers.glob("*/sets/*.json"))
        for image, captions in json.loads(path.read_text("utf-8")).items()
    }
    frequencies = sacrecap.DocumentFrequency.build(str(data.folder / "coco-val2017/captions_val2017.json"))
    [system] = sacrecap.diversity(sets, None, "diversity", document_frequency=frequencies, interval=None).values()
    scores = {metric: list(system[metric].per_image) for metric in PRINTED}
    rows = []
    for a, b in (("self-cider", "lsa"), ("lsa", "mbleu-mix"), ("self-cider", "mbleu-mix")):
        between = plain(scores[a], scores[b])["pearson"]
        cells = []
        for n in (900, 300, 100):
            test = williams(PRINTED[a], PRINTED[b], between, n)
            assert test is not None
            cells.append(_p(test.p))
        needed = next(
            n
            for n in range(100, 100_000, 20)
            if (t := williams(PRINTED[a], PRINTED[b], between, n)) and abs(t.t) > QUANTILES
        )
        rows.append((f"{a} > {b}", f"{PRINTED[a] - PRINTED[b]:+.3f}", f"{between:.3f}", *cells, f"{needed:,}"))
    return [("claim", "difference of r", "r of the two", "p if n = 900", "n = 300", "n = 100", "sets needed"), *rows]


LAMBDA = {
    "Self-CIDEr falls": ((0.905, 0.808, 0.513, 0.306, 0.273), (0.918, 0.881, 0.812, 0.608, 0.318)),
    "accuracy rises": ((0.718, 0.944, 1.206, 1.484, 1.296), (0.290, 0.394, 0.473, 0.568, 0.820)),
}
"""Printed in figures 17 and 18, for λ of 0, 5, 10, 20 and CIDEr alone."""


def trade_off(_: Data) -> list[Sequence[str]]:
    """Exact test of the rank correlation with λ, within the two images: all 120 orders of each."""
    rows = []
    for claim, images in LAMBDA.items():
        correlations = [_spearman(values) for values in images]
        chance = [_spearman(order) for order in permutations(range(5))]
        sums = np.array([sum(both) for both in product(chance, repeat=2)])
        p = np.mean(np.abs(sums) >= abs(sum(correlations)) - 1e-9)
        rows.append((claim, *(f"{rho:+.2f}" for rho in correlations), _p(float(p))))
    return [("with λ", "ρ, figure 17", "ρ, figure 18", "p of both"), *rows]


def _spearman(values: Sequence[float]) -> float:
    return plain(range(5), list(values))["spearman"]


def people(data: Data) -> list[Sequence[str]]:
    """People stand above captioners in F: against the one whose caption sets we have."""
    path = str(data.folder / "coco-val2017/captions_val2017.json")
    every = as_references(path).to_dict()
    read = json.loads((data.folder / "diversity-5k/sets.json").read_text("utf-8"))
    sets = {image: row["captions"] for row in read if (image := str(row["image_id"])) in every}
    result = sacrecap.diversity(
        {"captioner": sets},
        {image: every[image] for image in sets},
        "self-cider",
        document_frequency=sacrecap.DocumentFrequency.build(path),
        interval=None,
    )
    assert result.human is not None
    draws = np.random.default_rng(SEED).integers(len(sets), size=(SAMPLES, len(sets)))
    persons, captioner = (_of_sets(scores, draws) for scores in (result.human, result["captioner"]))
    rows = [
        tested(
            f"{name}: people > the captioner", f"COCO val2017, {len(sets)} images", scores, captioner[name], len(sets)
        )
        for name, scores in persons.items()
    ]
    return [HEADER, *rows]


def _of_sets(system: SystemDiversity, draws: npt.NDArray[np.int64]) -> Estimates:
    """Diversity, accuracy, and F of their means, as of the whole corpus."""
    means = {}
    for name in ("self-cider", "accuracy"):
        values = np.asarray(system[name].per_image)
        means[name] = np.array([values.mean(), *values[draws].mean(1)])
    diverse, accurate = means.values()
    means["F"] = (1 + BETA2) * diverse * accurate / (BETA2 * diverse + accurate)
    return {name: Estimate(float(values[0]), values[1:], draws.shape[1]) for name, values in means.items()}


CLAIMS: dict[str, Callable[[Data], list[Sequence[str]]]] = {
    "meteor": meteor,
    "variants": variants,
    "references": references,
    "bleu": bleu,
    "gaming": gaming,
    "vifidel": vifidel,
    "table-2": table_2,
    "trade-off": trade_off,
    "people": people,
}

if __name__ == "__main__":
    main()
