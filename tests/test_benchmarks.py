"""Pages name benchmarks that are there, or the commit that has them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}


def test_a_page_that_names_a_benchmark_says_where_it_is() -> None:
    pages = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}
    named = [
        (page, name, commit)
        for page, text in pages.items()
        for name, commit in re.findall(r"benchmarks/(\w+)\.py`?(\s+of\s+commit\s+[0-9a-f]{8})?", text)
    ]
    assert {name for _, name, _ in named} >= {"against", "claims"}
    assert not [(page, name) for page, name, commit in named if (name in MODULES) == bool(commit)]
