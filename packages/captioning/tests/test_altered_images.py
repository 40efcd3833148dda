"""Crops and noise: what they do to pixels."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from sacrecap_captioning.set_methods import noisy, random_crop


def gradient(side: int) -> Image.Image:
    """Red grows to the right, green downwards."""
    ramp = np.linspace(0, 255, side)
    return Image.fromarray(np.stack([*np.meshgrid(ramp, ramp), np.zeros((side, side))], 2).astype(np.uint8))


def test_crops_are_cut_from_256_for_224_everywhere() -> None:
    chance = np.random.default_rng(1)
    corners = set()
    for _ in range(200):
        crop = np.asarray(random_crop(gradient(256), 224, chance), dtype=int)
        assert crop.shape == (224, 224, 3)
        left, top = crop[0, 0, 0], crop[0, 0, 1]
        assert np.abs(crop - np.asarray(gradient(256), dtype=int)[top : top + 224, left : left + 224]).max() <= 1
        corners.add((left, top))
    assert {min(corner[axis] for corner in corners) for axis in (0, 1)} == {0}
    assert {max(corner[axis] for corner in corners) for axis in (0, 1)} == {32}
    assert len(corners) > 150


def test_crops_are_in_proportion() -> None:
    assert random_crop(gradient(100), 64, np.random.default_rng(1)).size == (64, 64)


@pytest.mark.parametrize("sigma", [0.0, 1.0, 10.0])
def test_noise_has_its_deviation_on_the_pixels_of_the_encoder(sigma: float) -> None:
    grey = Image.new("RGB", (300, 200), (128, 128, 128))
    pixels = np.asarray(noisy(grey, 64, np.random.default_rng(1), sigma=sigma), dtype=float)
    assert pixels.shape == (64, 64, 3)
    assert pixels.mean() == pytest.approx(128, abs=0.3)
    assert pixels.std() == pytest.approx(sigma, abs=0.05 + 0.05 * sigma)


def test_noise_stays_in_range() -> None:
    black = Image.new("RGB", (16, 16))
    pixels = np.asarray(noisy(black, 16, np.random.default_rng(1), sigma=50.0))
    assert pixels.min() == 0
    assert pixels.max() < 255
