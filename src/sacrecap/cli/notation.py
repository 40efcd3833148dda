"""Values of options that carry parameters as metrics do: ``stream(memory=2G)``, ``csv(encoding=cp1252)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sacrecap.errors import UsageError, accepted_name
from sacrecap.metrics.declared import at_commas, unquoted

_CALL = re.compile(r"\s*(?P<name>[^()]*?)\s*(?:\((?P<inside>.*)\)\s*)?", re.DOTALL)


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
    found: dict[str, str] = {}
    for part in at_commas(match["inside"] or ""):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value or name in found:
            raise UsageError(f"{option} {text}: a parameter is PARAMETER=VALUE, once, got {part!r}")
        found[name] = unquoted(value)
    return match["name"], found


Parameter = tuple[str, Callable[[str], Any]]
"""What a value is, in words, and what reads its text or raises `ValueError`."""


def read_parameters(where: str, given: Mapping[str, str], accepted: Mapping[str, Parameter]) -> dict[str, Any]:
    """The values, by keyword. Raises `UsageError`, which begins with the place, for a name or a value that is none."""
    found = {}
    for name, text in given.items():
        if not accepted:
            raise UsageError(f"{where} has no parameters, got {name!r}")
        accepted_name(f"{where}: a parameter", name, [*accepted])
        what, read = accepted[name]
        try:
            found[name.replace("-", "_")] = read(text)
        except ValueError:
            raise UsageError(f"{where}: {name} is {what}, got {text!r}") from None
    return found


def number(kind: type[float], least: float, most: float) -> Callable[[str], float]:
    """What reads a whole number, or any, from the least to the most."""

    def read(text: str) -> float:
        value = kind(text)
        if not least <= value <= most:
            raise ValueError
        return value

    return read


def one_of(*names: str) -> Callable[[str], str]:
    """What reads one of these words."""
    return lambda text: names[names.index(text)]


def yes_or_no(text: str) -> bool:
    """Whether it is yes."""
    return ("no", "yes").index(text) == 1
