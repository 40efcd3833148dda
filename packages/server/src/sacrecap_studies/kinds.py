"""The common base of the kinds of study."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sacrecap_studies.fields import Fields

Content = dict[str, Any]
"""The content of one page of the study, as JSON."""


class AnswerError(ValueError):
    """An answer that cannot be accepted; the text tells the annotator what is missing.

    `message` may have places for values, as in `%(least)d words`: it can be translated before they are filled in.
    """

    def __init__(self, message: str, **values: object) -> None:
        super().__init__(message % values if values else message)
        self.message = message
        self.values = values


class StudyKind(ABC):
    """One protocol: what is asked, of how many people, and what an answer is."""

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    instructions: ClassVar[str]
    judgments: ClassVar[int]
    """People who judge one item, if the file does not say."""
    seconds: ClassVar[float]
    """Least seconds that reading and answering a page takes, where the file does not say."""
    has_several_pages: ClassVar[bool] = False
    """Whether one item of the file can become several pages."""
    shows_image: ClassVar[bool]
    template: ClassVar[str]
    """The page of `sacrecap_server` that asks: `annotate-….html`."""

    @abstractmethod
    def contents(self, item: Fields) -> list[Content]:
        """The pages that one item of the file becomes."""

    @abstractmethod
    def check(self, item: Fields) -> tuple[Content, Any]:
        """The page of a question with a known answer, and that answer."""

    def options(self, _: Content) -> int:
        """How many things the page shows in random order."""
        return 0

    @abstractmethod
    def read(self, content: Content, form: Mapping[str, str], order: Sequence[int]) -> Any:
        """The answer of a form, as JSON.

        The form knows options only by where they stood, 1 for the first; `order` has the option of each place, so that
        the page does not show which is which. Raises `AnswerError`.
        """

    @abstractmethod
    def is_correct(self, expected: Any, answer: Any) -> bool:
        """Whether an answer to a check is the known one."""

    @abstractmethod
    def explain(self, content: Content, expected: Any) -> list[str]:
        """The known answer of a practice question, as lines to show to the person."""

    def luck(self, expected: Any) -> float:  # noqa: ARG002
        """The probability that an answer at random is the known one; by default, of two options."""
        return 0.5

    def right_option(self, _: Any) -> int | None:
        """The option that is right where `expected` is one option, so that its place can be balanced."""
        return None

    def fingerprint(self, _: Any) -> str | None:
        """What answers share that say the same in writing; None if the same answer may come again."""
        return None


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
