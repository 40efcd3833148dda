"""A file is written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from sacrecap.data import atomic_write, writers
from sacrecap.errors import DataError


def test_the_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with atomic_write(path) as file:
        file.write("é\r\n")
        assert not path.exists()
    assert path.read_bytes() == "é\r\n".encode()
    with atomic_write(path, "wb") as file:
        file.write(b"\xff")
    assert path.read_bytes() == b"\xff"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, ValueError, FileNotFoundError])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(error), atomic_write(path) as file:  # noqa: PT012
        file.write("new")
        raise error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "out", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with atomic_write(link) as file:
        file.write("new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with atomic_write(tmp_path / "out"):
        pass
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_standard_output_and_devices(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    with atomic_write("-") as file:
        file.write("text ")
    with atomic_write("-", "wb") as file:
        file.write(b"bytes")
    assert capsysbinary.readouterr().out == b"text bytes"
    before = os.stat(os.devnull)
    with atomic_write(os.devnull) as file:
        file.write("gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert os.stat(os.devnull).st_ino == before.st_ino


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    for path, sentence in [
        (tmp_path, "cannot be written: it is a directory; name a file in it$"),
        (tmp_path / "no" / "out", "cannot be written: there is no folder '.*/no'; make it first$"),
        (tmp_path / "file" / "out", "cannot be written: '.*/file' is not a folder$"),
        (tmp_path / "a\0b", "cannot be written: .*null"),
    ]:
        with pytest.raises(DataError, match=sentence), atomic_write(path):
            pass

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    sentence = "this user may not write in '.*'; choose another place$"
    with pytest.raises(DataError, match=sentence), atomic_write(tmp_path / "out"):
        pass
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_is_no_file_to_write_whether_or_not_it_is_there(tmp_path: Path) -> None:
    sentence = "cannot be written: it is a directory; name a file in it$"
    for folder in (f"{tmp_path}{os.sep}", f"{tmp_path / 'new'}{os.sep}"):
        with pytest.raises(DataError, match=sentence), atomic_write(folder):
            pass
        with pytest.raises(DataError, match=sentence):
            writers.check_writable(folder)
    with pytest.raises(DataError, match=sentence):
        writers.check_writable(tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_there_but_takes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")  # as Linux says of /proc

    monkeypatch.setattr("builtins.open", refuse)
    sentence = f"this user may not write in {str(tmp_path)!r}; choose another place$"
    with pytest.raises(DataError, match=sentence), atomic_write(tmp_path / "out"):
        pass


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    sentence = r"cannot be written: no space is left; free some, or .* \(an existing file is unchanged\)$"
    with pytest.raises(DataError, match=sentence), atomic_write(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_a_mapped_file_goes_aside_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated: a mapped file is neither replaced nor removed there, but may be renamed."""
    target, mapped = str(tmp_path / "a.df"), {str(tmp_path / "a.df")}
    Path(target).write_text("old")
    really = {name: getattr(os, name) for name in ("replace", "rename", "remove")}

    def refusing(new: str, old: str) -> None:
        if old in mapped:
            raise PermissionError(13, "Access is denied", old)
        really["replace"](new, old)

    def rename(old: str, new: str) -> None:
        really["rename"](old, new)
        if old in mapped:
            mapped.discard(old)
            mapped.add(new)

    def remove(path: str) -> None:
        if path in mapped:
            raise PermissionError(13, "Access is denied", path)
        really["remove"](path)

    def written(text: str) -> list[str]:
        (tmp_path / "new.tmp").write_text(text)
        with monkeypatch.context() as there:
            for name, function in {"replace": refusing, "rename": rename, "remove": remove, "name": "nt"}.items():
                there.setattr(writers.os, name, function)
            writers.replace(str(tmp_path / "new.tmp"), target)
        return sorted(path.read_text() for path in tmp_path.iterdir())

    assert written("new") == ["new", "old"]
    assert Path(target).read_text() == "new"
    mapped.clear()  # the reader has ended
    assert written("newer") == ["newer"]
