"""Tables of what is measured."""

from __future__ import annotations

from collections.abc import Iterable


def print_table(heads: str, rows: Iterable[list[str]]) -> None:
    """Prints a table in Markdown, each row when it is there; `heads` are separated by commas."""
    print("|", " | ".join(head.strip() for head in heads.split(",")), "|")
    print("|" + " --- |" * (heads.count(",") + 1), flush=True)
    for row in rows:
        print("|", " | ".join(row), "|", flush=True)
