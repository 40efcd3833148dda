"""Captions that come in batches are scored as all at once; references that are kept as those that are not."""

from __future__ import annotations

import pickle
import random
import warnings

import pytest

import sacrecap
from sacrecap import example
from sacrecap.errors import DataError, SacrecapWarning, UsageError

METRICS = "bleu-4, rouge-l, cider-d, fluency"
REFERENCES = dict(sorted(example.references().items()))
SYSTEMS = example.systems()
CANDIDATES = next(iter(SYSTEMS.values()))


def expected() -> dict[str, object]:
    return sacrecap.score(REFERENCES, CANDIDATES, METRICS, samples=100).to_dict()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("known", [True, False], ids=["references known", "references in batches"])
def test_any_batches_in_any_order_of_any_processes_give_the_same_bits(seed: int, known: bool) -> None:
    rng = random.Random(seed)
    images = [*REFERENCES, *rng.sample([*REFERENCES], 5)]
    rng.shuffle(images)
    processes = [
        sacrecap.Accumulator(REFERENCES if known else None, METRICS, samples=100) for _ in range(rng.randint(1, 4))
    ]
    while images:
        batch = [images.pop() for _ in range(min(len(images), rng.randint(1, 9)))]
        described = None if known else {image: REFERENCES[image] for image in batch}
        rng.choice(processes).update({image: CANDIDATES[image] for image in batch}, described)
    first, *others = processes
    for other in others:
        first.merge(pickle.loads(pickle.dumps(other)))
    assert len(first) == len(REFERENCES)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SacrecapWarning)
        assert first.compute().to_dict() == expected()
    first.reset()
    assert len(first) == 0


def test_of_an_image_that_comes_again_the_first_references_count() -> None:
    """As its first caption does: they belong together."""
    accumulator, later = (sacrecap.Accumulator(metrics="rouge-l", interval=None) for _ in range(2))
    accumulator.update({"1": "a dog"}, {"1": ["a dog"]})
    accumulator.update({"1": "a dog"}, {"1": ["two cats"]})
    later.update({"1": "a dog"}, {"1": ["two cats"]})
    accumulator.merge(later)
    accumulator.merge_packed(later.packed())
    assert accumulator.compute()["rouge-l"].value == 1


def test_packing_is_merging() -> None:
    one, other = (sacrecap.Accumulator(metrics="rouge-l", interval=None) for _ in range(2))
    one.update({"1": 'a "dog"\n', "2": "ein Mädchen"}, {"1": ["a dog"], "2": ["ein Kind", "x"]})
    one.update({"3": "x"}, {"3": ["x"]})
    other.merge_packed(one.packed() + one.packed())
    assert other.compute().to_dict() == one.compute().to_dict()
    assert len(other) == 3


def test_numbers_are_sorted_as_numbers() -> None:
    accumulator = sacrecap.Accumulator(metrics="rouge-l", interval=None)
    for image in ("b", "10", "9", "a"):
        accumulator.update({image: "x"}, {image: ["x"]})
    assert accumulator.compute().image_ids == ["9", "10", "a", "b"]


def test_an_image_that_comes_again_keeps_its_first_caption() -> None:
    accumulator = sacrecap.Accumulator({"1": ["a dog"]}, "rouge-l", interval=None)
    accumulator.update({"1": "a dog"})
    accumulator.update({"1": "a cat"})
    with pytest.warns(SacrecapWarning, match=r"1 image \(1\) came several times with different captions; the first"):
        assert accumulator.compute()["rouge-l"] == 1


def test_missing_images_are_said() -> None:
    accumulator = sacrecap.Accumulator({"1": ["a dog"], "2": ["a cat"]}, "rouge-l", interval=None)
    accumulator.update({"1": "a dog"})
    with pytest.raises(DataError, match=r"no candidate for 1 image \(2\)"):
        accumulator.compute()
    lenient = sacrecap.Accumulator({"1": ["a dog"], "2": ["a cat"]}, "rouge-l", interval=None, on_missing="skip")
    lenient.update({"1": "a dog"})
    assert lenient.compute().image_ids == ["1"]


def test_what_cannot_be_collected_is_said() -> None:
    free, known = sacrecap.Accumulator(metrics="rouge-l"), sacrecap.Accumulator({"1": ["a"]}, "rouge-l")
    with pytest.raises(UsageError, match="those of all images; here are none"):
        free.update({"1": "a"})
    with pytest.raises(UsageError, match="those of all images; here are both"):
        known.update({"1": "a"}, {"1": ["a"]})
    with pytest.raises(UsageError, match="nothing says which images the candidates of a list are of"):
        known.update(["a"])
    with pytest.raises(DataError, match=r"of the same images, and these differ by 1 image \(2\)"):
        free.update({"1": "a"}, {"1": ["a"], "2": ["b"]})
    with pytest.raises(DataError, match=r"not one caption for 1 image \(1\)"):
        free.update({"1": ["a", "b"]}, {"1": ["a"]})
    free.update(["a"], [["a"]])
    free.update({"1": "a"}, {"1": ["a"]})
    with pytest.raises(UsageError, match="some batches were lists"):
        free.compute()
    with pytest.raises(DataError, match="no image to score"):
        sacrecap.Accumulator(metrics="rouge-l").compute()


def test_references_are_scored_as_captions_are() -> None:
    references = sacrecap.References(REFERENCES)
    assert references.image_ids == [*REFERENCES]
    assert len(references) == len(REFERENCES)
    for candidates in SYSTEMS.values():
        shown = sacrecap.score(REFERENCES, candidates, METRICS, samples=100).to_dict()
        assert sacrecap.score(references, candidates, METRICS, samples=100).to_dict() == shown
    compared = sacrecap.compare(REFERENCES, SYSTEMS, "cider-d", samples=99).to_dict()
    assert sacrecap.compare(references, SYSTEMS, "cider-d", samples=99).to_dict() == compared
    some = dict(list(CANDIDATES.items())[:9])
    fewer = sacrecap.score(REFERENCES, some, METRICS, on_missing="skip", samples=100).to_dict()
    assert sacrecap.score(references, some, METRICS, on_missing="skip", samples=100).to_dict() == fewer
    assert sacrecap.DocumentFrequency.build(references) == sacrecap.DocumentFrequency.build(REFERENCES)
    assert str(references.captions) == f"<Captions: {len(REFERENCES)} images, {5 * len(REFERENCES)} captions>"


def test_references_are_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    references = sacrecap.References(REFERENCES, tokenizer="whitespace")

    def refuse(*_: object) -> None:
        raise AssertionError("encoded again")

    monkeypatch.setattr("sacrecap._core.References", refuse)
    for candidates in SYSTEMS.values():
        result = sacrecap.score(references, candidates, "cider-d", tokenizer="whitespace", interval=None)
        assert "tok:whitespace" in result["cider-d"].signature


def test_references_of_another_tokenizer_are_refused() -> None:
    references = sacrecap.References({"1": ["a"]}, tokenizer="none")
    with pytest.raises(UsageError, match="cut by the tokenizer none, and the call asks for ptb; give tokenizer='none'"):
        sacrecap.score(references, {"1": "a"}, "rouge-l", tokenizer="ptb")
    with pytest.raises(DataError, match="the references: no caption in it"):
        sacrecap.References({"1": []})
