"""Every captioner learns: of scenes of one shape that it has not seen it says what is there, not what might be.

The features are those of an encoder that sees perfectly: what the shape is, in the region where it is. So the time
goes into captioners; encoders, which learn from pixels, have tests of their own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from capeval.captioning.models import MODELS, Features, Sizes, build
from capeval.captioning.processes import Processes
from capeval.captioning.run_folder import RunFolder
from capeval.captioning.scenes import COLOURS, GROUNDS, KINDS, SIZES, Described, Scene, make_scenes
from capeval.captioning.settings import Settings
from capeval.captioning.training_data import FrozenFeatures, Split, TrainingData
from capeval.captioning.training_loop import TrainingLoop
from capeval.captioning.validation import greedy_captions, validation_score
from capeval.captioning.vocabulary import Vocabulary

SCENES = 6000
STEPS = 220
SEEN = [list(names) for names in (KINDS, COLOURS, SIZES, GROUNDS)]
COUNTS = [len(KINDS), len(COLOURS), len(SIZES), len(GROUNDS), 9]
FEATURE = sum(COUNTS)


def grid(scene: Scene) -> torch.Tensor:
    """(9, D): in the region of each shape what it is, its size, its place, and the ground."""
    regions = torch.zeros(9, FEATURE)
    for shape in scene.shapes:
        region = 3 * shape.row + shape.column
        seen = (*shape[:3], scene.ground)
        numbers = [*(names.index(name) for names, name in zip(SEEN, seen, strict=True)), region]
        regions[region, [sum(COUNTS[:place]) + number for place, number in enumerate(numbers)]] = 1
    return regions


def standard(features: torch.Tensor) -> torch.Tensor:
    """Deviation 1, as encoders give them."""
    rows = features.flatten(0, -2)
    return (features - rows.mean(0)) / (rows.std(0) + 1e-3)


def split(scenes: list[Described]) -> Split:
    grids = torch.stack([grid(one.scene) for one in scenes])
    pooled = grids.sum(1)
    kinds = torch.tensor([[float(any(s.kind == kind for s in one.scene.shapes)) for kind in KINDS] for one in scenes])
    return Split(
        tuple(one.name for one in scenes),
        tuple(one.captions for one in scenes),
        tuple(tuple(tuple(caption.split()) for caption in one.captions) for one in scenes),
        tuple(tuple(shape.kind for shape in one.scene.shapes) for one in scenes),
        FrozenFeatures(Features(standard(pooled), standard(grids), kinds)),
    )


@pytest.fixture(scope="module")
def data() -> TrainingData:
    torch.set_num_threads(1)
    scenes = [one for one in make_scenes(SCENES, seed=1) if len(one.scene.shapes) == 1]
    parts = {name: split([one for one in scenes if one.split == name]) for name in ("train", "val")}
    return TrainingData(parts["train"], parts["val"], tuple(KINDS), "made up")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", list(MODELS))
def test_a_captioner_learns(name: str, data: TrainingData, tmp_path: Path) -> None:
    settings = Settings(
        data="made up", model=name, hidden=96, embedding=64, attention=32, latent=4, batch=20, captions=3, length=12,
        steps=STEPS, validate_every=STEPS, rate=1e-2, schedule="cosine", warmup=20, device="cpu",
    )  # fmt: skip
    vocabulary = Vocabulary.build(caption for image in data.train.tokens for caption in image)
    sizes = Sizes(len(vocabulary), FEATURE, hidden=96, embedding=64, attention=32, latent=4, objects=len(data.objects))
    torch.manual_seed(0)
    model, cpu = build(name, sizes), torch.device("cpu")
    run = RunFolder(tmp_path, settings, vocabulary, sizes, data.objects, data.checksum)
    no_encoder: Any = None
    TrainingLoop(run, data, model, no_encoder, Processes(0, 1, cpu), tensorboard=False).go(None)

    captions = greedy_captions(model, data.val, vocabulary, limit=13, device=cpu)
    names = list(captions)
    shuffled = [
        dict(zip(names, [captions[other] for other in names[far:] + names[:far]], strict=True)) for far in (1, 2, 3, 5)
    ]
    of_others = sum(validation_score(each, data.val) for each in shuffled) / len(shuffled)
    assert validation_score(captions, data.val) >= 5 * of_others
