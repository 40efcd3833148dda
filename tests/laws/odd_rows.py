"""Rows with missing, empty and blank captions, written in every format."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pyarrow.feather
import pyarrow.parquet

import sacrecap

Rows = list[dict[str, Any]]
METRICS = "bleu-4, rouge-l, cider-d"
CAPTIONS: dict[str, str | None] = {
    "1": "a dog runs on the beach",
    "2": "none",
    "3": "",
    "4": None,
    "5": " \t ",
    "6": "nan",
}
REFERENCES: dict[str, list[str | None]] = {
    "1": ["", "a brown dog runs on the beach", "   "],
    "2": ["none of the buses is red", "nan"],
    "3": ["a cat", None, "a cat on a mat"],
    "4": ["a mat", "\u3000", "one mat"],
    "5": [None, "a bus"],
    "6": ["a red bus", "two buses"],
}
LEFT_OUT = r"5 references are empty or missing \(images 1, 3, 4, 5\); left out"
PLAIN = {image: [text for text in texts if text and text.strip()] for image, texts in REFERENCES.items()}


def json_list(rows: Rows, path: Path) -> None:
    path.write_text(json.dumps(rows), encoding="utf-8")


def json_lines(rows: Rows, path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def mapping(rows: Rows, path: Path) -> None:
    captions: dict[str, list[str | None]] = {}
    for row in rows:
        _, own = row.values()
        captions.setdefault(row["image_id"], []).extend(own if isinstance(own, list) else [own])
    path.write_text(json.dumps(captions), encoding="utf-8")


def parquet(rows: Rows, path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def feather(rows: Rows, path: Path) -> None:
    pyarrow.feather.write_feather(pyarrow.Table.from_pylist(rows), str(path), compression="uncompressed")


def arrow_stream(rows: Rows, path: Path) -> None:
    table = pyarrow.Table.from_pylist(rows)
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, 2)


def spreadsheet(rows: Rows, path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
        book.active.append(row)
    book.save(path)


def text_table(rows: Rows, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([list(rows[0]), *(row.values() for row in rows)])


FORMATS: dict[str, Callable[[Rows, Path], None]] = {
    "list.json": json_list,
    "mapping.json": mapping,
    "jsonl": json_lines,
    "parquet": parquet,
    "feather": feather,
    "arrows": arrow_stream,
    "xlsx": spreadsheet,
    "csv": text_table,
}
BY_ROW = [name for name in FORMATS if name not in ("mapping.json", "xlsx", "csv")]
"""Those whose cells may be lists, and that may have several columns."""
PARTED = [name for name in FORMATS if name != "xlsx"]
"""Those that every engine reads."""


def captions_in(format_: str) -> dict[str, str | None]:
    """The captions; a text table takes some words for missing captions, so it has others there, and JSON of single
    captions refuses null.
    """
    words = ("none", "nan") if format_ == "csv" else ()
    captions = {image: f"{text} of it" if text in words else text for image, text in CAPTIONS.items()}
    return {image: text or "" for image, text in captions.items()} if "json" in format_ else captions


def references_in(format_: str) -> dict[str, list[str | None]]:
    """The references, likewise."""
    return {
        image: ["nan of it" if text == "nan" and format_ == "csv" else text for text in texts]
        for image, texts in REFERENCES.items()
    }


def write_both(format_: str, folder: Path, *, lists: bool) -> tuple[str, str]:
    """Files of references, with a list per image or a row per caption, and of captions."""
    about = references_in(format_)
    references: Rows = [{"image_id": image, "captions": texts} for image, texts in about.items()]
    if not lists:
        rows = [(image, text) for image, texts in about.items() for text in texts]
        empty = "" if "json" in format_ else None
        references = [{"image_id": image, "caption": empty if text is None else text} for image, text in rows]
    candidates: Rows = [{"image_id": image, "caption": text} for image, text in captions_in(format_).items()]
    files = folder / f"references.{format_}", folder / f"captions.{format_}"
    for rows, file in zip((references, candidates), files, strict=True):
        FORMATS[format_](rows, file)
    return str(files[0]), str(files[1])


def bits(result: sacrecap.Result) -> object:
    """All that is to be the same."""
    return [(score.value.hex(), score.signature) for score in result.values()], result.to_dict().get("findings")
