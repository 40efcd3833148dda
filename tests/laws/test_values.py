"""A metric is a value: it prints, parses back, compares, hashes, and says all of itself in its signature."""

from __future__ import annotations

import ast
import re
from enum import Enum
from itertools import chain, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora import Pairs
from laws.registered import REGISTERED, SCORABLE, few, variations
from sacrecap import metrics
from sacrecap.errors import UsageError
from sacrecap.metrics import METRICS, Meteor, Metric, PythonMetric, Vifidel
from sacrecap.metrics.combine import WeightedMean
from sacrecap.metrics.declared import Parameter, accepts, spell
from sacrecap.metrics.registry import groups, parse_metrics, scores_sets


def replace(metric: Metric, **values: object) -> Metric:
    """The metric with other values, those that its name fixes included."""
    return type(metric)(**{**vars(metric), **values})


def declarations(metric: Metric) -> list[Parameter]:
    """All declared parameters, those that the name fixes included."""
    return [getattr(type(metric), name) for name in vars(metric)]


def free(declared: Parameter) -> bool:
    """Whether the parameter is any text, as the name of a file."""
    return declared.kind is str and declared.choices is None


every_registered = pytest.mark.parametrize("metric", REGISTERED, ids=lambda metric: metric.key)


@st.composite
def any_parameters(draw: st.DrawFn, metric: Metric) -> Metric:
    """The metric with any acceptable parameters."""
    values = {}
    for declared in metric.parameters():
        if declared.choices:
            strategy = st.sampled_from(declared.choices)
        elif declared.kind is bool:
            strategy = st.booleans()
        elif declared.kind is int:
            strategy = st.integers(declared.least, declared.most)
        elif free(declared):
            strategy = st.sampled_from(["default", "glove.txt", "folder/vectors.bin"])
        else:
            least = declared.least if declared.above is None else declared.above
            strategy = st.floats(
                least, declared.most, exclude_min=declared.above is not None, allow_nan=False, allow_infinity=False
            )
        values[declared.name] = draw(strategy)
    return replace(metric, **values)


@every_registered
@few
@given(data=st.data())
def test_the_printed_text_parses_back(metric: Metric, data: st.DataObject) -> None:
    chosen = data.draw(any_parameters(metric))
    assert parse_metrics(chosen.key) == (chosen,)
    assert parse_metrics(str(chosen)) == (chosen,)
    assert parse_metrics(chosen.label) == (chosen,)
    assert parse_metrics(f" {chosen.key} , {chosen}") == (chosen,)


@every_registered
def test_equal_parameters_are_one_value(metric: Metric) -> None:
    for variation in variations(metric):
        again = replace(variation)
        assert variation == again
        assert hash(variation) == hash(again)
    assert len({*variations(metric)}) == len(variations(metric))
    assert len({variation.key for variation in variations(metric)}) == len(variations(metric))


@every_registered
def test_a_metric_is_frozen(metric: Metric) -> None:
    for declared in declarations(metric):
        with pytest.raises(AttributeError):
            setattr(metric, declared.name, getattr(metric, declared.name))
        with pytest.raises(AttributeError):
            delattr(metric, declared.name)


class _Chosen(str, Enum):
    """A choice that is text, and is printed otherwise."""

    ADQ = "adq"
    RELEASED = "released"


def test_a_choice_of_an_enumeration_decides_what_its_text_decides() -> None:
    assert Meteor(task=_Chosen.ADQ) == Meteor(task="adq")
    assert Vifidel(variant=_Chosen.RELEASED) == Vifidel(variant="released")


@every_registered
def test_an_unknown_parameter_is_a_type_error(metric: Metric) -> None:
    with pytest.raises(TypeError, match="no parameter 'nothing'"):
        type(metric)(nothing=1)


@every_registered
def test_defaults_are_left_out_of_the_key_and_spelled_out_in_the_text(metric: Metric) -> None:
    """But a word that says what the metric does is always in the key, and never has a name: `judge(rating)`."""
    bare = [spell(getattr(metric, declared.name)) for declared in metric.parameters() if declared.bare]
    assert metric.key == metric.name + (f"({bare[0]})" if bare else "")
    for variation in variations(metric):
        for declared in variation.parameters():
            name = "" if declared.bare else f"{declared.name}="
            assert f"{name}{spell(getattr(variation, declared.name))}" in str(variation)


@every_registered
def test_what_a_parameter_does_not_accept_is_named(metric: Metric) -> None:
    refused: tuple[object, ...] = (float("nan"), float("inf"), None, "…", [], -1)
    for declared, value in product(declarations(metric), refused):
        if value is None and declared.default is None:
            continue  # the metric fills it in
        if isinstance(value, str) and free(declared):
            continue
        with pytest.raises(UsageError) as caught:
            replace(metric, **{declared.name: value})
        assert str(caught.value) == f"{metric.title}: {declared.name} must be {accepts(declared)}, got {value!r}"


@pytest.mark.parametrize("text", ["inf", "nan", "1e999", "-1", "x", ""])
def test_what_a_parameter_does_not_accept_is_named_where_it_was_parsed(text: str) -> None:
    for metric in REGISTERED:
        for declared in metric.parameters():
            if free(declared) and text:
                continue
            with pytest.raises(UsageError, match=f"{declared.name} must be"):
                parse_metrics(f"{metric.name}({declared.name}={text})")


@every_registered
def test_a_metric_describes_itself(metric: Metric) -> None:
    assert metric.summary.endswith(".")
    assert all((metric.title, metric.equation, metric.source, metric.needs))
    assert metric.arithmetic or isinstance(metric, (PythonMetric, WeightedMean))
    assert metric.nothing
    assert all(declared.meaning for declared in declarations(metric))


def test_names_are_unique_and_groups_hold_registered_metrics() -> None:
    assert not METRICS.keys() & groups().keys()
    assert {*chain(*groups().values())} == {*METRICS} - {"judge", "rubric", "vendi"}, "nobody gets them unasked"
    for name, members in groups().items():
        assert tuple(metric.name for metric in parse_metrics(name)) == members


@pytest.mark.parametrize("name", METRICS)
def test_a_row_says_of_a_metric_what_its_class_does(name: str) -> None:
    [metric] = parse_metrics(name)
    assert (metric.name, type(metric).__module__) == (name, f"sacrecap.metrics.{METRICS[name][0].partition(':')[0]}")
    assert scores_sets(name) == metric.scores_sets
    assert ("all" in METRICS[name][2].split()) == (not metric.scores_sets and name not in ("judge", "rubric"))


def test_every_native_arithmetic_is_that_of_a_metric() -> None:
    native = (Path(__file__).parents[2] / "rust/core/src/metrics/mod.rs").read_text(encoding="utf-8")
    kernels = re.findall(r'^    \("([\w-]+)", (?:\w+|\|parameters\| \w+)::build.*\),$', native, re.MULTILINE)
    assert {*kernels} == {metric.arithmetic for metric in REGISTERED} - {""}


def test_type_checkers_see_the_public_names() -> None:
    """The one list beside the table: checkers do not run it."""
    [imports] = [node for node in ast.parse(Path(metrics.__file__).read_text()).body if isinstance(node, ast.If)]
    seen = [one.names[0] for one in imports.body if isinstance(one, ast.ImportFrom)]
    assert [one.name for one in seen] == [one.asname for one in seen]
    assert {one.name for one in seen} == {*metrics.__all__}
    assert all(getattr(metrics, name).__name__ == name for name in metrics.__all__)


def test_signatures_are_unique_and_hold_every_parameter() -> None:
    corpus = Pairs(("a b", "c"), (("a b",), ("c", "d")))
    chosen = tuple(chain(*map(variations, SCORABLE)))
    scores = corpus.score(chosen)
    signatures = {score.signature: score.metric for score in scores.values()}
    assert len(signatures) == len(chosen)
    for signature, metric in signatures.items():
        name, *parts = signature.split("|")
        names = [part.partition(":")[0] for part in parts]
        assert isinstance(metric, WeightedMean) or len(names) == len({*names}), f"a part twice in {signature}"
        [meant] = parse_metrics(name)
        for declared in metric.parameters():
            if declared.name in metric.resolved:  # by digest
                assert declared.name in names
            else:
                assert getattr(meant, declared.name) == getattr(metric, declared.name)
        assert ("df:corpus(2)" in parts) == metric.uses_document_frequency
        assert parts[0] == "images:2/2"
        assert ("refs" in names) == metric.needs_references
        assert ("tok:none" in parts) == metric.reads_tokens
        assert parts[-1].startswith("sacrecap:")
