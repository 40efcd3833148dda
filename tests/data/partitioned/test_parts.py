"""Finding parts, and files that are broken, gone or empty."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from sacrecap.data.partitioned import ChosenColumns, batches, find_parts, fingerprint
from sacrecap.errors import DataError, MissingDependencyError, UsageError

fsspec = pytest.importorskip("fsspec")


def table(first: int, count: int) -> pa.Table:
    ids = list(range(first, first + count))
    return pa.table({"image_id": ids, "references": [["a dog"]] * count, "candidate": ["a cat"] * count}, schema=SCHEMA)


SCHEMA = pa.schema([("image_id", pa.int64()), ("references", pa.list_(pa.string())), ("candidate", pa.string())])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten files of ten rows, one of them in a folder, beside files that are not data."""
    folder = tmp_path / "data"
    (folder / "more").mkdir(parents=True)
    for number in range(9):
        parquet.write_table(table(10 * number, 10), folder / f"part-{number}.parquet")
    parquet.write_table(table(90, 10), folder / "more" / "part-9.parquet")
    for other in ("_SUCCESS", ".part-0.parquet.crc", "README.md", "_metadata.parquet"):
        (folder / other).write_text("x")
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "part-0.parquet").write_text("x")
    return folder


def ids(inputs: list[str]) -> list[int]:
    return [
        int(one)
        for part in find_parts(inputs)
        for batch in batches(part, ChosenColumns())
        for one in batch.image_ids.to_pylist()
    ]


def test_files_folders_and_patterns(folder: Path) -> None:
    parts = find_parts([str(folder)])
    assert [os.path.relpath(part.file, folder) for part in parts] == [
        "more/part-9.parquet",
        *(f"part-{number}.parquet" for number in range(9)),
    ]
    assert [part.number for part in parts] == list(range(10))
    assert sorted(ids([str(folder)])) == list(range(100))
    assert ids([f"{folder}/part-[12].parquet"]) == list(range(10, 30))
    assert sorted(ids([f"{folder}/**/*9.parquet"])) == list(range(90, 100))
    # What is found twice counts once, and the order is that of the names.
    twice = [f"{folder}/part-2.parquet", str(folder), f"file://{folder}/part-1.parquet"]
    assert find_parts(twice) == parts


def test_relative_paths_become_absolute(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert [part.file for part in find_parts(["part-1.parquet"])] == [str(folder / "part-1.parquet")]


def test_a_name_with_signs_of_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "rows[1]*.parquet"
    parquet.write_table(table(0, 3), path)
    assert ids([str(path)]) == [0, 1, 2]


def test_a_remote_file_system(folder: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.put(str(folder), "/bucket/data", recursive=True)
    try:
        parts = find_parts(["memory://bucket/data"])
        assert [part.file for part in parts] == [
            "memory://bucket/data/more/part-9.parquet",
            *(f"memory://bucket/data/part-{number}.parquet" for number in range(9)),
        ]
        assert sorted(ids(["memory://bucket/data"])) == list(range(100))
        assert ids(["memory://bucket/data/part-[12].parquet"]) == list(range(10, 30))
        assert ids(["memory://bucket/data/part-3.parquet"]) == list(range(30, 40))
        with pytest.raises(DataError, match="memory://bucket/none.parquet: no such file"):
            find_parts(["memory://bucket/none.parquet"])
        memory.rm("/bucket/data/part-3.parquet")
        with pytest.raises(DataError, match="memory://bucket/data/part-3.parquet: no such file"):
            list(batches(parts[4], ChosenColumns()))
    finally:
        memory.rm("/bucket", recursive=True)


def test_file_systems_that_are_not_there() -> None:
    with pytest.raises(DataError, match="nosuch://bucket/x.parquet: cannot be read: .*nosuch"):
        find_parts(["nosuch://bucket/x.parquet"])
    with pytest.raises(MissingDependencyError, match="adlfs|gdrive|dropbox|install"):
        find_parts(["dropbox://bucket/x.parquet"])


def test_parts_travel_and_have_a_fingerprint(folder: Path) -> None:
    parts = find_parts([str(folder)])
    assert pickle.loads(pickle.dumps(parts)) == parts
    before = fingerprint(parts)
    assert fingerprint(find_parts([str(folder)])) == before
    assert fingerprint(parts[1:]) != before
    parquet.write_table(table(0, 11), folder / "part-0.parquet")
    assert fingerprint(find_parts([str(folder)])) != before


def test_inputs_without_files(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(DataError, match="no input; name files"):
        find_parts([])
    with pytest.raises(DataError, match="none.parquet: no such file; there is no folder|none.parquet: no such file"):
        find_parts([str(tmp_path / "none.parquet")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty: has no files to read; their names end in .parquet"):
        find_parts([str(tmp_path / "empty")])
    with pytest.raises(DataError, match=r"none\*.parquet: has no files"):
        find_parts([f"{folder}/none*.parquet"])
    (folder / "rows.csv").write_text("image_id,references,candidate\n")
    with pytest.raises(DataError, match=r"several formats, 10 of parquet and 1 of csv; choose by a pattern"):
        find_parts([str(folder)])


def test_broken_files_among_many(folder: Path) -> None:
    whole = (folder / "part-3.parquet").read_bytes()
    (folder / "part-3.parquet").write_bytes(whole[:-100])
    with pytest.raises(DataError) as one:
        find_parts([str(folder)])
    assert str(one.value).startswith(f"{folder}/part-3.parquet: not a whole parquet file (")
    assert str(one.value).endswith("); write or download it again")
    (folder / "part-4.parquet").write_bytes(b"")
    (folder / "part-5.parquet").write_bytes(b"no table at all")
    with pytest.raises(DataError, match="3 of 10 files cannot be read: .*part-3.parquet: .*part-4.parquet: .*part-5"):
        find_parts([str(folder)])


def test_a_file_with_a_broken_middle(folder: Path) -> None:
    path = folder / "part-3.parquet"
    parts = find_parts([str(path)])
    data = bytearray(path.read_bytes())
    data[4:40] = bytes(36)
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match="part-3.parquet: not a whole parquet file"):
        list(batches(parts[0], ChosenColumns()))


def test_a_file_that_goes_or_changes_after_listing(folder: Path) -> None:
    parts = find_parts([f"{folder}/part-*"], part_bytes=1)
    (folder / "part-1.parquet").unlink()
    with pytest.raises(DataError, match="part-1.parquet: no such file"):
        list(batches(parts[1], ChosenColumns()))
    parquet.write_table(table(0, 11), folder / "part-2.parquet")
    with pytest.raises(DataError, match="part-2.parquet: has changed since its parts were listed; start again"):
        list(batches(parts[2], ChosenColumns()))
    parquet.write_table(table(0, 0), folder / "part-3.parquet")
    with pytest.raises(DataError, match="part-3.parquet: has changed"):
        list(batches(parts[3], ChosenColumns()))


@pytest.mark.parametrize("format", ["parquet", "arrow", "arrows", "jsonl", "csv"])
def test_empty_partitions(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"rows.{format}"
    if format == "parquet":
        # pandas writes columns without values as columns of null.
        parquet.write_table(pa.table({"image_id": pa.nulls(0), "candidate": pa.nulls(0)}), path)
    elif format in ("arrow", "arrows"):
        with pa.OSFile(str(path), "wb") as file:
            new = pa.ipc.new_file if format == "arrow" else pa.ipc.new_stream
            new(file, SCHEMA).close()
    else:
        path.write_text("")
    (part,) = find_parts([str(path)])
    assert sum(len(batch.image_ids) for batch in batches(part, ChosenColumns())) == 0


def test_damaged_arrow_files(tmp_path: Path) -> None:
    stream = tmp_path / "rows.arrows"
    with pa.OSFile(str(stream), "wb") as file, pa.ipc.new_stream(file, SCHEMA) as writer:
        for first in range(0, 50, 10):
            writer.write_table(table(first, 10))
    data = stream.read_bytes()
    assert ids([str(stream)]) == list(range(50))
    # Where a message ends, too: a stream that is not ended is not whole.
    for size in (len(data) - 8, len(data) - 100, len(data) // 2, 4):
        stream.write_bytes(data[:size])
        with pytest.raises(DataError, match="rows.arrows: not a whole arrow file"):
            ids([str(stream)])
    file_format = tmp_path / "rows.arrow"
    with pa.OSFile(str(file_format), "wb") as file, pa.ipc.new_file(file, SCHEMA) as writer:
        writer.write_table(table(0, 10))
    data = file_format.read_bytes()
    for damaged in (data[:-10], data[: len(data) // 2], b""):
        file_format.write_bytes(damaged)
        with pytest.raises(DataError, match="rows.arrow: (not a whole arrow|the) file"):
            ids([str(file_format)])


def test_formats_without_a_suffix(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    parquet.write_table(table(0, 3), path)
    assert ids([str(path)]) == [0, 1, 2]
    path.write_text('{"image_id": 7, "references": ["a"], "candidate": "b"}\n')
    assert ids([str(path)]) == [7]
    path.write_text("image_id,references,candidate\n8,a,b\n")
    assert ids([str(path)]) == [8]
    path.write_text('[{"image_id": 7}]')
    with pytest.raises(
        UsageError,
        match="rows: is the only file, but not known to hold .*; it has the columns image_id: name those of the two",
    ):
        ids([str(path)])
    path.write_text("\n  \n{\n")
    with pytest.raises(DataError, match="rows: line 4, .* the JSON ends early"):
        ids([str(path)])
    path.write_text('[{"image_id": 9, "references": ["a"], "candidate": "b"}]')
    assert ids([str(path)]) == [9]
    path.write_text('{"5": "a", "6": "b"}')
    with pytest.raises(UsageError, match="rows: is the only file, but not known to hold references and candidates"):
        ids([str(path)])
    path.rename(tmp_path / "rows.jsonl")
    with pytest.raises(DataError, match="rows.jsonl: has the columns 5, 6, and not image_id and candidate and ref"):
        ids([str(tmp_path / "rows.jsonl")])


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'sacrecap\[parquet\]'"):
        find_parts([str(folder)])


def test_without_fsspec_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingDependencyError, match=r"reading afar:// files needs .*'sacrecap\[files\]'"):
        find_parts(["afar://bucket/x.parquet"])
