"""Every captioner: shapes, rows that do not know of each other, draws of a latent vector."""

from __future__ import annotations

import pytest
import torch

from sacrecap.errors import UsageError
from sacrecap_captioning.captioner import END, Captioner, Features, Sizes, Vocabulary, cross_entropy
from sacrecap_captioning.models import CGAN, FC, MODELS, LatentCaptioner, build

SIZES = Sizes(vocabulary=9, feature=6, hidden=5, embedding=4, attention=3, latent=2, objects=3)


@pytest.fixture(params=list(MODELS))
def model(request: pytest.FixtureRequest) -> Captioner:
    torch.manual_seed(0)
    return build(request.param, SIZES)


def features(images: int) -> Features:
    random = torch.Generator().manual_seed(1)
    grid = torch.randn(images, 4, 6, generator=random)
    return Features(grid.mean(1), grid, (torch.rand(images, 3, generator=random) < 0.5).float())


CAPTIONS = torch.tensor([[3, 4, END, END], [5, END, END, END], [2, 3, 4, 5]])


def test_logits_of_every_word(model: Captioner) -> None:
    logits = model(features(3), CAPTIONS)
    assert logits.shape == (3, 4, 9)
    assert logits.isfinite().all()


def test_a_row_does_not_know_of_the_others(model: Captioner) -> None:
    """Beam search picks and repeats rows of a state."""
    state = model.begin(features(3))
    together = model.unrolled(state, CAPTIONS)
    for row in range(3):
        alone = model.unrolled(tuple(part[[row]] for part in state), CAPTIONS[[row]])
        torch.testing.assert_close(alone[0], together[row])


def test_the_image_matters(model: Captioner) -> None:
    state, other = model.begin(features(2)), model.begin(features(2).rows(torch.tensor([1, 0])))
    assert not torch.allclose(model.unrolled(state, CAPTIONS[:2]), model.unrolled(other, CAPTIONS[:2]))


def test_every_weight_learns(model: Captioner) -> None:
    loss = model.loss(features(3), CAPTIONS).total
    if isinstance(model, CGAN):  # its evaluator learns in the game alone
        loss = loss + model.game(features(3), CAPTIONS, CAPTIONS.roll(1, 0))
    loss.backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.isfinite().all(), name
        assert weight.grad.abs().sum() > 0, name


def test_the_cross_entropy_of_a_loss_is_that_of_the_words(model: Captioner) -> None:
    """Models with terms of their own log the same figure as those without."""
    if isinstance(model, LatentCaptioner) and not isinstance(model, CGAN):
        torch.manual_seed(3)
        found = model.loss(features(3), CAPTIONS)
        others = found.total - found.entropy
        assert others.abs() > 1e-3
        assert abs(found.entropy.item() - 2.197) < 0.5  # an untrained model is near log 9 nats per word
        return
    loss = model.loss(features(3), CAPTIONS)
    seen = features(3)
    start = model.begin(seen, torch.zeros(3, SIZES.latent)) if isinstance(model, CGAN) else model.begin(seen)
    assert loss.total == loss.entropy == cross_entropy(model.unrolled(start, CAPTIONS), CAPTIONS)


def test_fc_reads_with_a_maximum_of_two_candidates() -> None:
    """Against the equations of Rennie et al., written out number by number."""
    torch.manual_seed(0)
    model = build("fc", SIZES)
    assert isinstance(model, FC)
    state = (torch.randn(1, 5), torch.randn(1, 5))
    _, (hidden, memory) = model.step(torch.tensor([3]), state)
    read = torch.cat([model.embed.weight[3], state[0][0]])
    gates = [model.cell.gates.weight[k] @ read + model.cell.gates.bias[k] for k in range(15)]
    candidates = [model.cell.candidates.weight[k] @ read + model.cell.candidates.bias[k] for k in range(10)]
    for unit in range(5):
        enter, forget, leave = (torch.sigmoid(gates[unit + 5 * gate]) for gate in range(3))
        value = enter * max(candidates[unit], candidates[unit + 5]) + forget * state[1][0, unit]
        torch.testing.assert_close(memory[0, unit], value)
        torch.testing.assert_close(hidden[0, unit], leave * value.tanh())


def test_padding_does_not_matter(model: Captioner) -> None:
    padded = torch.cat([CAPTIONS[:2], torch.full((2, 3), END)], 1)
    state = model.begin(features(2))
    short, long = (cross_entropy(model.unrolled(state, captions), captions) for captions in (CAPTIONS[:2], padded))
    torch.testing.assert_close(short, long)


@pytest.mark.parametrize("name", [name for name, model in MODELS.items() if issubclass(model, LatentCaptioner)])
def test_a_larger_spread_draws_farther(name: str) -> None:
    torch.manual_seed(0)
    model = build(name, SIZES)
    assert isinstance(model, LatentCaptioner)
    images = features(1).repeated(2000)
    near, far = (model.draw(images, spread, torch.Generator().manual_seed(5)) for spread in (1.0, 10.0))
    assert near.shape == (2000, 2)
    if name != "gmm-cvae":  # whose means are apart
        torch.testing.assert_close(far, 10 * near)
        assert 0.9 < near.std() < 1.1


def test_a_captioner_made_of_another_has_its_name_or_one_that_its_class_says() -> None:
    class Same(FC):
        pass

    class Other(FC):
        name = "other"

    assert [Same.name, Other.name, FC.name] == ["fc", "other", "fc"]


def test_unknown_names_and_missing_objects() -> None:
    with pytest.raises(UsageError, match="did you mean 'att2in'"):
        build("att2n", SIZES)
    with pytest.raises(UsageError, match="no object labels"):
        build("gmm-cvae", Sizes(vocabulary=9, feature=6))


def test_a_vocabulary_has_what_occurs_often_enough_commonest_first() -> None:
    captions = [["b", "a"], ["b", "c"], ["c", "b"], ["rare"]]
    assert Vocabulary.build(captions, least=2).words[2:] == ("b", "c")
    assert Vocabulary.build(captions, least=1).words[2:] == ("b", "c", "a", "rare")
