"""The page of claims has the tables that its script prints."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from pages import DOCS, ROOT, UPDATE

PAGE = DOCS / "explanation" / "what-of-the-papers-holds.md"
CLAIMS = re.findall(r"<!-- (\S+) -->", PAGE.read_text("utf-8"))
SLOW = ("references", "bleu", "vifidel", "variants", "gaming", "meteor")
"""Claims about random draws of references, and about many metrics or variants: `make soak` has them."""


@pytest.fixture(scope="module")
def table(shared: Path) -> Callable[[str], str]:
    """The table of a claim; the claims share the judgments and many accuracies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        claims = importlib.import_module("claims")
    data = claims.Data(shared / "data")
    return lambda claim: str(claims.marked_table(claim, data))


@pytest.mark.parametrize("claim", [pytest.param(one, marks=pytest.mark.soak) if one in SLOW else one for one in CLAIMS])
def test_the_table_is_what_the_script_prints(claim: str, table: Callable[[str], str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        printed = f"{table(claim)}\n"
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
