"""One rule for missing captions: the same rows in any format, by any engine, give the same bits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import sacrecap
from laws.odd_rows import (
    BY_ROW,
    CAPTIONS,
    FORMATS,
    LEFT_OUT,
    METRICS,
    PARTED,
    PLAIN,
    REFERENCES,
    Rows,
    bits,
    captions_in,
    references_in,
    write_both,
)
from sacrecap.errors import DataError, DataWarning, SacrecapWarning

ENGINES = ("local", "stream")
pytestmark = pytest.mark.filterwarnings("always::sacrecap.errors.SacrecapWarning")


def expected(format_: str = "") -> object:
    """From captions in which nothing is missing any more."""
    filled = {image: text or "" for image, text in captions_in(format_).items()}
    plain = {
        image: [text for text in texts if text and text.strip()] for image, texts in references_in(format_).items()
    }
    return bits(sacrecap.score(plain, filled, METRICS, interval=None))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("format_", "lists"), [*((one, True) for one in BY_ROW), *((one, False) for one in FORMATS)], ids=str
)
def test_the_same_rows_give_the_same_bits(format_: str, lists: bool, engine: Any, tmp_path: Path) -> None:
    if engine == "stream" and format_ not in PARTED:
        pytest.skip("no engine reads it by parts")
    references, captions = write_both(format_, tmp_path, lists=lists)
    with pytest.warns(DataWarning, match="5 references are empty or missing"):
        found = sacrecap.score(references, captions, METRICS, interval=None, engine=engine)
    assert bits(found) == expected(format_)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("format_", [one for one in BY_ROW if one != "list.json"])
def test_joined_rows_give_the_same_bits(format_: str, engine: Any, tmp_path: Path) -> None:
    rows: Rows = [{"image_id": one, "references": REFERENCES[one], "caption": CAPTIONS[one]} for one in CAPTIONS]
    file = tmp_path / f"rows.{format_}"
    FORMATS[format_](rows, file)
    with pytest.warns(SacrecapWarning, match="empty or missing"):
        found = sacrecap.score(str(file), None, METRICS, interval=None, engine=engine)
    assert bits(found) == expected()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("format_", ["list.json", "mapping.json", "jsonl"])
@pytest.mark.parametrize("place", ["references", "captions"])
@pytest.mark.usefixtures("recwarn")
def test_json_of_single_captions_refuses_null(place: str, format_: str, engine: Any, tmp_path: Path) -> None:
    """A call of a model that failed is no empty caption, and is not scored 0 without a word."""
    if engine == "stream" and format_ not in PARTED:
        pytest.skip("no engine reads it by parts")
    files = {}
    for name in ("references", "captions"):
        texts = {"1": "a dog", "2": None if name == place else "a cat", "3": "a bus"}
        files[name] = tmp_path / f"{name}.{format_}"
        if format_ == "mapping.json":
            files[name].write_text(json.dumps(texts))
        else:
            FORMATS[format_]([{"image_id": image, "caption": text} for image, text in texts.items()], files[name])
    with pytest.raises(DataError, match=r"captions must be strings|for 1 image \(2\)"):
        sacrecap.score(str(files["references"]), str(files["captions"]), METRICS, interval=None, engine=engine)


ROWS: Rows = [{"image_id": image, "caption": text} for image, text in CAPTIONS.items()]


@pytest.mark.parametrize(
    "captions", [CAPTIONS, ROWS, pandas.DataFrame(ROWS), polars.DataFrame(ROWS), pyarrow.Table.from_pylist(ROWS)]
)
def test_objects_in_memory_give_the_same_bits(captions: Any) -> None:
    with pytest.warns(DataWarning, match=LEFT_OUT):
        found = sacrecap.score(REFERENCES, captions, METRICS, interval=None)  # type: ignore[arg-type]
    assert bits(found) == expected()


@pytest.mark.parametrize("kind", [dict, pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_a_scorer_gives_the_same_bits(kind: Any) -> None:
    frequencies = sacrecap.DocumentFrequency.build(PLAIN)
    scorer = sacrecap.Scorer(METRICS, document_frequency=frequencies, image_id="image_id")
    columns = {"image_id": list(CAPTIONS), "caption": list(CAPTIONS.values()), "references": list(REFERENCES.values())}
    batch = kind(columns)
    filled = {image: text or "" for image, text in CAPTIONS.items()}
    whole = sacrecap.score(PLAIN, filled, METRICS, interval=None, document_frequency=frequencies)
    with pytest.warns(DataWarning, match="the batch: 5 references are empty or missing"):
        statistics = scorer.statistics(batch)
    assert bits(statistics.result())[0] == bits(whole)[0]  # type: ignore[index]
    with pytest.warns(DataWarning, match="the batch: 5 references are empty or missing"):
        scores = pyarrow.array(scorer(batch)["cider-d"]).tolist()
    assert [float(score) for score in scores[2:5]] == [0, 0, 0]


@pytest.mark.parametrize("format_", [one for one in BY_ROW if one != "list.json"])
def test_caption_sets_give_the_same_bits(format_: str, tmp_path: Path) -> None:
    sets = {"1": ["a dog", None, "a cat"], "2": ["", "two cats"], "3": [None, None], "4": ["a bus", " "]}
    rows: Rows = [{"image_id": image, "captions": texts} for image, texts in sets.items()]
    FORMATS[format_](rows, tmp_path / f"sets.{format_}")
    how: Any = {"metrics": "self-cider, mbleu-1", "interval": None}
    filled = {image: [text or "" for text in texts] for image, texts in sets.items()}
    wanted = sacrecap.diversity(filled, **how)["sets"]
    [found] = sacrecap.diversity(str(tmp_path / f"sets.{format_}"), **how).values()
    assert [score.value.hex() for score in found.values()] == [score.value.hex() for score in wanted.values()]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_text_table_has_words_for_missing_captions(engine: Any, tmp_path: Path) -> None:
    rows = [("1", "a dog", "A dog."), ("2", "NaN", "a bus"), ("3", " none ", "a cat"), ("4", "", "a mat")]
    files = tmp_path / "references.csv", tmp_path / "captions.csv"
    for place, file in ((2, files[0]), (1, files[1])):
        FORMATS["csv"]([{"image_id": row[0], "caption": row[place]} for row in rows], file)
    found = sacrecap.score(str(files[0]), str(files[1]), METRICS, interval=None, engine=engine)
    [finding] = found.findings
    assert (finding.kind, finding.count, finding.example["image_id"]) == ("empty", 3, "2")
    captions = {row[0]: row[1] if row[0] == "1" else "" for row in rows}
    same = sacrecap.score({row[0]: [row[2]] for row in rows}, captions, METRICS, interval=None)
    assert [score.value for score in found.values()] == [score.value for score in same.values()]


def test_captions_that_are_all_empty_are_told_in_every_shape(tmp_path: Path) -> None:
    (tmp_path / "captions.json").write_text(json.dumps(dict.fromkeys(CAPTIONS, "")))
    references = {image: ["a dog"] for image in CAPTIONS}
    for captions in (dict.fromkeys(CAPTIONS, ""), str(tmp_path / "captions.json")):
        [finding] = sacrecap.score(references, captions, "rouge-l", interval=None).findings
        assert (finding.kind, finding.share) == ("empty", 1.0)


@pytest.mark.parametrize("empty", ["", None])
def test_an_image_whose_references_are_all_empty_has_none(empty: Any) -> None:
    with pytest.warns(DataWarning), pytest.raises(DataError, match="no reference for 1 image"):
        sacrecap.score({"1": [empty], "2": ["a dog"]}, {"1": "a dog", "2": "a dog"}, "rouge-l")
