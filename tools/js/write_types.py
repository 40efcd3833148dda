"""Writes `data.d.ts`: the data of the reports' pages as TypeScript, from the `TypedDict`s that Python fills."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from sacrecap.report import agreement_page, comparison_page, diversity_page, score_page

FILE = Path(__file__).with_name("data.d.ts")
_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", object: "unknown"}


def declarations() -> str:
    """An interface for each page's data, and for all that is in it."""
    interfaces: dict[str, str] = {}
    for data in (
        score_page.ScorePage,
        comparison_page.ComparisonPage,
        diversity_page.SetsPage,
        agreement_page.AgreementPage,
    ):
        _declare(data, interfaces)
    return "".join(interfaces.values())


def _declare(data: Any, interfaces: dict[str, str]) -> None:
    if data.__name__ in interfaces:
        return
    interfaces[data.__name__] = ""
    hints = get_type_hints(data)
    fields = "".join(f"  {name}: {_spelled(hint, interfaces)};\n" for name, hint in hints.items())
    interfaces[data.__name__] = f"\ninterface {data.__name__} {{\n{fields}}}\n"


def _spelled(hint: Any, interfaces: dict[str, str]) -> str:
    inside = get_args(hint)
    if is_typeddict(hint):
        _declare(hint, interfaces)
        return str(hint.__name__)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if get_origin(hint) in (types.UnionType, Union):
        return " | ".join(dict.fromkeys(_spelled(part, interfaces) for part in inside))
    if get_origin(hint) is Literal:
        return " | ".join(f'"{literal}"' for literal in inside)
    if get_origin(hint) is list or (get_origin(hint) is tuple and inside[1:] == (...,)):
        entry = _spelled(inside[0], interfaces)
        return f"({entry})[]" if " | " in entry else f"{entry}[]"
    if get_origin(hint) is dict:
        return f"Record<{', '.join(_spelled(part, interfaces) for part in inside)}>"
    if get_origin(hint) is tuple:
        return f"[{', '.join(_spelled(part, interfaces) for part in inside)}]"
    raise TypeError(f"no TypeScript is known for {hint}")


if __name__ == "__main__":
    FILE.write_text(declarations(), encoding="utf-8")
