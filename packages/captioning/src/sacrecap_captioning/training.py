"""Trains one captioner: steps, validations, checkpoints.

    train(Settings(data="scenes", model="att2in"), "runs/att2in")
    train(Settings(data="scenes", model="att2in", loss="xe + 5*cider-d", init="runs/att2in"), "runs/att2in-5")

It is the replication of *Describing like humans* (Wang, Chan, CVPR 2019), and frozen: faults are fixed, nothing is
added. Today's models are trained with `sacrecap.rewards` in other training loops.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

import sacrecap
from sacrecap.data import atomic_write
from sacrecap.errors import DataError, SacrecapError, UsageError
from sacrecap.vision.devices import choose_device
from sacrecap_captioning.captioned_images import CaptionedImages, read_images
from sacrecap_captioning.captioner import Captioner, Sizes, Vocabulary, evaluating, greedy
from sacrecap_captioning.encoders import Standardisation, enough_memory, write_tensors
from sacrecap_captioning.models import build
from sacrecap_captioning.objective import Objective, TrainingCaptions
from sacrecap_captioning.retrieval_model import RetrievalModel
from sacrecap_captioning.settings import CONFIG, PathLike, Progress, Settings, make_folder, silent
from sacrecap_captioning.training_run import BEST, LOG, Batches, RunFolder, Split, TrainingData, first_encoder, prepare


@dataclass
class Position:
    """The progress of a run."""

    steps: int
    """In all."""
    step: int = 0
    best: float = -math.inf
    """The best CIDEr-D of a validation."""
    best_step: int = 0
    last: float | None = None
    """CIDEr-D of the last validation."""
    stale: int = 0
    """Validations since the best."""
    losses: dict[str, list[float]] = field(default_factory=dict)
    """Of the steps since the last line of the log."""

    def means(self) -> dict[str, float]:
        """Of these losses."""
        return {name: sum(values) / len(values) for name, values in self.losses.items()}


def train(
    settings: Settings,
    folder: PathLike,
    *,
    images: CaptionedImages | None = None,
    cache: PathLike | None = None,
    progress: Callable[[Position], None] | None = None,
    reading: Progress | None = None,
) -> Position:
    """Trains a captioner in a new run folder, and says how it ended.

    `images` is the data set, if it was read before, by default `settings.data`; `cache` the folder of frozen features,
    by default the user's. `progress` is called after each step, `reading` while images are read.

    Raises:
        UsageError: settings that cannot be used together or with the data.
        DataError: the data cannot be used; the folder holds a run already; memory ran out.
    """
    reading = reading or silent
    if (Path(folder) / CONFIG).exists():
        raise DataError(f"{folder}: holds a run already; go on from it (--init {folder}), or choose another folder")
    device = choose_device(settings.device)
    start = RunFolder.open(settings.init) if settings.init is not None else None
    images = images or read_images(settings)
    torch.manual_seed(settings.seed)
    if start is None:
        encoder = first_encoder(images.split("train"), settings, cache, device, reading)
    else:
        _check_same(start, settings)
        encoder = start.encoder()
    encoder = encoder.to(device)
    objects = start.objects if start else None
    data = prepare(images, encoder, settings, objects=objects, cache=cache, progress=reading)
    if start is None:
        texts = (caption for image in data.train.tokens for caption in image)
        vocabulary = Vocabulary.build(texts, least=settings.least)
        if len(vocabulary) == 2:
            raise UsageError(
                f"no word occurs {settings.least} times in the training captions of {settings.data}; "
                "choose a smaller --least"
            )
    else:
        vocabulary = start.vocabulary
    chosen = {name: getattr(settings, name) for name in ("hidden", "embedding", "attention", "latent", "dropout")}
    sizes = Sizes(len(vocabulary), encoder.feature, objects=len(data.objects), **chosen)
    run = RunFolder(Path(folder), settings, vocabulary, sizes, data.objects, data.checksum)
    model = build(settings.model, sizes)
    if start is not None:
        model.load_state_dict(start.captioner().state_dict())
    return TrainingLoop(run, data, model, encoder, device).go(progress or silent)


class TrainingLoop:
    """A run in memory."""

    def __init__(
        self, run: RunFolder, data: TrainingData, model: Captioner, encoder: Standardisation, device: torch.device
    ) -> None:
        settings = run.settings
        self.run, self.data, self.settings, self.device = run, data, settings, device
        self.model = model.to(device).train()
        self.encoder = encoder.train(settings.train_encoder)
        encoded = data.train.encoded(run.vocabulary, settings.length)
        self.batches = Batches(data.train, encoded, settings.batch, settings.captions, settings.seed)
        retrieval = None
        if settings.retrieval is not None:
            retrieval = RetrievalModel.load(settings.retrieval).reward(data.checksum, run.vocabulary, device)
        objects = tuple(map(Counter, data.train.objects)) if data.objects else None
        training = TrainingCaptions(run.vocabulary, data.train.tokens, objects, retrieval)
        self.objective = Objective.load(
            settings.loss, training, samples=settings.captions, baseline=settings.baseline, limit=settings.length + 1
        )
        learners: list[nn.Module] = [self.model, self.encoder] if settings.train_encoder else [self.model]
        self.parameters = [weight for module in learners for weight in module.parameters() if weight.requires_grad]
        self.optimiser = torch.optim.AdamW(self.parameters, lr=settings.rate, weight_decay=settings.weight_decay)
        self.position = Position(settings.steps)
        torch.manual_seed(settings.seed + 1)

    def go(self, progress: Callable[[Position], None]) -> Position:
        """Takes all steps."""
        at, settings = self.position, self.settings
        out_of_memory = (
            f"{self.run.path}: memory ran out with a batch of {settings.batch} images × {settings.captions} captions; "
            "choose a smaller --batch or --captions, or another --device"
        )
        make_folder(self.run.path)
        with atomic_write(self.run.path / LOG):
            pass  # without the lines of a run that ended before its first validation
        while at.step < settings.steps and not (settings.patience and at.stale >= settings.patience):
            with enough_memory(out_of_memory):
                self._step()
                if at.step % (settings.validate_every or len(self.batches)) == 0 or at.step == settings.steps:
                    self._validate()
            progress(at)
        return at

    def _step(self) -> None:
        """One step: forward, backward, Adam's step, and the log."""
        at, started = self.position, time.monotonic()
        rate = self.settings.rate_at(at.step)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        losses = self.objective(self.model, self.batches.at(at.step, self.device), at.step)
        self.optimiser.zero_grad()
        torch.autograd.backward(losses.total)
        nn.utils.clip_grad_norm_(self.parameters, self.settings.clip)
        self.optimiser.step()
        at.step += 1
        figures = {"loss": losses.total.item(), **{name: part.item() for name, part in losses.parts.items()}}
        if not math.isfinite(figures["loss"]):
            raise SacrecapError(
                f"{self.run.path}: the loss of step {at.step} is {figures['loss']}; try a smaller --rate or --clip"
            )
        for name, value in {**figures, "seconds": time.monotonic() - started}.items():
            at.losses.setdefault(name, []).append(value)
        if at.step % self.settings.log_every == 0:
            self._log(**at.means(), rate=rate)
            at.losses.clear()

    def _validate(self) -> None:
        """CIDEr-D of greedy captions; a checkpoint, where it is the best so far."""
        at, path = self.position, self.run.path
        limit = self.settings.length + 1
        with evaluating(self.encoder):
            captions = greedy_captions(self.model, self.data.val, self.run.vocabulary, limit=limit, device=self.device)
        at.last = validation_score(captions, self.data.val)
        better = at.last > at.best
        at.stale = 0 if better else at.stale + 1
        if better:
            at.best, at.best_step = at.last, at.step
            learnt = {"encoder": self.encoder.state_dict()} if self.settings.train_encoder else {}
            write_tensors(path / BEST, {"model": self.model.state_dict(), **learnt})
        self._log(**{"cider-d": at.last}, best=better)
        if not (path / CONFIG).exists():
            self.run.describe(self.encoder)

    def _log(self, **values: Any) -> None:
        with open(self.run.path / LOG, "a", encoding="utf-8") as file:
            file.write(json.dumps({"step": self.position.step, **values}) + "\n")


def greedy_captions(
    model: Captioner, split: Split, vocabulary: Vocabulary, *, limit: int, device: torch.device
) -> dict[str, str]:
    """The greedy caption of each image, by id. What was drawn from torch's generators is put back."""
    captions: list[str] = []
    # Captioners with a latent vector draw it: the same one in each validation.
    generators = torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])
    with evaluating(model), generators, torch.inference_mode():
        torch.manual_seed(0)
        for numbers in torch.split(torch.arange(len(split)), 100):
            words = greedy(model.step, model.begin(split.features_of(numbers, device)), limit=limit).words
            captions += map(vocabulary.text, words.tolist())
    return dict(zip(split.ids, captions, strict=True))


def validation_score(captions: Mapping[str, str], split: Split) -> float:
    """CIDEr-D of the captions; document frequencies are of the split's own references."""
    references = {
        name: [" ".join(caption) for caption in image] for name, image in zip(split.ids, split.tokens, strict=True)
    }
    # Both are in words already.
    result = sacrecap.score(references, captions, metrics="cider-d", tokenizer="whitespace", interval=None)
    return float(result["cider-d"].value)


INHERITED = ("model", "encoder", "side", "tokenizer", "length", "hidden", "embedding", "attention", "latent")
"""Settings that a run has from the run whose weights it starts from."""


def _check_same(start: RunFolder, settings: Settings) -> None:
    """Raises `UsageError` if weights of the run could not be those of this one."""
    if (start.settings.features is None) != (settings.features is None):
        before, now = (
            f"the encoder {run.encoder}" if run.features is None else f"the file {run.features}"
            for run in (start.settings, settings)
        )
        raise UsageError(
            f"the weights of {start.path} are for features of {before}, not of {now}; train without --init"
        )
    for name in INHERITED:
        before, now = getattr(start.settings, name), getattr(settings, name)
        if before != now:
            raise UsageError(
                f"{name} is {now!r}, but {before!r} in {start.path}, whose weights this run starts from; "
                "leave it out, or train without --init"
            )
