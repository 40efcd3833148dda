"""The reward in tensor operations: equal to the native one, and nothing in it waits for a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

import sacrecap
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.errors import DataError, UsageError
from sacrecap.rewards.device import TensorCiderDReward

pytestmark = pytest.mark.torch

END = 0
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]

sentences = st.lists(st.integers(1, 5), max_size=9)


def padded(rows: Sequence[Sequence[int]], length: int = 10) -> np.ndarray[Any, Any]:
    array = np.full((len(rows), length), END)
    for number, row in enumerate(rows):
        array[number, : len(row)] = row
    return array


@pytest.mark.parametrize("device", DEVICES)
@given(
    references=st.lists(st.lists(sentences, min_size=1, max_size=4), min_size=2, max_size=5),
    data=st.data(),
    several=st.integers(1, 3),
    n=st.integers(1, 4),
    sigma=st.floats(1, 20),
    width=st.integers(1, 12),
)
def test_equals_the_native_reward(
    device: str, references: list[list[list[int]]], data: st.DataObject, several: int, n: int, sigma: float, width: int
) -> None:
    """Of captions cut short, empty, with unknown words, and images that the counts do not know."""
    groups = [padded(group) for group in references]
    counts = DocumentFrequency.from_token_ids(groups[:-1])
    samples = [data.draw(sentences | st.sampled_from(group) | st.just([7, 8])) for group in references * several]
    sampled = padded(samples)[:, :width].reshape(several, len(groups), -1).swapaxes(0, 1).reshape(len(samples), -1)
    expected = sacrecap.CiderDReward(counts, n=n, sigma=sigma, threads=1)(sampled, groups)
    reward = TensorCiderDReward(counts, n=n, sigma=sigma, device=device)
    found = reward(torch.tensor(sampled, device=device), reward.encode(groups))
    assert found.device.type == device
    assert found.dtype == torch.float32
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_equals_the_native_reward_on_many(device: str) -> None:
    generator = np.random.default_rng(3)
    groups = [captions(generator, int(generator.integers(1, 8))) for _ in range(300)]
    counts = DocumentFrequency.from_token_ids(groups)
    images = generator.integers(0, 300, 64)
    sampled = np.concatenate([mixed_up(generator, groups[image]) for image in images])
    native = sacrecap.CiderDReward(counts)
    reward = TensorCiderDReward(counts, device=device)
    encoded = reward.encode(groups)
    found = reward(torch.tensor(sampled, device=device), encoded[torch.tensor(images, device=device)])
    expected = native(sampled, native.encode(groups)[images])
    assert (expected > 1).sum() > 100
    np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=1e-6)


def captions(generator: np.random.Generator, rows: int) -> np.ndarray[Any, Any]:
    ids = generator.zipf(1.2, size=(rows, 18)) % 20_000 + 1
    return np.where(np.arange(18) < generator.integers(0, 19, size=(rows, 1)), ids, END)


def mixed_up(generator: np.random.Generator, group: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Five samples: references with words exchanged and repeated."""
    sample = group[generator.integers(0, len(group), 5)].copy()
    changed = (generator.random(sample.shape) < 0.2) & (sample > 0)
    return np.where(changed, np.roll(sample, 1, axis=1), sample)


REFERENCES = [padded([[1, 2, 3, 4], [1, 2, 4]]), padded([[5, 6, 7]]), padded([[4, 3], [4, 1, 3], [2, 3]])]
SAMPLES = torch.tensor(padded([[1, 2, 3], [5, 6, 7, 4], [4, 3, 3]]))


@pytest.fixture
def counts() -> DocumentFrequency:
    return DocumentFrequency.from_token_ids(REFERENCES)


@pytest.fixture
def reward(counts: DocumentFrequency) -> TensorCiderDReward:
    return TensorCiderDReward(counts)


def test_nothing_depends_on_values(counts: DocumentFrequency) -> None:
    """On the device `meta` there are no values: what needed one, a copy to the host or a shape by it, would fail."""
    reward = TensorCiderDReward(counts, device="meta")
    encoded = reward.encode(REFERENCES)[torch.tensor([0, 2, 1], device="meta")]
    rewards = reward(torch.empty(6, 8, dtype=torch.int64, device="meta"), encoded)
    assert rewards.shape == (6,)
    assert rewards.device.type == "meta"


class Operations(TorchDispatchMode):
    """The names of the operations that run."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def test_few_operations_and_none_that_waits(reward: TensorCiderDReward) -> None:
    encoded = reward.encode(REFERENCES)
    with Operations() as operations:
        reward(SAMPLES, encoded[torch.tensor([0, 1, 2])])
    waits = ("_local_scalar_dense", "nonzero", "unique", "masked_select", "is_nonzero", "equal.default")
    assert not [name for name in operations.names if any(wait in name for wait in waits)]
    views = ("slice", "view", "select.int", "unsqueeze", "detach", "transpose", "expand", "alias", "scalar_tensor")
    assert len([name for name in operations.names if not any(view in name for view in views)]) < 150


def test_references_are_picked_and_moved(reward: TensorCiderDReward) -> None:
    encoded = reward.encode([torch.tensor(group) for group in REFERENCES])
    assert len(encoded) == 3
    for images in ([2, 0, 2], torch.tensor([2, 0, 2])):
        picked = reward(SAMPLES[[2, 0, 2]], encoded[images])
        assert torch.equal(picked, reward(SAMPLES, REFERENCES)[[2, 0, 2]])
    assert encoded.to("meta").words.device.type == "meta"


def test_what_follows_the_end_is_padding_and_types_are_free(reward: TensorCiderDReward) -> None:
    expected = reward(SAMPLES, REFERENCES)
    noisy = SAMPLES.clone()
    noisy[0, 4:] = 7
    assert torch.equal(reward(noisy.int(), REFERENCES), expected)
    assert torch.equal(reward(torch.nn.functional.pad(SAMPLES, (0, 4), value=-1).short(), REFERENCES), expected)
    assert torch.equal(reward(SAMPLES[:, :4], REFERENCES)[1:2] == expected[1:2], torch.tensor([False]))  # cut


def test_without_an_end() -> None:
    groups = [np.where(group == END, -1, group) for group in REFERENCES]
    counts = DocumentFrequency.from_token_ids(groups, end_of_sentence=None)
    sampled = torch.where(SAMPLES == END, -100, SAMPLES)
    expected = sacrecap.CiderDReward(counts, end_of_sentence=None)(sampled.numpy(), groups)
    found = TensorCiderDReward(counts, end_of_sentence=None)(sampled, groups)
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-6)


def test_nothing(reward: TensorCiderDReward) -> None:
    encoded = reward.encode(REFERENCES)
    assert reward(SAMPLES[:0], encoded).shape == (0,)
    assert reward(SAMPLES[:, :0], encoded).tolist() == [0, 0, 0]
    assert reward(torch.zeros(3, 1, dtype=torch.int64), encoded).tolist() == [0, 0, 0]


def test_what_it_refuses(reward: TensorCiderDReward, counts: DocumentFrequency) -> None:
    with pytest.raises(DataError, match=r"expected a tensor of whole numbers .*, got torch.float32 of shape \(3, 2\)"):
        reward(torch.ones(3, 2), REFERENCES)
    with pytest.raises(DataError, match="expected a tensor of whole numbers .* got <class 'list'>"):
        reward([[1, 2]], REFERENCES)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="4 samples for the references of 3 images"):
        reward(torch.ones(4, 2, dtype=torch.int64), REFERENCES)
    with pytest.raises(DataError, match="0 samples for the references of 0 images"):
        reward(torch.ones(0, 2, dtype=torch.int64), [])
    with pytest.raises(DataError, match="the samples are on meta .* put all on one device"):
        reward(SAMPLES.to("meta"), REFERENCES)
    with pytest.raises(DataError, match=r"references\[1\] is empty"):
        reward.encode([REFERENCES[0], np.zeros((0, 3), dtype=int)])
    with pytest.raises(DataError, match=r"references\[0\]: expected whole numbers"):
        reward.encode([np.ones((1, 2))])
    with pytest.raises(DataError, match="lack the end of sentence, id 99"):
        TensorCiderDReward(counts, end_of_sentence=99)
    with pytest.raises(UsageError, match="keyed by words"):
        TensorCiderDReward(DocumentFrequency.build({"1": ["a dog"]}), end_of_sentence=None)
    with pytest.raises(UsageError, match="n must be"):
        TensorCiderDReward(counts, n=5)
