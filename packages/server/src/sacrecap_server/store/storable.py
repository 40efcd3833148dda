"""Which values a database can store: the same on both kinds."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LARGEST = 2**63


def unstorable(value: object) -> bool:
    """Whether no column can hold the value.

    These are texts with NUL, which PostgreSQL does not store, or with half of a surrogate pair, which UTF-8 does not
    have, and numbers of more than 64 bits.
    """
    if isinstance(value, str):
        return _UNSTORABLE.search(value) is not None
    return isinstance(value, int) and not -_LARGEST <= value < _LARGEST
