"""When scores are equal: at the limits, in one number and in arrays."""

import numpy as np
import pytest

from sacrecap.scoring.ties import gaps, same


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (0.5, 0.5 + 0.9e-9, True),
        (0.5, 0.5 + 1.1e-9, False),
        (8.0, 8.0 + 7e-9, True),
        (8.0, 8.0 + 9e-9, False),
        (1e-5, 1.0000009e-5, True),
        (1e-5, 1.000002e-5, False),
        (1e-8, 2e-8, False),
        (0.0, 1e-300, False),
        (0.0, 0.0, True),
        (float("inf"), float("inf"), True),
    ],
)
def test_scores_that_only_rounding_tells_apart(a: float, b: float, equal: bool) -> None:
    for one, other in ((a, b), (b, a), (-a, -b)):
        assert same(one, other) == equal
        if np.isfinite(a):
            [gap] = gaps(np.array([one]), np.array([other]))
            assert gap == (0.0 if equal else one - other)


def test_no_score_is_no_gap() -> None:
    assert gaps(np.array([np.nan, 1.0]), np.array([1.0, np.nan])).tolist() == [0, 0]
