"""What a sweep is of: its settings, its captioners, and those of them that can be trained."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sacrecap.data.source import PathLike
from sacrecap.errors import UsageError
from sacrecap_captioning.mixture import RETRIEVAL, Mixture
from sacrecap_captioning.sweep.curves import Curve, read_curves
from sacrecap_captioning.training.images import read_images
from sacrecap_captioning.training.settings import Settings

if TYPE_CHECKING:
    from sacrecap_captioning.data.images import CaptionedImages

RETRIEVAL_MODEL = "retrieval.pt"


@dataclass(frozen=True)
class Sweep:
    """Settings that are swept.

    Raises:
        UsageError: a grid without captioners, or a loss that `read_curves` refuses.
    """

    data: str
    """Folder or split file of the captioned images."""
    models: tuple[str, ...] = ("fc", "att2in")
    losses: tuple[str, ...] = ("xe + {0,1,5,20,only}*cider-d",)
    """What is minimised after cross-entropy: mixtures, whose weights may be axes; see `sweep.curves`."""
    seeds: int = 3
    """How many: 0, 1, …"""
    methods: tuple[str, ...] = ("rs",)
    """Ways to make caption sets."""
    set_size: int = 10
    """Captions per image."""
    split: str = "test"
    """The split whose sets are made and scored."""
    reward_steps: int = 200
    """Steps with the mixture, after those of `training` with cross-entropy."""
    reward_batch: int = 20
    """Images of such a step."""
    reward_rate: float = 2e-3
    """The learning rate of these steps."""
    retrieval_epochs: int = 30
    """Training passes of the retrieval model, if a mixture needs one and none is given."""
    training: dict[str, Any] = dataclasses.field(default_factory=dict)
    """Settings of training by name: those that are not the defaults of `Settings`."""

    def __post_init__(self) -> None:
        if not (self.models and self.methods and self.seeds > 0):
            raise UsageError("a sweep has at least one model, method and seed")
        read_curves(self.losses)

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The losses, along their weights."""
        return read_curves(self.losses)

    @property
    def mixtures(self) -> tuple[str, ...]:
        """The losses, each once."""
        return tuple(dict.fromkeys(point.loss for curve in self.curves for point in curve.points))

    def settings(self, captioner: SweepCell, weights: str) -> Settings:
        """Settings to train a captioner by cross-entropy, with an encoder of these weights."""
        return Settings(**{**self.training, "data": self.data, "weights": weights, **_who(captioner)})

    def reward_settings(self, captioner: SweepCell, weights: str, start: PathLike) -> Settings:
        """Settings to continue training a captioner with its mixture, after cross-entropy; `start` is its run."""
        loss = captioner.loss or "xe"
        own = self.training.get("retrieval") or os.fspath(Path(start).parents[1] / RETRIEVAL_MODEL)
        return dataclasses.replace(
            self.settings(captioner, weights),
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
    """One of the grid."""

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


def _who(captioner: SweepCell) -> dict[str, Any]:
    return {"model": captioner.model, "seed": captioner.seed}
