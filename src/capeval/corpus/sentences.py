"""Captions as they were written: where their sentences end, and where their tokens stand."""

from __future__ import annotations

import re
from collections.abc import Sequence

BETWEEN_SENTENCES = re.compile(r"""(?<=[.!?])["')\]]*\s+""")
"""Between two sentences: marks at the end of the first, and white space."""
_REACH = 200
"""How far from the token before a token is looked for, in characters, beside its own length."""


def located(text: str, tokens: Sequence[str]) -> list[tuple[int, int] | None]:
    """The place of each token in the text: its first character, and the one behind its last.

    Tokens are in lower case, and marks are dropped, so each is looked for behind the one before. None for a token that
    the text writes otherwise, as a quotation mark.
    """
    places: list[tuple[int, int] | None] = []
    behind = 0
    for token in tokens:
        spelled, end = re.escape(token), behind + len(token) + _REACH
        found = re.compile(rf"(?<!\w){spelled}", re.IGNORECASE).search(text, behind, end)
        found = found or re.compile(spelled, re.IGNORECASE).search(text, behind, end)
        places.append(found.span() if found else None)
        behind = found.end() if found else behind
    return places
