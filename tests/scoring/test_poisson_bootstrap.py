"""The Poisson bootstrap: draws that depend on the seed and the image's id alone."""

from __future__ import annotations

import random

import pytest

import sacrecap
from sacrecap import _core, example
from sacrecap.errors import UsageError

REFERENCES = example.references()
SYSTEMS = example.systems()
METRICS = "bleu-1, bleu-4, rouge-l, cider-d"


def shuffled(seed: int) -> tuple[dict[str, list[str]], dict[str, dict[str, str]]]:
    """The example with its images in another order."""
    images = list(REFERENCES)
    random.Random(seed).shuffle(images)
    return (
        {image: REFERENCES[image] for image in images},
        {name: {image: captions[image] for image in images} for name, captions in SYSTEMS.items()},
    )


@pytest.mark.parametrize("seed", range(3))
def test_neither_order_nor_threads_matter(seed: int) -> None:
    """Scores are the same bits too: sums are rounded once."""
    references, systems = shuffled(seed)
    expected = sacrecap.score(REFERENCES, SYSTEMS["plain"], METRICS, bootstrap="poisson", threads=1)
    found = sacrecap.score(references, systems["plain"], METRICS, bootstrap="poisson", threads=3)
    assert found.to_dict() == expected.to_dict()
    assert all(expected[key].interval == found[key].interval for key in expected)


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_comparisons_in_another_order(test: str) -> None:
    references, systems = shuffled(1)
    options = {"bootstrap": "poisson", "test": test}
    expected = sacrecap.compare(REFERENCES, SYSTEMS, METRICS, **options).to_dict()
    found = sacrecap.compare(references, systems, METRICS, **options).to_dict()
    if test == "permutation":  # which draws by place
        for document in (expected, found):
            for pair in document["pairs"]:
                for name in ("p", "p_corrected", "significant"):
                    del pair[name]
            for system in document["systems"].values():
                del system["ranks"]
    assert found == expected


def test_caption_sets_in_another_order() -> None:
    references, systems = shuffled(2)

    def scored(references: dict[str, list[str]], systems: dict[str, dict[str, str]]) -> dict[str, object]:
        sets = {
            name: {image: [captions[image], systems["plain"][image]] for image in captions}
            for name, captions in systems.items()
        }
        return sacrecap.diversity(
            sets, references, metrics="self-cider, div-2", bootstrap="poisson", test="bootstrap"
        ).to_dict()

    expected, found = scored(REFERENCES, SYSTEMS), scored(references, systems)
    assert found == expected
    assert found["bootstrap"] == "poisson"


def test_intervals_are_like_those_of_the_multinomial_bootstrap() -> None:
    by_name = {
        name: sacrecap.score(REFERENCES, SYSTEMS["careful"], METRICS, bootstrap=name, samples=4000)
        for name in ("poisson", "multinomial")
    }
    for key in by_name["poisson"]:
        (low, high), (lower, upper) = (by_name[name][key].interval for name in ("poisson", "multinomial"))
        assert (high - low) == pytest.approx(upper - lower, rel=0.15)
        assert (low, high) != (lower, upper)


def test_other_ids_and_seeds_draw_others() -> None:
    renamed = {f"other {image}": captions for image, captions in REFERENCES.items()}
    candidates = {f"other {image}": caption for image, caption in SYSTEMS["plain"].items()}
    found = {
        sacrecap.score(REFERENCES, SYSTEMS["plain"], "rouge-l", bootstrap="poisson", seed=seed)["rouge-l"].interval
        for seed in (0, 1)
    } | {sacrecap.score(renamed, candidates, "rouge-l", bootstrap="poisson")["rouge-l"].interval}
    assert len(found) == 3


def test_a_single_image_has_an_interval() -> None:
    """Samples in which it does not count have no score, and are left out."""
    score = sacrecap.score({"1": ["a dog runs"]}, {"1": "a dog"}, "rouge-l", bootstrap="poisson")["rouge-l"]
    assert score.interval == pytest.approx((0.025 * score.value, 1 - 0.025 * (1 - score.value)), abs=1e-11)


def test_an_unknown_name_and_ids_of_others_are_refused() -> None:
    with pytest.raises(UsageError, match=r"bootstrap.*multinomial"):
        sacrecap.score(REFERENCES, SYSTEMS["plain"], "rouge-l", bootstrap="bayesian")
    statistics = _core.Statistics.of_rows("m", b"\0" * 32, 2)
    with pytest.raises(UsageError, match="the ids of 3 images, and statistics of 2"):
        _core.bootstrap_intervals([statistics], 10, 0.9, 0, 1, ["a", "b", "c"])
