"""Sentence by the vectors inside the package: laws, and a slow reference."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from reference.sentence import Table
from sacrecap.errors import UsageError
from sacrecap.metrics import Sentence
from sacrecap.metrics.sentence import vectors

FILE = Path(sacrecap.__file__).parent / "resources/sentence/english.vectors"
TABLE = Table(FILE)
UNKNOWN = "[UNK]"
COMPARED = ("centroid", "mean", "best")
CAPTIONS = (
    "a man is riding a wave on a surfboard",
    "two dogs run along the beach",
    "a red bus, parked at the side of a street",
    "the café's naïve waiter wears a tee-shirt",
    "a skateboarder in mid-air",
)
LETTERS = st.characters(
    codec="utf-8", min_codepoint=1, max_codepoint=0x2FFF, exclude_categories=("Cn", "Co", "Cs")
) | st.sampled_from("中國語한🐶 aeiou sdn'-")


def score(references: Sequence[str], candidate: str, compared: str = "centroid") -> float:
    metric = Sentence(references=compared)
    return float(sacrecap.score({"1": list(references)}, {"1": candidate}, metric, interval=None)[metric].value)


@given(st.text(LETTERS.filter(lambda one: not "\uac00" <= one <= "\ud7a3"), max_size=30))
def test_pieces_are_those_of_the_slow_reference(text: str) -> None:
    assert vectors().pieces(text) == TABLE.pieces(text)


@given(st.text(st.characters(codec="ascii"), max_size=40))
def test_pieces_of_ascii_are_those_of_the_slow_reference(text: str) -> None:
    assert vectors().pieces(text) == TABLE.pieces(text)


def test_pieces_are_those_of_tokenizers() -> None:
    tokenizers = pytest.importorskip("tokenizers", exc_type=ImportError)
    known = {piece: number for number, piece in enumerate([UNKNOWN, *TABLE.vectors])}
    other = tokenizers.Tokenizer(tokenizers.models.WordPiece(known, unk_token=UNKNOWN, max_input_chars_per_word=100))
    other.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    other.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    chance = random.Random(0)
    letters = "".join(map(chr, [*range(32, 127), *range(0xA1, 0x180), *range(0x391, 0x460), 0x4E2D, 0x2013, 0x1F436]))
    texts = [*CAPTIONS, *("".join(chance.choices(letters + " " * 40, k=20)) for _ in range(2000))]
    for text in texts:
        pieces = [piece for piece in other.encode(text).tokens if piece != UNKNOWN]
        assert vectors().pieces(text) == pieces, text


def test_vectors_are_those_of_the_slow_reference() -> None:
    read = np.frombuffer(vectors().read(CAPTIONS), "<f4").reshape(len(CAPTIONS), -1)
    assert read.shape[1] == vectors().width
    np.testing.assert_allclose(read, [TABLE.vector(text) for text in CAPTIONS], atol=1e-6)


@pytest.mark.parametrize("compared", COMPARED)
def test_scores_are_those_of_the_slow_reference(compared: str) -> None:
    for number, caption in enumerate(CAPTIONS):
        others = [other for place, other in enumerate(CAPTIONS) if place != number] + [".", "🐶"]
        said = [" ".join(words) for words in sacrecap.tokenize([caption, *others])]
        expected = TABLE.score(said[0], said[1:], compared)
        assert score(others, caption, compared) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("compared", COMPARED)
def test_laws(compared: str) -> None:
    for caption in CAPTIONS:
        assert score([caption], caption, compared) == 1
        assert score([caption, ".", "🐶"], caption, compared) == 1
        assert (
            score([caption], "", compared) == score(["."], caption, compared) == score(["🐶"], caption, compared) == 0
        )
        assert score(["🦄"], "🐶🐶", compared) == 0
        one, other = score(CAPTIONS, caption, compared), score(CAPTIONS[::-1], caption, compared)
        assert one == pytest.approx(other, abs=1e-7)
    assert score(["a dog bites a man"], "a man bites a dog", compared) < 0.99


def test_a_word_alone_has_a_vector_however_short() -> None:
    """Vectors of the table are shorter than 1: a short one is none of zeros."""
    assert score(["a dog runs"], "dog", "centroid") > 0.5
    assert score(["a dog runs"], "of", "centroid") != 0.0


def test_one_reference_is_the_mean_the_best_and_the_centroid() -> None:
    for caption in CAPTIONS:
        assert len({score([CAPTIONS[0]], caption, compared) for compared in COMPARED}) == 1


def test_what_it_is_for() -> None:
    references = ["a brown dog runs along the beach", "a dog running on sand"]
    right, wrong = score(references, "a dog is at the shore"), score(references, "a cat is at the shore")
    assert right > wrong + 0.3 > score(references, "a plate of food on a table") + 0.4


@pytest.mark.parametrize("given", [{"revision": "v1"}, {"precision": "float16"}])
def test_what_only_a_network_takes_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"is a network's; name one too: model=DIR\|NAME"):
        sacrecap.score({"1": [CAPTIONS[0]]}, {"1": CAPTIONS[1]}, Sentence(**given), interval=None)


def test_the_signature_names_the_vectors() -> None:
    result = sacrecap.score({"1": [CAPTIONS[0]]}, {"1": CAPTIONS[1]}, "sentence", interval=None)["sentence"]
    assert f"model:built-in({vectors().checksum:08x})" in result.signature
