"""How balanced studies are: simulated people do a triplet study, and what each got is counted.

    python benchmarks/study_balance.py                 # a crowd of which twenty are at work at once, and a panel
    python benchmarks/study_balance.py --seed 7

Uses the server's own assignment on a temporary SQLite database. Prints one JSON document; its figures are those of
docs/howto/run-a-study.md.
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import json
import random
import statistics
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from sqlalchemy import select, update

from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Account, Annotator, Assignment, StudyItem, now
from sacrecap_server.studies import repository
from sacrecap_server.studies.annotators import Arrival, begin
from sacrecap_server.studies.assignment import next_assignment, record
from sacrecap_studies.design import read_design


def file(pairs: int, judgments: int, most: int | None) -> bytes:
    items = [
        {
            "image_id": number,
            "references": [f"reference {place} of {number}" for place in range(5)],
            "b": f"a dog {number}",
            "c": f"a cat {number}",
        }
        for number in range(pairs)
    ]
    limit = {} if most is None else {"most_per_person": most}
    return json.dumps({"study": "triplet", "judgments": judgments, "items": items, **limit}).encode()


def simulate(design: bytes, people: int, at_once: int, leave: float, seed: int) -> dict[str, object]:
    """People come one after another, `at_once` at a time, take turns at random, and some leave with a question open."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'sacrecap.db'}")
        database.migrate()
        with database.write() as session:
            account = Account(email="a@example.org", password="-", role=4)  # noqa: S106
            session.add(account)
            session.flush()
            study = repository.make(session, account.id, read_design(design), seed=str(seed))
            study.state = "open"
            arrivals = iter(range(people))
            present: list[Annotator] = []
            while True:
                while len(present) < at_once and (number := next(arrivals, None)) is not None:
                    present.append(begin(session, study, f"{number:064d}", Arrival(worker=f"W{number}")))
                if not present:
                    break
                person = chance.choice(present)
                given = next_assignment(session, study, person)
                if given is None:
                    present.remove(person)
                elif chance.random() < leave:
                    present.remove(person)
                    past = now() - dt.timedelta(seconds=1)
                    session.execute(update(Assignment).where(Assignment.id == given.id).values(expires=past))
                else:
                    record(session, study, person, given.id, {"choice": chance.choice("12")})
            answered = select(Assignment).where(Assignment.state == "answered").order_by(Assignment.id)
            answers = list(session.execute(answered).scalars())
            items = list(session.execute(select(StudyItem.id)).scalars())
        database.close()
    return measure(answers, items)


def measure(answers: list[Assignment], items: list[int]) -> dict[str, object]:
    of_person: dict[int, list[Assignment]] = defaultdict(list)
    for one in answers:
        of_person[one.annotator_id].append(one)
    counts = Counter(one.item_id for one in answers)
    b_first = Counter(one.item_id for one in answers if one.shown_order == "[0, 1]")
    places = defaultdict(list)
    for own in of_person.values():
        for place, one in enumerate(own):
            places[one.item_id].append((place + 0.5) / len(own))
    met_again = sum(len(own) - len({one.group for one in own}) for own in of_person.values())
    several = [own for own in of_person.values() if len(own) > 9]
    sets = [{one.item_id for one in own} for own in several]
    shared = [len(one & other) for one, other in itertools.combinations(sets, 2)]
    return {
        "people": len(of_person),
        "answers": len(answers),
        "answers_per_item": dict(sorted(Counter(counts[item] for item in items).items())),
        "place_in_the_work_sd": round(statistics.pstdev(statistics.mean(one) for one in places.values()), 3),
        "place_in_the_work_sd_at_random": round((1 / 12 / statistics.mean(map(len, places.values()))) ** 0.5, 3),
        "orders_of_two_people_correlation": round(statistics.mean(_correlations(several)), 3),
        "b_first_minus_c_first_per_item": dict(
            sorted(Counter(abs(2 * b_first[item] - counts[item]) for item in items).items())
        ),
        "b_first_per_person": [
            round(share([one.shown_order == "[0, 1]" for one in own]), 3)
            for own in sorted(several, key=lambda own: share([one.shown_order == "[0, 1]" for one in own]))
        ][:: max(1, len(several) - 1)],
        "answers_to_a_pair_met_before": round(met_again / len(answers), 4),
        "items_that_two_people_share": {
            "mean": round(statistics.mean(shared), 2),
            "sd": round(statistics.pstdev(shared), 2),
            "none": round(share([one == 0 for one in shared]), 3),
            "most": max(shared),
        },
    }


def share(values: list[bool]) -> float:
    return sum(values) / len(values)


def _correlations(several: list[list[Assignment]]) -> list[float]:
    """Of the places that two people's common items have, over pairs of people with ten of them or more."""
    orders = [{one.item_id: place for place, one in enumerate(own)} for own in several]
    found = []
    for one, other in itertools.combinations(orders, 2):
        common = sorted(set(one) & set(other))
        if len(common) >= 10:
            found.append(float(np.corrcoef([one[item] for item in common], [other[item] for item in common])[0, 1]))
    return found or [0.0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    print(
        json.dumps(
            {
                "crowd": simulate(file(100, 3, 60), people=60, at_once=20, leave=0.004, seed=seed),
                "panel": simulate(file(60, 3, None), people=3, at_once=3, leave=0, seed=seed),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
