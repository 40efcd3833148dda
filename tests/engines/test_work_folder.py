"""Finished parts survive: on a disk, and on a file system behind fsspec."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from sacrecap.engines.work import WorkFolder
from sacrecap.errors import DataError, UsageError

RUN = {"input": "9f2c", "metrics": ["cider-d", "bleu-4"], "seed": 0}


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


def test_saved_parts_are_found_by_the_next_call(url: str) -> None:
    work = begun(url)
    assert work.done() == set()
    work.save(3, b"\0three\0")
    work.save(1_234_567, b"")
    again = begun(url)
    assert again.done() == {3, 1_234_567}
    assert again.load(3) == b"\0three\0"
    assert again.load(1_234_567) == b""


def test_without_resume_the_parts_are_gone(url: str) -> None:
    begun(url).save(3, b"three")
    assert begun(url, resume=False).done() == set()


def test_another_run_is_refused_with_what_differs(url: str) -> None:
    begun(url).save(3, b"three")
    with pytest.raises(UsageError, match=r'metrics \["cider-d", "bleu-4"\], here \["rouge-l"\]; samples none, here 10'):
        begun(url, metrics=["rouge-l"], samples=10)
    assert begun(url).done() == {3}


def test_a_damaged_part_is_named(url: str) -> None:
    work = begun(url)
    work.save(3, b"three")
    work._files.write("part-000003.result", work._files.read("part-000003.result")[:-1])
    with pytest.raises(DataError, match=r"part-000003.result: damaged; remove this file, and resume=True"):
        work.load(3)


def test_a_damaged_description_is_named(url: str) -> None:
    work = begun(url)
    work._files.write("run.json", b"{")
    with pytest.raises(DataError, match=r"run.json: damaged"):
        begun(url)


def test_finish_leaves_what_others_put_there(tmp_path: Path) -> None:
    work = begun(str(tmp_path / "work"))
    work.save(0, b"")
    work.finish()
    assert not (tmp_path / "work").exists()
    begun(str(tmp_path / "work"))
    (tmp_path / "work" / "notes.txt").write_text("mine")
    work.finish()
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["notes.txt"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file/work: cannot be written: Not a directory"):
        begun(str(tmp_path / "file" / "work"))


def test_an_unknown_kind_of_url_is_refused() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(UsageError, match="Protocol not known: nowhere"):
        WorkFolder("nowhere://bucket/work")
