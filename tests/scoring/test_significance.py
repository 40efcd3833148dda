"""Paired tests: against a slow reference, and against what they promise, on systems whose difference is known."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from corpora import Pairs, caption, pairs, seeds
from reference.resample import draws, halves
from sacrecap import _core, example
from sacrecap.errors import DataError, SacrecapWarning, UsageError
from sacrecap.report.comparison_formats import render
from sacrecap.scoring.comparison import Pair, compare_results
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.ranks import holm
from sacrecap.scoring.signature import Signature

Floats = npt.NDArray[np.float64]
Record = Callable[[str, object], None]


def statistics(corpus: Pairs, *metrics: str) -> list[_core.Statistics]:
    return [score.statistics for score in corpus.score(metrics).values()]


def rows(statistics: _core.Statistics) -> Floats:
    return np.frombuffer(statistics.values()).reshape(statistics.rows, statistics.width)


def mean(sums: Floats) -> float:
    return float(sums[0] / sums[1])


def bleu_2(sums: Floats) -> float:
    """BLEU-2 as the COCO suite computes it, from its pooled counts."""
    length, reference, matches = sums[0], sums[1], sums[4:8].reshape(2, 2)
    precision = math.prod((m + 1e-15) / (n + 1e-9) for m, n in matches)
    ratio = (length + 1e-15) / (reference + 1e-9)
    return math.sqrt(precision) * (math.exp(1 - 1 / ratio) if ratio < 1 else 1.0)


FORMULAS: dict[str, Callable[[Floats], float]] = {"bleu-2": bleu_2, "rouge-l": mean}


# The slow reference


def threshold(a: float, b: float) -> float:
    """What is as far as the observed difference: rounding must not decide."""
    size = max(abs(a), abs(b))
    return abs(a - b) - min(1e-9 * max(size, 1), 1e-6 * size)


def slow_bootstrap(
    a: Floats, b: Floats, formula: Callable[[Floats], float], samples: int, level: float, seed: int
) -> tuple[tuple[float, float], float]:
    """Interval and p of the difference: samples' distances from their mean, against the observed one from 0."""
    differences = [
        formula(a[drawn].sum(axis=0)) - formula(b[drawn].sum(axis=0)) for drawn in draws(len(a), samples, seed)
    ]
    least = threshold(formula(a.sum(axis=0)), formula(b.sum(axis=0)))
    far = sum(abs(d - np.mean(differences)) >= least for d in differences)
    low, high = np.quantile(differences, [(1 - level) / 2, (1 + level) / 2])
    return (float(low), float(high)), (far + 1) / (samples + 1)


def slow_permutation(a: Floats, b: Floats, formula: Callable[[Floats], float], samples: int, seed: int) -> float:
    """p: how often systems with some of their rows exchanged differ as much."""
    least = threshold(formula(a.sum(axis=0)), formula(b.sum(axis=0)))
    far = 0
    for swapped in halves(len(a), samples, seed):
        one, other = np.where(swapped[:, None], b, a), np.where(swapped[:, None], a, b)
        far += abs(formula(one.sum(axis=0)) - formula(other.sum(axis=0))) >= least
    return (far + 1) / (samples + 1)


@st.composite
def systems(draw: st.DrawFn) -> list[Pairs]:
    """Two or three systems on the same images."""
    first = draw(pairs())
    chance = Random(draw(seeds))
    others = ([caption(chance) for _ in first.candidates] for _ in range(draw(st.integers(1, 2))))
    return [first, *(Pairs(tuple(other), first.references) for other in others)]


@given(
    systems=systems(),
    samples=st.integers(1, 40),
    level=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**64 - 1),
    threads=st.integers(1, 5),
)
def test_paired_tests_equal_the_slow_ones(
    systems: list[Pairs], samples: int, level: float, seed: int, threads: int
) -> None:
    """The draws are part of the contract: a seed gives the same p on every machine and in every release."""
    tables = [statistics(system, *FORMULAS) for system in systems]
    intervals, differences = _core.paired_bootstrap(tables, samples, level, seed, threads)
    swaps = _core.paired_permutation(tables, samples, seed, threads)
    place = iter(range(len(swaps)))
    for a, b in combinations(tables, 2):
        for number, formula in enumerate(FORMULAS.values()):
            one, other = rows(a[number]), rows(b[number])
            at = next(place)
            interval, p = slow_bootstrap(one, other, formula, samples, level, seed)
            assert differences[at][0] == pytest.approx(interval, rel=1e-6, abs=1e-7)
            assert differences[at][1] == pytest.approx(p)
            assert swaps[at] == pytest.approx(slow_permutation(one, other, formula, samples, seed))
    alone = [_core.bootstrap_intervals(table, samples, level, seed) for table in tables]
    assert intervals == [interval for table in alone for interval in table]


# Tests of the tests: thousands of comparisons of systems whose true difference is known


IMAGES = 150
SAMPLES = 199
"""So that 5 % of samples and the observed difference are a whole number."""
METRICS = ("bleu-4", "rouge-l", "cider-d")


def population(better: float, images: int = 1_500) -> list[list[_core.Statistics]]:
    """Two systems on images that are unlike each other: easy or hard, long or short, in common and rare words.

    A system's caption is a reference with some of its words lost; it loses more on hard images, and the second system
    loses `better` less. Each image is there twice, with the captions exchanged in proportion: systems equally good have
    exactly the same score, although no two of their captions need be alike.
    """
    random = np.random.default_rng(11)
    words = np.array([f"w{rank}" for rank in range(2_000)])
    shares = 1 / np.arange(1, 2_001)
    references: list[tuple[str, ...]] = []
    candidates: tuple[list[str], list[str]] = ([], [])
    for _ in range(images):
        scene = random.choice(words, size=random.integers(8, 15), p=shares / shares.sum())
        described = tuple(" ".join(scene[random.random(len(scene)) > 0.1]) for _ in range(3))
        loss = random.beta(1.2, 2.5)
        two = []
        for share in (loss, loss * (1 - better)):
            noise = random.choice(words, size=len(scene), p=shares / shares.sum())
            two.append(" ".join(np.where(random.random(len(scene)) < share, noise, scene)))
        references += [described, described]
        candidates[0].extend(two if better == 0 else [two[0], two[0]])
        candidates[1].extend(two[::-1] if better == 0 else [two[1], two[1]])
    return [statistics(Pairs(tuple(system), tuple(references)), *METRICS) for system in candidates]


def simulate(systems: list[list[_core.Statistics]], simulations: int) -> tuple[Floats, Floats, Floats]:
    """Of images drawn from a population, again and again: p by bootstrap and by permutation, of shape (simulations,
    metrics), and whether intervals cover the true scores of both systems and their true difference, of shape
    (simulations, 3 metrics).
    """
    random = np.random.default_rng(12)
    scores = np.array([[table.score() for table in system] for system in systems])
    truth = np.concatenate([*scores, scores[0] - scores[1]])
    bootstrap, permutation, covered = [], [], []
    for simulation in range(simulations):
        drawn = random.integers(0, systems[0][0].rows, IMAGES).tolist()
        some = [[table.select(drawn) for table in system] for system in systems]
        intervals, differences = _core.paired_bootstrap(some, SAMPLES, 0.95, simulation)
        intervals += [interval for interval, _ in differences]
        permutation.append(_core.paired_permutation(some, SAMPLES, simulation))
        bootstrap.append([p for _, p in differences])
        covered.append([low <= true <= high for (low, high), true in zip(intervals, truth, strict=True)])
    return np.array(bootstrap), np.array(permutation), np.array(covered)


@pytest.fixture(scope="module")
def alike() -> tuple[Floats, Floats, Floats]:
    systems = population(better=0.0)
    assert [a.score() for a in systems[0]] == pytest.approx([b.score() for b in systems[1]], rel=1e-12)
    assert rows(systems[0][0]).tolist() != rows(systems[1][0]).tolist()
    return simulate(systems, 2_000)


@pytest.fixture(scope="module")
def unlike() -> tuple[Floats, Floats, Floats]:
    return simulate(population(better=0.09), 600)


@pytest.mark.soak
@pytest.mark.parametrize("level", [0.05, 0.1, 0.25])
def test_equal_systems_are_told_apart_at_the_nominal_rate(
    alike: tuple[Floats, Floats, Floats], level: float, record_property: Record
) -> None:
    """Three standard errors of a rate of 0.05 are 0.015; the tolerance promised is 0.01."""
    for test, p in zip(("bootstrap", "permutation"), alike[:2], strict=True):
        record_property(f"{test} at {level}", (p <= level).mean(axis=0).round(4).tolist())
        assert (p <= level).mean(axis=0) == pytest.approx([level] * len(METRICS), abs=max(0.01, level / 8))


@pytest.mark.soak
def test_intervals_of_scores_and_differences_cover_the_truth(
    alike: tuple[Floats, Floats, Floats], unlike: tuple[Floats, Floats, Floats], record_property: Record
) -> None:
    """As often as 0.95 quantiles of 199 samples are apart, 188.1 of 200 places; within three standard errors."""
    for _, _, covered in (alike, unlike):
        error = math.sqrt(0.95 * 0.05 / len(covered))
        record_property("covered", covered.mean(axis=0).round(4).tolist())
        assert covered.mean(axis=0) == pytest.approx([188.1 / 200] * 3 * len(METRICS), abs=3 * error)


@pytest.mark.soak
def test_a_difference_is_found_more_often_than_by_chance(unlike: tuple[Floats, Floats, Floats]) -> None:
    for p in unlike[:2]:
        found = (p <= 0.05).mean(axis=0)
        assert (found > 0.15).all(), found
    assert (unlike[0] <= 0.05).mean(axis=0) == pytest.approx((unlike[1] <= 0.05).mean(axis=0), abs=0.03)


# sacrecap.compare


@pytest.fixture(scope="module")
def compared() -> sacrecap.Comparison:
    return sacrecap.compare(example.references(), example.systems(), samples=500)


def test_systems_have_the_scores_and_intervals_that_they_have_alone(compared: sacrecap.Comparison) -> None:
    assert list(compared) == ["careful", "plain", "template"]
    for name, candidates in example.systems().items():
        alone = sacrecap.score(example.references(), candidates, samples=500)
        assert compared[name].to_dict() == alone.to_dict()
        assert compared[name].image_ids == alone.image_ids
        assert compared[name].corpus.captions("beach-dog") == alone.corpus.captions("beach-dog")


def test_every_pair_by_every_metric(compared: sacrecap.Comparison) -> None:
    systems, metrics = list(compared), list(compared["plain"])
    assert [(p.a, p.b, p.metric) for p in compared.pairs] == [
        (a, b, metric) for a, b in combinations(systems, 2) for metric in metrics
    ]
    for pair in compared.pairs:
        assert pair.delta == compared[pair.a][pair.metric].value - compared[pair.b][pair.metric].value
        assert pair.interval is not None
        assert pair.interval[0] < pair.delta < pair.interval[1]
        assert 0 < pair.p <= pair.p_corrected <= 1
        assert pair.significant == (pair.p_corrected <= 0.05)
        turned = compared.pair(pair.b, pair.a, pair.metric)
        assert (turned.delta, turned.p) == (-pair.delta, pair.p)
        assert turned.turned() == pair


def test_nothing_depends_on_threads_and_everything_on_the_seed(compared: sacrecap.Comparison) -> None:
    def document(**options: int) -> object:
        return sacrecap.compare(example.references(), example.systems(), "bleu-4", samples=200, **options).to_dict()

    assert document(threads=1) == document(threads=5) == document(seed=0)
    assert document(seed=1)["pairs"] != document()["pairs"]  # type: ignore[index]


@pytest.mark.parametrize("test", ["exact", "permutation", "bootstrap"])
def test_equal_systems_have_p_1(test: str) -> None:
    same = example.systems()["plain"]
    compared = sacrecap.compare(example.references(), {"a": same, "b": same}, "bleu-4, rouge-l", test=test, samples=50)
    assert [(p.delta, p.interval, p.p, p.significant) for p in compared.pairs] == [(0.0, (0.0, 0.0), 1.0, False)] * 2
    assert compared.ranks("bleu-4") == {"a": (1, 2), "b": (1, 2)}


def test_one_image_tells_nothing_apart() -> None:
    references = {"1": ["a brown dog runs"]}
    systems = {"a": {"1": "a brown dog runs"}, "b": {"1": "a cat"}}
    [pair] = sacrecap.compare(references, systems, "rouge-l").pairs
    assert (pair.p, pair.interval) == (1.0, (pair.delta, pair.delta))
    with pytest.warns(SacrecapWarning, match='on 1 image finds .*; take test="exact" below'):
        sacrecap.compare(references, systems, "rouge-l", test="bootstrap")


def made_up(scores: Sequence[float], apart: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """Ranks of systems with these scores, of which these pairs are significantly apart."""
    results = {str(n): _Scored(value) for n, value in enumerate(scores)}
    pairs = [
        sacrecap.scoring.comparison.Pair(str(a), str(b), "m", scores[a] - scores[b], None, 0.5, 0.5, (a, b) in apart)
        for a, b in combinations(range(len(scores)), 2)
    ]
    comparison = sacrecap.Comparison(results, pairs, "permutation", 0.05, "none", Resampling(None, samples=1))  # type: ignore[arg-type]
    return {int(system): ranks for system, ranks in comparison.ranks("m").items()}


class _Scored(dict[str, object]):
    def __init__(self, value: float) -> None:
        self["m"] = type("Score", (), {"key": "m", "value": value, "metric": sacrecap.metrics.CiderD()})


def test_systems_that_cannot_be_separated_share_their_ranks() -> None:
    assert made_up([0.9, 0.5, 0.4, 0.1], [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]) == {
        0: (1, 1),
        1: (2, 3),
        2: (2, 3),
        3: (4, 4),
    }
    assert made_up([0.1, 0.5], []) == {0: (1, 2), 1: (1, 2)}
    # The middle one is apart from neither: ranges overlap.
    assert made_up([0.1, 0.2, 0.3], [(0, 2)]) == {0: (2, 3), 1: (1, 3), 2: (1, 2)}


def test_the_family_is_the_pairs_of_a_metric() -> None:
    both = sacrecap.compare(example.references(), example.systems(), "bleu-4, rouge-l", samples=200)
    alone = sacrecap.compare(example.references(), example.systems(), "rouge-l", samples=200)
    plain = sacrecap.compare(example.references(), example.systems(), "rouge-l", samples=200, correction="none")
    chosen = [p for p in both.pairs if p.metric == "rouge-l"]
    assert chosen == alone.pairs
    assert [p.p_corrected for p in chosen] == holm([p.p for p in chosen])
    assert [p.p_corrected for p in plain.pairs] == [p.p for p in plain.pairs] == [p.p for p in chosen]


def test_a_p_of_alpha_is_significant() -> None:
    careful, plain = example.systems()["careful"], example.systems()["plain"]
    nearly = {**careful, **dict(list(plain.items())[:6])}

    def pair(alpha: float) -> Pair:
        systems = {"careful": careful, "nearly": nearly}
        [found] = sacrecap.compare(example.references(), systems, "rouge-l", alpha=alpha, interval=None).pairs
        return found

    p = pair(0.05).p
    assert 0 < p < 1
    assert pair(p).significant
    assert not pair(math.nextafter(p, 0)).significant


def test_without_intervals() -> None:
    for test in ("exact", "permutation", "bootstrap"):
        options = {"test": test, "samples": 100}
        bare = sacrecap.compare(example.references(), example.systems(), "bleu-4", interval=None, **options)  # type: ignore[arg-type]
        full = sacrecap.compare(example.references(), example.systems(), "bleu-4", **options)  # type: ignore[arg-type]
        assert [pair.interval for pair in bare.pairs] == [None] * 3
        assert bare["plain"]["bleu-4"].interval is None
        assert [pair.p for pair in bare.pairs] == [pair.p for pair in full.pairs]


def test_missing_candidates() -> None:
    references, systems = example.references(), example.systems()
    first, second, *_ = references
    plain = {image: caption for image, caption in systems["plain"].items() if image != first}
    careful = {image: caption for image, caption in systems["careful"].items() if image != second}
    given = {"plain": plain, "careful": careful}
    with pytest.raises(DataError, match=f"system 'plain': no candidate for 1 image \\({first}\\); add them, or choose"):
        sacrecap.compare(references, given, "rouge-l")
    skipped = sacrecap.compare(references, given, "rouge-l", on_missing="skip", samples=50)
    assert skipped.image_ids == list(references)[2:]
    common = {image: references[image] for image in skipped.image_ids}
    of_common = {name: {image: system[image] for image in common} for name, system in given.items()}
    alone = sacrecap.compare(common, of_common, "rouge-l", samples=50)
    of_alone = {name: result["rouge-l"].signature for name, result in alone.items()}
    documents = [one.to_dict() for one in (skipped, alone)]
    for name, system in documents[0]["systems"].items():
        assert (system.pop("given"), system.pop("left_out")) == (60, {"no candidate": 2})
        [own] = system.pop("signatures").values()
        assert Signature.read(own).differences(Signature.read(of_alone[name])) == {
            "images": ("58/60", "58/58"),
            "missing": ("skip", ""),
        }
        documents[1]["systems"][name].pop("signatures")
    assert documents[0] == documents[1]
    zero = sacrecap.compare(references, given, "rouge-l", on_missing="zero", samples=50)
    assert zero["plain"]["rouge-l"].per_image[0] == 0
    assert zero["careful"].corpus.captions(second)[0] is None
    halves = [dict(list(plain.items())[:20]), dict(list(plain.items())[30:])]
    with pytest.raises(DataError, match=r"no image has a candidate of every system \(a, b\)"):
        sacrecap.compare(references, dict(zip("ab", halves, strict=True)), "rouge-l", on_missing="skip")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "t"}, "test must be one of exact, permutation, bootstrap, got 't'"),
        ({"correction": "bonferroni"}, "correction must be one of holm, none, got 'bonferroni'"),
        ({"alpha": 0}, "alpha must be a level of significance between 0 and 1, as 0.05, got 0"),
        ({"alpha": 5}, "alpha must be"),
        ({"alpha": float("nan")}, "alpha must be"),
        ({"samples": 0}, "samples must be a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"interval": 95}, "interval must be a confidence level"),
        ({"metrics": "bleu-9"}, "unknown metric 'bleu-9'"),
        ({"tokenizer": "moses"}, "tokenizer must be one of"),
        ({"on_missing": "ignore"}, "on_missing must be one of error, skip, zero"),
    ],
)
def test_unacceptable_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sacrecap.compare(example.references(), example.systems(), **options)  # type: ignore[arg-type]


def test_two_systems_at_least_scored_alike() -> None:
    plain = example.systems()["plain"]
    with pytest.raises(UsageError, match="takes two systems or more, one system was given; sacrecap.score scores"):
        sacrecap.compare(example.references(), {"plain": plain})
    with pytest.raises(UsageError, match="no system was given"):
        sacrecap.compare(example.references(), {})
    results = {
        name: sacrecap.score(example.references(), plain, metric, interval=None)
        for name, metric in {"a": "rouge-l", "b": "rouge-l(beta=1)"}.items()
    }
    with pytest.raises(UsageError, match="b was scored by other metrics than a, or with other parameters"):
        compare_results(results)
    few = {image: plain[image] for image in list(plain)[:9]}
    results["b"] = sacrecap.score(example.references(), few, "rouge-l", interval=None, on_missing="skip")
    with pytest.raises(UsageError, match="b was scored on other images than a"):
        compare_results(results)
    turned = dict(reversed(example.references().items()))
    results["b"] = sacrecap.score(turned, plain, "rouge-l", interval=None)
    with pytest.raises(UsageError, match="b was scored on other images than a, or in another order"):
        compare_results(results)


def test_too_few_samples_for_the_level_are_told() -> None:
    systems = example.systems()
    with pytest.warns(SacrecapWarning, match="nothing can be significant at 0.05; take 59 samples"):
        sacrecap.compare(example.references(), systems, "rouge-l", test="permutation", samples=58)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sacrecap.compare(example.references(), systems, "rouge-l", samples=1)
        sacrecap.compare(example.references(), systems, "rouge-l", test="permutation", samples=59)
        sacrecap.compare(example.references(), systems, "rouge-l", test="permutation", samples=19, correction="none")


def test_the_native_functions_check_their_tables() -> None:
    one, other = (statistics(Pairs(("a",) * n, (("a",),) * n), "rouge-l") for n in (2, 3))
    with pytest.raises(UsageError, match="one row per image in every table"):
        _core.paired_bootstrap([one, other], 10, 0.95, 0)
    with pytest.raises(UsageError, match="the same metrics in the same order"):
        _core.paired_exact([one, []])
    with pytest.raises(UsageError, match="there is no row 2 among 2"):
        one[0].select([0, 2])
    assert rows(other[0].select([2, 2])).tolist() == rows(other[0])[[2, 2]].tolist()


def test_wide_tables_are_cut_to_the_terminal(compared: sacrecap.Comparison) -> None:
    whole, cut = (render(compared, "table", width=width) for width in (None, 80))
    assert max(map(len, whole.splitlines())) > 120
    assert max(len(line) for line in cut.splitlines() if "|sacrecap:" not in line) <= 80
    assert set(cut.replace("─", "").split()) == set(whole.replace("─", "").split())
    assert (whole.count("careful – plain"), cut.count("careful – plain")) == (1, 2)
    assert str(compared) == whole


def test_pandas(compared: sacrecap.Comparison) -> None:
    pytest.importorskip("pandas")
    frame = compared.to_pandas()
    assert list(frame.columns) == ["a", "b", "metric", "delta", "lower", "upper", "p", "p_corrected", "significant"]
    assert frame["delta"].tolist() == [pair.delta for pair in compared.pairs]
    assert frame["lower"].tolist() == [pair.interval and pair.interval[0] for pair in compared.pairs]


def test_the_best_of_many_attempts() -> None:
    references, systems = example.references(), example.systems()
    one = sacrecap.compare(references, systems, "rouge-l, chair-s", objects=example.objects_path(), samples=200)
    several = sacrecap.compare(
        references, systems, "rouge-l, chair-s", objects=example.objects_path(), samples=200, attempts={"plain": 20}
    )
    assert several.attempts == {"plain": 20}
    assert several.to_dict()["test"]["attempts"] == {"plain": 20}
    assert one.to_dict()["test"] == {"name": "exact", "alpha": 0.05, "correction": "holm"}
    assert any(note.startswith("plain: the best of 20 attempts") for note in several.notes)
    better, before = several.pair("plain", "template", "rouge-l"), one.pair("plain", "template", "rouge-l")
    assert better.p == before.p
    assert better.p_corrected >= min(1, 20 * before.p)
    assert (
        several.pair("careful", "plain", "rouge-l").p_corrected == one.pair("careful", "plain", "rouge-l").p_corrected
    )
    for metric, end in (("rouge-l", 0), ("chair-s", 1)):  # lower is better by CHAIR
        wide, narrow = several["plain"][metric], one["plain"][metric]
        assert wide.interval is not None
        assert narrow.interval is not None
        distance = abs(narrow.interval[end] - narrow.value)
        assert abs(wide.interval[end] - wide.value) == pytest.approx(distance * 3.0233 / 1.95996, rel=1e-4)
        assert wide.interval[1 - end] == narrow.interval[1 - end]
        assert several["careful"][metric].interval == one["careful"][metric].interval
        difference, was = several.pair("plain", "careful", metric), one.pair("plain", "careful", metric)
        assert difference.interval is not None
        assert was.interval is not None
        assert difference.interval[1 - end] == pytest.approx(was.interval[1 - end])
        assert abs(difference.interval[end] - difference.delta) > abs(was.interval[end] - was.delta)


def test_the_best_of_many_attempts_stays_in_the_metrics_range() -> None:
    references = {str(image): ["a dog runs"] for image in range(12)}
    few, more = ({image: "a dog runs" if image in right else "x y z" for image in references} for right in ("3", "457"))
    once, often = (
        sacrecap.compare(references, {"few": few, "more": more}, "rouge-l", attempts=attempts)
        for attempts in (1, {"few": 10_000})
    )
    assert once["few"]["rouge-l"].interval[0] == often["few"]["rouge-l"].interval[0] == 0.0


def test_attempts_of_all_and_of_none() -> None:
    references, systems = example.references(), example.systems()
    plain = sacrecap.compare(references, systems, "rouge-l", interval=None, correction="none")
    all_of_them = sacrecap.compare(references, systems, "rouge-l", interval=None, correction="none", attempts=3)
    assert [pair.p_corrected for pair in all_of_them.pairs] == [min(1, 3 * pair.p) for pair in plain.pairs]
    assert sacrecap.compare(references, systems, "rouge-l", interval=None, attempts=1).attempts == {}
    for attempts, message in (
        ({"other": 2}, "attempts names 'other', which is no system; the systems are careful, plain, template"),
        ({"plain": 0}, "attempts of plain must be a whole number of at least 1, got 0"),
        (0.5, "attempts must be a whole number of at least 1, got 0.5"),
    ):
        with pytest.raises(UsageError, match=message):
            sacrecap.compare(references, systems, "rouge-l", attempts=attempts)  # type: ignore[arg-type]


def test_few_images_are_too_few_to_draw_for_a_test() -> None:
    """The bootstrap test warns below 30 images, and at 30 no more."""
    images = example.references().keys()
    for count in (29, 30):
        chosen = list(images)[:count]
        references = {image: example.references()[image] for image in chosen}
        systems = {name: {image: own[image] for image in chosen} for name, own in example.systems().items()}
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            sacrecap.compare(references, systems, "rouge-l", test="bootstrap", samples=200, interval=None)
        assert any("finds differences that are not there" in str(one.message) for one in warned) == (count < 30)


def test_an_interval_and_a_p_that_disagree_say_why() -> None:
    """Five images of many differ, all in one direction: the interval leaves out 0, and p cannot fall below 1/16."""
    references = {str(image): ["a b c d e f g"] for image in range(300)}
    captions = {image: texts[0] for image, texts in references.items()}
    systems = {"a": captions, "b": {**captions, **dict.fromkeys(list(captions)[:5], "a b c d x")}}
    comparison = sacrecap.compare(references, systems, "rouge-l, bleu-1", samples=200)
    low, high = comparison.pairs[0].interval or (0, 0)
    assert not low <= 0 <= high
    assert comparison.pairs[0].p == 1 / 16
    [note] = [note for note in comparison.notes if "disagree" in note]
    assert note.startswith("a – b by rouge-l and 1 more: the interval and the p of the difference disagree")
    for options in ({"test": "bootstrap"}, {"alpha": 0.1}, {"interval": None}):
        other = sacrecap.compare(references, systems, "rouge-l", samples=200, **options)  # type: ignore[arg-type]
        assert not any("disagree" in note for note in other.notes)
