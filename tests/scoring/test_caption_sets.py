"""`sacrecap.diversity`: accuracy beside diversity, people, F, the best K captions, novelty, errors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sacrecap
from sacrecap import SacrecapWarning, example
from sacrecap.corpus.sets import LeaveOneOut, encode_sets
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics import Lsa, SelfCider
from sacrecap.scoring.ranks import holm
from sets import result, score

REFERENCES = {
    "1": ["a dog runs on the beach", "the dog is running on sand", "a dog at the beach"],
    "2": ["two birds sit on a wire", "birds on a wire", "a pair of birds on a wire"],
    "3": ["a man rides a horse", "someone riding a brown horse", "a man on a horse"],
}
SETS = {
    "1": ["a dog runs on the beach", "a cat on a mat", "the dog is on the beach"],
    "2": ["birds on a wire", "birds on a wire"],
    "3": ["a horse"],
}


@pytest.fixture(scope="module")
def frequency() -> sacrecap.DocumentFrequency:
    return sacrecap.DocumentFrequency.build(REFERENCES, tokenizer="none")


def cider_d(captions: dict[str, str], references: dict[str, list[str]], df: sacrecap.DocumentFrequency) -> list[float]:
    scored = sacrecap.score(references, captions, "cider-d", tokenizer="none", document_frequency=df, interval=None)
    values: list[float] = scored["cider-d"].per_image.tolist()
    return values


def test_accuracy_is_the_mean_over_a_set_and_the_oracle_its_best(frequency: sacrecap.DocumentFrequency) -> None:
    system = result(SETS, REFERENCES)["sets"]
    means, bests = [], []
    for image, captions in SETS.items():
        scores = [cider_d({image: caption}, {image: REFERENCES[image]}, frequency)[0] for caption in captions]
        means.append(sum(scores) / len(scores))
        bests.append(max(scores))
    assert system["accuracy"].per_image == pytest.approx(means)
    assert system["oracle"].per_image == pytest.approx(bests)
    assert system["accuracy"].value == pytest.approx(np.mean(means))
    assert system.captions_per_image == {"min": 1, "mean": 2, "max": 3}


def test_people_leave_one_out(frequency: sacrecap.DocumentFrequency) -> None:
    human = result(SETS, REFERENCES).human
    assert human is not None
    wanted = []
    for image, captions in REFERENCES.items():
        scores = []
        for number, caption in enumerate(captions):
            others = captions[:number] + captions[number + 1 :]
            scores += cider_d({image: caption}, {image: others}, frequency)
        wanted.append(sum(scores) / len(scores))
    assert human["accuracy"].per_image == pytest.approx(wanted)
    assert human.captions_per_image == 3
    assert f"|df:corpus({len(REFERENCES)})|" in human["accuracy"].signature, "images, not the references left out"
    assert human["self-cider"].per_image == pytest.approx(
        score(REFERENCES, "self-cider", document_frequency=frequency)["self-cider"].per_image
    )


def test_f_is_of_the_means() -> None:
    system = result(SETS, REFERENCES, beta2=2)["sets"]
    d, a = system["self-cider"].value, system["accuracy"].value
    assert system["f"].value == pytest.approx(3 * d * a / (2 * d + a))
    d, a = system["self-cider"].per_image[0], system["accuracy"].per_image[0]
    assert system["f"].per_image[0] == pytest.approx(3 * d * a / (2 * d + a))
    assert system["f"].per_image[1] == 0  # equal captions


def test_top_takes_the_most_accurate_captions_in_their_order(frequency: sacrecap.DocumentFrequency) -> None:
    system = result(SETS, REFERENCES, top=2)["sets"]
    assert system.image("1").captions == ["a dog runs on the beach", "the dog is on the beach"]
    kept = {**SETS, "1": [SETS["1"][0], SETS["1"][2]]}
    whole = result(kept, REFERENCES)["sets"]
    assert {key: figure.value for key, figure in system.items()} == {key: f.value for key, f in whole.items()}
    curve = result(SETS, REFERENCES)["sets"].curve
    assert curve.keys() == {2}
    assert curve[2]["self-cider"] == whole["self-cider"].value
    assert curve[2]["accuracy"] == whole["accuracy"].value


def test_top_takes_the_earlier_of_equally_accurate_captions() -> None:
    system = result({"1": ["x a b", "a b x", "x a b"]}, {"1": ["a b"]}, top=1, accuracy="rouge-l")["sets"]
    assert system.image("1").captions == ["x a b"]
    system = result({"1": ["y z", "a b x", "x a b"]}, {"1": ["a b"]}, top=1, accuracy="rouge-l")["sets"]
    assert system.image("1").captions == ["a b x"]


def test_any_metric_of_captions_can_be_the_accuracy() -> None:
    system = result(SETS, REFERENCES, accuracy="rouge-l")["sets"]
    own = sacrecap.score({"1": REFERENCES["1"]}, {"1": SETS["1"][1]}, "rouge-l", tokenizer="none", interval=None)
    assert system["accuracy"].label == "Accuracy (ROUGE-L)"
    assert system["oracle"].per_image[0] > system["accuracy"].per_image[0] > own["rouge-l"].value
    assert "rouge-l" in system["accuracy"].signature
    with pytest.raises(UsageError, match="accuracy must be one metric that scores a caption"):
        result(SETS, REFERENCES, accuracy="bleu-1, bleu-2")
    for learnt in ("fluency", "combine(fluency, cider-d)"):
        with pytest.raises(UsageError, match="cannot be the accuracy: its language model"):
            result(SETS, REFERENCES, accuracy=learnt)


def test_novel_captions_are_those_no_training_caption_equals() -> None:
    training = {"9": ["birds on a wire", "a horse runs"], "10": ["a dog runs on the beach"]}
    system = result(SETS, training=training)["sets"]
    assert system["novelty"].per_image.tolist() == [2 / 3, 0, 1]
    assert system["novelty"].value == pytest.approx(5 / 9)
    with_interval = sacrecap.diversity(SETS, metrics="distinct", training=training, samples=20)["sets"]["novelty"]
    assert with_interval.interval is not None
    assert "|interval:percentile(0.95,20,0)|sacrecap:" in with_interval.signature


def test_words_are_counted() -> None:
    system = score({"1": ["a dog", "a cat"], "2": ["a dog"]})
    assert system.word_counts() == [("a", 3), ("dog", 2), ("cat", 1)]
    assert system.vocabulary == 3


def test_the_spectrum_of_a_set_is_what_its_score_comes_from() -> None:
    for metric in (SelfCider(), SelfCider(kernel="cider-d"), Lsa(), Lsa(stop=False), SelfCider(stem=True)):
        system = score({**SETS, "4": ["a dog", "a dog and a cat", "the birds"]}, metric)
        for number, image in enumerate(system.image_ids):
            spectrum = system.image(image, metric)
            size = len(spectrum.captions)
            assert spectrum.diversity == pytest.approx(system[metric.key].per_image[number], abs=1e-9)
            rebuilt = spectrum.eigenvectors.T * spectrum.eigenvalues @ spectrum.eigenvectors
            assert rebuilt == pytest.approx(spectrum.matrix, abs=1e-12)
            if spectrum.features:
                assert spectrum.vectors @ spectrum.vectors.T == pytest.approx(spectrum.matrix, abs=1e-12)
            topics = spectrum.topics(5)
            assert 1 <= len(topics) <= size
            assert all(len(topic.captions) == size for topic in topics)
            assert sum(topic.share for topic in spectrum.topics(size)) == pytest.approx(1)


def test_topics_name_their_words() -> None:
    spectrum = score({"1": ["red dog", "red dog", "blue bird"]}, "lsa").image("1", Lsa())
    first, second = spectrum.topics()
    assert {word for word, _ in first.words[:2]} == {"red", "dog"}
    assert {word for word, _ in second.words[:2]} == {"blue", "bird"}
    assert first.captions == pytest.approx((math.sqrt(2), math.sqrt(2), 0))


def test_systems_are_compared_in_pairs() -> None:
    found = sacrecap.diversity(example.caption_sets(), example.references())
    assert list(found) == ["varied", "safe", "wild"]
    assert {(pair.a, pair.b) for pair in found.pairs} == {("varied", "safe"), ("varied", "wild"), ("safe", "wild")}
    [pair] = [pair for pair in found.pairs if (pair.a, pair.b, pair.metric) == ("varied", "safe", "self-cider")]
    assert pair.delta == found["varied"]["self-cider"].value - found["safe"]["self-cider"].value
    assert pair.interval[0] < pair.delta < pair.interval[1]
    assert pair.p < 1e-12
    assert found.test == "exact"
    for metric in found["varied"]:
        own = [pair for pair in found.pairs if pair.metric == metric]
        assert [pair.p_corrected for pair in own] == holm([pair.p for pair in own])
    assert any(pair.p < pair.p_corrected for pair in found.pairs)
    assert all(list(system.curve) == [2, 5] for system in found.values())  # sets have five captions
    same = sacrecap.diversity({"a": SETS, "b": SETS}, REFERENCES)
    assert {pair.p for pair in same.pairs} == {1.0}
    for system in found.everybody():
        for figure in system.values():
            assert figure.interval is not None
            assert figure.interval[0] <= figure.value <= figure.interval[1]


def test_the_json_has_its_shape() -> None:
    document = json.loads(json.dumps(sacrecap.diversity({"a": SETS, "b": SETS}, REFERENCES).to_dict()))
    assert document.keys() == {"sacrecap", "systems", "human", "pairs", "test", "findings", "notes"}
    assert document["test"] == {"name": "exact"}
    wanted = {"images", "captions_per_image", "self-cider", "lsa", "mbleu-1", "mbleu-2", "mbleu-3", "mbleu-4"}
    wanted |= {"mbleu-mix", "div-1", "div-2", "vocabulary", "accuracy", "f"}
    assert wanted <= document["systems"]["a"].keys()
    assert wanted <= document["human"].keys()
    assert document["human"]["captions_per_image"] == 3


def test_files_and_python_agree(tmp_path: Path) -> None:
    for name, sets in example.caption_sets().items():
        rows = [{"image_id": image, "captions": captions} for image, captions in sets.items()]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    paths = {name: tmp_path / f"{name}.json" for name in example.CAPTION_SETS}
    from_files = sacrecap.diversity(paths, example.references_path(), interval=None)
    in_memory = sacrecap.diversity(example.caption_sets(), example.references(), interval=None)
    assert from_files.to_dict() == in_memory.to_dict()
    assert list(sacrecap.diversity(paths["safe"], example.references(), interval=None)) == ["safe"]


def test_references_of_other_images_are_left_out_with_a_warning() -> None:
    more = {"0": ["something else"], **REFERENCES}
    with pytest.warns(SacrecapWarning, match="1 of its 4 images have no caption set"):
        found = sacrecap.diversity(SETS, more, tokenizer="none", interval=None)
    document = found.to_dict()
    assert (document["systems"]["sets"].pop("given"), document["systems"]["sets"].pop("left_out")) == (
        4,
        {"no candidate": 1},
    )
    alone = result(SETS, REFERENCES).to_dict()
    one, other = (own["systems"]["sets"].pop("signatures") for own in (document, alone))
    assert document == alone
    assert [text.replace("images:3/4", "images:3/3").replace("|missing:skip", "") for text in one.values()] == [
        *other.values()
    ]


def test_people_need_two_references() -> None:
    single = {**REFERENCES, "3": ["a man rides a horse"]}
    with pytest.warns(SacrecapWarning, match="people are scored on 2 of 3 images"):
        human = sacrecap.diversity(SETS, single, tokenizer="none", interval=None).human
    assert human is not None
    assert human.image_ids == ["1", "2"]
    assert result({"1": ["a"]}, {"1": ["a b"]}).human is None


def test_weights_of_their_own_are_warned_of() -> None:
    with pytest.warns(SacrecapWarning, match="each system's words are weighted by its own sets"):
        sacrecap.diversity({"a": SETS, "b": SETS}, interval=None)


@pytest.mark.parametrize(
    ("sets", "references", "options", "error", "message"),
    [
        ({"1": []}, None, {}, DataError, r"no caption for 1 image \(1\)"),
        ({}, None, {}, DataError, "no image to score"),
        ({"9": ["a"]}, REFERENCES, {}, DataError, r"captions for 1 image \(9\), without references"),
        ({"a": {"1": ["a"]}, "b": {"2": ["a"]}}, None, {}, DataError, "compared on the same images"),
        (SETS, None, {"top": 2}, UsageError, "top needs references"),
        (SETS, REFERENCES, {"top": 0}, UsageError, "top must be at least 1"),
        (SETS, REFERENCES, {"beta2": 0}, UsageError, "beta2 must be a number above 0"),
        (SETS, REFERENCES, {"beta2": math.nan}, UsageError, "beta2 must be a number above 0"),
        (SETS, None, {"metrics": "cider-d"}, UsageError, "accuracy"),
        (SETS, None, {"interval": 2}, UsageError, "interval must be"),
        (SETS, None, {"tokenizer": "word"}, UsageError, "tokenizer must be one of"),
        (3, None, {}, DataError, "are of type int; accepted are"),
    ],
)
def test_what_cannot_be_scored_is_said(
    sets: object, references: object, options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        sacrecap.diversity(sets, references, **options)  # type: ignore[arg-type]


def test_set_metrics_score_a_set_corpus() -> None:
    from sacrecap.corpus.sets import encode_sets

    corpus = encode_sets({"a": SETS}, tokenizer="none")["a"]
    assert sacrecap.score(corpus, metrics="lsa", interval=None)["lsa"].value == score(SETS, "lsa")["lsa"].value
    with pytest.raises(UsageError, match="these are caption sets"):
        sacrecap.score(corpus, metrics="cider-d")


def test_how_many_captions_the_best_are() -> None:
    """Of sets that have as many, two are kept; of smaller ones, all."""
    sets = {"1": ["a b", "a c", "a d"], "2": ["a b", "b c", "c d"]}
    references = {image: ["a b c"] for image in sets}
    for more, expected in (({}, 2), ({"3": ["a b"]}, {"min": 1, "mean": 5 / 3, "max": 2})):
        described = {**references, **{image: ["a b"] for image in more}}
        assert result({**sets, **more}, described, top=2)["sets"].captions_per_image == expected


@pytest.mark.parametrize("described", [True, False])
@pytest.mark.parametrize("lacking", [{}, {"2": []}])
def test_an_image_that_a_system_lacks_is_left_out_or_has_an_empty_caption(
    described: bool, lacking: dict[str, list[str]]
) -> None:
    whole = {"1": ["a dog", "a cat"], "2": ["a bus", "a red bus"]}
    systems = {"a": whole, "b": {"1": ["a cow", "a cow"], **lacking}}
    references = {"1": ["a dog runs", "a dog"], "2": ["a bus", "one bus"]} if described else None
    metrics: dict[str, Any] = {"metrics": "distinct", "accuracy": "rouge-l", "interval": None}
    with pytest.raises(DataError, match=r'b: no captions? for 1 image \(2\).* on_missing="skip"'):
        sacrecap.diversity(systems, references, **metrics)
    skipped = sacrecap.diversity(systems, references, on_missing="skip", **metrics)
    assert [system.corpus.image_ids for system in skipped.values()] == [["1"], ["1"]]
    filled = sacrecap.diversity(systems, references, on_missing="zero", **metrics)
    assert filled["b"].corpus.set_of("2") == [""]
    assert filled["a"].corpus.set_of("2") == whole["2"]
    with pytest.raises(UsageError, match="on_missing must be one of error, skip, zero"):
        sacrecap.diversity(systems, references, on_missing="null", **metrics)


def test_one_that_is_left_out_is_not_among_its_references() -> None:
    sets = encode_sets({"people": {"1": ["a dog", "a cat", "a bus"], "2": ["a man", "men"]}})["people"]
    others = LeaveOneOut(sets, threads=1)
    assert others.given("1 1") == (["a cat"], ["a dog", "a bus"])
    assert others.given("2 1") == (["men"], ["a man"])
