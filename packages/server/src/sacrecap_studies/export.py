"""A study's answers as files: judgments that `sacrecap agreement` reads, references for `sacrecap score`, CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sacrecap_studies.answers import Answer, by_group, by_page
from sacrecap_studies.kinds import Content, StudyKind

_PEOPLE = ("worker", "platform_study", "platform_session")
"""Columns that say who somebody is elsewhere."""
_COLUMNS = (
    "answer_id",
    "role",
    "item",
    "page",
    "image_id",
    "a",
    "b",
    "c",
    "b_system",
    "c_system",
    "category",
    "sets",
    "person",
    *_PEOPLE,
    "answer",
    "shown_order",
    "correct",
    "counts",
    "state",
    "reason",
    "given",
    "answered",
    "active_seconds",
    "elapsed_seconds",
    "too_fast",
    "repeated",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def export_name(kind: StudyKind) -> str:
    """The name of the exported file."""
    return {"triplet": "pairs.jsonl", "pairwise": "pairs.jsonl", "diversity": "ratings.jsonl"}.get(
        kind.name, "references.json"
    )


def export(
    kind: StudyKind, answers: Iterable[Answer], judgments: int, pages: Mapping[int, int] | None = None
) -> Iterator[str]:
    """The judgments: pairs or ratings in JSON lines; collected sentences as references. A piece of the file at a time.

    Args:
        kind: the study's protocol.
        answers: in the order of the items.
        judgments: people that each question is asked.
        pages: by the file's item, the number of its questions where it has several, answered or not.
    """
    if kind.name == "collection":
        yield from _listed(_sentences(answers))
        return
    wanted = _Wanted(judgments, pages or {})
    for line in {"triplet": _triplets, "pairwise": _pairs, "diversity": _sets}[kind.name](answers, wanted):
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _listed(lines: Iterable[Content]) -> Iterator[str]:
    """A JSON list."""
    mark = "[\n"
    for line in lines:
        yield mark + json.dumps(line, ensure_ascii=False)
        mark = ",\n"
    yield "[]\n" if mark == "[\n" else "\n]\n"


@dataclass(frozen=True)
class _Wanted:
    """How many judgments each item of the file should get."""

    judgments: int
    pages: Mapping[int, int]

    def of(self, pages: list[list[Answer]]) -> Content:
        """`complete`, and the judgments that are wanted and there."""
        wanted = self.judgments * self.pages.get(pages[0][0].group, 1)
        least = min(map(len, pages)) if len(pages) == self.pages.get(pages[0][0].group, 1) else 0
        had = sum(map(len, pages))
        return {"complete": least >= self.judgments, "judgments": {"wanted": wanted, "had": had}}


def _triplets(answers: Iterable[Answer], wanted: _Wanted) -> Iterator[Content]:
    """A line per pair. The people of one reference have one vote, that of their majority; those undecided have none."""
    for pages in by_group(answers):
        counts = [_count(page) for page in pages]
        votes = [1 if b > c else -1 for b, c in counts if b != c]
        pair = {name: value for name, value in pages[0][0].content.items() if name != "a"}
        references = [page[0].content["a"] for page in pages]
        yield _pair(pair, references, votes, pages) | wanted.of(pages)


def _pairs(answers: Iterable[Answer], wanted: _Wanted) -> Iterator[Content]:
    """A line per pair; every person has one vote."""
    for page in by_page(answers):
        pair = {name: value for name, value in page[0].content.items() if name != "references"}
        votes = [1 if one.answer == "b" else -1 for one in page]
        yield _pair(pair, page[0].content["references"], votes, [page]) | wanted.of([page])


def _pair(pair: Content, references: list[str], votes: list[int], pages: list[list[Answer]]) -> Content:
    total = sum(votes)
    winner = "b" if total > 0 else "c" if total < 0 else "tie"
    line: dict[str, Any] = {**pair, "references": references, "winner": winner}
    if votes:
        line["votes"] = votes
    said = [{name: [one.person for one in page if one.answer == name] for name in "bc"} for page in pages]
    return {**line, "people": [_count(page) for page in pages], "said": said}


def _count(page: list[Answer]) -> tuple[int, int]:
    """People for B and for C."""
    b = sum(one.answer == "b" for one in page)
    return b, len(page) - b


def _sets(answers: Iterable[Answer], wanted: _Wanted) -> Iterator[Content]:
    """A line per caption set; `caption` has the set's captions below each other, for the format's sake."""
    for page in by_page(answers):
        content = page[0].content
        for number, one_set in enumerate(content["sets"]):
            yield {
                "image_id": content["image_id"],
                "system": one_set["system"],
                "captions": one_set["captions"],
                "caption": "\n".join(one_set["captions"]),
                "references": content["references"] or one_set["captions"],
                "rating": [one.answer[number] for one in page],
                "people": [one.person for one in page],
                **wanted.of([page]),
            }


def _sentences(answers: Iterable[Answer]) -> Iterator[Content]:
    for page in by_page(answers):
        yield from ({"image_id": one.content["image_id"], "caption": one.answer} for one in page)


def answers_csv(answers: Iterable[Answer], *, pseudonymous: bool = False) -> Iterator[str]:
    """Every answer, whether it counts or not, a line at a time.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.

    Args:
        answers: in any order.
        pseudonymous: leave out what tells who somebody is elsewhere, such as worker ids; `person` stays.
    """
    columns = [name for name in _COLUMNS if not (pseudonymous and name in _PEOPLE)]
    line = io.StringIO(newline="")
    table = csv.writer(line)
    table.writerow(columns)
    for one in answers:
        row = _row(one)
        table.writerow([no_formula(row[name]) for name in columns])
        yield line.getvalue()
        line.seek(0)
        line.truncate()
    yield line.getvalue()


def _row(one: Answer) -> Content:
    content = one.content
    return {
        "answer_id": one.id,
        "role": one.role,
        "item": one.group,
        "page": one.number,
        **{name: content.get(name, "") for name in ("image_id", "a", "b", "c", "b_system", "c_system", "category")},
        "sets": json.dumps(content["sets"], ensure_ascii=False) if "sets" in content else "",
        "person": one.person,
        "worker": one.worker,
        "platform_study": one.platform_study,
        "platform_session": one.platform_session,
        "answer": one.answer if isinstance(one.answer, str) else json.dumps(one.answer),
        "shown_order": _order(one),
        "correct": _flag(one.correct),
        "counts": _flag(one.counts),
        "state": one.state,
        "reason": one.reason,
        "given": one.given.isoformat(),
        "answered": one.answered.isoformat(),
        "active_seconds": "" if one.active_seconds is None else one.active_seconds,
        "elapsed_seconds": "" if one.elapsed is None else round(one.elapsed, 3),
        "too_fast": _flag(one.too_fast),
        "repeated": _flag(one.repeated),
    }


def _flag(value: bool | None) -> str:
    """True, false, or nothing if it is not known."""
    return "" if value is None else str(value).lower()


def _order(one: Answer) -> str:
    """The options as they stood: `c b`, or the systems of the sets."""
    names = [each["system"] for each in one.content["sets"]] if "sets" in one.content else ["b", "c"]
    return " ".join(names[option] for option in one.order)


def no_formula(value: Any) -> Any:
    """The value of a cell, which no table program runs as a formula."""
    return "'" + value if isinstance(value, str) and value.startswith(_FORMULA) else value
