"""Rows that a pipeline collected have the scores, intervals, groups and tests of all captions together."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import pytest

pyarrow = pytest.importorskip("pyarrow")

import sacrecap
from sacrecap import example
from sacrecap.errors import DataError, UsageError

METRICS = "bleu-4, rouge-l, cider-d, meteor, combine(rouge-l, bleu-1)"
REFERENCES, SYSTEMS = example.references(), example.systems()
FREQUENCIES = sacrecap.DocumentFrequency.build(REFERENCES)


def scorer(metrics: str = METRICS, **options: Any) -> sacrecap.Scorer:
    return sacrecap.Scorer(metrics, document_frequency=FREQUENCIES, **{"image_id": "image_id", **options})


def batches(system: str, seed: int | None = None) -> list[Any]:
    """A system's rows in batches of eleven; in another order, with a seed."""
    images = list(REFERENCES)
    if seed is not None:
        random.Random(seed).shuffle(images)
    columns = {
        "image_id": images,
        "caption": [SYSTEMS[system][image] for image in images],
        "references": [REFERENCES[image] for image in images],
    }
    return list(pyarrow.table(columns).to_batches(max_chunksize=11))


def rows(system: str, seed: int | None = None) -> sacrecap.Rows:
    found = sum(map(scorer().rows, batches(system, seed)))
    assert isinstance(found, sacrecap.Rows)
    return found


def whole(**how: Any) -> sacrecap.Result:
    return sacrecap.score(REFERENCES, SYSTEMS["careful"], METRICS, document_frequency=FREQUENCIES, **how)


@pytest.mark.parametrize(
    "how",
    [{"samples": 50}, {"interval": None}, {"interval_method": "jackknife"}, {"interval": 0.8, "seed": 3}],
    ids=str,
)
def test_scores_and_intervals(how: dict[str, Any]) -> None:
    found = rows("careful").score(**how)
    expected = whole(**how)
    assert {**found.to_dict(), "findings": []} == {**expected.to_dict(), "findings": []}
    assert found.image_ids == expected.image_ids
    assert found.to_pandas().equals(expected.to_pandas())


def test_any_order_has_the_same_scores() -> None:
    assert rows("careful", 1).score(interval=None).flat() == whole(interval=None).flat()


def test_groups() -> None:
    groups = {image: image[0] for image in REFERENCES}
    found, expected = (result.by(groups) for result in (rows("careful").score(samples=20), whole(samples=20)))
    assert found.to_dict()["groups"] == expected.to_dict()["groups"]


@pytest.mark.filterwarnings("ignore:with 50 samples no p")
@pytest.mark.parametrize("test", ["exact", "bootstrap", "permutation"])
def test_paired_tests(test: Any) -> None:
    """Of systems whose rows came in other orders, from other processes."""
    others = [pickle.loads(pickle.dumps(rows(system, seed))) for seed, system in enumerate(list(SYSTEMS)[1:])]
    first, *_ = SYSTEMS
    found = rows(first).compare(*others, names=list(SYSTEMS), test=test, samples=50)
    expected = sacrecap.compare(REFERENCES, SYSTEMS, METRICS, test=test, samples=50, document_frequency=FREQUENCIES)
    assert found.to_dict()["pairs"] == expected.to_dict()["pairs"]
    assert found.to_dict()["systems"] == expected.to_dict()["systems"]


def test_they_are_pickled_small(tmp_path: Path) -> None:
    """Numbers and ids: frequencies of a file go by its path."""
    FREQUENCIES.save(tmp_path / "own.df")
    of_file = sacrecap.DocumentFrequency.load(tmp_path / "own.df")
    made = sacrecap.Scorer(METRICS, document_frequency=of_file, image_id="image_id")
    sizes = [len(pickle.dumps(sum(map(made.rows, batches("careful") * times)))) for times in (1, 11)]
    assert (sizes[1] - sizes[0]) / 600 < 60 * 8
    data = pickle.dumps(rows("careful"))
    again = pickle.loads(data)
    assert repr(again) == "<Rows of 60 images: bleu-4, rouge-l, cider-d, meteor, combine(bleu-1, rouge-l)>"
    assert again.score(samples=20).to_dict() == rows("careful").score(samples=20).to_dict()
    assert len(again + again) == 120


def test_bad_rows_are_counted() -> None:
    lenient = scorer("rouge-l", on_bad_row="null")
    batch = {"image_id": ["1", "2"], "caption": ["a dog", "a bus"], "references": [["a dog"], None]}
    found = lenient.rows(batch)
    assert (len(found), found.bad_rows, found.image_ids) == (1, 1, ["1"])
    assert found.score(interval=None)["rouge-l"] == 1
    nothing = lenient.rows({"image_id": ["1"], "caption": ["a dog"], "references": [None]})
    with pytest.raises(DataError, match="no row was scored"):
        nothing.score()
    assert (nothing + found).score(interval=None)["rouge-l"] == 1
    assert [both.bad_rows for both in (nothing + found, pickle.loads(pickle.dumps(nothing + found)))] == [2, 2]
    assert sum([lenient.statistics(batch)] * 3).bad_rows == 3  # type: ignore[attr-defined]


def test_what_does_not_belong_together_is_refused() -> None:
    careful = rows("careful")
    with pytest.raises(UsageError, match="rows of rouge-l cannot follow those of bleu-4, rouge-l"):
        careful + scorer("rouge-l").rows(batches("plain")[0])
    split = sacrecap.Scorer("rouge-l", tokenizer="none")
    for made in ("rows", "statistics"):
        with pytest.raises(UsageError, match="rows of the tokenizer none cannot follow those of the tokenizer ptb"):
            getattr(scorer("rouge-l"), made)(batches("plain")[0]) + getattr(split, made)(batches("plain")[0])
    for names in (["careful"], ["careful", "careful"]):
        with pytest.raises(UsageError, match="names must be 2 different ones, one for each system; got "):
            careful.compare(rows("plain"), names=names)
    other = sacrecap.DocumentFrequency.build({"1": ["a dog"], "2": ["a bus"]})
    fewer = sacrecap.Scorer(METRICS, document_frequency=other, image_id="image_id").rows(batches("plain")[0])
    with pytest.raises(
        UsageError, match=r"rows by other settings, df:\w{8}\(2\), cannot follow those by df:\w{8}\(60\)"
    ):
        (careful + fewer).score()
    unnamed = sum(map(scorer(image_id=None).rows, batches("plain")))
    assert isinstance(unnamed, sacrecap.Rows)
    assert unnamed.image_ids[:2] == ["0", "1"]
    with pytest.raises(UsageError, match="rows are paired by image id; name their column"):
        careful.compare(unnamed)
    mixed = careful + scorer(image_id=None).rows(batches("plain")[0])
    assert mixed.image_ids[-1] == str(len(mixed) - 1)
    with pytest.raises(UsageError, match="rows are paired by image id; name their column"):
        careful.compare(mixed)
    with pytest.raises(DataError, match=r"b: differs by \d+ images .*score all systems on the same images"):
        careful.compare(scorer().rows(batches("plain")[0]))
    with pytest.raises(DataError, match="b: has several rows of 60 images"):
        careful.compare(rows("plain") + rows("plain"))
    with pytest.raises(UsageError, match="a comparison takes two systems or more"):
        careful.compare()
    for wrong in ({"names": "ab"}, {"test": 5}):
        with pytest.raises(UsageError, match=r"systems are sacrecap\.Rows, and names a list|test must be one of"):
            careful.compare(rows("plain"), **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"systems are sacrecap\.Rows"):
        careful.compare({})  # type: ignore[arg-type]
    for call in (careful.score, lambda **own: careful.compare(rows("plain"), **own)):
        with pytest.raises(
            UsageError, match="unexpected keyword argument 'sample'; rows were scored before, and take "
        ):
            call(sample=5)
    with pytest.raises(UsageError, match=r"captions were not kept, .* score them with sacrecap\.score"):
        careful.score(interval=None).explain("beach-dog")


def test_what_is_found_names_the_image() -> None:
    """The smallest of all batches, as of captions that are scored together."""
    odd = {image: f"{caption} </s>" for image, caption in SYSTEMS["careful"].items() if image > "c"}
    captions = {**SYSTEMS["careful"], **odd}
    images = list(REFERENCES)
    made = []
    for own in (images[40:], images[:40]):
        batch = {"image_id": own, "references": [REFERENCES[i] for i in own], "caption": [captions[i] for i in own]}
        made.append(scorer("rouge-l").rows(batch))
    [found], [expected] = (
        [one.to_dict() for one in result.findings if one.kind == "token"]
        for result in (sum(made).score(samples=20), sacrecap.score(REFERENCES, captions, "rouge-l", samples=20))  # type: ignore[attr-defined]
    )
    assert found == expected


def test_a_counter_counts_what_build_counts() -> None:
    """Batch by batch, and what other processes counted."""
    for how in ({}, {"stem": True, "n": 2}, {"tokenizer": "whitespace"}):
        counter = sacrecap.DocumentFrequency.counter(memory=1, **how)  # type: ignore[arg-type]
        first, second, *others = batches("plain")
        counter.add(first["references"])
        counter.add({image: REFERENCES[image] for image in second["image_id"].to_pylist()})
        elsewhere = sacrecap.DocumentFrequency.counter(**how)  # type: ignore[arg-type]
        for batch in others:
            elsewhere.add(batch["references"].to_pylist())
        counter.merge(pickle.loads(pickle.dumps(elsewhere.finish())))
        assert counter.documents == 60
        found = counter.finish()
        assert found == sacrecap.DocumentFrequency.build(REFERENCES, **how)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="has ended"):
            counter.finish()
    counter = sacrecap.DocumentFrequency.counter()
    counter.add(REFERENCES)
    rare = counter.finish(minimum=2)
    assert rare.ngrams < FREQUENCIES.ngrams / 2
    scores = [
        sacrecap.score(REFERENCES, SYSTEMS["plain"], "cider-d", document_frequency=own, interval=None)["cider-d"]
        for own in (rare, FREQUENCIES)
    ]
    assert scores[0].value == scores[1].value
    for wrong in ({"memory": 0}, {"n": 5}):
        with pytest.raises(UsageError):
            sacrecap.DocumentFrequency.counter(**wrong)  # type: ignore[arg-type]
