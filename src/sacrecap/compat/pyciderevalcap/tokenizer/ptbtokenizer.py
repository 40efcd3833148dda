"""The suite's tokenizer for either side of that package's evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sacrecap.compat.tokens import by_image


class PTBTokenizer:
    """Cuts captions into tokens: those of references (`gts`), by image, or of candidates (`res`), in a list."""

    def __init__(self, _source: str = "gts") -> None:
        self.source = _source

    def tokenize(self, captions_for_image: Any) -> Any:
        """Tokens, joined by blanks: of `{image id: [{"caption": text}, …]}` as `{image id: [text, …]}`; with `res`, of
        `[{"image_id": …, "caption": text}, …]` as `[{"image_id": …, "caption": [text]}, …]`.
        """
        if self.source == "gts":
            return by_image(captions_for_image, lambda one: one["caption"])
        listed: Sequence[Mapping[str, Any]] = captions_for_image
        found = by_image({number: [one] for number, one in enumerate(listed)}, lambda one: one["caption"])
        return [{"image_id": one["image_id"], "caption": found[number]} for number, one in enumerate(listed)]
