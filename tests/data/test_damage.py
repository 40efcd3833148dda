"""Files of each shape with random damage are read, or refused with one sentence: never a traceback of another error."""

from __future__ import annotations

import gzip
import io
import warnings
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_shapes import FILES

from sacrecap.data import read_candidates, read_references
from sacrecap.errors import SacrecapError


def parquet() -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    rows = {"image": [{"bytes": b"x", "path": "a.jpg"}], "caption": [["a", "b"]]}
    parquet.write_table(pyarrow.table(rows), file)
    return file.getvalue()


def sheet() -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in (["index", "prediction"], [1, "a dog"]):
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as inside:
        inside.writestr("a.json", b"{}")
    return file.getvalue()


BYTES = {
    **{case: content.encode() for case, (_, content, _) in FILES.items()},
    "gzip": gzip.compress(b'{"1": "a"}'),
    "zip": archive(),
}

Damage = list[tuple[float, str, bytes]]
DAMAGE = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.sampled_from(["cut", "drop", "insert", "change"]),
        st.sampled_from([b'"', *(bytes([byte]) for byte in b"[]{},\t|\n:\0\xff5-"), b"", b"null"]),
    ),
    min_size=1,
    max_size=3,
)


def damaged(data: bytes, damage: Damage) -> bytes:
    for share, kind, piece in damage:
        place = int(share * len(data))
        after = {"cut": b"", "drop": data[place + 1 :], "insert": data[place:], "change": data[place + len(piece) :]}
        data = data[:place] + (piece if kind in ("insert", "change") else b"") + after[kind]
    return data


few = settings(
    max_examples=max(settings.default.max_examples // 3, 5), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
"""Of each of many shapes."""

READ = [{}, {"caption_column": "caption"}, {"split": "test"}, {"image_ids": "number"}]


def read_both(path: Path, options: dict[str, str]) -> None:
    for read in (read_references, read_candidates):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(path, **options)  # type: ignore[arg-type]
        except SacrecapError as error:
            assert str(error).startswith(str(path)), "the file is named"


@pytest.mark.parametrize("case", BYTES)
@given(damage=DAMAGE, options=st.sampled_from(READ))
@few
def test_damaged_files(
    case: str, damage: list[tuple[float, str, bytes]], options: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(damaged(BYTES[case], damage))
    read_both(path, options)


@pytest.mark.parametrize("make", [parquet, sheet])
@given(damage=DAMAGE, options=st.sampled_from(READ))
@few
def test_damaged_tables(make, damage: Damage, options: dict[str, str], tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "file"
    path.write_bytes(damaged(make(), damage))
    read_both(path, options)
