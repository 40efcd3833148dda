"""When checks come due, against a walk through all items; and how many a person can need."""

import itertools

import pytest

from sacrecap_studies.checks import FIRST, due, needed, shortage


def places(every, seed, items):
    """The items before which a check of each role comes: where the number that are due grows."""
    found = {role: [] for role in every}
    before = dict.fromkeys(every, 0)
    for item in range(items):
        now = due(every, seed, item, items)
        for role in every:
            assert now[role] - before[role] in (0, 1), "never two at once, never fewer"
            found[role] += [item] * (now[role] - before[role])
        before = now
    return found


@pytest.mark.parametrize("every", [{"gold": 5}, {"gold": 5, "attention": 7}, {"attention": 1}, {"gold": 2}])
def test_every_block_of_items_has_one_check_of_each_role(every):
    for seed in map(str, range(30)):
        for role, at in places(every, seed, 70).items():
            assert [item // every[role] for item in at] == list(range(-(-70 // every[role])))


def test_checks_are_not_periodic_and_begin_with_the_first_items():
    """The first check may come even before the first item, and the distance to the next cannot be foreseen."""
    first, distances = set(), set()
    for seed in map(str, range(200)):
        at = places({"gold": 10, "attention": 20}, seed, 60)["gold"]
        first.add(at[0])
        distances |= {after - before for before, after in itertools.pairwise(at)}
    assert first == set(range(FIRST))
    assert len(distances) > 15


def test_the_same_seed_draws_the_same_places():
    assert places({"gold": 9}, "a", 90) == places({"gold": 9}, "a", 90) != places({"gold": 9}, "b", 90)


def test_nobody_with_few_items_goes_without_a_role_of_long_blocks():
    for seed in map(str, range(100)):
        assert places({"gold": 50, "attention": 50}, seed, 5)["attention"]


@pytest.mark.parametrize("every", [{"gold": 5}, {"gold": 5, "attention": 7}, {"gold": 3, "attention": 3}])
def test_the_number_needed_is_the_most_that_come_due(every):
    for items in (1, 2, 6, 7, 35, 36):
        assert {sum(map(len, places(every, str(seed), items).values())) for seed in range(40)} == {needed(every, items)}


def test_a_shortage_says_what_would_do():
    """The owner is told exactly how many checks to add, or how few questions a person may answer."""
    every = {"gold": 5, "attention": 5}
    assert shortage(every, 120, 300) == ""
    assert shortage({}, 0, 300) == ""
    said = shortage(every, 22, 300)
    assert "needs 120 checks, but the study has 22" in said
    assert "add 98, or set most_per_person to 55 or less" in said
    assert needed(every, 55) <= 22 < needed(every, 56)
    assert "most_per_person" not in shortage({"gold": 5, "attention": 5}, 1, 300)
