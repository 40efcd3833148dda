"""Modules of this member were in capeval once."""

from __future__ import annotations

import pytest

from old_names import check_old_name, old_names


@pytest.mark.parametrize("old", old_names("capeval_server", "capeval_studies"))
def test_an_old_module_name_still_works(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_old_name(old, monkeypatch)
