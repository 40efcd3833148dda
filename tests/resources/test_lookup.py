"""Which vectors stand for a label."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sacrecap._core import singulars
from sacrecap.resources.embeddings import Embeddings, open_embeddings

WORDS = [
    "Paris",
    "paris",
    "dog",
    "potted_plant",
    "hot",
    "dogs",
    "wine",
    "glass",
    "cellphone",
    "traffic",
    "teddy-bear",
    "bottle",
    "child",
    "knife",
    "bus",
    "of",
]


@pytest.fixture
def embeddings(tmp_path: Path) -> Embeddings:
    np.savez(tmp_path / "a.npz", words=np.array(WORDS), vectors=np.eye(len(WORDS)))
    return open_embeddings(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ("Paris", "Paris"),  # as given
        ("PARIS", "paris"),  # lower case
        ("Dog", "dog"),
        ("dogs", "dogs"),  # a plural that is known is not changed
        ("DOGS", "dogs"),
        ("knives", "knife"),
        ("children", "child"),
        ("buses", "bus"),
        ("potted plant", "potted_plant"),  # joined
        ("potted-plant", "potted_plant"),
        ("Potted Plants", "potted_plant"),
        ("cell phone", "cellphone"),
        ("teddy bears", "teddy-bear"),
        ("wine-glass", "wine+glass"),  # the mean of its parts
        ("hot dog", "hot+dog"),
        ("wine glasses", "wine+glass"),
        ("bottle of the wine", "bottle+wine"),  # function words do not count
        ("traffic light", None),  # one part is unknown
        ("of the", None),
        ("", None),
        (" - ", None),
        ("bu", None),
        ("glas", None),
    ],
)
def test_policy(embeddings: Embeddings, label: str, found: str | None) -> None:
    vectors, known = embeddings.find([label])
    expected = np.zeros(len(WORDS))
    if found is not None:
        parts = found.split("+")
        expected[[WORDS.index(part) for part in parts]] = 1 / len(parts)
    assert known.tolist() == [found is not None]
    np.testing.assert_array_equal(vectors[0], expected)


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("dogs", "dog"),
        ("ponies", "pony"),
        ("cookies", "cookie"),
        ("leaves", "leaf"),
        ("gloves", "glove"),
        ("dresses", "dress"),
        ("benches", "bench"),
        ("dishes", "dish"),
        ("boxes", "box"),
        ("tomatoes", "tomato"),
        ("horses", "horse"),
        ("buses", "bus"),
        ("women", "woman"),
        ("firemen", "fireman"),
        ("people", "person"),
    ],
)
def test_singulars(plural: str, singular: str) -> None:
    assert singular in list(singulars(plural))


@pytest.mark.parametrize("word", ["glass", "bus", "tennis", "dog", "is", "as", "s", ""])
def test_what_is_no_plural(word: str) -> None:
    assert not list(singulars(word))


def test_no_labels(embeddings: Embeddings) -> None:
    vectors, known = embeddings.find([])
    assert vectors.shape == (0, len(WORDS))
    assert known.shape == (0,)
