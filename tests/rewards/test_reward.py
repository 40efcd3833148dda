"""The reward: CIDEr-D on token ids, as self-critical training scores samples."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocoevalcap.cider.cider_scorer import CiderScorer

import sacrecap
from corpora import Pairs
from sacrecap import CiderDReward, DocumentFrequency
from sacrecap.errors import DataError, UsageError

END = 0
LENGTH = 10

sentences = st.lists(st.integers(1, 6), max_size=LENGTH - 1)
"""Ids of a caption without its end."""
sentence_groups = st.lists(st.lists(sentences, min_size=1, max_size=4), min_size=2, max_size=5)


def padded(rows: Sequence[Sequence[int]], end: int = END, length: int = LENGTH) -> np.ndarray[Any, Any]:
    """Rows ended and padded with `end`."""
    array = np.full((len(rows), length), end)
    for number, row in enumerate(rows):
        array[number, : len(row)] = row
    return array


def text(row: Sequence[int]) -> str:
    """The caption as the training code writes it: ids, then the end, which counts as a word."""
    return " ".join(map(str, [*row, END]))


def suite(samples: Sequence[Sequence[int]], references: Sequence[Sequence[Sequence[int]]]) -> list[float]:
    """One sample per image, by the COCO code's scorer; the images are the documents."""
    scorer = CiderScorer(n=4, sigma=6.0)
    for sample, group in zip(samples, references, strict=True):
        scorer += (text(sample), [text(reference) for reference in group])
    _, scores = scorer.compute_score()
    return list(scores)


@given(references=sentence_groups, data=st.data(), several=st.integers(1, 3))
def test_rewards_equal_the_coco_code_on_ids_as_words(
    references: list[list[list[int]]], data: st.DataObject, several: int
) -> None:
    one_each = st.tuples(*(sentences | st.sampled_from(group) for group in references))
    slots = [data.draw(one_each) for _ in range(several)]
    groups = [padded(group) for group in references]
    df = DocumentFrequency.from_token_ids(groups)
    # Samples of an image stand in consecutive rows.
    sampled = padded([slot[image] for image in range(len(references)) for slot in slots])
    rewards = CiderDReward(df)(sampled, groups).reshape(len(references), several)
    for number, slot in enumerate(slots):
        assert rewards[:, number] == pytest.approx(suite(slot, references), rel=1e-9, abs=1e-15)


@given(references=sentence_groups, data=st.data(), n=st.integers(1, 4), sigma=st.floats(0.5, 20))
def test_rewards_equal_cider_d_on_strings(
    references: list[list[list[int]]], data: st.DataObject, n: int, sigma: float
) -> None:
    samples = [data.draw(sentences | st.sampled_from(group)) for group in references]
    groups = [padded(group) for group in references]
    rewards = CiderDReward(DocumentFrequency.from_token_ids(groups), n=n, sigma=sigma)(padded(samples), groups)
    corpus = Pairs(tuple(map(text, samples)), tuple(tuple(map(text, group)) for group in references))
    metric = sacrecap.metrics.CiderD(n=n, sigma=sigma)
    assert rewards == pytest.approx(corpus.score(metric)[metric.key].per_image, rel=1e-12, abs=1e-15)


REFERENCES = [padded([[1, 2, 3, 4], [1, 2, 4]]), padded([[5, 6, 7]]), padded([[8, 9], [8, 1, 9], [2, 9]])]
SAMPLES = padded([[1, 2, 3], [5, 6, 7, 8], [8, 9, 9]])


@pytest.fixture
def df() -> DocumentFrequency:
    return DocumentFrequency.from_token_ids(REFERENCES)


@pytest.fixture
def reward(df: DocumentFrequency) -> CiderDReward:
    return CiderDReward(df)


def test_rewards_are_an_array_of_doubles(reward: CiderDReward) -> None:
    rewards = reward(SAMPLES, REFERENCES)
    assert rewards.shape == (3,)
    assert rewards.dtype == np.float64
    assert (rewards > 0).all()


def test_encoded_references_are_reused_and_picked(reward: CiderDReward) -> None:
    encoded = reward.encode(REFERENCES)
    assert len(encoded) == 3
    for _ in range(2):
        assert (reward(SAMPLES, encoded) == reward(SAMPLES, REFERENCES)).all()
    batch = [2, 0, 2]
    picked = encoded[batch]
    assert len(picked) == 3
    assert (reward(SAMPLES[batch], picked) == reward(SAMPLES, REFERENCES)[batch]).all()
    assert (reward(SAMPLES[batch], encoded[np.array(batch)]) == reward(SAMPLES, REFERENCES)[batch]).all()
    for outside in (3, -1):
        with pytest.raises(UsageError, match=f"no image {outside} among 3 encoded ones"):
            encoded[[outside]]


def test_what_follows_the_end_is_padding(reward: CiderDReward) -> None:
    noisy = SAMPLES.copy()
    for row in noisy:
        row[list(row).index(END) + 1 :] = 7
    assert (reward(noisy, REFERENCES) == reward(SAMPLES, REFERENCES)).all()
    wider = np.pad(SAMPLES, ((0, 0), (0, 5)), constant_values=-1)
    assert (reward(wider, REFERENCES) == reward(SAMPLES, REFERENCES)).all()


def test_a_caption_cut_before_its_end_has_no_end(reward: CiderDReward, df: DocumentFrequency) -> None:
    cut, ended = np.array([[1, 2, 3]]), np.array([[1, 2, 3, 0]])
    assert reward(cut, REFERENCES[:1]) != reward(ended, REFERENCES[:1])


def test_without_an_end_negative_ids_are_padding() -> None:
    without_end = [np.where(group == END, -1, group) for group in REFERENCES]
    df = DocumentFrequency.from_token_ids(without_end, end_of_sentence=None)
    reward = CiderDReward(df, end_of_sentence=None)
    rewards = reward(np.where(SAMPLES == END, -100, SAMPLES), without_end)
    words = [" ".join(str(id_) for id_ in row if id_ != END) for row in SAMPLES]
    references = tuple(tuple(" ".join(str(id_) for id_ in row if id_ != END) for row in group) for group in REFERENCES)
    expected = Pairs(tuple(words), references).score("cider-d")["cider-d"].per_image
    assert rewards == pytest.approx(expected, rel=1e-12)


def test_another_end_of_sentence() -> None:
    moved = [np.where(group == END, 99, group) for group in REFERENCES]
    df = DocumentFrequency.from_token_ids(moved, end_of_sentence=99)
    rewards = CiderDReward(df, end_of_sentence=99)(np.where(SAMPLES == END, 99, SAMPLES), moved)
    usual = CiderDReward(DocumentFrequency.from_token_ids(REFERENCES))(SAMPLES, REFERENCES)
    assert rewards == pytest.approx(usual, rel=1e-12)


def test_lists_do_as_well_as_arrays(reward: CiderDReward) -> None:
    lists = reward(SAMPLES.tolist(), [group.tolist() for group in REFERENCES])
    assert (lists == reward(SAMPLES, REFERENCES)).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64, ">i4"])
def test_any_whole_number_type(reward: CiderDReward, dtype: Any) -> None:
    rewards = reward(SAMPLES.astype(dtype), [group.astype(dtype) for group in REFERENCES])
    assert (rewards == reward(SAMPLES, REFERENCES)).all()


def test_no_samples_and_empty_samples(reward: CiderDReward) -> None:
    assert reward(np.zeros((0, 5), dtype=int), REFERENCES).shape == (0,)
    assert reward(np.full((3, 1), END), REFERENCES).tolist() == [0, 0, 0]  # the end alone is in every document
    assert reward(np.zeros((3, 0), dtype=int), REFERENCES).tolist() == [0, 0, 0]


SHAPE = r"expected whole numbers of shape \(rows, length\), got"


@pytest.mark.parametrize(
    ("sampled", "message"),
    [
        (np.ones(3, dtype=int), rf"sampled: {SHAPE} int64 of shape \(3,\)"),
        (np.ones((3, 2, 2), dtype=int), rf"sampled: {SHAPE} int64 of shape \(3, 2, 2\)"),
        (np.ones((3, 2, 0), dtype=int), rf"sampled: {SHAPE} int64 of shape \(3, 2, 0\)"),
        (np.ones((3, 2)), rf"sampled: {SHAPE} float64 of shape \(3, 2\)"),
        (np.ones((3, 2), dtype=bool), rf"sampled: {SHAPE} bool of shape \(3, 2\)"),
        ([["a", "b"]] * 3, rf"sampled: {SHAPE} <U1 of shape \(3, 2\)"),
        ([[1, 2], [1]], "sampled: rows of different lengths; pad them with the end-of-sentence id"),
        ([[2**31, 1]] * 3, "sampled: token ids go up to 2,147,483,647, found 2,147,483,648"),
        (5, "sampled: "),
        (np.ones((4, 2), dtype=int), "4 samples for the references of 3 images: the number of samples must be a"),
    ],
    ids=[
        "one dimension",
        "three",
        "three of nothing",
        "floats",
        "booleans",
        "text",
        "ragged",
        "huge",
        "number",
        "count",
    ],
)
def test_unusable_samples(reward: CiderDReward, sampled: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        reward(sampled, REFERENCES)


def test_unusable_references(reward: CiderDReward) -> None:
    with pytest.raises(DataError, match=r"references\[1\] is empty: an image needs at least one reference"):
        reward(SAMPLES, [REFERENCES[0], np.zeros((0, 4), dtype=int), REFERENCES[2]])
    with pytest.raises(DataError, match=rf"references\[2\]: {SHAPE} float64"):
        reward.encode([*REFERENCES[:2], REFERENCES[2] * 0.5])
    with pytest.raises(DataError, match="3 samples for the references of 0 images"):
        reward(SAMPLES, [])


def test_ids_unknown_to_the_document_frequencies_weigh_most(reward: CiderDReward) -> None:
    unseen = padded([[2**24 + 1, 2**31 - 1]])
    assert reward(unseen, [unseen]).tolist() == pytest.approx([7.5])  # the two ids and the end make no 4-gram


def test_document_frequencies_keyed_by_words_are_refused() -> None:
    words = DocumentFrequency.build({"1": ["a dog"], "2": ["12"]}, tokenizer="none")
    with pytest.raises(UsageError, match=r'keyed by words \("a"\).*DocumentFrequency.from_token_ids'):
        CiderDReward(words)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"n": 5}, "n must be a whole number from 1 to 4"), ({"sigma": 0}, "sigma must be a number above 0")],
)
def test_unacceptable_parameters(df: DocumentFrequency, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CiderDReward(df, **arguments)


def batch(samples: int) -> tuple[DocumentFrequency, np.ndarray[Any, Any], list[np.ndarray[Any, Any]]]:
    """A large batch: 10 samples per image."""
    random = np.random.default_rng(0)
    references = [random.integers(0, 30, (5, 16)) for _ in range(samples // 10)]
    return DocumentFrequency.from_token_ids(references), random.integers(0, 30, (samples, 16)), references


def test_threads_give_the_same_bits() -> None:
    df, sampled, references = batch(500)
    one = CiderDReward(df, threads=1)(sampled, references)
    for threads in (0, 2, 3, 8):
        assert (CiderDReward(df, threads=threads)(sampled, references) == one).all()


def test_python_goes_on_while_rewards_are_computed() -> None:
    df, sampled, references = batch(20_000)
    reward = CiderDReward(df, threads=1)
    encoded = reward.encode(references)

    def turns_during_a_call() -> int:
        """How often this thread's Python runs while another thread computes rewards."""
        worker = threading.Thread(target=reward, args=(sampled, encoded))
        worker.start()
        turns = 0
        while worker.is_alive():
            time.sleep(0.0005)
            turns += 1
        return turns

    # With the lock held there are one or two: before the call and after it. A busy machine may leave it at that, but
    # not each time.
    assert any(turns_during_a_call() > 4 for _ in range(50))


def rewards_of_a_child(connection: Connection, reward: CiderDReward, sampled: Any, references: Any) -> None:
    connection.send(reward(sampled, references).tolist())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_scores_too() -> None:
    df, sampled, references = batch(500)
    reward = CiderDReward(df, threads=2)
    before = reward(sampled, references)
    child = os.fork()
    if child == 0:
        os._exit(0 if (reward(sampled, references) == before).all() else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
def test_forked_workers_score_too() -> None:
    df, sampled, references = batch(500)
    reward = CiderDReward(df, threads=2)
    before = reward(sampled, references).tolist()
    context = multiprocessing.get_context("fork")
    for _ in range(2):
        receiver, sender = context.Pipe(duplex=False)
        worker = context.Process(target=rewards_of_a_child, args=(sender, reward, sampled, references))
        worker.start()
        sender.close()
        assert receiver.recv() == before
        worker.join()
        assert worker.exitcode == 0
