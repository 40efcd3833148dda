"""The examples in the docstrings of public things are run."""

from __future__ import annotations

import doctest
from collections.abc import Iterator

import numpy as np
import pytest

import sacrecap
from sacrecap.data import inputs

EXAMPLES = (
    sacrecap.Accumulator,
    sacrecap.CiderDReward,
    sacrecap.Comparison,
    sacrecap.Corpus,
    sacrecap.DocumentFrequency,
    sacrecap.Needs,
    sacrecap.References,
    sacrecap.Resampling,
    sacrecap.Result,
    sacrecap.SceneGraph,
    sacrecap.Score,
    sacrecap.Scorer,
    sacrecap.compare,
    sacrecap.diversity,
    sacrecap.scene_graph,
    sacrecap.scene_graphs,
    sacrecap.score,
    sacrecap.tokenize,
    sacrecap.Result.flat,
    sacrecap.Comparison.pair,
    sacrecap.data.read_candidates,
    sacrecap.data.read_references,
    sacrecap.judgments.rank_references,
)


def found() -> Iterator[doctest.DocTest]:
    finder = doctest.DocTestFinder(recurse=False)
    for thing in EXAMPLES:
        yield from finder.find(thing, thing.__qualname__, globs={"sacrecap": sacrecap, "np": np})


@pytest.mark.parametrize("example", list(found()), ids=lambda example: example.name)
@pytest.mark.filterwarnings("ignore::sacrecap.SacrecapWarning")
def test_an_example_gives_what_it_shows(example: doctest.DocTest) -> None:
    assert example.examples, f"{example.name} has no example"
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(example, out=printed.append)
    assert not runner.failures, "".join(printed)


def test_examples_are_found() -> None:
    assert {example.name for example in found()} == {thing.__qualname__ for thing in EXAMPLES}


def test_every_shape_is_named_in_the_message() -> None:
    for shape in ("image id: caption", "rows", "a list", "DataFrame", "Arrow", "Hugging Face", "path"):
        assert shape in inputs.ACCEPTED
