"""All settings that determine the result of a training run; a run folder's `config.json` holds them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sacrecap.errors import DataError, UsageError, accepted_name
from sacrecap_captioning.mixture import EVALUATOR, Mixture

# Only names, so that settings are made and checked without torch.
MODEL_NAMES = ("nic", "fc", "softatt", "att2in", "adapatt", "cvae", "gmm-cvae", "cgan")
BASELINES = ("greedy", "others")
PRECISIONS = ("float32", "bfloat16", "float16")
SCHEDULES = ("constant", "linear", "cosine")

FEATURE_DTYPES = ("float32", "float16")

MAY_CHANGE = ("data", "features", "steps", "patience", "device", "log_every")
"""Settings that a resumed run may change."""


@dataclass(frozen=True)
class Settings:
    """Settings of a training run. Two runs of the same settings on the same data are the same bits on a CPU.

    Raises:
        UsageError: a number out of range, or a name that is not accepted.
    """

    data: str
    """Folder or split file of the captioned images."""
    model: str = "fc"
    """One of `MODEL_NAMES`."""
    loss: str = "xe"
    """The loss, such as `xe + 5*cider-d`."""
    baseline: str = "greedy"
    """The baseline of a sample's reward: the greedy caption's, or the mean of the image's other samples."""
    df: str | None = None
    """File of document frequencies for the reward cider-d, keyed by ids; None: those of the training captions."""
    retrieval: str | None = None
    """File of the model whose reward is `retrieval`, from `train_retrieval`."""
    init: str | None = None
    """Run folder whose best weights this run starts from."""

    features: str | None = None
    """File of features that were computed elsewhere, which no encoder is needed for; None: those of the encoder."""
    encoder: str = "small"
    """A name of `encoders.encoder_names()`, or a vision model of transformers: its folder, or owner/name."""
    weights: str = "auto"
    """The encoder's weights: a name, a file, `random`, `words`: learned from the words of the training captions; or
    `auto`: a checkpoint's own, else `random`."""
    features_dtype: str = "float32"
    """Numbers in which features of a frozen encoder are kept: `float32` or `float16`."""
    train_encoder: bool = False
    """Whether the encoder learns too; by default its features are computed once."""
    side: int | None = None
    """Pixels of the square that images are resized to; None: the encoder's own."""
    on_missing: str = "error"
    """Images without a file: `error` or `skip`."""
    images: int | None = None
    """Images of each split at most, the first ones; None: all."""
    encoder_epochs: int = 12
    """Passes over the training images by which an encoder with the weights `words` learns them."""

    tokenizer: str = "ptb"
    """The tokenizer of the captions."""
    least: int = 5
    """Occurrences in the training captions that make a word part of the vocabulary."""
    length: int = 20
    """Words of a caption; what is longer is cut."""
    hidden: int = 512
    embedding: int = 512
    attention: int = 512
    latent: int = 64
    dropout: float = 0.0
    """Share of the hidden units that are left out before the word layer while training."""

    batch: int = 50
    """Images of a step, over all processes."""
    captions: int = 5
    """Captions of each of them: k."""
    steps: int = 10_000
    rate: float = 5e-4
    """Learning rate of Adam."""
    schedule: str = "constant"
    """How the rate falls over the steps: one of `SCHEDULES`, to 0."""
    warmup: int = 0
    """First steps, over which the rate rises from 0."""
    weight_decay: float = 0.0
    clip: float = 1.0
    """Largest norm of a step's gradient."""
    precision: str = "float32"
    """Arithmetic of the forward pass: one of `PRECISIONS`."""
    seed: int = 0

    validate_every: int = 0
    """Steps between validations (each leaves a checkpoint); 0: a pass over the training images."""
    patience: int = 0
    """Validations without a better CIDEr-D that end the run; 0: never."""
    log_every: int = 10
    """Steps per line of the log sums up."""
    device: str = "auto"
    """`cpu`, `cuda`, `cuda:1`, `mps`; `auto`: the GPU when there is one."""

    def __post_init__(self) -> None:
        accepted_name("the model", self.model, MODEL_NAMES)
        check_evaluator(self.model, Mixture.parse(self.loss))
        accepted_name("the baseline", self.baseline, BASELINES)
        accepted_name("the precision", self.precision, PRECISIONS)
        accepted_name("the schedule", self.schedule, SCHEDULES)
        accepted_name("the numbers of features", self.features_dtype, FEATURE_DTYPES)
        if self.features is not None and self.train_encoder:
            raise UsageError(f"no encoder learns where features are given ({self.features}); leave one of the two out")
        for name in _AT_LEAST_1:
            _check(name, getattr(self, name), 1)
        if self.images is not None:
            _check("images", self.images, 1)
        for name in _AT_LEAST_0:
            _check(name, getattr(self, name), 0)
        if not self.rate > 0 or not self.clip > 0:
            raise UsageError(f"rate and clip must be above 0, got {self.rate} and {self.clip}")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"dropout must be at least 0 and below 1, got {self.dropout}")

    @classmethod
    def from_json(cls, values: Mapping[str, Any], where: str) -> Settings:
        """Settings as `to_json` gives them. Raises `DataError` for others."""
        names = {field.name for field in dataclasses.fields(cls)}
        if wrong := sorted(names ^ values.keys()):
            raise DataError(f"{where}: the settings {', '.join(wrong)} are missing or unknown; was it edited by hand?")
        try:
            return cls(**values)
        except (UsageError, TypeError) as error:
            raise DataError(f"{where}: {error}") from None

    def to_json(self) -> dict[str, Any]:
        """All of them by name."""
        return dataclasses.asdict(self)

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        done = min(1.0, (step - self.warmup) / max(1, self.steps - self.warmup))
        match self.schedule:
            case "linear":
                return self.rate * (1 - done)
            case "cosine":
                return self.rate * (1 + math.cos(math.pi * done)) / 2
            case _:
                return self.rate


def check_evaluator(model: str, mixture: Mixture) -> None:
    """Raises `UsageError` if the mixture rewards with an evaluator that the captioner does not have."""
    if EVALUATOR in mixture.rewards and model != "cgan":
        raise UsageError(f"only cgan learns the reward {EVALUATOR}; {model} has none")


_AT_LEAST_1 = (
    "batch",
    "captions",
    "steps",
    "length",
    "least",
    "hidden",
    "embedding",
    "attention",
    "latent",
    "log_every",
    "encoder_epochs",
)
_AT_LEAST_0 = ("seed", "warmup", "weight_decay", "validate_every", "patience")


def _check(name: str, value: float, least: int) -> None:
    if not value >= least:
        raise UsageError(f"{name.replace('_', ' ')} must be at least {least}, got {value}")
