"""Writes `target/README.md`, the description on PyPI: README.md with absolute links.

README.md links to files of the clone, so that its links work without a network and before anything is published.

usage: pypi_readme.py

The build backend calls it. Who calls maturin itself runs it first: maturin stops where the file is missing.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

SITE = "https://sacrecap.github.io/sacrecap/"
SOURCE = "https://github.com/sacrecap/sacrecap/blob/main/"
RAW = "https://raw.githubusercontent.com/sacrecap/sacrecap/main/"

_LINK = re.compile(r'(?P<before>\]\(|\b(?:href|src|srcset)=")(?P<target>[^)"\s]+)')


def absolute(text: str) -> str:
    """The text with absolute links: pages of `docs` on the site, pictures as files, the rest in the repository."""
    return _LINK.sub(lambda match: match["before"] + _address(match["target"]), text)


def _address(target: str) -> str:
    path, mark, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return target
    if path.endswith((".svg", ".png")):
        return RAW + path
    if path.startswith("docs/") and path.endswith(".md"):
        folder, name = posixpath.split(path.removeprefix("docs/").removesuffix(".md"))
        page = folder if name == "README" else posixpath.join(folder, name)
        return SITE + (page and f"{page}/") + mark + anchor
    return SOURCE + target


def write(root: Path = Path()) -> None:
    """Writes the description of the checkout in this folder."""
    (root / "target").mkdir(exist_ok=True)
    text = (root / "README.md").read_text(encoding="utf-8")
    (root / "target" / "README.md").write_text(absolute(text), encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parents[2])
