"""An encoder that learns words from scratch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sacrecap.errors import UsageError
from sacrecap_captioning import training_run as pretraining
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.encoders import load_encoder
from sacrecap_captioning.scenes import write_scenes
from sacrecap_captioning.settings import Settings
from sacrecap_captioning.training_run import first_encoder, learn_words


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> CaptionedImages:
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, 200)
    return CaptionedImages.of_data_set(folder).split("train")


def settings(**changes: Any) -> Settings:
    return Settings("scenes", **{"weights": "words", "encoder_epochs": 1, **changes})


def test_it_learns(scenes: CaptionedImages, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    encoder = load_encoder("small")
    losses: list[float] = []
    telling = pretraining._telling_loss

    def noted(*given: Any) -> torch.Tensor:
        losses.append((loss := telling(*given)).item())
        return loss

    monkeypatch.setattr(pretraining, "_telling_loss", noted)
    learn_words(encoder, scenes, settings(encoder_epochs=4))
    assert len(losses) == 40
    assert losses[-1] < 0.6 * losses[0]
    assert not encoder.training


def test_the_same_seed_gives_the_same_weights_which_are_kept(scenes: CaptionedImages, tmp_path: Path) -> None:
    before = torch.get_rng_state()
    few = scenes[:32]
    steps: list[int] = []

    def prepare(folder: str, seed: int = 0) -> str:
        return first_encoder(
            few, settings(seed=seed), tmp_path / folder, progress=lambda _, step, of: steps.append(step)
        ).checksum

    first = prepare("a")
    trained = len(steps)
    assert prepare("a") == first
    assert len(steps) == trained > 0
    assert prepare("b") == first != prepare("b", seed=1)
    assert torch.equal(torch.get_rng_state(), before)


def test_other_weights_are_those_of_the_encoder(scenes: CaptionedImages, tmp_path: Path) -> None:
    one, other = (first_encoder(scenes, settings(weights="random", seed=3), tmp_path / "none") for _ in range(2))
    assert one.checksum == other.checksum
    assert not any(weight.requires_grad for weight in one.parameters())
    assert not (tmp_path / "none").exists()
    with pytest.raises(UsageError, match="neither a file nor 'random' or 'words'"):
        first_encoder(scenes, settings(weights="DEFAULT"), tmp_path)
