"""Folds of parts of a corpus give the bits that the whole corpus gives."""

from __future__ import annotations

import pickle
import random
from array import array
from collections.abc import Callable
from math import isnan

import pytest

from sacrecap import _core
from sacrecap.errors import DataError, UsageError

SAMPLES, SEED, LEVEL = 60, 5, 0.9

BLEU = {"smoothing": "coco", "k": 1.0, "length": "closest", "brevity": True}
METRICS = [(f"bleu-{n}", "bleu", {"n": float(n), **BLEU}) for n in (1, 4)]


def ratio(sums: list[float]) -> float:
    """NaN where a row has no second number."""
    return sums[0] / sums[1] if sums[1] else float("nan")


def best(sums: list[float]) -> float:
    return max(sums)


def of_rows(name: str, values: list[float], width: int, formula: Callable[[list[float]], float]) -> _core.Statistics:
    return _core.Statistics.of_rows(name, array("d", values), width, formula)


def statistics(rows: list[tuple[float, float, float]]) -> list[_core.Statistics]:
    """A mean, formulas in Python, a combination; rows without a score, large and small numbers."""
    mean = _core.Statistics.of_rows("mean", array("d", [x for a, _, _ in rows for x in (a, 1.0)]), 2)
    of_two = of_rows("ratio", [x for _, b, c in rows for x in (b, c)], 2, ratio)
    of_three = of_rows("best", [x for row in rows for x in row], 3, best)
    return [mean, of_two, of_three, _core.Statistics.combined("both", [(1.0, mean), (3.0, of_three)])]


def random_rows(seed: int, count: int = 90) -> tuple[list[str], list[tuple[float, float, float]]]:
    draw = random.Random(seed)
    rows = [(draw.random(), draw.gauss(0, 1e6), float(draw.randrange(3))) for _ in range(count)]
    return [f"image {draw.random()}" for _ in rows], rows


def parts(count: int, draw: random.Random) -> list[list[int]]:
    """A random partition of the rows in random order, with empty parts."""
    order = draw.sample(range(count), count)
    cuts = sorted(draw.choices(range(count + 1), k=draw.randrange(6)))
    return [order[start:end] for start, end in zip([0, *cuts], [*cuts, count], strict=True)]


def folded(
    ids: list[str], tables: list[_core.Statistics], rows: list[int], threads: int = 1, *, rebuilt: bool = False
) -> _core.Fold:
    fold = _core.Fold(SAMPLES, SEED)
    if rows != list(range(len(ids))):
        tables = [table.select(rows) for table in tables]
    fold.add(tables, [ids[row] for row in rows], threads)
    if rebuilt:
        return _core.Fold.from_bytes(fold.to_bytes(), [table.select([]) for table in tables])
    return fold


def merged(ids: list[str], tables: list[_core.Statistics], seed: int) -> _core.Fold:
    """Over random parts, some of which went through bytes."""
    draw = random.Random(seed)
    whole = _core.Fold(SAMPLES, SEED)
    for rows in parts(len(ids), draw):
        whole.merge(folded(ids, tables, rows, draw.choice([1, 2]), rebuilt=draw.random() < 0.5))
    return whole


def exact(*numbers: object) -> str:
    """Equal for equal bits, NaN too."""
    return repr(numbers)


@pytest.mark.parametrize("seed", range(6))
def test_any_partition_gives_the_bits_of_the_whole(seed: int) -> None:
    ids, rows = random_rows(seed)
    tables = statistics(rows)
    fold = merged(ids, tables, seed)
    assert fold.rows == len(ids)
    assert fold.names == ["mean", "ratio", "best", "both"]
    assert exact(fold.scores(), fold.sums()) == exact([t.score() for t in tables], [t.sums() for t in tables])
    assert exact(fold.intervals(LEVEL)) == exact(_core.bootstrap_intervals(tables, SAMPLES, LEVEL, SEED, 2, ids))
    nan = [sum(map(isnan, memoryview(table.row_scores()).cast("d"))) for table in tables]
    assert fold.unscored() == nan
    assert nan[1] > 0
    assert exact(*(fold.statistics(i).score() for i in range(len(tables)))) == exact(*fold.scores())


@pytest.mark.parametrize("seed", range(3))
def test_paired_tests_over_parts_too(seed: int) -> None:
    ids, rows = random_rows(seed)
    systems = [statistics(rows), statistics([(b, c, a) for a, b, c in rows]), statistics(rows[::-1])]
    folds = [merged(ids, tables, seed + place) for place, tables in enumerate(systems)]
    expected = _core.paired_bootstrap(systems, SAMPLES, LEVEL, SEED, 1, ids)
    assert exact(_core.Fold.paired(folds, LEVEL)) == exact(expected)


def test_metrics_that_share_statistics() -> None:
    """BLEU-1 and BLEU-4 have one table; picked rows of them have two."""
    ids = [f"{image}" for image in range(40)]
    draw = random.Random(1)
    words = ["a", "dog", "runs", "on", "the", "green", "grass", "and", "sleeps"]

    def sentence() -> str:
        return " ".join(draw.choices(words, k=draw.randrange(1, 9)))

    references = _core.Captions.from_dict({image: [sentence(), sentence()] for image in ids})
    candidates = _core.Captions.from_dict({image: sentence() for image in ids})
    encoded = _core.References(references, range(40), "ptb")
    tables = _core.evaluate(_core.Corpus(encoded, candidates, range(40)), METRICS)
    expected = _core.bootstrap_intervals(tables, SAMPLES, LEVEL, SEED, 1, ids)
    for seed in range(3):
        fold = folded(ids, tables, list(range(40)))
        assert exact(fold.intervals(LEVEL)) == exact(expected)
        fold = merged(ids, tables, seed)
        assert exact(fold.intervals(LEVEL), fold.scores()) == exact(expected, [table.score() for table in tables])
    shared = folded(ids, tables, list(range(40)))
    shared.merge(merged([f"other {i}" for i in ids], tables, 1))
    apart = merged([f"other {i}" for i in ids], tables, 2)
    apart.merge(folded(ids, tables, list(range(40))))
    assert exact(shared.intervals(LEVEL)) == exact(apart.intervals(LEVEL))


def test_pickling() -> None:
    ids, rows = random_rows(1)
    fold = merged(ids, statistics(rows), 3)
    again = pickle.loads(pickle.dumps(fold))
    assert exact(again.intervals(LEVEL), again.scores(), again.unscored()) == exact(
        fold.intervals(LEVEL), fold.scores(), fold.unscored()
    )
    empty = pickle.loads(pickle.dumps(_core.Fold(7, 8)))
    assert (empty.rows, empty.samples, empty.seed) == (0, 7, 8)


def test_damaged_bytes_are_refused() -> None:
    ids, rows = random_rows(1, 5)
    tables = statistics(rows)
    data = folded(ids, tables, list(range(5))).to_bytes()
    draw = random.Random(0)
    for place in draw.sample(range(len(data)), 200):
        with pytest.raises(DataError, match="a fold"):
            _core.Fold.from_bytes(data[:place], tables)
        changed = bytearray(data)
        changed[place] ^= 1 << draw.randrange(8)
        with pytest.raises(DataError, match="a fold"):
            _core.Fold.from_bytes(bytes(changed), tables)
    with pytest.raises(DataError, match="a fold of other metrics"):
        _core.Fold.from_bytes(data, tables[:2])


def test_what_does_not_fit_is_refused() -> None:
    ids, rows = random_rows(1, 5)
    tables = statistics(rows)
    fold = folded(ids, tables, list(range(5)))
    before = exact(fold.intervals(LEVEL))
    with pytest.raises(UsageError, match="5 rows, and ids of 4 images"):
        fold.add(tables, ids[:4])
    with pytest.raises(UsageError, match="a fold of mean, ratio, best, both cannot take rows of mean"):
        fold.add(tables[:1], ids)
    wider = of_rows("ratio", [1.0] * 15, 3, ratio)
    with pytest.raises(UsageError, match="other columns"):
        fold.add([tables[0], wider, *tables[2:]], ids)
    with pytest.raises(UsageError, match="twice"):
        fold.merge(fold)
    with pytest.raises(UsageError, match="another seed"):
        fold.merge(_core.Fold(SAMPLES, SEED + 1))
    assert exact(fold.intervals(LEVEL)) == before
    with pytest.raises(UsageError, match="different images"):
        _core.Fold.paired([fold, folded([*ids[1:], "x"], tables, list(range(5)))], LEVEL)
    for empty in (_core.Fold(SAMPLES, SEED), _core.Fold(0, SEED)):
        with pytest.raises(UsageError, match="at least one sample"):
            empty.intervals(LEVEL)
    scores = _core.Fold(0, SEED)
    scores.add(tables, ids)
    assert exact(scores.scores()) == exact(fold.scores())


def test_exceptions_of_formulas_are_raised_and_leave_the_fold_as_it_was() -> None:
    def broken(sums: list[float]) -> float:
        raise ValueError("no score")

    table = of_rows("broken", [1.0, 2.0], 2, broken)
    fold = _core.Fold(SAMPLES, SEED)
    with pytest.raises(ValueError, match="no score"):
        fold.add([table], ["1"])
    assert fold.rows == 0
