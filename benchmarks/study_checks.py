"""Whom the checks of a study find: people who read, and people who click at random, drawn for studies of three sizes.

    python benchmarks/study_checks.py                  # 10,000 people of each sort
    python benchmarks/study_checks.py --people 1000 --seed 7

Each person goes through the study as the server gives it out: items and checks in their order, until the rule fails
them. Prints a table in Markdown, which is that of docs/howto/run-a-study.md.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from statistics import mean

from sacrecap_studies.checks import CheckRule, due, every, needed

STUDIES = ((10, 4), (10, 10), (10, 20), (20, 4), (20, 10), (20, 16), (60, 12), (60, 16))
"""Items that a person gets, and checks that the study has, half gold and half attention."""


@dataclass(frozen=True)
class Found:
    """The share of people who fail, and after how many questions."""

    share: float
    questions: float


def find(items: int, checks: dict[str, int], right: float, people: int, seed: int) -> Found:
    """People who answer this share of the checks right, in a study where each gets so many items."""
    rule, chance = CheckRule("exclude"), random.Random(f"{seed}:{items}:{checks}:{right}")
    total = needed(checks, items)
    ends = []
    for person in range(people):
        answered = good = 0
        for item in range(items):
            for _ in range(sum(due(checks, f"{seed}:{person}", item, items).values()) - answered):
                answered, good = answered + 1, good + (chance.random() < right)
                if rule.fails(good, answered, total):
                    ends.append(item + answered)
                    break
            else:
                continue
            break
    return Found(len(ends) / people, mean(ends) if ends else 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print("| items | checks | careful people excluded | random clickers excluded | after questions |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for items, have in STUDIES:
        length = every(items, [have // 2, have // 2], CheckRule().needed)
        checks = {"gold": length, "attention": length}
        careful, clicks = (find(items, checks, right, asked.people, asked.seed) for right in (0.9, 0.5))
        print(
            f"| {items} | {needed(checks, items)} | {100 * careful.share:.1f} % | {100 * clicks.share:.0f} % "
            f"| {clicks.questions:.0f} |"
        )


if __name__ == "__main__":
    main()
