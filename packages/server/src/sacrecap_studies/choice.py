"""Forced choices: triplets (CIDEr: Vedantam et al., 2015, section 3) and pairs under an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sacrecap_studies.fields import Fields
from sacrecap_studies.kinds import AnswerError, Content, StudyKind

CHOICES = ("b", "c")


class _Choice(StudyKind):
    """B or C, shown in an order of chance."""

    template = "choice"

    def options(self, _: Content) -> int:
        return len(CHOICES)

    def read(self, _: Content, form: Mapping[str, str], order: Sequence[int]) -> str:
        place = form.get("choice", "")
        if place not in ("1", "2"):
            raise AnswerError("Choose one of the two sentences.")
        return CHOICES[order[int(place) - 1]]

    def is_correct(self, expected: Any, answer: Any) -> bool:
        return bool(expected == answer)

    def right_option(self, expected: Any) -> int:
        return CHOICES.index(expected)

    def explain(self, content: Content, expected: Any) -> list[str]:
        return [content[expected]]


class TripletStudy(_Choice):
    """Which of B and C is more similar to A? No image is shown, and similarity is not defined.

    Every reference of an image's pair becomes one triplet.
    """

    name = "triplet"
    title = "Compare sentences"
    question = "Which of the two sentences is more similar to the first one?"
    instructions = (
        "You will see one sentence, and two more below it. Choose the one of the two that is more similar to the "
        "first. There is no right or wrong: go by your own impression."
    )
    judgments = 3
    seconds = 1.5
    has_several_pages = True
    shows_image = False

    def contents(self, item: Fields) -> list[Content]:
        pair = _pair(item)
        return [{"a": reference, **pair} for reference in item.texts("references")]

    def check(self, item: Fields) -> tuple[Content, Any]:
        content = {"a": item.text("a"), "b": item.text("b"), "c": item.text("c")}
        return content, item.one_of("answer", CHOICES)


class PairwiseStudy(_Choice):
    """Which of B and C describes the image better, asked under the image."""

    name = "pairwise"
    title = "Compare descriptions of images"
    question = "Which sentence describes the image better?"
    instructions = (
        "You will see an image and two sentences. Look at the image, read both, and choose the sentence that "
        "describes it better."
    )
    judgments = 11
    seconds = 1.5
    shows_image = True

    def contents(self, item: Fields) -> list[Content]:
        return [{**_pair(item), "references": item.texts("references")}]

    def check(self, item: Fields) -> tuple[Content, Any]:
        content = {"image_id": item.name("image_id"), "b": item.text("b"), "c": item.text("c")}
        return content, item.one_of("answer", CHOICES)


def _pair(item: Fields) -> Content:
    """The fields of the format `pairs` but for the winner."""
    content: Content = {"image_id": item.name("image_id"), "b": item.text("b"), "c": item.text("c")}
    content |= {name: item.text(name) for name in ("b_system", "c_system", "category") if item.has(name)}
    for name in ("b_system", "c_system", "category"):
        item.take(name)
    return content
