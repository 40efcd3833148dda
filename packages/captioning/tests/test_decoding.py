"""Decoding against searches so slow that they are plainly right, on captioners of a few words with random weights."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from sacrecap.errors import UsageError
from sacrecap_captioning import captioner as decoding
from sacrecap_captioning.captioner import END, Captioner, Decoded, Features, Sampling, Sizes, drawn, until_end
from sacrecap_captioning.models import FC

WORDS, LIMIT = 5, 3


@pytest.fixture(params=range(4))
def model(request: pytest.FixtureRequest) -> Captioner:
    """A captioner of five words, end and unknown included, sharp enough that its choices depend on what it said."""
    torch.manual_seed(request.param)
    captioner = FC(Sizes(vocabulary=WORDS, feature=3, hidden=8, embedding=8)).eval().requires_grad_(False)
    captioner.word.weight *= 8
    return captioner


@pytest.fixture
def features() -> Features:
    """Of four images."""
    generator = torch.Generator().manual_seed(3)
    return Features(torch.randn(4, 3, generator=generator) * 3, torch.randn(4, 2, 3, generator=generator))


def greedy(model: Captioner, features: Features, *, limit: int) -> Decoded:
    return decoding.greedy(model.step, model.begin(features), limit=limit)


def sample(model: Captioner, features: Features, *, samples: int = 1, **options: Any) -> Decoded:
    return decoding.sample(model.step, model.begin(features.repeated(samples)), **options)


def beam(model: Captioner, features: Features, **options: Any) -> Decoded:
    return decoding.beam(model.step, model.begin(features), **options)


def one(features: Features, image: int) -> Features:
    return features.rows(torch.tensor([image]))


def likelihood(model: Captioner, features: Features, words: list[int]) -> list[float]:
    """Log-probability of each word of one image's caption."""
    log_probs = model(features, torch.tensor([words]))[0].log_softmax(1)
    return [float(log_probs[step, word]) for step, word in enumerate(words)]


def every_caption() -> list[tuple[int, ...]]:
    """All captions within the limit: those that end, and those that it cuts."""
    cut = list(product(range(1, WORDS), repeat=LIMIT))
    return cut + [(*words, END) for length in range(LIMIT) for words in product(range(1, WORDS), repeat=length)]


def captions(decoded: Decoded) -> list[tuple[int, ...]]:
    """The rows up to and with their first end."""
    rows = zip(decoded.words, until_end(decoded.words), strict=True)
    return [tuple(words[counted].tolist()) for words, counted in rows]


def slow_beam(
    model: Captioner, features: Features, width: int, groups: int, penalty: float
) -> list[tuple[tuple[int, ...], float]]:
    """The algorithm as it is printed, one image, lists of (caption, score); the likeliest first."""
    beams: list[list[tuple[tuple[int, ...], float]]] = [[((), 0.0)] for _ in range(groups)]
    for _ in range(LIMIT):
        used: list[int] = []
        for number, kept_captions in enumerate(beams):
            candidates = []
            for words, score in kept_captions:
                if words and words[-1] == END:
                    candidates.append((score, words, score))
                    continue
                for word in range(WORDS):
                    longer = score + likelihood(model, features, [*words, word])[-1]
                    candidates.append((longer - penalty * used.count(word), (*words, word), longer))
            candidates.sort(key=lambda each: -each[0])
            chosen = candidates[: width // groups]
            before = {words for words, _ in kept_captions}
            used += [words[-1] for _, words, _ in chosen if words not in before]
            beams[number] = [(words, score) for _, words, score in chosen]
    return sorted((caption for group in beams for caption in group), key=lambda each: -each[1])


def test_the_widest_beam_finds_the_likeliest_of_all_captions(model: Captioner, features: Features) -> None:
    width = 125  # as many as there are
    best = sorted(every_caption(), key=lambda words: -sum(likelihood(model, one(features, 1), list(words))))
    model_with_width = beam(Wide(model, width), features, limit=LIMIT, width=width)
    found = captions(Decoded(*(part.view(4, width, -1)[1] for part in model_with_width)))
    assert found[:20] == best[:20]


class Wide(Captioner):
    """A captioner with words that are never said, so that any beam is narrower than the vocabulary."""

    name = "wide"

    def __init__(self, model: Captioner, words: int) -> None:
        super().__init__(model.sizes)
        self.model, self.words = model, words

    def begin(self, features: Features) -> tuple[Tensor, ...]:
        return self.model.begin(features)

    def step(self, words: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        logits, state = self.model.step(words.clamp(max=WORDS - 1), state)
        return torch.nn.functional.pad(logits, (0, self.words - WORDS), value=-1e4), state


@pytest.mark.parametrize(
    ("width", "groups", "penalty"), [(1, 1, 0.0), (3, 1, 0.0), (4, 2, 0.7), (5, 5, 3.0), (4, 4, 0)]
)
def test_beam_equals_the_slow_search(
    model: Captioner, features: Features, width: int, groups: int, penalty: float
) -> None:
    decoded = beam(model, features, limit=LIMIT, width=width, groups=groups, penalty=penalty)
    found = captions(decoded)
    scores = decoded.log_probs.sum(1)
    for image in range(4):
        expected = slow_beam(model, one(features, image), width, groups, penalty)
        rows = slice(image * width, (image + 1) * width)
        # Groups may find the same caption: equal scores stand in any order.
        assert sorted(found[rows]) == sorted(words for words, _ in expected)
        assert scores[rows].tolist() == pytest.approx([score for _, score in expected], abs=1e-4)


def test_a_beam_of_one_is_greedy(model: Captioner, features: Features) -> None:
    assert captions(beam(model, features, limit=LIMIT, width=1)) == captions(greedy(model, features, limit=LIMIT))


def test_log_probs_are_those_of_the_words(model: Captioner, features: Features) -> None:
    for decoded in (beam(model, features, limit=LIMIT, width=3), sample(model, features, limit=LIMIT, samples=3)):
        for row, words in enumerate(captions(decoded)):
            expected = likelihood(model, one(features, row // 3), list(words))
            assert decoded.log_probs[row, : len(words)].tolist() == pytest.approx(expected, abs=1e-4)
            assert not decoded.log_probs[row, len(words) :].any()


def test_groups_that_cost_much_begin_differently(model: Captioner, features: Features) -> None:
    first = beam(model, features, limit=LIMIT, width=5, groups=5, penalty=1e4).words[:, 0].view(4, 5)
    assert all(sorted(row) == list(range(WORDS)) for row in first.tolist())


@pytest.mark.parametrize("options", [{"width": 4, "groups": 3}, {"width": 0}, {"width": 6}])
def test_a_beam_that_cannot_be(model: Captioner, features: Features, options: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=r"divide|words in the vocabulary"):
        beam(model, features, limit=LIMIT, **options)


def test_samples_come_as_often_as_they_are_likely(model: Captioner, features: Features) -> None:
    chance = torch.rand(20_000, LIMIT, generator=torch.Generator().manual_seed(1))
    drawn_captions = captions(sample(model, one(features, 2), limit=LIMIT, samples=20_000, chance=chance))
    for words in every_caption():
        expected = float(torch.tensor(likelihood(model, one(features, 2), list(words))).sum().exp())
        assert drawn_captions.count(words) / 20_000 == pytest.approx(expected, abs=0.02)


def test_the_numbers_that_decide_make_captions_independent_of_the_batch(model: Captioner, features: Features) -> None:
    chance = torch.rand(8, LIMIT, generator=torch.Generator().manual_seed(5))
    together = captions(sample(model, features, limit=LIMIT, samples=2, chance=chance))
    alone = [
        captions(sample(model, one(features, image), limit=LIMIT, samples=2, chance=chance[2 * image : 2 * image + 2]))
        for image in range(4)
    ]
    assert together == [words for each in alone for words in each]


def test_the_coldest_sample_and_the_narrowest_choices_are_greedy(model: Captioner, features: Features) -> None:
    expected = captions(greedy(model, features, limit=LIMIT))
    for sampling in (Sampling(temperature=1e-4), Sampling(top_k=1), Sampling(nucleus=1e-6)):
        assert captions(sample(model, features, limit=LIMIT, sampling=sampling)) == expected


def slow_kept(likelihood: list[float], top_k: int, nucleus: float) -> list[float]:
    """Words from the likeliest down, while they are wanted."""
    result, total = [0.0] * len(likelihood), 0.0
    for rank, word in enumerate(sorted(range(len(likelihood)), key=lambda word: -likelihood[word])):
        if rank and ((top_k and rank >= top_k) or total >= nucleus):
            break
        result[word] = likelihood[word]
        total += likelihood[word]
    return result


@pytest.mark.parametrize("top_k", [0, 1, 3, 99])
@pytest.mark.parametrize("nucleus", [0.0, 0.3, 0.9, 1.0])
def test_words_that_are_kept(top_k: int, nucleus: float) -> None:
    likelihood = torch.randn(20, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(9)).mul(2).softmax(1)
    expected = [slow_kept(row, top_k, nucleus) for row in likelihood.tolist()]
    kept = Sampling(top_k=top_k, nucleus=nucleus).narrowed(likelihood)
    assert torch.equal(kept, torch.tensor(expected, dtype=torch.float64))


def test_a_nucleus_that_is_reached_exactly_takes_no_further_word() -> None:
    likelihood = torch.tensor([[0.25, 0.5, 0.125, 0.125]], dtype=torch.float64)
    kept = Sampling(nucleus=0.75).narrowed(likelihood)
    assert kept.tolist() == [[0.25, 0.5, 0.0, 0.0]]


def test_no_chance_draws_an_impossible_word() -> None:
    likelihood = torch.tensor([[0.0, 0.3, 0.0, 0.7, 0.0]], dtype=torch.float64).repeat(4, 1)
    chance = torch.tensor([0.0, 0.2999, 0.3001, 1 - 2**-24])
    assert drawn(likelihood, chance).tolist() == [1, 1, 3, 3]
