"""Files of projects are read by value, as the same captions in a mapping, or refused with a remedy; never otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from more_projects_files import MORE
from projects_files import CANDIDATES, CASES, NUMBERS, REFERENCES, Case, js, written

from runner import Runner

SCORED = ["--metrics", "rouge-l,bleu-1", "--interval", "none", "--format", "json", "-q"]
CASES = {**CASES, **MORE}
OF_THE_CASE = ("first", "joined")
"""What the options of a case say of its references: that each image has its first alone, or both in one text."""


def read_whole(case: Case) -> bool:
    """Whether it is a document of JSON: one function reads those for both engines, and one in four is tried by each."""
    try:
        return isinstance(case.content, str) and isinstance(json.loads(case.content), (dict, list))
    except ValueError:
        return False


EVERY = [
    (name, engine)
    for number, (name, case) in enumerate(CASES.items())
    for engine in (case.engines[:1] if number % 4 != 2 and read_whole(case) else case.engines)
]


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
        for own in value if isinstance(value, tuple) else (value,):
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
