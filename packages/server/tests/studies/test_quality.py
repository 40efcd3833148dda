"""Statistics of a study's answers, and what they become."""

import csv
import datetime as dt
import io
import json
import random
from dataclasses import replace

import pytest

from sacrecap_studies import KINDS
from sacrecap_studies.answers import PageAnswer, answers_csv, export
from sacrecap_studies.quality import SECONDS, quality

START = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)


def answer(
    number,
    person,
    said,
    *,
    role="item",
    counts=True,
    correct=None,
    order=(0, 1),
    group=None,
    state="counted",
    reason="",
    **content,
):
    return PageAnswer(
        role=role,
        number=number,
        group=number if group is None else group,
        content={"image_id": "1", "a": f"a{number}", "b": "the b", "c": "the c", "references": ["r"], **content},
        person=person,
        worker=f"W{person}",
        answer=said,
        order=list(order),
        correct=correct,
        counts=counts,
        given=START,
        answered=START + dt.timedelta(seconds=10),
        active_seconds=4.0,
        state=state,
        reason=reason,
    )


def exported(kind, answers, judgments=3, pages=None):
    return "".join(export(KINDS[kind], answers, judgments, pages))


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
    one, _, three = sorted(quality(KINDS["pairwise"], answers).people, key=lambda each: each.person)
    assert (three.items, three.checks.hits, three.checks.trials, three.seconds) == (4, 1, 2, 4.0)
    assert three.with_others == 0
    assert one.first.hits / one.first.trials == three.first.hits / three.first.trials == 1.0
    assert one.with_others is None, "the others are undecided"


def test_no_answers_have_no_statistics():
    for kind in KINDS.values():
        found = quality(kind, [])
        assert (found.alpha, found.people, found.strengths, found.ratings) == (None, [], [], [])


def test_pairs_of_triplets():
    answers = [
        answer(number, person, said, group=0)
        for number, page in enumerate(["bbc", "ccb", "bbb", "bc"])
        for person, said in enumerate(page)
    ]
    (line,) = map(json.loads, exported("triplet", answers).splitlines())
    assert line["references"] == ["a0", "a1", "a2", "a3"]
    assert line["votes"] == [1, -1, 1]
    assert line["winner"] == "b"
    assert line["people"] == [[2, 1], [1, 2], [3, 0], [1, 1]]
    assert "a" not in line


def test_pairs_under_images_have_a_vote_a_person():
    (line,) = map(json.loads, exported("pairwise", [answer(0, n, said) for n, said in enumerate("bcc")]).splitlines())
    assert (line["votes"], line["winner"], line["references"]) == ([1, -1, -1], "c", ["r"])


def test_an_undecided_pair_is_a_tie():
    (line,) = map(json.loads, exported("triplet", [answer(0, 1, "b"), answer(0, 2, "c")]).splitlines())
    assert line["winner"] == "tie"
    assert "votes" not in line


def test_csv_has_also_what_does_not_count():
    text = "".join(answers_csv([answer(0, 1, "b", counts=False, order=(1, 0))]))
    assert text.splitlines()[1].count("false") == 1
    assert "c b" in text


def test_half_finished_pairs_say_so():
    """An incomplete pair says how many judgments it wants and has, and who said what about each reference."""
    answers = [answer(0, 1, "b", group=0), answer(0, 2, "c", group=0), *(answer(1, n, "b", group=0) for n in (1, 2, 4))]
    (line,) = map(json.loads, exported("triplet", answers, pages={0: 3}).splitlines())
    assert (line["complete"], line["judgments"]) == (False, {"wanted": 9, "had": 5})
    assert line["said"] == [{"b": [1], "c": [2]}, {"b": [1, 2, 4], "c": []}]
    full = [answer(number, person, "b", group=0) for number in (0, 1) for person in (1, 2, 3)]
    (line,) = map(json.loads, exported("triplet", full, pages={0: 2}).splitlines())
    assert (line["complete"], line["judgments"]) == (True, {"wanted": 6, "had": 6})


def test_csv_without_worker_ids_and_with_reasons():
    """A person stays a number, and an answer that does not count says why."""
    one = answer(0, 7, "b", counts=False, state="rejected", reason="no sentence")
    (row,) = csv.DictReader(io.StringIO("".join(answers_csv([one], pseudonymous=True))))
    assert (row["person"], row["state"], row["reason"]) == ("7", "rejected", "no sentence")
    assert not {"worker", "platform_study", "platform_session"} & set(row)
    assert "W7" in "".join(answers_csv([one]))
    assert "W7" not in "".join(answers_csv([one], pseudonymous=True))


def many(images=30, people=4, references=2, seed=0, right=0.8, order=None):
    """Choices between two systems: people are right with a probability, on images whose difficulty differs."""
    chance = random.Random(seed)
    found = []
    for number in range(images * references):
        for person in range(people):
            said = "b" if chance.random() < right else "c"
            shown = order or chance.choice([(0, 1), (1, 0)])
            found.append(
                answer(
                    number,
                    person,
                    said,
                    order=shown,
                    group=number // references,
                    image_id=str(number // references),
                    b_system="x" if number % 4 else "y",
                    c_system="y" if number % 4 else "x",
                )
            )
    return found


def test_the_numbers_have_intervals_and_judgments():
    """α, strengths and accuracies are inside their intervals, and that of the first position holds one half."""
    found = quality(KINDS["triplet"], many())
    assert found.alpha_judgment == "low"
    assert found.alpha_interval[0] < found.alpha < found.alpha_interval[1]
    assert found.first.interval[0] < 0.5 < found.first.interval[1]
    (group,) = found.strengths
    assert [one.system for one in group] == ["x", "y"]
    for one in group:
        assert one.interval[0] < one.strength < one.interval[1]
        assert one.note == ""
    for person in found.people:
        assert person.accuracy_interval[0] <= person.accuracy <= person.accuracy_interval[1]
    assert found.units == 30
    assert found.warnings == []


def test_alpha_without_a_person_is_alpha_of_the_others():
    """Each person left out, against computing it all again without their answers."""
    answers = many(images=12, right=0.7)
    answers = [one for one in answers if (one.number + one.person) % 5]
    found = quality(KINDS["triplet"], answers)
    for person in found.people:
        rest = [one for one in answers if one.person != person.person]
        assert person.alpha_without == pytest.approx(quality(KINDS["triplet"], rest).alpha)


def test_few_answers_and_separated_systems_are_warned_of():
    """Systems that never lost or never won get a note instead of an interval."""
    answers = [
        answer(number, person, "b", image_id=str(number), b_system="good", c_system="bad")
        for number in range(3)
        for person in (1, 2)
    ]
    found = quality(KINDS["pairwise"], answers)
    (group,) = found.strengths
    assert [(one.system, one.strength, one.interval) for one in group] == [("good", 1.0, None), ("bad", 0.0, None)]
    assert group[0].note == "never lost: the strength has no upper limit"
    assert "never won" in group[1].note
    text = " ".join(found.warnings)
    for words in ("Few images", "two different answers", "Fewer than three people", "never lost or never won"):
        assert words in text


def test_speeders_and_times():
    """The numbers tell how many answers were too fast, the distribution of seconds and the course of time."""
    day = dt.timedelta(days=1)
    slow = [answer(number, 1, "b") for number in range(3)]
    fast = [replace(answer(number, 2, "b"), active_seconds=0.7, answered=START + day * number) for number in range(3)]
    fast = [replace(one, given=one.answered - dt.timedelta(seconds=2)) for one in fast]
    found = quality(KINDS["triplet"], slow + fast)
    assert [(one.person, one.fast, one.timed) for one in found.people] == [(1, 0, 3), (2, 3, 3)]
    assert dict(zip(SECONDS, found.seconds, strict=True)) == {**dict.fromkeys(SECONDS, 0), 0.5: 3, 4.0: 3}
    assert (found.course_unit, len(found.course), found.course[0][1]) == ("hour", 49, 4)
    assert quality(KINDS["triplet"], slow + fast, fast_below=0.5).people[1].fast == 0
    assert quality(KINDS["triplet"], [replace(fast[0], too_fast=False)]).people[0].fast == 0


def test_a_fixed_side_shows_in_the_share_of_the_first():
    answers = many(right=1.0, order=(0, 1))
    found = quality(KINDS["triplet"], answers)
    assert found.first.hits / found.first.trials == 1.0
    assert 0.9 < found.first.interval[0] < 1.0
