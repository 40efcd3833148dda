"""Builds the documentation site in `target/site`: the pages, and the report of the example, live.

usage: build_site.py

The menu has the page of each metric, in the order of the table of metrics. The page of commands shows what `--help`
prints, also of the commands of the members, which have to be installed. The pages are built strictly: a link, an
anchor or a cross reference of a docstring that leads nowhere stops it. The report is made anew by what `sacrecap demo`
does, so that the site shows the version that it describes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from sacrecap import compare, example, score
from sacrecap.cli.main import cli
from sacrecap.report.html import write_report

ROOT = Path(__file__).parents[1]
SITE = ROOT / "target" / "site"
PAGES = ROOT / "target" / "pages"
METRICS = "reference/metrics"
COMMANDS = "reference/command-line.md"


def build() -> None:
    """Builds the whole site. Raises `CalledProcessError` where a page has a fault; the builder has said which."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    (PAGES / COMMANDS).write_text(with_help((PAGES / COMMANDS).read_text(encoding="utf-8")), encoding="utf-8")
    settings = with_metrics((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    whole = ROOT / ".mkdocs.yml"  # in the root: its paths are those of mkdocs.yml
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file", whole.name]
    try:
        whole.write_text(settings.replace("docs_dir: docs\n", "docs_dir: target/pages\n"), encoding="utf-8")
        subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, check=True)
    finally:
        whole.unlink(missing_ok=True)
    write_reports(SITE / "example")


def with_metrics(menu: str) -> str:
    """The settings of the site, with the pages of metrics in the menu, in the order of the table of metrics."""
    table = (ROOT / "docs" / METRICS / "README.md").read_text(encoding="utf-8")
    pages = dict.fromkeys(re.findall(r"\]\(([\w-]+\.md)\)", table))
    lines = [f"      - {json.dumps(_heading(page))}: {METRICS}/{page}\n" for page in pages]
    before, after = re.split(rf"(?<={METRICS}/README\.md).*\n", menu, maxsplit=1)
    return "".join([before, "\n", *lines, after])


def _heading(page: str) -> str:
    title = re.search(r"^# (.+)$", (ROOT / "docs" / METRICS / page).read_text(encoding="utf-8"), re.MULTILINE)
    if title is None:
        raise ValueError(f"{page} has no heading")
    return title[1]


def with_help(page: str) -> str:
    """The page with the help of each command that it asks for, folded: the whole of it is 70 screens."""
    return re.sub(
        r"^```console\n\$ sacrecap (.*--help(?:-all)?)\n```$",
        lambda match: (
            '<details markdown="1">\n'
            f"<summary>Help: <code>sacrecap {match[1].partition('--')[0].strip()}</code></summary>\n\n"
            f"```console\n$ sacrecap {match[1]}\n{_help(match[1].split())}```\n\n</details>"
        ),
        page,
        flags=re.MULTILINE,
    )


def _help(arguments: list[str]) -> str:
    result = CliRunner().invoke(cli, arguments, prog_name="sacrecap", terminal_width=78)
    if result.exit_code:
        raise ValueError(
            f"sacrecap {' '.join(arguments)}: {result.exception or result.output}; is its member installed?"
        )
    return result.output


def write_reports(folder: Path) -> None:
    """Writes the reports of the example."""
    folder.mkdir(parents=True, exist_ok=True)
    references, systems = example.references(), example.systems()
    write_report(score(references, systems["careful"]), folder / "report.html", title="sacrecap demo: careful")
    write_report(compare(references, systems), folder / "comparison.html", title="Three made-up systems")


if __name__ == "__main__":
    build()
