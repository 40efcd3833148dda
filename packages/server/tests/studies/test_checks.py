"""The test of who fails the checks: its levels, by counting all courses and by drawing people."""

import itertools
import json
import random
from dataclasses import replace

import pytest

from sacrecap_studies.checks import CAUGHT, CheckRule, due, every, needed
from sacrecap_studies.design import StudyFileError, read_design


def for_the_careful(rule):
    """The rule, where careful people are those who answer at random: what it says of them."""
    return replace(rule, luck=rule.honest)


def fails_by_hand(rule, answers):
    """Whether a person with these answers fails somewhere."""
    return any(rule.fails(sum(answers[:count]), count, len(answers)) for count in range(1, len(answers) + 1))


@pytest.mark.parametrize("checks", [1, 2, 3, 5, 8, 11])
def test_the_shares_are_those_of_all_courses(checks):
    """Every sequence of right and wrong answers, with its probability."""
    rule = CheckRule(honest=0.85, luck=0.4)
    for share, told in ((0.85, for_the_careful(rule).caught(checks)), (0.4, rule.caught(checks))):
        total = sum(
            share ** sum(answers) * (1 - share) ** (checks - sum(answers))
            for answers in itertools.product((0, 1), repeat=checks)
            if fails_by_hand(rule, answers)
        )
        assert told == pytest.approx(total)
    assert for_the_careful(rule).caught(checks) <= rule.mistaken


@pytest.mark.parametrize(("luck", "needed"), [(0.5, 14), (0.364, 9), (0.1, 4)])
def test_as_many_checks_are_needed_as_the_page_says(luck, needed):
    rule = CheckRule(luck=luck)
    assert rule.needed == needed
    assert rule.caught(needed) >= CAUGHT > rule.caught(needed - 1)


def test_where_no_number_of_checks_is_enough_the_owner_is_told_why():
    assert "14 checks are needed" in CheckRule().remark(4)
    assert "they get 92 % of the checks right, so ask what is harder to guess" in CheckRule(luck=0.92).remark(4)


def test_no_number_of_checks_excludes_careful_people_more_often_than_allowed():
    for honest, mistaken in ((0.9, 0.02), (0.8, 0.05), (0.99, 0.001)):
        rule = CheckRule(honest=honest, mistaken=mistaken)
        assert max(for_the_careful(rule).caught(checks) for checks in range(1, 80)) <= mistaken


@pytest.mark.parametrize(("items", "every"), [(10, 1), (20, 3), (60, 8)])
def test_drawn_people(items, every):
    """Of 3,000 people each, who get a check of either role in every so many items, in the order of the server."""
    rule, chance, lengths = CheckRule(), random.Random(7), {"gold": every, "attention": every}
    checks = sum(due(lengths, "of a person", items - 1, items).values())
    assert checks == needed(lengths, items)
    careful, at_random = (
        sum(fails_by_hand(rule, [chance.random() < share for _ in range(checks)]) for _ in range(3000)) / 3000
        for share in (0.9, 0.5)
    )
    assert careful == pytest.approx(for_the_careful(rule).caught(checks), abs=0.006)
    assert for_the_careful(rule).caught(checks) <= 0.02
    assert at_random >= 0.9
    assert at_random == pytest.approx(rule.caught(checks), abs=0.02)


def test_a_person_gets_more_checks_than_were_foreseen():
    """The owner has let people do more since: the limits go on, and never end."""
    rule = CheckRule()
    assert rule.fails(0, 5, 3)
    assert not rule.fails(19, 20, 3)
    assert not rule.fails(0, 0, 3)
    assert not rule.fails(0, 10**6, 3), "after a thousand checks nobody fails any more"


@pytest.mark.parametrize(
    ("items", "checks", "length"),
    [(60, [20], 4), (60, [10, 10], 8), (20, [30], 1), (20, [8, 8], 3), (10, [14], 1), (300, [3], 10), (5, [1], 5)],
)
def test_how_often_checks_come_where_the_file_does_not_say(items, checks, length):
    assert every(items, checks, 14) == length


def file(items, gold, **more):
    check = {"a": "A dog.", "b": "The dog.", "c": "A bus.", "answer": "b"}
    pairs = [{"image_id": n, "references": [f"a {n}"], "b": f"b {n}", "c": f"c {n}"} for n in range(items)]
    return {"study": "triplet", "items": pairs, "gold": {"items": [check] * gold}, **more}


def read(value):
    return read_design(json.dumps(value).encode())


def test_a_policy_that_cannot_act_is_an_error():
    with pytest.raises(StudyFileError, match=r"checks.policy: 'exclude' cannot act: a person gets 1 check, .* than 2"):
        read(file(10, 1, checks={"policy": "exclude"}))
    assert read(file(10, 1)).settings["rule"]["policy"] == "note", "ours is no error"
    assert read(file(10, 3)).settings["rule"]["policy"] == "warn"
    assert read(file(10, 3, platform="prolific")).settings["rule"]["policy"] == "exclude"


def test_a_study_has_at_most_so_many_pages(monkeypatch):
    monkeypatch.setattr("sacrecap_studies.design.MOST_PAGES", 3)
    read(file(3, 1))
    with pytest.raises(StudyFileError, match="4 pages, of which there may be 3; make several studies"):
        read(file(4, 1))


def test_limits_of_speed_that_cannot_act_are_an_error():
    with pytest.raises(StudyFileError, match=r"speed.after: 'warn' acts after 9 answers, but a person gives 8"):
        read(file(7, 1, speed={"policy": "warn", "after": 9}))
    found = read(file(2, 1, platform="prolific")).settings["speed"]
    assert (found["policy"], found["after"]) == ("partial", 3)
    assert read(file(60, 1)).settings["speed"]["policy"] == "note"


def test_too_little_power_is_said_with_what_would_do():
    assert read(file(10, 5, checks={"policy": "exclude"})).remarks == [
        "checks of a person: 5. Of the people who answer at random, 50 % are found; for 90 %, 14 checks are needed"
    ]
    assert read(file(60, 15)).remarks == []
