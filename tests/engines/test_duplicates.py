"""Ids that come several times are found by their hashes, and told by their places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet

from sacrecap.data.partitioned import ChosenColumns, batches, find_parts
from sacrecap.engines import duplicates
from sacrecap.engines.stream import StreamEngine
from sacrecap.errors import DataError


def check(folder: Path, files: list[list[int]], monkeypatch: pytest.MonkeyPatch, shards: int = 1) -> None:
    folder.mkdir(exist_ok=True)
    for number, ids in enumerate(files):
        parquet.write_table(pa.table({"image_id": ids, "candidate": ["x"] * len(ids)}), folder / f"{number}.parquet")
    parts = find_parts([str(folder)])
    monkeypatch.setattr(duplicates, "_SHARD_BYTES", sum(part.bytes for part in parts) // shards + 1)
    engine, shuffle = StreamEngine(), duplicates.shuffle_of_ids(parts)

    def read(part: Any) -> Any:
        return batches(part, ChosenColumns(references=None), rows=64)

    def keys(part: Any) -> Any:
        keys = [duplicates._core.image_keys(batch.image_ids) for batch in read(part)]
        return [None, *duplicates.split_keys(keys, shuffle.shards)]

    list(engine.map(keys, parts, shuffle=shuffle))
    duplicates.check_duplicates(engine, read, parts, (told for told, _ in engine.gather(shuffle)))


@pytest.mark.parametrize("shards", [1, 5])
def test_over_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: int) -> None:
    with pytest.raises(DataError) as error:
        check(tmp_path, [[*range(500)], [*range(500, 900), 17], [1000, 3, 17, 1000]], monkeypatch, shards)
    assert str(error.value).startswith(
        "the input has 3 images (3, 17, 1000) several times: 3 in "
        f"{tmp_path}/0.parquet, row 4 and {tmp_path}/2.parquet, row 2; "
    )


def test_one_very_often_many_twice_and_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    often = r"1 image \(7\) several times: 7 in .*, row 1 and .*, row 2 and 1,998 more rows;"
    with pytest.raises(DataError, match=often):
        check(tmp_path, [[7] * 1_000, [7] * 1_000, []], monkeypatch)
    with pytest.raises(DataError, match=r"the input has 900 images \(10, 11, .*\) several times"):
        check(tmp_path, [[*range(900)], [*range(900)], [*range(2_000, 3_000)]], monkeypatch, 3)
    check(tmp_path, [[*range(100)], [], [*range(100, 200)]], monkeypatch)


def test_different_ids_of_one_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are no error; a true duplicate among them is."""

    def ten(ids: Any) -> bytes:
        return np.array([int(image) % 10 for image in ids.to_pylist()], dtype="<u8").tobytes()

    monkeypatch.setattr(duplicates, "_core", type("Core", (), {"image_keys": staticmethod(ten)}))
    check(tmp_path, [[*range(30)], [*range(30, 50)]], monkeypatch)
    with pytest.raises(DataError, match=r"1 image \(12\) several times"):
        check(tmp_path, [[*range(30)], [*range(30, 50), 12]], monkeypatch)
