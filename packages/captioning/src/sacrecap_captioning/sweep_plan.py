"""What a sweep is of: its settings, its captioners, and those of them that can be trained.

Mixtures as axes: `xe + {0,5,10}*cider-d` is a curve of three losses, of which λ is the weight.

    grid   = term, { "+", term }              a term of a mixture (`sacrecap_captioning.mixture`), or
    term   = "{", weight, { ",", weight }, "}", "*", name
    weight = number | "only"                  `only`: that name alone, without the rest of the mixture

Several pairs of braces expand to all combinations: the last one is the axis of each curve, and each combination of the
others is a curve of its own. Weights rise, as the axis does. The losses of Wang, Chan (CVPR 2019), Figure 8, are
`xe + {…}*cider-d`, `xe + {…}*retrieval`, `cider-d + {…}*retrieval`, and triples with both rewards.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from sacrecap.errors import UsageError
from sacrecap.metrics.weighted_sum import terms
from sacrecap_captioning.captioned_images import CaptionedImages, read_images
from sacrecap_captioning.settings import (
    AUTO,
    EVALUATOR,
    RETRIEVAL,
    SMALL,
    WORDS,
    Mixture,
    Settings,
    check_bounds,
    check_evaluator,
    setting,
)

ONLY = "only"
"""The weight of a reward alone."""
_BRACES = re.compile(r"\s*\{(?P<weights>[^{}]*)\}\s*\*\s*(?P<name>[^{}]+)")


@dataclass(frozen=True)
class Point:
    """A loss of a curve."""

    weight: str
    """λ, as it was written; empty for a loss without braces."""
    loss: str
    """The mixture, without what has no weight: the same loss is the same text in every curve."""


@dataclass(frozen=True)
class Curve:
    """Losses that differ in one weight, in its rising order."""

    name: str
    """The mixture with λ for that weight: `xe + λ*cider-d`."""
    points: tuple[Point, ...]


def read_curves(texts: Iterable[str]) -> tuple[Curve, ...]:
    """The curves of several texts, each once.

    Raises:
        UsageError: another form, a weight that is not a number of at least 0, weights that do not rise, an impossible
            mixture, or no text.
    """
    curves = tuple(dict.fromkeys(curve for text in texts for curve in _expanded(text)))
    if not curves:
        raise UsageError("a sweep has at least one loss, such as 'xe + {0,5,only}*cider-d'")
    return curves


def _expanded(text: str) -> list[Curve]:
    """The curves of one text."""
    parts = terms(text)
    axes = {number: _weights(part, text) for number, part in enumerate(parts) if "{" in part or "}" in part}
    if not axes:
        loss = str(Mixture.parse(text).at_work)
        return [Curve(loss, (Point("", loss),))]
    names = {number: parts[number].rpartition("}")[2].partition("*")[2].strip() for number in axes}
    if len(axes) > 1 and any(ONLY in weights for weights in axes.values()):
        raise UsageError(f"loss {text!r}: {ONLY} leaves the rest of the mixture out: it goes with one pair of braces")
    *fixed, last = axes

    def mixture(chosen: Iterable[str], weight: str) -> Mixture:
        """The mixture with these weights in the first pairs of braces, and this one in the last."""
        weight_of = dict(zip((*fixed, last), (*chosen, weight), strict=True))
        written = [f"{weight_of[n]}*{names[n]}" if n in weight_of else part for n, part in enumerate(parts)]
        return Mixture.parse(names[last] if weight == ONLY else " + ".join(written)).at_work

    curves = []
    for chosen in itertools.product(*(axes[number] for number in fixed)):
        points = tuple(Point(weight, str(mixture(chosen, weight))) for weight in axes[last])
        [axis] = Mixture.parse(names[last]).names
        named = [
            f"λ*{axis}" if name == axis else str(Mixture(((name, weight),)))
            for name, weight in mixture(chosen, "1").weights
        ]
        curves.append(Curve(" + ".join(named), points))
    return curves


def _weights(term: str, text: str) -> tuple[str, ...]:
    """The weights of a term with braces."""
    match = _BRACES.fullmatch(term)
    if match is None:
        raise UsageError(
            f"loss {text!r}: {term} is not of the form {{weight,weight}}*name; example: 'xe + {{0,5,only}}*cider-d'"
        )
    weights = tuple(weight.strip() for weight in match["weights"].split(","))
    numbers = []
    for weight in weights:
        try:
            numbers.append(math.inf if weight == ONLY else float(weight))
        except ValueError:
            numbers.append(-1.0)
        if numbers[-1] < 0 or (math.isinf(numbers[-1]) and weight != ONLY):
            raise UsageError(f"loss {text!r}: a weight in braces is a number of at least 0, or {ONLY}, got {weight!r}")
    if any(lower >= higher for lower, higher in pairwise(numbers)):
        raise UsageError(f"loss {text!r}: weights in braces rise, each once, {ONLY} last; got {', '.join(weights)}")
    return weights


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
    training: dict[str, Any] = dataclasses.field(default_factory=dict, hash=False)
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
        return str(self.training.get("weights", WORDS if self.training.get("encoder", SMALL) == SMALL else AUTO))

    @property
    def shares_features(self) -> bool:
        """Whether all captioners see the same features of one frozen encoder."""
        return not self.training.get("train_encoder") and self.training.get("features") is None

    def settings(self, cell: SweepCell, weights: str, start: Path | None = None) -> Settings:
        """Settings to train a captioner by cross-entropy, with an encoder of these weights; or with its mixture, from
        the run `start` of cross-entropy.
        """
        chosen = {**self.training, "data": self.data, "weights": weights, "model": cell.model, "seed": cell.seed}
        if start is not None:
            loss = cell.loss or "xe"
            retrieval = self.training.get("retrieval") or os.fspath(start.parents[1] / RETRIEVAL_MODEL)
            chosen |= {
                "loss": loss,
                "retrieval": retrieval if rewards_retrieval(loss) else None,
                "init": os.fspath(start),
                "steps": self.reward_steps,
                "validate_every": self.reward_steps,
                "batch": self.reward_batch,
                "rate": self.reward_rate,
                "warmup": self.reward_steps // 20,
            }
        return Settings(**chosen)

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
    from sacrecap_captioning.captioner import Sizes, Vocabulary
    from sacrecap_captioning.generation import check_sees_changes
    from sacrecap_captioning.models import build
    from sacrecap_captioning.objective import TrainingCaptions, load_reward
    from sacrecap_captioning.retrieval_model import RetrievalModel
    from sacrecap_captioning.set_methods import TrainedSpeaker, set_method

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
    model_file = sweep.training.get("retrieval")
    if model_file is not None:
        if not any(map(rewards_retrieval, sweep.mixtures)):
            raise UsageError(f"{model_file}: no loss of the sweep has the reward {RETRIEVAL}; leave --retrieval out")
        RetrievalModel.load(model_file)
    training = TrainingCaptions(vocabulary, captions, objects=[objects] * 2 if objects else None)
    for name in sorted({name for loss in sweep.mixtures for name in Mixture.parse(loss).rewards}):
        if name not in {RETRIEVAL, EVALUATOR}:
            load_reward(name, training)
    return SweepPlan(losses[0], methods[0], sweep.seeds, (*losses[1], *methods[1]))


def _fitting(
    models: Sequence[str], choices: Sequence[str], check: Callable[[str, str], object]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """By model, those of the others that it can be used with; and of each pair left out, a line that says why.

    Raises the error of a pair where a model, or one of the others, is left with nothing.
    """
    errors: dict[tuple[str, str], UsageError] = {}
    for model in models:
        for choice in choices:
            try:
                check(model, choice)
            except UsageError as error:
                errors[model, choice] = error
    rows = [[(model, choice) for choice in choices] for model in models]
    for pairs in (*rows, *zip(*rows, strict=True)):
        if all(pair in errors for pair in pairs):
            raise errors[pairs[0]]
    fitting = {model: tuple(choice for choice in choices if (model, choice) not in errors) for model in models}
    return fitting, [f"{model} with {choice} is left out: {error}" for (model, choice), error in errors.items()]
