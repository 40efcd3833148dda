"""Per-image scores as a data set that is whole or not at all."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from sacrecap.data.partitioned import ImageScores, Part, files
from sacrecap.errors import DataError, UsageError

fsspec = pytest.importorskip("fsspec")


def part(number: int) -> Part:
    return Part(number, "input.parquet", "parquet", number, number + 1, 10, 10)


def file_of(number: int) -> str:
    return ImageScores("").name(part(number))


def write(scores: ImageScores, number: int, values: list[float], system: str | None = None) -> object:
    own = pickle.loads(pickle.dumps(scores)).part(part(number))
    ids = pa.array([f"{number}-{place}" for place in range(len(values))])
    own.add(ids, {"BLEU-4": np.array(values).tobytes(), "CIDEr-D": np.array(values)[::-1].tobytes()}, system)
    return own


@pytest.fixture(params=["local", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty place."""
    if request.param == "local":
        return str(tmp_path / "scores" / "run")
    fsspec.filesystem("memory").store.clear()
    return "memory://bucket/scores"


def names(url: str) -> list[str]:
    return files.names_in(url)


def content(url: str, name: str) -> bytes:
    with fsspec.open(f"{url}/{name}", "rb") as file:
        return file.read()  # type: ignore[no-any-return]


def test_parts_and_a_manifest(url: str) -> None:
    scores = ImageScores(url)
    scores.begin()
    written = []
    for number in (2, 0):
        own = write(scores, number, [0.5, math.nan, 0.25], "a")
        own.add(pa.array(["last"]), {"BLEU-4": np.ones(1).tobytes(), "CIDEr-D": np.zeros(1).tobytes()}, system="b")  # type: ignore[attr-defined]
        assert file_of(number) not in names(url)
        written.append(own.finish())  # type: ignore[attr-defined]
    written.append(scores.part(part(1)).finish())
    assert "_manifest.json" not in names(url)
    scores.finish({"version": "1", "signatures": ["s"]}, written)
    assert names(url) == ["_manifest.json", *sorted([file_of(0), file_of(2)])]
    manifest = json.loads(content(url, "_manifest.json"))
    assert {name: manifest[name] for name in ("version", "signatures", "rows")} == {
        "version": "1",
        "signatures": ["s"],
        "rows": 8,
    }
    for own in manifest["files"]:
        data = content(url, own["file"])
        assert (own["rows"], own["bytes"], own["sha256"]) == (4, len(data), hashlib.sha256(data).hexdigest())
    table = parquet.read_table(pa.BufferReader(content(url, file_of(2))))
    assert table.to_pydict() == {
        "image_id": ["2-0", "2-1", "2-2", "last"],
        "system": ["a", "a", "a", "b"],
        "BLEU-4": [0.5, None, 0.25, 1.0],
        "CIDEr-D": [0.25, None, 0.5, 0.0],
    }


def test_many_rows_make_few_row_groups(tmp_path: Path) -> None:
    own = ImageScores(str(tmp_path)).part(part(0))
    for start in range(0, 200_000, 10_000):
        own.add(pa.array([str(n) for n in range(start, start + 10_000)]), {"m": np.arange(10_000.0).tobytes()})
    own.finish()
    file = parquet.ParquetFile(tmp_path / file_of(0))
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [140_000, 60_000]
    assert file.read().column("m").to_numpy().sum() == np.arange(10_000.0).sum() * 20


def test_a_part_that_fails_leaves_nothing(url: str) -> None:
    from sacrecap.data.partitioned import image_scores

    scores = ImageScores(url)
    scores.begin()
    with pytest.raises(KeyboardInterrupt), write(scores, 0, [1.0] * (image_scores._ROWS + 1)):  # type: ignore[attr-defined]
        raise KeyboardInterrupt
    assert names(url) == ["_unfinished"]
    # A part that is done again takes the place of what was written before.
    write(scores, 0, [1.0]).finish()  # type: ignore[attr-defined]
    done = write(scores, 0, [2.0, 3.0]).finish()  # type: ignore[attr-defined]
    # What a worker leaves that is killed, and what one wrote whose result was lost, go in the end.
    with fsspec.open(f"{url}/.part-00001.parquet.0123456789ab", "wb") as file:
        file.write(b"half")
    write(scores, 2, [1.0]).finish()  # type: ignore[attr-defined]
    scores.finish({}, [done])
    assert names(url) == ["_manifest.json", file_of(0)]
    assert json.loads(content(url, "_manifest.json"))["rows"] == 2


def test_a_file_that_is_gone(url: str) -> None:
    scores = ImageScores(url)
    scores.begin()
    written = [write(scores, number, [1.0]).finish() for number in (0, 1)]  # type: ignore[attr-defined]
    files.remove(f"{url}/{file_of(1)}")
    with pytest.raises(DataError, match=rf"{file_of(1)}: was written and is gone"):
        scores.finish({}, written)
    assert "_manifest.json" not in names(url)


def test_folders_that_have_something(url: str, tmp_path: Path) -> None:
    scores = ImageScores(url)
    scores.begin()
    scores.begin()  # nothing was written yet
    done = write(scores, 0, [1.0]).finish()  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="of a run that was cut off; go on with resume=True"):
        scores.begin()
    scores.begin(resume=True)
    scores.finish({}, [done])
    for resume in (False, True):
        with pytest.raises(UsageError, match="of a run that is finished; choose another folder"):
            scores.begin(resume=resume)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("x")
    with pytest.raises(UsageError, match="mine: has other files, as notes.txt; choose an empty folder"):
        ImageScores(str(tmp_path / "mine")).begin()
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="file"):
        ImageScores(str(tmp_path / "file")).begin()
