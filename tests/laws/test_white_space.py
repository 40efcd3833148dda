"""White space other than the blank can be a token of its own where nothing tokenises: it stays in its caption."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import sacrecap
from corpora import EMBEDDINGS
from laws.registered import COMPARING
from sacrecap import Corpus, SacrecapWarning
from sacrecap.choices import OWN_TOKENIZERS

SPACES = [c for c in map(chr, range(sys.maxunicode + 1)) if c.isspace() and not "\x1c" <= c <= "\x1f"]
"""Unicode's white space. Python's has four separators more, which captions may not hold."""

CAPTIONS = [
    caption
    for space in SPACES
    for caption in (
        f"{space} a dog runs",
        f"a dog {space} runs",
        f"a dog runs {space}",
        f" {space} ",
        f"a{space}dog runs{space}",
        f"a dog {space} {space}",
        f"{space}{space} runs",
    )
]

every_tokenizer = pytest.mark.parametrize("tokenizer", OWN_TOKENIZERS)


def corpus() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Each caption is the last reference of an image, and the candidate of another."""
    references, candidates = {}, {}
    for number, caption in enumerate(CAPTIONS):
        last = caption if caption.strip() else "a dog"  # an empty reference would be left out
        references[f"{number}"], candidates[f"{number}"] = ["the dog ran", last], "a dog runs"
        references[f"{number}c"], candidates[f"{number}c"] = ["the dog ran", "a dog runs"], caption
    return references, candidates


@every_tokenizer
def test_scores_of_an_image_are_those_of_its_own_captions(tokenizer: str) -> None:
    references, candidates = corpus()

    def scores(images: list[str]) -> dict[str, dict[str, float]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SacrecapWarning)
            result = sacrecap.score(
                {image: references[image] for image in images},
                {image: candidates[image] for image in images},
                [metric for metric in COMPARING if not metric.uses_document_frequency],
                tokenizer=tokenizer,
                objects={image: ["dog", "beach"] for image in images},
                embeddings=EMBEDDINGS,
                interval=None,
                threads=2,
            )
        return {key: dict(zip(images, score.per_image.tolist(), strict=True)) for key, score in result.items()}

    images = list(references)
    whole = scores(images)
    for some in (images[::-1], images[1::3]):
        for key, of_some in scores(some).items():
            np.testing.assert_equal(of_some, {image: whole[key][image] for image in some}, key)


@every_tokenizer
def test_what_is_scored_are_the_tokens(tokenizer: str) -> None:
    references, candidates = corpus()
    scored = Corpus(references, candidates, tokenizer=tokenizer)
    tokens = [
        " ".join(found)
        for found in sacrecap.tokenize(
            [caption for captions in references.values() for caption in captions], tokenizer=tokenizer
        )
    ]
    answers = [" ".join(found) for found in sacrecap.tokenize(list(candidates.values()), tokenizer=tokenizer)]
    for number, image in enumerate(references):
        assert scored.texts(image) == ([answers[number]], tokens[2 * number : 2 * number + 2]), image


def test_tokens_without_a_word_count_where_they_stand() -> None:
    """As the COCO suite's ROUGE-L counts them: it splits at the blank alone."""
    references = {"1": ["p q r s", "x y z w \n"], "2": ["a b c d"], "3": ["a b \t"]}
    candidates = {"1": "p q r s", "2": "a b c d", "3": "a b \t"}
    found = sacrecap.score(references, candidates, "rouge-l", tokenizer="none", interval=None)["rouge-l"]
    assert found.per_image.tolist() == [1, 1, 1]
    longer = sacrecap.score({"1": ["a b"]}, {"1": "a b \n"}, "rouge-l", tokenizer="none", interval=None)["rouge-l"]
    assert longer.value == pytest.approx(2.44 * (2 / 3) / (1 + 1.44 * 2 / 3))


def test_each_blank_ends_a_token() -> None:
    """As the COCO suite's ROUGE-L sees captions that nothing has tokenised; two empty tokens are equal."""
    references = {"1": ["a b"], "2": ["a b  "], "4": ["a"]}
    candidates = {"1": "a  b ", "2": "a b  ", "4": ""}
    found = sacrecap.score(references, candidates, "rouge-l, bleu-1", tokenizer="blanks", interval=None)
    half = 2.44 * 0.5 / (1 + 1.44 * 0.5)  # every token of the reference, half of the candidate's
    assert found["rouge-l"].per_image == pytest.approx([half, 1, 0])
    assert found["bleu-1"].per_image[:2] == pytest.approx([1, 1])
