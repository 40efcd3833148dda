"""Caption files: every format reads to the same captions, every broken file gets its sentence."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sacrecap._core import Captions
from sacrecap.data import read_candidates, read_caption_sets, read_references
from sacrecap.data.captions import read_data
from sacrecap.errors import DataError, DataWarning, UsageError

REFERENCES = {"1": ["A man's dog.", "Zwei Hunde, “groß”"], "b.jpg": ["x", ' quoted "word", comma', "."]}
ROWS = [(image, caption) for image, captions in REFERENCES.items() for caption in captions]


def table(delimiter: str) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows([("image_id", "caption"), *ROWS])
    return file.getvalue()


FILES = {
    "coco": json.dumps(
        {
            "images": [{"id": 1, "file_name": "b"}, {"id": "b.jpg"}],
            "annotations": [{"image_id": i, "id": 5, "caption": c} for i, c in reversed(ROWS)][::-1],
        }
    ),
    "karpathy": json.dumps(
        {
            "images": [
                {"filename": image, "split": "test", "sentences": [{"raw": c, "tokens": []} for c in captions]}
                for image, captions in REFERENCES.items()
            ]
        }
    ),
    "list": json.dumps([{"image_id": i, "caption": c} for i, c in ROWS], indent=1, ensure_ascii=False),
    "mapping": json.dumps(REFERENCES),
    "jsonl": "".join(json.dumps({"image_id": i, "captions": c}) + "\n" for i, c in REFERENCES.items()),
    "csv": table(","),
    "tsv": table("\t"),
    "flickr": "".join(f"{i}#{n}\t{c}\n" for n, (i, c) in enumerate(ROWS)),
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """A function that makes a file of the content, called ``refs.json``."""

    def write(content: str | bytes) -> Path:
        path = tmp_path / "refs.json"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("form", ["plain", "gzip", "byte-order mark", "stdin"])
def test_every_format_reads_to_the_same_captions(
    format: str, form: str, write: Callable[[str | bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = FILES[format].encode()
    path: Path | str = write({"gzip": gzip.compress(data), "byte-order mark": b"\xef\xbb\xbf" + data}.get(form, data))
    if form == "stdin":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        path = "-"
    assert read_references(path).to_dict() == REFERENCES
    if form != "stdin":
        assert read_references(path, format=format).to_dict() == REFERENCES
        assert read_caption_sets(path, format=format).to_dict() == REFERENCES


def test_the_face_of_captions() -> None:
    captions = read_data(FILES["coco"].encode(), "references", "coco")
    assert (captions.image_ids, captions.caption_counts()) == (["1", "b.jpg"], [2, 3])
    assert (len(captions), captions.image_count, captions.caption_count) == (2, 2, 5)
    assert captions.captions(1) == captions.captions("1") == REFERENCES["1"]
    assert repr(captions) == "<Captions: 2 images, 5 captions>"
    with pytest.raises(DataError, match="^no image has the id 7$"):
        captions.captions(7)
    with pytest.raises(DataError, match="^the image id of an image is None; image ids must be strings or whole"):
        captions.captions(None)  # type: ignore[arg-type]


def test_splits(write: Callable[[str | bytes], Path]) -> None:
    path = write('{"images": [{"split": "train", "cocoid": 3, "sentences": [{"raw": "x"}, {"raw": "y"}]}]}')
    assert read_references(path, split="train").to_dict() == {"3": ["x", "y"]}
    with pytest.raises(UsageError, match=r"refs.json: no image is in the split 'val'; the splits are train$"):
        read_references(path, split="val")
    with pytest.raises(UsageError, match="refs.json: has no column split, and so no splits; leave"):
        read_references(write("{}"), split="val")


def test_a_format_that_is_none_is_told_with_all_there_are(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="^no caption format is called 'excel'; rows of data sets .* others are coco, .*, text$"
    ):
        read_references(tmp_path, format="excel")


BROKEN: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "the file is empty; accepted are coco ("),
    "cut off": ('[{"image_id": 1,\n "capt', "line 2, column 2: the JSON ends early, as if the file were cut off"),
    "no JSON": ('{"1": "a" "2"}', "line 1, column 11: not JSON (Expecting ',' delimiter)"),
    "not a number": ('{"1": NaN}', "the caption of image 1 (row 1) is missing or null; captions must be strings"),
    "shape": ('["a", 5]', "found a list of texts and numbers, null, true or false; accepted are coco ("),
    "other text": ("dog\n", 'found a text that begins "dog"; accepted are coco ('),
    "not UTF-8": (b'{"1":\n "\xff"}', "line 2, column 3: byte 8 (0xff) is not UTF-8; save the file as UTF-8"),
    "UTF-16": ('{"1": "a"}'.encode("utf-16"), "it looks like UTF-16, save the file as UTF-8"),
    "number": (
        '[{"image_id": 391895, "caption": 5}]',
        "the caption of image 391895 is of type int; it must be a string or a list of strings",
    ),
    "many numbers": (
        json.dumps({i: [i] for i in range(7)}),
        "; captions must be strings (also image 1, image 2, image 3, image 4 and 2 more)",
    ),
    "no caption": (
        '[{"image_id": 1, "words": "a"}]',
        "has the columns image_id, words, of which none is known to hold",
    ),
    "id": ('[{"image_id": true, "caption": "a"}]', "the image id of row 1 is of type bool; image ids must be"),
    "surrogate": ('{"1": "\\ud800"}', "it holds half a surrogate pair; write the whole character, or mend"),
    "twice": ('{"1": "a", "1": "b"}', "image 1 stands twice in the mapping; put its captions in one list"),
    "comma": ("image_id,caption\n1,a, b\n", "row 1 (line 2): has 3 fields where the header has 2; put a"),
    "gzip cut off": (gzip.compress(b"{}" * 99)[:-9], "the gzip data ends early; write or download the file again"),
    "gzip broken": (b"\x1f\x8b\x08" + b"\0" * 20, "broken gzip data ("),
    "parquet broken": (b"PAR1abc", "not a whole parquet file ("),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("read", [read_references, read_candidates, read_caption_sets])
def test_a_broken_file_gets_its_sentence(
    case: str, read: Callable[[Path], Captions], write: Callable[[str | bytes], Path]
) -> None:
    content, sentence = BROKEN[case]
    path = write(content)
    with pytest.raises(DataError) as raised:
        read(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: ")
    assert sentence in message
    assert "\n" not in message


def test_a_late_value_that_looks_like_rows_does_not_make_rows_of_a_mapping(tmp_path: Path) -> None:
    mapping = {str(number): "a dog" for number in range(70)}
    (tmp_path / "c.json").write_text(json.dumps({**mapping, "rows": [{"image_id": 1, "caption": "a cat"}]}))
    with pytest.raises(DataError, match=r"the caption of image rows is a list of objects or lists; captions"):
        read_candidates(tmp_path / "c.json")


def test_a_missing_file_brings_the_nearest_name(write: Callable[[str | bytes], Path]) -> None:
    path = write("{}")
    with pytest.raises(DataError, match=r"/ref.json: no such file; did you mean '.*/refs.json'\?$"):
        read_references(path.with_name("ref.json"))
    with pytest.raises(DataError, match="/zzz: no such file$"):
        read_references(path.with_name("zzz"))
    with pytest.raises(DataError, match="no such file; there is no folder '.*/nowhere' either$"):
        read_references(path.parent / "nowhere" / "refs.json")
    with pytest.raises(DataError, match=r"has no files to read; their names end in \.parquet, .*, and \.gz"):
        read_references(path.parent)
    with pytest.raises(DataError, match="cannot be read: .*null"):
        read_references("a\0b")


def test_an_unreadable_file(write: Callable[[str | bytes], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    path = write("{}")
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(DataError, match="refs.json: may not be read by this user; change its permissions$"):
        read_references(path)


def test_candidates_are_one_an_image(write: Callable[[str | bytes], Path]) -> None:
    assert read_candidates(write('{"1": "a", "2": ["b"]}')).to_dict() == {"1": ["a"], "2": ["b"]}
    with pytest.raises(DataError, match=r"looks like a reference file: about 2.5 captions per image, where candidates"):
        read_candidates(write(FILES["coco"]))
    with pytest.raises(DataError, match=r"looks like a reference file: 5 captions per image, .* references first and"):
        read_candidates(write(json.dumps({1: ["x"] * 5, 2: ["y"] * 5})))
    twice = [{"image_id": i % 7, "caption": "a"} for i in range(13)]
    sentence = "6 images have more than one candidate: 0, 1, 2, 3, 4, …; keep one for each image, or choose on_du"
    with pytest.raises(DataError, match=sentence):
        read_candidates(write(json.dumps(twice)))
    assert read_candidates(write('{"1": "a", "2": []}')).to_dict() == {"1": ["a"], "2": []}


def test_a_candidate_file_in_place_of_caption_sets_is_told(write: Callable[[str | bytes], Path]) -> None:
    path = write('{"1": "a", "2": "b"}')
    with pytest.warns(DataWarning, match="refs.json: looks like a candidate file: one caption per image; taken as "):
        assert len(read_caption_sets(path)) == 2
    assert len(read_references(path)) == 2  # without a word: one reference for each image is ordinary
    assert len(read_caption_sets(write('{"1": "a"}'))) == 1  # nor of one image, which says little


def test_references_may_lack_captions(write: Callable[[str | bytes], Path]) -> None:
    path = write('{"images": [{"id": 1}, {"id": 2}], "annotations": [{"image_id": 2, "caption": "a"}]}')
    assert read_references(path).to_dict() == {"1": [], "2": ["a"]}
