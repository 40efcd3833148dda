"""Our SPICE against the recorded scores of the original program; the bounds are those of today's parser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import recorded_spice
import sacrecap

Scores = npt.NDArray[np.float64]


def both(data: Path, corpus: str) -> tuple[list[str], Scores, Scores]:
    """The images of a corpus, the original's scores, and ours."""
    recorded = recorded_spice.read()[corpus]
    references, candidates = recorded_spice.corpora(data)[corpus]
    assert list(recorded) == list(references)
    result = sacrecap.score(references, candidates, "spice", interval=None)
    assert list(result.image_ids) == list(references)
    return list(recorded), np.array(list(recorded.values())), result["spice"].per_image


@pytest.mark.parametrize(
    ("corpus", "images", "equal", "means_apart", "correlation"),
    [
        ("pascal50s", 8000, 0.61, 0.003, 0.97),
        ("pascal50s-1", 8000, 0.84, 0.003, 0.96),
        ("coco-val2017", 5000, 0.575, 0.0015, 0.985),
    ],
)
def test_scores(shared: Path, corpus: str, images: int, equal: float, means_apart: float, correlation: float) -> None:
    _, original, ours = both(shared / "data", corpus)
    assert len(original) == images
    assert np.mean(np.abs(original - ours) < 1e-6) > equal
    assert abs(original.mean() - ours.mean()) < means_apart
    assert np.corrcoef(original, ours)[0, 1] > correlation


@pytest.mark.parametrize("corpus", ["pascal50s", "pascal50s-1"])
def test_agreement_with_people(shared: Path, corpus: str) -> None:
    """On PASCAL-50S, by category and over all pairs."""
    data = shared / "data"
    captions, *scores = both(data, corpus)
    original, ours = (
        recorded_spice.agreement(data, dict(zip(captions, side.tolist(), strict=True))) for side in scores
    )
    assert ours == pytest.approx(original, abs=0.0101)
