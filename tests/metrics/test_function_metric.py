"""Metrics of functions: `@sacrecap.metric` in a program, and in a file that the command line is given."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from runner import Runner
from sacrecap import example
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics import parameter, registry
from sacrecap.metrics.function import FunctionMetric
from sacrecap.metrics.plugins import load_plugin
from sacrecap.rewards import CaptionReward

REFERENCES = {"1": ["A dog runs.", "a dog"], "2": ["a red bus"], "3": ["two cats"]}
CANDIDATES = {"1": "A dog, sleeping.", "2": "a red bus", "3": "trees"}

PLUGIN = """
import sacrecap

@sacrecap.metric
def shared_words(references, candidate, *, power=1.0):
    "The candidate's words are a reference's."
    known = {word for reference in references for word in reference.split()}
    words = candidate.split()
    return (sum(word in known for word in words) / max(len(words), 1)) ** power
"""


@pytest.fixture(autouse=True)
def plugins_of_a_test() -> Iterator[None]:
    """What a test loads is gone after it."""
    yield
    for name in [name for name in sys.modules if name.startswith("sacrecap_plugin_")]:
        del sys.modules[name]


def share(references: list[str], candidate: str) -> float:
    known = {word for reference in references for word in reference.split()}
    words = candidate.split()
    return sum(word in known for word in words) / max(len(words), 1)


def values(metric: type[FunctionMetric] | str, **given: Any) -> list[float]:
    named = metric if isinstance(metric, str) else [metric()]
    result = sacrecap.score(REFERENCES, CANDIDATES, named, interval=None, **given)
    [score] = result.values()
    return [float(value) for value in score.per_image]


def test_one_caption_all_at_once_and_rows_give_the_same() -> None:
    @sacrecap.metric
    def one(candidate: str, references: list[str]) -> float:
        return share(references, candidate)

    @sacrecap.metric
    def together(references: list[list[str]], candidates: list[str]) -> list[float]:
        return list(map(share, references, candidates))

    @sacrecap.metric(formula=lambda sums: sums[0] / sums[1])
    def rows(references: list[str], candidate: str) -> tuple[float, float]:
        return share(references, candidate), 1.0

    assert values(one) == values(together) == values(rows) == pytest.approx([2 / 3, 1.0, 0.0])
    assert values("one") == values(one)


def test_captions_as_tokens_and_as_given() -> None:
    seen: list[tuple[list[str], str]] = []

    @sacrecap.metric
    def tokens(references: list[str], candidate: str) -> float:
        seen.append((references, candidate))
        return 0.0

    @sacrecap.metric(captions="given")
    def given(references: list[str], candidate: str) -> float:
        seen.append((references, candidate))
        return 0.0

    values(tokens)
    assert seen[0] == (["a dog runs", "a dog"], "a dog sleeping")
    seen.clear()
    values(given)
    assert seen[0] == (["A dog runs.", "a dog"], "A dog, sleeping.")
    with pytest.raises(UsageError, match="captions must be tokens or given, got 'raw'"):
        sacrecap.metric(captions="raw")


def test_parameters_have_the_bounds_that_are_declared() -> None:
    @sacrecap.metric(upper=1.0)
    def powered(
        references: list[str],
        candidate: str,
        *,
        power: float = parameter("exponent", default=1.0, above=0.0),
        times: int = 1,
    ) -> float:
        return share(references, candidate) ** power * times

    assert str(powered(power=2)) == "powered(power=2, times=1)"
    assert values("powered(power=2, times=3)") == pytest.approx([3 * (2 / 3) ** 2, 3.0, 0.0])
    with pytest.raises(UsageError, match="power must be a number above 0, got 0"):
        powered(power=0)
    with pytest.raises(UsageError, match="no parameter 'p'; its parameters: power, times"):
        registry.parse_metrics("powered(p=1)")


def test_needs_are_given_by_name_and_change_the_signature() -> None:
    @sacrecap.metric
    def named(candidate: str, *, colours: list[str]) -> float:
        return float(any(colour in candidate for colour in colours))

    assert values(named, needs={"colours": ["red"]}) == [0.0, 1.0, 0.0]
    with pytest.raises(UsageError, match=r"named needs colours: needs=\{'colours': …\}"):
        values(named)
    signatures = {
        sacrecap.score(REFERENCES, CANDIDATES, [named()], needs={"colours": [one]})["named"].signature
        for one in ("red", "blue")
    }
    assert len(signatures) == 2


def test_a_metric_of_sets() -> None:
    @sacrecap.metric
    def longest(captions: list[str]) -> float:
        return float(max(len(caption.split()) for caption in captions))

    sets = {"s": {"1": ["a", "a b"], "2": ["a", "a b c d"]}}
    assert sacrecap.diversity(sets, metrics=[longest()], interval=None)["s"]["longest"].value == 3


def test_intervals_comparison_and_rewards_take_it() -> None:
    @sacrecap.metric(lower_is_better=True)
    def missing(references: list[str], candidate: str) -> float:
        return 1 - share(references, candidate)

    compared = sacrecap.compare(example.references(), example.systems(), "missing", samples=200)
    ranked = compared.ranking("missing")
    scores = [compared[name]["missing"].value for name in ranked]
    assert scores == sorted(scores)
    assert compared[ranked[0]]["missing"].interval is not None
    reward = CaptionReward(REFERENCES, "missing")
    assert reward(["a dog", "a cat"], ["1", "1"]) == [0.0, -0.5]


def test_a_cell_that_runs_again_takes_the_place_of_the_metric() -> None:
    for value in (1.0, 2.0):

        @sacrecap.metric
        def constant(candidate: str) -> float:
            return value  # noqa: B023

    assert values("constant") == [2.0] * 3
    with pytest.raises(UsageError, match="there is a metric or group of that name already"):

        @sacrecap.metric(name="constant")
        def other(candidate: str) -> float:
            return 0.0


def takes_nothing() -> float:
    return 0.0


def takes_any(*captions: str) -> float:
    return 0.0


def has_a_list(candidate: str, words: Any = []) -> float:  # noqa: B006
    return 0.0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (takes_nothing, "takes_nothing takes no captions; name its parameters references, candidate"),
        (takes_any, r"takes_any: \*captions.* cannot be given by its name"),
        (has_a_list, r"has_a_list: the default of words is \[\]; a parameter of a metric is a number, text"),
    ],
)
def test_functions_that_cannot_be_metrics(function: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sacrecap.metric(function)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "for image '1' it returned None; expected a number"),
        ("x", "for image '1' it returned 'x'; expected a number"),
        (float("nan"), "the statistics of image '1' are nan, 1.0; they must be finite numbers"),
        (ValueError("no"), r"answers \(module .*\) raised ValueError at .*test_function_metric.py, line \d+: no"),
    ],
)
def test_answers_that_are_no_scores_are_named(answer: Any, message: str) -> None:
    @sacrecap.metric
    def answers(candidate: str) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(DataError, match=message):
        values(answers)


def test_too_few_answers_and_answers_that_depend_on_others_are_named() -> None:
    @sacrecap.metric
    def few(candidates: list[str]) -> list[float]:
        return [0.0]

    @sacrecap.metric
    def relative(candidates: list[str]) -> list[float]:
        return [len(one) / max(map(len, candidates)) for one in candidates]

    with pytest.raises(DataError, match="few: it was given 3 candidates and returned 1 scores; expected one per"):
        values(few)
    with pytest.raises(DataError, match=r"relative .* gives image '2' .* among 3 images and \(1.0, 1.0\) alone"):
        values(relative)


@pytest.mark.parametrize("place", [0, 2, 4])
def test_each_end_and_the_middle_are_tried_alone(place: int) -> None:
    @sacrecap.metric
    def counts(candidates: list[str]) -> list[float]:
        return [float(len(candidates)) if number == place else 1.0 for number in range(len(candidates))]

    names = [str(number) for number in range(5)]
    with pytest.raises(DataError, match=f"counts .* gives image '{place}' .* among 5 images"):
        sacrecap.score({name: ["a"] for name in names}, dict.fromkeys(names, "a"), [counts()])


def test_another_text_of_the_function_is_another_signature() -> None:
    signatures = set()
    for number in (1, 2):
        program: dict[str, Any] = {"__name__": "program"}
        exec(f"def same(candidate):\n    return {number}.0\n", program)  # noqa: S102
        [score] = sacrecap.score(REFERENCES, CANDIDATES, [sacrecap.metric(program["same"])()], interval=None).values()
        signatures.add(score.signature)
    assert len(signatures) == 2


def test_a_plug_in_that_was_refused_is_refused_again(tmp_path: Path) -> None:
    plugin = tmp_path / "words.py"
    plugin.write_text("x = 1\n")
    for _ in range(2):
        with pytest.raises(UsageError, match="makes no metric"):
            load_plugin(plugin)
    plugin.write_text(PLUGIN)  # mended in the same session
    load_plugin(plugin)
    assert registry.parse_metrics("shared-words")


def test_a_plug_in_on_the_command_line(run: Runner, tmp_path: Path) -> None:
    plugin = tmp_path / "words.py"
    plugin.write_text(PLUGIN)
    files = example.references_path(), example.system_path("careful")
    scored = run.here(
        "score", *files, "--plugin", plugin, "--metrics", "shared-words(power=2),rouge-l", "--format", "json"
    )
    assert scored.status == 0, scored.stderr
    found = json.loads(scored.stdout)
    assert list(found["scores"]) == ["shared-words(power=2)", "rouge-l"]
    assert "|code:" in found["signatures"]["shared-words(power=2)"]
    assert found["intervals"]["shared-words(power=2)"][0] < found["scores"]["shared-words(power=2)"]
    listing = run.here("metrics", "--plugin", plugin)
    assert "From plug-in words.py:\nshared-words  The candidate's words are a reference's.\n" in listing.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file"),
        ("x = 1\n", "makes no metric: put @sacrecap.metric before a function"),
        ("x = 1\nx.y\n", "line 2: AttributeError: 'int' object has no attribute 'y'"),
        ("def f(:\n", "line 1: SyntaxError: "),
        (PLUGIN.replace("shared_words", "bleu_4"), "there is a metric or group of that name already"),
    ],
)
def test_plug_ins_that_cannot_be_used(text: str | None, message: str, run: Runner, tmp_path: Path) -> None:
    plugin = tmp_path / "words.py"
    if text is not None:
        plugin.write_text(text)
    ended = run.here("metrics", "--plugin", plugin)
    assert ended.status == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


def test_metrics_of_a_plug_in_go_to_other_processes(tmp_path: Path) -> None:
    plugin = tmp_path / "words.py"
    plugin.write_text(PLUGIN)
    load_plugin(plugin)
    load_plugin(plugin)  # once more changes nothing
    [metric] = registry.parse_metrics("shared-words(power=2)")
    assert pickle.loads(pickle.dumps(metric)) == metric
    result = sacrecap.score(REFERENCES, CANDIDATES, [metric], interval=None)
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer)['shared-words(power=2)'].value)"
    ended = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(result), capture_output=True, check=True)
    assert float(ended.stdout) == result["shared-words(power=2)"].value


def test_as_the_accuracy_of_people_each_caption_is_compared_with_the_others() -> None:
    """ROUGE-L fed back through Python gives ROUGE-L, for people too."""
    seen: list[tuple[str, list[str]]] = []

    @sacrecap.metric(captions="given")
    def again(references: list[str], candidate: str) -> float:
        seen.append((candidate, references))
        score = sacrecap.score({"x": references}, {"x": candidate}, "rouge-l", interval=None)["rouge-l"]
        return float(score.value)

    sets = {"s": {"1": ["a dog", "dogs"], "2": ["a bus", "red"]}}
    references = {"1": ["A dog runs", "the Dog", "a cat."], "2": ["a red bus", "the bus"]}
    own, native = (
        sacrecap.diversity(sets, references, metrics="lsa", accuracy=metric, interval=None)
        for metric in ("again", "rouge-l")
    )
    assert own.human is not None
    assert native.human is not None
    assert ("the Dog", ["A dog runs", "a cat."]) in seen
    assert own.human["accuracy"].value == pytest.approx(native.human["accuracy"].value)
    assert own["s"]["accuracy"].value == pytest.approx(native["s"]["accuracy"].value)
