"""What is said where an import fails, and names in messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacrecap.errors import MissingDependencyError, first_of, of_extra


def test_a_package_that_is_not_installed() -> None:
    with pytest.raises(MissingDependencyError) as raised, of_extra("learned", "a network"):
        import no_such_package  # type: ignore[import-not-found]  # noqa: F401
    assert str(raised.value) == "a network needs the extra 'learned': pip install 'sacrecap[learned]'"


def test_a_package_that_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_package.py").write_text("raise ImportError('libcudart.so.12: cannot open\\n it')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingDependencyError) as raised, of_extra("learned", "a network"):
        import broken_package  # type: ignore[import-not-found]  # noqa: F401
    assert str(raised.value).endswith("pip install 'sacrecap[learned]' (libcudart.so.12: cannot open it)")


def test_what_sacrecap_lacks_is_a_fault_of_its_own() -> None:
    with pytest.raises(ModuleNotFoundError, match="sacrecap.nothing"), of_extra("learned", "a network"):
        import sacrecap.nothing  # type: ignore[import-not-found]  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name 'nothing'"), of_extra("learned", "a network"):
        from sacrecap.errors import nothing  # type: ignore[attr-defined]  # noqa: F401


def test_an_absurd_name_does_not_fill_the_screen() -> None:
    url = "https://example.org/" + "photo/" * 40 + "1.jpg"
    assert first_of(["a", url, "x" * 3000]) == f"a, {url}, {'x' * 299}…"
