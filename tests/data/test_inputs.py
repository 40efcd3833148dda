"""Every shape that captions may have in Python gives the scores of the plain dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest

import sacrecap
from sacrecap.data import inputs, read_candidates, read_references
from sacrecap.errors import DataError, DataWarning

REFERENCES = {"5": ["a dog runs", "a brown dog"], "9": ["a red bus"], "7": ["two cats", "cats sit", "a pair of cats"]}
CANDIDATES = {"5": "a dog", "9": "a bus", "7": "two cats sit"}

ROWS = [{"image_id": int(image), "caption": text} for image, texts in REFERENCES.items() for text in texts]
CANDIDATE_ROWS = [{"image_id": image, "caption": text, "score": 0.5} for image, text in CANDIDATES.items()]
SETS = [{"image_id": image, "captions": texts} for image, texts in REFERENCES.items()]


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def polars(rows: list[dict[str, Any]]) -> object:
    return pytest.importorskip("polars").DataFrame(rows)


def dataset(rows: list[dict[str, Any]]) -> object:
    return pytest.importorskip("datasets").Dataset.from_list(rows)


def streamed(rows: list[dict[str, Any]]) -> object:
    return pytest.importorskip("datasets").Dataset.from_list(rows).to_iterable_dataset()


class Arrow:
    """A table of a library that has nothing but Arrow's interface."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.table = pyarrow.Table.from_pylist(rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def generated(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield from rows


SHAPES: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "rows": list,
    "generator": generated,
    "columns": columns,
    "pandas": pandas.DataFrame,
    "pandas index": lambda rows: pandas.DataFrame(rows).set_index("image_id"),
    "polars": polars,
    "pyarrow": pyarrow.Table.from_pylist,
    "record batch": pyarrow.RecordBatch.from_pylist,
    "arrow interface": Arrow,
    "dataset": dataset,
    "streamed dataset": streamed,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [ROWS, SETS], ids=["captions", "sets"])
def test_tables_and_rows_are_scored_as_dictionaries_are(
    shape: str, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    make = SHAPES[shape]
    if make is streamed and find_spec("datasets"):
        # A stream would import PyTorch where it is installed, which takes seconds.
        monkeypatch.setattr("datasets.config.TORCH_AVAILABLE", False)
    expected = sacrecap.score(REFERENCES, CANDIDATES, "bleu-4, cider-d", interval=None).to_dict()
    assert sacrecap.score(make(rows), make(CANDIDATE_ROWS), "bleu-4, cider-d", interval=None).to_dict() == expected


def test_annotations_of_pycocoevalcap() -> None:
    references = {int(image): [{"caption": text, "id": 3} for text in texts] for image, texts in REFERENCES.items()}
    candidates = {int(image): [{"caption": text}] for image, text in CANDIDATES.items()}
    expected = sacrecap.score(REFERENCES, CANDIDATES, "rouge-l", interval=None).to_dict()
    assert sacrecap.score(references, candidates, "rouge-l", interval=None).to_dict() == expected
    tokenised = {image: [text] for image, text in CANDIDATES.items()}
    assert sacrecap.score(REFERENCES, tokenised, "rouge-l", interval=None).to_dict() == expected


LISTS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "NumPy": lambda items: np.array(items, dtype=object),
    "pandas": pandas.Series,
    "polars": lambda items: pytest.importorskip("polars").Series(items),
    "arrow": lambda items: pyarrow.chunked_array([items]),
}


@pytest.mark.parametrize("shape", LISTS)
def test_lists_are_images_by_their_places(shape: str) -> None:
    make = LISTS[shape]
    result = sacrecap.score(make([*REFERENCES.values()]), make([*CANDIDATES.values()]), "cider-d", interval=None)
    expected = sacrecap.score(REFERENCES, CANDIDATES, "cider-d", interval=None)
    assert result.image_ids == ["0", "1", "2"]
    assert result["cider-d"].per_image.tolist() == expected["cider-d"].per_image.tolist()


def test_a_series_has_its_index_for_image_ids() -> None:
    captions = pandas.Series(CANDIDATES)
    assert sacrecap.score(REFERENCES, captions, "rouge-l", interval=None).image_ids == [*REFERENCES]


def test_one_reference_per_image_needs_no_list() -> None:
    one = sacrecap.score(["a dog", "a bus"], ["a dog", "a cat"], "rouge-l", interval=None)
    assert one["rouge-l"].per_image.tolist() == [1.0, 0.5]


def test_comparisons_corpora_frequencies_and_sets_take_the_same() -> None:
    systems = {"frame": pandas.DataFrame(CANDIDATE_ROWS), "rows": CANDIDATE_ROWS}
    comparison = sacrecap.compare(pandas.DataFrame(ROWS), systems, "rouge-l")
    assert comparison.pair("frame", "rows", "rouge-l").delta == 0
    assert sacrecap.Corpus(ROWS, CANDIDATE_ROWS).image_ids == [*REFERENCES]
    assert sacrecap.DocumentFrequency.build(ROWS) == sacrecap.DocumentFrequency.build(REFERENCES)
    expected = sacrecap.diversity(REFERENCES, metrics="div-1", interval=None).to_dict()
    for sets in (SETS, pandas.DataFrame(SETS), {"sets": SETS}, {"sets": pandas.DataFrame(ROWS)}):
        assert sacrecap.diversity(sets, metrics="div-1", interval=None).to_dict() == expected
    by_place = sacrecap.diversity([*REFERENCES.values()], metrics="div-1", interval=None)
    assert by_place["sets"]["div-1"].value == expected["systems"]["sets"]["div-1"]


def test_rows_are_taken_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_CHUNK", 2)
    assert inputs.captions(ROWS, "it", read_references).to_dict() == REFERENCES
    assert [*inputs.captions(["a", "b", "c"], "it", read_candidates).to_dict()] == ["0", "1", "2"]


MISSING = [None, float("nan"), pandas.NA, np.float32("nan"), ""]


@pytest.mark.parametrize("value", MISSING, ids=repr)
@pytest.mark.parametrize("make", [pandas.DataFrame, lambda columns: pandas.Series(columns["caption"], [5, 9, 7]), dict])
def test_a_missing_candidate_of_a_table_is_empty(make: Callable[[Any], Any], value: object) -> None:
    table = make({"image_id": [5, 9, 7], "caption": ["a dog", value, "two cats sit"]})
    result = sacrecap.score(REFERENCES, table, "rouge-l", interval=None)
    assert [finding.kind for finding in result.findings] == ["empty"]
    assert result.to_dict() == sacrecap.score(REFERENCES, {**CANDIDATES, "9": ""}, "rouge-l", interval=None).to_dict()


def test_a_missing_reference_of_a_table_is_left_out() -> None:
    rows = [*ROWS, {"image_id": 9, "caption": None}]
    for table in (pandas.DataFrame(rows), pyarrow.Table.from_pylist(rows)):
        with pytest.warns(DataWarning, match=r"^the references: 1 reference is .* \(image 9\); left out$"):
            references = sacrecap.References(table)
        assert references.captions.to_dict() == REFERENCES
    sets = pandas.DataFrame({"image_id": [5], "captions": [["a dog", None]]})
    with pytest.warns(DataWarning, match=r"^the references: .*; left out$"):
        assert sacrecap.References(sets).captions.to_dict() == {"5": ["a dog"]}


def test_many_missing_captions_are_counted() -> None:
    table = {"image_id": list(range(7)), "caption": [None] * 7}
    assert inputs.captions(table, "the candidates", read_candidates).captions("6") == [""]
    told = r"7 references are empty or missing \(images 0, 1, 2, 3, 4, …\); left out"
    with pytest.warns(DataWarning, match=told), pytest.raises(DataError, match="no caption in it"):
        sacrecap.References(table)


REFUSED: list[tuple[Any, str]] = [
    (5, "the candidates: they are of type int; accepted are {image id: caption or"),
    (b"a dog", "of type bytes; accepted are"),
    ({"a dog"}, "of type set; accepted are"),
    ([5], "the candidates: the caption of image 0 is of type int; it must be a string or a list of strings"),
    (["a", 5], "the caption of image 1 is of type int"),
    ([{"image_id": 5}], "the candidates: row 0 has the columns image_id; it needs image_id, and one of caption"),
    ([*CANDIDATE_ROWS, {"image_id": 5}], "row 3 has no 'captions', only 'image_id'; each row needs"),
    ([*CANDIDATE_ROWS, "a dog"], "row 3 is of type str, others are mappings"),
    (pandas.DataFrame({"id": [5], "caption": ["a"]}), "the table has the columns id, caption; it needs image_id"),
    (pandas.DataFrame({"image_id": [5], "caption": [1.5]}), "the caption of image 5 is"),
    ({"image_id": [5, 7], "caption": ["a"]}, "the column image_id has 2 values, caption has 1"),
    (["a dog", "a bus"], "(a list: image ids are positions in it, from 0): none of its 2 images is in the references"),
]


@pytest.mark.parametrize(("source", "message"), REFUSED)
def test_what_cannot_be_taken_is_said(source: Any, message: str) -> None:
    with pytest.raises(DataError) as raised:
        sacrecap.score(REFERENCES, source, "rouge-l")
    assert message in str(raised.value)


def test_an_open_file_is_not_lines(tmp_path: Any) -> None:
    path = tmp_path / "captions.txt"
    path.write_text("a dog\n")
    with path.open() as file, pytest.raises(DataError, match="of type TextIOWrapper"):
        sacrecap.score(REFERENCES, file, "rouge-l")


def test_objects_may_be_rows() -> None:
    rows = [{"image_id": 5, "objects": ["dog"]}, {"image_id": "9", "objects": {"bus": 1}}]
    scored = [
        sacrecap.score(REFERENCES, CANDIDATES, "vifidel", objects=objects, on_missing="skip", interval=None).to_dict()
        for objects in ({"5": ["dog"], "9": ["bus"], "7": []}, [*rows, {"image_id": 7, "objects": []}])
    ]
    assert scored[0] == scored[1]
    for objects, message in ((5, "the objects are of type int"), ([{"image_id": 5}], "item 0 has no 'image_id' and")):
        with pytest.raises(DataError, match=message):
            sacrecap.score(REFERENCES, CANDIDATES, "vifidel", objects=objects)
