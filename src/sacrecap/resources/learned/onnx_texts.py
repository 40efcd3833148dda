"""Models that read texts, in ONNX: one vector for a text, by onnxruntime, without torch."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sacrecap.resources.learned.checkpoint import Checkpoint
from sacrecap.resources.learned.texts import Tokens, told

if TYPE_CHECKING:
    from sacrecap.resources.learned.kept_features import Vector
    from sacrecap.resources.needs import Needs

_USUAL_LIMIT = 512
"""The most tokens that a model reads that does not say how many."""


def onnx_of(checkpoint: Checkpoint) -> OnnxTexts | None:
    """The network of a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`, loaded once per process.

    None where they are not there, onnxruntime is not installed, or another precision is asked for.
    """
    if checkpoint.precision != "float32" or not os.path.isfile(os.path.join(checkpoint.name, "tokenizer.json")):
        return None
    if not all(map(importlib.util.find_spec, ("onnxruntime", "tokenizers"))):
        return None
    places = (os.path.join(checkpoint.name, *inside, "model.onnx") for inside in ((), ("onnx",)))
    place = next(filter(os.path.isfile, places), None)
    return None if place is None else _loaded(checkpoint, place, checkpoint.checksum(), Checkpoint(place).checksum())


@lru_cache(maxsize=2)
def _loaded(checkpoint: Checkpoint, place: str, *checksums: str) -> OnnxTexts:
    return OnnxTexts(checkpoint, place, "+".join(checksums))


class OnnxTexts:
    """A loaded model of texts. It reads text by text: a quantised one would see what else is in a batch.

    Raises `DataError` for files that cannot be read.
    """

    device = "cpu"

    def __init__(self, checkpoint: Checkpoint, place: str, checksum: str) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        from sacrecap.errors import DataError

        self.checkpoint = checkpoint
        self.identity = f"{os.path.basename(os.path.abspath(checkpoint.name))}({checksum})"
        """Name of the folder, and checksums of its files and of the network, for signatures."""
        try:
            self._session = onnxruntime.InferenceSession(place, providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_file(os.path.join(checkpoint.name, "tokenizer.json"))
        except Exception as error:  # each has exceptions of its own
            raise DataError(f"{place}: not a model in ONNX with its tokenizer.json: {error}") from error
        self._inputs = {one.name for one in self._session.get_inputs()}
        self._tokenizer.no_padding()
        cut = (self._tokenizer.truncation or {}).get("max_length", _USUAL_LIMIT)
        self.limit = int(cut)
        self._tokenizer.no_truncation()

    def tokenizer(self) -> OnnxTexts:
        """What cuts texts into tokens: itself."""
        return self

    def __call__(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text."""
        found = [tuple(one.ids) for one in self._tokenizer.encode_batch([text.strip() for text in texts])]
        return [Tokens(self._cut(ids), len(ids) > self.limit) for ids in found]

    def _cut(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """The first tokens, and the last, which ends the text."""
        return ids if len(ids) <= self.limit else (*ids[: self.limit - 1], ids[-1])

    def vectors(self, tokens: Sequence[Tokens], needs: Needs) -> list[Vector]:
        """Unit vectors of texts: the means over all of their tokens."""
        import numpy as np

        tell = told(needs, "reading captions", len(tokens))
        vectors = []
        for done, one in enumerate(tokens, 1):
            ids = np.array([one.ids], dtype=np.int64)
            given: dict[str, Any] = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            rows = self._session.run(None, {name: given[name] for name in self._inputs})[0]
            vector = rows[0].mean(axis=0)
            vectors.append((vector / np.linalg.norm(vector)).astype(np.float32))
            tell(done)
        return vectors
