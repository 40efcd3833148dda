"""A study's answers as files: judgments that `capeval agreement` reads, references that `capeval score` reads, CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from capeval_studies.answers import Answer, by_group, by_page
from capeval_studies.kinds import Content, StudyKind

_COLUMNS = (
    "answer_id", "role", "item", "page", "image_id", "a", "b", "c", "b_system", "c_system", "category", "sets",
    "person", "worker", "answer", "shown_order", "correct", "counts", "given", "answered", "active_seconds",
    "elapsed_seconds", "too_fast", "repeated",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def export_name(kind: StudyKind) -> str:
    """The name of the exported file."""
    return {"triplet": "pairs.jsonl", "pairwise": "pairs.jsonl", "diversity": "ratings.jsonl"}.get(
        kind.name, "references.json"
    )


def export(kind: StudyKind, answers: Sequence[Answer]) -> str:
    """The judgments: pairs or ratings in JSON lines; collected sentences as references."""
    if kind.name == "collection":
        return json.dumps(list(_sentences(answers)), ensure_ascii=False, indent=0) + "\n"
    lines = {"triplet": _triplets, "pairwise": _pairs, "diversity": _sets}[kind.name](answers)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _triplets(answers: Sequence[Answer]) -> Iterator[Content]:
    """A line per pair. The people of one reference have one vote, that of their majority; those undecided have none."""
    for pages in by_group(answers):
        counts = [_count(page) for page in pages]
        votes = [1 if b > c else -1 for b, c in counts if b != c]
        pair = {name: value for name, value in pages[0][0].content.items() if name != "a"}
        references = [page[0].content["a"] for page in pages]
        yield from _pair(pair, references, votes, counts)


def _pairs(answers: Sequence[Answer]) -> Iterator[Content]:
    """A line per pair; every person has one vote."""
    for page in by_page(answers):
        pair = {name: value for name, value in page[0].content.items() if name != "references"}
        votes = [1 if one.answer == "b" else -1 for one in page]
        yield from _pair(pair, page[0].content["references"], votes, [_count(page)])


def _pair(pair: Content, references: list[str], votes: list[int], counts: list[tuple[int, int]]) -> Iterator[Content]:
    total = sum(votes)
    winner = "b" if total > 0 else "c" if total < 0 else "tie"
    line: dict[str, Any] = {**pair, "references": references, "winner": winner}
    if votes:
        line["votes"] = votes
    yield {**line, "people": counts}


def _count(page: list[Answer]) -> tuple[int, int]:
    """People for B and for C."""
    b = sum(one.answer == "b" for one in page)
    return b, len(page) - b


def _sets(answers: Sequence[Answer]) -> Iterator[Content]:
    """A line per caption set; `caption` has the set's captions below each other, for the format's sake."""
    for page in by_page(answers):
        content = page[0].content
        for number, one_set in enumerate(content["sets"]):
            yield {
                "image_id": content["image_id"], "system": one_set["system"], "captions": one_set["captions"],
                "caption": "\n".join(one_set["captions"]), "references": content["references"] or one_set["captions"],
                "rating": [one.answer[number] for one in page],
            }  # fmt: skip


def _sentences(answers: Sequence[Answer]) -> Iterator[Content]:
    for page in by_page(answers):
        yield from ({"image_id": one.content["image_id"], "caption": one.answer} for one in page)


def answers_csv(answers: Iterable[Answer]) -> str:
    """Every answer, whether it counts or not.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow(_COLUMNS)
    for one in answers:
        content = one.content
        row = {
            "answer_id": one.id, "role": one.role, "item": one.group, "page": one.number,
            **{name: content.get(name, "") for name in ("image_id", "a", "b", "c", "b_system", "c_system", "category")},
            "sets": json.dumps(content["sets"], ensure_ascii=False) if "sets" in content else "",
            "person": one.person, "worker": one.worker,
            "answer": one.answer if isinstance(one.answer, str) else json.dumps(one.answer),
            "shown_order": _order(one), "correct": _flag(one.correct),
            "counts": _flag(one.counts), "given": one.given.isoformat(), "answered": one.answered.isoformat(),
            "active_seconds": "" if one.active_seconds is None else one.active_seconds,
            "elapsed_seconds": "" if one.elapsed is None else round(one.elapsed, 3),
            "too_fast": _flag(one.too_fast), "repeated": _flag(one.repeated),
        }  # fmt: skip
        table.writerow([_no_formula(row[name]) for name in _COLUMNS])
    return file.getvalue()


def _flag(value: bool | None) -> str:
    """True, false, or nothing where it is not known."""
    return "" if value is None else str(value).lower()


def _order(one: Answer) -> str:
    """The options as they stood: `c b`, or the systems of the sets."""
    names = [each["system"] for each in one.content["sets"]] if "sets" in one.content else ["b", "c"]
    return " ".join(names[option] for option in one.order)


def _no_formula(value: Any) -> Any:
    return "'" + value if isinstance(value, str) and value.startswith(_FORMULA) else value
