"""Batches of every format against a slow reader that makes a dictionary of each row."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from sacrecap.data.cells import WORDS
from sacrecap.data.partitioned import Batch, ChosenColumns, batches, find_parts
from sacrecap.data.partitioned import text as texts
from sacrecap.errors import DataError, DataWarning

FORMATS = ("parquet", "feather", "arrows", "jsonl", "csv")
Row = dict[str, Any]


def rows_of(seed: int, count: int = 500, *, nulls: bool) -> list[Row]:
    """Random rows, some of which cannot be used."""
    chance = random.Random(seed)

    def text() -> str:
        words = [
            chance.choice(["a", "dog", "né", "狗", '"quoted"', "tab\there", "line\nend", "x,y", "🐕"]) for _ in range(9)
        ]
        odd = chance.random()
        if odd < 0.02:
            return chance.choice(["", " nan ", "None", "\x01 bad", "del\x7f", "w" * 100_001])
        return "caption " + " ".join(words)

    rows: list[Row] = []
    for number in range(count):
        row: Row = {
            "other": chance.random(),
            "references": [text() for _ in range(chance.choice([0, 1, 2, 5, 5, 5]))],
            "image_id": f"image-{number}",
            "candidate": text(),
        }
        if nulls and chance.random() < 0.05:
            row[chance.choice(["references", "image_id", "candidate"])] = None
        rows.append(row)
    return rows


def write(path: Path, rows: list[Row]) -> None:
    """Writes the rows in the format that the suffix tells."""
    suffix = path.suffixes[0]
    table = pa.Table.from_pylist(
        rows,
        schema=pa.schema(
            [
                ("other", pa.float64()),
                ("references", pa.list_(pa.string())),
                ("image_id", pa.string()),
                ("candidate", pa.string()),
            ]
        ),
    )
    if suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=70)
    elif suffix == ".feather":
        feather.write_feather(table, str(path), compression="lz4", chunksize=70)
    elif suffix == ".arrows":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, 70)
    elif suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            wide = [{**row, **{f"ref_{n}": one for n, one in enumerate(row["references"])}} for row in rows]
            writer = csv.DictWriter(
                file, ["image_id", "candidate", *(f"ref_{n}" for n in range(5))], extrasaction="ignore", restval=""
            )
            writer.writeheader()
            writer.writerows(wide)


def expected(rows: list[Row], *, words: tuple[str, ...]) -> dict[str, tuple[list[str], str]]:
    """What can be used: references and candidate by image id, row by row."""
    good = {}
    for row in rows:
        image, references, candidate = row["image_id"], row["references"], row["candidate"]
        if image is None:
            continue
        candidate = candidate or ""
        references = [one for one in references or [] if one.strip().lower() not in (words or ("",))]
        candidate = "" if candidate.strip().lower() in words else candidate
        texts = [*references, candidate]
        if any(len(one.encode()) > 100_000 or "\x01" in one or "\x7f" in one for one in texts) or not references:
            continue
        good[image] = (references, candidate)
    return good


def read(path: Path, columns: ChosenColumns, **options: Any) -> list[Batch]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return [batch for part in find_parts([str(path)], **options) for batch in batches(part, columns, rows=64)]


def got(found: list[Batch]) -> dict[str, tuple[list[str], str]]:
    return {
        image: (described, caption)
        for batch in found
        for image, described, caption in zip(
            batch.image_ids.to_pylist(),
            batch.references.to_pylist() if batch.references is not None else [],
            batch.captions[0].to_pylist(),
            strict=True,
        )
    }


def columns_of(path: Path) -> ChosenColumns:
    return ChosenColumns(references="ref_*") if ".csv" in path.name else ChosenColumns()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(2))
def test_rows_and_bad_rows_are_those_of_a_slow_reader(
    tmp_path: Path, format: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "_BLOCK", 250_000)  # the texts of some rows are 100,001 bytes long
    rows = rows_of(seed, nulls=format != "csv")
    path = tmp_path / f"rows.{format}"
    write(path, rows)
    found = read(path, columns_of(path), part_bytes=1 << 30 if format == "jsonl" else 10_000)
    assert len(found) > 2
    good = expected(rows, words=WORDS if format == "csv" else ())
    assert got(found) == good
    # Each row is in one batch or is bad, and their numbers say where it is in the file.
    for batch in found:
        for number, image in zip(batch.rows, batch.image_ids.to_pylist(), strict=True):
            assert rows[number - 1]["image_id"] == image
        assert [one.row for one in batch.bad] == sorted(one.row for one in batch.bad)
    bad = {one.row: one for batch in found for one in batch.bad}
    assert sorted(bad) == [n for n, row in enumerate(rows, 1) if row["image_id"] not in good]
    for number, one in bad.items():
        assert one.file == str(path)
        assert one.image_id == rows[number - 1]["image_id"]
        assert len(one.reason) < 200


@pytest.mark.parametrize("format", ["parquet", "feather"])
def test_parts_cover_a_file_once(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"rows.{format}"
    write(path, rows_of(0, nulls=True))
    parts = find_parts([str(path)], part_bytes=1)
    assert len(parts) == 8
    assert [part.number for part in parts] == list(range(8))
    assert sum(part.rows or 0 for part in parts) == 500
    assert [(part.first, part.end, part.before) for part in parts] == [(n, n + 1, 70 * n) for n in range(8)]
    assert [(part.first, part.end) for part in find_parts([str(path)])] == [(0, 8)]


ROW = '{"image_id": %s, "references": ["a dog", "-%s"], "candidate": "a cat"}'
LINES = [ROW % (number, "x" * (7 * number % 40)) for number in range(12)]
FILES = {
    "plain": "\n".join(LINES) + "\n",
    "no end": "\n".join(LINES),
    "marked": "\ufeff" + "\n".join(LINES),
    "blank lines": "\n\n" + "\n\n \n".join(LINES) + "\n\n\n",
    "carriage returns": "\r\n".join(LINES) + "\r\n",
    "even lines": "".join(f"{ROW % (number, ''):<74}\n" for number in range(12)),  # two of them are a block of 150
    "a long line": "\n".join([*LINES[:3], ROW % (77, "y" * 900), *LINES[3:]]),
    "bad rows": "\n".join([*LINES[:4], "[1]", *LINES[4:8], "{", ROW.replace('"a cat"', "5") % (5, ""), *LINES[8:]]),
}


@pytest.mark.parametrize("block", [150, 4 << 20])
@pytest.mark.parametrize("name", FILES)
def test_json_lines_are_cut_at_any_byte(tmp_path: Path, name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line is in one part: the one that it begins in. Numbers of rows are those in the file."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(FILES[name].encode())
    size = path.stat().st_size
    [part] = find_parts([str(path)])
    whole = list(batches(part, ChosenColumns()))
    expected = [pair for batch in whole for pair in zip(batch.rows, batch.image_ids.to_pylist(), strict=True)]
    wrong = [row for batch in whole for row in batch.bad]
    assert len(expected) >= 12
    assert len(wrong) == (3 if name == "bad rows" else 0)
    monkeypatch.setattr(texts, "_BLOCK", block)
    ends = [41, size]  # where the file is one block, its parts alone decide
    if block < size:
        # 17 cuts lines of every length at every place.
        ends = [17, 93, size - 1, size + 1]
    for part_bytes in ends:
        parts = find_parts([str(path)], part_bytes=part_bytes)
        assert len(parts) == max(-(-size // part_bytes), 1)
        assert sum(part.bytes for part in parts) == size
        found, bad = [], []
        for part in parts:
            for batch in batches(part, ChosenColumns()):
                rows = texts.rows_before(part) + batch.rows
                found += zip(rows, batch.image_ids.to_pylist(), strict=True)
                bad += batch.bad
        assert found == expected, part_bytes
        assert bad == wrong, part_bytes


def test_rows_that_are_left_out_have_their_numbers_in_the_file(tmp_path: Path) -> None:
    """Also where nobody saw what is wrong with them as the part was read."""
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f'{{"image_id": {n}, "references": ["a", ""], "caption": "b"}}\n' for n in range(1, 61)))
    last = find_parts([str(path)], part_bytes=1_000)[-1]
    with pytest.warns(DataWarning, match="left out") as told:
        [batch] = batches(last, ChosenColumns())
    first = batch.image_ids[0].as_py()
    assert f"(rows {first}, " in str(told[0].message)
    assert [(one.row, one.image_id) for one in batch.without({0: "it is bad"}, last).bad] == [(int(first), first)]


def test_parts_of_json_lines_have_the_columns_of_the_file(tmp_path: Path) -> None:
    """Later lines may have others, which would be chosen if they stood in a file of their own."""
    path = tmp_path / "rows.jsonl"
    early = [{"image_id": n, "references": ["a dog"], "caption": "a cat"} for n in range(60)]
    late = [{**row, "image_id": 60 + n, "candidate": "another"} for n, row in enumerate(early)]
    path.write_text("".join(json.dumps(row) + "\n" for row in [*early, *late]))
    [whole], parts = find_parts([str(path)]), find_parts([str(path)], part_bytes=1_500)
    assert len(parts) > 4
    assert str(parts[1]) == f"{path} (bytes 1,501 to 3,000)"
    [once] = batches(whole, ChosenColumns())
    cut = [batch for part in parts for batch in batches(part, ChosenColumns())]
    assert [one for batch in cut for one in batch.captions[0].to_pylist()] == once.captions[0].to_pylist()


def test_json_lines_that_are_compressed_are_not_cut(tmp_path: Path) -> None:
    for name in ("rows.jsonl.gz", "rows.jsonl"):
        (tmp_path / name).write_bytes(gzip.compress(FILES["plain"].encode()))
        assert len(find_parts([str(tmp_path / name)], part_bytes=10)) == 1


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize("format", ["jsonl", "csv", "arrows"])
def test_compressed_files(tmp_path: Path, suffix: str, format: str) -> None:
    rows = rows_of(1, 150, nulls=False)
    plain = tmp_path / f"rows.{format}"
    write(plain, rows)
    data = plain.read_bytes()
    compress: dict[str, Callable[[bytes], bytes]] = {
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "xz": lzma.compress,
        "zst": lambda own: pa.compress(own, "zstd", asbytes=True),
    }
    whole = compress[suffix](data)
    path = tmp_path / f"rows.{format}.{suffix}"
    path.write_bytes(whole)
    assert got(read(path, columns_of(path))) == got(read(plain, columns_of(plain)))
    path.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(DataError, match=f"rows.{format}.{suffix}: .*write or download"):
        read(path, columns_of(path))


TYPES: list[tuple[pa.DataType, list[Any], list[str]]] = [
    (pa.int64(), [5, 6], ["5", "6"]),
    (pa.uint8(), [5, 6], ["5", "6"]),
    (pa.float64(), [5.0, 6.0], ["5", "6"]),
    (pa.large_string(), ["a", "b"], ["a", "b"]),
    (pa.binary(), [b"a", b"b"], ["a", "b"]),
    (pa.dictionary(pa.int32(), pa.string()), ["a", "b"], ["a", "b"]),
]


@pytest.mark.parametrize(("type", "values", "texts"), TYPES)
def test_ids_of_many_types_are_compared_as_text(
    tmp_path: Path, type: pa.DataType, values: list[Any], texts: list[str]
) -> None:
    path = tmp_path / "ids.parquet"
    table = pa.table({"image_id": pa.array(values, type), "references": [["x"], ["y"]], "candidate": ["one", "two"]})
    parquet.write_table(table, path)
    assert list(got(read(path, ChosenColumns()))) == texts


@pytest.mark.parametrize(
    "type",
    [
        pa.list_(pa.string()),
        pa.large_list(pa.large_string()),
        pa.list_(pa.string(), 2),
        pa.list_(pa.binary()),
        pa.list_view(pa.string()),
    ],
)
def test_lists_of_many_types(tmp_path: Path, type: pa.DataType) -> None:
    path = tmp_path / "lists.arrow"
    values = pa.array([["one", "two"], ["three", "four"], ["five", "six"]], type)
    table = pa.table({"image_id": ["a", "b", "c"], "references": values, "candidate": values})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    part = find_parts([str(path)])[0]
    found = list(batches(part, ChosenColumns(), rows=2))
    both = [own for batch in found for own in (batch.references.to_pylist(), batch.captions[0].to_pylist())]  # type: ignore[union-attr]
    assert both == [[["one", "two"], ["three", "four"]]] * 2 + [[["five", "six"]]] * 2


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"image_id": pa.array([True]), "references": [["x"]], "candidate": ["y"]},
            "column image_id is of type bool; image ids",
        ),
        (
            {"image_id": [1], "references": [[5]], "candidate": ["y"]},
            "column references is of type int64; references must be",
        ),
        (
            {"image_id": [1], "references": [["x"]], "candidate": [5]},
            "column candidate is of type int64; captions must be",
        ),
        (
            {"image_id": [1], "references": [["x"]]},
            "columns image_id, references, and not candidate; name .* caption_col",
        ),
        ({"pictured": [1], "candidate": ["x"]}, "and not image_id and references; name others by id_column and ref"),
    ],
)
def test_wrong_types_and_missing_columns_name_file_and_column(tmp_path: Path, columns: Any, said: str) -> None:
    path = tmp_path / "wrong.parquet"
    parquet.write_table(pa.table(columns), path)
    with pytest.raises(DataError, match=f"{path}: .*{said}"):
        read(path, ChosenColumns())


def test_other_names_that_columns_have(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"id": [1], "reference": ["x y"], "prediction": ["z"]}), path)
    assert got(read(path, ChosenColumns())) == {"1": (["x y"], "z")}


def test_references_and_captions_of_several_columns_and_systems(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = pa.table(
        {"image_id": [1, 2], "r_0": ["a", "b"], "r_1": [None, "c"], "one": ["x", "y"], "two": [["u", None], [""]]}
    )
    parquet.write_table(table, path)
    (batch,) = batches(find_parts([str(path)])[0], ChosenColumns(references="r_*", captions=("one", "two")))
    assert batch.references.to_pylist() == [["a"], ["b", "c"]]  # type: ignore[union-attr]
    assert [own.to_pylist() for own in batch.captions] == [["x", "y"], [["u", ""], [""]]]


def test_without_references(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"image_id": [1], "candidate": ["x"]}), path)
    (batch,) = read(path, ChosenColumns(references=None))
    assert batch.references is None
    assert batch.captions[0].to_pylist() == ["x"]


SURROGATE = (
    "candidate is not text: the escape \\ud800 is half a surrogate pair; write the whole character, or mend the text "
    'in Python with text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")'
)


def test_json_lines_that_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    good = {"image_id": 1, "references": ["a"], "candidate": "b"}

    def line(**other: Any) -> bytes:
        return json.dumps({**good, **other}).encode()

    lines = [
        line(),
        b"",
        line(image_id=2)[:-5],
        b"[1]",
        line(image_id="3"),
        line(image_id=4, candidate=5),
        b"\xff\xfe",
        line(image_id=2.5),
        line(image_id=6, references="only one"),
        line(image_id=7, references=None),
        b'{"image_id": 8, "references": ["a"]}',
        line(image_id=9, candidate="\ud800 half"),
        line(image_id=True),
        line(image_id=10, references=["a", None]),
        line(image_id=11),
    ]
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    found = read(path, ChosenColumns())
    one = (["a"], "b")
    assert got(found) == {"1": one, "3": one, "6": (["only one"], "b"), "8": (["a"], ""), "10": one, "11": one}
    assert [number for batch in found for number in batch.rows] == [1, 5, 9, 11, 14, 15]
    bad = [one for batch in found for one in batch.bad]
    assert [(one.row, one.image_id, one.reason.partition(" (")[0]) for one in bad] == [
        (3, None, "not a row of JSON"),
        (4, None, "is a list, where the others are objects"),
        (6, "4", "candidate is the number 5; captions must be strings"),
        (7, None, "not UTF-8; convert the file to UTF-8"),
        (8, None, "image_id is the number 2.5; image ids must be strings or whole numbers"),
        (10, "7", "references has no reference; add references, or remove the row"),
        (12, "9", SURROGATE),
        (13, None, "image_id is true; image ids must be strings or whole numbers"),
    ]


def test_text_tables_with_rows_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    text = '\n image_id \treferences\tcandidate\n1\ta\tb\n\n2\ta\n3\t"a\nb"\tc\n4\ta\tb\tc\n5\ta\tb\n6\n'
    path.write_text(text, encoding="utf-8")
    found = read(path, ChosenColumns())
    assert got(found) == {"1": (["a"], "b"), "3": (["a\nb"], "c"), "5": (["a"], "b")}
    assert [number for batch in found for number in batch.rows] == [1, 3, 5]
    assert [(one.row, one.reason[:40]) for batch in found for one in batch.bad] == [
        (2, "has 2 fields where the header has 3; put"),
        (4, "has 4 fields where the header has 3; put"),
        (6, "has 1 fields where the header has 3; put"),
    ]


def test_rows_that_do_not_fit_are_numbered_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_BLOCK", 200)
    path = tmp_path / "rows.csv"
    bad = {1, 2, 50, 51, 52, 99, 300}
    rows = [f"{n},a b c" if n in bad else f"{n},a b c,d" for n in range(1, 301)]
    path.write_text("\n".join(["image_id,references,candidate", *rows]), encoding="utf-8")
    found = read(path, ChosenColumns())
    assert len(found) > 5
    numbers = [
        (number, image)
        for batch in found
        for number, image in zip(batch.rows, batch.image_ids.to_pylist(), strict=True)
    ]
    assert numbers == [(n, str(n)) for n in range(1, 301) if n not in bad]
    assert [one.row for batch in found for one in batch.bad] == sorted(bad)
    # Bad rows come with the batch that follows them, not all in the end.
    assert sum(bool(batch.bad) for batch in found) > 2


def test_tables_with_bars_have_no_quotes(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('image_id| references| candidate\n1| a "b| c\n', encoding="utf-8")
    assert got(read(path, ChosenColumns())) == {"1": (['a "b'], "c")}


@pytest.mark.parametrize("rows", [2, 1_000_000])
@pytest.mark.parametrize("open_one", ['1,"a,b', '1,a,"b'])
def test_a_quote_that_is_not_closed(tmp_path: Path, rows: int, open_one: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"image_id,references,candidate\n{open_one}\n" + "2,a,b\n" * rows, encoding="utf-8")
    with pytest.raises(DataError, match="rows.csv: .*double quote"):
        read(path, ChosenColumns())


def test_a_quote_inside_a_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('image_id,references,candidate\n1,"a\nb",c\n2,a 5" dog,b\n', encoding="utf-8")
    assert got(read(path, ChosenColumns())) == {"1": (["a\nb"], "c"), "2": (['a 5" dog'], "b")}


def test_text_that_is_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    binary = pa.array([b"fine", "né".encode("latin-1"), "né".encode()])
    table = pa.table({"image_id": ["a", "b", "c"], "references": [["x"]] * 3, "candidate": binary.view(pa.string())})
    parquet.write_table(table, path)
    (batch,) = read(path, ChosenColumns())
    assert batch.captions[0].to_pylist() == ["fine", "né"]
    assert [str(one) for one in batch.bad] == [
        (
            f"{path}: row 2 (image b): candidate: not UTF-8; convert the file to UTF-8, "
            'or take engine="local" with encoding="cp1252"'
        )
    ]


def test_the_reader_ends_with_its_consumer(tmp_path: Path) -> None:
    import threading

    path = tmp_path / "rows.parquet"
    write(path, rows_of(0, nulls=False))
    before = threading.active_count()
    running = batches(find_parts([str(path)])[0], ChosenColumns(), rows=10)
    next(running)
    running.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
