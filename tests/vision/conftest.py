"""Generated images, and small real models with random weights: nothing is downloaded."""

from __future__ import annotations

import random
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a detector finds is kept for the test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A folder with five images of random rectangles, of several sizes and modes."""
    from PIL import Image

    folder = tmp_path / "images"
    folder.mkdir()
    chance = random.Random(1)
    for number, mode in enumerate(["RGB", "L", "RGBA", "P", "RGB"]):
        image = Image.new("RGB", (60 + 20 * number, 80), "white")
        for _ in range(4):
            left, top = chance.randrange(40), chance.randrange(50)
            colour = tuple(chance.randrange(256) for _ in range(3))
            image.paste(colour, (left, top, left + 20, top + 25))
        image.convert(mode).save(folder / f"scene_{number:04}.png")
    (folder / "notes.txt").write_text("no image")
    return folder


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A YOLOS checkpoint with two labels, as `save_pretrained` writes it."""
    import torch
    from transformers import YolosConfig, YolosForObjectDetection, YolosImageProcessor
    from transformers.utils import logging

    folder = tmp_path_factory.mktemp("yolos")
    torch.manual_seed(0)
    logging.disable_progress_bar()
    config = YolosConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        image_size=[64, 64],
        num_detection_tokens=5,
        id2label={0: "cat", 1: "potted plant"},
        label2id={"cat": 0, "potted plant": 1},
    )
    YolosForObjectDetection(config).save_pretrained(folder)
    YolosImageProcessor(size={"height": 64, "width": 64}).save_pretrained(folder)
    return folder
