"""The retrieval model: its loss against the paper's in plain Python, gradients, learning, and its reward."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioner import Vocabulary
from sacrecap_captioning.retrieval_model import ImageSentenceSpace, RetrievalModel, hinge, recalls, train_retrieval
from sacrecap_captioning.scenes import write_scenes
from sacrecap_captioning.settings import Settings
from sacrecap_captioning.training import train
from sacrecap_captioning.training_run import RunFolder


@pytest.fixture(autouse=True)
def _deterministic() -> None:
    torch.manual_seed(0)


def slow_hinge(cosines: list[list[float]], hardest: bool) -> float:
    """Eq. 5 and 6 as they stand."""
    pool = max if hardest else sum
    places = range(len(cosines))
    losses = []
    for one in places:
        own = cosines[one][one]
        sentences = [max(0.0, 0.2 + cosines[one][other] - own) for other in places if other != one]
        images = [max(0.0, 0.2 + cosines[other][one] - own) for other in places if other != one]
        losses.append(pool(sentences) + pool(images))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("hardest", [True, False])
def test_loss_is_the_papers(hardest: bool) -> None:
    cosines = torch.rand(6, 6) * 2 - 1
    assert hinge(cosines, hardest=hardest).item() == pytest.approx(slow_hinge(cosines.tolist(), hardest), rel=1e-5)
    apart = 2 * torch.eye(3) - 1
    assert hinge(apart, hardest=hardest) == 0


@pytest.mark.parametrize("hardest", [True, False])
def test_gradient_agrees_with_finite_differences(hardest: bool) -> None:
    space = ImageSentenceSpace(6, 3, embedding=4, space=5).double()
    pooled = torch.randn(4, 3, dtype=torch.float64)
    captions = torch.tensor([[2, 3, 0], [4, 0, 0], [5, 5, 2], [3, 4, 0]])
    parameters = [parameter.detach().requires_grad_() for parameter in space.parameters()]
    names = [name for name, _ in space.named_parameters()]

    def loss(*values: Tensor) -> Tensor:
        weights = dict(zip(names, values, strict=True))
        return hinge(
            torch.func.functional_call(_Cosines(space), _prefixed(weights), (pooled, captions)), hardest=hardest
        )

    assert torch.autograd.gradcheck(loss, parameters, eps=1e-6, atol=1e-6)


class _Cosines(torch.nn.Module):
    def __init__(self, space: ImageSentenceSpace) -> None:
        super().__init__()
        self.space = space

    def forward(self, pooled: Tensor, captions: Tensor) -> Tensor:
        return self.space.images(pooled) @ self.space.sentences(captions).T


def _prefixed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"space.{name}": weight for name, weight in weights.items()}


def test_padding_changes_no_sentence() -> None:
    space = ImageSentenceSpace(6, 3)
    short = torch.tensor([[2, 3, 0], [4, 5, 2]])  # the second is cut before its end
    assert torch.allclose(space.sentences(short)[0], space.sentences(torch.tensor([[2, 3, 0, 0, 0]]))[0])
    assert torch.allclose(space.sentences(short).norm(dim=1), torch.ones(2))


def test_sentences_find_the_images_that_they_name() -> None:
    """Images of three things each, sentences that name them in any order."""
    things = torch.stack([torch.randperm(12)[:3] for _ in range(40)])  # (40, 3)
    pooled = torch.zeros(40, 12).scatter_(1, things, 1.0)
    space = ImageSentenceSpace(14, 12, embedding=16, space=32)
    optimiser = torch.optim.Adam(space.parameters(), lr=0.01)
    for step in range(150):
        order = torch.rand(40, 3).argsort(1)
        words = torch.cat([things.gather(1, order) + 2, torch.zeros(40, 1, dtype=torch.long)], 1)
        loss = hinge(space.images(pooled) @ space.sentences(words).T, hardest=step >= 75)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        found = recalls(space.images(pooled), space.sentences(words), torch.arange(40), at=(1,))
    assert found["image R@1"] > 0.8
    assert found["caption R@1"] > 0.8


def test_recalls() -> None:
    images = torch.eye(3)
    sentences = torch.tensor([[1, 0, 0], [0.1, 0.9, 0], [0, 0.9, 0.3], [0, 0.2, 0.9]])
    found = recalls(images, sentences, torch.tensor([0, 1, 2, 2]), at=(1, 2))
    assert found == {"image R@1": 0.75, "image R@2": 1, "caption R@1": 1, "caption R@2": 1}


def model_of(vectors: list[list[float]], vocabulary: Vocabulary) -> RetrievalModel:
    space = ImageSentenceSpace(len(vocabulary), 2, space=2)
    return RetrievalModel(space, vocabulary, torch.tensor(vectors), "data")


def test_reward_is_the_margin_that_is_missing() -> None:
    vocabulary = Vocabulary.build([["a", "b", "c", "d"]], least=1)
    vectors = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.6, 0.8]]
    model = model_of(vectors, vocabulary)
    words = torch.tensor([[2, 3, 0], [4, 0, 0], [5, 2, 2], [3, 3, 0]])
    found = model.reward("data", vocabulary)(words, torch.tensor([3, 1]))
    sentences = model.space.sentences(words)
    for row, (own, other) in enumerate([(3, 1), (3, 1), (1, 3), (1, 3)]):
        cosines = [float(sentences[row] @ torch.tensor(vectors[image])) for image in (own, other)]
        assert found[row].item() == pytest.approx(-max(0.0, 0.2 + cosines[1] - cosines[0]), abs=1e-6)


def test_reward_reads_words_not_ids() -> None:
    """A captioner with another vocabulary is rewarded for the same words."""
    one = Vocabulary.build([["a", "b", "c"]], least=1)
    other = Vocabulary((*one.words[:2], "c", "x", "a"))
    model = model_of([[1.0, 0.0], [0.0, 1.0]], one)
    first = model.reward("data", one)(torch.tensor([[2, 4, 0], [4, 1, 0]]), torch.tensor([0, 1]))
    second = model.reward("data", other)(torch.tensor([[4, 2, 0], [2, 3, 0]]), torch.tensor([0, 1]))
    assert torch.equal(first, second)


def test_one_image_is_refused() -> None:
    vocabulary = Vocabulary.build([["a"]], least=1)
    with pytest.raises(UsageError, match="this batch has one"):
        model_of([[1.0, 0.0]], vocabulary).reward("data", vocabulary)(torch.tensor([[2, 0]]), torch.tensor([0]))


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, 100, seed=1)
    return folder


@pytest.fixture(scope="module")
def run(scenes: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = tmp_path_factory.mktemp("runs")
    train(settings(scenes), folder / "xe", cache=folder / "cache")
    return RunFolder.open(folder / "xe")


def settings(scenes: Path, **changes: Any) -> Settings:
    values: dict[str, Any] = {
        "data": str(scenes),
        "hidden": 16,
        "embedding": 8,
        "batch": 8,
        "captions": 2,
        "steps": 2,
        "validate_every": 2,
        "rate": 0.01,
        "side": 32,
        "device": "cpu",
    }
    return Settings(**{**values, **changes})


def test_the_second_half_of_the_epochs_learns_from_the_hardest(
    run: RunFolder, scenes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def noted(cosines: Tensor, *, hardest: bool) -> Tensor:
        seen.append(hardest)
        return hinge(cosines, hardest=hardest)

    monkeypatch.setattr("sacrecap_captioning.retrieval_model.hinge", noted)
    train_retrieval(run, epochs=4, batch=1000, cache=run.path.parent / "cache")
    assert seen == [False, False, True, True]


def test_learns_is_kept_and_rewards(run: RunFolder, scenes: Path, tmp_path: Path) -> None:
    cache = run.path.parent / "cache"
    losses: list[float] = []
    model, epoch, found = train_retrieval(
        run, epochs=8, batch=16, cache=cache, progress=lambda epoch, loss, found: losses.append(loss)
    )
    assert len(losses) == 8
    assert losses[3] < losses[0]  # of all negatives
    assert 1 <= epoch <= 8
    assert found["image R@5"] <= 1
    file = tmp_path / "retrieval.pt"
    model.save(file)
    again = RetrievalModel.load(file)
    words, images = torch.randint(2, len(run.vocabulary), (6, 5)), torch.tensor([3, 4])
    rewards = again.reward(run.data_checksum, run.vocabulary)(words, images)
    assert torch.allclose(rewards, model.reward(run.data_checksum, run.vocabulary)(words, images), atol=1e-3)
    assert ((rewards <= 0) & (rewards >= -2.2)).all()
    mixed = settings(scenes, loss="xe + cider-d + 2*retrieval", retrieval=str(file))
    outcome = train(mixed, tmp_path / "mixed", cache=cache)
    assert outcome.step == 2


def test_what_it_refuses(run: RunFolder, scenes: Path, tmp_path: Path) -> None:
    cache = run.path.parent / "cache"
    with pytest.raises(UsageError, match="retrieval needs a trained retrieval model: .*sacrecap caption retrieval"):
        train(settings(scenes, loss="xe + retrieval"), tmp_path / "none", cache=cache)
    (tmp_path / "other.pt").write_bytes(b"x")
    with pytest.raises(DataError, match="is not a checkpoint of sacrecap, or damaged"):
        RetrievalModel.load(tmp_path / "other.pt")
    torch.save({"kind": "other"}, tmp_path / "other.pt")
    with pytest.raises(DataError, match="is not a retrieval model; sacrecap caption retrieval trains one"):
        RetrievalModel.load(tmp_path / "other.pt")
    model = RetrievalModel(ImageSentenceSpace(len(run.vocabulary), 3), run.vocabulary, torch.zeros(2, 256), "0123")
    with pytest.raises(DataError, match="trained on other images, splits or captions \\(checksum 0123"):
        model.reward(run.data_checksum, run.vocabulary)
