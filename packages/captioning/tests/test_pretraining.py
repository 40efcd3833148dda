"""An encoder that learns words from scratch."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from sacrecap.errors import UsageError
from sacrecap_captioning.data.encoder import load_encoder
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.data.scenes import write_scenes
from sacrecap_captioning.training.pretraining import prepared_encoder, train_on_words


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> CaptionedImages:
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, 200)
    return CaptionedImages.read(folder).split("train")


def tokens(images: CaptionedImages) -> list[list[list[str]]]:
    return [[text.split() for text in image.references] for image in images]


def test_it_learns(scenes: CaptionedImages) -> None:
    torch.manual_seed(0)
    encoder = load_encoder("small")
    losses: dict[int, float] = {}
    train_on_words(
        encoder, scenes, tokens(scenes), epochs=4, progress=lambda step, _, loss: losses.update({step: loss})
    )
    assert list(losses) == list(range(1, 41))
    assert losses[40] < 0.6 * losses[1]
    assert not encoder.training


def test_the_same_seed_gives_the_same_weights_which_are_kept(scenes: CaptionedImages, tmp_path: Path) -> None:
    before = torch.get_rng_state()
    few = scenes[:32]
    steps: list[int] = []

    def prepare(folder: str, seed: int = 0) -> str:
        return prepared_encoder(
            few, tokens(few), tmp_path / folder, epochs=1, seed=seed, progress=lambda step, *_: steps.append(step)
        ).checksum

    first = prepare("a")
    trained = len(steps)
    assert prepare("a") == first
    assert len(steps) == trained > 0
    assert prepare("b") == first != prepare("b", seed=1)
    assert torch.equal(torch.get_rng_state(), before)


def test_other_weights_are_those_of_the_encoder(scenes: CaptionedImages, tmp_path: Path) -> None:
    random = prepared_encoder(scenes, [], tmp_path / "none", weights="random", seed=3)
    assert random.checksum == prepared_encoder(scenes, [], tmp_path / "none", weights="random", seed=3).checksum
    assert not any(weight.requires_grad for weight in random.parameters())
    assert not (tmp_path / "none").exists()
    with pytest.raises(UsageError, match="neither a file nor 'random' or 'words'"):
        prepared_encoder(scenes, [], tmp_path, weights="DEFAULT")
