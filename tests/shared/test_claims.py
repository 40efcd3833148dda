"""The page of claims has the tables that its script prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pages import DOCS, ROOT, UPDATE

PAGE = DOCS / "explanation" / "what-of-the-papers-holds.md"
CLAIMS = re.findall(r"<!-- (\S+) -->", PAGE.read_text("utf-8"))


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_table_is_what_the_script_prints(claim: str, shared: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "claims.py"), str(shared / "data"), claim]
    printed = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    text = PAGE.read_text("utf-8")
    shown = re.search(rf"<!-- {claim} -->\n\n(\|.*\n)*\n?", text)
    assert shown
    if UPDATE:
        PAGE.write_text(text.replace(shown[0], printed), "utf-8")
        return
    assert shown[0] == printed


def test_every_claim_of_the_script_is_on_the_page() -> None:
    assert (
        re.findall(r'^    "(\S+)": \w+,$', (ROOT / "benchmarks" / "claims.py").read_text("utf-8"), re.MULTILINE)
        == CLAIMS
    )
