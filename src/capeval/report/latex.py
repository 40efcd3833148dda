"""Text inside LaTeX."""

from __future__ import annotations

_SPELLED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "τ": r"$\tau$",
    "ρ": r"$\rho$",
    "–": "--",
    **{character: "\\" + character for character in "%_&#${}"},
}


def escape(text: str) -> str:
    """The text with what LaTeX reads as its own spelled out."""
    return "".join(_SPELLED.get(character, character) for character in text)
