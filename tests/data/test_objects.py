"""Objects of images: every format, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacrecap.data import OBJECT_FORMATS, read_objects
from sacrecap.data.objects import DetectedObjects, count_labels, unite
from sacrecap.errors import DataError, UsageError

WHOLE = {"1": {"dog": 2, "wine glass": 1}, "2": {"cat": 1}, "3": {}}
COCO = {
    "images": [{"id": 1}, {"id": 2}, {"id": 3}],
    "categories": [{"id": 18, "name": "dog"}, {"id": 46, "name": "wine glass"}, {"id": 17, "name": "cat"}],
    "annotations": [
        {"image_id": 1, "category_id": 18, "iscrowd": 0},
        {"image_id": 1, "category_id": 46},
        {"image_id": 2, "category_id": 17},
        {"image_id": 1, "category_id": 18, "iscrowd": 1},
    ],
}
LABELS = [
    {"image_id": 1, "objects": ["dog", "wine glass", "dog"]},
    {"image_id": "2", "objects": ["cat"]},
    {"image_id": 3, "objects": []},
]
COUNTS = [
    {"image_id": 1, "objects": {"dog": 2, "wine glass": 1, "cat": 0}},
    {"image_id": 2, "objects": {"cat": 1}},
    {"image_id": 3, "objects": {}},
]
MAPPING = {"1": ["dog", "wine glass", "dog"], "2": {"cat": 1}, "3": []}
FOUND = [
    {
        "image_id": 1,
        "detections": [
            {"label": "dog", "score": 0.9, "box": [0, 0, 5, 5]},
            {"label": "dog", "score": 0.4},
            {"label": "wine glass", "score": 0.6},
        ],
    },
    {"image_id": 2, "detections": [{"label": "cat", "score": 1}]},
    {"image_id": 3, "detections": []},
]


def write(path: Path, content: Any) -> Path:
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def xml(*labels: str) -> str:
    objects = "".join(
        f"<object><name>{label}</name><part><name>head</name></part><bndbox/></object>" for label in labels
    )
    return f"<annotation><filename>x.jpg</filename>{objects}</annotation>"


def test_detections_keep_their_places(tmp_path: Path) -> None:
    boxes = [[0, 1, 2.5, 4], [0, 0, 9], [0, 0, 9, "9"], {"left": 0}, None]
    detections = [{"label": "dog", "score": 0.9, "box": box} for box in boxes]
    rows = [{"image_id": 1, "detections": [*detections, {**detections[0], "score": 0.3}]}]
    objects = read_objects(write(tmp_path / "found", rows), threshold=0.5)
    assert isinstance(objects, DetectedObjects)
    assert objects.located == {"1": [("dog", 0.9, (0, 1, 2.5, 4)), *[("dog", 0.9, ())] * 4]}


@pytest.mark.parametrize(
    ("content", "format"),
    [(COCO, "coco"), (LABELS, "list"), (COUNTS, "list"), (MAPPING, "mapping"), (FOUND, "detections")],
    ids=["coco", "labels", "counts", "mapping", "detections"],
)
def test_every_format_is_recognised_and_can_be_named(tmp_path: Path, content: Any, format: str) -> None:
    path = write(tmp_path / "objects", content)
    assert read_objects(path) == WHOLE
    assert read_objects(path, format=format) == WHOLE
    assert read_objects(write(tmp_path / "zipped", gzip.compress(path.read_bytes()))) == WHOLE
    assert read_objects(write(tmp_path / "marked", b"\xef\xbb\xbf" + path.read_bytes())) == WHOLE


@pytest.mark.parametrize("rows", [LABELS, COUNTS, FOUND], ids=["labels", "counts", "detections"])
def test_a_row_a_line(tmp_path: Path, rows: list[Any]) -> None:
    lines = "\n\n".join(json.dumps(row) for row in rows) + "\n"
    assert read_objects(write(tmp_path / "objects.jsonl", lines)) == WHOLE
    assert read_objects(write(tmp_path / "one.jsonl", json.dumps(rows[0]))) == {"1": WHOLE["1"]}


def test_a_folder_of_voc(tmp_path: Path) -> None:
    write(tmp_path / "1.xml", xml("dog", " wine glass ", "dog"))
    write(tmp_path / "2.XML", xml("cat"))
    write(tmp_path / "3.xml", "<?xml version='1.0' encoding='latin-1'?><annotation/>")
    write(tmp_path / "notes.txt", "none")
    assert read_objects(tmp_path) == read_objects(tmp_path, format="voc") == WHOLE


def test_coco_without_images_has_those_with_annotations(tmp_path: Path) -> None:
    content = {key: value for key, value in COCO.items() if key != "images"}
    assert read_objects(write(tmp_path / "objects", content)) == {"1": WHOLE["1"], "2": WHOLE["2"]}


@pytest.mark.parametrize(("threshold", "dogs"), [(0, 2), (0.4, 2), (0.5, 1), (0.95, 0)])
def test_a_threshold_keeps_scores_at_and_above_it(tmp_path: Path, threshold: float, dogs: int) -> None:
    found = read_objects(write(tmp_path / "found", FOUND), threshold=threshold)
    assert found["1"].get("dog", 0) == dogs
    assert list(found) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty; accepted: COCO instances"),
        (b'[{"image_id": 1,\n"objects": ["\xff"]}]', ": line 2, column 14: byte 30 (0xff) is not UTF-8"),
        ('[{"image_id": 1, "objects": ["dog"]}', "line 1, column 37: the JSON ends early"),
        ('[{"image_id": 1, "objects": ["dog', "the JSON ends early"),
        ('{"image_id": 1, "objects": []}\n{"image_id" 2}', ": line 2, column 13: not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[" + "9" * 5000 + "]", "a number of JSON is too long"),
        ("3", "is the number 3; accepted: COCO"),
        ('{"1": ["a"], "1": ["b"]}', "'1' occurs twice in one object; keep one"),
        ('[{"image_id": 1, "objects": {"a": NaN}}]', "NaN is not a JSON number"),
        ([3], "row 1 is the number 3; each row is an object with image_id and objects"),
        ([{"objects": []}], "row 1: the image id must be text or a whole number, got nothing"),
        ([{"image_id": 1.5, "objects": []}], "row 1: the image id must be text or a whole number, got 1.5"),
        ([{"image_id": True, "objects": []}], "the image id must be text or a whole number, got True"),
        ([{"image_id": 7}], "image 7 (row 1) has no objects"),
        ([{"image_id": 7, "objects": []}, {"image_id": "7", "objects": []}], "image 7 is listed twice; keep one"),
        ([{"image_id": 7, "objects": "dog"}], "image 7: its objects are a string; give a list of labels"),
        ([{"image_id": 7, "objects": [3]}], "image 7: a label must be text, got 3"),
        ([{"image_id": 7, "objects": [" "]}], "image 7: a label must be text, got ' '"),
        ([{"image_id": 7, "objects": ["\ud800"]}], "image 7: a label must be text, got half a surrogate pair"),
        ([{"image_id": 7, "objects": {"dog": -1}}], "image 7: the count of 'dog' must be a whole number of"),
        ([{"image_id": 7, "objects": {"dog": 1.5}}], "must be a whole number of at least 0, got 1.5"),
        ([{"image_id": 7, "objects": {"dog": True}}], "must be a whole number of at least 0, got True"),
        ([{"image_id": 7, "detections": 3}], "image 7: its detections are the number 3"),
        ([{"image_id": 7, "detections": ["dog"]}], "image 7: a detection is a string"),
        ([{"image_id": 7, "detections": [{"label": "dog"}]}], "the score of 'dog' must be a number from 0"),
        ([{"image_id": 7, "detections": [{"label": "dog", "score": 2}]}], "must be a number from 0 to 1, got 2"),
        ({"annotations": [{"image_id": 1, "caption": "a"}]}, "has annotations but no categories, like a caption file"),
        ({**COCO, "images": [{"id": 1}, {"id": "1"}]}, "image 1 is listed twice under images"),
        ({**COCO, "images": [{"id": 1}]}, "image 2 has an annotation but is not under images"),
        ({**COCO, "categories": [{"id": 1}]}, "category 1: a label must be text, got nothing"),
        ({**COCO, "categories": [{"name": "dog"}]}, "a category has no id"),
        ({**COCO, "categories": []}, "image 1: its category_id 18 is not among the categories"),
        ({**COCO, "annotations": 3}, "annotations is not a list of objects"),
        ("<annotation/>", "looks like XML; for VOC annotations give the folder"),
    ],
)
def test_what_is_no_objects_is_refused(tmp_path: Path, content: Any, sentence: str) -> None:
    path = write(tmp_path / "objects", content)
    with pytest.raises(DataError) as raised:
        read_objects(path)
    assert sentence in str(raised.value)
    assert str(raised.value).startswith(str(path))
    assert str(raised.value).count(str(path)) == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("<annotation><object></object></annotation>", "object 1 has no <name>, or an empty one"),
        ("<annotation>\n<object><name> </name></object></annotation>", "object 1 has no <name>, or an empty one"),
        ("<html/>", "the outermost element is <html>, where VOC has <annotation>"),
        ("<annotation>", "not XML (no element found: line 1, column 12)"),
        (b"<annotation>\xff</annotation>", "not XML"),
        (
            "<?xml version='1.0' encoding='klingon'?><annotation/>",
            "its encoding cannot be read (unknown encoding: klingon)",
        ),
        (
            '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><annotation>&c;</annotation>',
            "declares a document type, which may hold entities",
        ),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hosts">]><annotation>&b;</annotation>', "declares a document"),
        ('<!DOCTYPE a SYSTEM "http://127.0.0.1/x.dtd"><annotation/>', "declares a document type"),
    ],
)
def test_what_is_no_voc_is_refused(tmp_path: Path, content: str | bytes, sentence: str) -> None:
    path = write(tmp_path / "1.xml", content)
    with pytest.raises(DataError) as raised:
        read_objects(tmp_path)
    assert str(raised.value).startswith(f"{path}")
    assert sentence in str(raised.value)


def test_wrong_use(tmp_path: Path) -> None:
    path = write(tmp_path / "objects", LABELS)
    with pytest.raises(UsageError, match="the format of objects must be one of coco, list, mapping"):
        read_objects(path, format="cocoa")
    with pytest.raises(DataError, match="a threshold needs detections with scores, and format list has none"):
        read_objects(path, threshold=0.5)
    with pytest.raises(DataError, match="the threshold must be a score between 0 and 1, got 60"):
        read_objects(path, threshold=60)
    with pytest.raises(DataError, match="format voc is a folder of XML files"):
        read_objects(path, format="voc")
    with pytest.raises(DataError, match="is a folder, where format list is a file"):
        read_objects(tmp_path, format="list")
    with pytest.raises(DataError, match="holds no .xml file"):
        read_objects(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        read_objects(tmp_path / "none")
    for name in OBJECT_FORMATS:
        if name not in ("list", "voc"):
            with pytest.raises(DataError):
                read_objects(path, format=name)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False) | st.sampled_from(["dog", "", "1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["image_id", "objects", "detections", "label", "score", "box", "annotations", "categories", "id"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_objects_or_a_data_error(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    path = write(tmp_path_factory.mktemp("any") / "objects", content)
    for format in (None, *OBJECT_FORMATS):
        try:
            objects = read_objects(path, format=format)
        except DataError:
            continue
        assert all(count > 0 for labels in objects.values() for count in labels.values())


def test_the_shared_objects(shared: Path) -> None:
    objects = read_objects(shared / "data" / "coco-val2017" / "objects.json")
    assert len(objects) == 4952
    assert len({label for labels in objects.values() for label in labels}) == 80


labels = st.lists(st.text("dogcat -_", min_size=1).filter(str.strip), max_size=5)


@given(labels)
def test_a_union_with_the_same_labels_in_capitals_changes_nothing(own: list[str]) -> None:
    alone = unite([{"1": count_labels(own, "")}])
    for same in (str.upper, lambda label: label.replace(" ", "_"), lambda label: f" {label.title()} "):
        assert unite([{"1": count_labels(own, "")}, {"1": count_labels(map(same, own), "")}]) == alone
