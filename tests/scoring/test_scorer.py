"""A scorer gives the rows of any batch the scores that `sacrecap.score` gives each alone, and sums that add up to its
corpus scores.
"""

from __future__ import annotations

import math
import multiprocessing
import pickle
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from sacrecap import example
from sacrecap.errors import DataError, DataWarning, UsageError
from sacrecap.scoring.scorer import Sums

METRICS = "bleu-4, rouge-l, cider-d, meteor, combine(rouge-l, bleu-1)"
REFERENCES = example.references()
CANDIDATES = example.systems()["careful"]
BATCH = {
    "image_id": [*REFERENCES],
    "caption": [CANDIDATES[image] for image in REFERENCES],
    "references": [*REFERENCES.values()],
}
TABLE = pyarrow.table(BATCH)


@cache
def frequencies() -> sacrecap.DocumentFrequency:
    return sacrecap.DocumentFrequency.build(REFERENCES)


def scorer(metrics: str = METRICS, **options: Any) -> sacrecap.Scorer:
    return sacrecap.Scorer(metrics, document_frequency=frequencies(), **options)


def scored(references: Sequence[Sequence[str]], captions: Sequence[str], metrics: str = METRICS) -> sacrecap.Result:
    return sacrecap.score(list(references), list(captions), metrics, document_frequency=frequencies(), interval=None)


def one_by_one(references: Sequence[Sequence[str]], captions: Sequence[str]) -> list[list[float]]:
    """The slow way: each row is a corpus of its own. A list per metric."""
    rows = [scored([own], [caption]) for own, caption in zip(references, captions, strict=True)]
    return [[float(row[key].per_image[0]) for row in rows] for key in rows[0]]


def columns_of(batch: Any, names: Sequence[str]) -> list[list[float]]:
    """The scores in a batch of any kind, NaN for none."""
    columns = [batch[name] for name in names]
    lists = [own.to_pylist() if hasattr(own, "to_pylist") else list(own) for own in columns]
    return [[math.nan if value is None else float(value) for value in own] for own in lists]


TEXTS = st.lists(
    st.sampled_from(["a", "dog", "dogs", "runs", "été", "犬", "🐕", "e\u0301", ",", "don't"]), max_size=6
).map(" ".join)
REFERENCES_OF_ROWS = st.lists(TEXTS.filter(bool), min_size=1, max_size=3)
ROWS = st.lists(st.tuples(TEXTS, REFERENCES_OF_ROWS), min_size=1, max_size=8)


@given(rows=ROWS, seed=st.integers(0, 99))
def test_any_batches_give_each_row_the_bits_that_it_has_alone(rows: list[tuple[str, list[str]]], seed: int) -> None:
    rng = random.Random(seed)
    rng.shuffle(rows)
    cuts = sorted([0, len(rows), *(rng.randint(0, len(rows)) for _ in range(3))])
    mine = scorer()
    sums = []
    for start, end in pairwise(cuts):
        captions, references = [caption for caption, _ in rows[start:end]], [own for _, own in rows[start:end]]
        batch = {"caption": captions, "references": references}
        expected = one_by_one(references, captions) if captions else [[]] * len(mine.columns)
        assert columns_of(mine(batch), mine.columns) == expected
        sums.append(mine.statistics(batch))
    rng.shuffle(sums)
    total = sum(sums)
    assert isinstance(total, Sums)
    assert total.rows == len(rows)
    whole = scored([own for _, own in rows], [caption for caption, _ in rows]).to_dict()
    found = total.result().to_dict()
    assert {(one["kind"], one["count"]) for one in found["findings"]} <= {
        (one["kind"], one["count"]) for one in whole["findings"]
    }
    # Nothing names these rows: the signature has their numbers within the batches.
    alike = {"findings": [], "signatures": {}}
    assert {**found, **alike} == {**whole, **alike}


def test_sums_have_the_findings_of_each_caption() -> None:
    """Which add up over batches; what takes several rows is not looked for."""
    captions = ["a dog <unk>", "a cat", "", "[a dog, a cat]"]
    references = [["a dog runs", "a dog"]] * 4
    total = sum(
        scorer("rouge-l").statistics({"caption": captions[n : n + 2], "references": references[n : n + 2]})
        for n in (0, 2)
    )
    assert isinstance(total, Sums)
    found = pickle.loads(pickle.dumps(total)).result().to_dict()["findings"]
    assert {one["kind"]: one["count"] for one in found} == {"token": 1, "empty": 1, "list": 1}
    whole = scored(references, captions).findings
    assert {one["kind"]: one["share"] for one in found} == {one.kind: one.share for one in whole}


KINDS: dict[str, Callable[[], Any]] = {
    "record batch": lambda: TABLE.combine_chunks().to_batches()[0],
    "table": lambda: pyarrow.concat_tables([TABLE.slice(0, 20), TABLE.slice(20)]),
    "large table": lambda: polars.DataFrame(BATCH).to_arrow(),
    "dictionary column": lambda: TABLE.set_column(1, "caption", TABLE["caption"].dictionary_encode()),
    "pandas": lambda: pandas.DataFrame(BATCH, index=[*reversed(range(60))]),
    "pandas of arrow": lambda: TABLE.to_pandas(types_mapper=pandas.ArrowDtype),
    "polars": lambda: polars.DataFrame(BATCH),
    "lists": lambda: BATCH,
    "arrays": lambda: {name: np.array(own, dtype=object) for name, own in BATCH.items()},
    "arrays of texts": lambda: {"caption": np.array(BATCH["caption"]), "references": np.array(BATCH["references"])},
    "tuples": lambda: {name: tuple(own) for name, own in BATCH.items()},
}


def names_of(batch: Any) -> list[str]:
    if isinstance(batch, pyarrow.RecordBatch | pyarrow.Table):
        return list(batch.schema.names)
    return list(getattr(batch, "columns", batch))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_batch_comes_back_as_it_was_with_scores(kind: str) -> None:
    batch = KINDS[kind]()
    mine = scorer()
    found = mine(batch)
    assert type(found) is type(batch)
    expected = scored(BATCH["references"], BATCH["caption"])
    assert columns_of(found, mine.columns) == [expected[key].per_image.tolist() for key in expected]
    assert names_of(found) == [*names_of(batch), *mine.columns]
    assert mine.statistics(batch).result().to_dict() == expected.to_dict()
    if isinstance(batch, pandas.DataFrame):
        assert found.index.equals(batch.index)
    if kind == "arrays":
        assert found["cider-d"].dtype == np.float64


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_batch_has_empty_columns_of_scores(kind: str) -> None:
    batch = KINDS[kind]()
    is_columns = isinstance(batch, dict)
    empty = {name: own[:0] for name, own in batch.items()} if is_columns else batch[:0]
    mine = scorer()
    assert columns_of(mine(empty), mine.columns) == [[] for _ in mine.columns]
    if isinstance(batch, pyarrow.Table):
        assert mine(empty).schema.field("cider-d").type == pyarrow.float64()
    nothing = mine.statistics(empty)
    assert nothing.rows == 0
    with pytest.raises(DataError, match="no row"):
        nothing.result()
    assert (nothing + mine.statistics(BATCH)).result()["cider-d"].value == scored(*WHOLE)["cider-d"].value


WHOLE = (BATCH["references"], BATCH["caption"])
BAD = {
    "caption": ["a dog", None, "a dog", "a dog", "a dog", 3, "\ud800", "a\x00dog", ""],
    "references": [["a dog"], ["a dog"], None, [], ["a dog", None], ["a dog"], ["a dog"], ["a dog"], ["a dog"]],
}


@pytest.mark.filterwarnings("ignore:the batch. 1 reference is empty")
def test_a_row_that_cannot_be_scored_is_named_or_has_no_score() -> None:
    with pytest.raises(DataError, match=r"row 2 of the batch: references .*4 more rows.*on_bad_row=\"null\""):
        scorer()(BAD)
    mine = scorer("rouge-l", on_bad_row="null")
    assert mine(BAD)["rouge-l"] == [1.0, 0.0, None, None, 1.0, None, None, None, 0.0]
    assert mine.statistics(BAD).bad_rows == 5
    assert mine.statistics(BAD).result().flat() == {"rouge-l": 0.5}
    good = {name: own[2:4] for name, own in BAD.items()}
    assert mine(polars.DataFrame(good))["rouge-l"].null_count() == 2
    assert mine(pyarrow.table(good))["rouge-l"].null_count == 2
    assert mine(pandas.DataFrame(good))["rouge-l"].isna().all()
    assert np.isnan(mine({name: np.array(own, dtype=object) for name, own in good.items()})["rouge-l"]).all()


def test_references_that_are_left_out_are_told() -> None:
    batch = {"caption": ["a dog", "a cat"], "references": [["a dog", None], ["", "a cat"]]}
    with pytest.warns(DataWarning, match=r"the batch: 2 references are empty or missing \(rows 0, 1\); left out"):
        assert scorer("rouge-l")(batch)["rouge-l"] == [1.0, 1.0]


@pytest.mark.parametrize("number", [2, 3, 5, 6, 7])
def test_each_bad_row_is_an_error_that_names_it(number: int) -> None:
    batch = {name: [own[0], own[number]] for name, own in BAD.items()}
    with pytest.raises(DataError, match="row 1 of the batch: "):
        scorer("rouge-l")(batch)


def test_an_image_that_one_metric_cannot_score_is_a_bad_row() -> None:
    batch = {"image_id": ["1", "2", "3"], "caption": ["a dog", "a dog", "a cat"], "references": [["a dog"]] * 3}
    how: dict[str, Any] = {"rubric": {"1": ["a dog"], "3": ["a cat"]}, "image_id": "image_id"}
    with pytest.raises(DataError, match="row 1 of the batch: the rubric has no items for 1 image"):
        scorer("rouge-l, rubric", **how)(batch)
    found = scorer("rouge-l, rubric", on_bad_row="null", **how)(batch)
    assert found["rouge-l"] == [1.0, None, 0.5]
    assert found["rubric"] == [1.0, None, 1.0]


def test_an_image_without_objects_is_a_bad_row_in_any_batch() -> None:
    batch = {"image_id": ["1", "2"], "caption": ["a dog", "a dog"]}
    options = {"objects": {"1": ["dog"]}, "on_bad_row": "null"}
    mine = sacrecap.Scorer("chair-i(gold=objects)", **options)
    assert mine(batch)["chair-i(gold=objects)"] == [0.0, None]
    assert mine({name: own[1:] for name, own in batch.items()})["chair-i(gold=objects)"] == [None]


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (("caption", "references"), {}),
        (("prediction", "reference"), {}),
        (("candidate", "captions"), {}),
        (("text", "about"), {"captions": "text", "references": "about"}),
        (("caption", "caption_1"), {"captions": "caption", "references": "caption_*"}),
    ],
)
def test_columns_are_recognised_or_named(columns: tuple[str, str], named: dict[str, str]) -> None:
    batch = {columns[0]: ["a dog"], columns[1]: [["a dog runs"]]}
    assert columns_of(scorer("rouge-l", **named)(batch), ["rouge-l"]) == columns_of(
        scorer("rouge-l")({"caption": ["a dog"], "references": [["a dog runs"]]}), ["rouge-l"]
    )


@pytest.mark.parametrize(
    ("batch", "named", "message"),
    [
        ({"caption": ["a"]}, {}, "columns caption, and not references; name others by references=NAME"),
        ({"x": ["a"]}, {}, "not captions and references; name others by captions=NAME and references=NAME"),
        ({"caption": ["a"], "references": [["a"]]}, {"captions": "text"}, "not text; name others by captions=NAME"),
        ({"caption": ["a"], "references": [["a"]]}, {"references": ["references", "r"]}, "and not r; name others"),
        ({"caption": ["a"], "references": [["a"], ["b"]]}, {}, r"1 \(caption\), 2 \(references\) values"),
        ({"caption": [1.5], "references": [["a"]]}, {}, "the caption is of type float; it must be a string"),
        ({"captions": [["a", "b"]], "references": [["a"]]}, {}, "captions is 2 captions, and a row is one"),
        ({"caption": ["a"], "references": [["a"]], "rouge-l": [0]}, {}, "a column rouge-l already.*prefix=TEXT"),
    ],
)
def test_what_is_wrong_with_a_batch_is_said(batch: dict[str, Any], named: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        sacrecap.Scorer("rouge-l", **named)(batch)


def test_a_prefix_scores_two_columns_of_captions() -> None:
    batch = {"a": ["a dog"], "b": ["a cat"], "references": [["a dog"]]}
    for name in ("a", "b"):
        batch = scorer("rouge-l", captions=name, prefix=f"{name} ")(batch)
    assert (batch["a rouge-l"], batch["b rouge-l"]) == ([1.0], [0.5])


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        ("coco", {}, 'cider-d weights words .*document_frequency="coco-train", or a file of sacrecap df build'),
        ("spider", {}, "weights words"),
        ("combine(cider-d, rouge-l)", {}, "weights words"),
        ("fluency", {}, "learns from the references of all images"),
        ("self-cider", {}, "scores caption sets"),
        ("rouge-l", {"tokenizer": "ptb-stream"}, "all captions as one text"),
        ("rouge-l", {"on_bad_row": "skip"}, "on_bad_row must be one of error, null"),
        ("rouge-l", {"capttions": "x"}, "unexpected keyword argument 'capttions'"),
    ],
)
def test_what_depends_on_other_rows_is_refused(metrics: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sacrecap.Scorer(metrics, **options)
    for batch in ([BATCH], 3, polars.LazyFrame(BATCH)):
        with pytest.raises(UsageError, match="accepted are a pyarrow RecordBatch"):
            sacrecap.Scorer("rouge-l")(batch)


def length(candidate: str) -> float:
    return float(len(candidate.split()))


def test_metrics_that_need_no_references_read_none(metrics_of_a_test: None) -> None:
    sacrecap.metric(length)
    alone = {"image_id": ["1", "2", "1"], "caption": ["a dog", "a cat and a dog", "a cat"]}
    objects = {"1": ["dog"], "2": ["cat"]}
    mine = sacrecap.Scorer("length, chair-i(gold=objects), vifidel(references=no)", objects=objects)
    found = mine(alone)
    assert found["length"] == [2, 5, 2]
    assert found["chair-i(gold=objects)"] == [0, 0.5, 1]
    for image, caption, score in zip(alone["image_id"], alone["caption"], found["vifidel(references=no)"], strict=True):
        expected = sacrecap.score(
            {image: ["x"]}, {image: caption}, "vifidel(references=no)", objects=objects, interval=None
        )
        assert score == expected["vifidel(references=no)"].per_image[0]
    assert "|refs:" not in mine.statistics(alone).result()["length"].signature
    with pytest.raises(DataError, match="not image_id"):
        mine({"caption": ["a dog"]})
    with pytest.raises(DataError, match="not references"):
        sacrecap.Scorer("chair-i", objects=objects)(alone)


def test_sums_by_other_settings_do_not_add_up() -> None:
    one, other = scorer("rouge-l").statistics(BATCH), scorer("bleu-1").statistics(BATCH)
    with pytest.raises(UsageError, match="rows of bleu-1 cannot follow those of rouge-l"):
        one + other
    fewer = sacrecap.Scorer("cider-d", document_frequency=sacrecap.DocumentFrequency.build({"1": ["a dog"]}))
    with pytest.raises(UsageError, match="other settings"):
        scorer("cider-d").statistics(BATCH) + fewer.statistics(BATCH)
    with pytest.raises(TypeError):
        one + 3  # type: ignore[operator]


def test_another_process_reads_the_file_of_frequencies_and_sums_add_up(tmp_path: Path) -> None:
    frequencies().save(tmp_path / "coco.df")
    mine = sacrecap.Scorer(METRICS, document_frequency=tmp_path / "coco.df")
    assert len(pickle.dumps(mine)) < 3000
    batches = [TABLE.slice(start, 20) for start in range(0, 60, 20)]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        scores = list(pool.map(sacrecap.Scorer.__call__, [mine] * 3, batches))
        sums = list(pool.map(sacrecap.Scorer.statistics, [mine] * 3, batches))
    expected = sacrecap.score(*WHOLE, METRICS, document_frequency=tmp_path / "coco.df", interval=None)
    together = pyarrow.concat_tables(scores)
    assert columns_of(together, mine.columns) == [expected[key].per_image.tolist() for key in expected]
    assert {**sum(sums).result().to_dict(), "signatures": {}} == {**expected.to_dict(), "signatures": {}}


def test_a_process_that_gets_a_scorer_again_has_it_already() -> None:
    sent = pickle.dumps(scorer("rouge-l"))
    assert pickle.loads(sent) is pickle.loads(sent)
    others = [pickle.loads(pickle.dumps(scorer("rouge-l", prefix=str(number)))) for number in range(9)]
    assert [one.columns for one in others] == [[f"{number}rouge-l"] for number in range(9)]


def test_equal_scorers_are_the_same_bytes_so_that_data_sets_find_what_they_kept(tmp_path: Path) -> None:
    frequencies().save(tmp_path / "coco.df")
    sent = {pickle.dumps(sacrecap.Scorer(METRICS, document_frequency=tmp_path / "coco.df")) for _ in range(3)}
    assert len(sent) == 1


def test_frequencies_of_a_file_have_to_be_where_they_are_used(tmp_path: Path) -> None:
    path = tmp_path / "coco.df"
    frequencies().save(path)
    sent = pickle.dumps(sacrecap.DocumentFrequency.load(path))
    assert len(sent) < 500
    assert pickle.loads(sent) == frequencies()
    sacrecap.DocumentFrequency.build({"1": ["a dog"]}).save(path)
    with pytest.raises(DataError, match="other counts.*on every machine"):
        pickle.loads(sent).count(["a"])
    path.unlink()
    gone = pickle.loads(sent)
    assert gone.source == "coco.df"
    with pytest.raises(DataError, match="coco.df: no such file.*have the file there, the same on every machine"):
        gone.count(["a"])


def test_it_says_what_it_is() -> None:
    assert repr(scorer("rouge-l, bleu-1")) == "<Scorer: rouge-l, bleu-1>"
    assert repr(scorer("rouge-l").statistics(BATCH)) == "<Sums of 60 rows: rouge-l>"
