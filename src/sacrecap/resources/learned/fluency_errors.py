"""The detector of errors of fluency that FENSE was published with: a BERT with a classifier of six kinds of errors."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sacrecap.data.download import PublishedFile, asked_size, download
from sacrecap.data.places import in_cache
from sacrecap.errors import DataError
from sacrecap.resources.learned.checkpoint import Checkpoint, Network, described, load, missing_extra
from sacrecap.resources.learned.texts import TextVectors, Tokenizer, Tokens, by_length, told

if TYPE_CHECKING:
    from sacrecap.resources.learned.kept_features import Vector
    from sacrecap.resources.needs import Needs

RELEASED = {
    "echecker_clotho_audiocaps_base": "1a719f090af70614bbdb9f9437530b7e133c48cfa4a58d964de0d47fc974a2fa",
    "echecker_clotho_audiocaps_tiny": "90ed0ac5033ec497ec66d4f68588053813e085671136dae312097c96c504f673",
}
"""The released detectors, with their SHA-256."""
USUAL = "echecker_clotho_audiocaps_base"
PLACE = "https://github.com/blmoistawinde/fense/releases/download/V0.1"
"""Where they are published."""

KIND = "model of texts"
_FIELDS = ("model_type", "num_classes", "state_dict")
"""What a detector's file holds: the checkpoint that its encoder was, the number of outputs, and the weights."""
_KINDS = 6
"""Outputs: five kinds of errors, and whether there is any."""
_LIMIT = 64
"""The most tokens that the published program reads."""
_SIGN = re.compile(r"[^\w\s]")


@dataclass(frozen=True)
class ErrorDetector:
    """A detector by its name or its file."""

    name: str

    @property
    def path(self) -> str:
        """Its file; of a released one, in the user's cache folder."""
        if os.path.exists(self.name) or self.name not in RELEASED:
            return self.name
        return in_cache("detectors", f"{self.name}.ckpt")

    def missing(self, what: str) -> tuple[str | None, bool]:
        """Why it cannot be used without a download, None if it can; and whether a download is all that lacks."""
        lacking = missing_extra(what)
        if lacking is not None or os.path.exists(self.path) or self.name not in RELEASED:
            return lacking, False
        return (
            f"it needs the detector of errors {self.name}, which is not on this machine: name the metric itself, not "
            "its group, to fetch it, or give a file (errors=FILE)"
        ), True

    def load(self, what: str, needs: Needs) -> FluencyErrors:
        """The network; a released one is fetched.

        Raises `MissingDependencyError` without the extra, `DataError` for what cannot be fetched or is no detector.
        """
        Checkpoint(self.path).check_usable(what)
        if not os.path.exists(self.path):
            self._fetch()
        return FluencyErrors(load(DetectorNetwork, Checkpoint(self.path), needs), needs)

    def _fetch(self) -> None:
        if self.name not in RELEASED:
            raise DataError(
                f"{self.name}: no such file, and no detector of errors is called so; give a file that FENSE's authors "
                f"or you have trained, or one of {', '.join(RELEASED)}"
            )
        folder, file = os.path.split(self.path)
        os.makedirs(folder, exist_ok=True)
        elsewhere, place = "by its path, errors=FILE", "XDG_CACHE_HOME"
        released = PublishedFile(file, 0, RELEASED[self.name], f"{PLACE}/{file}", elsewhere=elsewhere, place=place)
        download(replace(released, size=asked_size(released)), folder, lambda _: None)


class FluencyErrors:
    """Probabilities that captions have an error, by a detector."""

    def __init__(self, network: DetectorNetwork, needs: Needs) -> None:
        self.identity = network.identity
        self._reader = TextVectors(network, network.tokenizer(), needs)

    def probabilities(self, captions: Sequence[str]) -> list[float]:
        """That of each caption, read in small letters and without signs; of an empty one too."""
        shown = [_SIGN.sub("", caption).lower() for caption in captions]
        found = self._reader.of(shown)
        return [float(found[one][-1]) for one in shown]


class DetectorNetwork(Network):
    """A loaded detector."""

    def __init__(self, checkpoint: Checkpoint, device: Any) -> None:
        super().__init__(checkpoint, device)
        import torch
        from transformers import AutoModel

        saved = _saved(checkpoint)
        config, self._tokenizer = described(Checkpoint(saved["model_type"]), what=KIND)
        make: Any = AutoModel.from_config
        with torch.random.fork_rng():  # weights are drawn before those of the file replace them
            model = torch.nn.ModuleDict(
                {"encoder": make(config), "clf": torch.nn.Linear(config.hidden_size, saved["num_classes"])}
            )
        weights = {name: one for name, one in saved["state_dict"].items() if not name.endswith("position_ids")}
        try:
            model.load_state_dict(weights)
        except RuntimeError as error:
            reason = " ".join(str(error).split())[:200]
            raise DataError(
                f"{checkpoint}: its weights are not those of {saved['model_type']} and a classifier ({reason})"
            ) from None
        self._model = model.eval().to(device)

    def tokenizer(self) -> Tokenizer:
        """The tokenizer, which cuts where the published program does."""
        return Tokenizer(self._tokenizer, min(_LIMIT, self._tokenizer.model_max_length))

    def vectors(self, tokens: Sequence[Tokens], needs: Needs) -> list[Vector]:
        """The probabilities of each text: of five kinds of errors, and of any."""

        def run(ids: Any) -> Any:
            import torch

            states = self._model["encoder"](input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
            return self._model["clf"](states[:, 0]).sigmoid().float().cpu().numpy()

        return by_length(self, tokens, run, told(needs, "looking for errors", len(tokens)))


def _saved(checkpoint: Checkpoint) -> dict[str, Any]:
    """What the file holds; code in it is never run. Raises `DataError` for another file."""
    import torch

    accepted = f"accepted are files of torch.save with {', '.join(_FIELDS)}, as FENSE's authors release them"
    try:
        saved = torch.load(checkpoint.name, map_location="cpu", weights_only=True)
    except Exception as error:  # noqa: BLE001  (torch raises whatever its readers raise)
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{checkpoint}: no detector of errors could be loaded ({reason}); {accepted}") from None
    if not isinstance(saved, dict) or any(name not in saved for name in _FIELDS) or saved["num_classes"] != _KINDS:
        raise DataError(f"{checkpoint}: is no detector of {_KINDS} kinds of errors; {accepted}")
    return saved
