"""Builds the documentation site in `target/site`: the pages, and the report of the example, live.

usage: build_site.py

The pages are built strictly: a link, an anchor or a cross reference of a docstring that leads nowhere stops it. The
report is what `sacrecap demo` writes, made anew, so that the site shows the version that it describes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sacrecap import compare, example, score
from sacrecap.report.html import write_report

ROOT = Path(__file__).parents[1]
SITE = ROOT / "target" / "site"


def build() -> None:
    """Builds the whole site. Raises `CalledProcessError` where a page has a fault; the builder has said which."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, check=True)
    write_reports(SITE / "example")


def write_reports(folder: Path) -> None:
    """Writes the reports of the example."""
    folder.mkdir(parents=True, exist_ok=True)
    references, systems = example.references(), example.systems()
    write_report(score(references, systems["careful"]), folder / "report.html", title="sacrecap demo: careful")
    write_report(compare(references, systems), folder / "comparison.html", title="Three made-up systems")


if __name__ == "__main__":
    build()
