"""What holds for every metric of caption sets, present and future."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from corpora import seeds
from laws.registered import REGISTERED, few, variations
from sacrecap.errors import UsageError
from sacrecap.metrics import Metric
from sacrecap.metrics.cider import frequencies_for
from sacrecap.metrics.registry import parse_metrics
from sets import Sets, caption_sets, result, score

OF_SETS = tuple(metric for metric in REGISTERED if metric.scores_sets)

every_metric_of_sets = pytest.mark.parametrize("metric", OF_SETS, ids=lambda metric: metric.key)


def frequencies(sets: Sets, metric: Metric) -> tuple[sacrecap.DocumentFrequency, ...]:
    worded = {image: [text or "x" for text in texts] for image, texts in sets.items()}  # empty ones would be left out
    return frequencies_for([metric], worded, tokenizer="none")


def equal(a: object, b: object) -> bool:
    return bool(a == pytest.approx(b, rel=1e-9, abs=1e-10))


@every_metric_of_sets
@few
@given(sets=caption_sets(), seed=seeds)
def test_the_order_of_images_is_irrelevant(metric: Metric, sets: Sets, seed: int) -> None:
    ids = list(sets)
    Random(seed).shuffle(ids)
    before, after = score(sets, variations(metric)), score({image: sets[image] for image in ids}, variations(metric))
    order = [before.image_ids.index(image) for image in ids]
    for key in before:
        assert equal(after[key].value, before[key].value), key
        assert after[key].per_image.tolist() == before[key].per_image[order].tolist(), key


@every_metric_of_sets
@few
@given(sets=caption_sets(), seed=seeds)
def test_the_order_of_captions_is_irrelevant(metric: Metric, sets: Sets, seed: int) -> None:
    """But not to CIDEr-D, which is not symmetric: the published matrix depends on the order."""
    chosen = [variation for variation in variations(metric) if getattr(variation, "kernel", "") != "cider-d"]
    shuffled = {image: list(captions) for image, captions in sets.items()}
    chance = Random(seed)
    for captions in shuffled.values():
        chance.shuffle(captions)
    before, after = score(sets, chosen), score(shuffled, chosen)
    for key in before:
        assert equal(after[key].per_image, before[key].per_image), key


@every_metric_of_sets
@few
@given(sets=caption_sets(least=2), data=st.data())
def test_shards_merge_to_the_whole(metric: Metric, sets: Sets, data: st.DataObject) -> None:
    ids = list(sets)
    cut = data.draw(st.integers(1, len(ids) - 1))
    for variation in variations(metric):
        df = frequencies(sets, variation)
        whole = score(sets, variation, document_frequency=df)[variation.key]
        first, second = (
            score({image: sets[image] for image in part}, variation, document_frequency=df)[variation.key].statistics
            for part in (ids[:cut], ids[cut:])
        )
        merged = first.merge(second)
        assert merged.rows == len(ids)
        assert equal(merged.score(), whole.value), variation.key
        assert np.frombuffer(merged.row_scores()).tolist() == whole.per_image.tolist(), variation.key


@every_metric_of_sets
@few
@given(sets=caption_sets(most=9), threads=st.integers(2, 9))
def test_any_number_of_threads_gives_the_same_bits(metric: Metric, sets: Sets, threads: int) -> None:
    one, several = score(sets, variations(metric)), score(sets, variations(metric), threads=threads)
    for key in one:
        assert one[key].statistics.values() == several[key].statistics.values(), key


@every_metric_of_sets
@few
@given(sets=caption_sets())
def test_scores_lie_within_their_range(metric: Metric, sets: Sets) -> None:
    for key, figure in score(sets, variations(metric)).items():
        values = [figure.value, *figure.per_image]
        most = metric.largest or max(map(len, sets.values()))
        assert all(math.isfinite(value) and -1e-12 <= value <= most + 1e-9 for value in values), key


@every_metric_of_sets
@few
@given(sets=caption_sets(), other=caption_sets())
def test_another_system_changes_nothing(metric: Metric, sets: Sets, other: Sets) -> None:
    second = {image: other.get(image, ["a dog"]) for image in sets}
    alone = score(sets, variations(metric))
    both = result({"one": sets, "two": second}, None, variations(metric))["one"]
    for key in alone:
        assert alone[key].per_image.tolist() == both[key].per_image.tolist(), key


@every_metric_of_sets
def test_captions_by_themselves_are_refused(metric: Metric) -> None:
    with pytest.raises(UsageError, match="scores caption sets, .*use sacrecap.diversity"):
        sacrecap.score({"1": ["a dog"]}, {"1": "a dog"}, metric)
    with pytest.raises(UsageError, match="scores caption sets; members must score one caption"):
        parse_metrics(f"combine({metric.key}, cider-d)")


@pytest.mark.parametrize("metric", [m for m in REGISTERED if not m.scores_sets], ids=lambda metric: metric.key)
def test_metrics_of_captions_are_refused_for_sets(metric: Metric) -> None:
    with pytest.raises(UsageError, match="scores one caption, not a caption set; as the accuracy"):
        result({"1": ["a dog"]}, None, metric)


@every_metric_of_sets
def test_signatures_hold_every_parameter(metric: Metric) -> None:
    signatures = set()
    for figure in score({"1": ["a b", "c"], "2": ["d"]}, variations(metric)).values():
        name, *parts = figure.signature.split("|")
        signatures.add(figure.signature)
        [value] = parse_metrics(figure.key)
        assert name == value.head
        assert parse_metrics(name) == (value,)
        assert ("df:sets(2)" in parts) == value.uses_document_frequency
        assert parts[0] == "images:2/2"
        assert parts[1].startswith("caps:1-2@")
        assert parts[-2] == "tok:none"
    assert len(signatures) == len(variations(metric))
