"""Whatever the captions, they come back; whatever the bytes, only errors of the tree."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
import warnings
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sacrecap._core import Captions
from sacrecap.data import WRITTEN_FORMATS, read_references, write_candidates
from sacrecap.data.captions import FORMATS, CaptionFile
from sacrecap.data.cells import is_missing, unwritten
from sacrecap.data.recognise import recognised
from sacrecap.data.source import Reading
from sacrecap.data.unpack import Content
from sacrecap.errors import SacrecapError


def is_no_list(text: str) -> bool:
    """Whether a text is taken as it is, and not for a list, a tuple, a set, bytes or an array that a program wrote."""
    return text.lstrip()[:1] not in ("[", "(", "{") and not text.lstrip().startswith(("b'", 'b"', "array("))


texts = st.text(st.characters(exclude_categories=["Cs"])).filter(is_no_list)
"""Texts that are no lists as text."""
ids = texts.filter(lambda text: text.strip()) | st.integers().map(str)
references = st.dictionaries(ids, st.lists(texts, min_size=1), min_size=1)


def rows(refs: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(image, caption) for image, captions in refs.items() for caption in captions]


def table(refs: dict[str, list[str]], delimiter: str) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows([("image_id", "caption"), *rows(refs)])
    return file.getvalue()


def parsed(data: bytes, format: str | None = None) -> dict[str, list[str]]:
    """The captions in the bytes of a file, each as it stands there."""
    reading = Reading(format, separator="none")
    return CaptionFile("file", reading, contents={"file": Content("file", data)}).captions("sets").to_dict()


def as_a_cell(text: str) -> str:
    """What a table of text says by this: words for nothing are nothing."""
    return "" if is_missing(text, words=True) else text


WRITERS: dict[str, Callable[[dict[str, list[str]]], str]] = {
    "coco": lambda refs: json.dumps(
        {"annotations": [{"caption": c, "image_id": i} for i, c in rows(refs)], "images": [{"id": i} for i in refs]}
    ),
    "karpathy": lambda refs: json.dumps(
        {"images": [{"sentences": [{"raw": c} for c in cs], "filename": i} for i, cs in refs.items()]}
    ),
    "list": lambda refs: json.dumps([{"image_id": i, "captions": c} for i, c in refs.items()], ensure_ascii=False),
    "mapping": json.dumps,
    "jsonl": lambda refs: "\n".join(json.dumps({"image_id": i, "caption": c}) for i, c in rows(refs)),
    "csv": lambda refs: table(refs, ","),
    "tsv": lambda refs: table(refs, "\t"),
}


def looks_like_rows(text: str) -> bool:
    """Whether a quoted field with this text holds what may be further rows of tabs, which is refused."""
    return "\t" in text and ("\n" in text or "\r" in text)


@pytest.mark.parametrize("format", WRITERS)
@given(refs=references)
def test_captions_come_back_from_every_format(format: str, refs: dict[str, list[str]]) -> None:
    assume(format != "tsv" or not any(map(looks_like_rows, [*refs, *chain.from_iterable(refs.values())])))
    data = WRITERS[format](refs).encode()
    if format in ("csv", "tsv"):
        refs = {image: [*map(as_a_cell, texts)] for image, texts in refs.items()}
    assert parsed(data, format) == refs
    if format != "mapping":
        assert parsed(data) == refs


lines = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n")).filter(is_no_list)
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\t")).filter(str.strip)


@given(refs=st.dictionaries(names, st.lists(lines, min_size=1), min_size=1))
def test_captions_come_back_from_token_files(refs: dict[str, list[str]]) -> None:
    data = "".join(f"{image}#{n}\t{c}\n" for n, (image, c) in enumerate(rows(refs))).encode()
    assert parsed(data, "flickr") == refs


@given(refs=st.dictionaries(ids, st.lists(texts)))
def test_dictionaries_come_back(refs: dict[str, list[str]]) -> None:
    captions = Captions.from_dict(refs)
    assert captions.to_dict() == refs
    assert {image: captions.captions(image) for image in captions.image_ids} == refs


@pytest.mark.parametrize("format", WRITTEN_FORMATS)
@given(candidates=st.dictionaries(ids, texts, min_size=1))
def test_written_candidates_come_back(format: str, candidates: dict[str, str]) -> None:
    assume(format != "tsv" or not any(map(looks_like_rows, [*candidates, *candidates.values()])))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "out")
        write_candidates(path, candidates, format)
        told = as_a_cell if format in ("csv", "tsv") else str
        assert parsed(path.read_bytes(), format) == {i: [told(c)] for i, c in candidates.items()}


magic = st.sampled_from(
    [b"", b"", b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff", b"\x1f\x8b\x08", b"{", b"[", b"image_id,caption\n"]
)


@given(head=magic, data=st.binary(), zipped=st.booleans())
def test_arbitrary_bytes_give_captions_or_a_data_error(head: bytes, data: bytes, zipped: bool) -> None:
    data = gzip.compress(head + data) if zipped else head + data
    for format in [None, *FORMATS]:
        try:
            parsed(data, format)
        except SacrecapError as error:
            assert str(error).startswith("file: ")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "data")
        path.write_bytes(data)
        try:
            read_references(path)
        except SacrecapError as error:
            assert str(error).startswith(f"{path}: ")


PIECES = [
    *"{ } [ ] , : 1 0 -0 07 1.0 null true \n".split(" "),
    *'"image_id" "caption" "captions" "annotations" "images" "id" "a" "é" "\\ud800" "a\\"b" "is_rejected":true'.split(),
    *'{"image_id":1,"caption":"a"} {"image_id":"b","caption":"x","id":3} {"1":"a","b":["c","d"]}'.split(),
]
ROW = st.builds(
    lambda image, caption, extra: f'{{"image_id": {image}, "caption": {caption}{extra}}}',
    st.sampled_from(["1", '"b"', "0", "1.0", "null", "07"]),
    st.sampled_from(['"a dog"', '""', '"é\\n"', "null", '["a", "b"]', "\"['a', 'b']\""]),
    st.sampled_from(["", ', "id": 3', ', "text": "x"', ', "is_rejected": true', ', "image_id": 2', ', "split": "a"']),
)
ROWS = st.lists(ROW, max_size=4)
FIELDS = ['"1": "a"', '"b": ["x", "y"]', '"values": ["a"]', '"id": "1"', '"caption": "x"', '"1": []']
JSON = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    ROWS.map(lambda rows: f"[{', '.join(rows)}]"),
    ROWS.map("\n".join),
    ROWS.map(lambda rows: f'{{"images": [{{"id": 1}}, {{"id": "c"}}], "annotations": [{",".join(rows)}]}}'),
    ROWS.map(lambda rows: f'{{"annotations": [{",".join(rows)}], "images": [{{"id": 1}}]}}'),
    st.lists(st.sampled_from(FIELDS)).map(lambda fields: f"{{{', '.join(fields)}}}"),
)


@given(text=JSON)
def test_what_the_native_reader_reads_is_what_the_reader_of_all_shapes_reads(text: str) -> None:
    """The fast path steps aside at whatever it would read otherwise."""
    whole = CaptionFile("file", Reading(separator="none"), contents={"file": Content("file", text.encode())})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        usual = whole._usual()
        if usual is None:
            return
        found = recognised(Content("file", text.encode()))
        read = found.shape.read(found.rows, "sets")
    assert unwritten(usual).to_dict() == read.to_dict(), text
    assert usual.image_ids == read.image_ids
