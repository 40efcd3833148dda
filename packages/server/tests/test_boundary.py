"""Server and studies use of the core what its reference documents, and nothing else."""

from __future__ import annotations

from pathlib import Path

from documented import undocumented, used_names


def test_every_name_of_the_core_that_is_used_is_documented() -> None:
    sources = Path(__file__).parents[1] / "src"
    assert len(used_names(sources)) > 20
    assert undocumented(sources) == {}
