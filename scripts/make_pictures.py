"""Makes the pictures of README and the site: the chart of the measured times, and the report of the example.

usage: make_pictures.py [--charts]

The chart is drawn from the table of `docs/howto/migrate-from-pycocoevalcap.md`. `--charts` leaves out the pictures of
the report, which need Chromium and playwright.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from sacrecap import example, score
from sacrecap.report.html import write_report

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
SPEED = ROOT / "docs" / "howto" / "migrate-from-pycocoevalcap.md"
THEMES = {"light": ("#1f2328", "#59636e", "#8c959f", "#0d9488"), "dark": ("#f0f6fc", "#9198a1", "#656c76", "#2dd4bf")}
"""Colours of text, of small text, of the bar of others, and of sacrecap's bars."""
FONT = "-apple-system, BlinkMacSystemFont, Segoe UI, Helvetica, Arial, sans-serif"
CAPTION = (
    "Processor seconds for 5,000 captions of COCO val2017: BLEU, METEOR, ROUGE-L, CIDEr-D,",
    "from the files to the printed scores, with the start of the process and Java's time.",
)
WIDTH, LEFT, RIGHT, ROW = 760, 200, 90, 34


def times() -> dict[str, float]:
    """Processor seconds from files to printed scores, by the name of the bar: the first row of the table."""
    row = r"^\|[^|]+\| [\d,]+ \| ([\d.]+) s \| ([\d.]+) s \|[^|]+\| ([\d.]+) s \|"
    [cells, *_] = re.findall(row, SPEED.read_text(encoding="utf-8"), re.MULTILINE)
    names = ("pycocoevalcap", "sacrecap", "sacrecap, with intervals")
    return {name: float(seconds) for name, seconds in zip(names, cells, strict=True)}


def chart(theme: str) -> str:
    """The bars as SVG text."""
    text, small, muted, accent = THEMES[theme]
    bars = times()
    scale = (WIDTH - LEFT - RIGHT) / max(bars.values())
    height = 64 + ROW * len(bars)
    title = ", ".join(f"{name} {seconds:g} s" for name, seconds in bars.items())
    lines = []
    for row, (name, seconds) in enumerate(bars.items()):
        base = 13 + ROW * row + ROW // 2
        length = max(seconds * scale, 2)
        colour, weight = (accent, 600) if name.startswith("sacrecap") else (muted, 400)
        at_name, at_time = f'x="{LEFT - 12}" y="{base}"', f'x="{LEFT + length + 8:.1f}" y="{base}"'
        lines += [
            f'<text {at_name} font-size="15" text-anchor="end" fill="{text}" font-weight="{weight}">{name}</text>',
            f'<rect x="{LEFT}" y="{base - 15}" width="{length:.1f}" height="20" rx="2" fill="{colour}"/>',
            f'<text {at_time} font-size="15" fill="{text}">{seconds:.2f} s</text>',
        ]
    for below, line in zip((26, 8), CAPTION, strict=True):
        lines.append(f'<text x="{LEFT}" y="{height - below}" font-size="13" fill="{small}">{line}</text>')
    body = "\n".join([f"<title>{title}</title>", *lines])
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}" role="img">\n{body}\n</svg>\n'


def photograph_report() -> None:
    """Pictures of the top of the report, light and dark."""
    from playwright.sync_api import sync_playwright

    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        result = score(example.references(), example.systems()["careful"], "bleu-4, rouge-l, spice, cider-d")
        write_report(result, Path(folder) / "report.html", title="sacrecap demo: careful")
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        for theme in THEMES:
            page = browser.new_page(viewport={"width": 1100, "height": 985}, color_scheme=theme)
            page.goto((Path(folder) / "report.html").as_uri())
            page.screenshot(path=PICTURES / f"report-{theme}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    for theme in THEMES:
        (PICTURES / f"speed-{theme}.svg").write_text(chart(theme), encoding="utf-8")
    if "--charts" not in sys.argv[1:]:
        photograph_report()
