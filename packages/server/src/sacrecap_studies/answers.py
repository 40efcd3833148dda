"""Answers of people in a study; as files: judgments that `sacrecap agreement` reads, references for `sacrecap score`,
CSV; and two such files of the same pairs, joined.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter
from typing import Any

from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError
from sacrecap_studies.estimation import wilson
from sacrecap_studies.kinds import StudyKind
from sacrecap_studies.questions import Choice, Content, Scale, captions_of


@dataclass(frozen=True)
class PageAnswer:
    """One answer of one person to one page."""

    role: str
    """item, gold, attention or practice."""
    number: int
    """The page's place among those of its role."""
    group: int
    """The file's item that the page comes from."""
    content: Content
    person: int
    worker: str
    answer: Any
    order: list[int]
    """Which option stood first, second and so on."""
    correct: bool | None
    """On checks."""
    counts: bool
    """False if the answer was rejected, or the person excluded or practising."""
    given: dt.datetime
    """When the page was given to the person."""
    answered: dt.datetime
    active_seconds: float | None
    """How long the page was visible, according to the browser."""
    id: int = 0
    too_fast: bool | None = None
    """Whether it came sooner than the page can be read; None if no time is known."""
    repeated: bool | None = None
    """Whether somebody else had written the same before; on sentences."""
    state: str = "counted"
    """counted, rejected (by the owner), excluded (the person is), or practice."""
    reason: str = ""
    """Why it does not count."""
    platform_study: str = ""
    """What a crowd platform calls the study,"""
    platform_session: str = ""
    """and the person's visit."""

    @property
    def elapsed(self) -> float | None:
        """Seconds from the page to the answer; None if the server's clock was set back in between."""
        return elapsed(self.given, self.answered)

    @property
    def seconds(self) -> float | None:
        """From the page to the answer: time in sight where it is known."""
        return shortest(self.elapsed, self.active_seconds)


def elapsed(begun: dt.datetime, answered: dt.datetime) -> float | None:
    """Seconds between two moments of the server's clock; None if the later one has the earlier time."""
    seconds = (answered - begun).total_seconds()
    return seconds if seconds >= 0 else None


def shortest(*seconds: float | None) -> float | None:
    """The shortest of the times that are known; None if none is."""
    return min((value for value in seconds if value is not None), default=None)


def judged(answers: Iterable[PageAnswer]) -> list[PageAnswer]:
    """The answers that count, to items; in the order of the items."""
    return sorted(filter(_is_judgment, answers), key=attrgetter("number"))


def by_page(answers: Iterable[PageAnswer]) -> Iterator[list[PageAnswer]]:
    """The answers that count, in the order of the items, a list per item that has any; one is in memory at a time."""
    return (list(group) for _, group in groupby(filter(_is_judgment, answers), attrgetter("number")))


def _is_judgment(answer: PageAnswer) -> bool:
    return answer.counts and answer.role == "item"


_PEOPLE = ("worker", "platform_study", "platform_session")
"""Columns that say who somebody is elsewhere."""
_SHARED = ("image_id", "pair", "category", "references", "inclusion")
"""What an item of the file has for all its captions."""


def export_name(kind: StudyKind) -> str:
    """The name of the exported file."""
    return {"pairs": "pairs.jsonl", "ratings": "ratings.jsonl", "sentences": "references.json"}[kind.result]


def export(
    kind: StudyKind, answers: Iterable[PageAnswer], judgments: int, pages: Mapping[int, int] | None = None
) -> Iterator[str]:
    """The judgments: pairs or ratings in JSON lines; collected sentences as references. A piece of the file at a time.

    Answers are in the order of the items, `judgments` people are asked each question, and `pages` has the number of
    questions of the file's items that have several, answered or not.
    """
    if kind.result == "sentences":
        mark = "[\n"
        for answer in chain.from_iterable(by_page(answers)):
            line = {"image_id": answer.content["image_id"], "caption": kind.reply(kind.main, answer.answer)}
            yield mark + json.dumps(line, ensure_ascii=False)
            mark = ",\n"
        yield "[]\n" if mark == "[\n" else "\n]\n"
        return
    for item, line in (_pairs if kind.result == "pairs" else _rated)(kind, answers):
        # Whether an item of the file is complete, and the judgments that are wanted and there.
        size, had = (pages or {}).get(item[0][0].group, 1), list(map(len, item))
        line["complete"] = len(had) == size and min(had) >= judgments
        line["judgments"] = {"wanted": judgments * size, "had": sum(had)}
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _pairs(kind: StudyKind, answers: Iterable[PageAnswer]) -> Iterator[tuple[list[list[PageAnswer]], Content]]:
    """A line per pair. Every person has a vote, or if references are pages, the majority of each page's people has it.

    Who found both equal, or could not tell, has no vote; nor has a page whose people are undecided.
    """
    assert isinstance(kind.main, Choice)
    for _, group in groupby(by_page(answers), lambda page: page[0].group):
        pages = list(group)  # of one item of the file: all references of a triplet's pair
        choices = [[(kind.reply(kind.main, answer.answer), answer.person) for answer in page] for page in pages]
        people = [
            {name: [person for choice, person in page if choice == name] for name in kind.main.answers}
            for page in choices
        ]
        counts = [(len(page["b"]), len(page["c"])) for page in people]
        pair = {name: value for name, value in pages[0][0].content.items() if name not in ("a", "references")}
        if kind.has_several_pages:
            references = [page[0].content["a"] for page in pages]
            votes = [1 if b > c else -1 for b, c in counts if b != c]
        else:
            references = pages[0][0].content["references"]
            votes = [1 if choice == "b" else -1 for choice, _ in choices[0] if choice in ("b", "c")]
        total = sum(votes)
        line = {**pair, "references": references, "winner": "b" if total > 0 else "c" if total < 0 else "tie"}
        line |= {"votes": votes} if votes else {}
        line |= {"people": counts, "said": people}
        yield pages, line | _besides(kind, pages[0])


def _rated(kind: StudyKind, answers: Iterable[PageAnswer]) -> Iterator[tuple[list[list[PageAnswer]], Content]]:
    """A line per caption, or set of captions; only sets have `captions`, and `caption` has them below each other.

    `rating` is a list with a number of each person, or if several questions give ratings, an object of such lists.
    """
    for page in by_page(answers):
        content = page[0].content
        captions, people = captions_of(content), [answer.person for answer in page]
        shared: Content = {name: content[name] for name in _SHARED if content.get(name)}
        for number, caption in enumerate(captions):
            ratings = {
                question.name: [
                    score
                    for answer in page
                    if (score := question.ratings(kind.reply(question, answer.answer), len(captions))[number])
                    is not None
                ]
                for question in kind.questions
                if question.is_rating
            }
            line: Content = {
                **shared,
                **{name: caption[name] for name in ("image_id", "system") if name in caption},
                "caption": "\n".join(caption["captions"]),
                **({"captions": caption["captions"]} if len(caption["captions"]) > 1 else {}),
                "rating": ratings if len(ratings) > 1 else next(iter(ratings.values()), []),
                "people": people,
            }
            yield [page], line | _besides(kind, page, number)
        if not captions:
            yield [page], shared | _besides(kind, page) | {"people": people}


def _besides(kind: StudyKind, page: list[PageAnswer], number: int | None = None) -> Content:
    """What people answered to the questions whose answers are nowhere else in the line, of one caption or of all."""
    columns: Content = {}
    for question in kind.questions:
        replies = [kind.reply(question, answer.answer) for answer in page]
        is_elsewhere = isinstance(question, Scale) if number is not None else False
        if not is_elsewhere and not (question is kind.main and isinstance(question, Choice)):
            columns[question.name] = (
                [reply[number] for reply in replies] if number is not None and question.about == "each" else replies
            )
    return {"answers": columns} if columns else {}


def answers_csv(answers: Iterable[PageAnswer], *, pseudonymous: bool = False) -> Iterator[str]:
    """Every answer, whether it counts or not, a line at a time.

    A text that a spreadsheet would take for a formula gets an apostrophe in front. What is `pseudonymous` lacks what
    tells who somebody is elsewhere, such as worker ids; `person` stays.
    """
    columns = [name for name in _COLUMNS if not (pseudonymous and name in _PEOPLE)]
    line = io.StringIO(newline="")
    table = csv.writer(line)
    table.writerow(columns)
    for answer in answers:
        table.writerow([no_formula(_cell(answer, column)) for column in columns])
        yield line.getvalue()
        line.seek(0)
        line.truncate()
    yield line.getvalue()


_COLUMNS = (
    "answer_id role item page image_id a b c b_system c_system category sets person worker platform_study "
    "platform_session answer shown_order correct counts state reason given answered active_seconds elapsed_seconds "
    "too_fast repeated"
).split()


def _cell(row: PageAnswer, column: str) -> Any:
    """The value of a column: a text as it is, other things as JSON, nothing for what there is not."""
    if column == "shown_order":  # the options as they stood: `c b`, or the systems of the sets
        names = [entry["system"] for entry in row.content["sets"]] if "sets" in row.content else ["b", "c"]
        return " ".join(names[option] for option in row.order)
    if column in ("given", "answered"):
        return getattr(row, column).isoformat()
    if column == "elapsed_seconds":
        return "" if row.elapsed is None else round(row.elapsed, 3)
    field = {"answer_id": "id", "item": "group", "page": "number"}.get(column, column)
    value = getattr(row, field) if hasattr(row, field) else row.content.get(field)
    if value is None and column != "answer":
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def no_formula(value: Any) -> Any:
    """The value of a cell, which no table program runs as a formula."""
    return "'" + value if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def compare_winners(triplets: str, choices: str) -> tuple[str, list[dict[str, Any]]]:
    """Joins two exports by the ids of their pairs.

    Returns a table, with a line per category: pairs that both studies have decided, how many have the same winner, and
    the share with its interval of 95 % (Wilson); and the joined pairs.

    Raises `DataError` if a file cannot be read, or no pair is in both.
    """
    other_side = {"b": "c", "c": "b"}
    likes, joined = _by_pair(choices), list[dict[str, Any]]()
    for pair, line in _by_pair(triplets).items():
        if pair in likes:
            liked = likes[pair]["winner"]
            if line["b"] != likes[pair]["b"]:  # as B and C stand in the first study
                liked = other_side.get(liked, liked)
            columns: Content = {name: line[name] for name in ("pair", "image_id", "b", "c", "category") if name in line}
            joined.append({**columns, "human_like": line["winner"], "humans_like": liked})
    if not joined:
        raise DataError(
            f"{triplets} and {choices} have no pair in common; make both studies with the "
            "same --seed, --systems and --categories"
        )
    rows = [("", "pairs", "same winner", "share")]
    for category in (*dict.fromkeys(row.get("category", "") for row in joined), "all"):
        of_it = [row for row in joined if category in ("all", row.get("category", ""))]
        decided = [row for row in of_it if "tie" not in (row["human_like"], row["humans_like"])]
        same = sum(row["human_like"] == row["humans_like"] for row in decided)
        low, high = wilson(same, len(decided)) if decided else (0.0, 1.0)
        share = f"{same / len(decided):.3f} [{low:.3f}, {high:.3f}]" if decided else "–"
        rows.append((category, str(len(decided)), str(same), share))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(padded), joined


def _by_pair(path: str) -> dict[str, dict[str, Any]]:
    joined = {}
    for number, line in enumerate(read_bytes(path).splitlines(), 1):
        try:
            pair = json.loads(line) if line.strip() else {}
        except ValueError as error:
            raise DataError(f"{path}: line {number}: not JSON ({error})") from None
        if isinstance(pair, dict) and "pair" in pair:
            if not all(isinstance(pair.get(name), str) for name in ("pair", "b", "c", "winner")):
                raise DataError(f"{path}: line {number}: pair, b, c and winner must be text")
            joined[pair["pair"]] = pair
    if not joined:
        raise DataError(f"{path}: no line has a pair; sacrecap study make gives each pair its id")
    return joined
