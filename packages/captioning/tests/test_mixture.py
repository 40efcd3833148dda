"""The text form of losses: it parses, prints back, moves over steps, and refuses what it cannot mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacrecap.errors import UsageError
from sacrecap.metrics.weighted_sum import Weight
from sacrecap_captioning.settings import Mixture

numbers = st.floats(0, 1e6, allow_nan=False).map(lambda number: round(number, 3))
weights = st.one_of(
    numbers.map(lambda weight: Weight(weight, weight)),
    st.builds(
        lambda start, end, first, length: (
            Weight(start, end, first, first + length) if start != end else Weight(end, end)
        ),
        numbers,
        numbers,
        st.integers(0, 10_000),
        st.integers(1, 10_000),
    ),
)
names = st.lists(
    st.sampled_from(["xe", "retrieval", "cider-d", "cider-d(sigma=5)", "bleu-4", "combine(meteor, rouge-l)"]),
    min_size=1,
    unique=True,
)


@given(names=names, data=st.data())
def test_prints_what_it_parses(names: list[str], data: st.DataObject) -> None:
    chosen = [data.draw(weights) for _ in names]
    if all(weight.is_nothing for weight in chosen):
        chosen[0] = Weight(1, 1)
    mixture = Mixture(tuple(zip(names, chosen, strict=True)))
    assert Mixture.parse(str(mixture)) == mixture


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("xe", "xe"),
        (" XE+5 * CIDEr-D ", "xe + 5*cider-d"),
        ("xe + 5.0*cider-d(sigma=6)", "xe + 5*cider-d"),
        ("xe + 0*cider-d", "xe + 0*cider-d"),
        ("0..5@1000 * cider-d(n=4, sigma=5) + 2*retrieval", "0..5@1000*cider-d(sigma=5) + 2*retrieval"),
        ("1..0@500-1000*xe + .5*combine(bleu-4, rouge-l)", "1..0@500-1000*xe + 0.5*combine(bleu-4, rouge-l)"),
        ("3..3@7*xe", "3*xe"),
    ],
)
def test_one_way_to_write_it(text: str, printed: str) -> None:
    assert str(Mixture.parse(text)) == printed


def test_weights_move_along_a_line_and_stay() -> None:
    mixture = Mixture.parse("1..0@100*xe + 0..5@100-200*cider-d + 2*retrieval")
    assert mixture.at(0) == {"xe": 1, "retrieval": 2}
    assert mixture.at(50) == {"xe": 0.5, "retrieval": 2}
    assert mixture.at(100) == {"retrieval": 2}
    assert mixture.at(150) == {"cider-d": 2.5, "retrieval": 2}
    assert mixture.at(200) == mixture.at(10**9) == {"cider-d": 5, "retrieval": 2}
    assert Mixture.parse("5..0@500-1000*cider-d").at(0) == {"cider-d": 5}, "before its first step it does not move"
    assert mixture.rewards == ("cider-d", "retrieval")
    assert Mixture.parse("5..0@500-1000*cider-d").at(0) == {"cider-d": 5}
    assert Mixture.parse("xe + 0*cider-d").rewards == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nothing is not of the form weight\\*name, as in"),
        ("xe + ", "nothing is not of the form"),
        ("-1*xe", "a weight is a number of at least 0, got -1"),
        ("x*xe", "x\\*xe is not of the form"),
        ("5*", "5\\* is not of the form"),
        ("0..5*cider-d", "not of the form"),
        ("xe + xe", "xe occurs twice; add its weights"),
        ("0*xe", "every weight is 0"),
        ("0..1e999@5*xe", "a weight is a number of at least 0, got 0..inf@5"),
        ("cidre-d", "did you mean 'cider-d'.*; a loss also takes xe, retrieval, evaluator"),
        ("xe + coco", "coco is a group of 7 metrics; name each"),
        ("0..5@0*cider-d", "a weight moves over steps, .* got 0..5@0"),
        ("0..5@9-3*cider-d", "a weight moves over steps, .* got 0..5@9-3"),
    ],
)
def test_what_it_refuses(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Mixture.parse(text)
