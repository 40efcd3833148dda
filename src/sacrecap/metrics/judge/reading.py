"""What a judge answered: a score, an expected score, a verdict; None where it cannot be read.

Of an answer that was cut at its most tokens only an object at its beginning counts: any other may be a draft. Where the
judge repeats what it was asked, the repetition says nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from sacrecap.resources.model_text import after_thoughts, values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sacrecap.resources.replies import Answer

    Step = tuple[str, tuple[tuple[str, float], ...]]

T = TypeVar("T")
RUBRIC = ("yes", "no", "not mentioned")
"""What is answered to an item."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w%]|\.\d)")
_SCORE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:/\s*100|%|out of 100)?\s*")
_VERDICTS = {"1": 1, "2": 2, "tie": 0, "description 1": 1, "description 2": 2}
_BEGINNING = re.compile(r"\s*(?:```\w*\s*)?\{")
_REPEATED = 60
"""The least length of a part of the prompt that is taken out of an answer that repeats it."""
_BEFORE_THE_END = re.compile(r"[01]?(?:\.\d*)?")
_HIGH = 0.95
"""What 0 before the point counts where the answer was 1: the middle of 0.90 to 1.00, the nearest answers."""


def rating(answer: Answer, question: str = "") -> float | None:
    """The score of a JSON object, 0 to 100, as a number from 0 to 1; `asked` is the text that was asked, in all."""
    return _only(answer, question, "score", _score)


def _score(value: object) -> float | None:
    if isinstance(value, str):
        written = _SCORE.fullmatch(value)
        value = float(written[1]) if written else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 100:
        return None
    return value / 100


def verdict(answer: Answer, question: str = "") -> int | None:
    """Which description is better, 1 or 2; 0 for neither."""
    return _only(answer, question, "better", lambda value: _VERDICTS.get(str(value).strip().lower()))


def checked(answer: Answer, items: int, question: str = "") -> list[str] | None:
    """The answer to each item of a rubric: `yes`, `no` or `not mentioned`."""

    def read(value: object) -> list[str] | None:
        item_answers = [str(item_answer).strip().lower() for item_answer in value] if isinstance(value, list) else []
        return item_answers if len(item_answers) == items and {*item_answers} <= {*RUBRIC} else None

    return _only(answer, question, "answers", read)


def _text_of(answer: Answer, question: str) -> str:
    """What the judge says itself, behind its thoughts."""
    text = answer.text
    for part in (question.strip(), question.strip().rpartition("\n\n")[2]):
        if len(part) >= _REPEATED:
            text = text.replace(part, " ")
    return after_thoughts(text)


def _only(answer: Answer, question: str, name: str, read: Callable[[object], T | None]) -> T | None:
    """The value of that name in the answer's JSON objects; None if there is none, or several that differ.

    A model may quote a caption that holds such an object before it gives its own: which is which, nobody can tell.
    """
    text = _text_of(answer, question)
    if answer.end == "length" and not _BEGINNING.match(text):
        return None
    contents = [read(value) for value in values(text, name)]
    return contents[0] if contents and all(value == contents[0] for value in contents) else None


def number(answer: Answer, question: str = "") -> float | None:
    """The one number of the answer, from 0 to 1: the expected one, if the endpoint told the probabilities of tokens."""
    text = _text_of(answer, question)
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1 or not 0 <= float(numbers[0][0]) <= 1 or answer.end == "length":
        return None
    expected = _expected(answer.steps, numbers[0][0])
    return float(numbers[0][0]) if expected is None else expected


def is_expected(answer: Answer) -> bool | None:
    """Whether the number is an expected one; None where there is no number."""
    plain = number(answer._replace(steps=()))
    return None if plain is None else _expected(answer.steps, _NUMBER.findall(_text_of(answer, ""))[0]) is not None


def _expected(steps: Sequence[Step], number: str) -> float | None:
    """The mean of the numbers that could have stood there, weighted by the probabilities of their tokens.

    From the last token of the number to the first: an alternative of as many digits goes on as the number did, on
    average; another one is a number of its own.
    """
    start = "".join(token for token, _ in steps).rfind(number)
    place, rest, whole = 0, 0.0, None
    spans = []
    for token, alternatives in steps:
        if place < start + len(number) and place + len(token) > start >= 0:
            spans.append((number[: max(place - start, 0)], number[: place + len(token) - start], alternatives))
        place += len(token)
    for before, written, alternatives in reversed(spans):
        texts = [(p, before + alternative.strip()) for alternative, p in alternatives]
        values = [(p, _value(text, written, rest)) for p, text in texts if text and _BEFORE_THE_END.fullmatch(text)]
        total = sum(p for p, _ in values)
        if not total:
            return None
        whole = sum(p * value for p, value in values) / total
        rest = whole - _as_float(before)
    return None if whole is None else min(whole, 1.0)


def _value(text: str, written: str, rest: float) -> float:
    """The number that begins with the text, where the answer's own begins with `own`, and `rest` follows on average."""
    if text.startswith("1"):
        return 1.0
    if written.startswith("1"):
        return _HIGH
    return _as_float(text) + (rest if _digits(text) == _digits(written) else 0.0)


def _digits(text: str) -> int:
    return len(text.partition(".")[2])


def _as_float(text: str) -> float:
    return float(text) if text.strip(".") else 0.0
