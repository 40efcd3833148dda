"""Builds the documentation site in `target/site`: the pages, and the report of the example, live.

usage: build_site.py

The menu has the page of each metric, in the order of the table of metrics. The pages are built strictly: a link, an
anchor or a cross reference of a docstring that leads nowhere stops it. The report is what `sacrecap demo` writes, made
anew, so that the site shows the version that it describes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from sacrecap import compare, example, score
from sacrecap.report.html import write_report

ROOT = Path(__file__).parents[1]
SITE = ROOT / "target" / "site"
METRICS = "reference/metrics"


def build() -> None:
    """Builds the whole site. Raises `CalledProcessError` where a page has a fault; the builder has said which."""
    whole = ROOT / ".mkdocs.yml"  # in the root: its paths are those of mkdocs.yml
    whole.write_text(with_metrics((ROOT / "mkdocs.yml").read_text(encoding="utf-8")), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file", whole.name]
    try:
        subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, check=True)
    finally:
        whole.unlink()
    write_reports(SITE / "example")


def with_metrics(menu: str) -> str:
    """The settings of the site, with the pages of metrics in the menu, in the order of the table of metrics."""
    table = (ROOT / "docs" / METRICS / "README.md").read_text(encoding="utf-8")
    pages = dict.fromkeys(re.findall(r"\]\(([\w-]+\.md)\)", table))
    lines = [f"      - {json.dumps(_heading(page))}: {METRICS}/{page}\n" for page in pages]
    before, after = re.split(rf"(?<={METRICS}/README\.md).*\n", menu, maxsplit=1)
    return "".join([before, "\n", *lines, after])


def _heading(page: str) -> str:
    found = re.search(r"^# (.+)$", (ROOT / "docs" / METRICS / page).read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{page} has no heading")
    return found[1]


def write_reports(folder: Path) -> None:
    """Writes the reports of the example."""
    folder.mkdir(parents=True, exist_ok=True)
    references, systems = example.references(), example.systems()
    write_report(score(references, systems["careful"]), folder / "report.html", title="sacrecap demo: careful")
    write_report(compare(references, systems), folder / "comparison.html", title="Three made-up systems")


if __name__ == "__main__":
    build()
