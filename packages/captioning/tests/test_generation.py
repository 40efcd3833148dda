"""Caption sets from run folders: every method, for every captioner; and what is not a captioner."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.generation import caption_sets
from sacrecap_captioning.models import MODELS, LatentCaptioner
from sacrecap_captioning.scenes import write_scenes
from sacrecap_captioning.set_methods import METHODS
from sacrecap_captioning.settings import Settings, kind_of
from sacrecap_captioning.training import train
from sets import score


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a data set in `scenes` and, in the folders of their names, captioners that have learnt for a few steps."""
    folder = tmp_path_factory.mktemp("generation")
    write_scenes(folder / "scenes", 60, seed=1)
    return folder


def run_of(folder: Path, model: str, **changes: object) -> Path:
    """The run folder of a captioner, trained where there is none."""
    place = folder / "-".join([model, *changes])
    if not place.exists():
        settings = Settings(
            str(folder / "scenes"),
            model,
            hidden=16,
            embedding=8,
            attention=8,
            latent=4,
            batch=8,
            captions=2,
            steps=4,
            rate=0.01,
            side=32,
            device="cpu",
            **changes,  # type: ignore[arg-type]
        )
        train(settings, place, cache=folder / "features")
    return place


PAIRS = [*((model, method) for model in MODELS for method in ("rs", "drv")), *(("att2in", name) for name in METHODS)]


@pytest.mark.parametrize(("model", "method"), dict.fromkeys(PAIRS))
def test_every_captioner_and_every_method(model: str, method: str, folder: Path) -> None:
    run = run_of(folder, model)
    if method == "drv" and not issubclass(MODELS[model], LatentCaptioner):
        with pytest.raises(UsageError, match=f"which {model} does not have"):
            caption_sets(run, method=method, device="cpu", cache=folder / "features")
        return
    sets = caption_sets(run, method=method, captions=3, device="cpu", cache=folder / "features")
    assert list(sets) == [image.id for image in CaptionedImages.of_data_set(folder / "scenes").split("test")]
    assert all(len(captions) == 3 for captions in sets.values())
    assert all(len(caption.split()) <= 21 for captions in sets.values() for caption in captions)
    assert 0 <= score(sets)["self-cider"].value <= 1


def test_an_encoder_that_learned_is_that_of_the_run(folder: Path) -> None:
    run = run_of(folder, "fc", train_encoder=True)
    one, again = (caption_sets(run, captions=2, limit=5, batch=batch, device="cpu") for batch in (2, 9))
    assert one == again
    assert all(len(caption.split()) <= 5 for captions in one.values() for caption in captions)


def test_other_images_than_those_of_the_run(folder: Path, tmp_path: Path) -> None:
    write_scenes(tmp_path / "others", 30, seed=2)
    images = CaptionedImages.of_data_set(tmp_path / "others")
    sets = caption_sets(run_of(folder, "fc"), images, split="val", captions=2, device="cpu", cache=tmp_path)
    assert list(sets) == [image.id for image in CaptionedImages.of_data_set(tmp_path / "others").split("val")]


def test_images_of_a_run_that_are_elsewhere(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(run_of(folder, "fc"), run)
    config = json.loads((run / "config.json").read_text())
    config["settings"]["data"] = "scenes-that-moved"
    (run / "config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match=r"images are not at scenes-that-moved, as seen from .* \(--images FOLDER\)"):
        caption_sets(run)


def test_what_is_no_captioner(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing: is not a folder; a captioner is"):
        kind_of(tmp_path / "nothing")
    with pytest.raises(DataError, match=r"holds neither a run of sacrecap caption train nor a checkpoint"):
        kind_of(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "blip"}))
    assert kind_of(tmp_path) == "checkpoint"
    with pytest.raises(DataError, match=r"no image-to-text checkpoint could be loaded"):
        caption_sets(tmp_path, CaptionedImages.of_data_set(folder / "scenes"))
    with pytest.raises(UsageError, match=r"no image is in the split 'tset'"):
        caption_sets(run_of(folder, "fc"), split="tset")


def test_a_run_of_another_version_or_without_a_validation(folder: Path, tmp_path: Path) -> None:
    run = run_of(folder, "fc")
    config = json.loads((run / "config.json").read_text())
    shutil.copy(run / "encoder.pt", tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match=r"best.pt: no such file"):
        caption_sets(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({**config, "format": 99}))
    with pytest.raises(DataError, match=r"this run folder has format 99"):
        caption_sets(tmp_path)
