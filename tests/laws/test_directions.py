"""Whatever compares systems prefers the better one: where lower is better too, and nobody where both are equal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from laws.registered import COMBINATION, REGISTERED, SCORABLE, variations
from runner import Runner
from sacrecap import Comparison
from sacrecap.judgments import Agreement, Ranking, agreement, rank_references
from sacrecap.metrics import Metric
from sacrecap.rewards import CaptionReward, SetReward

WORLD = {
    "dog": ("a brown dog runs along the sandy beach", "a dog runs along the beach"),
    "bus": ("a red bus stops in a busy street", "a red bus waits in a busy street"),
    "cat": ("a grey cat sleeps on the old sofa", "a cat sleeps on the sofa"),
    "horse": ("a white horse stands in a green meadow", "a white horse grazes in a green meadow"),
    "apple": ("the little girl eats a ripe apple", "the girl eats a ripe apple"),
    "boat": ("two men row a small boat to the island", "two men row a boat to an island"),
    "train": ("a long train crosses the high bridge", "a train crosses the high bridge"),
    "bird": ("a tiny bird sings in the tall tree", "a tiny bird sings in a tree"),
    "pizza": ("three friends share a large pizza for dinner", "friends share a large pizza for dinner"),
    "clock": ("an old clock hangs on the brick wall", "a clock hangs on the brick wall"),
    "kite": ("a child flies a yellow kite over the hill", "a child flies a kite over the hill"),
    "laptop": ("a student types on a black laptop all night", "a student types on a laptop all night"),
}
"""Images by the object in them, with two references each: 12 are the fewest that leave no metric in doubt."""
REFERENCES = {image: list(captions) for image, captions in WORLD.items()}
OBJECTS = {image: [image] for image in WORLD}
GOOD = {image: captions[0] for image, captions in WORLD.items()}
POOR = {
    image: " ".join(reversed(GOOD[other].split()))
    for image, other in zip(WORLD, [*list(WORLD)[1:], *list(WORLD)[:1]], strict=True)
}
"""What another image shows, the words in reverse order."""
NOTHING = dict.fromkeys(WORLD, "zyxᚠ wvuᚠ tsrᚠ jxqᚠ vqzᚠ")
AS_LITTLE = dict.fromkeys(WORLD, "qpoᚠ nmlᚠ kjiᚠ qzxᚠ xvjᚠ")
"""Words that no reference, no table and no vocabulary has."""

TURNED = tuple(
    other for metric in SCORABLE for other in variations(metric) if other.lower_is_better != metric.lower_is_better
)
METRICS = (*SCORABLE, *TURNED, COMBINATION)
COMPARING = tuple(metric for metric in METRICS if not any(part.trained_on_references for part in metric.parts))
OF_SETS = tuple(metric for metric in REGISTERED if metric.scores_sets)

every_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
every_comparing_metric = pytest.mark.parametrize("metric", COMPARING, ids=lambda metric: metric.key)
every_metric_of_sets = pytest.mark.parametrize("metric", OF_SETS, ids=lambda metric: metric.key)

pytestmark = pytest.mark.filterwarnings("ignore::sacrecap.errors.SacrecapWarning")


@pytest.fixture(scope="module", params=["the default test", "bootstrap"])
def compared(request: pytest.FixtureRequest) -> Comparison:
    """Good captions twice, poor ones, and two systems that say nothing anybody knows, in an order that helps nobody."""
    systems = {"nothing": NOTHING, "poor": POOR, "good": GOOD, "as little": AS_LITTLE, "as good": GOOD}
    chosen: dict[str, Any] = {} if request.param == "the default test" else {"test": request.param}
    return sacrecap.compare(REFERENCES, systems, METRICS, objects=OBJECTS, correction="none", **chosen)


def test_both_directions_occur() -> None:
    assert {metric.family for metric in METRICS if metric.lower_is_better} >= {"chair-i", "chair-s", "wmd", "vifidel"}
    assert {metric.lower_is_better for metric in OF_SETS} == {True, False}


@every_metric
def test_the_better_system_wins(compared: Comparison, metric: Metric) -> None:
    pair = compared.pair("good", "poor", metric.key)
    assert pair.delta == compared["good"][metric.key].value - compared["poor"][metric.key].value
    assert (pair.delta < 0) == metric.lower_is_better
    assert pair.delta != 0
    assert pair.interval is not None
    assert (pair.interval[1] < 0) if metric.lower_is_better else (pair.interval[0] > 0)
    assert pair.significant
    assert compared.ranking(metric.key).index("good") < compared.ranking(metric.key).index("poor")
    ranks = compared.ranks(metric.key)
    # Both ends are in order. The ranges may overlap where a third system is told apart from one of the two alone.
    assert all(good < poor for good, poor in zip(ranks["good"], ranks["poor"], strict=True))


@every_metric
def test_equal_systems_are_not_told_apart(compared: Comparison, metric: Metric) -> None:
    pair = compared.pair("good", "as good", metric.key)
    assert (pair.delta, pair.p, pair.p_corrected, pair.significant) == (0, 1, 1, False)
    assert pair.interval == (0, 0)
    ranks = compared.ranks(metric.key)
    assert ranks["good"] == ranks["as good"]
    assert ranks["good"][1] - ranks["good"][0] >= 1


@every_metric
def test_systems_that_score_the_same_by_other_words_are_not_told_apart(compared: Comparison, metric: Metric) -> None:
    """Mostly 0, which no rounding separates from 0."""
    one, other = (compared[name][metric.key] for name in ("nothing", "as little"))
    assert one.per_image.tolist() == other.per_image.tolist()
    pair = compared.pair("nothing", "as little", metric.key)
    assert (pair.delta, pair.p, pair.significant) == (0, 1, False)
    ranks = compared.ranks(metric.key)
    assert ranks["nothing"] == ranks["as little"]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, bool], dict[str, bool]]:
    """What passes `sacrecap check`, metric by metric: by system, system of the baseline, and whether it is tested."""
    run = Runner(tmp_path_factory.mktemp("check"))
    systems = {"good": GOOD, "poor": POOR, "nothing": NOTHING, "as little": AS_LITTLE}
    for name, content in {"references": REFERENCES, "objects": OBJECTS, **systems}.items():
        (run.folder / f"{name}.json").write_text(json.dumps(content))
    given = ("--objects", "objects.json", "--quiet")
    named = ",".join(metric.key for metric in METRICS)
    for name in systems:
        scored = ("score", "references.json", f"{name}.json", "--metrics", named, "--interval", "none", *given)
        assert run.here(*scored, "--baseline", f"{name} before.json").status == 0
        document = json.loads((run.folder / f"{name} before.json").read_text())
        (run.folder / f"{name} untested.json").write_text(json.dumps({**document, "captions": None}))
    found = {}
    pairs = [("good", "poor"), ("poor", "good"), ("good", "good"), ("as little", "nothing")]
    for now, before in pairs:
        for tested in (True, False):
            baseline = f"{before} {'before' if tested else 'untested'}.json"
            ended = run.here(
                "check", "references.json", f"{now}.json", "--against", baseline, "--format", "json", *given
            )
            checks = json.loads(ended.stdout)["checks"]
            assert ended.status == (0 if all(own["passed"] for own in checks) else 3)
            found[now, before, tested] = {own["metric"]: own["passed"] for own in checks}
    return found


@every_metric
@pytest.mark.parametrize("tested", [True, False], ids=["tested", "scores alone"])
def test_check_refuses_the_worse_system_only(
    checked: dict[tuple[str, str, bool], dict[str, bool]], metric: Metric, tested: bool
) -> None:
    assert not checked["poor", "good", tested][metric.key]
    assert checked["good", "poor", tested][metric.key]
    assert checked["good", "good", tested][metric.key]
    assert checked["as little", "nothing", tested][metric.key]


def lines(pairs: list[tuple[str, str, str]]) -> Iterator[str]:
    """Judged pairs as a file has them: B, C and the winner, for each image in turn."""
    for image, (b, c, winner) in zip(WORLD, pairs, strict=True):
        yield json.dumps({"image_id": image, "references": REFERENCES[image], "b": b, "c": c, "winner": winner}) + "\n"


def judged(folder: Path, pairs: list[tuple[str, str, str]], **options: Any) -> Agreement:
    path = folder / "pairs.jsonl"
    path.write_text("".join(lines(pairs)))
    return agreement(path, METRICS, objects=OBJECTS, interval=None, **options)


def accuracies(found: Agreement) -> dict[str, float]:
    return {measured.name: measured.statistics["all"].value for measured in found.measured}


@pytest.fixture(scope="module")
def predicted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """Accuracy by what people preferred and by metric: the better caption is B in half of the pairs."""
    turns = [number % 2 == 0 for number in range(len(WORLD))]
    better = [
        (GOOD[image], POOR[image], "b") if first else (POOR[image], GOOD[image], "c")
        for image, first in zip(WORLD, turns, strict=True)
    ]
    worse = [(b, c, "c" if winner == "b" else "b") for b, c, winner in better]
    equal = [(GOOD[image], GOOD[image], "b" if first else "c") for image, first in zip(WORLD, turns, strict=True)]
    folder = tmp_path_factory.mktemp("agreement")
    return {
        "better": accuracies(judged(folder, better)),
        "worse": accuracies(judged(folder, worse, ties="half")),
        "equal": accuracies(judged(folder, equal)),
        "equal, by half": accuracies(judged(folder, equal, ties="half")),
    }


@every_comparing_metric
def test_agreement_prefers_the_better_caption(predicted: dict[str, dict[str, float]], metric: Metric) -> None:
    assert {name: own[metric.key] for name, own in predicted.items()} == {
        "better": 1,
        "worse": 0,
        "equal": 0,
        "equal, by half": 0.5,
    }


@pytest.fixture(scope="module")
def correlated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Kendall's τ-b with people, who rate the good captions higher, by metric."""
    path = tmp_path_factory.mktemp("ratings") / "ratings.jsonl"
    rows = [
        {"image_id": image, "references": REFERENCES[image], "caption": captions[image], "rating": rating}
        for captions, rating in ((GOOD, 5), (POOR, 1))
        for image in WORLD
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = agreement(path, METRICS, objects=OBJECTS, interval=None)
    return {measured.name: measured.statistics["kendall_b"].value for measured in found.measured}


@every_metric
def test_correlations_with_people_are_above_0(correlated: dict[str, float], metric: Metric) -> None:
    assert correlated[metric.key] > 0.5


@pytest.fixture(scope="module")
def ranked() -> Ranking:
    """Two references that say the same and a third of something else, which stands between them."""
    captions = {image: [GOOD[image], POOR[image], GOOD[image]] for image in WORLD}
    return rank_references(captions, metrics=METRICS, objects=OBJECTS)


@every_comparing_metric
def test_references_that_others_agree_with_come_first(ranked: Ranking, metric: Metric) -> None:
    for image in WORLD:
        assert [one.ranks[metric.key] for one in ranked.images[image]] == [1, 3, 1]
        assert [one.number for one in ranked.order(image, metric.key)] == [0, 2, 1]


@every_comparing_metric
def test_the_better_caption_is_rewarded(metric: Metric) -> None:
    reward = CaptionReward(REFERENCES, metric, objects=OBJECTS)
    good, poor, again = (reward(list(captions.values()), list(WORLD)) for captions in (GOOD, POOR, GOOD))
    assert all(better > worse for better, worse in zip(good, poor, strict=True))
    assert good == again


@every_metric_of_sets
def test_the_caption_that_says_something_else_is_rewarded(metric: Metric) -> None:
    captions = [GOOD["dog"], GOOD["bus"], GOOD["dog"], GOOD["dog"]]
    first, other, second, third = SetReward(REFERENCES, metric, num_generations=4)(captions, ["dog"] * 4)
    assert other > first
    assert first == pytest.approx(second)
    assert first == pytest.approx(third)
