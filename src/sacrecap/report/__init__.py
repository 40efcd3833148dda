"""Results in formats for people and programs: text, JSON, CSV, Markdown, LaTeX, HTML."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrecap.report import html, pictures

__all__ = ["html", "pictures"]
__dir__ = __all__.copy


def __getattr__(name: str) -> object:
    """The public modules load on first use."""
    if name in __all__:
        return import_module(f"sacrecap.report.{name}")
    raise AttributeError(f"module 'sacrecap.report' has no attribute {name!r}")
