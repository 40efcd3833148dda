"""What a sweep is of: its settings, its captioners, and those of them that can be trained."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sacrecap.data.source import PathLike
from sacrecap.errors import UsageError
from sacrecap_captioning.data.captioned_images import read_images
from sacrecap_captioning.encoder_names import AUTO, SMALL, WORDS, is_checkpoint
from sacrecap_captioning.mixture import EVALUATOR, RETRIEVAL, Mixture
from sacrecap_captioning.settings import Settings, check_bounds, check_evaluator, setting
from sacrecap_captioning.sweep.curves import Curve, read_curves

if TYPE_CHECKING:
    from sacrecap_captioning.data.captioned_images import CaptionedImages

RETRIEVAL_MODEL = "retrieval.pt"


@dataclass(frozen=True)
class Sweep:
    """Settings that are swept.

    Raises:
        UsageError: a grid without captioners, a number out of range, or a loss that `read_curves` refuses.
    """

    data: str
    """Folder or split file of the captioned images."""
    models: tuple[str, ...] = ("fc", "att2in")
    losses: tuple[str, ...] = ("xe + {0,1,5,20,only}*cider-d",)
    """What is minimised after cross-entropy: mixtures, whose weights may be axes; see `sweep.curves`."""
    methods: tuple[str, ...] = ("rs",)
    """Ways to make caption sets."""
    seeds: int = setting(3, "How many times to train everything.", "N", least=1)
    set_size: int = setting(10, "Captions per image.", "N", least=1)
    split: str = setting("test", "The split whose sets are made and scored.", "NAME")
    reward_steps: int = setting(200, "Steps with each loss, after --steps of cross-entropy.", "N", least=1)
    reward_batch: int = setting(20, "Images of such a step.", "N", least=1)
    reward_rate: float = setting(2e-3, "Learning rate of these steps.", "RATE", above=0)
    retrieval_epochs: int = setting(30, "Passes over the images to train the retrieval model.", "N", least=1)
    training: dict[str, Any] = dataclasses.field(default_factory=dict)
    """Settings of training by name: those that are not the defaults of `Settings`."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if not (self.models and self.methods):
            raise UsageError("a sweep has at least one model and one method")
        read_curves(self.losses)

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The losses, along their weights."""
        return read_curves(self.losses)

    @property
    def mixtures(self) -> tuple[str, ...]:
        """The losses, each once."""
        return tuple(dict.fromkeys(point.loss for curve in self.curves for point in curve.points))

    @property
    def weights(self) -> str:
        """The weights of the encoder that all captioners share: words by default, of a checkpoint its own."""
        return str(self.training.get("weights", AUTO if is_checkpoint(self.training.get("encoder", SMALL)) else WORDS))

    @property
    def shares_features(self) -> bool:
        """Whether all captioners see the same features of one frozen encoder."""
        return not self.training.get("train_encoder") and self.training.get("features") is None

    def settings(self, cell: SweepCell, weights: str) -> Settings:
        """Settings to train a captioner by cross-entropy, with an encoder of these weights."""
        return Settings(
            **{**self.training, "data": self.data, "weights": weights, "model": cell.model, "seed": cell.seed}
        )

    def reward_settings(self, cell: SweepCell, weights: str, start: PathLike) -> Settings:
        """Settings to continue training a captioner with its mixture, after cross-entropy; `start` is its run."""
        loss = cell.loss or "xe"
        own = self.training.get("retrieval") or os.fspath(Path(start).parents[1] / RETRIEVAL_MODEL)
        return dataclasses.replace(
            self.settings(cell, weights),
            loss=loss,
            retrieval=own if rewards_retrieval(loss) else None,
            init=os.fspath(start),
            steps=self.reward_steps,
            validate_every=self.reward_steps,
            batch=self.reward_batch,
            rate=self.reward_rate,
            warmup=self.reward_steps // 20,
        )

    def read_images(self) -> CaptionedImages:
        """The images that the sweep uses."""
        return read_images(Settings(**{**self.training, "data": self.data}))


@dataclass(frozen=True)
class SweepCell:
    """A captioner of the grid."""

    model: str
    seed: int
    loss: str | None = None
    """Its mixture; None for the one by cross-entropy that all mixtures of the model and seed start from."""

    @property
    def name(self) -> str:
        """Of its folder: `fc-xe+5cider-d-seed-0`."""
        loss = "start" if self.loss is None else self.loss.replace(" ", "").replace("*", "")
        return f"{self.model}-{loss}-seed-{self.seed}"


def rewards_retrieval(loss: str) -> bool:
    """Whether a mixture needs the retrieval model."""
    return RETRIEVAL in Mixture.parse(loss).rewards


@dataclass(frozen=True)
class SweepPlan:
    """The possible part of a sweep's grid: pairs of a model with a loss, and of a model with a method."""

    losses: Mapping[str, tuple[str, ...]]
    """By model."""
    methods: Mapping[str, tuple[str, ...]]
    """By model."""
    seeds: int
    left_out: tuple[str, ...]
    """For each impossible pair, a line that says why."""

    @property
    def captioners(self) -> list[SweepCell]:
        """All that are trained with a mixture; attention, which takes longest, first."""
        models = sorted(self.losses, key=lambda model: model in {"fc", "nic"})
        return [
            SweepCell(name, seed, loss) for seed in range(self.seeds) for name in models for loss in self.losses[name]
        ]

    def files(self, cell: SweepCell) -> dict[str, str]:
        """The files of a captioner's sets, by method."""
        return {method: f"{cell.name}-{method.replace(' ', '')}.json" for method in self.methods[cell.model]}


def check_sweep(sweep: Sweep, images: CaptionedImages) -> SweepPlan:
    """Tries every model, method and reward of the sweep on tiny data, before anything is trained.

    A method, or a loss, that cannot be used with some models is left out for those.

    Raises:
        UsageError: a model that the images are not for; a method or a loss that no model is for, or a model that none
            of them is for; a number of captions that a method does not make; a batch larger than the training split,
            or a reward that cannot be had.
        DataError: the file of the retrieval model cannot be used.
    """
    from sacrecap_captioning.decoding.generation import check_sees_changes
    from sacrecap_captioning.decoding.methods import set_method
    from sacrecap_captioning.decoding.speaker import TrainedSpeaker
    from sacrecap_captioning.models import Sizes, build
    from sacrecap_captioning.training.retrieval import RetrievalModel
    from sacrecap_captioning.training.rewards import TrainingCaptions, load_reward
    from sacrecap_captioning.vocabulary import Vocabulary

    train = images.split("train")
    settings = sweep.settings(SweepCell(sweep.models[0], 0), WORDS)
    for what, batch in (("--batch", settings.batch), ("--reward-batch", sweep.reward_batch)):
        if batch > len(train):
            raise UsageError(f"a batch of {batch:,} images out of {len(train):,}; choose a smaller {what}")
    captions = ((("a", "dog"),), (("a", "cat"),))
    vocabulary = Vocabulary.build((caption for image in captions for caption in image), least=1)
    objects = Counter({label for image in train for label in image.objects})
    sizes = Sizes(len(vocabulary), 1, hidden=1, embedding=1, attention=1, latent=1, objects=len(objects))
    speakers = {name: TrainedSpeaker(build(name, sizes), vocabulary) for name in sweep.models}
    losses = _fitting(sweep.models, sweep.mixtures, lambda model, loss: check_evaluator(model, Mixture.parse(loss)))
    for method in sweep.methods:
        check_sees_changes(set_method(method), sweep.training.get("features"))
    methods = _fitting(
        sweep.models, sweep.methods, lambda model, method: set_method(method).check(speakers[model], sweep.set_size)
    )
    given = sweep.training.get("retrieval")
    if given is not None:
        if not any(map(rewards_retrieval, sweep.mixtures)):
            raise UsageError(f"{given}: no loss of the sweep has the reward {RETRIEVAL}; leave --retrieval out")
        RetrievalModel.load(given)
    training = TrainingCaptions(vocabulary, captions, objects=[objects] * 2 if objects else None)
    for name in sorted({name for loss in sweep.mixtures for name in Mixture.parse(loss).rewards}):
        if name not in {RETRIEVAL, EVALUATOR}:
            load_reward(name, training)
    return SweepPlan(losses[0], methods[0], sweep.seeds, (*losses[1], *methods[1]))


def _fitting(
    models: Sequence[str], others: Sequence[str], check: Callable[[str, str], object]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """By model, those of the others that it can be used with; and of each pair left out, a line that says why.

    Raises the error of a pair where a model, or one of the others, is left with nothing.
    """
    errors: dict[tuple[str, str], UsageError] = {}
    for model in models:
        for other in others:
            try:
                check(model, other)
            except UsageError as error:
                errors[model, other] = error
    rows = [[(model, other) for other in others] for model in models]
    for pairs in (*rows, *zip(*rows, strict=True)):
        if all(pair in errors for pair in pairs):
            raise errors[pairs[0]]
    fitting = {model: tuple(other for other in others if (model, other) not in errors) for model in models}
    return fitting, [f"{model} with {other} is left out: {error}" for (model, other), error in errors.items()]
