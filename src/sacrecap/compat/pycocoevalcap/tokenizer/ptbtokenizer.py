"""The suite's tokenizer: all captions of a call are cut as one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sacrecap.compat.tokens import by_image


class PTBTokenizer:
    """Cuts captions into tokens; prints nothing, whatever `verbose` says, which some versions of the suite take."""

    def __init__(self, verbose: bool = True) -> None:
        self.verbose = verbose

    def tokenize(self, captions_for_image: Mapping[Any, Sequence[Mapping[str, str]]]) -> dict[Any, list[str]]:
        """Tokens, joined by blanks, of `{image id: [{"caption": text}, …]}`.

        An image without captions is left out. Raises `DataError` for a caption that is not text.
        """
        return by_image(captions_for_image, lambda one: one["caption"])
