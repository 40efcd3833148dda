"""Findings: what is seen of odd captions, and nothing of ordinary ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

import sacrecap
from sacrecap import _core, example
from sacrecap.choices import FINDINGS
from sacrecap.corpus.corpus import Corpus, added
from sacrecap.metrics.registry import own_metrics, parse_metrics
from sacrecap.report.comparison_formats import best_and_worse
from sacrecap.scoring.findings import Finding, findings

Captions = dict[str, str]
REFERENCES: dict[str, list[str]] = example.references()
CAPTIONS: Captions = example.systems()["careful"]
IDS = sorted(CAPTIONS)
USUAL = "coco, cider-paper"


def found(captions: Captions, references: dict[str, list[str]] | None = None, metrics: str = USUAL) -> list[Finding]:
    return sacrecap.score(references or REFERENCES, captions, metrics, interval=None).findings


def each(change: Callable[[str], str], images: int = len(IDS)) -> Captions:
    """The captions, of which the first images' are changed."""
    return {**CAPTIONS, **{image: change(CAPTIONS[image]) for image in IDS[:images]}}


def shuffled(seed: int = 3) -> Captions:
    order = IDS.copy()
    random.Random(seed).shuffle(order)
    return {image: CAPTIONS[other] for image, other in zip(IDS, order, strict=True)}


@pytest.mark.parametrize("system", example.systems())
def test_ordinary_captions_have_no_findings(system: str) -> None:
    assert found(example.systems()[system]) == []


def test_ordinary_comparisons_have_no_findings() -> None:
    assert sacrecap.compare(REFERENCES, example.systems(), USUAL, samples=100, interval=None).findings == []


ODD: dict[str, tuple[Captions, int]] = {
    "empty": (each(lambda _: " ", 3), 3),
    "list": (each(lambda caption: f"[{caption}]", 1), 1),
    "json": (each(lambda caption: json.dumps({"caption": caption}), 2), 2),
    "think": (each(lambda caption: f"<think>A dog?</think> {caption}", 1), 1),
    "token": (each(lambda caption: f"{caption} <|im_end|>", 1), 1),
    "markdown": (each(lambda caption: f"**{caption}**", 5), 5),
    "lines": (each(lambda caption: f"{caption}\n{caption}", 5), 5),
    "prefix": (each(lambda caption: f"ASSISTANT: {caption}", 40), 40),
    "same-caption": (each(lambda _: "a dog in a room", 20), 20),
    "in-references": ({**CAPTIONS, **{image: REFERENCES[image][0] for image in IDS[:8]}}, 8),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_captions_are_found(kind: str) -> None:
    captions, count = ODD[kind]
    [finding] = [one for one in found(captions) if one.kind == kind]
    assert (finding.count, finding.share) == (count, count / len(IDS))
    assert finding.example == {"image_id": IDS[0], "caption": captions[IDS[0]]}
    assert finding.metrics == tuple(metric.key for metric in parse_metrics(USUAL))
    assert f"{count} of {len(IDS)}" in finding.message
    assert "\n" not in str(finding)


@pytest.mark.parametrize(
    ("beginning", "fewest"),
    [("it seems that", 10), ("the image of", 3), ("answer:", 3)],
    ids=["words", "image", "label"],
)
def test_how_many_captions_begin_alike_for_a_finding(beginning: str, fewest: int) -> None:
    """More than half of all captions do; of those that speak of no image, ten at least."""
    for count in (fewest - 1, fewest):
        images = [str(number) for number in range(count + count // 2)]
        captions = {image: f"{beginning} {place} {CAPTIONS[IDS[place]]}" for place, image in enumerate(images[:count])}
        captions |= {image: CAPTIONS[IDS[place]] for place, image in enumerate(images[count:], count)}
        references = {image: REFERENCES[IDS[place]] for place, image in enumerate(images)}
        assert [one.kind for one in found(captions, references)].count("prefix") == (count == fewest), count


def test_a_longer_beginning_of_fewer_captions_is_found_where_it_speaks_of_an_image() -> None:
    """Other captions begin with “a”, too: what nearly all share is no more than that."""
    for beginning, count in (("a photo of", 1), ("a man who", 0)):
        captions = {image: f"a {n} {CAPTIONS[image]}" for n, image in enumerate(IDS)}
        captions |= {image: f"{beginning} {CAPTIONS[image]}" for image in IDS[:48]}
        prefixes = [one for one in found(captions) if one.kind == "prefix"]
        assert len(prefixes) == count, beginning


def test_equal_references_are_found() -> None:
    references = {image: [texts[0]] * 4 for image, texts in REFERENCES.items()}
    assert [one.kind for one in found(CAPTIONS, references)] == ["repeated"]


def test_captions_of_other_images_are_found_and_one_place_off_is_told() -> None:
    [anywhere] = found(shuffled())
    assert (anywhere.kind, 0.15 < anywhere.share < 0.4) == ("wrong-image", True)
    assert "are on other images' ids" in anywhere.message
    by_number = {str(number): CAPTIONS[image] for number, image in enumerate(IDS)}
    references = {str(number): REFERENCES[image] for number, image in enumerate(IDS)}
    for step, neighbour in ((1, "next"), (-1, "previous")):
        shifted = {str(number): by_number[str((number + step) % len(IDS))] for number in range(len(IDS))}
        [one] = found(shifted, references)
        assert (one.kind, one.share > 0.9) == ("wrong-image", True)
        assert f"the {neighbour} image" in one.message


def test_what_people_see_has_the_findings() -> None:
    result = sacrecap.score(REFERENCES, ODD["token"][0], "rouge-l")
    line = str(result.findings[0])
    assert line.startswith("found, token: 1 of 60 candidates (1.67 %)")
    assert line in str(result)
    assert result.to_dict()["findings"] == [one.to_dict() for one in result.findings]
    comparison = sacrecap.compare(REFERENCES, {"a": CAPTIONS, "b": ODD["token"][0]}, "rouge-l", samples=100)
    assert comparison.findings[0].systems == ("b",)
    assert str(comparison.findings[0]) in str(comparison)
    assert comparison.to_dict()["findings"][0]["systems"] == ["b"]


def test_what_is_found_of_all_systems_is_one_finding() -> None:
    references = {image: [f"<s> {text}" for text in texts] for image, texts in REFERENCES.items()}
    [finding] = sacrecap.compare(references, {"a": CAPTIONS, "b": shuffled()}, "rouge-l", samples=100).findings[:1]
    assert (finding.kind, finding.systems) == ("token", ("a", "b"))


# Lengths


def longer(times: int) -> Captions:
    """Captions with those of other images after their own."""
    return {
        image: " ".join(CAPTIONS[IDS[(place + step) % len(IDS)]] for step in range(times))
        for place, image in enumerate(IDS)
    }


def half(captions: Captions) -> Captions:
    return {image: " ".join(text.split()[: len(text.split()) // 2]) for image, text in captions.items()}


def test_long_captions_leave_some_metrics() -> None:
    [finding] = [one for one in found(longer(4)) if one.kind == "length"]
    assert set(finding.metrics) == {"bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d"}
    assert "METEOR, CIDEr-paper still do" in finding.message
    assert finding.share > 0.9
    assert found(longer(4), metrics="cider-paper") == []


def test_a_metric_that_lengths_invalidate_separates_no_systems() -> None:
    """Half of the right caption against the whole caption of another image."""
    paragraphs = {image: [" ".join(texts * 4)] for image, texts in REFERENCES.items()}
    right = {image: " ".join([texts[0]] * 4) for image, texts in paragraphs.items()}
    wrong = {image: right[other] for image, other in zip(IDS, [*IDS[1:], IDS[0]], strict=True)}
    for systems in ({"right": half(right), "wrong": wrong}, {"wrong": wrong, "right": half(right)}):
        comparison = sacrecap.compare(paragraphs, systems, USUAL, samples=200, interval=None)
        better = {pair.metric for pair in comparison.pairs if pair.significant}
        assert "cider-paper" in better
        assert not better & {"bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d"}
        assert all(comparison.pair("right", "wrong", metric).delta > 0 for metric in better)
        assert best_and_worse(comparison, "bleu-1") == (set(), set())
        assert best_and_worse(comparison, "cider-paper") == ({"right"}, {"wrong"})
        assert comparison.ranks("bleu-1") == {"right": (1, 2), "wrong": (1, 2)}
        assert "length" in {one.kind for one in comparison.findings}


def test_systems_of_different_lengths_are_told_apart_by_what_bears_it() -> None:
    paragraphs = {image: [" ".join(texts * 4)] for image, texts in REFERENCES.items()}
    whole = {image: texts[0] for image, texts in paragraphs.items()}
    cut = {image: " ".join(text.split()[: int(0.72 * len(text.split()))]) for image, text in whole.items()}
    comparison = sacrecap.compare(paragraphs, {"whole": whole, "cut": cut}, USUAL, samples=100, interval=None)
    [pair] = [one for one in comparison.findings if one.kind == "length"]
    assert pair.systems == ("whole", "cut")
    assert set(pair.metrics) == {"bleu-1", "bleu-2", "bleu-3", "cider-d"}
    assert pair.example["image_id"] in IDS


def test_metrics_of_captions_say_which_lengths_they_bear() -> None:
    for metric in own_metrics():
        if metric.bears is not None:
            low, high, low_if_long = metric.bears
            assert 0 < low <= 1 <= high, metric
            assert 0 < low_if_long < 1, metric
    assert parse_metrics("combine(cider-d, meteor)")[0].bears == (0.3, 1.5, 0.8)


# Counts


def test_counts_add_up_whatever_the_parts() -> None:
    captions = {**longer(2), IDS[0]: "<s>", IDS[7]: ""}
    whole = Corpus(REFERENCES, captions)
    for cuts in ([0, 60], [0, 1, 30, 60], [0, 20, 40, 60]):
        counts: dict[tuple[str, str, int], tuple[int, str, str]] = {}
        for start, end in pairwise(cuts):
            part = IDS[start:end]
            own = Corpus({image: REFERENCES[image] for image in part}, {image: captions[image] for image in part})
            counts = added(counts, own.tallies())
        assert counts == whole.seen.everywhere


def test_of_two_parts_the_example_of_the_smaller_id_is_told() -> None:
    name = ("candidates", "list", 0)
    one, other = {name: (1, "b", "[x]")}, {name: (2, "a", "[y]")}
    assert added(one, other) == added(other, one) == {name: (3, "a", "[y]")}


def test_the_order_of_images_and_the_number_of_threads_do_not_matter() -> None:
    captions = {**shuffled(), IDS[0]: "<s> a dog", IDS[5]: "<s> a cat"}
    turned = {image: captions[image] for image in reversed(IDS)}
    expected = Corpus(REFERENCES, captions).seen
    assert Corpus({image: REFERENCES[image] for image in reversed(IDS)}, turned).seen == expected
    assert Corpus(REFERENCES, captions).tallies(threads=3) == expected.everywhere


def test_no_captions_have_no_findings() -> None:
    [corpus] = Corpus.of_part(None, {"": _core.Captions.from_dict({})}).values()
    assert findings(corpus.seen, parse_metrics(USUAL)) == []


@pytest.mark.parametrize(("rows", "metrics"), [(60, USUAL), (2_500, "bleu-1")])
def test_an_engine_finds_the_same(rows: int, metrics: str, tmp_path: Path) -> None:
    references, captions = {}, {}
    for number in range(rows):
        image, other = IDS[number % len(IDS)], IDS[(number * 7 + 1) % len(IDS)]
        references[str(number)] = REFERENCES[image]
        captions[str(number)] = f"The image shows {CAPTIONS[image if number % 3 else other]}" + " </s>" * (
            number % 5 == 0
        )
    local = sacrecap.score(references, captions, metrics, interval=None)
    for part in range(3):
        lines = (
            json.dumps({"image_id": image, "references": references[image], "caption": captions[image]}) + "\n"
            for image in references
            if int(image) % 3 == part
        )
        (tmp_path / f"{part}.jsonl").write_text("".join(lines), encoding="utf-8")
    stream = sacrecap.score(str(tmp_path), None, metrics, interval=None, engine="stream")
    assert {one.kind for one in local.findings} >= {"prefix", "token"}
    assert stream.findings == local.findings
    assert json.dumps(stream.to_dict()["findings"]) == json.dumps(local.to_dict()["findings"])


def test_kinds_are_those_that_options_accept() -> None:
    kinds = {one.kind for captions, _ in ODD.values() for one in found(captions)}
    assert kinds | {"denied", "ids", "length", "repeated", "wrong-image"} == {*FINDINGS}


def test_equal_captions_of_a_set_are_no_finding_those_of_many_images_are() -> None:
    """How alike the captions of an image are is what the figures say."""
    own = {f"{image}": [f"a dog in room {image}"] * 9 + ["a dog runs"] for image in range(6)}
    one_image = {image: captions[:9] for image, captions in own.items()}
    kinds = {one.kind for one in sacrecap.diversity(one_image, interval=None).findings}
    assert "same-caption" not in kinds
    [found] = [one for one in sacrecap.diversity(own, interval=None).findings if one.kind == "same-caption"]
    assert (found.count, found.share) == (6, 1.0)
    assert "6 of 6 images of candidates (100 %) have one and the same caption" in found.message


def test_the_group_long_is_proposed_where_it_is_not_scored() -> None:
    padded = {image: f"{text} " * 5 for image, text in CAPTIONS.items()}
    for metrics, proposed in (("bleu-4", True), ("bleu-4, precision", True), ("bleu-4, long", False)):
        [found] = [
            one for one in sacrecap.score(REFERENCES, padded, metrics, interval=None).findings if one.kind == "length"
        ]
        assert found.message.endswith("bring captions and references to like lengths")
        assert ('metrics="long"' in found.message) is proposed


def test_precision_does_not_bear_captions_five_times_as_long() -> None:
    padded = {image: f"{text} " * 5 for image, text in CAPTIONS.items()}
    [found] = [
        one for one in sacrecap.score(REFERENCES, padded, "long", interval=None).findings if one.kind == "length"
    ]
    assert found.metrics == ("precision",)


@pytest.mark.parametrize(("part", "borne"), [(0.24, {"coverage", "precision", "long-f1"}), (0.12, set())])
def test_shorter_paragraphs_that_coverage_and_precision_bear(part: float, borne: set[str]) -> None:
    paragraphs = {image: [" ".join(texts * 4)] for image, texts in REFERENCES.items()}
    whole = {image: texts[0] for image, texts in paragraphs.items()}
    cut = {image: " ".join((words := text.split())[: round(part * len(words))]) for image, text in whole.items()}
    systems = {"whole": whole, "cut": cut}
    found = sacrecap.compare(paragraphs, systems, "coverage, precision, long-f1", interval=None)
    beyond = {key for one in found.findings if one.kind == "length" for key in one.metrics}
    assert {*found.metrics} - beyond == borne
