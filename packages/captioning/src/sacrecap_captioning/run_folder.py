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
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

import sacrecap
from sacrecap.data import atomic_write
from sacrecap.data.source import reading
from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages, given_features, images_to_caption
from sacrecap_captioning.captioner import Captioner, Sizes, Vocabulary
from sacrecap_captioning.encoders import Standardisation, load_encoder, read_tensors, write_tensors
from sacrecap_captioning.models import build
from sacrecap_captioning.settings import CONFIG, PathLike, Settings

if TYPE_CHECKING:
    from sacrecap.data.captioned import CaptionedImage

FORMAT = 2
"""Version of the folder's own form."""

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
    def open(cls, path: PathLike) -> RunFolder:
        """The run in a folder.

        Raises:
            DataError: there is none, it is of another version, or damaged.
        """
        folder = Path(path)
        config = _config(folder)
        return cls(
            folder,
            Settings.from_json(config["settings"], str(folder / CONFIG)),
            Vocabulary(tuple(config["words"])),
            Sizes(**config["sizes"]),
            tuple(config["objects"]),
            config["data"],
        )

    def describe(self, encoder: Standardisation) -> None:
        """Writes everything but checkpoints and logs: from then on the folder is a run. Raises `DataError`."""
        write_tensors(self.path / ENCODER, encoder.state_dict())
        config = {
            "format": FORMAT,
            "sacrecap": sacrecap.__version__,
            "settings": self.settings.to_json(),
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

    def images(
        self,
        data: PathLike | None = None,
        *,
        split: str = "test",
        on_missing: str = "error",
        listed: Sequence[CaptionedImage] | None = None,
    ) -> CaptionedImages:
        """Those of `data`, or of the run, as `images_to_caption` takes them."""
        if data is None and not os.path.exists(self.settings.data):
            raise DataError(
                f"{self.path}: its images are not at {self.settings.data}, as seen from this folder; say where "
                "(--images FOLDER)"
            )
        features = given_features(self.settings)
        place = self.settings.data if data is None else data
        return images_to_caption(place, split=split, on_missing=on_missing, features=features, listed=listed)

    def _load(self, module: torch.nn.Module, part: str) -> None:
        path = self.path / BEST
        _restore(module, read_tensors(path).get(part, {}), path)


def with_features(run: RunFolder, file: PathLike | None) -> RunFolder:
    """The run with its features in this file, where they may have moved to; as it is for None.

    Raises:
        UsageError: the run was trained with an encoder.
    """
    if file is None:
        return run
    if run.settings.features is None:
        raise UsageError(
            f"{run.path}: looks at images itself, with the encoder {run.settings.encoder}; features of a file "
            f"({os.fspath(file)}) are for captioners that were trained with such: leave --features FILE out"
        )
    return replace(run, settings=replace(run.settings, features=os.fspath(file)))


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


def _config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not path.exists():
        raise DataError(f"{folder}: is not a run of sacrecap caption train: it has no {CONFIG}")
    with reading(path):
        text = path.read_text(encoding="utf-8")
    try:
        config = json.loads(text)
        version, maker = config["format"], config["sacrecap"]
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path}: is not a configuration of a training run") from None
    if version != FORMAT:
        raise DataError(
            f"{folder}: this run folder has format {version} (sacrecap {maker}); sacrecap {sacrecap.__version__} reads "
            f"format {FORMAT}: use sacrecap {maker} for it, or train again"
        )
    if missing := {"settings", "data", "words", "sizes", "objects"} - config.keys():
        raise DataError(f"{path}: lacks {', '.join(sorted(missing))}; was it edited by hand?")
    return dict(config)
