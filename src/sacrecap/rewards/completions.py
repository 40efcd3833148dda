"""A policy's completions, as trainers pass them, and figures that show when it games the reward."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import tokenize
from sacrecap.errors import DataError, UsageError

Completion: TypeAlias = "str | Sequence[Mapping[str, object]]"
"""A caption, or a list of chat messages whose last one holds it."""

LOG_METRIC = "log_metric"
"""The keyword with which TRL passes a function that logs a figure: `log_metric(name, value)`."""


def text_of(completion: object, number: int) -> str:
    """The caption of a completion: the completion itself, or the text of the last of its chat messages.

    Raises:
        DataError: it is neither text nor a list of messages.
    """
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Sequence) and completion and isinstance(completion[-1], Mapping):
        content = completion[-1].get("content")
        if content is None:
            return ""
        if isinstance(content, str):
            return content
        if isinstance(content, Sequence):
            parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
            if all(isinstance(part, str) for part in parts):
                return " ".join(map(str, parts))
    raise DataError(
        f"completion {number} is a {type(completion).__name__}; expected a caption as text, or a list of chat messages "
        '([{"role": "assistant", "content": "a dog runs"}])'
    )


@dataclass(frozen=True)
class Guards:
    """Figures of a batch that rise or fall when a policy games its reward instead of describing images."""

    words: float
    """Mean number of words per caption."""
    repetition: float
    """Mean share of a caption's pairs of words that occurred in it before, 0 to 1."""
    empty: float
    """Share of captions without a word, 0 to 1."""

    @classmethod
    def of(cls, tokens: Sequence[Sequence[str]]) -> Guards:
        """The figures of tokenised captions; all 0 if there are none."""
        count = max(len(tokens), 1)
        return cls(
            sum(map(len, tokens)) / count,
            sum(map(_repetition, tokens)) / count,
            sum(not caption for caption in tokens) / count,
        )

    def log(self, write: Callable[[str, float], object]) -> None:
        """Logs each figure by name: `sacrecap/words`, `sacrecap/repetition`, `sacrecap/empty`."""
        for name in ("words", "repetition", "empty"):
            write(f"sacrecap/{name}", getattr(self, name))


def _repetition(tokens: Sequence[str]) -> float:
    pairs = len(tokens) - 1
    return 1 - len(set(pairwise(tokens))) / pairs if pairs > 0 else 0.0


@dataclass(frozen=True)
class CompletionBatch:
    """Captions of a batch, tokenised, with the image of each."""

    tokens: list[list[str]]
    images: list[str]
    captions: list[str] | None = None
    """The original texts of the captions; None if there are only tokens."""

    def caption(self, row: int) -> str:
        """The original text of a caption; its tokens joined by blanks, if there are only tokens."""
        return self.text(row) if self.captions is None else self.captions[row]

    def text(self, row: int) -> str:
        """The tokens of a caption joined by blanks."""
        return " ".join(self.tokens[row])

    def by_image(self) -> dict[str, list[int]]:
        """The rows of each image, in order."""
        groups: dict[str, list[int]] = defaultdict(list)
        for row, image in enumerate(self.images):
            groups[image].append(row)
        return dict(groups)


def batch_of(
    completions: Sequence[object],
    image_ids: Sequence[object] | None,
    columns: Mapping[str, object],
    column: str,
    tokenizer: Tokenizer,
    threads: int,
) -> CompletionBatch:
    """The captions of a call.

    Raises:
        DataError: a completion without text, or unequal numbers of completions and image ids.
        UsageError: no image ids.
    """
    ids = columns.get(column) if image_ids is None else image_ids
    if not isinstance(ids, Sequence) or isinstance(ids, str):
        raise UsageError(
            f"which images are these captions of? Give their ids (image_ids=[…]), or a column {column!r} of the data "
            "set"
        )
    if len(ids) != len(completions):
        raise DataError(f"{len(completions)} captions and {len(ids)} image ids: give one id per caption")
    texts = [text_of(completion, number) for number, completion in enumerate(completions)]
    return CompletionBatch(tokenize(texts, tokenizer=tokenizer, threads=threads), [str(image) for image in ids], texts)
