"""The caption sets that Wang and Chan (CVPR 2019) print with their scores, from the folder of shared facts."""

from __future__ import annotations

import re
from pathlib import Path


def printed(shared: Path) -> dict[str, tuple[str, list[str]]]:
    """Each set's line of figures, and its captions."""
    text = (shared / "facts" / "seed-tables.md").read_text(encoding="utf8")
    sets = {}
    for block in re.split(r"\n\*\*(?=fig)", text)[1:]:
        head, *lines = block.splitlines()
        sets[head.partition("**")[0]] = head, [line[2:] for line in lines if line.startswith("- ")]
    return sets
