"""Rewards of captions and of sets: against sacrecap.score and a slow leave-one-out, as trainers call them."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from dataclasses import asdict
from itertools import chain, combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import example as hypothesis_example
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from fake_endpoint import FakeEndpoint, Reply
from sacrecap.errors import DataError, SacrecapWarning, UsageError
from sacrecap.metrics import CiderD, PythonMetric
from sacrecap.rewards import CaptionReward, SetReward
from sacrecap.rewards.metric_reward import mixture_of

REFERENCES = {
    "beach": ["a dog runs along the beach", "A brown dog, running on wet sand."],
    "city": ["two cats sit in a city street", "cats in the city"],
    "park": ["a child plays with a red ball in the park", "the child has a ball"],
    "sofa": ["a cat sleeps on a sofa", "the sofa has a cat on it", "a sleeping cat"],
}
CAPTIONS = ["a dog on the beach", "two cats in a city", "", "A cat sleeps on the sofa.", "a red ball", "dogs dogs dogs"]
IMAGES = ["beach", "city", "park", "sofa", "park", "beach"]

KNOWN_AND_NOT = ["a", "dog", "cat", "runs", "on", "the", "sofa", "zebra", "yak"]
words = st.lists(st.sampled_from(KNOWN_AND_NOT), max_size=7).map(" ".join)


def slow(captions: list[str], images: list[str], metric: str, **given: Any) -> list[float]:
    """Each caption scored as an image of its own by `sacrecap.score`, words weighed by all references."""
    stem = metric.startswith("cider-paper") or metric == "cider"
    counts = sacrecap.DocumentFrequency.build(REFERENCES, stem=stem)
    if "cider" in metric:
        given["document_frequency"] = counts
    names = [f"{row:03}" for row in range(len(captions))]
    references = {name: REFERENCES[image] for name, image in zip(names, images, strict=True)}
    candidates = dict(zip(names, captions, strict=True))
    return [float(s) for s in sacrecap.score(references, candidates, metric, interval=None, **given)[metric].per_image]


@pytest.mark.filterwarnings("ignore::sacrecap.errors.SacrecapWarning")
@pytest.mark.parametrize("metric", ["cider-d", "cider-d(sigma=2)", "bleu-4", "rouge-l", "wmd"])
def test_rewards_are_the_metrics_scores(metric: str) -> None:
    found = CaptionReward(REFERENCES, metric, end=False)(CAPTIONS, IMAGES)
    assert found == pytest.approx(slow(CAPTIONS, IMAGES, metric), abs=1e-12)
    assert len(set(found)) > 3


@given(st.lists(st.tuples(words, st.sampled_from(list(REFERENCES))), min_size=1, max_size=12))
@hypothesis_example([("a dog and zebra yak", "beach")])  # two words that no reference has are not one word twice
def test_cider_d_by_numbers_of_words_is_cider_d(rows: list[tuple[str, str]]) -> None:
    captions, images = [caption for caption, _ in rows], [image for _, image in rows]
    counts = sacrecap.DocumentFrequency.build(REFERENCES)
    numbered = CaptionReward(REFERENCES, end=False)(captions, images)
    plain = CaptionReward(REFERENCES, document_frequency=counts)(captions, images)
    assert numbered == pytest.approx(plain, abs=1e-12)


def test_a_group_of_one_image_is_rewarded_as_in_a_batch_of_all() -> None:
    """Weighed by the batch alone, every word of a group would be in every document, and every reward 0."""
    reward = CaptionReward(REFERENCES)
    group = ["a dog runs along the beach", "a dog", "the city"]
    found = reward(group, ["beach"] * 3)
    assert found == [reward([caption], ["beach"])[0] for caption in group]
    assert found[0] > found[1] > found[2] == 0


def test_a_caption_without_a_score_has_no_reward() -> None:
    """The references of the sofa name no colour, so SPICE of colours has no score there; ROUGE-L has."""
    colours = CaptionReward(REFERENCES, "spice(category=color)")
    captions, images = ["a cat on a sofa", "a red cat on a sofa", "a red ball"], ["sofa", "sofa", "park"]
    assert colours(captions, images) == [None, None, 1]
    assert colours.last is not None
    assert colours.last.unscored == 2 / 3
    assert CaptionReward(REFERENCES, "spice(category=color)", missing=0.0)(captions, images) == [0, 0, 1]
    mixed, words = (CaptionReward(REFERENCES, name) for name in ("spice(category=color) + rouge-l", "rouge-l"))
    assert mixed(["a cat on a sofa"], ["sofa"]) == words(["a cat on a sofa"], ["sofa"]) != [0]


def judged(refuses: Callable[[str], bool]) -> FakeEndpoint:
    """A judge that gives 0.8 to each caption that it does not refuse."""

    def answer(body: dict[str, Any], _: int) -> Reply:
        caption = json.loads(
            body["messages"][0]["content"].partition("Candidate, as a JSON string:\n")[2].splitlines()[0]
        )
        return Reply("", refusal="no") if refuses(caption) else Reply('{"score": 80}')

    return FakeEndpoint(answer)


@pytest.mark.filterwarnings("ignore::sacrecap.errors.SacrecapWarning")
def test_one_refusal_leaves_the_mean_of_its_group_alone(tmp_path: Path) -> None:
    """By enumeration of who is refused in a group of four: what remains has the rewards that it has alone."""
    captions = ["a dog", "a dog runs", "two cats", "a dog on the beach"]
    alone = CaptionReward(REFERENCES, "cider-d")(captions, ["beach"] * 4)
    groups = map(set, chain.from_iterable(combinations(captions, size) for size in range(5)))
    for number, refused in enumerate(groups):
        with judged(refused.__contains__) as fake:
            # Answers are kept by the endpoint's address, and a port may come back.
            judge = sacrecap.Endpoint(fake.url, "m", answers=str(tmp_path / f"{number}.sqlite"))
            reward = CaptionReward(REFERENCES, "judge(rating)", judge=judge)
            found = reward(captions, ["beach"] * 4)
            assert found == [None if caption in refused else 0.8 for caption in captions]
            known = [each for each in found if each is not None]
            advantages = [0.0 if each is None else each - sum(known) / len(known) for each in found]
            assert advantages == pytest.approx([0.0] * 4)
            mixed = CaptionReward(REFERENCES, "cider-d + 2*judge(rating)", judge=judge)(captions, ["beach"] * 4)
            assert mixed == [
                None if caption in refused else pytest.approx(own + 1.6)
                for caption, own in zip(captions, alone, strict=True)
            ]
            sets = SetReward(REFERENCES, "self-cider + judge(rating)", judge=judge, num_generations=4)
            shares = SetReward(REFERENCES, "self-cider", num_generations=4)(captions, ["beach"] * 4)
            assert sets(captions, ["beach"] * 4) == [
                None if caption in refused else pytest.approx(share + 0.8)  # type: ignore[operator]
                for caption, share in zip(captions, shares, strict=True)
            ]
            assert reward.last is not None
            assert reward.last.unscored == len(refused) / 4


def test_a_judge_that_never_answers_is_told_of_at_once(tmp_path: Path) -> None:
    with judged(lambda _: True) as fake:
        judge = sacrecap.Endpoint(fake.url, "m", answers=str(tmp_path / "answers.sqlite"))
        reward = CaptionReward(REFERENCES, "judge(rating)", judge=judge)
        with pytest.warns(SacrecapWarning, match="none of the last 3 captions has a reward by judge"):
            assert reward(["a", "b", "c"], ["beach"] * 3) == [None] * 3
        assert reward(["d", "e", "f"], ["beach"] * 3) == [None] * 3, "it is told of once"
        single = CaptionReward(REFERENCES, "judge(rating)", judge=judge)
        assert single(["a"], ["beach"]) == [None]
        with pytest.warns(SacrecapWarning, match="none of the last 2 captions"):
            single(["b"], ["beach"])


@pytest.mark.parametrize(
    "cell",
    [
        "a dog runs",
        ["a dog runs", None],
        ["a dog runs", float("nan"), " "],
        ("a dog runs",),
        np.array(["a dog runs", None], dtype=object),
        '["a dog runs", null]',
        "['a dog runs']",
        {"caption": "a dog runs"},
        {"caption": ["a dog runs"], "id": [7]},
        '{"caption": "a dog runs"}',
        [{"caption": "a dog runs", "id": 7}],
        [{"raw": "a dog runs", "tokens": ["a"]}],
        {"target": ["a dog runs"]},
        {"ground_truth": "a dog runs"},
        [["a dog runs"], [[None]]],
        ['{"caption": "a dog runs"}'],
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_column_of_references_in_any_form(cell: object) -> None:
    reward = CaptionReward(None, "rouge-l", reference_column="captions")
    assert reward(["a dog runs", "None"], captions=[cell, ["a red bus", None]]) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ({"image": 3}, "row 0 of the column 'captions' is an object with image; captions are found under caption,"),
        ([3], "of type int"),
        (3, "of type int"),
        ([b"a dog"], "of type bytes"),
        ([None], "no references in row 0"),
        ({"caption": None}, "no references in row 0"),
    ],
)
@pytest.mark.filterwarnings("ignore::sacrecap.errors.DataWarning")
def test_a_column_without_references_is_refused(cell: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        CaptionReward(None, "rouge-l", reference_column="captions")(["a dog"], captions=[cell])


def test_what_follows_the_end_of_a_completion_is_padding() -> None:
    reward = CaptionReward(REFERENCES, "cider-d - 1*unfinished", ends=(2, 9), end=False)
    ids = [[5, 6, 2], [5, 2, 0], [5, 9, 9], [5, 6, 7], []]
    for rows in (ids, [np.array(row, dtype=np.int64) for row in ids]):
        whole, *others = reward(["a dog runs"] * 5, ["beach"] * 5, completion_ids=rows)
        assert whole is not None
        assert others == [whole, whole, whole - 1, whole - 1]
        assert reward.last is not None
        assert reward.last.unfinished == 2 / 5


def test_sentences_are_rewarded_as_they_are_scored() -> None:
    """The captions were tokenised before, which dropped the marks."""
    text = "A dog runs. To his left, a red ball lies on the beach."
    padded = [f"{text} {' '.join(['yes'] * count)}" for count in (50, 60, 75)]
    images = ["beach", "beach", "beach"]
    for metric in ("spice", "spice(sentences=one)"):
        assert CaptionReward(REFERENCES, metric)(padded, images) == slow(padded, images, metric)
    assert len(set(slow(padded, images, "spice"))) == 1
    assert slow([text], ["beach"], "spice") != slow([text], ["beach"], "spice(sentences=one)")


def test_mixtures_and_metrics_of_which_less_is_better() -> None:
    first, second = (CaptionReward(REFERENCES, name)(CAPTIONS, IMAGES) for name in ("cider-d", "rouge-l"))
    mixed = CaptionReward(REFERENCES, "2*cider-d + 0.5*rouge-l")
    assert mixed(CAPTIONS, IMAGES) == pytest.approx([2 * a + 0.5 * b for a, b in zip(first, second, strict=True)])
    assert mixed.__name__ == "sacrecap_cider_d_rouge_l"
    assert CaptionReward(REFERENCES, {"cider-d": 2, "rouge-l": 0.5})(CAPTIONS, IMAGES) == mixed(CAPTIONS, IMAGES)
    assert CaptionReward(REFERENCES, CiderD(sigma=5)).__name__ == "sacrecap_cider_d_sigma_5"
    sets = SetReward(REFERENCES, "mbleu-2", num_generations=3)
    near, far = sets(["a dog", "a dog", "a dog runs on sand"], ["beach"] * 3)[1:]
    assert far > near


class Unlike(PythonMetric):
    """Number of the candidate's words that no reference has: less is better."""

    title: ClassVar[str] = "Unlike"
    summary: ClassVar[str] = "The candidate has words that no reference has."
    equation: ClassVar[str] = "|c - S|"
    source: ClassVar[str] = "a test"
    upper: ClassVar[float | None] = None
    nothing: ClassVar[dict[str, str]] = {}

    @property
    def lower_is_better(self) -> bool:
        return True

    def score_caption(self, candidate: str, references: list[str]) -> float:
        return float(len({*candidate.split()} - {*" ".join(references).split()}))


def test_a_metric_of_captions_of_which_less_is_better_counts_negatively() -> None:
    captions = ["a dog", "a zebra", "yak zebra"]
    assert CaptionReward(REFERENCES, Unlike())(captions, ["beach"] * 3) == [0, -1, -2]
    accuracy = CaptionReward(REFERENCES)(captions, ["beach"] * 3)
    mixed = CaptionReward(REFERENCES, {"cider-d": 1, Unlike(): 0.5})(captions, ["beach"] * 3)
    assert mixed == pytest.approx([accuracy[0], accuracy[1] - 0.5, accuracy[2] - 1])


def test_as_trl_calls_it() -> None:
    logged: dict[str, float] = {}
    reward = CaptionReward(REFERENCES)
    chats = [[{"role": "user", "content": "?"}, {"role": "assistant", "content": text}] for text in CAPTIONS]
    parts = [[{"role": "assistant", "content": [{"type": "text", "text": text}]}] for text in CAPTIONS]
    expected = reward(CAPTIONS, IMAGES)
    for completions in (CAPTIONS, chats, parts):
        found = reward(
            prompts=["describe"] * 6,
            completions=completions,
            completion_ids=[[1]] * 6,
            image_id=IMAGES,
            log_metric=logged.__setitem__,
            trainer_state=None,
        )
        assert found == expected
    assert all(type(value) is float for value in expected)
    assert reward.last is not None
    assert {"sacrecap/" + name: value for name, value in asdict(reward.last).items() if not math.isnan(value)} == logged
    assert [logged[f"sacrecap/{name}"] for name in ("words", "repetition", "empty")] == [22 / 6, 0.5 / 6, 1 / 6]
    named = CaptionReward(REFERENCES, image_column="file")
    assert named(completions=CAPTIONS, file=IMAGES) == expected
    assert reward([[{"role": "assistant", "content": None}]], ["beach"]) == [0.0]


def diversity(captions: list[str], metric: str) -> float:
    """Of one set, with words weighed by all references."""
    given = {"document_frequency": sacrecap.DocumentFrequency.build(REFERENCES)} if metric == "self-cider" else {}
    scored = sacrecap.diversity({"s": {"x": captions}}, metrics=metric, interval=None, **given)  # type: ignore[arg-type]
    return float(scored["s"][metric].per_image[0])


@pytest.mark.parametrize("metric", ["self-cider", "lsa", "mbleu-mix", "mbleu-2"])
def test_shares_are_what_a_set_loses_without_a_caption(metric: str) -> None:
    group = ["a dog on the beach", "a dog on the beach", "two cats in the city", "the sofa"]
    other = ["a", "a dog", "the cat", "a red ball"]
    # Two prompts of one image are two groups.
    found = SetReward(REFERENCES, metric, num_generations=4)([*other, *group, *other], ["park"] * 8 + ["beach"] * 4)
    sign = -1 if metric == "mbleu-2" else 1
    for place, share in enumerate(found[4:8]):
        without = group[:place] + group[place + 1 :]
        assert share == pytest.approx(3 * sign * (diversity(group, metric) - diversity(without, metric)), abs=1e-12)
    assert found[4] == pytest.approx(found[5])  # the same caption twice
    assert found[7] > found[4]
    assert found[:4] == pytest.approx(found[8:])


def test_accuracy_and_diversity_mix() -> None:
    captions, images = ["a dog", "a dog runs", "two cats", "a ball"], ["beach"] * 4
    accuracy = CaptionReward(REFERENCES)(captions, images)
    diverse = SetReward(REFERENCES, "self-cider", num_generations=4)(captions, images)
    mixed = SetReward(REFERENCES, "cider-d + 3*self-cider", num_generations=4)
    assert mixed(captions, images) == pytest.approx([a + 3 * d for a, d in zip(accuracy, diverse, strict=True)])
    assert mixed.__name__ == "sacrecap_cider_d_self_cider"
    assert mixed([], []) == []


def test_objects_by_image() -> None:
    objects = {image: {"dog": 1} if image == "beach" else {"cat": 1} for image in REFERENCES}
    reward = CaptionReward(REFERENCES, "vifidel(references=no)", objects=objects)
    dog, cat = reward(["a dog", "a dog"], ["beach", "sofa"])
    assert dog > cat
    with pytest.raises(UsageError, match="vifidel"):
        CaptionReward(REFERENCES, "vifidel(references=no)")


@pytest.mark.parametrize(
    "reward", [CaptionReward(REFERENCES), SetReward(REFERENCES, "rouge-l + self-cider", num_generations=4)]
)
def test_copies_and_pickles_reward_alike(reward: CaptionReward | SetReward) -> None:
    captions, images = ["a dog", "two cats", "", "a dog runs"], ["beach"] * 4
    expected = reward(captions, images)
    for other in (copy.deepcopy(reward), pickle.loads(pickle.dumps(reward))):
        assert other(captions, images) == expected
        assert other.__name__ == reward.__name__


def test_a_sum_and_a_combination_of_the_same_terms_differ_by_the_sum_of_the_weights() -> None:
    captions, images = ["a dog", "a cat sleeps", "people at a beach"], ["park", "park", "beach"]
    of_sum = CaptionReward(REFERENCES, "cider-d + 0.5*rouge-l", end=False)(captions, images)
    of_mean = CaptionReward(REFERENCES, "combine(cider-d, 0.5*rouge-l)")(captions, images)
    assert max(of_sum) > 0
    assert of_sum == pytest.approx([1.5 * score for score in of_mean], rel=1e-12)


@given(weight=st.floats(1e-300, 1e300))
def test_terms_print_as_they_parse(weight: float) -> None:
    [term] = mixture_of({'bertscore(model="a)+(b")': weight}).terms
    both = mixture_of({"cider-d": 1, 'bertscore(model="a)+(b")': -weight, "words": weight})
    assert both.terms[1] == (term.metric, -weight)
    assert mixture_of(str(both)) == both


def test_terms_can_be_subtracted() -> None:
    found = mixture_of("cider-d - 0.5*rouge-l - bleu-4 - 0.1 * words + 2*unfinished")
    assert [(term.metric.key, term.weight) for term in found.terms] == [
        ("cider-d", 1),
        ("rouge-l", -0.5),
        ("bleu-4", -1),
    ]
    assert found.penalties == {"words": -0.1, "unfinished": 2}
    reward = CaptionReward(REFERENCES, "rouge-l - 0.1*words - repetition - 3*unfinished")
    plain = CaptionReward(REFERENCES, "rouge-l")(["a dog a dog", "two cats"], ["beach", "city"])
    found_rewards = reward(["a dog a dog", "two cats"], ["beach", "city"], finished=[True, False])
    assert found_rewards == pytest.approx([plain[0] - 0.4 - 1 / 3, plain[1] - 0.2 - 3])
    assert reward.__name__ == "sacrecap_rouge_l_words_repetition_unfinished"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CaptionReward(REFERENCES, "self-cider"), r"scores caption sets.*SetReward"),
        (lambda: CaptionReward(REFERENCES, "fluency"), "learns from the references of all images"),
        (lambda: CaptionReward(REFERENCES, "fluency + self-cider"), "learns from the references of all images"),
        (lambda: CaptionReward(REFERENCES, "self-cider + fluency"), r"scores caption sets.*SetReward"),
        (lambda: CaptionReward(REFERENCES, "coco"), "is a group of"),
        (lambda: CaptionReward(REFERENCES, "cider-d + cider-d"), "occurs twice"),
        (lambda: CaptionReward(REFERENCES, "0*cider-d"), "a weight is a number other than 0, got 0"),
        (lambda: CaptionReward(REFERENCES, "0..1@5*cider-d"), r"a weight is a number other than 0, got 0\.\.1@5"),
        (lambda: CaptionReward(REFERENCES, "cider-d - words - words"), "words occurs twice"),
        (lambda: CaptionReward(REFERENCES, "-1*words"), "no reward given"),
        (lambda: CaptionReward(REFERENCES, "cider-d - -2*words"), "is not of the form"),
        (lambda: CaptionReward(REFERENCES, "many*cider-d"), r"many\*cider-d is not of the form weight\*name"),
        (lambda: CaptionReward(REFERENCES, "cider-d +"), "nothing is not of the form"),
        (lambda: CaptionReward(REFERENCES, {"cider-d": True}), "a weight is a number other than 0"),
        (lambda: CaptionReward(REFERENCES, {"cider-d": float("nan")}), "a weight is a number other than 0"),
        (lambda: CaptionReward(REFERENCES, {}), "no reward given"),
        (lambda: CaptionReward({"a": ["a dog"]}), "the references of one image"),
        (lambda: CaptionReward(REFERENCES, tokenizer="blank"), "tokenizer"),
        (lambda: SetReward(REFERENCES, "cider-d"), "cider-d scores single captions; use .*CaptionReward"),
        (lambda: SetReward(REFERENCES, num_generations=2), r"at least 3 captions \(num_generations\), got 2"),
        (lambda: SetReward(None), "the references of a batch are few; .*lsa and vendi"),
        (lambda: SetReward(None, "lsa + rouge-l"), "a reward has references"),
        (lambda: SetReward(None, "lsa + fluency"), "a reward has references"),
        (lambda: SetReward(REFERENCES, "lsa + fluency"), "learns from the references of all images"),
        (lambda: SetReward(None, "lsa")(["a"] * 4), "how many captions of an image form a group"),
        (lambda: SetReward(REFERENCES, "lsa", num_generations=3)(["a"] * 3), "which images are these captions of"),
        (lambda: SetReward(REFERENCES)(["a"] * 4, ["park"] * 4), "how many captions of an image form a group"),
        (lambda: CaptionReward(REFERENCES)(["a"]), "which images are these captions of"),
        (lambda: CaptionReward(REFERENCES)(["a"], "park"), "which images are these captions of"),
        (lambda: CaptionReward(REFERENCES, text="thinking"), "text"),
        (
            lambda: CaptionReward(REFERENCES, text=[3]),
            "text takes answer, after-thinking, caption, boxed, tag:NAME, json:NAME, or a function",
        ),  # type: ignore[list-item]
        (lambda: CaptionReward(None), "references, or a column of the data set"),
        (lambda: CaptionReward(REFERENCES, reference_column="captions"), "give one of the two"),
        (lambda: CaptionReward(None, reference_column="captions"), "the references of a batch are few"),
        (lambda: CaptionReward(None, "rouge-l", reference_column="captions")(["a"]), "no column 'captions'"),
        (
            lambda: CaptionReward(
                REFERENCES, end=True, document_frequency=sacrecap.DocumentFrequency.build(REFERENCES)
            ),
            "count no ends of captions",
        ),
    ],
)
def test_what_cannot_reward(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


@pytest.mark.parametrize(
    ("captions", "images", "message"),
    [
        (["a"], ["moon"], r"no references for 1 image \(moon\): .* 4 images, such as 'beach'"),
        (["a", "b"], ["park"], "2 captions and 1 image ids"),
        (["a", "b"], np.array(["park"]), "2 captions and 1 image ids"),
        ([7], ["park"], "completion 0 is a int; expected a caption as text, or a list of chat messages"),
        ([[]], ["park"], "completion 0 is a list"),
        ([[{"role": "assistant", "content": 3}]], ["park"], "completion 0 is a list"),
    ],
)
def test_what_cannot_be_rewarded(captions: Any, images: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        CaptionReward(REFERENCES)(captions, images)


def test_sets_of_images_without_references_are_rewarded_by_what_needs_none() -> None:
    captions = ["a dog", "a cat", "two birds on a roof"]
    of_others = SetReward(REFERENCES, "lsa", num_generations=3)(captions, ["moon"] * 3)
    assert of_others == SetReward(None, "lsa", num_generations=3)(captions)
    with pytest.raises(DataError, match=r"no references for 1 image \(moon\)"):
        SetReward(REFERENCES, "lsa + rouge-l", num_generations=3)(captions, ["moon"] * 3)


def test_given_frequencies_are_enough_for_the_guards_of_self_cider() -> None:
    frequencies = sacrecap.DocumentFrequency.build(REFERENCES)
    watched = {}
    for needs in ({}, {"document_frequency": frequencies}):
        reward = CaptionReward(None, "rouge-l", reference_column="captions", num_generations=2, needs=needs)
        reward(["a dog", "a cat", "a bus", "two birds"], captions=[["a dog"]] * 2 + [["a bus"]] * 2)
        watched[bool(needs)] = reward.last
    assert math.isnan(watched[False].within)
    assert 0 <= watched[True].within <= 1


def test_ids_may_be_arrays_and_one_completion_may_be_missing() -> None:
    """As verl passes columns; a trainer whose sampler failed once goes on."""
    reward = CaptionReward(REFERENCES)
    found = reward(np.array(["a dog runs", None], dtype=object), np.array(["beach", "city"], dtype=object))
    assert found == [*reward(["a dog runs"], ["beach"]), 0.0]
    reward(["a dog", None], ["beach"] * 2)
    assert reward.last is not None
    assert reward.last.empty == 0.5


def test_references_from_a_column_of_the_data_set() -> None:
    rows = [REFERENCES[image] for image in IMAGES]
    column = CaptionReward(None, "rouge-l + bleu-4", reference_column="captions")
    assert column(CAPTIONS, captions=rows) == pytest.approx(
        CaptionReward(REFERENCES, "rouge-l + bleu-4")(CAPTIONS, IMAGES)
    )
    one = column(["a dog", "a cat"], captions=np.array(["a dog", "two dogs"]))
    assert one[0] > one[1]
    counts = sacrecap.DocumentFrequency.build(REFERENCES)
    with_counts = CaptionReward(None, reference_column="captions", document_frequency=counts)
    assert with_counts(CAPTIONS, captions=rows) == pytest.approx(slow(CAPTIONS, IMAGES, "cider-d"))
    sets = SetReward(None, "rouge-l + lsa", reference_column="captions", num_generations=3)
    expected = SetReward(REFERENCES, "rouge-l + lsa", num_generations=3)(CAPTIONS, ["beach"] * 3 + ["sofa"] * 3)
    assert sets(CAPTIONS, captions=[REFERENCES["beach"]] * 3 + [REFERENCES["sofa"]] * 3) == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["lsa", "vendi(kernel=words)", "self-cider(kernel=rouge-l) - 0.1*words"])
def test_completions_without_references(metric: str) -> None:
    """By image ids, by the column of the data set, or by rows alone; those of a group are compared with each other."""
    free = SetReward(None, metric, num_generations=3)
    expected = SetReward(REFERENCES, metric, num_generations=3)(CAPTIONS, ["beach"] * 3 + ["sofa"] * 3)
    assert (
        free(CAPTIONS)
        == free(CAPTIONS, ["x"] * 3 + ["y"] * 3)
        == free(CAPTIONS, image_id=[1] * 3 + [2] * 3)
        == expected
    )
    assert free(iter(CAPTIONS), prompts=[[{"role": "user"}]] * 6) == expected
    assert free([]) == []
    assert free.last is not None
    repeated, other = free(["a dog runs", "a dog runs", None, "two cats", "two cats", "a bus"])[0::5]
    assert repeated < other  # type: ignore[operator]
    with pytest.raises(DataError, match="hold whole groups"):
        free(CAPTIONS[:4])


END_WORD = "theendword"


@pytest.mark.parametrize("metric", ["cider-d", "bleu-4", "cider-paper"])
def test_the_end_is_a_word_of_references_and_of_finished_captions(metric: str) -> None:
    ended = {image: [f"{text.rstrip('.')} {END_WORD}" for text in group] for image, group in REFERENCES.items()}
    finished = [True, False, True, True, False, True]
    said = [
        f"{text.rstrip('.')} {END_WORD}" if over and text else text
        for text, over in zip(CAPTIONS, finished, strict=True)
    ]
    expected = CaptionReward(ended, metric, end=False)(said, IMAGES)
    reward = CaptionReward(REFERENCES, metric)
    assert reward(CAPTIONS, IMAGES, finished=finished) == pytest.approx(expected, abs=1e-12)
    told = {"is_truncated": [not over for over in finished]}  # as ms-swift says it
    assert reward(CAPTIONS, IMAGES, **told) == pytest.approx(expected, abs=1e-12)
    ids = [[5, 7, 2 if over else 9] for over in finished]  # as TRL does, whose 2 and 3 are ends
    known = CaptionReward(REFERENCES, metric, ends=[2, 3])
    assert known(CAPTIONS, IMAGES, completion_ids=ids) == pytest.approx(expected, abs=1e-12)
    assert reward(CAPTIONS, IMAGES, completion_ids=ids) == reward(CAPTIONS, IMAGES)  # nobody says which id is an end
    assert reward(CAPTIONS, IMAGES) != pytest.approx(expected)


def test_a_broken_ending_costs_more_with_an_end() -> None:
    whole, broken = "a dog runs along the beach", "a dog runs along the beach with a"
    lost = []
    for end in (False, True):
        better, worse = CaptionReward(REFERENCES, end=end)([whole, broken], ["beach"] * 2)
        lost.append((better - worse) / better)
    assert lost[1] > lost[0] > 0
    cut, over = CaptionReward(REFERENCES)([whole, whole], ["beach"] * 2, finished=[False, True])
    assert cut < over


def test_rewards_do_not_depend_on_the_threads() -> None:
    one, four = (CaptionReward(REFERENCES, "cider-d + rouge-l", threads=n)(CAPTIONS, IMAGES) for n in (1, 4))
    assert np.array_equal(one, four)
