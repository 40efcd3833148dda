"""Names with parameters, as users write them: `csv(encoding=cp1252)`, `ray(workers=8)`, `cider-d(n=2)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any

from sacrecap.errors import UsageError, accepted_name

Parameter = tuple[str, Callable[[str], Any]]
"""What a value is, in words, and what reads its text or raises `ValueError`."""
_CALL = re.compile(r"\s*(?P<name>[^()]*?)\s*(?:\((?P<inside>.*)\)\s*)?", re.DOTALL)
_PIECES = re.compile(r'"(?:[^"]|"")*"|[^"(),+\s]+|\s+|["(),+]')


def read_call(option: str, text: str) -> tuple[str, dict[str, str]]:
    """The name, and what stands in its parentheses: texts by parameter, without their quotes.

    Raises `UsageError`, with the option's name, for a text of another form, and for a parameter that stands twice.

    Examples:
        >>> read_call("--engine", 'ray(workers=8, keep="rouge-l > 0.3")')
        ('ray', {'workers': '8', 'keep': 'rouge-l > 0.3'})
    """
    match = _CALL.fullmatch(text)
    if match is None:
        raise UsageError(f"{option} takes NAME or NAME(PARAMETER=VALUE, …), got {text!r}")
    parameters: dict[str, str] = {}
    for part in at_commas(match["inside"] or ""):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value or name in parameters:
            raise UsageError(f"{option} {text}: a parameter is PARAMETER=VALUE, once, got {part!r}")
        parameters[name] = unquoted(value)
    return match["name"], parameters


def read_parameters(where: str, texts: Mapping[str, str], accepted: Mapping[str, Parameter]) -> dict[str, Any]:
    """The values, by keyword. Raises `UsageError`, which begins with the place, for a name or a value that is none."""
    values = {}
    for name, text in texts.items():
        if not accepted:
            raise UsageError(f"{where} has no parameters, got {name!r}")
        accepted_name(f"{where}: a parameter", name, [*accepted])
        what, read = accepted[name]
        try:
            values[name.replace("-", "_")] = read(text)
        except ValueError:
            raise UsageError(f"{where}: {name} is {what}, got {text!r}") from None
    return values


def one_of(*names: str) -> Callable[[str], str]:
    """What reads one of these words."""
    return lambda text: names[names.index(text)]


def unquoted(text: str) -> str:
    """The text without the double quotes around it, if it has these."""
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1].replace('""', '"') if quoted else text


def split(text: str, divides: Callable[[str, str], bool]) -> list[str]:
    """Cuts at the pieces outside parentheses and quotes that divide; `divides` is asked with the piece after, too."""
    parts, depth = [""], 0
    pieces = _PIECES.findall(text)
    for piece, after in zip_longest(pieces, pieces[1:], fillvalue=""):
        depth = max(depth + (piece == "(") - (piece == ")"), 0)
        if depth == 0 and divides(piece, after):
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def at_commas(text: str) -> list[str]:
    """Cuts at commas outside parentheses and quotes."""
    return [part.strip() for part in split(text, lambda piece, _: piece == ",") if part.strip()]
