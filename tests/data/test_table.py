"""Parquet and Arrow files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from sacrecap.data import read_candidates, read_caption_sets, read_references
from sacrecap.errors import DataError, MissingDependencyError, UsageError

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import feather, parquet

ROWS: dict[str, list[Any]] = {"image_id": [1, 2, 2], "caption": ["a", "b", "ç"], "other": [0.5, 0.5, None]}
SETS: dict[str, list[Any]] = {"image_id": ["1", "2"], "captions": [["a"], ["b", "ç"]]}
WHOLE = {"1": ["a"], "2": ["b", "ç"]}


def write(path: Path, columns: dict[str, list[Any]], form: str) -> Path:
    table = pyarrow.table(columns)
    if form == "parquet":
        parquet.write_table(table, path, row_group_size=2)
    elif form == "feather":
        feather.write_feather(table, path, chunksize=2)
    else:
        with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table, max_chunksize=2)
    return path


@pytest.mark.parametrize("columns", [ROWS, SETS], ids=["rows", "sets"])
@pytest.mark.parametrize("form", ["parquet", "feather", "stream"])
def test_tables_are_recognised_by_their_first_bytes(tmp_path: Path, form: str, columns: dict[str, list[Any]]) -> None:
    path = write(tmp_path / "refs", columns, form)
    assert read_references(path).to_dict() == WHOLE
    assert read_caption_sets(path, format="parquet" if form == "parquet" else "arrow").to_dict() == WHOLE


def test_a_column_without_a_name_is_called_by_its_place(tmp_path: Path) -> None:
    """pandas writes its index so, which may be the image ids."""
    path = tmp_path / "refs.csv"
    path.write_text(",caption\n7,a dog\n9,a cat\n", "utf-8")
    with pytest.raises(DataError, match="has the columns Unnamed: 0, caption, of which none is known to hold image"):
        read_candidates(path)
    assert read_candidates(path, id_column="Unnamed: 0").to_dict() == {"7": ["a dog"], "9": ["a cat"]}


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"no": [1], "caption": ["a"]},
            "has the columns no, caption, of which none is known to hold image ids; name it by id_column",
        ),
        (
            {"image_id": [1]},
            "has the columns image_id, of which none is known to hold references; name it by caption_column",
        ),
        ({"image_id": [1, None], "caption": ["a", "b"]}, "the image id of row 2 is None; image ids must be strings or"),
        ({"image_id": [1.5], "caption": ["a"]}, "the image id of row 1 is the number 1.5; image ids must be strings"),
        ({"image_id": [7], "caption": [5]}, "the caption of image 7 is of type int; it must be a string or a list"),
        ({"image_id": [7], "captions": [[5]]}, "the caption of image 7 is of type int; captions must be strings"),
    ],
)
def test_a_table_of_something_else_is_told(tmp_path: Path, columns: dict[str, list[Any]], sentence: str) -> None:
    path = write(tmp_path / "refs.parquet", columns, "parquet")
    with pytest.raises(DataError) as raised:
        read_references(path)
    assert str(raised.value).startswith(f"{path}: {sentence}")


def test_broken_tables(tmp_path: Path) -> None:
    path = tmp_path / "refs"
    for form in ("parquet", "feather", "stream"):
        data = write(path, ROWS, form).read_bytes()
        for end in (8, len(data) // 2):
            path.write_bytes(data[:end])
            with pytest.raises(
                DataError, match=r"refs: not a whole (parquet|arrow) file \(.*\); write or download it again$"
            ):
                read_references(path)


def test_candidates_and_splits(tmp_path: Path) -> None:
    path = write(tmp_path / "refs", ROWS, "parquet")
    with pytest.raises(DataError, match="refs: 1 image has more than one candidate: 2; keep one for each image, or"):
        read_candidates(path)
    with pytest.raises(UsageError, match="refs: has no column split, and so no splits; leave the split out"):
        read_references(path, split="test")


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "refs", ROWS, "parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError) as raised:
        read_references(path)
    assert str(raised.value) == (
        "reading Parquet and Arrow files needs the extra 'parquet': pip install 'sacrecap[parquet]'"
    )
    assert raised.value.extra == "parquet"
