"""The COCO suite's tokens of many captions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sacrecap.corpus import tokenize
from sacrecap.errors import DataError


def by_image(captions: Mapping[Any, Sequence[Any]], text_of: Callable[[Any], object]) -> dict[Any, list[str]]:
    """Tokens, joined by blanks, of each image's captions; an image without captions is left out.

    Args:
        captions: `{image id: [caption, …]}`.
        text_of: the text of such a caption.
    """
    tokens = iter(joined([_text(one, image, text_of) for image, several in captions.items() for one in several]))
    return {image: [next(tokens) for _ in several] for image, several in captions.items() if len(several)}


def joined(captions: Sequence[str]) -> list[str]:
    """Tokens of each caption, joined by blanks. All are cut as one text, as the suite does it."""
    return [" ".join(found) for found in tokenize(captions, tokenizer="ptb-stream")]


def _text(caption: Any, image: Any, text_of: Callable[[Any], object]) -> str:
    try:
        text = text_of(caption)
    except (KeyError, TypeError, IndexError):
        text = None
    if not isinstance(text, str):
        raise DataError(
            f"image {image!r}: this tokenizer takes captions as its original does, in dictionaries or as text; got "
            f"{caption!r:.80}"
        )
    return text
