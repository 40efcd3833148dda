"""The native core as plug-in metrics meet it: statistics made in Python, resources by type, parameters by name."""

from __future__ import annotations

import math
import pickle
import threading
from itertools import chain
from typing import Any

import numpy as np
import pytest

import sacrecap
from sacrecap import _core, example
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import UsageError

SAMPLES, LEVEL, SEED = 60, 0.9, 7


def table(statistics: _core.Statistics) -> np.ndarray:
    return np.frombuffer(statistics.values()).reshape(statistics.rows, statistics.width)


def mean(sums: list[float]) -> float:
    return sums[0] / sums[1] if sums[1] > 0 else 0.0


def bleu_1(sums: list[float]) -> float:
    """BLEU-1 as the COCO suite computes it, operation by operation as the core does."""
    ratio = (sums[0] + 1e-15) / (sums[1] + 1e-9)
    return (sums[4] + 1e-15) / (sums[5] + 1e-9) * (math.exp(1 - 1 / ratio) if ratio < 1 else 1.0)


@pytest.fixture(scope="module")
def systems() -> list[list[_core.Statistics]]:
    """BLEU-1 and ROUGE-L of two systems of the example."""
    names = list(example.systems())[:2]
    return [[score.statistics for score in score_system(name)] for name in names]


def score_system(name: str) -> list[Any]:
    result = sacrecap.score(example.references(), example.systems()[name], metrics=["bleu-1", "rouge-l"], interval=None)
    return list(result.values())


def in_python(native: list[_core.Statistics]) -> list[_core.Statistics]:
    """The same statistics with formulas in Python: BLEU-1's callable, and the mean, once as callable, once as None."""
    bleu, rouge = native
    return [
        _core.Statistics.of_rows("bleu-1", bleu.values(), bleu.width, bleu_1),
        _core.Statistics.of_rows("rouge-l", table(rouge), 2),
        _core.Statistics.of_rows("rouge-l again", table(rouge), 2, mean),
    ]


def test_formulas_in_python_give_the_same_scores_intervals_and_p(systems: list[list[_core.Statistics]]) -> None:
    native = [[bleu, rouge, rouge] for bleu, rouge in systems]
    made = [in_python(system) for system in systems]
    for one, other in zip(chain(*native), chain(*made), strict=True):
        assert one.score() == other.score()
        assert one.row_scores() == other.row_scores()
    for threads in (1, 3):
        intervals = [_core.bootstrap_intervals(each[0], SAMPLES, LEVEL, SEED, threads) for each in (native, made)]
        assert intervals[0] == intervals[1]
        # Native and Python side by side, in one call.
        mixed = _core.bootstrap_intervals([systems[0][0], made[0][0], made[0][1]], SAMPLES, LEVEL, SEED, threads)
        assert mixed == [intervals[0][0], *intervals[0][:2]]
    named = [[bleu, rouge] for bleu, rouge, _ in made]
    assert _core.paired_bootstrap(named, SAMPLES, LEVEL, SEED) == _core.paired_bootstrap(systems, SAMPLES, LEVEL, SEED)
    assert _core.paired_permutation(named, SAMPLES, SEED) == _core.paired_permutation(systems, SAMPLES, SEED)
    # One system's statistics native, the other's made in Python.
    half = [systems[0], named[1]]
    assert _core.paired_permutation(half, SAMPLES, SEED) == _core.paired_permutation(systems, SAMPLES, SEED)


def test_a_formula_scores_any_sums(systems: list[list[_core.Statistics]]) -> None:
    for statistics in (*systems[0], *in_python(systems[0])):
        assert statistics.formula(statistics.sums()) == statistics.score()
        half = [number / 2 for number in statistics.select([3, 5]).sums()]
        assert statistics.formula(half) == statistics.formula(np.array(half))  # type: ignore[arg-type]
        assert statistics.formula(half) != statistics.score()
        with pytest.raises(UsageError, match=f"the formula takes {statistics.width} sums, got 1"):
            statistics.formula([1.0])


def test_statistics_of_python_are_selected_merged_and_grouped() -> None:
    made = _core.Statistics.of_rows("sum", np.arange(6.0).reshape(3, 2), 2, sum, lambda row: row[0])
    assert made.score() == 15.0
    assert np.frombuffer(made.row_scores()).tolist() == [0.0, 2.0, 4.0]
    assert np.frombuffer(made.select([2, 2, 0]).values()).tolist() == [4.0, 5.0, 4.0, 5.0, 0.0, 1.0]
    assert made.merge(made).score() == 30.0
    assert made.grouped([2, 1], best=True).score() == 3.0
    with pytest.raises(UsageError, match="cannot be added"):
        made.merge(_core.Statistics.of_rows("sum", np.zeros((1, 3)), 3, sum))


def test_an_exception_of_a_formula_is_raised(systems: list[list[_core.Statistics]]) -> None:
    calls: list[int] = []

    def failing(sums: list[float]) -> float:
        calls.append(threading.get_ident())
        raise ZeroDivisionError("no captions at all")

    made = _core.Statistics.of_rows("mine", np.ones((100, 2)), 2, failing)
    other = _core.Statistics.of_rows("mine", np.ones((100, 2)), 2)
    for call in (
        made.score,
        made.row_scores,
        lambda: _core.bootstrap_intervals([other, made], 5_000, LEVEL, SEED, 2),
        lambda: _core.paired_bootstrap([[other], [made]], 50, LEVEL, SEED),
        lambda: _core.paired_permutation([[made], [other]], 50, SEED),
    ):
        calls.clear()
        with pytest.raises(ZeroDivisionError, match="no captions at all"):
            call()
        assert len(calls) <= 2  # no more than each thread's first
    wrong = _core.Statistics.of_rows("mine", np.ones((2, 2)), 2, lambda sums: "high")  # type: ignore[arg-type,return-value]
    with pytest.raises(UsageError, match="mine: the formula must return a number, not str"):
        wrong.score()


@pytest.mark.parametrize(
    ("values", "width", "formula", "message"),
    [
        (np.ones(5), 2, None, "5 values cannot be cut into rows of 2"),
        (np.ones(5), 0, None, "5 values cannot be cut into rows of 0"),
        (np.ones((2, 3)), 3, None, "without a formula a row is .score, 1., of width 2 and not 3"),
        (np.array([[0.0, 1.0], [math.nan, 1.0]]), 2, None, "row 1, column 0 is NaN; statistics must be finite"),
        (np.ones((2, 2), dtype="float32"), 2, None, 'must be float64, not of the buffer format "f"'),
        (b"1234567", 2, None, "an array of float64 with 7 bytes too many"),
        (np.ones((2, 2)), 2, 3.0, "a formula must be callable, and float is not"),
    ],
)
def test_rows_are_checked(values: Any, width: int, formula: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _core.Statistics.of_rows("mine", values, width, formula)
    with pytest.raises(UsageError, match="a row_formula needs a formula"):
        _core.Statistics.of_rows("mine", np.ones((2, 2)), 2, None, mean)


@pytest.fixture(scope="module")
def corpus() -> _core.Corpus:
    return Corpus(example.references(), next(iter(example.systems().values())))._core


def test_unknown_and_missing_parameters_are_refused(corpus: _core.Corpus) -> None:
    rouge: dict[str, float] = {"beta": 1.2}
    assert _core.evaluate(corpus, [("rouge-l", "rouge-l", rouge)])
    with pytest.raises(UsageError, match="^rouge-l: no parameter is named gamma$"):
        _core.evaluate(corpus, [("rouge-l", "rouge-l", {**rouge, "gamma": 9.0})])
    with pytest.raises(UsageError, match="similarity: no parameter is named gamma"):
        _core.similarities(corpus, 0, {"kernel": "rouge-l", "gamma": 9.0})


def test_a_metric_names_the_resource_that_it_lacks(corpus: _core.Corpus) -> None:
    parameters: dict[str, Any] = {"pool": "best", "p": 1.0, "similarity": False, "normalise": False}
    with pytest.raises(UsageError, match="^WMD needs word vectors, which were not given$"):
        _core.evaluate(corpus, [("WMD", "wmd", parameters)])
    with pytest.raises(UsageError, match="^meteor needs METEOR's tables, which were not given$"):
        _core.evaluate(corpus, [("meteor", "meteor", {})])
    with pytest.raises(UsageError, match="^mine needs word vectors"):
        _core.evaluate(corpus, [("rouge-l", "rouge-l", {"beta": 1.2}), ("mine", "wmd", parameters)])


def test_members_of_a_mean_have_the_same_rows_and_positive_weights(corpus: _core.Corpus) -> None:
    [rouge] = _core.evaluate(corpus, [("rouge-l", "rouge-l", {"beta": 1.2})])
    assert _core.Statistics.combined("m", [(1.0, rouge), (3.0, rouge)]).score() == pytest.approx(rouge.score())
    for members in ([(1.0, rouge), (1.0, rouge.select([0]))], [(1.0, rouge), (0.0, rouge)], [(1e308, rouge)] * 2):
        with pytest.raises(UsageError, match="^m: its members have other rows, or weights that are not above 0"):
            _core.Statistics.combined("m", members)


def test_resources_are_native_and_of_different_types(corpus: _core.Corpus) -> None:
    metric = [("cider-d", "cider-d", {"n": 4.0, "sigma": 6.0})]
    frequencies = _core.DocumentFrequency.build(corpus.references, False, 4)
    [with_own], [with_given] = _core.evaluate(corpus, metric), _core.evaluate(corpus, metric, (frequencies,))
    assert with_given.values() == with_own.values()
    with pytest.raises(UsageError, match="document frequencies were given twice"):
        _core.evaluate(corpus, metric, [frequencies, frequencies])
    with pytest.raises(UsageError, match="int is not a resource of a metric"):
        _core.evaluate(corpus, metric, [3])


def test_numbers_of_images_are_checked(corpus: _core.Corpus) -> None:
    count = len(corpus.references)
    for call in (lambda: corpus.texts(count), lambda: _core.similarities(corpus, count, {"kernel": "rouge-l"})):
        with pytest.raises(UsageError, match=f"there is no image {count} among {count}"):
            call()
    with pytest.raises(UsageError, match="there is no row 2 of vectors"):
        _core.Embedded(2, np.ones(4).tobytes(), [[0], [2, -1]])
    with pytest.raises(UsageError, match="the labels per image do not add up to 1"):
        _core.Embedded(2, np.ones(4).tobytes(), [[0]], ([2], [0], [1.0]))
    captions = _core.Captions.from_dict({"a": ["a dog"]})
    with pytest.raises(UsageError, match="there is no image 1 among 1"):
        _core.References(captions, [1], "ptb")
    with pytest.raises(UsageError, match='there is no tokenizer "words"; the tokenizers are ptb'):
        _core.References(captions, [0], "words")
    reward = _core.Reward(_core.DocumentFrequency.from_token_ids(b"", [], [], 4), 4, 6.0)
    encoded = reward.encode(b"", [0], [1], 1)
    with pytest.raises(UsageError, match="there is no image 1 among 1"):
        encoded.select([1])
    with pytest.raises(UsageError, match="do not add up to 0 ids"):
        reward.score(b"", [1], encoded, 1)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_rewards_are_pickled_by_every_protocol(protocol: int) -> None:
    ids = np.arange(4, dtype="<u4").tobytes()
    reward = _core.Reward(_core.DocumentFrequency.from_token_ids(ids, [4], [1], 4), 4, 6.0)
    again = pickle.loads(pickle.dumps(reward, protocol))
    scores = [one.score(ids, [4], one.encode(ids, [4], [1], 1), 1) for one in (reward, again)]
    assert scores[0] == scores[1]
