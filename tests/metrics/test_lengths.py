"""Which sentences are too long for which metric."""

from __future__ import annotations

import pytest

from sacrecap import Corpus
from sacrecap.errors import UnfitImages
from sacrecap.metrics.lengths import check_lengths, strictest
from sacrecap.metrics.registry import parse_metrics

LONG = "dog " * 2_001


@pytest.fixture
def corpus() -> Corpus:
    references = {"1": ["a dog"], "2": ["a cat", LONG], "3": [f"{LONG} cat", "a"]}
    return Corpus(references, {"1": "dog " * 2_000, "2": "a cat", "3": LONG})


@pytest.mark.parametrize("metrics", ["meteor", "wmd", "vifidel", "combine(cider-d, meteor)", "bleu-4, meteor"])
def test_some_metrics_have_a_limit(metrics: str) -> None:
    limit = strictest(parse_metrics(metrics))
    assert limit is not None
    assert limit[0] == limit[1].longest == 2_000


@pytest.mark.parametrize("metrics", ["meteor, wmd", "wmd, meteor", "combine(wmd, meteor)"])
def test_the_strictest_metric_decides(metrics: str, monkeypatch: pytest.MonkeyPatch) -> None:
    [meteor] = parse_metrics("meteor")
    monkeypatch.setattr(type(meteor), "longest", 10)
    assert strictest(parse_metrics(metrics)) == (10, meteor)


def test_other_metrics_take_any_sentence(corpus: Corpus) -> None:
    metrics = parse_metrics("bleu-4, rouge-l, cider-d, spice")
    assert strictest(metrics) is None
    for metric in metrics:
        check_lengths(metric, corpus)


def test_images_with_sentences_beyond_the_limit_are_named(corpus: Corpus) -> None:
    [meteor] = parse_metrics("meteor")
    with pytest.raises(UnfitImages, match=r"image '2': a sentence of 2,001 words; METEOR takes up to 2,000") as caught:
        check_lengths(meteor, corpus)
    assert caught.value.places == (1, 2)
