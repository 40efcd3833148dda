"""The accuracy of caption sets is that of their captions, each scored alone; people's, each against the others."""

from __future__ import annotations

from typing import Any

import pytest

import sacrecap
from sacrecap.metrics.cider import frequencies_for
from sacrecap.metrics.registry import parse_metrics

PARAGRAPH = "A brown dog runs along the beach. " * 20
REFERENCES = {"1": ["A dog runs.", "the dog", PARAGRAPH], "2": ["a red bus", "the bus"]}
SETS = {"1": ["a dog and a cat", "dogs run", PARAGRAPH], "2": ["a bus and a car", "a red bus"]}
GIVEN: dict[str, dict[str, Any]] = {
    "vifidel": {"objects": {"1": ["dog"], "2": ["bus"]}},
    "rubric": {"rubric": {"1": ["a dog", "the beach"], "2": ["a red bus"]}},
}
METRICS = (*("rouge-l", "spice", "vifidel", "vifidel(variant=released)", "wmd", "chair-i(gold=references)"), "rubric")


def alone(metric: str, image: str, caption: str, references: list[str]) -> float:
    """The score of one caption of an image, with the document frequencies of all references."""
    given: dict[str, Any] = {
        name: {image: value[image]} for name, value in GIVEN.get(metric.partition("(")[0], {}).items()
    }
    [parsed] = parse_metrics(metric)
    if parsed.uses_document_frequency:
        given["document_frequency"] = frequencies_for([parsed], REFERENCES, tokenizer="ptb")  # type: ignore[assignment]
    result = sacrecap.score({image: references}, {image: caption}, metric, interval=None, **given)  # type: ignore[arg-type]
    return float(result[metric].per_image[0])


@pytest.mark.filterwarnings("ignore::sacrecap.SacrecapWarning")
@pytest.mark.parametrize("metric", METRICS)
def test_accuracy_is_the_mean_over_captions(metric: str) -> None:
    given = GIVEN.get(metric.partition("(")[0], {})
    found = sacrecap.diversity({"s": SETS}, REFERENCES, metrics="lsa", accuracy=metric, interval=None, **given)
    assert found.human is not None
    for number, image in enumerate(SETS):
        scores = [alone(metric, image, caption, REFERENCES[image]) for caption in SETS[image]]
        assert found["s"]["accuracy"].per_image[number] == pytest.approx(sum(scores) / len(scores), rel=1e-9)
        own = REFERENCES[image]
        left = [alone(metric, image, one, own[:place] + own[place + 1 :]) for place, one in enumerate(own)]
        assert found.human["accuracy"].per_image[number] == pytest.approx(sum(left) / len(left), rel=1e-9)
        assert len({*scores, *left}) > 1
