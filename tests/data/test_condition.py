"""What the parameter `keep` of an engine keeps: a score at the limit, above it, below it, and none."""

from __future__ import annotations

import numpy as np
import pytest

from sacrecap.data.partitioned.condition import Condition
from sacrecap.errors import UsageError

SCORES = {"a": np.array([0.2, 0.3, 0.4, np.nan]), "b": np.array([1.0, 2.0, 3.0, 4.0])}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a > 0.3", [False, False, True, False]),
        ("a >= 0.3", [False, True, True, False]),
        ("a < 0.3", [True, False, False, False]),
        ("a <= 0.3", [True, True, False, False]),
        ("a >= 0.3 and b < 3", [False, True, False, False]),
        ("all", [True, True, True, True]),
    ],
)
def test_which_images_a_condition_keeps(text: str, kept: list[bool]) -> None:
    assert Condition.parse(text).holds(SCORES, 4).tolist() == kept


def test_a_condition_of_an_unknown_score_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no score 'c'; there are a, b"):
        Condition.parse("c > 1").check(SCORES)
