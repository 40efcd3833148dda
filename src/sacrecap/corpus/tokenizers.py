"""Tokens of tokenizers that are not ours: sacreBLEU's, by the same names. The native code splits what they return at
blanks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sacrecap import _core
from sacrecap.choices import OWN_TOKENIZERS
from sacrecap.errors import DataError, MissingDependencyError

if TYPE_CHECKING:
    from sacrecap._core import Captions

LOWER = "-lc"
"""Ends the name of a tokenizer that takes captions in lower case."""


def encode_captions(captions: Captions, places: Sequence[int], tokenizer: str, threads: int = 0) -> _core.References:
    """The captions at these places, cut into words and numbered."""
    return _core.References(_cut(captions, tokenizer), places, tokenizer, threads)


def encode_candidates(
    references: _core.References, captions: Captions, places: Sequence[int | None], threads: int = 0
) -> _core.Corpus:
    """The candidates of the references' images, at these places, cut as the references are."""
    return _core.Corpus(references, _cut(captions, references.tokenizer), places, threads)


def lines(texts: Iterable[str], tokenizer: str) -> list[str]:
    """The texts for the native code: as they are, or what another package's tokenizer makes of each, a blank between
    tokens.

    Raises `MissingDependencyError` if that is not installed, and `DataError` if it cannot be made ready.
    """
    if tokenizer in OWN_TOKENIZERS:
        return list(texts)
    tokens = _made(tokenizer.removesuffix(LOWER))
    if tokenizer.endswith(LOWER):
        return [" ".join(tokens(text.lower()).split()) for text in texts]
    return [" ".join(tokens(text).split()) for text in texts]


def signed(tokenizer: str) -> str:
    """The tokenizer in signatures: another package's with its version, and that of what it needs."""
    if tokenizer in OWN_TOKENIZERS:
        return tokenizer
    import sacrebleu

    own = _made(tokenizer.removesuffix(LOWER)).signature()
    lower = LOWER if tokenizer.endswith(LOWER) else ""
    return f"{own}{lower}@sacrebleu-{sacrebleu.__version__}"


def _cut(captions: Captions, tokenizer: str) -> Captions:
    if tokenizer in OWN_TOKENIZERS:
        return captions
    images = captions.to_dict().items()
    return _core.Captions.of_images([(image, lines(own, tokenizer)) for image, own in images], captions.source)


@cache
def _made(name: str) -> Any:
    """The tokenizer, which takes a text and returns its tokens with blanks between; `signature()` is its name there."""
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
