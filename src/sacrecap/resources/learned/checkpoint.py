"""Which checkpoint a metric runs, whether it is on this machine, and the loaded networks: once per process."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap.vision.checkpoint_parts import load_part

if TYPE_CHECKING:
    from sacrecap.resources.needs import Needs

N = TypeVar("N", bound="Network")

PRECISIONS = ("float32", "float16", "bfloat16")
_FILES = "config.json, the tokenizer's files and model.safetensors"
MAIN = "main"
"""The revision that the hub returns by default."""

_SUFFIXES = (".json", ".txt", ".model", ".safetensors", ".bin")
"""Suffixes of the files of a checkpoint that its results depend on."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint of transformers, with the precision in which it runs."""

    name: str
    """A folder, or a name on the hub."""
    revision: str = MAIN
    """Branch, tag or commit on the hub."""
    precision: str = "float32"
    layers: int | None = None
    """Keep only this many of its layers, from the first; None keeps all."""

    @property
    def is_here(self) -> bool:
        """Whether it is a folder or a file of this machine, rather than a name on the hub."""
        return os.path.exists(self.name)

    def __str__(self) -> str:
        return self.name if self.revision == MAIN else f"{self.name}@{self.revision}"

    def missing(self, what: str) -> str | None:
        """Why it cannot be used without a download from the hub, and what to do; None if it can."""
        lacking = missing_extra(what)
        if lacking is not None or self.is_here:
            return lacking
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError

        with suppress(HFValidationError):  # who has the configuration has usually the checkpoint
            if isinstance(try_to_load_from_cache(self.name, "config.json", revision=self.revision), str):
                return None
        return (
            f"it needs the model {self}, which is not on this machine: name the metric itself, not its group, to fetch "
            "the model from the hub, or give a folder (model=DIR)"
        )

    def check_usable(self, what: str) -> None:
        """Raises `MissingDependencyError` without the extra, `UsageError` for the revision of a folder."""
        if missing_extra(what) is not None:
            raise MissingDependencyError(what, extra="learned")
        if self.is_here and self.revision != MAIN:
            raise UsageError(f"{self.name} is a folder, which has no revisions; leave revision={self.revision} out")

    def checksum(self) -> str:
        """Twelve digits of a checksum of the folder or file; none for a checkpoint of the hub, which has a commit."""
        if not self.is_here:
            return ""
        files = [self.name]
        if os.path.isdir(self.name):
            inside = (file for file in os.scandir(self.name) if file.is_file() and file.name.endswith(_SUFFIXES))
            files = sorted(file.path for file in inside)
        stats = [(path, os.stat(path)) for path in files]
        return _checksum(tuple((path, status.st_size, status.st_mtime_ns) for path, status in stats))


def missing_extra(what: str) -> str | None:
    """The message about a missing extra, None if it is installed. Nothing is imported for this check."""
    if all(importlib.util.find_spec(package) for package in ("torch", "transformers", "PIL")):
        return None
    return str(MissingDependencyError(what, extra="learned"))


@lru_cache(maxsize=16)
def _checksum(files: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, size, _ in files:
        digest.update(f"{os.path.basename(path)} {size}\n".encode())
        with open(path, "rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    return digest.hexdigest()[:12]


class Network:
    """A loaded network, with the identity of its results. Subclasses load it and compute its output."""

    batch = 8
    """Batch size on a CPU. Each batch has this size, the last one is padded, so that a result does not depend on the
    other inputs: matrices of other sizes may be summed in another order."""
    batch_on_gpu = 64

    def __init__(self, checkpoint: Checkpoint, device: Any) -> None:
        self.checkpoint = checkpoint
        self.device = device
        self.size = self.batch if device.type == "cpu" else self.batch_on_gpu

    commit: str | None = None
    """The commit on the hub."""

    @property
    def identity(self) -> str:
        """Name and checksum of a folder, name and commit of a checkpoint of the hub, for signatures."""
        if self.checkpoint.is_here:
            name = os.path.basename(os.path.abspath(self.checkpoint.name))
            return f"{name}({self.checkpoint.checksum()})"
        version = self.commit[:12] if self.commit else self.checkpoint.revision
        return f"{self.checkpoint.name}@{version}"

    def in_batches(
        self,
        shapes: Sequence[Hashable],
        run: Callable[[list[int]], Iterable[Any]],
        tell: Callable[[int], object] = lambda _: None,
    ) -> list[Any]:
        """Calls `run` on batches of `size` inputs of equal shape, by their numbers; returns its result for each input.

        A batch that does not fit into the memory of a GPU is tried again with half as many. `tell` gets the number of
        finished inputs after each shape.

        Raises `UsageError` if not even one input fits.
        """
        groups: dict[Hashable, list[int]] = {}
        for number, shape in enumerate(shapes):
            groups.setdefault(shape, []).append(number)
        results: dict[int, Any] = {}
        for rest in groups.values():
            while rest:
                chosen = rest[: self.size]
                try:
                    results |= zip(chosen, run(chosen + chosen[-1:] * (self.size - len(chosen))), strict=False)
                except RuntimeError as error:
                    if "out of memory" not in str(error):
                        raise
                    if self.size == 1:
                        raise UsageError(
                            f"{self.checkpoint} does not fit into the memory of {self.device}; choose another device, "
                            "or precision=float16"
                        ) from None
                    self.size //= 2
                else:
                    del rest[: len(chosen)]
            tell(len(results))
        return [results[number] for number in range(len(shapes))]


_networks: dict[tuple[type[Network], Checkpoint, str, str], Network] = {}
_loading = threading.Lock()


def load(kind: type[N], checkpoint: Checkpoint, needs: Needs) -> N:
    """The network, loaded once per process for each checkpoint, precision and device.

    Raises:
        MissingDependencyError: the extra is not installed.
        UsageError: no such device.
        DataError: the checkpoint cannot be loaded, or is of another kind.
    """
    from sacrecap.vision.devices import choose_device

    device = choose_device(needs.get("device") or "auto")
    key = (kind, checkpoint, checkpoint.checksum(), str(device))
    with _loading:
        if key not in _networks:
            _networks[key] = kind(checkpoint, device)
        return cast("N", _networks[key])


def parts(checkpoint: Checkpoint, *, what: str) -> tuple[Any, Any, str | None]:
    """The model, its tokenizer, and the commit on the hub.

    Raises `DataError` if they cannot be loaded, or the weights are incomplete.
    """
    import torch
    from transformers import AutoModel

    config, tokenizer = described(checkpoint, what=what)
    description = {"what": what, "files": _FILES, "revision": checkpoint.revision}
    model, loaded = load_part(AutoModel, checkpoint.name, config=config, output_loading_info=True, **description)
    missing = [name for name in sorted(loaded["missing_keys"]) if "pooler" not in name and "position_ids" not in name]
    if missing:
        raise DataError(
            f"{checkpoint}: its weights lack {missing[0]} and {len(missing) - 1} more of a {type(model).__name__}; "
            "give the whole checkpoint"
        )
    commit = getattr(config, "_commit_hash", None)
    return model.to(dtype=getattr(torch, checkpoint.precision)).eval(), tokenizer, commit


def described(checkpoint: Checkpoint, *, what: str) -> tuple[Any, Any]:
    """The model's configuration and its tokenizer. Raises `DataError` if they cannot be loaded."""
    from transformers import AutoConfig, AutoTokenizer

    description = {"what": what, "files": _FILES, "revision": checkpoint.revision}
    config = load_part(AutoConfig, checkpoint.name, **description)
    depth, layers = getattr(config, "num_hidden_layers", None), checkpoint.layers
    if layers is not None and isinstance(depth, int):  # or else a model of another kind, which its class will refuse
        if not 1 <= layers <= depth:
            raise UsageError(f"{checkpoint}: has {depth} layers; give layer=N, from 1 to {depth}")
        config.num_hidden_layers = layers
        if getattr(config, "layer_types", None):
            config.layer_types = config.layer_types[:layers]
    return config, load_part(AutoTokenizer, checkpoint.name, **description)
