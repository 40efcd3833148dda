"""What stands above those who need it: how results print, and other engines. It is reached by name.

`sacrecap/__init__.py` fills the table with text: what a name stands for loads on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

ABOVE: dict[str, str] = {}
"""The printing function of a type, by the type's name: `Result` → `sacrecap.report.score_formats:render`; `engine` →
what makes an engine of its name; and `page` → what makes the page of a result.
"""


def from_above(name: str) -> Any:
    """What the name stands for."""
    module, _, inside = ABOVE[name].partition(":")
    return getattr(import_module(module), inside)


def printed(value: object, format_: str, **how: Any) -> str:
    """The value as text, in one of the formats that its printing function takes; `how` are its other arguments."""
    name = next(kind.__name__ for kind in type(value).__mro__ if kind.__name__ in ABOVE)
    text: str = from_above(name)(value, format_, **how)
    return text


class Printable:
    """`print` shows the table that the command line shows, and a notebook shows it as HTML."""

    def __str__(self) -> str:
        return printed(self, "table")

    def _repr_html_(self) -> str:
        return printed(self, "notebook")
