"""How balanced studies are: simulated people do a triplet study, and what each got is counted.

    python benchmarks/study_balance.py                 # a crowd of which twenty are at work at once, and a panel
    python benchmarks/study_balance.py --seed 7

Uses the server's own assignment on a temporary SQLite database. Prints one JSON document; its figures are those of
docs/howto/run-a-study.md.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import random
import statistics
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from sqlalchemy import select, update

from annotators import triplets
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Account, Annotator, Assignment, now
from sacrecap_server.studies import repository
from sacrecap_server.studies.annotators import Arrival, begin
from sacrecap_server.studies.assignment import next_assignment, record
from sacrecap_studies.design import read_design


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
        database.close()
    return measure(answers)


def measure(answers: list[Assignment]) -> dict[str, object]:
    of_person: dict[int, list[Assignment]] = defaultdict(list)
    of_item: dict[int, list[bool]] = defaultdict(list)
    for one in answers:
        of_person[one.annotator_id].append(one)
        of_item[one.item_id].append(one.shown_order == "[0, 1]")
    b_first = [
        round(statistics.mean(one.shown_order == "[0, 1]" for one in own), 3)
        for own in of_person.values()
        if len(own) > 9
    ]
    met_again = sum(len(own) - len({one.group for one in own}) for own in of_person.values())
    return {
        "people": len(of_person),
        "answers": len(answers),
        "answers_per_item": dict(sorted(Counter(map(len, of_item.values())).items())),
        "b_first_minus_c_first_per_item": dict(
            sorted(Counter(abs(2 * sum(own) - len(own)) for own in of_item.values()).items())
        ),
        "b_first_per_person": [min(b_first), max(b_first)],
        "answers_to_a_pair_met_before": round(met_again / len(answers), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    print(
        json.dumps(
            {
                "crowd": simulate(triplets(100, 3, 60), people=60, at_once=20, leave=0.004, seed=seed),
                "panel": simulate(triplets(60, 3, None), people=3, at_once=3, leave=0, seed=seed),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
