"""Rewards by name: each is the metric it is named after, and what does not fit is said."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import sacrecap
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioner import Vocabulary
from sacrecap_captioning.objective import TrainingCaptions, load_reward

REFERENCES = [
    [["a", "red", "dog", "sits", "down"], ["the", "dog", "sits"]],
    [["a", "blue", "cat"], ["one", "cat", "in", "blue"], ["a", "cat", "that", "sits"]],
    [["green", "birds"], ["many", "green", "birds", "fly"]],
]
SAMPLES = [["a", "red", "dog"], ["dog", "sits", "down"], ["a", "cat"], ["one", "cat", "in", "blue"]]
"""Two of image 1, two of image 0 (below)."""
IMAGES = torch.tensor([0, 1])


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary.build([caption for group in REFERENCES for caption in group], least=1)


@pytest.fixture
def training(vocabulary: Vocabulary) -> TrainingCaptions:
    return TrainingCaptions(vocabulary, REFERENCES)


def ids(vocabulary: Vocabulary, captions: list[list[str]], width: int = 8) -> Tensor:
    return torch.tensor([(vocabulary.encode(tokens, width - 1) + [0] * width)[:width] for tokens in captions])


@pytest.mark.parametrize(
    "name", ["bleu-4", "rouge-l", "meteor", "cider-paper", "rouge-1", "wmd", "combine(bleu-1, cider-d)"]
)
def test_any_metric_of_words(training: TrainingCaptions, vocabulary: Vocabulary, name: str) -> None:
    rewards = load_reward(name, training)(ids(vocabulary, SAMPLES), IMAGES)
    texts = {str(image): [" ".join(tokens) for tokens in group] for image, group in enumerate(REFERENCES)}
    counts = DocumentFrequency.build(texts, tokenizer="none", stem=name == "cider-paper")
    for row, tokens in enumerate(SAMPLES):
        alone = sacrecap.score(
            {"0": texts[str(row // 2)]},
            {"0": " ".join(tokens)},
            name,
            tokenizer="none",
            document_frequency=counts if "cider" in name else None,
            interval=None,
        )
        [score] = alone.values()
        assert rewards[row].item() == pytest.approx(score.value, rel=1e-6)


def test_cider_d_counts_the_end_and_the_training_split(training: TrainingCaptions, vocabulary: Vocabulary) -> None:
    words = ids(vocabulary, SAMPLES)
    rewards = load_reward("cider-d(sigma=5)", training)(words, IMAGES)
    references = [ids(vocabulary, group).numpy() for group in REFERENCES]
    counts = DocumentFrequency.from_token_ids(references)
    expected = sacrecap.CiderDReward(counts, sigma=5)(words.numpy(), [references[0], references[1]])
    assert rewards.tolist() == pytest.approx(expected.tolist(), rel=1e-6)
    assert rewards.dtype == torch.float32


def test_a_metric_of_objects(vocabulary: Vocabulary) -> None:
    training = TrainingCaptions(vocabulary, REFERENCES, objects=[{"dog": 1}, {"cat": 1}, {"bird": 2}])
    rewards = load_reward("vifidel", training)(ids(vocabulary, SAMPLES), IMAGES)
    assert rewards[0] != rewards[1]
    assert ((rewards > 0) & (rewards <= 1)).all()


def test_metrics_that_reward_no_single_caption(training: TrainingCaptions) -> None:
    with pytest.raises(UsageError, match="self-cider scores caption sets"):
        load_reward("self-cider", training)
    with pytest.raises(UsageError, match="fluency learns from the references of all images"):
        load_reward("fluency", training)
    with pytest.raises(UsageError, match="vifidel: it needs the objects of each image"):
        load_reward("vifidel", training)
    with pytest.raises(UsageError, match="retrieval needs a trained retrieval model"):
        load_reward("retrieval", training)


def test_counts_of_one_image(vocabulary: Vocabulary) -> None:
    with pytest.raises(DataError, match="those of one image: every n-gram is in every document"):
        load_reward("cider-d", TrainingCaptions(vocabulary, REFERENCES[:1]))
