"""Timed captions: equal to the two public programs' numbers, and to slow code on random videos."""

from __future__ import annotations

import json
import random
from itertools import combinations
from typing import Any

import pytest

import sacrecap
from command_line import run
from runner import Runner
from sacrecap.errors import DataError, UsageError
from sacrecap.scoring.dense import TIOUS

__all__ = ["run"]

FIRST = {
    "v_1": {
        "duration": 30.0,
        "timestamps": [[0.5, 12.0], [10.0, 29.0]],
        "sentences": ["A man is playing a guitar on stage.", "The crowd claps and the man bows – smiling."],
    },
    "v_2": {"duration": 20.0, "timestamps": [[1, 19]], "sentences": ["Two dogs run through the snow."]},
    "v_3": {"duration": 9.0, "timestamps": [[0, 4], [3, 9]], "sentences": ["A woman cuts bread.", "She eats it"]},
}
SECOND = {
    "v_1": {
        "duration": 30.0,
        "timestamps": [[8.0, 30.0], [0.0, 9.0]],
        "sentences": ["People are clapping.", "A musician plays the guitar while people listen."],
    }
}
RESULTS = {
    "v_1": [
        {"sentence": "A man plays a guitar", "timestamp": [0.0, 10.0]},
        {"sentence": "The crowd claps.", "timestamp": [12.0, 28.5]},
        {"sentence": "A dog sleeps", "timestamp": [5.0, 14.0]},
    ],
    "v_2": [
        {"sentence": "A dog is running in the snow.", "timestamp": [4.0, 10.0]},
        {"sentence": "Dogs are running through snow.", "timestamp": [0.0, 18.0]},
    ],
    "v_9": [{"sentence": "Nobody described this.", "timestamp": [0.0, 1.0]}],
}
SUBMISSION = {"version": "1", "external_data": {}, "results": RESULTS}
NO_METEOR = "bleu-1, rouge-l, cider-d"

BY_THE_PROGRAM = {
    "bleu-1": [0.22202623564947696, 0.1664706801101251, 0.19257962539344195, 5.808080807573845e-17],
    "bleu-4": [6.650317555791493e-06, 6.648508517959141e-06, 9.38381166888526e-06, 9.946341859069315e-17],
    "meteor": [0.14859915671896295, 0.1587566617288234, 0.16931159099201923, 0.0],
    "rouge-l": [0.25518453288392223, 0.20318112282424625, 0.1919781843485805, 0.0],
    "cider-d": [0.3569516494739495, 0.5820216012292719, 0.600959595040327, 0.0],
    "recall": [0.6666666666666666, 0.6666666666666666, 0.6666666666666666, 0.0],
    "precision": [0.6666666666666666, 0.5, 0.38888888888888884, 0.0],
}
"""By `evaluate.py -v` of ranjaykrishna/densevid_eval at 9d4045a, ported to Python 3."""
SODA = {
    "together": [0.21871194217389556, 0.2817224310686399, 0.23230108355408885],
    "best": [0.21871194217389556, 0.37514330303613064, 0.2750077678820846],
}
"""By `soda.py` of fujiso/SODA at 9cb3e2c, without and with `-mr`: precision, recall, F."""


def test_the_numbers_of_the_programs() -> None:
    pytest.importorskip("sacrecap_meteor")
    found = sacrecap.dense([FIRST, SECOND], SUBMISSION)
    assert found.videos == 3
    for metric, expected in BY_THE_PROGRAM.items():
        assert found.scores[metric] == pytest.approx(expected, abs=1e-12), metric
    for annotators, expected in SODA.items():
        soda = sacrecap.dense([FIRST, SECOND], SUBMISSION, "meteor", annotators=annotators).soda
        assert [soda["precision"], soda["recall"], soda["f"]] == pytest.approx(expected, abs=1e-12)


# Slow code


def shared(one: list[float], other: list[float]) -> float:
    """The overlap in time."""
    inside = max(0.0, min(one[1], other[1]) - max(one[0], other[0]))
    together = one[1] - one[0] + other[1] - other[0]
    return inside / (min(together, max(one[1], other[1]) - min(one[0], other[0])) + 1e-8)


def drawn(chance: random.Random) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """References of two annotators, and candidates."""

    def times() -> list[float]:
        return sorted([chance.randrange(12) / 2, 0.5 + chance.randrange(20) / 2])

    def caption() -> str:
        return " ".join(chance.choices("a dog cat runs sleeps on the".split(), k=chance.randrange(1, 6)))

    annotators = []
    for share in (1.0, 0.6):
        videos = [f"v{number}" for number in range(6) if chance.random() <= share]
        own = {video: [(times(), caption()) for _ in range(chance.randrange(1, 4))] for video in videos}
        annotators.append(
            {v: {"timestamps": [t for t, _ in one], "sentences": [c for _, c in one]} for v, one in own.items()}
        )
    candidates = {
        f"v{number}": [{"timestamp": times(), "sentence": caption()} for _ in range(chance.randrange(1, 5))]
        for number in range(5)
    }
    return annotators, candidates


def slow(annotators: list[dict[str, Any]], candidates: dict[str, Any], tiou: float) -> dict[str, float]:
    """Video by video, with a drawn word as the reference of what overlaps with nothing."""
    totals = dict.fromkeys([*NO_METEOR.split(", "), "recall", "precision"], 0.0)
    videos = {video for own in annotators for video in own}
    for video in videos:
        references, captions, recall, precision = {}, {}, [0.0], [0.0]
        for one in candidates.get(video, []):
            near = [
                caption
                for own in annotators
                if video in own
                for time, caption in zip(own[video]["timestamps"], own[video]["sentences"], strict=True)
                if shared(one["timestamp"], time) >= tiou
            ]
            for caption in near or ["".join(random.choices("qxzvk", k=14))]:
                references[str(len(references))] = [caption]
                captions[str(len(captions))] = one["sentence"]
        for own in annotators:
            if video in own and video in candidates:
                marks = [
                    [shared(one["timestamp"], time) > tiou for time in own[video]["timestamps"]]
                    for one in candidates[video]
                ]
                recall.append(sum(map(any, zip(*marks, strict=True))) / len(marks[0]))
                precision.append(sum(map(any, marks)) / len(marks))
        totals["recall"] += max(recall) / len(videos)
        totals["precision"] += max(precision) / len(videos)
        if len(captions) == 1:
            own = sacrecap.score(references, captions, "bleu-1, rouge-l", interval=None)
        elif captions:
            own = sacrecap.score(references, captions, NO_METEOR, interval=None)
        else:
            own = {}
        for metric, score in own.items():
            totals[metric] += score.value / len(videos)
    return totals


@pytest.mark.parametrize("seed", range(8))
def test_random_videos_by_slow_code(seed: int) -> None:
    annotators, candidates = drawn(random.Random(seed))
    found = sacrecap.dense(annotators, candidates, NO_METEOR)
    for number, tiou in enumerate(TIOUS):
        expected = slow(annotators, candidates, tiou)
        assert {key: own[number] for key, own in found.scores.items()} == pytest.approx(expected, abs=1e-12)
    assert found.soda is None


@pytest.mark.parametrize("seed", range(4))
def test_the_best_pairs_in_order(seed: int) -> None:
    from sacrecap.scoring.dense import _best_in_order

    chance = random.Random(seed)
    for _ in range(20):
        rows, columns = chance.randrange(1, 5), chance.randrange(1, 5)
        gains = [[chance.choice([0.0, 0.5, chance.random()]) for _ in range(columns)] for _ in range(rows)]
        sums = [
            sum(gains[row][column] for row, column in zip(some, others, strict=True))
            for count in range(min(rows, columns) + 1)
            for some in combinations(range(rows), count)
            for others in combinations(range(columns), count)
        ]
        assert _best_in_order(gains) == pytest.approx(max(sums))


def test_files_of_every_shape(run: Runner) -> None:
    rows = [
        {"video_id": video, "start": one["timestamp"][0], "end": one["timestamp"][1], "caption": one["sentence"]}
        for video, own in RESULTS.items()
        for one in own
    ]
    expected = sacrecap.dense(FIRST, SUBMISSION, NO_METEOR)
    (run.folder / "r.json").write_text(json.dumps(FIRST), encoding="utf-8")
    shapes = (json.dumps(SUBMISSION), json.dumps(RESULTS), json.dumps(rows), "\n".join(map(json.dumps, rows)))
    for text in shapes:
        (run.folder / "p.json").write_text(text, encoding="utf-8")
        command = ["dense", "r.json", "p.json", "--metrics", NO_METEOR]
        assert json.loads(run.ok(*command, "--format", "json")) == json.loads(json.dumps(expected.to_dict()))
    assert run.ok(*command, "--tiou", "0.5").splitlines()[1].split() == ["metric", "tIoU", "0.5", "mean"]
    assert run.ok(*command, "--format", "csv").splitlines()[:2] == [
        "metric,tiou,score",
        f"bleu-1,0.3,{expected.scores['bleu-1'][0]!r}",
    ]
    assert "df:video" in expected.signatures["cider-d"]
    assert str(expected).splitlines()[0] == "3 videos"
    (run.folder / "q.json").write_text(json.dumps(SECOND), encoding="utf-8")
    two = run.ok(*command, "--add-references", "q.json", "--format", "json")
    assert json.loads(two)["scores"] == sacrecap.dense([FIRST, SECOND], SUBMISSION, NO_METEOR).to_dict()["scores"]


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ({}, "has no video"),
        ([], "has no video"),
        ({"v_1": [{"sentence": "a"}]}, "video v_1: no timed captions; accepted are"),
        ({"v_1": [{"sentence": "a", "timestamp": [1]}]}, r"video v_1: the times \[1\] are not a start and an end"),
        ({"v_1": [{"sentence": "a", "timestamp": [0, float("nan")]}]}, "are not numbers of seconds"),
        ({"v_1": [{"sentence": 3, "timestamp": [0, 1]}]}, "a caption is a int, expected a string"),
        ([{"video_id": "v_1", "caption": "a"}], "row 1: no timed caption; accepted are"),
        ({"v_1": {"timestamps": [[0, 1]], "sentences": []}}, "as many timestamps as sentences"),
        ({"v_8": [{"sentence": "a", "timestamp": [0, 1]}]}, r"no video with references has a candidate: .* \(v_8\)"),
    ],
)
def test_what_cannot_be_scored(candidates: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        sacrecap.dense(FIRST, candidates, NO_METEOR)


def test_unacceptable_values(run: Runner) -> None:
    for how in ({"tious": [0.0]}, {"tious": []}, {"annotators": "all"}, {"most": 0}):
        with pytest.raises(UsageError, match=next(iter(how))):
            sacrecap.dense(FIRST, SUBMISSION, NO_METEOR, **how)
    (run.folder / "r.txt").write_text("a dog", encoding="utf-8")
    assert "r.txt: line 1, column 1: not JSON" in run.refused("dense", "r.txt", "r.txt")
    (run.folder / "r.json").write_text('{"1": ["a dog"]}', encoding="utf-8")
    refused = run.refused("dense", "r.json", "r.json")
    assert (refused.count("r.json: video 1: no timed captions"), refused.count("accepted are")) == (1, 1)
    assert "--tiou takes numbers" in run.refused("dense", "r.txt", "r.txt", "--tiou", "x")


def test_only_the_first_candidates_count() -> None:
    one = {video: own[:1] for video, own in RESULTS.items()}
    assert sacrecap.dense(FIRST, SUBMISSION, NO_METEOR, most=1) == sacrecap.dense(FIRST, one, NO_METEOR)
