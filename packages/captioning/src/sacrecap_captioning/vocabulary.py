"""Words and their ids. Id 0 ends a caption, comes before its first word, and is the padding after an end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sacrecap.errors import DataError

END = 0
"""Ends a caption, begins it (the word before the first), and pads."""
UNKNOWN = 1
"""Any word that is not in the vocabulary."""

_SPECIAL = ("<end>", "<unknown>")


@dataclass(frozen=True)
class Vocabulary:
    """Words of a captioner, by id.

    Attributes:
        words: word of each id; the first two are `<end>` and `<unknown>`.
    """

    words: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.words[:2] != _SPECIAL:
            raise DataError(f"a vocabulary begins with {', '.join(_SPECIAL)}, got {list(self.words[:2])}")
        if len(set(self.words)) != len(self.words):
            twice = [word for word, count in Counter(self.words).items() if count > 1]
            raise DataError(f"a vocabulary has each word once, got {twice[:5]} twice")
        object.__setattr__(self, "_ids", {word: number for number, word in enumerate(self.words)})

    @classmethod
    def build(cls, captions: Iterable[Sequence[str]], *, least: int = 5) -> Vocabulary:
        """The words that occur at least `least` times in tokenised captions, commonest first."""
        counts = Counter(word for caption in captions for word in caption)
        kept = sorted((word for word, count in counts.items() if count >= least), key=lambda w: (-counts[w], w))
        return cls((*_SPECIAL, *kept))

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, tokens: Sequence[str], limit: int) -> list[int]:
        """Ids of at most `limit` tokens, and the end after them."""
        return [*(self._ids.get(token, UNKNOWN) for token in tokens[:limit]), END]

    def text(self, ids: Iterable[int]) -> str:
        """The words before the first end, joined by blanks."""
        words = []
        for number in ids:
            if number == END:
                break
            words.append(self.words[number])
        return " ".join(words)
