"""Features computed elsewhere: their file, what is wrong with them, captioners that learn from them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages, FeatureFile, is_feature_file
from sacrecap_captioning.generation import caption_sets
from sacrecap_captioning.retrieval_model import train_retrieval
from sacrecap_captioning.scenes import write_scenes
from sacrecap_captioning.settings import Settings
from sacrecap_captioning.training import train
from sacrecap_captioning.training_run import RunFolder

IDS = ["7", "a.png", "b/c.png"]
CHANCE = np.random.default_rng(0)
POOLED, GRID = CHANCE.normal(size=(3, 5)).astype(np.float32), CHANCE.normal(size=(3, 2, 5)).astype(np.float32)


FORMS: dict[str, tuple[Callable[[Path], object], str]] = {
    "columns.npz": (lambda path: np.savez(path, ids=IDS, pooled=POOLED, grid=GRID), "both"),
    "vectors.npz": (lambda path: np.savez(path, ids=IDS, pooled=POOLED), "pooled"),
    "regions.npz": (lambda path: np.savez(path, ids=np.array(IDS), grid=GRID), "grid"),
    "fortran.npz": (lambda path: np.savez(path, ids=IDS, grid=np.asfortranarray(GRID)), "grid"),
    "other-order.npz": (lambda path: np.savez(path, ids=IDS, pooled=POOLED.astype(">f4"), grid=GRID), "both"),
    "packed.npz": (lambda path: np.savez_compressed(path, ids=IDS, pooled=POOLED, grid=GRID), "both"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_vectors(form: str, tmp_path: Path) -> None:
    write, parts = FORMS[form]
    write(tmp_path / form)
    file = FeatureFile(tmp_path / form)
    assert sorted(file.ids) == sorted(IDS)
    assert file.feature == 5
    assert "7" in file
    assert "8" not in file
    pooled, grid = file.rows(["b/c.png", "7", "7"])
    order = [2, 0, 0]
    np.testing.assert_array_equal(grid, POOLED[order][:, None] if parts == "pooled" else GRID[order])
    np.testing.assert_array_equal(pooled, GRID[order].mean(1) if parts == "grid" else POOLED[order])
    assert pooled.dtype == grid.dtype == np.float32


@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_other_numbers_than_float32(kind: type[np.floating[Any]], tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", ids=[7, 8, 9], pooled=POOLED.astype(kind))
    pooled, _ = FeatureFile(tmp_path / "x.npz").rows(["7", "9"])
    np.testing.assert_array_equal(pooled, POOLED.astype(kind).astype(np.float32)[[0, 2]])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"ids": ["a", "a", "b"], "pooled": POOLED}, r"has 1 image \(a\) twice; give each once"),
        ({"ids": IDS, "pooled": POOLED[:2]}, "pooled has 2 rows for 3 ids"),
        ({"ids": IDS, "pooled": GRID}, r"pooled is \(3, 2, 5\) of floats; np.savez.* ids \(N,\), with pooled"),
        ({"ids": IDS, "pooled": POOLED[:, :0]}, r"pooled is \(3, 0\) of floats; np.savez"),
        ({"ids": IDS, "pooled": POOLED.astype(int)}, r"pooled is \(3, 5\) of other values than floats"),
        ({"ids": IDS, "pooled": POOLED[:, :4], "grid": GRID}, "pooled and grid have vectors of 4 and 5 numbers; .*one"),
        ({"ids": IDS, "vectors": POOLED}, "holds ids, vectors; np.savez"),
        ({"ids": IDS}, "holds ids, and nothing else"),
        ({"ids": np.array([1.5, 2, 3]), "pooled": POOLED}, "ids must be a list of strings or whole numbers"),
        ({"a": POOLED[0], "b": POOLED[1]}, "holds no ids; np.savez"),
        ({"ids": [], "pooled": POOLED[:0]}, "holds no ids"),
        ({"ids": np.array([None, 1]), "pooled": POOLED[:2]}, "is not an .npz file, or damaged .*pickle"),
    ],
)
def test_shapes_and_ids_that_are_refused(arrays: dict[str, Any], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(DataError, match=f"x.npz: {message}"):
        FeatureFile(tmp_path / "x.npz")


def test_numbers_that_are_none_are_told_with_their_image(tmp_path: Path) -> None:
    bad = POOLED.copy()
    bad[1, 3] = np.inf
    np.savez(tmp_path / "x.npz", ids=IDS, pooled=bad)
    file = FeatureFile(tmp_path / "x.npz")
    file.rows(["7", "b/c.png"])
    with pytest.raises(DataError, match=r"the features of 'a.png' have numbers that are infinite or none"):
        file.rows(["7", "a.png"])


def test_what_is_no_file_of_features(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        FeatureFile(tmp_path / "nothing.npz")
    (tmp_path / "x.npz").write_bytes(b"{} nothing of the kind")
    np.savez(tmp_path / "cut.npz", ids=IDS, pooled=POOLED)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "cut.npz").read_bytes()[:-4])
    for name in ("x.npz", "cut.npz"):
        with pytest.raises(DataError, match="is not an .npz file, or damaged"):
            FeatureFile(tmp_path / name)
    np.save(tmp_path / "x.npy", POOLED)
    with pytest.raises(DataError, match="are called .npz: np.savez"):
        FeatureFile(tmp_path / "x.npy")


def test_a_file_is_told_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    (tmp_path / "old.npz").mkdir()
    files = ("there", "new.npz", "new.safetensors", "new.H5")
    assert all(is_feature_file(tmp_path / name) for name in files)
    assert not any(is_feature_file(tmp_path / name) for name in ("old.npz", "features", "v1.2"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captions of scenes whose images are gone, and features that say what is in them."""
    folder = tmp_path_factory.mktemp("world")
    write_scenes(folder / "scenes", 60, seed=1)
    images = CaptionedImages.of_data_set(folder / "scenes")
    shutil.rmtree(folder / "scenes" / "images")
    chance = np.random.default_rng(1)
    grid = chance.normal(3, 2, size=(60, 3, 6)).astype(np.float32)
    np.savez(folder / "features.npz", ids=[image.id for image in images], grid=grid)
    train(settings(folder), folder / "run")
    return folder


def settings(folder: Path, **changes: Any) -> Settings:
    values: dict[str, Any] = {
        "data": str(folder / "scenes"),
        "features": str(folder / "features.npz"),
        "model": "att2in",
        "hidden": 16,
        "embedding": 8,
        "attention": 8,
        "batch": 8,
        "captions": 2,
        "steps": 4,
        "validate_every": 2,
        "device": "cpu",
        "rate": 0.01,
    }
    return Settings(**{**values, **changes})


def test_a_captioner_learns_from_them_and_captions_without_the_images(world: Path) -> None:
    run = RunFolder.open(world / "run")
    assert run.sizes.feature == 6
    sets = caption_sets(run.path, captions=2, device="cpu")
    assert len(sets) == 6
    file = FeatureFile(world / "features.npz")
    learnt = CaptionedImages.of_data_set(world / "scenes", features=file).split("train")
    _, grid = file.rows([image.id for image in learnt])
    np.testing.assert_allclose(run.encoder().grid_mean.numpy(), grid.mean((0, 1)), rtol=1e-4)
    assert caption_sets(RunFolder.open(run.path, world / "features.npz"), captions=2, device="cpu") == sets
    found, _, _ = train_retrieval(run, epochs=2, batch=8)
    assert found.images.shape[0] == 48


def test_a_run_goes_on_with_features_that_have_moved(world: Path, tmp_path: Path) -> None:
    shutil.copytree(world / "run", tmp_path / "run")
    shutil.copy(world / "features.npz", tmp_path / "moved.npz")
    started = settings(world, init=str(world / "run"), loss="cider-d", steps=2, features=str(tmp_path / "moved.npz"))
    assert train(started, tmp_path / "rewarded").step == 2
    np.savez(tmp_path / "moved.npz", ids=FeatureFile(world / "features.npz").ids, pooled=np.ones((60, 7), np.float32))
    with pytest.raises(DataError, match="has vectors of 7 numbers, where the captioner was trained with 6"):
        train(started, tmp_path / "other")


def test_images_without_features_are_an_error_or_left_out(world: Path, tmp_path: Path) -> None:
    whole = np.load(world / "features.npz")
    np.savez(tmp_path / "part.npz", ids=whole["ids"][:55], grid=whole["grid"][:55])
    part = FeatureFile(tmp_path / "part.npz")
    with pytest.raises(DataError, match=r"no features of 5 images .* of 60 .*; features there are of 55 images"):
        CaptionedImages.of_data_set(world / "scenes", features=part)
    left = CaptionedImages.of_data_set(world / "scenes", features=part, on_missing="skip")
    assert len(left) == 55
    with pytest.raises(DataError, match="their files not looked for"):
        left.open(left[0])


def test_a_number_that_is_none_is_found_before_training(world: Path, tmp_path: Path) -> None:
    whole = np.load(world / "features.npz")
    bad = whole["grid"].copy()
    bad[30, 1, 1] = np.nan
    np.savez(tmp_path / "bad.npz", ids=whole["ids"], grid=bad)
    with pytest.raises(DataError, match=f"features of '{whole['ids'][30]}' have numbers"):
        train(settings(world, features=str(tmp_path / "bad.npz")), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_what_features_of_a_file_are_not_for(world: Path, tmp_path: Path) -> None:
    file = str(world / "features.npz")
    with pytest.raises(UsageError, match="rci changes the images, and the captioner is given features of a file"):
        caption_sets(world / "run", method="rci", device="cpu")
    with pytest.raises(UsageError, match="no encoder learns where features are given"):
        settings(world, train_encoder=True)
    write_scenes(tmp_path / "scenes", 60, seed=1)
    seeing = settings(world, data=str(tmp_path / "scenes"), features=None, side=32, steps=2)
    train(seeing, tmp_path / "seeing", cache=tmp_path / "cache")
    with pytest.raises(UsageError, match="looks at images itself, with the encoder small; features of a file"):
        RunFolder.open(tmp_path / "seeing", file)
    with pytest.raises(UsageError, match="are for features of the encoder small, not of the file"):
        train(settings(world, init=str(tmp_path / "seeing")), tmp_path / "other")
