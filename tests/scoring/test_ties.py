"""When scores are equal: at the limits, in one number and in arrays."""

import numpy as np
import pytest

from reference import agreement as slow
from sacrecap.judgments.agreement_statistics import correlate, plain
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.ranks import gaps, same


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


@pytest.mark.parametrize(("far", "tied"), [(0.9e-9, True), (1.1e-9, False)])
def test_rank_correlations_tie_as_accuracy_does(far: float, tied: bool) -> None:
    """Kendall's τ and Spearman's ρ; Pearson's r has no ties."""
    scores, ratings = [0.5, 0.5 + far, 0.7, 0.9], [2.0, 1.0, 3.0, 4.0]
    exact = [0.5, 0.5, 0.7, 0.9] if tied else [1.0, 2.0, 3.0, 4.0]
    found, wanted = plain(scores, ratings), slow.correlations(exact, ratings)
    for name in ("kendall_b", "kendall_c", "spearman"):
        assert found[name] == pytest.approx(wanted[name], abs=1e-12), name
    images = np.zeros(4, dtype="<u4")
    within = correlate(np.array(scores), [(one,) for one in ratings], images, Resampling(None))
    assert within["in_image.kendall_b"].value == pytest.approx(wanted["kendall_b"], abs=1e-12)


def test_no_score_is_no_gap() -> None:
    assert gaps(np.array([np.nan, 1.0]), np.array([1.0, np.nan])).tolist() == [0, 0]
