"""Which words of a table match a label: its own form first, then looser ones.

For one word: as given, in lower case, then its singular (`dogs` → `dog`). For a label of several parts, separated by
spaces, hyphens or underscores (`potted plant`, `wine-glass`): as given, then joined by `_`, by `-`, by nothing, then
the same with the last part in the singular; and if the table has none of these, the mean of its parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sacrecap import _core

_FUNCTION_WORDS = frozenset(["a", "an", "and", "at", "for", "from", "in", "of", "on", "or", "the", "to", "with"])


def forms(label: str) -> Iterator[str]:
    """The words that may match the label, the best first. Some may come twice."""
    lower = label.lower()
    yield label
    yield lower
    pieces = parts(label)
    if len(pieces) > 1:
        for joiner in ("_", "-", ""):
            yield joiner.join(pieces)
            yield joiner.join(pieces).lower()
        *before, last = parts(lower)
        for singular in _core.singulars(last):
            for joiner in (" ", "_", "-", ""):
                yield joiner.join((*before, singular))
    else:
        yield from _core.singulars(lower)


def parts(label: str) -> list[str]:
    """The parts of a label: what spaces, hyphens and underscores separate."""
    return [part for part in re.split(r"[\s_-]+", label) if part]


def content_parts(label: str) -> list[str]:
    """The parts whose mean is used for a label that no form finds; none for a label of one part.

    Function words (`bottle of wine`) do not count: many tables lack them.
    """
    pieces = parts(label)
    return [part for part in pieces if part.lower() not in _FUNCTION_WORDS] if len(pieces) > 1 else []
