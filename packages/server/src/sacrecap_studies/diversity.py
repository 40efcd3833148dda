"""Ratings of caption sets (Wang and Chan, 2019): all sets of an image on one page, each from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from sacrecap.data.fields import Invalid, shown
from sacrecap_studies.fields import Fields
from sacrecap_studies.kinds import AnswerError, Content, StudyKind

STEPS = 10
"""The scale has this many steps from 0 to 1."""


class DiversityStudy(StudyKind):
    """People rate how different the captions of a set are from each other."""

    name = "diversity"
    title = "Rate the diversity of descriptions"
    question = "How diverse are the descriptions in each set?"
    instructions = (
        "You will see an image and several sets of sentences that describe it. Read all sets first. Then rate how "
        "diverse each set is: 0 where its sentences all say the same, 1 where they differ as much as descriptions of "
        "this image can."
    )
    judgments = 3
    seconds = 4.0
    template = "diversity"
    shows_image = True

    def contents(self, item: Fields) -> list[Content]:
        content = self._shown(item)
        content["references"] = item.texts("references", optional=True)
        return [content]

    def check(self, item: Fields) -> tuple[Content, Any]:
        content = self._shown(item)
        systems = [one["system"] for one in content["sets"]]
        answer: dict[str, list[float]] = item.read("answer", _ranges, {})
        for system in answer:
            if system not in systems:
                item.wrong("answer", f"no set is of the system {shown(system)}; there are {', '.join(systems)}")
        return content, [answer.get(system, [0, 1]) for system in systems]

    def options(self, content: Content) -> int:
        return len(content["sets"])

    def read(self, content: Content, form: Mapping[str, str], order: Sequence[int]) -> list[float]:
        scores = [0.0] * len(content["sets"])
        for place, number in enumerate(order, 1):
            step = form.get(f"score-{place}", "")
            if not step.isascii() or not step.isdecimal() or len(step) > 3 or int(step) > STEPS:
                raise AnswerError("Rate every set.")
            scores[number] = int(step) / STEPS
        return scores

    def is_correct(self, expected: Any, answer: Any) -> bool:
        return all(low <= score <= high for score, (low, high) in zip(answer, expected, strict=True))

    def luck(self, expected: Any) -> float:
        steps = [step / STEPS for step in range(STEPS + 1)]
        return float(prod(sum(low <= step <= high for step in steps) / len(steps) for low, high in expected))

    def explain(self, content: Content, expected: Any) -> list[str]:
        """The sets whose rating is known, and from where to where it may be."""
        return [
            f"{' / '.join(one['captions'])}: {low:g} – {high:g}"
            for one, (low, high) in zip(content["sets"], expected, strict=True)
            if (low, high) != (0, 1)
        ]

    def _shown(self, item: Fields) -> Content:
        sets = item.each("sets", _read_set, least=2)
        names = [one["system"] for one in sets]
        if len(set(names)) < len(names):
            item.wrong("sets", "two sets are of one system; give each a name of its own")
        return {"image_id": item.name("image_id"), "sets": sets}


def _read_set(fields: Fields, _: int) -> Content:
    return {"system": fields.text("system"), "captions": fields.texts("captions", least=2)}


def _ranges(value: object) -> dict[str, list[float]]:
    if not isinstance(value, dict) or not value or not all(map(_is_range, value.values())):
        raise Invalid.of(value, "{system: [least, most]} with numbers from 0 to 1")
    return value


def _is_range(value: Any) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2
    return is_pair and all(isinstance(v, (int, float)) and not isinstance(v, bool) and 0 <= v <= 1 for v in value)
