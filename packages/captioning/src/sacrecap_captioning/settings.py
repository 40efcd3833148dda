"""All settings that determine the result of a training run: a run folder's `config.json`, and options of commands.

They are declared as the parameters of metrics are.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sacrecap.errors import DataError, UsageError, accepted_name
from sacrecap.metrics.declared import accepts, parameter
from sacrecap_captioning.mixture import EVALUATOR, Mixture

# Only names, so that settings are made and checked without torch.
MODEL_NAMES = ("nic", "fc", "softatt", "att2in", "adapatt", "cvae", "gmm-cvae", "cgan")
BASELINES = ("greedy", "others")
SCHEDULES = ("constant", "linear", "cosine")


def setting(default: Any, meaning: str, metavar: str | None = None, **accepted: Any) -> Any:
    """Declares a setting: checks, the option of commands and its help come from it. `accepted`: as of `parameter`."""
    declared = parameter(meaning, default=default, **accepted)
    return dataclasses.field(default=default, metadata={"parameter": declared, "metavar": metavar})


@dataclass(frozen=True)
class Settings:
    """Settings of a training run. Two runs of the same settings on the same data are the same bits on a CPU.

    Raises:
        UsageError: a number out of range, or a name that is not accepted.
    """

    data: str
    """Folder or split file of the captioned images."""
    model: str = setting("fc", f"The captioner: {', '.join(MODEL_NAMES)}.", "NAME", choices=MODEL_NAMES)
    loss: str = setting("xe", "What to minimise: a mixture such as 'xe + 5*cider-d'.", "MIXTURE")
    baseline: str = setting(
        "greedy",
        "What a sample's reward is compared with: the greedy caption's, or the mean of the image's other samples.",
        choices=BASELINES,
    )
    retrieval: str | None = setting(
        None, "The model of the reward retrieval, from sacrecap caption retrieval.", "FILE", kind=str
    )
    init: str | None = setting(
        None, "Start from the best weights of this run, as cross-entropy before rewards.", "RUN", kind=str
    )

    features: str | None = setting(
        None, "Features computed elsewhere, by image id (.npz), instead of an encoder's.", "FILE", kind=str
    )
    encoder: str = setting(
        "small",
        "small (for the made-up scenes), or a vision model of transformers: its folder, or owner/name on the hub.",
        "NAME|FOLDER",
    )
    weights: str = setting(
        "auto",
        "The encoder's weights: a file, random, or words: learned first from the words of the training captions; auto: "
        "those of a checkpoint, else random.",
        "NAME|FILE",
    )
    encoder_epochs: int = setting(12, "Passes over the images to learn --weights words.", "N", least=1)
    train_encoder: bool = setting(False, "Train the encoder too, instead of computing its features once.")
    side: int | None = setting(None, "Pixels of the square that images are resized to.", "PIXELS", kind=int, least=1)
    images: int | None = setting(
        None, "Use only this many images of each split; all by default.", "N", kind=int, least=1
    )
    on_missing: str = setting("error", "What to do with an image without a file.", choices=("error", "skip"))

    tokenizer: str = setting("ptb", "The tokenizer, which cuts captions into words.", choices=("ptb", "whitespace"))
    least: int = setting(5, "Least occurrences of a word of the vocabulary.", "N", least=1)
    length: int = setting(20, "Most words of a caption.", "N", least=1)
    hidden: int = setting(512, "Units of the LSTM.", "N", least=1)
    embedding: int = setting(512, "Size of a word vector.", "N", least=1)
    attention: int = setting(512, "Units of the attention.", "N", least=1)
    latent: int = setting(64, "Size of the latent vector, or of the noise.", "N", least=1)
    dropout: float = setting(
        0.0, "Share of the units before the word layer to leave out in training.", "SHARE", least=0, below=1
    )

    batch: int = setting(50, "Images per step.", "N", least=1)
    captions: int = setting(5, "Captions per image of a step.", "N", least=1)
    steps: int = setting(10_000, "Steps in all.", "N", least=1)
    rate: float = setting(5e-4, "Learning rate of Adam.", "RATE", above=0)
    schedule: str = setting("constant", "How the rate falls over the steps.", choices=SCHEDULES)
    warmup: int = setting(0, "First steps, over which the rate rises.", "N", least=0)
    weight_decay: float = setting(0.0, "Of AdamW.", "X", least=0)
    clip: float = setting(1.0, "Largest norm of a step's gradient.", "X", above=0)
    seed: int = setting(0, "Seed of everything random.", "N", least=0)

    validate_every: int = setting(0, "Steps between validations; 0: one per pass over the images.", "N", least=0)
    patience: int = setting(0, "Stop after this many validations without a better CIDEr-D; 0: never.", "N", least=0)
    log_every: int = setting(10, "Steps per line of the log.", "N", least=1)
    device: str = setting("auto", "cpu, cuda, cuda:1, mps; auto: the GPU when there is one.", "NAME")

    def __post_init__(self) -> None:
        check_bounds(self)
        check_evaluator(self.model, Mixture.parse(self.loss))
        if self.features is not None and self.train_encoder:
            raise UsageError(f"no encoder learns where features are given ({self.features}); leave one of the two out")

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


def check_bounds(settings: Any) -> None:
    """Raises `UsageError` if a setting of this dataclass has a value that its declaration does not accept."""
    for field in dataclasses.fields(settings):
        value, declared = getattr(settings, field.name), field.metadata.get("parameter")
        if declared is not None and declared.choices:
            accepted_name(f"the {field.name.replace('_', ' ')}", value, declared.choices)
        elif declared is not None and value is not None and not declared.fits(value):
            raise UsageError(f"{field.name} must be {accepts(declared)}, got {value}")


def check_evaluator(model: str, mixture: Mixture) -> None:
    """Raises `UsageError` if the mixture rewards with an evaluator that the captioner does not have."""
    if EVALUATOR in mixture.rewards and model != "cgan":
        raise UsageError(f"only cgan learns the reward {EVALUATOR}; {model} has none")
