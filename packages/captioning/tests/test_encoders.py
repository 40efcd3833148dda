"""Encoders by name, and the cache of frozen features."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.encoders import cached_features, encode, load_encoder, read_pixels, to_pixels
from sacrecap_captioning.scenes import write_scenes


@pytest.fixture(autouse=True)
def _deterministic() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> CaptionedImages:
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, 20)
    return CaptionedImages.of_data_set(folder)


def test_pooled_and_grid() -> None:
    found = load_encoder("small", side=64).eval()(torch.rand(2, 3, 64, 64))
    assert found.pooled.shape == (2, 128)
    assert found.grid.shape == (2, 16, 128)
    torch.testing.assert_close(found.pooled, found.grid.mean(1))


def test_names_weights_and_sides_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="'resnet18' is neither small nor a vision model .* such as microsoft/resnet-18"
    ):
        load_encoder("resnet18")
    with pytest.raises(UsageError, match="of small are neither a file"):
        load_encoder("small", weights="DEFAULT")
    (tmp_path / "weights.pt").write_bytes(b"none")
    with pytest.raises(DataError, match="is not a state dict of the encoder small"):
        load_encoder("small", weights=str(tmp_path / "weights.pt"))


def test_a_folder_called_small_is_no_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small").mkdir()
    assert load_encoder("small").feature == 128
    with pytest.raises(DataError, match="small: no vision checkpoint could be loaded"):
        load_encoder("./small")


def test_features_are_the_same_for_any_batch_and_from_the_cache(scenes: CaptionedImages, tmp_path: Path) -> None:
    encoder = load_encoder("small")
    [whole] = encode(scenes, encoder, batch=20)
    done: list[int] = []
    cached = cached_features(scenes, encoder, tmp_path / "features", batch=7, progress=done.append)
    assert done == [7, 14, 20]
    again = cached_features(scenes, encoder, tmp_path / "features", progress=done.append)
    assert done == [7, 14, 20]
    everything = torch.arange(20)
    for part in (0, 1):
        torch.testing.assert_close(cached(everything)[part], whole[part])
        assert torch.equal(cached(everything)[part], again(everything)[part])
    assert encoder.training
    other = cached_features(scenes, load_encoder("small"), tmp_path / "features")
    assert not torch.equal(other(everything).grid, cached(everything).grid)


def test_what_is_cut_off_or_no_number_leaves_nothing(scenes: CaptionedImages, tmp_path: Path) -> None:
    def cut_off(done: int) -> None:
        raise KeyboardInterrupt

    encoder = load_encoder("small")
    with pytest.raises(KeyboardInterrupt):
        cached_features(scenes, encoder, tmp_path, batch=8, progress=cut_off)
    torch.nn.init.constant_(encoder.body[0].weight, torch.nan)
    with pytest.raises(DataError, match=rf"{scenes[0].file}\): small gives features that are infinite or none"):
        cached_features(scenes, encoder, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_changed_image_is_encoded_again(tmp_path: Path) -> None:
    write_scenes(tmp_path, 10)
    encoder = load_encoder("small")
    before = cached_features(CaptionedImages.of_data_set(tmp_path), encoder, tmp_path / "features")(
        torch.arange(10)
    ).grid
    write_scenes(tmp_path, 10, seed=1)
    after = cached_features(CaptionedImages.of_data_set(tmp_path), encoder, tmp_path / "features")(
        torch.arange(10)
    ).grid
    assert not torch.equal(before, after)


def test_standardised_features_have_mean_0_and_deviation_1(scenes: CaptionedImages) -> None:
    encoder = load_encoder("small")
    pixels = read_pixels(scenes, scenes, 64)
    encoder.standardise(pixels.split(8))
    encoder.eval()
    for part in encoder(pixels):
        if part is not None:
            rows = part.flatten(0, -2)
            torch.testing.assert_close(rows.mean(0), torch.zeros(128), atol=1e-4, rtol=0)
            assert 0.9 < float(rows.std(0).median().detach()) <= 1.0


def test_pixels_are_shares_of_white(scenes: CaptionedImages) -> None:
    image = scenes.open(scenes[0])
    pixels = to_pixels(image, 32)
    assert pixels.shape == (3, 32, 32)
    assert pixels.min() >= 0
    assert pixels.max() <= 1
    assert torch.equal(to_pixels(image, 64)[:, 0, 0] * 255, torch.tensor(image.getpixel((0, 0))).float())
