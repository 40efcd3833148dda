"""Captions as they were written: where their sentences end, and where their tokens stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

BETWEEN_SENTENCES = re.compile(r"""(?<=[.!?])["')\]]*\s+""")
"""Between two sentences: marks at the end of the first, and white space."""
_END = re.compile(r"""[.!?…]["'”’)\]]*\s*$""")

Mark = TypeVar("Mark")


def finished(text: str) -> str:
    """The text without a last sentence that has no end, if there is a sentence before it."""
    if _END.search(text):
        return text
    behind = max((between.start() for between in BETWEEN_SENTENCES.finditer(text)), default=len(text))
    return text[:behind]


def located(text: str, tokens: Sequence[str]) -> list[tuple[int, int] | None]:
    """The place of each token in the text: its first character, and the one behind its last.

    Tokens are in lower case, and some marks are dropped, so that only marks and white space stand between two of them.
    None for a token that the text spells differently: `-lrb-` for a parenthesis.
    """
    text = text.translate(str.maketrans("‘’", "''"))
    places: list[tuple[int, int] | None] = []
    behind = 0
    for token in tokens:
        spelled = re.escape(token)
        match = re.compile(rf"\W*?({spelled})", re.IGNORECASE).match(text, behind)
        if match is None and places and places[-1] is None:  # after a word that is spelled differently: not far behind
            match = re.compile(rf"(?<!\w)({spelled})(?!\w)", re.IGNORECASE).search(text, behind, behind + 200)
        places.append(match.span(1) if match else None)
        behind = match.end() if match else behind
    return places


def pieces(
    text: str, marked: Iterable[tuple[int, int, Mark]], start: int = 0, end: int | None = None
) -> Iterator[tuple[str, Mark | None]]:
    """A text, from `start` to before `end`, in pieces that are not empty; those that are marked come with the mark.

    A mark that begins outside, or in the mark before, is left out; marks ascend.
    """
    end = len(text) if end is None else end
    for first, behind, mark in marked:
        if start <= first < end:
            if start < first:
                yield text[start:first], None
            yield text[first:behind], mark
            start = behind
    if start < end:
        yield text[start:end], None
