"""What `sacrecap.score` takes: captions, references or a corpus that were made before; resampling as one value."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas
import pytest

import sacrecap
from sacrecap import Resampling, example
from sacrecap.errors import DataError, UnknownOptionError

REFERENCES, CAPTIONS = example.references(), example.systems()["careful"]


def test_a_corpus_and_references_are_scored_as_their_captions() -> None:
    expected = sacrecap.score(REFERENCES, CAPTIONS, "rouge-l", tokenizer="none").to_dict()
    corpus = sacrecap.Corpus(REFERENCES, CAPTIONS, tokenizer="none")
    assert sacrecap.score(corpus, metrics="rouge-l").to_dict() == expected
    references = sacrecap.References(REFERENCES, tokenizer="none")
    assert sacrecap.score(references, CAPTIONS, "rouge-l").to_dict() == expected


def test_resampling_is_one_value_or_keywords_or_both() -> None:
    how = Resampling(0.9, "jackknife", samples=50, seed=3)
    given = sacrecap.score(REFERENCES, CAPTIONS, "rouge-l", resampling=how)
    named = sacrecap.score(
        REFERENCES, CAPTIONS, "rouge-l", interval=0.9, interval_method="jackknife", samples=50, seed=3
    )
    assert given.resampling == named.resampling == how
    assert given.to_dict() == named.to_dict()
    changed = sacrecap.score(REFERENCES, CAPTIONS, "rouge-l", resampling=how, seed=4)
    assert changed.resampling == replace(how, seed=4)


def test_the_value_goes_through_every_door() -> None:
    how = Resampling(0.8, "percentile", 60, 5)
    systems = example.systems()
    sets = {image: captions[:2] for image, captions in REFERENCES.items()}
    compared = sacrecap.compare(REFERENCES, systems, "rouge-l", resampling=how)
    assert compared.resampling == next(iter(compared.values())).resampling == how
    assert sacrecap.diversity(sets, metrics="distinct", resampling=how).resampling == how


def test_an_unknown_keyword_is_named() -> None:
    with pytest.raises(UnknownOptionError, match="unexpected keyword argument 'sample'"):
        sacrecap.score(REFERENCES, CAPTIONS, "rouge-l", sample=3)  # type: ignore[call-arg]


def test_the_steps_of_a_call_are_told() -> None:
    steps: list[str] = []

    def hear(share: float) -> None:
        steps.append(f"{getattr(share, 'what', '')} {share:g}")

    sacrecap.score(REFERENCES, CAPTIONS, "rouge-l", samples=10, progress=hear)
    assert steps == ["tokenising 0", "scoring 0", "resampling 0"]
    steps.clear()
    sacrecap.score(sacrecap.Corpus(REFERENCES, CAPTIONS), metrics="rouge-l", interval=None, progress=hear)
    assert steps == ["scoring 0"]


@pytest.mark.parametrize(
    "make", [list, tuple, iter, sacrecap.References], ids=["list", "tuple", "iterator", "References"]
)
def test_a_series_with_repeated_labels_beside_a_list_as_long_is_taken_by_place(make: Callable[[Any], Any]) -> None:
    texts = ["a dog runs", "a cat", "a red bus", "two cars"]
    series = pandas.concat([pandas.Series(texts[:2]), pandas.Series(texts[2:])])
    expected = sacrecap.score([[text] for text in texts], ["a dog", *texts[1:]], "rouge-l", interval=None).to_dict()
    candidates = series.replace("a dog runs", "a dog")
    found = sacrecap.score(make([[text] for text in texts]), candidates, "rouge-l", interval=None)
    assert found.to_dict() == expected
    assert sacrecap.score(series, ["a dog", *texts[1:]], "rouge-l", interval=None).to_dict() == expected


def test_sets_and_batches_take_a_series_with_repeated_labels_by_place_too() -> None:
    texts = [["a dog runs", "one dog"], ["a cat", "two cars"]]
    series = pandas.concat([pandas.Series(texts[:1]), pandas.Series(texts[1:])])
    expected = sacrecap.diversity(texts, texts, "distinct", interval=None).to_dict()
    assert sacrecap.diversity(texts, series, "distinct", interval=None).to_dict() == expected
    assert sacrecap.diversity(series, texts, "distinct", interval=None).to_dict() == expected
    batches = sacrecap.Accumulator(metrics="rouge-l", interval=None)
    batches.update(["a dog", "a cat"], series)
    assert batches.compute().to_dict() == sacrecap.score(texts, ["a dog", "a cat"], "rouge-l", interval=None).to_dict()


def test_repeated_labels_are_ids_where_they_may_be() -> None:
    """Two references of each image, below each other."""
    references = pandas.Series(["a dog", "one dog", "a cat", "one cat"], index=[0, 0, 1, 1])
    assert sacrecap.Corpus(references, ["a dog", "a cat"]).reference_counts == (2, 2)
    with pytest.raises(DataError, match="the candidates"):
        sacrecap.score([["a"], ["b"]], pandas.Series(["a", "b"], index=["x", "x"]), "rouge-l")


@pytest.mark.parametrize("image", ["", " "])
def test_an_empty_id_is_refused(image: str) -> None:
    with pytest.raises(DataError, match="the image id of an image is empty"):
        sacrecap.score({"1": ["a dog"], image: ["a cat"]}, {"1": "a dog", image: "a cat"}, "rouge-l")
    with pytest.raises(DataError, match="the image id of row 1 is empty"):
        sacrecap.score(
            pandas.DataFrame({"image_id": ["1", image], "caption": ["a dog", "a cat"]}), {"1": "a dog"}, "rouge-l"
        )


@pytest.mark.parametrize("on_missing", ["error", "zero", "skip"])
def test_an_image_that_nobody_describes_is_left_out(on_missing: Any) -> None:
    references = {"1": ["a dog"], "2": [], "3": ["a red bus"]}
    for captions in ({"1": "a dog", "3": "a bus"}, {"1": "a dog", "2": [], "3": "a bus"}):
        found = sacrecap.score(references, captions, "rouge-l", on_missing=on_missing)  # type: ignore[arg-type]
        assert found.image_ids == ["1", "3"]


def test_systems_are_compared_on_the_images_that_all_have() -> None:
    references = {str(n): [f"a dog {n}", "a red bus"] for n in range(5)}
    systems = {"a": {i: f"a dog {i}" for i in "0234"}, "b": {i: "a bus" for i in "43210" if i != "2"}}
    found = sacrecap.compare(references, systems, "rouge-l", on_missing="skip", interval=None)
    for name, result in found.results.items():
        assert result.image_ids == ["0", "3", "4"]
        both = {image: systems[name][image] for image in result.image_ids}
        alone = sacrecap.score({image: references[image] for image in both}, both, "rouge-l", interval=None)
        assert result["rouge-l"].per_image.tolist() == alone["rouge-l"].per_image.tolist()


def test_a_pickled_corpus_has_the_same_captions() -> None:
    """Also where one is missing."""
    references = {"1": ["a dog"], "2": ["a red bus"], "3": ["a cat"]}
    corpus = sacrecap.Corpus(references, {"1": "a dog", "2": [], "3": "a cat sits"}, on_missing="zero")
    again = pickle.loads(pickle.dumps(corpus))
    assert sacrecap.score(again, metrics="rouge-l").to_dict() == sacrecap.score(corpus, metrics="rouge-l").to_dict()


def test_two_files_are_taken_for_swapped_where_candidates_are_more() -> None:
    for more, swapped in (({}, False), ({"3": "a cat"}, True)):
        captions = {"1": "a dog", "2": "a bus", **more}
        with pytest.raises(DataError, match="no reference for") as refused:
            sacrecap.score({"1": ["a dog", "one dog"], "2": [], "3": []}, captions, "rouge-l")  # type: ignore[arg-type]
        assert ("are the two files swapped" in str(refused.value)) == swapped
