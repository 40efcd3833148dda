"""Every captioner learns: of scenes that it has not seen it says what is there, not what might be.

On the made-up data, from pixels to captions: an encoder that learned the words, once for all, and each captioner for a
second. Scenes have one shape, and captions say its colour and kind, all in the same words: that can be learned in this
time.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.models import MODELS
from sacrecap_captioning.scenes import COLOURS, DATASET, KINDS, make_scenes, write_scenes
from sacrecap_captioning.settings import Settings
from sacrecap_captioning.training import greedy_captions, train, validation_score
from sacrecap_captioning.training_run import RunFolder, prepare

IMAGES, STEPS = 400, 150


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, IMAGES, seed=1, shapes=1)
    described = json.loads((folder / DATASET).read_text())
    for image, scene in zip(described["images"], make_scenes(IMAGES, seed=1, shapes=1), strict=True):
        [shape] = scene.scene.shapes
        words = ["a", COLOURS[shape.colour][1][0], KINDS[shape.kind][0]]
        image["sentences"] = [{"raw": " ".join(words), "tokens": words}]
    (folder / DATASET).write_text(json.dumps(described))
    return folder


@pytest.mark.parametrize("name", list(MODELS))
def test_a_captioner_learns(name: str, scenes: Path, tmp_path: Path) -> None:
    settings = Settings(
        data=str(scenes),
        model=name,
        weights="words",
        hidden=32,
        embedding=16,
        attention=16,
        latent=4,
        batch=16,
        captions=1,
        length=4,
        least=1,
        side=32,
        steps=STEPS,
        validate_every=STEPS,
        rate=1e-2,
        schedule="cosine",
        warmup=10,
        encoder_epochs=8,
        device="cpu",
    )
    cache = scenes / "cache"  # the encoder and its features, which all captioners share
    train(settings, tmp_path / "run", cache=cache)

    run = RunFolder.open(tmp_path / "run")
    images = CaptionedImages.of_data_set(scenes)
    val = prepare(images, run.encoder(), settings, objects=run.objects, cache=cache).val
    captions = greedy_captions(run.captioner(), val, run.vocabulary, limit=13, device=torch.device("cpu"))
    names = list(captions)
    shuffled = [
        dict(zip(names, [captions[other] for other in names[far:] + names[:far]], strict=True)) for far in (1, 2, 3, 5)
    ]
    of_others = sum(validation_score(each, val) for each in shuffled) / len(shuffled)
    # One that did not look would say as much of any image, which is once.
    assert validation_score(captions, val) >= 3 * of_others
