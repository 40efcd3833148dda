"""Values of options that carry parameters as metrics do: ``stream(memory=2G)``, ``csv(encoding=cp1252)``."""

from __future__ import annotations

import re
from collections.abc import Sequence

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


def check_parameters(option: str, name: str, given: Sequence[str], accepted: Sequence[str]) -> None:
    """Raises `UsageError` for a parameter that this name does not have."""
    if given and not accepted:
        raise UsageError(f"{option} {name} has no parameters, got {given[0]!r}")
    for parameter in given:
        accepted_name(f"{option} {name}: a parameter", parameter, accepted)


def yes_or_no(text: str) -> bool:
    """Whether it is yes. Raises `ValueError` for what is neither."""
    return ("no", "yes").index(text) == 1
