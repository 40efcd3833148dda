"""The slow reference checks the fast code."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reference import Scores
from sacrecap import Score


def assert_equal(score: Score, slow: Scores, *, relative: float = 1e-12) -> None:
    """Corpus score and every image's score agree to `relative`, zeros exactly."""
    corpus, per_image = slow
    fast = list(score.per_image)
    assert len(fast) == len(per_image)
    found: Sequence[float] = [score.value, *fast]
    for number, (mine, theirs) in enumerate(zip(found, [corpus, *per_image], strict=True)):
        where = f"image {number - 1}" if number else "corpus"
        assert math.isclose(mine, theirs, rel_tol=relative), f"{score.metric}, {where}: {mine!r}, expected {theirs!r}"
