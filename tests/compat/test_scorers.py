"""The scorers under BLEU and CIDEr, which programs fill image by image, and document frequencies that have a name."""

from __future__ import annotations

import copy
import math
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pycocoevalcap.bleu.bleu_scorer import BleuScorer as OriginalBleu
from pycocoevalcap.cider.cider_scorer import CiderScorer as OriginalCider

import reference.cider
import sacrecap
from compat.clients import Coco, assert_equal, quietly
from corpora import Pairs, captions, pairs
from sacrecap.compat.pyciderevalcap.cider.cider import Cider
from sacrecap.compat.pyciderevalcap.ciderD.ciderD import CiderD
from sacrecap.compat.pyciderevalcap.eval import CIDErEvalCap
from sacrecap.compat.pycocoevalcap.bleu.bleu import Bleu
from sacrecap.compat.pycocoevalcap.bleu.bleu_scorer import BleuScorer
from sacrecap.compat.pycocoevalcap.cider.cider import Cider as SuiteCider
from sacrecap.compat.pycocoevalcap.cider.cider_scorer import CiderScorer
from sacrecap.compat.pycocoevalcap.eval import COCOEvalCap
from sacrecap.compat.pycocoevalcap.eval_spice import COCOEvalCapSpice
from sacrecap.compat.pycocoevalcap.rouge.rouge import Rouge
from sacrecap.compat.pycocoevalcap.spice.spice import Spice
from sacrecap.compat.pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from sacrecap.errors import DataError, SacrecapError, SacrecapWarning, UsageError

REFERENCES = {"a": ["a dog runs", "the dogs run happily"], "b": ["two birds"], "c": ["the dog", "a city dog runs"]}


def filled(scorer: Any, corpus: Pairs) -> Any:
    for candidate, references in zip(corpus.candidates, corpus.references, strict=True):
        scorer += (candidate, list(references))
    return scorer


# BleuScorer


@given(corpus=pairs(), option=st.sampled_from([None, "closest", "average", "shortest"]), n=st.integers(1, 4))
def test_bleu_as_the_original(corpus: Pairs, option: str | None, n: int) -> None:
    ours, theirs = filled(BleuScorer(n=n), corpus), filled(OriginalBleu(n=n), corpus)
    with quietly() as printed:
        found = ours.compute_score(option=option, verbose=1)
    with quietly() as expected:
        assert_equal(found, theirs.compute_score(option=option, verbose=1))
    assert printed.getvalue() == expected.getvalue()
    assert ours.testlen(option) == theirs._testlen
    assert ours.reflen(option) == pytest.approx(theirs._reflen)
    assert ours.ratio(option) == (theirs._testlen + 1e-15) / (theirs._reflen + 1e-9)


@given(corpus=pairs(least=2), other=pairs())
def test_bleu_of_scorers_that_are_added(corpus: Pairs, other: Pairs) -> None:
    first, second = filled(BleuScorer(), corpus), filled(BleuScorer(), other)
    forked = first.copy()
    first += second
    together = Pairs(corpus.candidates + other.candidates, corpus.references + other.references)
    assert first.size() == len(together.candidates)
    assert_equal(first.compute_score(), filled(OriginalBleu(), together).compute_score())
    assert forked.size() == len(corpus.candidates)
    assert_equal(forked.compute_score(), filled(OriginalBleu(), corpus).compute_score())
    again = list(reversed(corpus.candidates))
    assert_equal(forked.rescore(again), filled(OriginalBleu(), Pairs(tuple(again), corpus.references)).compute_score())


def test_bleu_of_one_image_given_to_the_constructor() -> None:
    ours, theirs = (kind("a dog", ["a dog runs", "a"], 2) for kind in (BleuScorer, OriginalBleu))
    assert_equal(ours.compute_score(), theirs.compute_score())


# CiderScorer


@given(corpus=pairs(least=2), sigma=st.sampled_from([1.0, 6.0]))
def test_cider_as_the_original(corpus: Pairs, sigma: float) -> None:
    assume(any(map(any, corpus.references)))
    ours, theirs = filled(CiderScorer(sigma=sigma), corpus), filled(OriginalCider(sigma=sigma), corpus)
    assert_equal(ours.compute_score(), theirs.compute_score())
    assert_equal(ours.compute_score(), ours.compute_score())
    assert {ngram: count for ngram, count in theirs.document_frequency.items() if count} == ours.document_frequency
    assert ours.ref_len == pytest.approx(theirs.ref_len)
    mine, original = ours.crefs[0], theirs.crefs[0]
    assert [dict(one) for one in mine] == [dict(one) for one in original]


@given(corpus=pairs(least=2), other=pairs(least=1))
def test_cider_of_scorers_that_are_added(corpus: Pairs, other: Pairs) -> None:
    together = Pairs(corpus.candidates + other.candidates, corpus.references + other.references)
    first, second = filled(CiderScorer(), corpus), filled(CiderScorer(), other)
    forked, empty = first.copy(), first.copy_empty()
    first += second
    assert (first.size(), forked.size(), empty.size()) == (len(together.candidates), len(corpus.candidates), 0)
    assert_equal(first.compute_score(), filled(CiderScorer(), together).compute_score())
    assert_equal(forked.compute_score(), filled(CiderScorer(), corpus).compute_score())


NGRAMS = st.lists(st.sampled_from(["a", "dog", "runs"]), min_size=1, max_size=5).map(tuple)


@given(corpus=pairs(least=2), counts=st.dictionaries(NGRAMS, st.integers(0, 5)), documents=st.integers(5, 20))
def test_cider_by_frequencies_that_a_program_sets(
    corpus: Pairs, counts: dict[tuple[str, ...], int], documents: int
) -> None:
    """As the original computes it, whose `compute_cider` counts the images of the call."""
    whole = Pairs(corpus.candidates * documents, corpus.references * documents)
    theirs = filled(OriginalCider(), whole)
    theirs.document_frequency = defaultdict(float, counts)
    expected = np.array(theirs.compute_cider())[: len(corpus.candidates)]
    ours = filled(CiderD().cider_scorer, corpus)
    ours.df_mode = "set"
    ours.document_frequency = counts
    ours.ref_len = math.log(len(whole.candidates))
    assert_equal(np.array(ours.compute_cider()), expected)
    assert_equal(ours.compute_score()[1], expected)
    counts[("a",)] = 0  # a change is seen
    theirs.document_frequency[("a",)] = 0
    assert_equal(np.array(ours.compute_cider()), np.array(theirs.compute_cider())[: len(corpus.candidates)])


def test_captions_of_token_ids_take_frequencies_of_token_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training code joins ids by blanks, and reads `coco-train-idxs.p`."""
    references = {"1": ["5 7 0", "5 8 0"], "2": ["9 7 0"]}
    ngrams = {(word,): float(sum(word in " ".join(own) for own in references.values())) for word in "05789"}
    ngrams["5", "7", "0", "0"] = 1.0
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "idxs.p").write_bytes(pickle.dumps({"document_frequency": ngrams, "ref_len": 2.0}))
    monkeypatch.chdir(tmp_path)
    samples = [{"image_id": image, "caption": ["5 7 0"]} for image in references]
    score, scores = CiderD(df="idxs").compute_score(references, samples)
    assert score == pytest.approx(np.mean(scores))
    assert scores[0] > scores[1] > 0


def test_samples_of_one_image_have_no_reward_by_their_own_frequencies() -> None:
    """Several samples of an image are as many documents, of which all have every n-gram."""
    samples = [{"image_id": 0, "caption": ["4 7 9 2 0"]}, {"image_id": 0, "caption": ["4 7 0"]}]
    references = {0: ["4 7 9 2 0", "4 8 9 2 0"], 1: ["5 6 0"]}
    for metric, label in ((CiderD(), "CIDEr-D"), (Cider(), "CIDEr")):
        for several in (samples, samples[:1]):
            with pytest.warns(
                SacrecapWarning, match=f"^one image is a corpus in which .* every IDF and {label}.* is 0"
            ):
                assert metric.compute_score(references, several)[0] == 0
        other = {"image_id": 1, "caption": ["5 6 0"]}
        assert metric.compute_score(references, [*samples, other])[0] > 0


def test_the_scorers_of_training_code_count_four_words_by_default() -> None:
    """With five, the mean over the orders would be another."""
    corpus = Pairs(("a b c d e f", "a f g"), (("a b c d e", "a b c"), ("f g", "a h")))
    counted = filled(OriginalCider(), corpus).compute_score()
    for scorer in (CiderD().cider_scorer, type(CiderD().cider_scorer)()):
        assert_equal(filled(scorer, corpus).compute_score(), counted)
    assert (Cider().cider_scorer.n, type(Cider().cider_scorer)().n) == (4, 4)


def test_counting_frequencies_as_training_code_does() -> None:
    """`prepro_ngrams` adds references without candidates, and keeps the dictionary."""
    scorer, original = CiderScorer(), OriginalCider()
    for references in REFERENCES.values():
        scorer.cook_append(None, references)
        original.cook_append(None, references)
    scorer.compute_doc_freq()
    original.compute_doc_freq()
    assert type(scorer.document_frequency) is defaultdict
    assert scorer.document_frequency == original.document_frequency
    assert len(scorer.crefs) == 3


# Named document frequencies


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a training program: `data/coco-idxs.p`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    (tmp_path / "data").mkdir()
    scorer = OriginalCider()
    for references in REFERENCES.values():
        scorer += (None, references)
    scorer.compute_doc_freq()
    contents = {"document_frequency": scorer.document_frequency, "ref_len": len(REFERENCES)}
    (tmp_path / "data" / "coco-idxs.p").write_bytes(pickle.dumps(contents))
    return tmp_path


SAMPLES = [
    {"image_id": "c", "caption": ["a dog runs"]},
    {"image_id": "a", "caption": ["the dogs run"]},
    {"image_id": "c", "caption": ["two cats sit"]},
    {"image_id": "b", "caption": [""]},
]


@pytest.mark.parametrize("name", ["coco-idxs", "data/coco-idxs.p", "saved.df"])
def test_frequencies_by_name(data: Path, name: str) -> None:
    built = sacrecap.DocumentFrequency.build(REFERENCES, tokenizer="none")
    built.save(data / "saved.df")
    gts = {image: REFERENCES[image] for image in "abc"}
    answers = [sample["caption"][0] for sample in SAMPLES], [gts[str(sample["image_id"])] for sample in SAMPLES]
    truth = sacrecap.score(
        {str(k): captions for k, captions in enumerate(answers[1])},
        {str(k): one for k, one in enumerate(answers[0])},
        "cider-d, cider-paper(stem=no)",
        tokenizer="none",
        document_frequency=built,
        interval=None,
    )
    samples = [{"image_id": image, "caption": ["the dog runs"]} for image in gts]
    same = {image: ["the dog runs"] for image in gts}
    assert_equal(SuiteCider(df=name).compute_score(gts, same), CiderD(df=name).compute_score(gts, samples))
    for scorer, metric in ((CiderD(df=name), "cider-d"), (Cider(df=name), "cider-paper(stem=no)")):
        assert scorer.cider_scorer.ref_len == pytest.approx(math.log(3))
        assert scorer.cider_scorer.document_frequency[("dog",)] == 2.0
        assert scorer.cider_scorer.document_frequency.get(("elk",), 0.0) == 0.0
        for one in (scorer, pickle.loads(pickle.dumps(scorer)), copy.deepcopy(scorer)):
            score, scores = one.compute_score(gts, SAMPLES)
            assert_equal(scores, np.array(truth[metric].per_image))
            assert_equal(score, scores.mean())


def test_frequencies_that_are_not_there(data: Path) -> None:
    with pytest.raises(DataError, match=r"no document frequencies 'coco-trian': there is neither a file data/coco-t"):
        CiderD(df="coco-trian")
    scorer = CiderD(df="coco-idxs")
    with pytest.raises(UsageError, match="are those of coco-idxs, and are not added to"):
        scorer.cider_scorer.compute_doc_freq()
    with pytest.raises(DataError, match="can be looked up, not listed"):
        dict(scorer.cider_scorer.document_frequency)
    other = CiderD().cider_scorer
    other.document_frequency, other.ref_len = scorer.cider_scorer.document_frequency, scorer.cider_scorer.ref_len
    other.df_mode = "given"
    other += ("a dog runs", REFERENCES["a"])
    assert other.compute_score()[0] > 0
    scorer.cider_scorer.ref_len = 5.0
    with pytest.raises(DataError, match="ref_len is 5.0, but .*coco-idxs.p is of 3 images"):
        scorer.compute_score(REFERENCES, SAMPLES)


# Sets of captions


@settings(max_examples=20)
@given(sets=st.lists(st.lists(captions(), min_size=1, max_size=4), min_size=1, max_size=3))
def test_captions_against_each_other(sets: list[list[str]]) -> None:
    """`my_self_cider`, and `my_compute_score`, against the formulas of the papers."""
    counted = reference.cider.document_frequencies(list(REFERENCES.values()))
    for scorer, formula in ((CiderD(), reference.cider.cider_d), (Cider(), reference.cider.cider)):
        for references in REFERENCES.values():
            scorer.cider_scorer += (None, references)
        scorer.cider_scorer.compute_doc_freq()
        scorer.cider_scorer.ref_len = np.log(float(len(scorer.cider_scorer.crefs)))
        matrices = scorer.my_self_cider(sets)
        assert [matrix.shape for matrix in matrices] == [(len(one), len(one)) for one in sets]
        for matrix, one in zip(matrices, sets, strict=True):
            for row, candidate in zip(matrix, one, strict=True):
                expected = formula([candidate] * len(one), [[other] for other in one], frequencies=counted)[1]
                assert row.tolist() == pytest.approx(expected, abs=1e-12)
        squares = [[one[0]] * 2 for one in sets]
        score, scores = scorer.my_compute_score(sets, squares)
        assert scores.shape == (len(sets), 2)
        for row, (candidate, _), one in zip(scores, squares, sets, strict=True):
            assert row[0] == row[1] == pytest.approx(formula([candidate], [one], frequencies=counted)[1][0], abs=1e-12)
        assert score == pytest.approx(scores.mean())


def test_evaluation_of_untokenised_samples() -> None:
    gts = {image: [{"caption": f"{caption.capitalize()}."} for caption in some] for image, some in REFERENCES.items()}
    res = [{"image_id": one["image_id"], "caption": f"{one['caption'][0].upper()}!"} for one in SAMPLES]
    with quietly():
        found = CIDErEvalCap(gts, res, "corpus").evaluate()
    assert found["CIDErD"] == pytest.approx(CiderD().compute_score(REFERENCES, SAMPLES)[1].tolist())
    assert found["CIDEr"] == pytest.approx(Cider().compute_score(REFERENCES, SAMPLES)[1].tolist())


# SPICE


def test_spice_is_in_the_order_of_sorted_ids() -> None:
    gts = {3: ["a red dog runs on the beach"], 1: ["two cats"]}
    res = {3: ["a red dog runs"], 1: ["two cats"]}
    score, (first, second) = Spice().compute_score(gts, res)
    assert first["All"] == {"pr": 1, "re": 1, "f": 1, "fn": 0, "numImages": 1, "fp": 0, "tp": 2}
    assert math.isnan(first["Color"]["f"])
    assert second["Color"]["f"] == 1
    assert second["Relation"]["fn"] == 1
    truth = sacrecap.score(gts, {3: res[3][0], 1: res[1][0]}, "spice", tokenizer="none", interval=None)["spice"]
    assert score == pytest.approx(truth.value)
    assert [second["All"]["f"], first["All"]["f"]] == truth.per_image.tolist()
    evaluation = COCOEvalCapSpice(Coco(gts), Coco(res))
    with quietly():
        evaluation.evaluate()
    assert_equal(evaluation.imgToEval[3]["SPICE"], second)
    assert_equal(evaluation.imgToEval[1]["SPICE"], first)


def test_spice_of_several_captions_is_that_of_what_they_say_together() -> None:
    """As the references' graph is made of several captions."""
    said = ["a brown dog runs along the beach", "two dogs and a red ball", "the sea"]
    gts = {1: ["a dog with a red ball", "a cat on the beach"], 2: ["a dog"], 3: ["a man rides a horse"]}
    res = {1: said, 2: ["the brown dog"], 3: ["a person on a horse", "the horse is brown"]}
    _, found = Spice().compute_score(gts, res)
    for numbers, image in zip(found, gts, strict=True):
        _, (turned,) = Spice().compute_score({1: res[image]}, {1: gts[image]})
        for category, of_category in numbers.items():
            assert of_category["tp"] + of_category["fp"] == turned[category]["tp"] + turned[category]["fn"]
            assert of_category["tp"] + of_category["fn"] == turned[category]["tp"] + turned[category]["fp"]
    assert [(one["All"]["tp"], one["All"]["fp"]) for one in found] == [(4, 4), (1, 1), (1, 3)]
    evaluation = COCOEvalCapSpice(Coco(gts), Coco(res))
    with quietly():
        evaluation.evaluate()
    assert_equal([of_image["SPICE"] for of_image in evaluation.evalImgs], found)


# Everything


@pytest.mark.parametrize(
    "scorer",
    [Bleu(2), Rouge(), SuiteCider(), Spice(), PTBTokenizer(verbose=False)],
    ids=lambda scorer: type(scorer).__module__,
)
def test_scorers_are_pickled_and_copied(scorer: Any) -> None:
    gts, res = REFERENCES, {image: ["the dog"] for image in REFERENCES}

    def answer(one: Any) -> Any:
        if isinstance(one, PTBTokenizer):
            return one.tokenize({1: [{"caption": "A dog."}]})
        with quietly():
            return one.compute_score(gts, res)

    expected = answer(scorer)
    assert_equal(answer(pickle.loads(pickle.dumps(scorer))), expected)
    assert_equal(answer(copy.deepcopy(scorer)), expected)


def test_an_evaluation_is_pickled() -> None:
    evaluation = COCOEvalCap(Coco(REFERENCES), Coco({image: ["the dog"] for image in REFERENCES}))
    with quietly():
        evaluation.evaluate()
    again = pickle.loads(pickle.dumps(evaluation))
    assert_equal(again.imgToEval, evaluation.imgToEval)
    assert_equal(again.eval, evaluation.eval)


GOOD = {"a": ["a dog"]}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Bleu().compute_score({"a": ["x"], "b": ["x"]}, {"a": ["x"], "c": ["x"]}),
            r"gts and res must be of the same images: only gts has 1 image \(b\); only res has 1 image \(c\)",
        ),
        (
            lambda: Bleu().compute_score({"a": ["x"], "b": ["x"]}, {"a": ["x"]}),
            r"gts and res must be of the same images: only gts has 1 image \(b\)$",
        ),
        (lambda: Bleu().compute_score(GOOD, {"a": "a dog"}), r"res\['a'\] must be a list of one caption, got 'a dog'"),
        (
            lambda: Rouge().compute_score(GOOD, {"a": ["a", "b"]}),
            r"res\['a'\] must be a list of one caption, got \['a', 'b'\]",
        ),
        (
            lambda: SuiteCider().compute_score({"a": []}, GOOD),
            r"gts\['a'\] must be a list of captions, at least one, got \[\]",
        ),
        (
            lambda: SuiteCider().compute_score({"a": [5]}, GOOD),
            r"gts\['a'\] must be a list of captions, at least one, got \[5\]",
        ),
        (lambda: Rouge().compute_score({}, {}), "there is no caption to score"),
        (
            lambda: Rouge().compute_score(GOOD, {"a": ["\0"]}),
            r"image 'a': a caption with the control character U\+0000",
        ),
        (lambda: Bleu(5).compute_score(GOOD, GOOD), "BLEU: n must be a whole number from 1 to 4, got 5"),
        (lambda: BleuScorer(special_reflen=3), "special_reflen must be None here, got 3"),  # type: ignore[arg-type]
        (lambda: BleuScorer("a", None).retest(["a"]), "1 candidates for 0 images"),
        (
            lambda: BleuScorer(None, ["a"]).compute_score(),
            "the candidate of image 0 must be a list of one caption, got .None",
        ),
        (lambda: BleuScorer().__iadd__(BleuScorer(n=2)), "only images of a BleuScorer of n=4 can be added"),
        (
            lambda: CiderD().compute_score(GOOD, [{"image_id": "b", "caption": ["x"]}]),
            r"res\[0\] is of image 'b', of which",
        ),
        (
            lambda: CiderD().compute_score(GOOD, {"a": ["x"]}),  # type: ignore[arg-type]
            r"res\[0\] must be a dictionary with image_id and caption, got",
        ),
        (
            lambda: CiderD().compute_score(GOOD, [{"image_id": "a", "caption": "x"}]),
            r"res\[0\]\['caption'\] must be a list of one",
        ),
        (lambda: Cider().my_self_cider([["a", "b"]]), "there are no document frequencies yet"),
        (
            lambda: PTBTokenizer().tokenize({7: ["a dog"]}),  # type: ignore[list-item]
            "image 7: this tokenizer takes captions as its original does",
        ),
        (lambda: Spice().compute_score({1: ["a"], "a": ["a"]}, {1: ["a"], "a": ["a"]}), "these cannot be sorted"),
        (
            lambda: COCOEvalCap(Coco(REFERENCES), Coco(GOOD)).evaluate(),
            r"no candidate for 2 images \(b, c\); set params",
        ),
    ],
)
def test_what_cannot_be_scored_is_said(call: Any, message: str) -> None:
    with pytest.raises(SacrecapError, match=message), quietly():
        call()


@given(corpus=pairs(least=2))
def test_cider_d_step_by_step_and_at_once(corpus: Pairs) -> None:
    """`compute_cider` counts the images of the scorer, as `compute_score` does."""
    scorer = filled(CiderD(df="corpus").cider_scorer, corpus)
    scorer.compute_doc_freq()
    assert_equal(np.array(scorer.compute_cider()), scorer.compute_score()[1])


def test_frequencies_need_the_number_of_images() -> None:
    scorer = CiderD().cider_scorer
    scorer += ("a dog", ["a dog"])
    scorer.compute_doc_freq()
    with pytest.raises(UsageError, match="set ref_len to the logarithm of the number of images"):
        scorer.my_get_self_cider(["a dog"])


def test_frequencies_of_one_image_are_enough() -> None:
    """Its logarithm is 0: every n-gram counts nothing, and that is no error."""
    scorer = CiderD()
    scorer.cider_scorer.document_frequency = {("a",): 1}
    scorer.cider_scorer.ref_len = math.log(1)
    assert np.array(scorer.my_self_cider([["a"]])).tolist() == [[[0.0]]]


def test_frequencies_have_to_be_counts() -> None:
    scorer = CiderD()
    scorer.cider_scorer.document_frequency = {("a",): 0.5}
    scorer.cider_scorer.ref_len = 2.5
    with pytest.raises(DataError, match=r"ref_len must be the logarithm of a whole number of images, got 2\.5"):
        scorer.my_self_cider([["a"]])
    scorer.cider_scorer.ref_len = math.log(4)
    with pytest.raises(DataError, match=r"document_frequency counts images; of \('a',\) it holds 0\.5"):
        scorer.my_self_cider([["a"]])
