"""Tokens of tokenizers that are not ours: sacreBLEU's, by the same names. The native code splits what they return at
blanks; what its own tokenizers cut stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from sacrecap._core import Captions
from sacrecap.choices import OWN_TOKENIZERS
from sacrecap.errors import DataError, MissingDependencyError

LOWER = "-lc"
"""Ends the name of a tokenizer that takes captions in lower case."""


def lines(texts: Iterable[str], tokenizer: str) -> list[str]:
    """What the tokenizer makes of each text, a blank between tokens. Raises as `_tokenizer`."""
    if tokenizer in OWN_TOKENIZERS:
        return [*texts]
    tokens = _tokenizer(tokenizer.removesuffix(LOWER))
    # sacreBLEU takes blanks from a text's end before it tokenises: intl makes "3. " two tokens, and "3." one.
    if tokenizer.endswith(LOWER):
        return [" ".join(tokens(text.lower().rstrip()).split()) for text in texts]
    return [" ".join(tokens(text.rstrip()).split()) for text in texts]


def signed(tokenizer: str) -> str:
    """The tokenizer in signatures: sacreBLEU's with its version, and that of what it needs."""
    if tokenizer in OWN_TOKENIZERS:
        return tokenizer
    import sacrebleu

    signature = _tokenizer(tokenizer.removesuffix(LOWER)).signature()
    lower = LOWER if tokenizer.endswith(LOWER) else ""
    return f"{signature}{lower}@sacrebleu-{sacrebleu.__version__}"


def cut(captions: Captions, tokenizer: str) -> Captions:
    """The captions with a blank between their tokens."""
    if tokenizer in OWN_TOKENIZERS:
        return captions
    images = captions.to_dict().items()
    return Captions.of_images([(image, lines(texts, tokenizer)) for image, texts in images], captions.source)


@cache
def _tokenizer(name: str) -> Any:
    """The tokenizer, which takes a text and returns its tokens with blanks between; `signature()` is its name there.

    Raises `MissingDependencyError` if it is not installed, and `DataError` if it cannot be made ready.
    """
    try:
        from sacrebleu.metrics.bleu import _get_tokenizer

        kind: Callable[[], Any] = _get_tokenizer(name)
        return kind()
    except (ImportError, RuntimeError) as error:  # sacreBLEU's own, where what a language needs is missing
        raise MissingDependencyError(f"the tokenizer {name}", extra="languages") from error
    except OSError as error:
        raise DataError(
            f"the tokenizer {name}: sacreBLEU cannot fetch its model ({error}); connect to the internet once, or set "
            "SACREBLEU to a folder that has it in models/"
        ) from None
