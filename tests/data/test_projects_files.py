"""Files of projects are read by value, as the same captions in a mapping, or refused with a remedy; never otherwise.

The files lie in `projects`, which has an index and says how to add one.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from runner import Runner

SCORED = ["--metrics", "rouge-l,bleu-1", "--interval", "none", "--format", "json", "-q"]
PROJECTS = Path(__file__).parent / "projects"
NUMBERS = ["391895", "522418", "184613", "318219"]
IDS = {
    "numbers": NUMBERS,
    "files": [f"COCO_val2014_{int(number):012}.jpg" for number in NUMBERS],
    "urls": [f"https://example.org/{number}.jpg" for number in NUMBERS],
    "videos": ["video7010", "video7011", "video7012", "video7013"],
    "positions": ["1", "2", "3", "4"],
    "tv": [f"show_s01e0{number}_seg02" for number in range(4)],
}
REFERENCES = [
    ["a man on a horse", "a person riding a horse, at dusk"],
    ["a woman is cutting bread", "bread is cut with a knife"],
    ["two dogs run on a beach", "dogs play near the sea"],
    ["a red bus in the street", "a bus is parked by a shop"],
]
CANDIDATES = ["a man rides a horse", "a woman cuts bread", "two dogs run, and play", "a red bus on a road"]


@dataclass(frozen=True)
class Case:
    """A row of the index."""

    name: str
    file: str
    """A file, or a folder, in `projects`."""
    part: str
    """`references`, `candidates`, or `both`."""
    ids: Sequence[str]
    """The image ids in it."""
    options: dict[str, Any] = field(default_factory=dict)
    """Those of `CaptionFiles`."""
    refused: str = ""
    """A pattern of the message, where the file has to be refused."""
    others: Sequence[str] = ()
    """The ids in the file of the other part, where they are spelled differently."""
    engines: Sequence[str] = ("local", "stream")
    """Which read it."""


def case(row: dict[str, Any]) -> Case:
    named = {key: IDS[row[key]] for key in ("ids", "others") if isinstance(row.get(key), str)}
    return Case(**{**row, **named})


ROWS = [case(json.loads(row)) for row in (PROJECTS / "index.jsonl").read_text(encoding="utf-8").splitlines()]
CASES = {row.name: row for row in ROWS}
OF_THE_CASE = ("first", "joined")
"""What the options of a case say of its references: that each image has its first alone, or both in one text."""


def read_whole(case: Case) -> bool:
    """Whether it is a document of JSON: one function reads those for both engines, and one in four is tried by each."""
    path = PROJECTS / case.file
    try:
        return path.is_file() and isinstance(json.loads(path.read_text(encoding="utf-8")), (dict, list))
    except ValueError:
        return False


EVERY = [
    (name, engine)
    for number, (name, case) in enumerate(CASES.items())
    for engine in (case.engines[:1] if number % 4 != 2 and read_whole(case) else case.engines)
]


def js(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False)


def written(case: Case, folder: Path) -> Path:
    """The case's file or folder, under a name that says nothing of what it is."""
    source, path = PROJECTS / case.file, folder / "given"
    if source.is_dir():
        shutil.copytree(source, path)
    else:
        shutil.copyfile(source, path)
    return path


def references(case: Case) -> list[list[str]]:
    if "first" in case.options:
        return [texts[:1] for texts in REFERENCES]
    return [[" ".join(texts)] for texts in REFERENCES] if "joined" in case.options else REFERENCES


def scores(ended: Any) -> dict[str, float]:
    return dict(json.loads(ended.stdout)["scores"])


KNOWN: dict[str, dict[str, float]] = {}


def expected(case: Case) -> dict[str, float]:
    """The scores of the same captions as mappings, computed once whatever the ids are."""
    texts = js(references(case))
    if texts not in KNOWN:
        with TemporaryDirectory() as folder:
            KNOWN[texts] = scores(Runner(Path(folder)).here("score", *mappings(case, Path(folder), NUMBERS), *SCORED))
    return KNOWN[texts]


def mappings(case: Case, folder: Path, ids: Sequence[str]) -> list[str]:
    (folder / "r.json").write_text(js(dict(zip(ids, references(case), strict=True))))
    (folder / "c.json").write_text(js(dict(zip(ids, CANDIDATES, strict=True))))
    return ["r.json", "c.json"]


def outcome(name: str, engine: str, folder: Path) -> str:
    """`right`, `wrong` with what was scored, or `refused` with the message."""
    case, run = CASES[name], Runner(folder)
    files = mappings(case, folder, case.others or case.ids)
    if case.part == "both":
        files = [written(case, folder).name]
    else:
        files[0 if case.part == "references" else 1] = written(case, folder).name
    options: list[str] = []
    for option, value in case.options.items():
        for own in value if isinstance(value, list) else (value,):
            if option in ("encoding", "separator"):
                options += ["--reference-format", how := f"auto({option}={own})", "--candidate-format", how]
            elif option not in OF_THE_CASE:
                options += [f"--{option.replace('_', '-')}", str(own)]
    ended = run.here("score", *files, *options, "--engine", engine, *SCORED)
    if ended.status != 0:
        return f"refused: {ended.stderr}" if ended.status == 2 else f"failed: {ended.stderr}"
    found = scores(ended)
    return "right" if found == pytest.approx(expected(case), abs=1e-12) else f"wrong: {found}"


@pytest.mark.parametrize(("name", "engine"), EVERY)
def test_a_file_is_read_by_value_or_refused(name: str, engine: str, tmp_path: Path) -> None:
    found, refused = outcome(name, engine, tmp_path), CASES[name].refused
    if not refused:
        assert found == "right"
    else:
        assert found.startswith("refused: sacrecap: ")
        assert re.search(refused, found), found
        assert len(found.replace(str(tmp_path), "")) < 700, "binary data is not printed"


def test_each_file_is_in_the_index_once() -> None:
    assert len(ROWS) == len(CASES)
    here = {path.name for path in PROJECTS.iterdir()} - {"index.jsonl", "README.md"}
    assert sorted(case.file for case in CASES.values()) == sorted(here)
