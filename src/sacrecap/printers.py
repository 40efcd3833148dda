"""How results print. The functions stand above the results that they print, so they are registered, by name.

`sacrecap/__init__.py` fills the table with text: a function loads when its first result prints.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

PRINTERS: dict[str, str] = {}
"""The printing function of a type, by the type's name: `Result` → `sacrecap.report.score_formats:render`."""


def printed(value: object, format_: str, **how: Any) -> str:
    """The value as text, in one of the formats that its printing function takes; `how` are its other arguments."""
    registered = next(PRINTERS[kind.__name__] for kind in type(value).__mro__ if kind.__name__ in PRINTERS)
    module, _, function = registered.partition(":")
    text: str = getattr(import_module(module), function)(value, format_, **how)
    return text


class Printable:
    """`print` shows the table that the command line shows, and a notebook shows it as HTML."""

    def __str__(self) -> str:
        return printed(self, "table")

    def _repr_html_(self) -> str:
        return printed(self, "notebook")
