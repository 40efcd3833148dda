"""The folder of what a call puts aside: a machine that has another one of that name is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacrecap.engines.aside import IDS, OWN, Aside
from sacrecap.errors import EngineError


def test_a_machine_that_does_not_reach_the_folder(tmp_path: Path) -> None:
    aside = Aside.begin(str(tmp_path / "work"))
    assert Path(aside.folder(IDS)) == tmp_path / "work" / OWN / IDS
    elsewhere = Aside(str(tmp_path / "other"), aside.mark)
    with pytest.raises(EngineError, match=r"other: the machine .* does not reach this folder; .*work=DIR"):
        elsewhere.folder(IDS)
    Aside.begin(str(tmp_path / "other"))  # another call's
    with pytest.raises(EngineError, match="does not reach this folder"):
        elsewhere.folder(IDS)


def test_a_folder_is_cleared_unless_the_call_goes_on(tmp_path: Path) -> None:
    first = Aside.begin(str(tmp_path / "work"))
    left = Path(first.folder(IDS), "1")
    left.parent.mkdir()
    left.write_text("ids of an earlier call")
    again = Aside.begin(str(tmp_path / "work"), fresh=False)
    assert left.exists()
    assert again.mark != first.mark
    Aside.begin(str(tmp_path / "work")).remove()
    assert not (tmp_path / "work").exists()
