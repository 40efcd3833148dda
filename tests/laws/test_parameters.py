"""Every declared parameter means something, and the native arithmetic accepts what its declaration accepts."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sets as sets_of
from corpora import WORDS, Pairs
from laws.registered import ELSEWHERE, REGISTERED, other_values, variations
from sacrecap.errors import UsageError
from sacrecap.metrics import Metric
from sacrecap.metrics.declared import Parameter

# Different lengths, words and stems in common, repeats, words of every image and of one, no word in common; an object
# that only the second reference names.
CORPUS = Pairs(
    (
        "a happy dog runs and runs along the beach",
        "the dogs running happily in the city",
        "two cats",
        "the dog the dogs the runs of a city and a dog",
        "birds",
        "a dog",
        "the dogs running happily in the city",
    ),
    (
        ("a dog is running along the beach happily", "the dog runs"),
        ("the dog ran in cities", "a city of happy dogs running in the city"),
        ("two birds and a cat on the beach", "cats"),
        ("the dog runs in the city", "dogs run and a dog runs"),
        ("a cat", "the cats"),
        ("the cat", "a dog"),
        ("the cat", "a dog"),
    ),
)
PROSE = Pairs(
    ("two dogs . on the beach", "the men", "men", "a sofa", "a beach without a dog and a cat", "a dog. a cat on a bus"),
    (("two dogs on the beach",), ("a person",), ("a dog",), ("a couch",), ("a dog",), ("a dog and a cat",)),
)
"""What is not in `CORPUS`: sentences, irregular plurals, synonyms, what is denied or cut off."""
OF_PROSE = ("sentences", "lemmas", "synonyms", "denied", "unfinished")
SETS = {
    "1": ["a dog runs along the beach", "the dogs run on a beach", "a happy dog is running", "a dog runs"],
    "2": ["two birds in the city", "two birds in the cities", "birds", "a bird is flying over the city and over it"],
    "3": ["the cat", "the cats sleeping on a sofa and on a chair", "a sofa"],
}

DECLARED = [
    (metric, declared) for metric in REGISTERED if not isinstance(metric, ELSEWHERE) for declared in metric.parameters()
]
every_parameter = pytest.mark.parametrize(
    ("metric", "declared"), DECLARED, ids=[f"{metric.key}-{declared.name}" for metric, declared in DECLARED]
)


def per_image(metric: Metric, corpus: Pairs) -> list[float]:
    if metric.scores_sets:
        return list(sets_of.score(SETS, metric)[metric.key].per_image)
    return list(corpus.score(metric)[metric.key].per_image)


IDLE = {("div-1", "over"): "a caption has as many 1-grams as words"}
"""Parameters that change no score of a metric, and why; the same class has them for other names."""


@every_parameter
def test_every_parameter_changes_some_score(metric: Metric, declared: Parameter, tmp_path: Path) -> None:
    """Beside the defaults of the others, or beside another value of one of them: some act together."""
    corpus = PROSE if declared.name in OF_PROSE else CORPUS
    pairs = ((per_image(one, corpus), per_image(other, corpus)) for one, other in changes(metric, declared, tmp_path))
    changed = any(not np.array_equal(one, other, equal_nan=True) for one, other in pairs)
    assert changed is ((metric.key, declared.name) not in IDLE)


def changes(metric: Metric, declared: Parameter, folder: Path) -> Iterator[tuple[Metric, Metric]]:
    """Pairs of metrics that differ in this parameter, and in those whose defaults follow it."""
    for base in variations(metric):
        others = {p.name: getattr(base, p.name) for p in metric.parameters() if p.name != declared.name}
        given = {name: value for name, value in others.items() if value != getattr(metric, name)}
        for value in values(metric, declared, folder):
            yield base, metric.with_parameters({**given, declared.name: value})


def values(metric: Metric, declared: Parameter, folder: Path) -> list[Any]:
    if declared.name == "vocabulary":
        (folder / "others.txt").write_text("city\nbeach, sand\n")
        return [str(folder / "others.txt")]
    if declared.name != "embeddings":
        return list(other_values(declared, getattr(metric, declared.name)))
    vectors = np.random.default_rng(1).normal(size=(len(WORDS), 3))
    np.savez(folder / "others.npz", words=np.array(WORDS), vectors=vectors)
    return [str(folder / "others.npz")]


NUMBERS = [
    (metric, declared)
    for metric in REGISTERED
    for declared in (getattr(type(metric), name) for name in vars(metric))
    if declared.kind in (int, float) and metric.arithmetic
]


@pytest.mark.parametrize(
    ("metric", "declared"), NUMBERS, ids=[f"{metric.key}-{declared.name}" for metric, declared in NUMBERS]
)
def test_the_native_bounds_are_the_declared_ones(
    metric: Metric, declared: Parameter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def accepts(base: Metric, value: float) -> bool:
        """Whether the native arithmetic does, where nothing checks the value before."""
        given = {**base.kernel_parameters(), declared.name: float(value)}
        with monkeypatch.context() as patched:
            patched.setattr(type(base), "kernel_parameters", lambda _: given)
            try:
                per_image(base, CORPUS)
            except UsageError as error:
                assert f"parameter {declared.name} must be a" in str(error)
                return False
        return True

    for inside, outside in bounds(declared):
        assert (declared.fits(inside), declared.fits(outside)) == (True, False)
        # A parameter that has no part in the metric with its other defaults is not looked at there.
        base = next((base for base in variations(metric) if not accepts(base, outside)), None)
        assert base is not None, f"{outside} is accepted"
        assert accepts(base, inside), f"{inside} is refused"


def bounds(declared: Parameter) -> Iterator[tuple[float, float]]:
    """Values just inside and just outside of each bound; a number without a bound is finite."""
    least, most = declared.least, declared.most
    if declared.kind is int:
        assert least is not None
        assert most is not None
        yield from [(least, least - 1), (most, most + 1), (least, least + 0.5)]
        return
    if declared.above is not None:
        yield math.nextafter(declared.above, math.inf), declared.above
    else:
        assert least is not None
        yield least, math.nextafter(least, -math.inf)
    yield (sys.float_info.max, math.inf) if most is None else (most, math.nextafter(most, math.inf))
