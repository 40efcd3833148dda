"""Synonym switching: neighbours from captions, and which words are switched how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
import speakers

from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.generation import make_sets
from sacrecap_captioning.set_methods import Span, SynonymSwitching, TrainedSpeaker, near_words, switched


@pytest.fixture(scope="module")
def captions(images: CaptionedImages) -> list[list[str]]:
    return speakers.tokens(images)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> CaptionedImages:
    return speakers.scenes(tmp_path_factory.mktemp("scenes"), 60)


@pytest.fixture(scope="module")
def speaker(images: CaptionedImages) -> TrainedSpeaker:
    return speakers.speaker(images)


def near(word: str) -> tuple[Sequence[str], npt.NDArray[np.float64]]:
    """Dogs are cats, or pups thrice as often; nothing else is near anything."""
    return (["cat", "pup"], np.array([0.25, 0.75])) if word == "dog" else ([], np.zeros(0))


def test_words_with_neighbours_are_switched_as_often_as_asked() -> None:
    chance = np.random.default_rng(1)
    said = Counter(" ".join(switched(["a", "dog"], 0.4, near, chance)) for _ in range(10_000))
    assert set(said) == {"a dog", "a cat", "a pup"}
    assert said["a dog"] / 10_000 == pytest.approx(0.6, abs=0.02)
    assert said["a pup"] / 10_000 == pytest.approx(0.3, abs=0.02)


def test_neighbours_are_likely_as_they_are_near(captions: list[list[str]]) -> None:
    found = near_words(captions, 3, 5)
    others, likelihood = found("circle")
    assert 0 < len(others) <= 3
    assert "circle" not in others
    assert likelihood.sum() == pytest.approx(1)
    assert (np.diff(likelihood) <= 0).all()
    again, same = near_words(captions, 3, 5)("circle")
    assert (again, same.tolist()) == (others, likelihood.tolist())
    assert found("zebra")[0] == []


def test_a_set_begins_with_the_caption_that_is_switched(speaker: TrainedSpeaker, images: CaptionedImages) -> None:
    def training() -> list[list[str]]:
        return speakers.tokens(images)

    never, always = (
        make_sets(SynonymSwitching(p=p), speaker, images[:4], captions=5, training=training)
        for p in (Span("0"), Span("0..1"))
    )
    for image, captions in never.items():
        assert len(set(captions)) == 1
        assert always[image][0] == always[image][1] == captions[0]
        assert all(len(caption.split()) == len(captions[0].split()) for caption in always[image])
        assert always[image][-1] != captions[0] or not captions[0]
    assert any(captions[0] for captions in never.values())


def test_what_is_missing(speaker: TrainedSpeaker, images: CaptionedImages) -> None:
    with pytest.raises(UsageError, match="from training captions; give some"):
        make_sets(SynonymSwitching(), speaker, images)
    with pytest.raises(DataError, match="1 training captions have none; give more captions"):
        near_words([["a", "dog"]], 10, 5)
    with pytest.raises(DataError, match="0 training captions"):
        near_words([], 10, 1)
