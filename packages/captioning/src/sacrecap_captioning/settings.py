"""Settings of a training run, a run folder's `config.json` and options of commands; and names, all without torch.

They are declared as the parameters of metrics are. What training minimises is one of them, as text:
`xe + 5*cider-d`, `0..5@1000*cider-d + 2*retrieval`.

It is a weighted sum in the notation of `sacrecap.metrics.weighted_sum`. Its names are `xe`, `retrieval`, `evaluator`,
and metrics, with parameters if need be: `cider-d(sigma=5)`. Its weights are at least 0, and may move over the steps:
`0..5@1000` from the first number to the second over the first steps, `0..5@500-1000` between these steps.

The losses of Wang, Chan (CVPR 2019), section 5.3, are `xe + λ*cider-d`, `xe + β*retrieval`, `cider-d + α*retrieval` and
`xe + λ*cider-d + β*retrieval`.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sacrecap import __version__
from sacrecap.data.source import reading
from sacrecap.errors import DataError, UsageError, accepted_name
from sacrecap.metrics import parameter
from sacrecap.metrics.declared import accepts
from sacrecap.metrics.registry import parse_metrics
from sacrecap.metrics.weighted_sum import Weight, check_distinct, read_term, terms, write_term

PathLike: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[str, int, int], None]
"""Told the current step, such as the split that is read, the number of finished images, and that of all."""


def silent(*_: object) -> None:
    """Progress that nobody is told of."""


CROSS_ENTROPY = "xe"
RETRIEVAL = "retrieval"
EVALUATOR = "evaluator"
"""The reward of a captioner's own evaluator, which learns beside it; `cgan` has one."""
NAMES = (CROSS_ENTROPY, RETRIEVAL, EVALUATOR)


@dataclass(frozen=True)
class Mixture:
    """Losses and rewards by name, each with its weight; prints as the text it is parsed from."""

    weights: tuple[tuple[str, Weight], ...]

    @classmethod
    def parse(cls, text: str) -> Mixture:
        """Reads the text form.

        Raises:
            UsageError: it is not of that form, names no registered metric (the nearest is suggested), names one twice,
                a weight is negative, or all its weights are 0.
        """
        where = f"loss {text!r}"
        named: list[tuple[str, Weight]] = []
        for name, weight in [read_term(term, where) for term in terms(text)]:
            if name.lower() in NAMES:
                named.append((name.lower(), weight))
                continue
            try:
                metrics = parse_metrics(name)
            except UsageError as error:
                raise UsageError(f"{where}: {error}; a loss also takes {', '.join(NAMES)}") from None
            if len(metrics) > 1:
                raise UsageError(f"{where}: {name} is a group of {len(metrics)} metrics; name each with its weight")
            named.append((metrics[0].key, weight))
        weights = tuple(named)
        check_distinct([name for name, _ in weights], where)
        for _, weight in weights:
            if not all(0 <= number < math.inf for number in (weight.start, weight.end)):
                raise UsageError(f"{where}: a weight is a number of at least 0, got {weight}")
        if all(weight.is_nothing for _, weight in weights):
            raise UsageError(f"{where}: every weight is 0, so nothing would be learnt")
        return cls(weights)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its parts, in order."""
        return tuple(name for name, _ in self.weights)

    @property
    def rewards(self) -> tuple[str, ...]:
        """Names of its rewards (parts other than cross-entropy) that ever have a weight, in order."""
        return tuple(name for name, weight in self.weights if name != CROSS_ENTROPY and not weight.is_nothing)

    @property
    def at_work(self) -> Mixture:
        """The mixture without the parts that never have a weight."""
        return Mixture(tuple((name, weight) for name, weight in self.weights if not weight.is_nothing))

    def at(self, step: int) -> dict[str, float]:
        """The weights of a step that are not 0."""
        return {name: number for name, weight in self.weights if (number := weight.at(step)) > 0}

    def __str__(self) -> str:
        return " + ".join(write_term(name, weight) for name, weight in self.weights)


SMALL = "small"
"""The encoder for small pictures, even where a folder has this name; others are vision models of transformers."""
AUTO, RANDOM, WORDS = "auto", "random", "words"
"""Weights of an encoder: a checkpoint's own, else random ones; random ones; learned from the words of the captions."""


def check_encoder(encoder: str, weights: str) -> None:
    """Raises `UsageError` for an encoder that does not exist, or weights that it does not have, without loading it."""
    if encoder != SMALL and "/" not in encoder and not os.path.isdir(encoder):
        raise UsageError(
            f"the encoder {encoder!r} is neither {SMALL} nor a vision model of transformers: its folder, or owner/name "
            "on the hub, such as microsoft/resnet-18"
        )
    if os.path.isfile(weights) or weights == AUTO:
        return
    if encoder != SMALL:
        raise UsageError(
            f"the weights {weights!r} are neither a file nor {AUTO!r}: {encoder} is a checkpoint, which has its own"
        )
    if weights not in {RANDOM, WORDS}:
        raise UsageError(
            f"the weights {weights!r} of {SMALL} are neither a file nor {RANDOM!r} or {WORDS!r}; published weights are "
            "those of checkpoints, such as --encoder microsoft/resnet-18"
        )


def make_folder(folder: PathLike) -> None:
    """Makes a folder, where there is none. Raises `DataError` if it cannot be made."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: this folder cannot be made: {error.strerror}; choose another place") from None


CONFIG = "config.json"
"""What a run folder, and a checkpoint of transformers, are known by."""
# Only names, so that settings are made and checked without torch.
MODEL_NAMES = ("nic", "fc", "softatt", "att2in", "adapatt", "cvae", "gmm-cvae", "cgan")
BASELINES = ("greedy", "others")


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
    schedule: str = setting("constant", "How the rate falls over the steps.", choices=("constant", "linear", "cosine"))
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

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        share = min(1.0, (step - self.warmup) / max(1, self.steps - self.warmup))
        falling = {"linear": 1 - share, "cosine": (1 + math.cos(math.pi * share)) / 2}
        return self.rate * falling.get(self.schedule, 1.0)


FORMAT = 2
"""Version of the run folder's form."""


def read_run(folder: PathLike, features: PathLike | None = None) -> tuple[Settings, dict[str, Any]]:
    """The settings of a training run, and all that its `config.json` holds; `features`: where their file has moved to.

    Raises:
        DataError: there is no run, it is of another version, or damaged.
        UsageError: features for a run that was trained with an encoder.
    """
    path = Path(folder) / CONFIG
    if not path.exists():
        raise DataError(f"{folder}: is not a run of sacrecap caption train: it has no {CONFIG}")
    with reading(path):
        text = path.read_text(encoding="utf-8")
    try:
        config = dict(json.loads(text))
        version, maker = config["format"], config["sacrecap"]
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path}: is not a configuration of a training run") from None
    if version != FORMAT:
        raise DataError(
            f"{folder}: this run folder has format {version} (sacrecap {maker}); sacrecap {__version__} reads format "
            f"{FORMAT}: use sacrecap {maker} for it, or train again"
        )
    if missing := {"settings", "data", "words", "sizes", "objects"} - config.keys():
        raise DataError(f"{path}: lacks {', '.join(sorted(missing))}; was it edited by hand?")
    if wrong := sorted(Settings.__dataclass_fields__.keys() ^ config["settings"].keys()):
        raise DataError(f"{path}: the settings {', '.join(wrong)} are missing or unknown; was it edited by hand?")
    try:
        settings = Settings(**config["settings"])
    except (UsageError, TypeError) as error:
        raise DataError(f"{path}: {error}") from None
    if features is None:
        return settings, config
    if settings.features is None:
        raise UsageError(
            f"{folder}: looks at images itself, with the encoder {settings.encoder}; features of a file "
            f"({os.fspath(features)}) are for captioners that were trained with such: leave --features FILE out"
        )
    return dataclasses.replace(settings, features=os.fspath(features)), config


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


def kind_of(speaker: PathLike) -> str:
    """What makes captions: a `captioner` of `sacrecap caption train`, a `checkpoint` of transformers, an `endpoint`.

    Raises:
        DataError: it is none of them.
    """
    place = os.fspath(speaker)
    if place.startswith(("http://", "https://")):
        return "endpoint"
    if not os.path.isdir(place):
        if place.count("/") == 1 and not os.path.exists(place):
            return "checkpoint"
        raise DataError(
            f"{place}: is not a folder; a captioner is a folder of sacrecap caption train, a checkpoint of "
            "transformers (its folder, or owner/name on the hub), or the address of an endpoint (http://host:8000/v1)"
        )
    try:
        config = json.loads((Path(place) / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise DataError(
            f"{place}: holds neither a run of sacrecap caption train nor a checkpoint of transformers: both "
            f"have a {CONFIG}"
        ) from None
    return "captioner" if isinstance(config, dict) and "sacrecap" in config else "checkpoint"
