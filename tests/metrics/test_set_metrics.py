"""Metrics of caption sets equal the slow reference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import diversity as slow
from sacrecap import _core
from sacrecap.metrics import Distinct, Div, Lsa, Mbleu, MbleuMix, SelfCider, Vendi
from sets import Sets, caption_sets, score

ZEBRAS = ["zebras grazing grass", "grazing grass", "zebras grazing"]


def equal(found: object, wanted: object) -> None:
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-11)


@given(sets=caption_sets(), n=st.integers(1, 4))
def test_self_cider_equals_the_formula(sets: Sets, n: int) -> None:
    frequency = slow.document_frequency(list(sets.values()))
    cosine, clipped = SelfCider(n=n), SelfCider(kernel="cider-d", n=n, sigma=3)
    found = score(sets, [cosine, clipped])
    for metric, kernel in ((cosine, slow.cider_kernel), (clipped, slow.cider_d_kernel)):
        extra = {} if metric is cosine else {"sigma": 3.0}
        wanted = [slow.of_kernel(kernel(captions, len(sets), frequency, n, **extra)) for captions in sets.values()]
        equal(found[metric.key].per_image, wanted)
        equal(found[metric.key].value, sum(wanted) / len(wanted))


@given(sets=caption_sets(), n=st.integers(1, 4))
def test_vendi_equals_the_formula(sets: Sets, n: int) -> None:
    frequency = slow.document_frequency(list(sets.values()))
    for kernel, matrix in (("cider", slow.cider_kernel), ("cider-d", slow.cider_d_kernel)):
        metric = Vendi(kernel=kernel, n=n)
        found = score(sets, metric)[metric.key].per_image
        equal(found, [slow.vendi(matrix(captions, len(sets), frequency, n)) for captions in sets.values()])


@given(sets=caption_sets())
def test_the_kernel_of_sentences_is_the_cosine_of_their_vectors(sets: Sets) -> None:
    """As exactly as vectors of float32 tell: a root makes a rounding of 1e-7 one of 3e-4."""
    [table] = SelfCider(kernel="sentence").vectors
    found = score(sets, [SelfCider(kernel="sentence"), Vendi(kernel="sentence")])
    for number, captions in enumerate(sets.values()):
        vectors = np.frombuffer(table.read(captions), "<f4").reshape(len(captions), -1).astype(float)
        lengths = np.linalg.norm(vectors, axis=1)
        cosines = vectors / np.where(lengths, lengths, 1)[:, None]
        spread, effective = (figure.per_image[number] for figure in found.values())
        assert spread == pytest.approx(slow.of_kernel(cosines @ cosines.T), abs=2e-3)
        assert effective == pytest.approx(slow.vendi(cosines @ cosines.T), rel=1e-5)
    assert all(f"|model:built-in({table.checksum:08x})|" in figure.signature for figure in found.values())
    spectrum = found.image(next(iter(sets)), SelfCider(kernel="sentence"))
    assert spectrum.diversity == pytest.approx(found["self-cider(kernel=sentence)"].per_image[0], abs=1e-6)


@pytest.mark.parametrize("kernel", ["cider", "cider-d", "words", "rouge-l"])
def test_vendi_counts_captions_that_share_nothing(kernel: str) -> None:
    captions = ["a dog runs along", "two", "some cats sleep there today", "birds sing"]
    sets = {
        "one": captions[:1],
        "equal": captions[:1] * 5,
        "apart": captions,
        "twice": captions * 2,
        "with empty ones": [*captions, "", ""],
        "empty": ["", "", ""],
        "an empty one": [""],
    }
    metric = Vendi(kernel=kernel)
    assert score(sets, metric)[metric.key].per_image == pytest.approx([1, 1, 4, 4, 4, 0, 0], abs=1e-12)


def test_kernels_that_weight_no_words_need_no_frequencies() -> None:
    for metric in (Vendi(kernel="words"), SelfCider(kernel="rouge-l")):
        found = score({"1": ["a dog", "a cat"]}, metric)[metric.key]  # CIDEr warns of a single image
        assert not metric.uses_document_frequency
        assert "|df:" not in found.signature
    assert "|df:" in score({"1": ["a dog", "a cat"], "2": ["x"]}, Vendi())["vendi"].signature


@given(sets=caption_sets())
def test_lsa_equals_the_singular_values_of_the_counts(sets: Sets) -> None:
    found = score(sets, [Lsa(), SelfCider(kernel="words")])
    wanted = [slow.lsa(captions) for captions in sets.values()]
    equal(found["lsa"].per_image, wanted)
    assert found["lsa"].per_image.tolist() == found["self-cider(kernel=words)"].per_image.tolist()


@pytest.mark.parametrize("length", ["closest", "average"])
@given(sets=caption_sets())
def test_mbleu_equals_bleu_of_each_against_the_others(length: str, sets: Sets) -> None:
    orders = [Mbleu(n=n, length=length) for n in (1, 2, 3, 4)]
    mix = MbleuMix(length=length)
    found = score(sets, [*orders, mix])
    wanted = {metric: [slow.mbleu(captions, metric.n, length) for captions in sets.values()] for metric in orders}
    for metric in orders:
        equal(found[metric.key].per_image, wanted[metric])
    equal(found[mix.key].per_image, 1 - np.mean(list(wanted.values()), axis=0))


@given(sets=caption_sets())
def test_div_and_distinct_count(sets: Sets) -> None:
    metrics = [Div(n=n, over=over) for n in (1, 2, 3, 4) for over in ("words", "ngrams")]
    found = score(sets, [*metrics, Distinct()])
    for metric in metrics:
        equal(found[metric.key].per_image, [slow.div(captions, metric.n, metric.over) for captions in sets.values()])
    shares = [len({tuple(c.split()) for c in captions}) / len(captions) for captions in sets.values()]
    equal(found["distinct"].per_image, shares)


def test_stop_words_are_left_out_on_request() -> None:
    found = score({"1": ["a dog on the grass", "the dog is in a grass"]}, [Lsa(), Lsa(stop=False)])
    assert found["lsa"].value > 0
    assert found["lsa(stop=no)"].value == 0


def test_stems_are_one_word_on_request() -> None:
    sets = {"1": ["dogs running", "dog runs"], "2": ["a cat", "the cat"]}
    found = score(sets, [SelfCider(n=1), SelfCider(n=1, stem=True)])
    assert found["self-cider(n=1)"].per_image[0] == pytest.approx(1)
    assert found["self-cider(n=1, stem=yes)"].per_image[0] == pytest.approx(0, abs=1e-12)


def test_mbleu_does_not_see_what_self_cider_and_lsa_see() -> None:
    """The paper's counter-example: both sets have an mBLEU-1 of 1, one of them varies."""
    other = ["a dog", "two dogs"]
    found = score({"varied": ZEBRAS, "same": ZEBRAS[:1] * 3, "other": other}, "self-cider, lsa, mbleu-1")
    assert found["mbleu-1"].per_image[:2] == pytest.approx([1, 1], rel=1e-8)
    varied, same, _ = found["lsa"].per_image
    assert (varied > 0.1, same) == (True, 0)
    varied, same, _ = found["self-cider"].per_image
    assert (varied > 0.1, same) == (True, pytest.approx(0, abs=1e-12))


def test_a_matrix_that_is_no_kernel_is_noted() -> None:
    sets = {"1": ["a b a b", "b a b a", "a a b b", "b b a a", "a b"], "2": ["x y z", "z y x"]}
    found = score(sets, "self-cider(kernel=rouge-l), self-cider")
    matrix = found.image("1", SelfCider(kernel="rouge-l")).matrix
    negative = bool((np.linalg.eigvalsh(matrix) < -1e-12).any())
    assert bool(found.notes) == negative
    assert not score(sets, "self-cider").notes


@given(
    size=st.integers(1, 30),
    seed=st.integers(0, 2**32 - 1),
    rank=st.integers(1, 30),
    scale=st.sampled_from([1e-8, 1, 1e8]),
)
def test_eigenvalues_equal_numpys(size: int, seed: int, rank: int, scale: float) -> None:
    generator = np.random.default_rng(seed)
    factor = generator.normal(size=(size, min(rank, size)))
    for matrix in (scale * factor @ factor.T, scale * (factor @ factor.T - np.eye(size))):
        bytes_ = np.ascontiguousarray(matrix).tobytes()
        values, vectors = (np.frombuffer(part) for part in _core.eigensystem(bytes_, size))
        wanted = np.linalg.eigvalsh(matrix)[::-1]
        assert np.abs(values - wanted).max() <= 1e-12 * np.abs(wanted).max()
        rows = vectors.reshape(size, size)
        assert np.abs(rows @ rows.T - np.eye(size)).max() <= 1e-12
        assert np.abs(matrix @ rows.T - rows.T * values).max() <= 1e-12 * np.abs(wanted).max()


def test_a_set_of_two_hundred() -> None:
    distinct = [f"w{number} x{number} y{number} z{number}" for number in range(200)]
    found = score({"varied": distinct, "same": ["a b c d"] * 200, "half": ["a b c d"] * 100 + ["e f g h"] * 100})
    expected = [1, 0, math.log(2) / math.log(200)]
    assert found["self-cider"].per_image == pytest.approx(expected, abs=1e-12)
    assert found["lsa"].per_image == pytest.approx(expected, abs=1e-12)
    assert found.captions_per_image == 200
