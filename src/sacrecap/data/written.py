"""Captions in the text that a program wrote of an object: `['a dog']`, `('a dog',)`, `b'a dog'`, `array(['a dog'])`.

A data loader makes a tuple of a batch of one caption, a table has a cell for a list, and `str()` of either is what ends
up in files and columns. Such a text is read as what was written; `{"caption": …}` and `[a dog]`, which may be anything,
are left to the findings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from sacrecap.errors import DataError

_KEYS = ("caption", "text", "raw")
"""What the captions are called in a list of objects."""
_ARRAY = re.compile(r"array\((?P<list>\[.*\])\s*(,\s*dtype=.*)?\)", re.DOTALL)
_BEGINS = re.compile(r"""\s*(\[\s*(['"\]\[{]|b['"])|\(\s*(['"()\[]|b['"])|\{\s*['"]|b['"]|array\()""")
_LIST = re.compile(r"""\s*\[\s*(['"]|\{")""")


def written(text: str) -> list[Any] | None:
    """The captions in the text of a list, tuple, set, array or bytes; None for any other text.

    Raises `DataError` for the text of a list that ends early.

    Examples:
        >>> from sacrecap.data.written import written
        >>> written("('a dog', 'a cat')"), written("array(['a dog'], dtype='<U5')"), written("a dog (left)")
        (['a dog', 'a cat'], ['a dog'], None)
    """
    if not _BEGINS.match(text):
        return None
    parts = _parsed(text.strip())
    if parts is None and _LIST.match(text) and "]" not in text:
        raise DataError(f"a text that begins like a list of captions, but ends early: {text[:40]!r}")
    return parts


def _parsed(text: str) -> list[Any] | None:
    array = _ARRAY.fullmatch(text)
    text = array["list"] if array else text
    try:
        return _listed(json.loads(text))
    except (ValueError, RecursionError):
        pass
    import ast
    import io
    import tokenize

    try:
        tree = ast.parse(text, mode="eval").body
        if isinstance(tree, ast.Set):  # a set has no order, its text has one
            return _listed([ast.literal_eval(element) for element in tree.elts])
        captions = _listed(ast.literal_eval(tree))
        if isinstance(tree, ast.List) and all(
            isinstance(getattr(element, "value", None), str) for element in tree.elts
        ):
            # Python joins the texts between which NumPy writes no comma.
            tokens = tokenize.generate_tokens(io.StringIO(text).readline)
            words = [ast.literal_eval(token.string) for token in tokens if token.type == tokenize.STRING]
            return _listed(words)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return captions


def _listed(value: Any) -> list[Any] | None:
    """The captions of a list, of a batch of one list, or of bytes; None for anything else."""
    if isinstance(value, bytes):
        return [value.decode()]
    if not isinstance(value, list | tuple):
        return None
    if len(value) == 1 and isinstance(value[0], list | tuple):
        return _listed(value[0])
    if any(isinstance(item, list | tuple) for item in value):
        return None
    return [caption_of(item) for item in value]


def caption_of(value: Any) -> Any:
    """The caption in an object of a list, or in bytes; anything else unchanged."""
    if isinstance(value, Mapping):
        return next((value[key] for key in _KEYS if key in value), value)
    return value.decode() if isinstance(value, bytes) else value
