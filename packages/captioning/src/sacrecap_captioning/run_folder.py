"""The folder of a training run, which holds everything needed to repeat it, and to make captions.

config.json       version of the folder and of sacrecap, settings, sizes, words in the order of their ids, object
                  classes, checksums of data and encoder
encoder.pt        the encoder's weights as the run began
best.pt           the weights of the best validation: captioner, and encoder where it learns
log.jsonl         a line every few steps, and one per validation

All but the log is there from the first validation on.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

import sacrecap
from sacrecap.data import atomic_write
from sacrecap.errors import DataError
from sacrecap_captioning.captioner import Captioner, Sizes, Vocabulary
from sacrecap_captioning.encoders import Standardisation, load_encoder, read_tensors, write_tensors
from sacrecap_captioning.models import build
from sacrecap_captioning.settings import CONFIG, FORMAT, PathLike, Settings, read_run

ENCODER, BEST, LOG = "encoder.pt", "best.pt", "log.jsonl"


@dataclass(frozen=True)
class RunFolder:
    """A training run on disk."""

    path: Path
    settings: Settings
    vocabulary: Vocabulary = field(repr=False)
    sizes: Sizes
    objects: tuple[str, ...]
    """Object classes, in the order of the columns of `Features.objects`."""
    data_checksum: str

    @classmethod
    def open(cls, path: PathLike, features: PathLike | None = None) -> RunFolder:
        """The run in a folder. Arguments and errors are those of `read_run`."""
        settings, config = read_run(path, features)
        vocabulary, sizes = Vocabulary(tuple(config["words"])), Sizes(**config["sizes"])
        return cls(Path(path), settings, vocabulary, sizes, tuple(config["objects"]), config["data"])

    def describe(self, encoder: Standardisation) -> None:
        """Writes everything but checkpoints and logs: from then on the folder is a run. Raises `DataError`."""
        write_tensors(self.path / ENCODER, encoder.state_dict())
        config = {
            "format": FORMAT,
            "sacrecap": sacrecap.__version__,
            "settings": asdict(self.settings),
            "data": self.data_checksum,
            "encoder": encoder.checksum,
            "sizes": asdict(self.sizes),
            "objects": self.objects,
            "words": self.vocabulary.words,
        }
        with atomic_write(self.path / CONFIG) as file:
            file.write(json.dumps(config, indent=2, ensure_ascii=False) + "\n")

    def captioner(self) -> Captioner:
        """The captioner with the best weights, ready to make captions (`eval`), on the CPU.

        Raises:
            DataError: there is no such checkpoint, or it is damaged.
        """
        model = build(self.settings.model, self.sizes)
        self._load(model, "model")
        return model.eval()

    def encoder(self) -> Standardisation:
        """The encoder: as the run began where it is frozen, otherwise with the best weights.

        Where the run was given features, what standardises these.
        """
        encoder: Standardisation
        with torch.random.fork_rng(devices=[]):  # the random weights drawn here are replaced below
            if self.settings.features is not None:
                encoder = Standardisation(self.sizes.feature)
            else:
                encoder = load_encoder(self.settings.encoder, side=self.settings.side)
        if self.settings.train_encoder:
            self._load(encoder, "encoder")
        else:
            _restore(encoder, read_tensors(self.path / ENCODER), self.path / ENCODER)
        return encoder.eval()

    def _load(self, module: torch.nn.Module, part: str) -> None:
        path = self.path / BEST
        _restore(module, read_tensors(path).get(part, {}), path)


def check_new(folder: PathLike) -> None:
    """Raises `DataError` if a run is in the folder already."""
    if (Path(folder) / CONFIG).exists():
        raise DataError(f"{folder}: holds a run already; go on from it (--init {folder}), or choose another folder")


def _restore(module: torch.nn.Module, state: dict[str, Any], path: Path) -> None:
    try:
        module.load_state_dict(state)
    except (RuntimeError, TypeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(
            f"{path}: does not fit {CONFIG} in the same folder ({reason}); they are of different runs"
        ) from None
