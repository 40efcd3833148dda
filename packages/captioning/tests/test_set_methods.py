"""Every way to make caption sets: valid sets of the size asked for, the same for the same seed, whatever the batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import pytest
import speakers
import torch

from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.encoders import encode
from sacrecap_captioning.generation import make_sets
from sacrecap_captioning.models import CGAN, CVAE, GMMCVAE, LatentCaptioner
from sacrecap_captioning.set_methods import METHODS, Beam, DiverseBeam, RandomSampling, TrainedSpeaker, set_method
from sets import score

Speaking: TypeAlias = "Callable[[str], TrainedSpeaker]"


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> CaptionedImages:
    return speakers.scenes(tmp_path_factory.mktemp("scenes"))


@pytest.fixture(scope="module")
def speaker(images: CaptionedImages) -> TrainedSpeaker:
    return speakers.speaker(images)


@pytest.fixture(scope="module")
def speaking(speaker: TrainedSpeaker, images: CaptionedImages) -> Callable[[str], TrainedSpeaker]:
    """The captioner for a method."""
    latent = speakers.speaker(images, CVAE)
    return lambda method: latent if method.startswith("drv") else speaker


@pytest.mark.parametrize("name", METHODS)
def test_every_method_writes_valid_sets(name: str, speaking: Speaking, images: CaptionedImages) -> None:
    speaker = speaking(name)
    made = make_sets(set_method(name), speaker, images[:5], captions=4, training=lambda: speakers.tokens(images))
    assert list(made) == [image.id for image in images[:5]]
    for captions in made.values():
        assert len(captions) == 4
        words = {word for caption in captions for word in caption.split()}
        assert words <= set(speaker.vocabulary.words) - {"<end>", "<unknown>"}
        assert all(len(caption.split()) <= speakers.LIMIT for caption in captions)
    assert 0 <= score(made)["self-cider"].value <= 1


@pytest.mark.parametrize("text", [*METHODS, "gnc(sigma=200)", "drv(spread=2, width=2)"])
def test_the_seed_decides_and_the_batch_does_not(text: str, speaking: Speaking, images: CaptionedImages) -> None:
    speaker = speaking(text)

    def made(seed: int, batch: int) -> dict[str, list[str]]:
        training = partial(speakers.tokens, images)
        method = set_method(text)
        return make_sets(method, speaker, images[:6], captions=3, seed=seed, batch=batch, training=training)

    assert made(1, 6) == made(1, 6) == made(1, 2) == made(1, 1)
    if text not in ("beam", "diverse-beam", "gnc"):  # searches have no chance; little noise may change no word
        assert made(1, 6) != made(2, 6)


def test_known_features_are_as_good_as_images(speaker: TrainedSpeaker, images: CaptionedImages) -> None:
    assert speaker.encoder is not None
    [features] = encode(images[:5], speaker.encoder)
    method = RandomSampling(temperature=0.5)
    assert make_sets(method, speaker, images[:5], features=features.rows) == make_sets(method, speaker, images[:5])


def test_a_beam_holds_each_caption_once(speaker: TrainedSpeaker, images: CaptionedImages) -> None:
    made = make_sets(Beam(), speaker, images[:4], captions=10)
    assert all(len(set(captions)) == 10 for captions in made.values())


def test_a_group_for_all_captions_is_a_beam(speaker: TrainedSpeaker, images: CaptionedImages) -> None:
    made = [make_sets(method, speaker, images[:4], captions=6) for method in (Beam(), DiverseBeam(groups=1))]
    assert made[0] == made[1]


@pytest.mark.parametrize(
    "text",
    [
        "rs",
        "rs(temperature=0.7, top_k=20)",
        "diverse-beam(penalty=2)",
        "rs(nucleus=0.9)",
        "gnc(width=3, sigma=2..5)",
        "ss(p=0.2)",
    ],
)
def test_a_method_prints_as_it_is_written(text: str) -> None:
    assert str(set_method(text)) == text
    assert set_method(str(set_method(text))) == set_method(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bean", "did you mean 'beam'"),
        ("rs(temperature=0)", "temperature must be a number above 0, got 0"),
        ("rs(temperature=warm)", "temperature must be a number above 0, got 'warm'"),
        ("rs(nucleus=1.5)", "nucleus must be a number above 0 and at most 1, got 1.5"),
        ("rs(top-k=2.5)", "top_k must be a whole number of at least 0, got 2.5"),
        ("rs(width=3)", "no parameter 'width'; its parameters: temperature, top_k, nucleus"),
        ("gnc(sigma=1-10)", "sigma must be a number or a range such as 1..10, of at least 0, got '1-10'"),
        ("ss(p=0.5..2)", "p must be a number or a range such as 1..10, from 0 to 1, got '0.5..2'"),
        ("beam(3)", "beam: no parameter '3'; its parameters: none (as beam)"),
        ("rs(temperature=1", "is not a way to make caption sets"),
    ],
)
def test_what_is_no_method_says_what_would_be(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        set_method(text)
    assert message in str(caught.value)


def test_numbers_of_captions_that_cannot_be(speaker: TrainedSpeaker, images: CaptionedImages) -> None:
    with pytest.raises(UsageError, match="one caption or more, got 0"):
        make_sets(RandomSampling(), speaker, images, captions=0)
    with pytest.raises(UsageError, match="groups must divide the 10 captions of a set, got 3"):
        make_sets(DiverseBeam(groups=3), speaker, images, captions=10)


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory"), torch.OutOfMemoryError("CUDA")]
)
def test_a_batch_that_does_not_fit(
    error: Exception, speaker: TrainedSpeaker, images: CaptionedImages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(speaker, "sample", full)
    with pytest.raises(DataError, match="4 images with 10 captions each do not fit into memory; use a smaller batch"):
        make_sets(RandomSampling(), speaker, images, batch=4)


def test_pixels_without_an_encoder(speaker: TrainedSpeaker, images: CaptionedImages) -> None:
    blind = TrainedSpeaker(speaker.model, speaker.vocabulary)
    with pytest.raises(UsageError, match="needs the encoder"):
        make_sets(RandomSampling(), blind, images)


@pytest.mark.parametrize("kind", [CVAE, GMMCVAE, CGAN])
@pytest.mark.parametrize("text", ["drv", "rs", "beam"])
def test_captioners_with_a_latent_vector(kind: type[LatentCaptioner], text: str, images: CaptionedImages) -> None:
    speaker = speakers.speaker(images, kind)
    made = [make_sets(set_method(text), speaker, images[:4], captions=3, batch=batch) for batch in (4, 1)]
    assert made[0] == made[1]


def test_draws_of_no_spread_are_all_the_same(images: CaptionedImages) -> None:
    speaker = speakers.speaker(images, CVAE)
    still, wide = (make_sets(set_method(f"drv(spread={spread})"), speaker, images[:4], captions=5) for spread in "09")
    assert all(len(set(captions)) == 1 for captions in still.values())
    assert any(len(set(captions)) > 1 for captions in wide.values())


def test_a_captioner_without_a_latent_vector(speaker: TrainedSpeaker, images: CaptionedImages) -> None:
    with pytest.raises(UsageError, match="latent vectors, which fc does not have; these do: cvae, gmm-cvae, cgan"):
        make_sets(set_method("drv"), speaker, images)
