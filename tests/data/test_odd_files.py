"""What people's files do: quotes, marks of the data set, lists of paths, files of ranks, envelopes, other encodings."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner import Runner
from sacrecap.data import read_candidates, read_caption_sets, read_references, unpack
from sacrecap.data.captions import CaptionFile
from sacrecap.data.shapes import Shape
from sacrecap.data.source import Reading
from sacrecap.errors import DataError, DataWarning, UsageError

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: Any, name: str = "file") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8", newline="")
        return path

    return write


# Quotes

HEAD = "image_id,caption\n1,a dog\n"


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ('1,"a cat sits\n2,the cat "is" sitting\n', r"row 2 \(line 3\): text follows the double quote that closes"),
        ('2,"a" cat\n', r"row 2 \(line 3\): text follows the double quote that closes"),
        ('2,"a \\"big\\" cat"\n', r'row 2 \(line 3\): .* also where a program wrote \\" for them$'),
        ('2,"a cat\n3,a bird\n', r"row 2 \(line 3\): a double quote is opened in this row and never closed"),
        ('2,"a cat\n2,another cat"\n', r"row 2 \(line 3\): a double quote opens a field that holds the lines below it"),
        ('2,"a cat\n1,another dog"\n', r"row 2 \(line 3\): a double quote opens a field that holds the lines below it"),
        ("\n\n2,a cat,b\n", r"row 2 \(line 5\): has 3 fields where the header has 2"),
    ],
)
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_malformed_quotes_are_refused_with_their_line(delimiter: str, rows: str, problem: str, write: Write) -> None:
    path = write((HEAD + rows).replace(",", delimiter))
    with pytest.raises(DataError, match=problem):
        read_references(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('1,"a dog\n2,a cat" sits\n3,a bird\n', "line 1: text follows the double quote that closes"),
        ('1\ta dog\n2\t"a cat\n3\ta bird\n', "line 2: a double quote is opened in this row and never closed"),
    ],
)
def test_malformed_quotes_of_a_table_without_a_header_are_told_too(text: str, problem: str, write: Write) -> None:
    with pytest.raises(DataError, match=problem):
        read_candidates(write(text))


def test_quotes_that_are_right_are_read(write: Write) -> None:
    table = 'image_id,caption\n1,"a ""big"" dog, running"\n2,a 5" screen\n3,"two\nlines, of a caption"\n"4","\n"\n'
    assert read_candidates(write(table)).to_dict() == {
        "1": ['a "big" dog, running'],
        "2": ['a 5" screen'],
        "3": ["two\nlines, of a caption"],
        "4": [""],
    }
    assert read_candidates(write('image_id\tcaption\n1\ta "big" dog\n')).to_dict() == {"1": ['a "big" dog']}
    assert read_candidates(write('image_id|caption\n1| "a" big "dog\n')).to_dict() == {"1": ['"a" big "dog']}


def test_a_column_of_pictures_as_text_is_no_matter(write: Write) -> None:
    path = write(f"index\timage\tprediction\n1\t{'A' * 200_000}\ta dog\n")
    assert read_candidates(path).to_dict() == {"1": ["a dog"]}


# What a data set excludes

ANNOTATIONS = [
    {"image_id": 1, "caption": "a dog", "is_rejected": False, "is_precanned": False},
    {"image_id": 1, "caption": "Quality issues are too severe.", "is_rejected": False, "is_precanned": True},
    {"image_id": 2, "caption": "spam", "is_rejected": True, "is_precanned": False},
    {"image_id": 2, "caption": "a cat", "is_rejected": False, "is_precanned": False},
]
MARKED: dict[str, Callable[[], Any]] = {
    "coco": lambda: {"images": [{"id": 2}, {"id": 1}], "annotations": ANNOTATIONS},
    "list": lambda: ANNOTATIONS,
    "jsonl": lambda: "".join(json.dumps(row) + "\n" for row in ANNOTATIONS),
    "csv": lambda: (
        "image_id,caption,is_rejected,is_precanned\n"
        + "".join(f"{','.join(map(str, row.values()))}\n" for row in ANNOTATIONS)
    ),
}


@pytest.mark.parametrize("shape", MARKED)
def test_captions_that_the_data_set_excludes_are_left_out(shape: str, write: Write) -> None:
    path = write(MARKED[shape]())
    with pytest.warns(DataWarning) as told:
        read = read_references(path)
    assert read.to_dict() == {"1": ["a dog"], "2": ["a cat"]}
    assert read.image_ids == (["2", "1"] if shape == "coco" else ["1", "2"])
    first = str(told[0].message)
    assert first == (
        f"{path}: 2 captions are marked is_rejected or is_precanned by the data set itself (image 1, 2), and left out; "
        "format='auto(rejected=keep)' keeps them"
    )
    for format in ("auto(rejected=keep)", f"{shape}(rejected=keep)"):
        assert read_references(path, format=format).caption_count == 4


def test_the_command_names_the_format_that_keeps_them(write: Write, tmp_path: Path) -> None:
    run = Runner(tmp_path)
    files = [write(MARKED["coco"](), "r.json").name, write({"1": "a dog", "2": "a cat"}, "c.json").name]
    score = ["score", *files, "--metrics", "rouge-l", "--interval", "none", "--format", "json"]
    ended = run.here(*score)
    assert json.loads(ended.stdout)["scores"]["rouge-l"] == 1
    assert "r.json: 2 captions are marked" in ended.stderr
    assert "the format 'auto(rejected=keep)' keeps them" in ended.stderr
    kept = run.here(*score, "--reference-format", "coco(rejected=keep)")
    assert "marked" not in kept.stderr
    assert json.loads(kept.stdout)["signatures"] != json.loads(ended.stdout)["signatures"]
    assert "rejected is keep, got 'drop'" in run.refused(*score, "--reference-format", "coco(rejected=drop)")


# Ids


def test_ids_that_are_lists_of_paths_are_none_where_another_column_has_them(write: Write) -> None:
    rows = [
        {"id": f"X{n}", "report": f"no {n}", "image_path": [f"{n}/0.png", f"{n}/1.png"], "split": "test"}
        for n in (1, 2)
    ]
    expected = {"X1": ["no 1"], "X2": ["no 2"]}
    assert read_candidates(write({"train": [], "val": [], "test": rows}), split="test").to_dict() == expected
    path = write({"train": [{**rows[0], "id": "t", "split": "train"}], "test": rows})
    assert read_candidates(path, split="test").to_dict() == expected
    with pytest.raises(UsageError, match="has rows under train and test; choose a split by split"):
        read_candidates(path)
    path = write([{"report": "x", "image_path": ["a", "b"]}])
    with pytest.raises(
        DataError, match="the column image_path holds no image ids but lists of 2; name another by id_co"
    ):
        read_candidates(path)


def test_inspect_finds_them_too(write: Write, tmp_path: Path) -> None:
    write({"test": [{"id": "a", "report": "no", "image_path": ["0", "1"], "split": "test"}]}, "a.json")
    document = json.loads(Runner(tmp_path).ok("inspect", "a.json", "--split", "test", "--format", "json"))
    assert document["captions"]["first"] == {"a": ["no"]}


def test_files_of_captions_without_ids_are_not_put_together(write: Write, tmp_path: Path) -> None:
    """Each would count its places from 1, and one of two captions would be taken for a repeated one."""
    for shape in (["a dog", "a cat"], {"values": ["a dog", "a cat"]}):
        for rank in range(2):
            write(shape, f"part{rank}.json")
        with pytest.raises(DataError, match=r"part0.json, .*part1.json: captions without image ids, and places in one"):
            read_candidates(tmp_path / "part*.json", on_duplicate="first")
    assert read_candidates(tmp_path / "part[0].json").to_dict() == {"1": ["a dog"], "2": ["a cat"]}


# Names


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file systems whose names are Unicode")
@pytest.mark.parametrize("name", [b"\xb2\xe2.json", b"caf\xe9.json"])
def test_a_file_name_need_not_be_text(name: bytes, tmp_path: Path) -> None:
    path = os.fsdecode(os.path.join(os.fsencode(tmp_path), name))
    Path(path).write_text('{"1": "a", "2": "b"}')
    read = read_candidates(path)
    assert read.to_dict() == {"1": ["a"], "2": ["b"]}
    assert "\ufffd" in (read.source or "")
    (tmp_path / "r.json").write_text('{"1": ["a"], "2": ["b"]}')
    run = Runner(tmp_path)
    for command in (["score", "r.json", os.fsdecode(name)], ["inspect", os.fsdecode(name)]):
        assert run.here(*command).status == 0
    (tmp_path / os.fsdecode(b"\xb2")).mkdir()
    for path, problem in ((b"\xb2", "has no files to read"), (b"\xb2/y.json", "no such file")):
        message = run.refused("score", "r.json", os.fsdecode(path))
        assert f"\ufffd{path[1:].decode()}: {problem}" in message
        assert "udcb2" not in message


# Formats with parameters


def test_a_format_has_its_parameters_in_python_too(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_bytes("image_id,caption\n1,caf\xe9 | bar\n".encode("cp1252"))
    sets = read_caption_sets(path, format='csv(encoding=cp1252, separator=" | ")')
    assert sets.to_dict() == {"1": ["caf\xe9", "bar"]}
    with pytest.raises(UsageError, match="the format csv: a parameter must be one of encoding, separator, rejected"):
        read_references(path, format="csv(encodng=cp1252)")
    with pytest.raises(UsageError, match="the format auto: rejected is keep, got 'drop'"):
        read_references(path, format="auto(rejected=drop)")


# Lists in an object


@pytest.mark.parametrize(
    "document",
    [
        {"language": "en", "values": ["a dog", "a cat"]},
        {"model": "blip", "predictions": ["a dog", "a cat"]},
        {"meta": {"model": "blip"}, "captions": ["a dog", "a cat"]},
        {"submission": {"task": {"values": ["a dog", "a cat"]}}},
        {"outputs": [["a dog"], ["a cat"]], "version": 2, "date": None},
    ],
)
def test_a_list_in_an_object_that_says_more_is_read_by_place(document: dict[str, Any], write: Write) -> None:
    assert read_candidates(write(document)).to_dict() == {"1": ["a dog"], "2": ["a cat"]}


@pytest.mark.parametrize(
    "mapping",
    [
        {"1": "a dog", "values": ["a cat"], "b": "x"},
        {"word": "a dog", "sentence": "a cat"},
        {"word": ["a dog"], "sentence": ["a cat"]},
    ],
)
def test_a_mapping_is_no_such_object(mapping: dict[str, Any], write: Write) -> None:
    expected = {image: [value] if isinstance(value, str) else value for image, value in mapping.items()}
    assert read_candidates(write(mapping)).to_dict() == expected


# Several files


@pytest.mark.parametrize("shape", ["list", "mapping"])
def test_the_files_of_ranks_are_one(shape: str, write: Write, tmp_path: Path) -> None:
    parts = [{"1": "a dog", "2": "a cat"}, {"3": "a bird", "1": "a dog"}]
    for rank, own in enumerate(parts):
        write([{"image_id": i, "caption": c} for i, c in own.items()] if shape == "list" else own, f"rank{rank}.json")
    pattern = str(tmp_path / "rank*.json")
    assert read_candidates(pattern).to_dict() == {"1": ["a dog"], "2": ["a cat"], "3": ["a bird"]}
    write({"1": "another dog"}, "rank2.json")
    assert read_candidates(pattern, on_duplicate="first").captions("1") == ["a dog"]
    with pytest.raises(
        DataError, match="1 image has more than one candidate: 1; keep one for each image, or choose on_d"
    ):
        read_candidates(pattern)


def test_references_that_are_added_are_blamed_by_their_own_name(write: Write, tmp_path: Path) -> None:
    write("a dog\na cat\n", "one.txt")
    write("a brown dog\n\n", "two.txt")
    write("a dog\na cat\n", "captions.txt")
    lines = ["--reference-format", "text", "--candidate-format", "text", "--add-references", "two.txt"]
    ended = Runner(tmp_path).here(
        "score", "one.txt", "captions.txt", *lines, "--metrics", "rouge-l", "--interval", "none"
    )
    assert ended.status == 0
    assert "two.txt: 1 reference is empty or missing (image 2); left out" in ended.stderr
    assert "one.txt: 1 reference" not in ended.stderr


# Images without references, and sets without images


def test_on_extra_leaves_out_an_image_with_only_blank_references(write: Write, tmp_path: Path) -> None:
    write({"1": ["a dog"], "2": [" "], "3": ["a cat"]}, "r.json")
    write({"1": "a dog", "2": "a cow", "3": "a cat", "4": "x"}, "c.json")
    write(
        "".join(
            json.dumps({"id": i, "prediction": c, "references": r}) + "\n"
            for i, c, r in [(1, "a", ["a"]), (2, "b", [""])]
        ),
        "both.jsonl",
    )
    run, how = (
        Runner(tmp_path),
        ["--metrics", "rouge-l", "--interval", "none", "--format", "json", "--on-extra", "skip", "-q"],
    )
    for files, images in ((["r.json", "c.json"], 2), (["both.jsonl"], 1)):
        document = json.loads(run.ok("score", *files, *how))
        assert (document["scores"]["rouge-l"], document["images"]) == (1, images)


def test_diversity_says_what_to_do_with_missing_and_extra_images(write: Write, tmp_path: Path) -> None:
    write({"1": ["a dog", "dogs"], "2": ["a cat", "cats"]}, "r.json")
    write({"1": ["a dog", "two dogs"], "3": ["x", "y"]}, "s.json")
    run, command = (
        Runner(tmp_path),
        [
            "diversity",
            "s.json",
            "--references",
            "r.json",
            "--metrics",
            "distinct",
            "--interval",
            "none",
            "--format",
            "json",
            "-q",
        ],
    )
    run.refused(*command)
    both = ["--on-missing", "skip", "--on-extra", "skip"]
    assert json.loads(run.ok(*command, *both))["systems"]["s"]["images"] == 1
    zero = json.loads(run.ok(*command, "--on-missing", "zero", "--on-extra", "skip"))["systems"]["s"]
    assert (zero["images"], zero["captions_per_image"]["min"]) == (2, 1)


# Bytes


PACKED: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("kind", PACKED)
def test_a_packed_file_is_bounded_while_it_is_unpacked(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, "_FREE", 1 << 20)
    path = tmp_path / "file"
    path.write_bytes(PACKED[kind](b'{"1": "' + b"a" * (64 << 20) + b'"}'))
    with pytest.raises(DataError, match=r"bytes become more than [0-9,]+ unpacked, over 200 times as many"):
        read_candidates(path)


@pytest.mark.parametrize("first", ["", '{"image_id": 1, "references": ["a dog"], "caption": "a dog"}\n'])
def test_a_packed_file_is_bounded_where_it_is_read_piece_by_piece(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, "_FREE", 1 << 20)
    path = tmp_path / "file.jsonl.gz"
    path.write_bytes(gzip.compress(f'{first}{{"image_id": 2, "caption": "'.encode() + b"a" * (8 << 20) + b'"}\n'))
    with pytest.raises(DataError) as error:
        list(CaptionFile(path, Reading(), held=False).pieces(["references"], 9, None))
    assert str(error.value).count(str(path)) == 1
    told = "line 2: has 1,048,576 characters or more; write a row per line" if first else "over 200 times as many"
    assert told in str(error.value)


def test_a_file_that_does_not_fit_into_memory_is_told(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise MemoryError

    path = write('{"1": 5}')
    monkeypatch.setattr(json, "loads", full)
    with pytest.raises(
        DataError, match="file: does not fit into the memory that this process may have; write it as JSON lines or"
    ):
        read_candidates(path)


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_an_id_with_half_a_character_is_refused_with_its_row(suffix: str, write: Write) -> None:
    rows = [{"image_id": "1", "caption": "a dog"}, {"image_id": "\ud800", "caption": "a cat"}]
    text = json.dumps(rows) if suffix == "json" else "\n".join(map(json.dumps, rows))
    with pytest.raises(DataError, match="the image id of row 2 is not text: it holds half a surrogate pair"):
        read_candidates(write(text, f"file.{suffix}"))


def test_an_id_is_the_same_wherever_it_stands(write: Write) -> None:
    """In the first rows of a long file whose ids a program wrote as floats, and in its last ones."""
    lines = [f"{number}.0,a dog" for number in range(25_000)]
    head = "image_id,caption"
    assert read_candidates(write("\n".join([head, *lines]))).image_ids == [str(number) for number in range(25_000)]
    first = read_candidates(write("\n".join([head, "x7,a dog", *lines]), "first")).image_ids
    assert (first[1], first[-1]) == ("0.0", "24999.0")
    with pytest.raises(DataError, match="the image id of row 25001 is 'x7', where those above are whole numbers"):
        read_candidates(write("\n".join([head, *lines, "x7,a dog"]), "last"))


@pytest.mark.parametrize("place", [0, 2, 25_000])
@pytest.mark.parametrize("form", ["floats", "csv", "jsonl", "list"])
def test_an_empty_id_is_refused_with_its_row(form: str, place: int, write: Write) -> None:
    ids = [f"{number}.0" if form == "floats" else f"{number}" for number in range(25_000)]
    ids.insert(place, "" if place else " ")
    if form in ("floats", "csv"):
        text = "\n".join(["image_id,caption", *(f"{image},a dog" for image in ids)])
    else:
        rows = [{"image_id": image, "caption": "a dog"} for image in ids]
        text = json.dumps(rows) if form == "list" else "\n".join(map(json.dumps, rows))
    with pytest.raises(DataError, match=f"the image id of row {place + 1} is empty; drop such rows, or give them ids"):
        read_candidates(write(text))


def test_a_fault_of_ours_is_not_told_as_one_of_the_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object, **__: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(Shape, "batches", faulty)
    with pytest.raises(ValueError, match=r"^a fault$"):
        read_candidates(write(json.dumps([{"image_id": 5, "words": "x"}])), caption_column="words")


def test_a_file_that_breaks_while_it_is_read_is_told(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Shape, "batches", faulty)
    with pytest.raises(DataError, match="file: cannot be read: .*Input/output error"):
        read_candidates(write(json.dumps([{"image_id": 5, "words": "x"}])), caption_column="words")
