"""Trains one captioner: steps, validations, and checkpoints from which a run goes on to the same bits.

    train(Settings(data="scenes", model="att2in"), "runs/att2in")
    train(Settings(data="scenes", model="att2in", loss="xe + 5*cider-d", init="runs/att2in"), "runs/att2in-5")

What each step sees and draws depends on the settings and the step alone, and a checkpoint holds the state of everything
that remembers: weights, Adam's moments, generators, sums of the log. So on a CPU, with the same number of threads, a
run that was cut off and resumed ends with the same bits as one that was not.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

import capeval
from capeval.captioning.batches import Losses
from capeval.captioning.checkpoints import (
    learning,
    random_states,
    read_tensors,
    restore_random_states,
    write_tensors,
)
from capeval.captioning.encoders import Encoder, load_encoder
from capeval.captioning.images import CaptionedImages
from capeval.captioning.losses import Objective
from capeval.captioning.models import Captioner, Sizes, build
from capeval.captioning.pretraining import WORDS, prepared_encoder
from capeval.captioning.processes import Processes
from capeval.captioning.retrieval_training import RetrievalModel
from capeval.captioning.rewards import TrainingCaptions
from capeval.captioning.rewards.retrieval import RetrievalReward
from capeval.captioning.run_folder import BEST, LAST, RunFolder
from capeval.captioning.run_log import RunLog
from capeval.captioning.settings import MAY_CHANGE, Settings
from capeval.captioning.training_data import Batches, TrainingData, cache_folder, prepare, tokenised
from capeval.captioning.validation import greedy_captions, validation_score
from capeval.captioning.vocabulary import Vocabulary
from capeval.data.source import PathLike
from capeval.document_frequency import DocumentFrequency
from capeval.errors import CapevalError, DataError, UsageError


@dataclass(frozen=True)
class Progress:
    """Where a run is."""

    step: int
    steps: int
    losses: Mapping[str, float]
    """Means since the last line of the log."""
    validation: float | None
    """CIDEr-D of the last validation."""
    best: float | None


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    folder: Path
    step: int
    """Steps it took."""
    cider_d: float
    """Of the best validation."""
    best_step: int
    stopped_early: bool


@dataclass
class _Position:
    """What a run remembers besides weights."""

    step: int = 0
    best: float = -math.inf
    best_step: int = 0
    last: float | None = None
    stale: int = 0
    """Validations since the best."""
    sums: dict[str, float] = dataclasses.field(default_factory=dict)
    """Of the losses since the last line of the log."""
    counted: int = 0


def train(
    settings: Settings,
    folder: PathLike,
    *,
    images: CaptionedImages | None = None,
    cache: PathLike | None = None,
    tensorboard: bool = True,
    progress: Callable[[Progress], None] | None = None,
    reading: Callable[[str, int, int], None] | None = None,
) -> Outcome:
    """Trains a captioner in a new run folder.

    Args:
        settings: all that decides the result.
        folder: of the run; made where there is none.
        images: the data set, where it is read already; `settings.data` by default.
        cache: folder of frozen features; the user's cache folder by default.
        tensorboard: whether to write for TensorBoard too.
        progress: told after each step.
        reading: told while images are read: split, images done, images.

    Raises:
        UsageError: settings that cannot be used together or with the data.
        DataError: the data cannot be used; the folder holds a run already; memory ran out.
    """
    processes = Processes.join(settings.device)
    start = RunFolder.open(settings.init) if settings.init is not None else None
    images = images or CaptionedImages.read(settings.data, on_missing=settings.on_missing)
    torch.manual_seed(settings.seed)
    if start is None:
        encoder = _encoder(images, settings, cache, processes, reading)
    else:
        _check_same(start, settings)
        encoder = start.encoder()
    encoder = encoder.to(processes.device)
    data = _prepared(images, encoder, settings, cache, reading)
    vocabulary = start.vocabulary if start is not None else _vocabulary(data, settings)
    sizes = start.sizes if start is not None else _sizes(vocabulary, encoder, data, settings)
    run = RunFolder(Path(folder), settings, vocabulary, sizes, data.objects, data.checksum)
    model = build(settings.model, sizes) if start is None else start.captioner()
    if processes.first:
        run.create(encoder)
    return _Training(run, data, model, encoder, processes, tensorboard).go(progress)


def resume(
    folder: PathLike,
    *,
    changes: Mapping[str, Any] | None = None,
    images: CaptionedImages | None = None,
    cache: PathLike | None = None,
    tensorboard: bool = True,
    progress: Callable[[Progress], None] | None = None,
    reading: Callable[[str, int, int], None] | None = None,
) -> Outcome:
    """Goes on with a run from its last checkpoint, to what it would have become without the break.

    Args:
        folder: of the run.
        changes: settings of `MAY_CHANGE` that are to be others from now on: more `steps`, another `device`.
        images: as for `train`, and so are the others.
        cache: folder of frozen features.
        tensorboard: whether to write for TensorBoard too.
        progress: told after each step.
        reading: told while images are read.

    Raises:
        UsageError: a change of what would make another run of it.
        DataError: no run is there, it is of another version, or the data are not those that it began with.
    """
    run = _changed(RunFolder.open(folder), changes or {})
    settings = run.settings
    processes = Processes.join(settings.device)
    images = images or CaptionedImages.read(settings.data, on_missing=settings.on_missing)
    if images.checksum != run.data_checksum:
        raise DataError(
            f"{settings.data}: the images, splits or captions are not those that {run.path} was trained with (checksum "
            f"{images.checksum}, then {run.data_checksum}); begin a new run from its weights (--init {run.path})"
        )
    torch.manual_seed(settings.seed)
    encoder = run.encoder("encoder.pt").to(processes.device)
    data = _prepared(images, encoder, settings, cache, reading)
    model = build(settings.model, run.sizes) if settings.init is None else RunFolder.open(settings.init).captioner()
    training = _Training(run, data, model, encoder, processes, tensorboard)
    training.restore()
    return training.go(progress)


def _changed(run: RunFolder, changes: Mapping[str, Any]) -> RunFolder:
    """The run with changed settings, where they may change."""
    now = run.settings.to_json()
    other = [name for name, value in changes.items() if now[name] != value and name not in MAY_CHANGE]
    if other:
        listed = ", ".join(f"{name} ({now[name]!r} before, {changes[name]!r} now)" for name in other)
        raise UsageError(
            f"a resumed run keeps its settings but {', '.join(MAY_CHANGE)}; other are {listed}; leave them out, or "
            f"begin a new run from its weights (--init {run.path})"
        )
    if run.version != capeval.__version__:
        raise DataError(
            f"{run.path}: was begun by capeval {run.version}, this is {capeval.__version__}, which need not go on to "
            f"the same bits; use that version, or begin a new run from its weights (--init {run.path})"
        )
    return dataclasses.replace(run, settings=dataclasses.replace(run.settings, **changes))


INHERITED = (
    "model", "encoder", "side", "tokenizer", "length", "hidden", "embedding", "attention", "latent",
)  # fmt: skip
"""Settings that a run has from the run whose weights it starts from."""


def _check_same(start: RunFolder, settings: Settings) -> None:
    """Raises `UsageError` where weights of the run could not be those of this one."""
    for name in INHERITED:
        before, now = getattr(start.settings, name), getattr(settings, name)
        if before != now:
            raise UsageError(
                f"{name} is {now!r}, but {before!r} in {start.path}, whose weights this run starts from; "
                "leave it out, or train without --init"
            )


def _prepared(
    images: CaptionedImages,
    encoder: Encoder,
    settings: Settings,
    cache: PathLike | None,
    reading: Callable[[str, int, int], None] | None,
) -> TrainingData:
    return prepare(
        images,
        encoder,
        learns=settings.train_encoder,
        tokenizer=settings.tokenizer,
        cache=cache,
        progress=reading,
    )


def _encoder(
    images: CaptionedImages,
    settings: Settings,
    cache: PathLike | None,
    processes: Processes,
    reading: Callable[[str, int, int], None] | None,
) -> Encoder:
    """The encoder that a run begins with; weights learned from words are kept in the cache."""
    if settings.train_encoder and settings.weights != WORDS:
        return load_encoder(settings.encoder, weights=settings.weights, side=settings.side)
    train = images.split("train")
    return prepared_encoder(
        train,
        tokenised(train, settings.tokenizer),
        cache or cache_folder(),
        name=settings.encoder,
        weights=settings.weights,
        side=settings.side,
        seed=settings.seed,
        device=processes.device,
        progress=lambda done, steps, _: reading and reading("train, for the encoder,", done, steps),
    ).requires_grad_(settings.train_encoder)


def _vocabulary(data: TrainingData, settings: Settings) -> Vocabulary:
    vocabulary = Vocabulary.build((caption for image in data.train.tokens for caption in image), least=settings.least)
    if len(vocabulary) == 2:
        raise UsageError(
            f"no word occurs {settings.least} times in the training captions of {settings.data}; "
            "choose a smaller --least"
        )
    return vocabulary


def _sizes(vocabulary: Vocabulary, encoder: Encoder, data: TrainingData, settings: Settings) -> Sizes:
    return Sizes(
        len(vocabulary),
        encoder.feature,
        hidden=settings.hidden,
        embedding=settings.embedding,
        attention=settings.attention,
        latent=settings.latent,
        objects=len(data.objects),
        dropout=settings.dropout,
    )


def _objective(run: RunFolder, data: TrainingData, device: torch.device) -> Objective:
    """What a step minimises."""
    settings = run.settings
    training = TrainingCaptions(
        run.vocabulary,
        data.train.tokens,
        DocumentFrequency.load(settings.df) if settings.df is not None else None,
        objects=tuple(map(Counter, data.train.objects)) if data.objects else None,
        retrieval=_retrieval(run, data, device),
    )
    return Objective.load(
        settings.loss,
        training,
        samples=settings.captions,
        baseline=settings.baseline,
        limit=settings.length + 1,
        device=device,
    )


def _retrieval(run: RunFolder, data: TrainingData, device: torch.device) -> RetrievalReward | None:
    """The reward of the retrieval model, where one is given."""
    if run.settings.retrieval is None:
        return None
    return RetrievalModel.load(run.settings.retrieval).reward(data.checksum, run.vocabulary, device)


class _Training:
    """A run in memory."""

    def __init__(
        self,
        run: RunFolder,
        data: TrainingData,
        model: Captioner,
        encoder: Encoder,
        processes: Processes,
        tensorboard: bool,
    ) -> None:
        settings = run.settings
        self.run, self.data, self.settings, self.processes = run, data, settings, processes
        self.device = processes.device
        self.model = model.to(self.device).train()
        self.encoder = encoder.train() if settings.train_encoder else None
        self.tensorboard = tensorboard
        self.batches = Batches(
            data.train,
            data.train.encoded(run.vocabulary, settings.length),
            settings.batch,
            settings.captions,
            settings.seed,
            processes.rank,
            processes.world,
        )
        self.objective = _objective(run, data, self.device)
        learners: list[nn.Module] = [self.model] if self.encoder is None else [self.model, self.encoder]
        self.parameters = [p for module in learners for p in module.parameters() if p.requires_grad]
        self.optimiser = torch.optim.AdamW(self.parameters, lr=settings.rate, weight_decay=settings.weight_decay)
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=settings.precision == "float16")
        self.position = _Position()
        processes.agree(learners)
        # Each process draws its own samples.
        torch.manual_seed(settings.seed + 1 + processes.rank)

    def go(self, progress: Callable[[Progress], None] | None) -> Outcome:
        """Takes the steps that are left."""
        log = RunLog(self.run.path, self.position.step, tensorboard=self.tensorboard) if self.processes.first else None
        try:
            while not self._done():
                self._step(log)
                if self.position.step % self._validation_interval() == 0 or self.position.step == self.settings.steps:
                    self._validate(log)
                if progress is not None and self.processes.first:
                    progress(self._progress())
        finally:
            if log is not None:
                log.close()
            self.processes.leave()
        at = self.position
        return Outcome(self.run.path, at.step, at.best, at.best_step, at.step < self.settings.steps)

    def restore(self) -> None:
        """Puts everything back to where the last checkpoint found it; without one the run begins anew."""
        path = self.run.path / LAST
        if not path.exists():
            return
        saved = read_tensors(path)
        if len(saved["random"]) != self.processes.world:
            raise UsageError(
                f"{path}: is of a run of {len(saved['random'])} processes, these are {self.processes.world}; "
                "start as many"
            )
        self.model.load_state_dict(saved["model"])
        if self.encoder is not None:
            self.encoder.load_state_dict(saved["encoder"])
        self.optimiser.load_state_dict(saved["optimiser"])
        self.scaler.load_state_dict(saved["scaler"])
        self.position = _Position(**saved["position"])
        restore_random_states(saved["random"][self.processes.rank], self.device)

    def _step(self, log: RunLog | None) -> None:
        """One step."""
        at, settings = self.position, self.settings
        started = time.monotonic()
        rate = settings.rate_at(at.step)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        try:
            losses = self._learn(at.step)
        except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
            raise _out_of_memory(error, settings, at.step) or error from None
        at.step += 1
        for name, value in (
            ("loss", losses.total.item()),
            *losses.parts.items(),
            ("seconds", time.monotonic() - started),
        ):
            at.sums[name] = at.sums.get(name, 0.0) + value
        at.counted += 1
        if not math.isfinite(at.sums["loss"]):
            raise CapevalError(
                f"{self.run.path}: the loss of step {at.step} is {losses.total.item()}; try a smaller --rate or "
                "--clip, or --precision float32"
            )
        if at.step % settings.log_every == 0:
            if log is not None:
                log.write(at.step, {**self._means(), "rate": rate})
            at.sums, at.counted = {}, 0

    def _learn(self, step: int) -> Losses:
        """Forward, backward, and Adam's step."""
        precision = getattr(torch, self.settings.precision)
        with torch.autocast(self.device.type, precision, enabled=precision != torch.float32):
            losses = self.objective(self.model, self.batches.at(step, self.device), step)
        self.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(self.scaler.scale(losses.total))
        self.scaler.unscale_(self.optimiser)
        self.processes.average_gradients(self.parameters)
        nn.utils.clip_grad_norm_(self.parameters, self.settings.clip)
        self.scaler.step(self.optimiser)
        self.scaler.update()
        return losses

    def _validate(self, log: RunLog | None) -> None:
        """CIDEr-D of greedy captions; the weights, where they are the best; a checkpoint."""
        at = self.position
        score = self.processes.told(self._score() if self.processes.first else 0.0)
        better = score > at.best
        at.last = score
        at.stale = 0 if better else at.stale + 1
        if better:
            at.best, at.best_step = score, at.step
        states = self.processes.gather(random_states(self.device))
        if log is None:
            return
        log.write(at.step, {"cider-d": score}, best=better)
        weights = learning(self.model, self.encoder)
        if better:
            write_tensors(self.run.path / BEST, {**weights, "step": at.step, "cider-d": score})
        rest = {"optimiser": self.optimiser.state_dict(), "scaler": self.scaler.state_dict(), "random": states}
        write_tensors(self.run.path / LAST, {**weights, **rest, "position": dataclasses.asdict(at)})

    def _score(self) -> float:
        limit = self.settings.length + 1
        if self.encoder is not None:
            self.encoder.eval()
        captions = greedy_captions(self.model, self.data.val, self.run.vocabulary, limit=limit, device=self.device)
        if self.encoder is not None:
            self.encoder.train()
        return validation_score(captions, self.data.val)

    def _done(self) -> bool:
        patience = self.settings.patience
        return self.position.step >= self.settings.steps or bool(patience and self.position.stale >= patience)

    def _validation_interval(self) -> int:
        return self.settings.validate_every or len(self.batches)

    def _means(self) -> dict[str, float]:
        at = self.position
        return {name: total / max(1, at.counted) for name, total in at.sums.items()}

    def _progress(self) -> Progress:
        at = self.position
        best = None if at.best == -math.inf else at.best
        return Progress(at.step, self.settings.steps, self._means(), at.last, best)


def _out_of_memory(error: Exception, settings: Settings, step: int) -> DataError | None:
    """The error for memory that ran out, on a GPU or not; None for another."""
    words = str(error).lower()
    if not isinstance(error, torch.OutOfMemoryError | MemoryError) and "not enough memory" not in words:
        return None
    return DataError(
        f"memory ran out at step {step + 1} with a batch of {settings.batch} images × {settings.captions} captions; "
        "choose a smaller --batch or --captions, --precision bfloat16, or another --device"
    )
