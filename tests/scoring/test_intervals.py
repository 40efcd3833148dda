"""Intervals other than the percentile bootstrap's, and the notes beside them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import sacrecap
from corpora import Pairs, pairs
from sacrecap import _core, example
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import UsageError, words_of_command_line
from sacrecap.metrics.registry import parse_metrics
from sacrecap.scoring.intervals import (
    Resampling,
    intervals,
    jackknife,
    jackknife_differences,
    notes,
    of_best,
    opened,
    student,
    widened,
)
from sacrecap.scoring.score import score_corpus

METRICS = "bleu-4,rouge-l,cider-d,combine(bleu-1, rouge-l)"


def slow_jackknife(rows: _core.Statistics, level: float) -> tuple[float, float]:
    count = rows.rows
    without = [rows.select([other for other in range(count) if other != one]).score() for one in range(count)]
    error = np.std(without) * np.sqrt(count - 1)
    reach = stats.t.ppf((1 + level) / 2, count - 1) * error
    return max(rows.score() - reach, 0.0), rows.score() + reach


@given(corpus=pairs(), level=st.floats(0.01, 0.99))
def test_the_jackknife_equals_the_slow_one(corpus: Pairs, level: float) -> None:
    metrics = parse_metrics(METRICS)
    found = [score.statistics for score in corpus.score(metrics).values()]
    if found[0].rows == 1:
        with pytest.raises(UsageError, match="the interval method jackknife takes two images or more, and here is one"):
            intervals(found, metrics, Resampling(level, "jackknife"))
        return
    together = intervals(found, metrics, Resampling(level, "jackknife"))
    for metric, rows, interval in zip(metrics, found, together, strict=True):
        low, high = slow_jackknife(rows, level)
        assert interval == pytest.approx((low, min(high, metric.largest or high)), rel=1e-6, abs=1e-7)


def test_how_a_call_tells_its_uncertainty_does_not_change() -> None:
    how = Resampling(seed=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        how.seed = 2  # type: ignore[misc]
    assert {how, Resampling(seed=1)} == {how}, "what is equal is one in a set"


def test_students_quantiles_are_scipys() -> None:
    for freedom in (*range(1, 31), 99, 100, 199, 200, 201, 500, 1000, 10**4, 10**6):
        for share in (0.5, 0.6, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9995, 0.999995):
            assert student(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-8, abs=1e-12)


@pytest.mark.soak
def test_the_jackknife_covers_where_the_percentile_bootstrap_does_not(
    record_property: Callable[[str, object], None],
) -> None:
    """ROUGE-L of 10 images of the example, drawn again and again: 95 % intervals hold the score of all 60."""
    metrics = parse_metrics("rouge-l")
    corpus = Corpus(example.references(), example.systems()["plain"])
    [rows] = [score.statistics for score in score_corpus(corpus, metrics).values()]
    random = np.random.default_rng(0)
    held = {"plain percentile": 0, "percentile": 0, "jackknife": 0}
    for seed in range(600):
        some = rows.select(random.integers(0, rows.rows, 10).tolist())
        bounds = {"plain percentile": _core.bootstrap_intervals([some], 300, 0.95, seed)[0]}
        for method in ("percentile", "jackknife"):
            how = Resampling(0.95, method, samples=300, seed=seed)  # type: ignore[arg-type]
            [bounds[method]] = intervals([some], metrics, how, threads=1)
        for method, (low, high) in bounds.items():
            held[method] += low <= rows.score() <= high
    record_property("covered", {method: round(count / 600, 4) for method, count in held.items()})
    assert held["plain percentile"] / 600 < 0.92
    # Three standard errors of a share of 0.95 are 0.027.
    for method in ("percentile", "jackknife"):
        assert held[method] / 600 == pytest.approx(0.95, abs=0.027)


@pytest.mark.parametrize("images", [2, 3, 10, 59, 1000, 10**6])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_percentiles_are_hesterbergs(level: float, images: int) -> None:
    tail = stats.norm.cdf(stats.t.ppf((1 - level) / 2, images - 1) * np.sqrt(images / (images - 1)))
    assert widened(level, images) == pytest.approx(1 - 2 * tail, rel=1e-8)


def test_one_image_has_no_spread_to_correct() -> None:
    assert widened(0.9, 1) == 0.9


def test_ends_of_the_best_are_as_normal_quantiles_are() -> None:
    low, high = of_best(0.5, (0.4, 0.7), 0.95, 20, 1)
    assert low == pytest.approx(0.5 - 0.1 * stats.norm.ppf(0.025 / 20) / stats.norm.ppf(0.025))
    assert high == pytest.approx(0.7)


@given(
    images=st.integers(1, 200),
    level=st.floats(0.5, 0.99),
    value=st.floats(0, 1),
    shares=st.lists(st.floats(0, 1), min_size=2, max_size=5),
)
def test_what_all_images_gave_bounds_the_mean_of_any_distribution(
    images: int, level: float, value: float, shares: list[float]
) -> None:
    """Whatever images score: if all give one value with a probability above the tail, its interval has the mean."""
    low, high = opened((value, value), value, (0, 1), images, level) or (np.nan, np.nan)
    others = np.linspace(0, 1, len(shares))
    weights = np.array([1.0, *(share / 10 for share in shares)])
    weights /= weights.sum()
    mean = weights[0] * value + weights[1:] @ others
    if weights[0] ** images > (1 - level) / 2:
        assert low - 1e-9 <= mean <= high + 1e-9
    assert opened((0.2, 0.3), 0.2, (0, 1), images, level) == (0.2, 0.3)


def test_where_all_images_are_at_an_end_the_interval_reaches_away_from_it() -> None:
    sets = {str(image): ["a dog", "a cat"] for image in range(50)}
    for method in ("percentile", "jackknife"):
        found = sacrecap.diversity(sets, metrics="distinct", samples=50, interval_method=method)
        assert found["sets"]["distinct"].interval == pytest.approx((0.025 ** (1 / 50), 1))
    references = {image: ["a b c d"] for image in sets}
    captions = dict.fromkeys(references, "e f g h")
    assert sacrecap.score(references, captions, "rouge-l", samples=50)["rouge-l"].interval == pytest.approx(
        (0, 1 - 0.025 ** (1 / 50))
    )
    assert opened((0.0, 0.0), 0.0, (0.0, None), 50, 0.95) is None


@pytest.mark.soak
def test_the_interval_of_rare_repeats_covers(record_property: Callable[[str, object], None]) -> None:
    """Five images in 10,000 have a repeated caption: samples have none, or one."""
    metrics, random = parse_metrics("distinct"), np.random.default_rng(0)
    sets = {"0": ["a dog", "a cat"], "1": ["a dog", "a dog"]}
    rows = sacrecap.diversity(sets, metrics=metrics, interval=None)["sets"]["distinct"].rows
    held = {}
    for images in (10, 100, 1000, 5000):
        count = np.zeros(2)
        for seed in range(400):
            some = rows.select((random.random(images) < 0.0005).astype(int).tolist())
            [plain] = intervals([some], metrics, Resampling(samples=200, seed=seed))
            assert plain is not None
            ends = opened(plain, some.score(), (0, 1), images, 0.95)
            assert ends is not None
            count += [low <= 1 - 0.0005 / 2 <= high for low, high in (plain, ends)]
        held[images] = (count / 400).tolist()
        assert held[images][1] >= 0.93 - 0.03
    record_property("covered", held)
    assert held[100][0] < 0.2


def test_a_comparison_has_the_level_that_is_asked_for() -> None:
    """Percentiles: a system's interval is that of its score, at each level, and that of a difference grows, too."""
    references, systems = example.references(), example.systems()
    widths = []
    for level in (0.5, 0.95, 0.99):
        compared = sacrecap.compare(references, systems, "cider-d", interval=level, samples=200)
        for name, captions in systems.items():
            alone = sacrecap.score(references, captions, "cider-d", interval=level, samples=200)
            assert compared[name]["cider-d"].interval == alone["cider-d"].interval
        lower, upper = compared.pairs[0].interval or (0.0, 0.0)
        widths.append(upper - lower)
    assert 0 < widths[0] < widths[1] < widths[2]


def test_percentile_is_the_bootstraps() -> None:
    metrics = parse_metrics("rouge-l")
    corpus = Corpus(example.references(), example.systems()["plain"])
    rows = [score.statistics for score in score_corpus(corpus, metrics).values()]
    assert intervals(rows, metrics, Resampling(0.9, samples=50, seed=7)) == _core.bootstrap_intervals(
        rows, 50, widened(0.9, 60), 7
    )
    with pytest.raises(UsageError, match="interval method must be one of percentile, jackknife, got 'bca'"):
        Resampling(0.9, "bca")  # type: ignore[arg-type]


def test_equal_images_have_an_interval_of_no_width() -> None:
    rows = Pairs(("a b", "a b"), (("a c",), ("a c",))).score("rouge-l")["rouge-l"].statistics
    low, high = jackknife(rows, 0.95, 1.0)
    assert low == pytest.approx(high)


def test_images_without_a_score_say_nothing_of_the_others() -> None:
    """Ten images of twenty have a score, all 0: how far the others' may reach is told by ten."""
    references = {str(number): ["a red dog" if number < 10 else "a dog"] for number in range(20)}
    [score] = sacrecap.score(references, dict.fromkeys(references, "a dog"), "spice(category=color)").values()
    assert (score.value, score.unscored) == (0.0, 10)
    assert score.interval == (0.0, pytest.approx(1 - 0.025 ** (1 / 10)))


def test_a_score_above_the_largest_is_inside_its_interval() -> None:
    """SPICE may exceed 1: where it does, the interval ends at the score."""
    values = np.column_stack(([1.3, 1.1, 1.2, 1.25], np.ones(4))).astype("<f8")
    low, high = jackknife(_core.Statistics.of_rows("mean", values.tobytes(), 2), 0.95, 1.0)
    assert low < high == pytest.approx(values[:, 0].mean())


def said(metrics: str, **changes: object) -> str:
    given = {"images": 5_000, "own_frequencies": True, **changes}
    resampling = Resampling(given.pop("interval", 0.95), given.pop("interval_method", "percentile"))  # type: ignore[arg-type]
    return " ".join(notes(parse_metrics(metrics), resampling, **given))  # type: ignore[arg-type]


def test_notes_of_few_images() -> None:
    assert said("rouge-l", images=9).startswith("Intervals of 9 images are too narrow")
    assert said("rouge-l", images=1).startswith("Intervals of 1 image are")
    for changes in ({"images": 10}, {"images": 9, "interval": None}, {"images": 9, "interval_method": "jackknife"}):
        assert said("rouge-l", **changes) == ""


def test_notes_of_document_frequencies() -> None:
    assert said("cider-d, rouge-l, cider-paper", images=4_999).startswith(
        "CIDEr-D, CIDEr-paper: words are weighed by these 4,999 images."
    )
    said_of_100 = said("cider-d", images=100, interval=None)
    take = 'the score falls; to compare with other sets, take document_frequency="coco-train"'
    assert f"{take}, or a file of sacrecap df build" in said_of_100
    assert f'{take} or "coco-train-stems", or' in said("cider-d, cider-paper", images=100, interval=None)
    assert said("combine(bleu-1, cider-d)", images=100).startswith("CIDEr-D: words")
    for changes in ({"images": 5_000}, {"images": 100, "own_frequencies": False}, {"images": 1, "interval": None}):
        assert said("cider-d", **changes) == ""
    assert said("rouge-l", images=100) == ""


def test_notes_of_what_learns() -> None:
    assert said("fluency", images=10_000).startswith("Fluency: learns from these references")
    assert said("fluency", interval=None) == ""


def test_the_jackknife_of_differences_leaves_the_same_image_out_of_both() -> None:
    results = {
        name: sacrecap.score(example.references(), captions, "rouge-l, cider-d", interval=None)
        for name, captions in example.systems().items()
    }
    rows = [[score.statistics for score in result.values()] for result in results.values()]
    expected = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        for one, other in zip(rows[a], rows[b], strict=True):
            left = [[n for n in range(60) if n != out] for out in range(60)]
            without = [one.select(kept).score() - other.select(kept).score() for kept in left]
            reach = stats.t.ppf(0.95, 59) * np.std(without) * np.sqrt(59)
            delta = one.score() - other.score()
            expected.append((delta - reach, delta + reach))
    np.testing.assert_allclose(jackknife_differences(rows, 0.9), expected, rtol=0, atol=1e-9)
    compared = sacrecap.compare(
        example.references(),
        example.systems(),
        "rouge-l, cider-d",
        interval=0.9,
        interval_method="jackknife",
        samples=200,
    )
    np.testing.assert_allclose([pair.interval for pair in compared.pairs], expected, rtol=0, atol=1e-9)
    for name, result in results.items():
        for key, score in result.items():
            assert compared[name][key].interval == jackknife(score.statistics, 0.9, score.metric.largest)
    percentile = sacrecap.compare(example.references(), example.systems(), "rouge-l, cider-d", samples=200)
    assert [pair.p for pair in compared.pairs] == [pair.p for pair in percentile.pairs]


def test_comparisons_and_sets_say_what_has_to_be_known() -> None:
    references = dict(list(example.references().items())[:9])
    systems = {name: {image: own[image] for image in references} for name, own in example.systems().items()}
    few, weighed = "Intervals of 9 images are too narrow", "CIDEr-D: words are weighed by these 9 images."
    for made, expected in (
        (sacrecap.compare(references, systems, "rouge-l", samples=200), [few]),
        (sacrecap.compare(references, systems, "cider-d", samples=200), [few, weighed]),
        (sacrecap.compare(references, systems, "cider-d", samples=200, interval_method="jackknife"), [weighed]),
    ):
        told = [note for note in made.notes if "the p of the difference disagree" not in note]
        assert [note[: len(start)] for note, start in zip(told, expected, strict=True)] == expected
        with words_of_command_line():  # the JSON document is the command's, whoever asks for it
            assert made.to_dict()["notes"] == made.notes
        assert all(f"note: {note}" in str(made) for note in made.notes)
    sets = {"varied": {image: own for image, own in example.caption_sets()["varied"].items() if image in references}}
    for method, expected in (("percentile", [few, weighed]), ("jackknife", [weighed])):
        found = sacrecap.diversity(sets, references, samples=200, interval_method=method)
        assert [note[: len(start)] for note, start in zip(found.notes, expected, strict=True)] == expected
        with words_of_command_line():
            assert found.to_dict()["notes"] == found.notes
        assert f"note: {weighed}" in str(found)
    figure = found["varied"]["self-cider"]
    assert figure.interval == jackknife(figure.statistics, 0.95, figure.metric.largest)
    assert found.to_dict()["interval_method"] == "jackknife"
    assert sacrecap.diversity(sets, interval=None).notes == []
