"""Statistics of a study's answers, and what they become."""

import datetime as dt
import json

import pytest

from capeval_studies import KINDS
from capeval_studies.answers import Answer
from capeval_studies.export import answers_csv, export
from capeval_studies.quality import quality

START = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)


def answer(number, person, said, *, role="item", counts=True, correct=None, order=(0, 1), group=None, **content):
    return Answer(
        role=role, number=number, group=number if group is None else group,
        content={"image_id": "1", "a": f"a{number}", "b": "the b", "c": "the c", "references": ["r"], **content},
        person=person, worker=f"W{person}", answer=said, order=list(order), correct=correct, counts=counts, given=START,
        answered=START + dt.timedelta(seconds=10), active_seconds=4.0,
    )  # fmt: skip


def test_krippendorffs_alpha_of_his_example_with_two_coders():
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section A: binary, two observers, α = 0.095."""
    meg = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    owen = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    answers = [
        answer(number, person, "bc"[value])
        for person, values in enumerate((meg, owen))
        for number, value in enumerate(values)
    ]
    found = quality(KINDS["triplet"], answers)
    assert found.alpha == pytest.approx(0.095, abs=5e-4)
    assert (found.unanimous, found.majority, found.undecided) == (6, 0, 4)


def test_what_does_not_count_does_not_count():
    answers = [answer(0, 1, "b"), answer(0, 2, "b"), answer(0, 3, "c", counts=False), answer(0, 1, "c", role="gold")]
    found = quality(KINDS["triplet"], answers)
    assert (found.answers, found.pages, found.unanimous) == (2, 1, 1)
    assert found.alpha is None


def test_people():
    answers = [
        *(answer(number, person, "b") for number in range(4) for person in (1, 2)),
        *(answer(number, 3, "c", order=(1, 0)) for number in range(4)),
        answer(0, 3, "c", role="gold", correct=False),
        answer(1, 3, "b", role="gold", correct=True),
    ]
    one, _, three = quality(KINDS["pairwise"], answers).people
    assert (three.items, three.checks, three.seconds) == (4, (1, 2), 4.0)
    assert three.with_others == 0
    assert (one.first, three.first) == (1.0, 1.0)
    assert one.with_others is None, "the others are undecided"


def test_no_answers_have_no_statistics():
    for kind in KINDS.values():
        found = quality(kind, [])
        assert (found.alpha, found.people, found.strengths, found.ratings) == (None, [], [], {})


def test_pairs_of_triplets():
    answers = [
        answer(number, person, said, group=0)
        for number, page in enumerate(["bbc", "ccb", "bbb", "bc"])
        for person, said in enumerate(page)
    ]
    (line,) = map(json.loads, export(KINDS["triplet"], answers).splitlines())
    assert line["references"] == ["a0", "a1", "a2", "a3"]
    assert line["votes"] == [1, -1, 1]
    assert line["winner"] == "b"
    assert line["people"] == [[2, 1], [1, 2], [3, 0], [1, 1]]
    assert "a" not in line


def test_pairs_under_images_have_a_vote_a_person():
    (line,) = map(
        json.loads, export(KINDS["pairwise"], [answer(0, n, said) for n, said in enumerate("bcc")]).splitlines()
    )
    assert (line["votes"], line["winner"], line["references"]) == ([1, -1, -1], "c", ["r"])


def test_an_undecided_pair_is_a_tie():
    (line,) = map(json.loads, export(KINDS["triplet"], [answer(0, 1, "b"), answer(0, 2, "c")]).splitlines())
    assert line["winner"] == "tie"
    assert "votes" not in line


def test_csv_has_also_what_does_not_count():
    text = answers_csv([answer(0, 1, "b", counts=False, order=(1, 0))])
    assert text.splitlines()[1].count("false") == 1
    assert "c b" in text
