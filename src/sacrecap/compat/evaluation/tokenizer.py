"""The suite's tokenizer, for text without dictionaries around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sacrecap.compat.tokens import by_image


class PTBTokenizer:
    """Cuts captions into tokens: all captions of a call are cut as one text."""

    @classmethod
    def tokenize(cls, corpus: Mapping[Any, Sequence[str]] | Sequence[str | Sequence[str]]) -> dict[Any, list[str]]:
        """Tokens, joined by blanks, of `{image id: [text, …]}`, of a list of such lists, or of a list of texts.

        The images of a list are numbered from 0; an image without captions is left out.
        """
        if not isinstance(corpus, Mapping):
            corpus = {number: [one] if isinstance(one, str) else one for number, one in enumerate(corpus)}
        return by_image(corpus, lambda one: one)
