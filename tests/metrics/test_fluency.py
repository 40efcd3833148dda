"""Fluency equals the slow reference, and behaves as a language model should."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from comparison import assert_equal
from corpora import Pairs, captions, pairs
from reference.fluency import Model, fluency, fluency_by
from sacrecap import SacrecapWarning, example
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics import CiderD, Combine, Fluency, Vifidel

with_strangers = pairs(["a", "the", "dog", "runs", "</s>", "<unk>", "\N{SNOWMAN}", "a dog"])


@given(corpus=pairs() | with_strangers, n=st.integers(1, 4), own=st.booleans())
def test_fluency_equals_the_formula(corpus: Pairs, n: int, own: bool) -> None:
    metric = Fluency(n=n, own=own)
    slow = fluency(corpus.candidates, corpus.references, n=n, own=own)
    assert_equal(corpus.score(metric)[metric.key], slow)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("own", [True, False])
def test_fluency_equals_the_formula_where_discounts_are_estimated(n: int, own: bool) -> None:
    references = example.references()
    candidates = example.systems()["plain"]
    ids = list(references)[:12]
    corpus = Pairs(
        tuple(" ".join(words) for words in sacrecap.tokenize(candidates[image] for image in ids)),
        tuple(tuple(" ".join(words) for words in sacrecap.tokenize(references[image])) for image in ids),
    )
    text = [sentence.split() for sentences in corpus.references for sentence in sentences]
    assert any(discounts != [0.0, 0.5, 1.0, 1.5] for discounts in Model(text, n).discounts.values())
    metric = Fluency(n=n, own=own)
    assert_equal(corpus.score(metric)[metric.key], fluency(corpus.candidates, corpus.references, n=n, own=own))


@given(corpus=pairs(least=2), sentences=st.lists(captions().filter(str.strip), min_size=1, max_size=5).map(tuple))
def test_an_images_own_references_do_not_matter(corpus: Pairs, sentences: tuple[str, ...]) -> None:
    other = Pairs(corpus.candidates, (sentences, *corpus.references[1:]))
    first, second = (images.score("fluency")["fluency"].per_image[0] for images in (corpus, other))
    assert first == second


def test_word_order_counts_from_bigrams_on() -> None:
    people = tuple((f"a dog runs on the {place}",) for place in ("beach", "grass", "road", "sand"))
    well, badly = (
        Pairs((caption, *["a dog"] * 3), people).score("fluency, fluency(n=1)")
        for caption in ("a dog runs on the beach", "beach the on runs dog a")
    )
    assert well["fluency"].per_image[0] > 3 * badly["fluency"].per_image[0]
    assert well["fluency(n=1)"].per_image[0] == pytest.approx(badly["fluency(n=1)"].per_image[0])


def test_one_image_is_warned_of() -> None:
    with pytest.warns(SacrecapWarning, match=r"no other image's references to learn from, so Fluency is 0; .*own=yes"):
        [score] = sacrecap.score({"1": ["a dog"]}, {"1": "a dog"}, "fluency", interval=None).values()
    assert score.value == 0
    [score] = sacrecap.score({"1": ["a dog"]}, {"1": "a dog"}, "fluency(own=yes)", interval=None).values()
    assert score.value > 0


def test_the_signature_says_what_was_learnt_from() -> None:
    score = Pairs(("a", "b"), (("a",), ("b",))).score("fluency")["fluency"]
    assert re.search(r"^fluency\|images:2/2\|refs:1@\w+\|caps:\w+\|lm:references\(2\)\|tok:none\|", score.signature)


@given(corpus=pairs() | with_strangers, elsewhere=pairs(), n=st.integers(1, 4))
def test_a_model_of_other_captions_equals_the_formula(corpus: Pairs, elsewhere: Pairs, n: int) -> None:
    """It does not depend on the references, also where they are the captions that it learnt from."""
    metric = Fluency(n=n, references=False)
    for learnt in (elsewhere, corpus):
        model = sacrecap.LanguageModel.build(learnt.by_id[0], tokenizer="none", n=n)
        captions = [caption for image in learnt.references for caption in image]
        slow = fluency_by(corpus.candidates, [captions] * len(corpus.candidates), n=n)
        assert_equal(corpus.score(metric, language_model=model)[metric.key], slow)


def test_a_kept_model_is_the_one_that_was_built(tmp_path: Path) -> None:
    model = sacrecap.LanguageModel.build(example.references(), n=2)
    path = tmp_path / "train.lm"
    model.save(path)
    kept = sacrecap.LanguageModel.load(path)
    assert (kept.images, kept.n, kept.words, kept.tokenizer) == (model.images, 2, model.words, "ptb")
    assert (kept.source, model.source) == ("train.lm", "built")
    assert kept.checksum == model.checksum
    scorers = [sacrecap.Scorer("fluency(n=2, references=no)", language_model=given) for given in (model, kept, path)]
    scorers.append(pickle.loads(pickle.dumps(scorers[0])))
    one, *others = (scorer({"caption": ["a dog runs", "dog a", ""]}) for scorer in scorers)
    assert all(other == one for other in others)
    metric = Fluency(n=2, references=False)
    corpus = Pairs(("a dog",), (("a dog",),))
    with pytest.warns(SacrecapWarning, match="language model is of ptb tokens, the captions are cut by whitespace"):
        score = sacrecap.score(*corpus.by_id, metric, tokenizer="whitespace", language_model=path, interval=None)
    assert f"|lm:{kept.checksum}({model.images})|" in score[metric.key].signature


def test_what_is_no_fitting_model_is_refused(tmp_path: Path) -> None:
    def refused(metric: str, model: object) -> str:
        with pytest.raises((UsageError, DataError)) as caught:
            sacrecap.score({"1": ["a dog"]}, {"1": "a dog"}, metric, language_model=model, interval=None)
        return str(caught.value)

    model = sacrecap.LanguageModel.build({"1": ["a dog"]})
    assert refused("fluency(references=no)", None) == (
        "Fluency(references=no): it needs a language model, from sacrecap df build --language-model: "
        "language_model=FILE"
    )
    assert refused("fluency(n=2, references=no)", model).endswith(
        "is of order 3; build one with n=2, or ask for fluency(n=3, references=no)"
    )
    assert refused("fluency(references=no)", 3).endswith("sacrecap.LanguageModel, got a int")
    path = tmp_path / "cut.lm"
    path.write_bytes(model._core.to_bytes()[:-1])
    assert refused("fluency(references=no)", path).startswith(f"{path}: a language model that is damaged")
    with pytest.warns(SacrecapWarning, match=r"the given language model is for fluency\(references=no\)"):
        sacrecap.score({"1": ["a"], "2": ["b"]}, {"1": "a", "2": "b"}, "fluency", language_model=model, interval=None)


def test_vifidel_with_a_language_model_needs_no_references() -> None:
    """The combination of Madhyastha et al. (2019), section 5."""
    metric = Combine(Vifidel(), Fluency()).without_references
    assert metric is not None
    assert Combine(Vifidel(), CiderD()).without_references is None
    assert (metric.key, metric.needs_references) == ("combine(fluency(references=no), vifidel(references=no))", False)
    model = sacrecap.LanguageModel.build(example.references())
    scorer = sacrecap.Scorer([metric], objects={"1": ["dog"]}, language_model=model, image_id="image_id")
    both = scorer({"image_id": ["1", "1"], "caption": ["a dog runs", "runs dog a"]})[metric.key]
    assert both[0] > both[1] > 0
