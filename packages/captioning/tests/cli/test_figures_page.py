"""The commands of the paper's figures: one small run of the page makes every file of its table."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_this_process import Here

from runner import Runner
from sacrecap.report import pictures
from sacrecap_captioning import sweep as sweep_module

PAGE = Path(__file__).parents[4] / "docs" / "howto" / "train-captioners.md"
CURVES = (
    "xe + λ*cider-d",
    "xe + λ*retrieval",
    "cider-d + λ*retrieval",
    "xe + λ*cider-d + 5*retrieval",
    "xe + 5*cider-d + λ*retrieval",
)
TINY = """
    --seeds 1 --captions 2 --steps 2 --reward-steps 1 --batch 4 --reward-batch 4 --hidden 8 --embedding 8
    --attention 8 --least 1 --encoder-epochs 1 --retrieval-epochs 1 --side 32 --processes 1 --device cpu
""".split()


def section() -> str:
    """The part of the page that draws the figures, with the table of their files."""
    return PAGE.read_text(encoding="utf-8").partition("## Draw the figures of the paper\n")[2].partition("\n### ")[0]


def commands() -> Iterator[list[str]]:
    """The commands of the page, in words."""
    for block in re.findall(r"^```sh\n(.*?)^```$", section(), re.MULTILINE | re.DOTALL):
        for line in lines(block):
            sacrecap, *words = shlex.split(line)
            assert sacrecap == "sacrecap"
            yield words


def lines(block: str) -> list[str]:
    """The commands of a block, each on a line, with the values of its variables."""
    values = dict(re.findall(r"^(\w+)=(\S+)$", block, re.MULTILINE))
    text = re.sub(r"\$(\w+?)(?=\W)", lambda name: values[name[1]], block.replace("\\\n", " "))
    return text.splitlines()[len(values) :]


def made_small(words: list[str], folder: Path) -> list[str]:
    """A command with settings that make it small, after its own; and with names of files filled in, as a shell does."""
    match words:
        case ["caption", "scenes", *_]:
            return [*words, "--images", "40"]
        case ["caption", "sweep", *_]:
            axes = [re.sub(r"\{(\d+),[^}]*,(\w+)\}", r"{\1,\2}", word) for word in words]  # the first and last weight
            return [*axes, *TINY, "--models", "att2in,cvae" if "models" in words else "att2in"]
    kept: list[str] = []
    for word in words:
        if "*" in word:
            kept += sorted(str(path.relative_to(folder)) for path in folder.glob(word))
        elif "/sets/" not in word or (folder / word.partition("=")[2]).exists():  # of the first and last weight
            kept.append(word)
    sets = [word.rpartition("=")[2] for word in kept if "/sets/" in word]
    assert len(sets) > 1
    image = json.loads((folder / sets[0]).read_text(encoding="utf-8"))[0]["image_id"]
    return [*kept, "--draw", str(image)]


def test_every_figure_is_one_command(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_module, "ProcessPoolExecutor", Here)
    # Drawn, but not rendered, which takes longer than all the rest; the core's tests render each kind of picture.
    monkeypatch.setattr(pictures, "_rendered", lambda _, format_: format_.encode())
    for words in commands():
        ended = run.here(*made_small(words, run.folder))
        assert ended.status == 0, ended.stderr
    rows = re.findall(r"^\| [^|]+ \| (\w+) \| `([^`]+)` \|", section(), re.MULTILINE)
    assert len(rows) == 11
    for command, name in rows:
        assert name.startswith(command)
        picture = run.folder / name
        assert picture.read_bytes() == b"png"
        assert picture.with_suffix(".svg").read_bytes() == b"svg"
        assert picture.with_suffix(".csv").stat().st_size > 100
    with (run.folder / "losses" / "pictures" / "plane.csv").open(encoding="utf-8", newline="") as file:
        drawn = {row["line"] for row in csv.DictReader(file)}
    assert {f"att2in, {curve}" for curve in CURVES} < drawn
