"""What was made of parts survives: on a disk, and on a file system behind fsspec."""

from __future__ import annotations

import pickle
import uuid
from pathlib import Path

import pytest

from sacrecap.engines.passes import Counts
from sacrecap.engines.work import OWN, WorkFolder, packed, unpacked
from sacrecap.errors import DataError, EngineError, MissingDependencyError, UsageError

pytest.importorskip("pyarrow")
RUN = {"metrics": ["cider-d", "bleu-4"], "seed": 0}


@pytest.fixture(params=["disk", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "disk":
        return str(tmp_path / "work")
    pytest.importorskip("fsspec")
    return f"memory://{uuid.uuid4().hex}/work"


def begun(url: str, *, resume: bool = True, **run: object) -> WorkFolder:
    work = WorkFolder(url)
    work.begin({**RUN, **run}, resume=resume)
    return work


def test_what_is_kept_is_found_by_the_next_call(url: str) -> None:
    work = begun(url)
    assert work.load("three") is None
    work.save("three", b"\0three\0")
    work.save("none", b"")
    again = pickle.loads(pickle.dumps(begun(url)))  # as a worker has it
    assert again.names() == {"three", "none"}
    assert again.load("three") == b"\0three\0"
    assert again.load("none") == b""
    assert again.load("two") is None


def test_a_part_does_not_list_what_all_others_kept(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(url).save("three", b"three")
    work = begun(url)
    monkeypatch.setattr("sacrecap.engines.work.names_in", None)
    assert work.load("three") == b"three"
    assert work.load("two") is None


def test_without_resume_it_is_gone(url: str) -> None:
    begun(url).save("three", b"three")
    assert begun(url, resume=False).names() == set()


def test_another_run_is_refused_with_what_differs(url: str) -> None:
    begun(url).save("three", b"three")
    with pytest.raises(UsageError, match=r'metrics \["cider-d", "bleu-4"\], here \["rouge-l"\]; samples none, here 10'):
        begun(url, metrics=["rouge-l"], samples=10)
    assert begun(url).names() == {"three"}


def test_what_is_damaged_is_named(url: str, tmp_path: Path) -> None:
    begun(url).save("three", b"three")
    work = begun(url)
    work._write("three.kept", work._read("three.kept")[:-1])
    with pytest.raises(DataError, match=r"three.kept: damaged; remove this file, and resume=True"):
        work.load("three")
    work._write("run.json", b"{")
    with pytest.raises(DataError, match=r"run.json: damaged"):
        begun(url)


def test_a_machine_that_does_not_reach_the_folder(tmp_path: Path) -> None:
    work = begun(str(tmp_path / "work"))
    (tmp_path / "work").rename(tmp_path / "elsewhere")
    with pytest.raises(EngineError, match=r"work: the machine .* does not reach this folder; .*work=DIR"):
        work.load("three")
    begun(str(tmp_path / "work"))  # another call's
    with pytest.raises(EngineError, match="does not reach this folder"):
        work.load("three")


def test_finish_leaves_what_others_put_there(tmp_path: Path) -> None:
    work = begun(str(tmp_path / "work"))
    work.save("three", b"")
    work.finish()
    assert not (tmp_path / "work").exists()
    begun(str(tmp_path / "work"))
    (tmp_path / "work" / OWN / "notes.txt").write_text("mine")
    work.finish()
    assert [path.name for path in (tmp_path / "work" / OWN).iterdir()] == ["notes.txt"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file/work/.*: cannot be written: Not a directory"):
        begun(str(tmp_path / "file" / "work"))


def test_an_unknown_kind_of_url_is_refused() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises((DataError, MissingDependencyError), match="nowhere"):
        WorkFolder("nowhere://bucket/work").begin({}, resume=False)


def test_what_was_kept_runs_nothing_of_others(tmp_path: Path) -> None:
    class Foreign:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (tmp_path / "run",)

    assert unpacked(packed(Counts({"references": 3}))) == Counts({"references": 3})
    for foreign in (pickle.dumps(Foreign()), b"", b"\x80"):
        with pytest.raises(DataError, match="cannot be read; begin anew"):
            unpacked(foreign)
    assert not (tmp_path / "run").exists()
