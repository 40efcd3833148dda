"""Which sentences are too long for which metric."""

from __future__ import annotations

import pytest

from sacrecap import Corpus
from sacrecap.errors import DataError
from sacrecap.metrics.lengths import check_lengths, too_long
from sacrecap.metrics.registry import parse_metrics

LONG = "dog " * 2_001


@pytest.fixture
def corpus() -> Corpus:
    references = {"1": ["a dog"], "2": ["a cat", LONG], "3": [f"{LONG} cat", "a"]}
    return Corpus(references, {"1": "dog " * 2_000, "2": "a cat", "3": LONG})


@pytest.mark.parametrize("metrics", ["meteor", "wmd", "vifidel", "combine(cider-d, meteor)", "bleu-4, meteor"])
def test_sentences_beyond_the_limit_are_named(metrics: str, corpus: Corpus) -> None:
    found = too_long(parse_metrics(metrics), corpus)
    assert [one[:3] for one in found] == [(1, None, 2_001), (2, None, 2_002), (2, 0, 2_001)]
    assert found[0].reason.startswith(f"a sentence of 2,001 words; {found[0].metric.label} takes up to 2,000")


def test_metrics_without_a_limit_take_any_sentence(corpus: Corpus) -> None:
    assert too_long(parse_metrics("bleu-4, rouge-l, cider-d, spice"), corpus) == []


def test_the_first_is_an_error_of_its_image(corpus: Corpus) -> None:
    [meteor] = parse_metrics("meteor")
    with pytest.raises(DataError, match=r"image '2': a sentence of 2,001 words; METEOR takes up to 2,000"):
        check_lengths(meteor, corpus)
