"""The suite's tokenizer: all captions of a call are cut as one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sacrecap.corpus import tokenize
from sacrecap.errors import DataError


class PTBTokenizer:
    """Cuts captions into tokens; prints nothing, whatever `verbose` says, which some versions of the suite take."""

    def __init__(self, verbose: bool = True) -> None:
        self.verbose = verbose

    def tokenize(self, captions_for_image: Mapping[Any, Sequence[Mapping[str, str]]]) -> dict[Any, list[str]]:
        """Tokens, joined by blanks, of `{image id: [{"caption": text}, …]}`.

        An image without captions is left out. Raises `DataError` for a caption that is not text.
        """
        texts = [_text(caption, image) for image, captions in captions_for_image.items() for caption in captions]
        tokens = map(" ".join, tokenize(texts, tokenizer="ptb-stream"))
        return {
            image: [next(tokens) for _ in captions] for image, captions in captions_for_image.items() if len(captions)
        }


def _text(caption: Any, image: Any) -> str:
    try:
        text = caption["caption"]
    except (KeyError, TypeError, IndexError):
        text = None
    if not isinstance(text, str):
        raise DataError(
            f"image {image!r}: this tokenizer takes captions as its original does, in dictionaries; got {caption!r:.80}"
        )
    return text
