"""The loop of training: steps, validations, checkpoints.

It is the replication of *Describing like humans* (Wang, Chan, CVPR 2019), and frozen: faults are fixed, nothing is
added. Today's models are trained with `sacrecap.rewards` in other training loops.
docs/explanation/captioners-of-the-papers.md says why this loop stays, and which part accelerate could replace.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.errors import DataError, SacrecapError, UsageError
from sacrecap_captioning.checkpoints import learning, random_states, read_tensors, restore_random_states, write_tensors
from sacrecap_captioning.data.batches import Losses
from sacrecap_captioning.encoders.encoder import Standard
from sacrecap_captioning.models import Captioner
from sacrecap_captioning.rewards import TrainingCaptions
from sacrecap_captioning.rewards.retrieval import RetrievalModel, RetrievalReward
from sacrecap_captioning.training.data import Batches, TrainingData
from sacrecap_captioning.training.losses import Objective
from sacrecap_captioning.training.processes import Processes
from sacrecap_captioning.training.run_folder import BEST, LAST, RunFolder
from sacrecap_captioning.training.run_log import RunLog
from sacrecap_captioning.training.validation import greedy_captions, validation_score


@dataclass(frozen=True)
class TrainingProgress:
    """The progress of a run."""

    step: int
    steps: int
    losses: Mapping[str, float]
    """Means since the last line of the log; on a GPU, which is not waited for at each step, those of that line."""
    validation: float | None
    """CIDEr-D of the last validation."""
    best: float | None


@dataclass(frozen=True)
class Outcome:
    """The result of a run."""

    folder: Path
    step: int
    """Steps it took."""
    cider_d: float
    """Of the best validation."""
    best_step: int
    stopped_early: bool


@dataclass
class _Position:
    """The state of a run besides its weights."""

    step: int = 0
    best: float = -math.inf
    best_step: int = 0
    last: float | None = None
    stale: int = 0
    """Validations since the best."""
    sums: dict[str, float] = dataclasses.field(default_factory=dict)
    """Sums of the losses since the last line of the log."""
    counted: int = 0


class _Taken(NamedTuple):
    """A step that was taken, and whose losses may still be on their way from the device."""

    step: int
    figures: dict[str, Tensor]
    seconds: float
    """Until the host could go on."""


def computes_apart(device: torch.device) -> bool:
    """Whether the host need not wait for the device, as long as it does not ask for a number."""
    return device.type != "cpu"


def _objective(run: RunFolder, data: TrainingData, device: torch.device) -> Objective:
    """The loss of a step."""
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


def descend(
    loss: Tensor,
    parameters: Sequence[nn.Parameter],
    optimiser: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    processes: Processes,
    clip: float,
) -> None:
    """One step of the optimiser down the mean gradient of all processes.

    Gradients are averaged while they are scaled: an overflow in one process is then one in all of them, so that all
    skip the step and lower their scale alike.
    """
    optimiser.zero_grad(set_to_none=True)
    torch.autograd.backward(scaler.scale(loss))
    processes.average_gradients(parameters)
    scaler.unscale_(optimiser)
    nn.utils.clip_grad_norm_(parameters, clip)
    scaler.step(optimiser)
    scaler.update()


class TrainingLoop:
    """A run in memory."""

    def __init__(
        self,
        run: RunFolder,
        data: TrainingData,
        model: Captioner,
        encoder: Standard,
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
        self.shown: dict[str, float] = {}
        self.unread: list[_Taken] = []
        processes.agree(learners)
        # Each process draws its own samples.
        torch.manual_seed(settings.seed + 1 + processes.rank)

    def go(self, progress: Callable[[TrainingProgress], None] | None) -> Outcome:
        """Takes the steps that are left."""
        log = RunLog(self.run.path, self.position.step, tensorboard=self.tensorboard) if self.processes.first else None
        try:
            while not self._done():
                with self._enough_memory():
                    self._step(log)
                    if self._validates():
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
        losses = self._learn(at.step)
        at.step += 1
        figures = {"loss": losses.total.detach(), **losses.parts}
        self.unread.append(_Taken(at.step, figures, time.monotonic() - started))
        if not computes_apart(self.device) or at.step % settings.log_every == 0:
            self._read_losses()
        if at.step % settings.log_every == 0:
            if log is not None:
                log.write(at.step, {**self.shown, "rate": rate})
            at.sums, at.counted = {}, 0

    def _read_losses(self) -> None:
        """Adds up the losses of the steps since the last call, for which the host waits here until they are known."""
        at = self.position
        for taken in self.unread:
            started = time.monotonic()
            values = {name: float(value) for name, value in taken.figures.items()}
            values["seconds"] = taken.seconds + time.monotonic() - started
            if not math.isfinite(values["loss"]):
                raise SacrecapError(
                    f"{self.run.path}: the loss of step {taken.step} is {values['loss']}; try a smaller --rate or "
                    "--clip, or --precision float32"
                )
            for name, value in values.items():
                at.sums[name] = at.sums.get(name, 0.0) + value
            at.counted += 1
            self.shown = {name: total / at.counted for name, total in at.sums.items()}
        self.unread.clear()

    def _learn(self, step: int) -> Losses:
        """Forward, backward, and Adam's step."""
        precision = getattr(torch, self.settings.precision)
        with torch.autocast(self.device.type, precision, enabled=precision != torch.float32):
            losses = self.objective(self.model, self.batches.at(step, self.device), step)
        descend(losses.total, self.parameters, self.optimiser, self.scaler, self.processes, self.settings.clip)
        return losses

    def _validate(self, log: RunLog | None) -> None:
        """CIDEr-D of greedy captions; the weights, where they are the best; a checkpoint."""
        self._read_losses()
        at = self.position
        score = self.processes.broadcast(self._score() if self.processes.first else 0.0)
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

    def _validates(self) -> bool:
        """Whether the step just taken is followed by a validation: the last one is, too."""
        step = self.position.step
        return step % (self.settings.validate_every or len(self.batches)) == 0 or step == self.settings.steps

    def _progress(self) -> TrainingProgress:
        at = self.position
        best = None if at.best == -math.inf else at.best
        return TrainingProgress(at.step, self.settings.steps, self.shown, at.last, best)

    @contextlib.contextmanager
    def _enough_memory(self) -> Iterator[None]:
        """Turns running out of memory, on a GPU or not, into an error that says what to do."""
        try:
            yield
        except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
            words = str(error).lower()
            of_memory = any(sign in words for sign in ("out of memory", "not enough memory", "allocate memory"))
            if isinstance(error, RuntimeError) and not of_memory:
                raise
            settings = self.settings
            raise DataError(
                f"{self.run.path}: memory ran out at step {self.position.step + 1} with a batch of {settings.batch} "
                f"images × {settings.captions} captions; choose a smaller --batch or --captions, --precision bfloat16, "
                "or another --device"
            ) from None
