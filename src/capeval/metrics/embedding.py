"""What metrics that compare word vectors have in common."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from capeval.metrics.base import Metric, ParameterValue, parameter


class EmbeddingMetric(Metric):
    """A metric over word vectors, which a parameter names; `--embeddings` names them for those that are at default."""

    embeddings: str = parameter("word vectors: a name, or a file of any known format", default="default", kind=str)

    uses_embeddings: ClassVar[bool] = True

    def complete(self) -> None:
        """Takes a path object for its text."""
        given: dict[str, Any] = vars(self)
        if isinstance(given["embeddings"], os.PathLike):
            given["embeddings"] = os.fspath(given["embeddings"])

    @property
    def script_words(self) -> bool:
        """Whether captions are cut into words as VIFIDEL's published script does, whatever the corpus' tokenizer."""
        return False

    def kernel_parameters(self) -> dict[str, ParameterValue]:
        return {name: value for name, value in super().kernel_parameters().items() if name != "embeddings"}

    def signature_parts(self) -> list[str]:
        """Without the vectors: the signature names those that were used, with their checksum."""
        return [part for part in super().signature_parts() if not part.startswith("embeddings:")]
