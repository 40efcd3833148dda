"""What a judge answered: a score, an expected score, a verdict; None where it cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sacrecap.resources.endpoint import Answer

    Step = tuple[str, tuple[tuple[str, float], ...]]

_THOUGHT = re.compile(r"\A.*?</think>", re.DOTALL)
_CUT = re.compile(r'\{\s*"(score|better)"\s*:\s*("?[\w.]+"?)\s*,')
"""The beginning of an object whose end was cut off: what comes before the comma is whole."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w%]|\.\d)")
_BEFORE_THE_END = re.compile(r"[01]?(?:\.\d*)?")
_HIGH = 0.95
"""What 0 before the point counts where the answer was 1: the middle of 0.90 to 1.00, the nearest answers."""


def rating(answer: Answer) -> float | None:
    """The score of a JSON object, 0 to 100, as a number from 0 to 1."""
    score = _only(answer, "score")
    if isinstance(score, str):
        score = float(score) if re.fullmatch(r"\d+(\.\d+)?", score) else None
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= 100:
        return None
    return score / 100


def verdict(answer: Answer) -> int | None:
    """Which description is better, 1 or 2; 0 for neither."""
    return {"1": 1, "2": 2, "tie": 0}.get(str(_only(answer, "better")).strip().lower())


def _only(answer: Answer, name: str) -> Any:
    """The value of that name in the answer's JSON objects; None if there is none, or several that differ.

    A model may quote a caption that holds such an object before it gives its own: which is which, nobody can tell.
    """
    values = list(_values(_THOUGHT.sub("", answer.text), name))
    return values[0] if values and all(value == values[0] for value in values) else None


def _values(text: str, name: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    place = text.find("{")
    while place >= 0:
        try:
            found, end = decoder.raw_decode(text, place)
        except ValueError:
            cut = _CUT.match(text, place)
            if cut is not None and cut[1] == name:
                yield cut[2].strip('"')
            end = place + 1
        else:
            if isinstance(found, dict) and name in found:
                yield found[name]
        place = text.find("{", end)


def number(answer: Answer) -> float | None:
    """The one number of the answer, from 0 to 1: the expected one, if the endpoint told the probabilities of tokens."""
    text = _THOUGHT.sub("", answer.text)
    found = list(_NUMBER.finditer(text))
    if len(found) != 1 or not 0 <= float(found[0][0]) <= 1 or answer.end == "length":
        return None
    expected = _expected(answer.steps, found[0][0])
    return float(found[0][0]) if expected is None else expected


def _expected(steps: Sequence[Step], said: str) -> float | None:
    """The mean of the numbers that could have stood there, weighted by the probabilities of their tokens.

    From the last token of the number to the first: an alternative of as many digits goes on as the number did, on
    average; another one is a number of its own.
    """
    start = "".join(token for token, _ in steps).rfind(said)
    place, rest, whole = 0, 0.0, None
    spans = []
    for token, others in steps:
        if place < start + len(said) and place + len(token) > start >= 0:
            spans.append((said[: max(place - start, 0)], said[: place + len(token) - start], others))
        place += len(token)
    for before, own, others in reversed(spans):
        values = [
            (p, _value(before + other.strip(), own, rest)) for other, p in others if _is_number(before + other.strip())
        ]
        total = sum(p for p, _ in values)
        if not total:
            return None
        whole = sum(p * value for p, value in values) / total
        rest = whole - _as_float(before)
    return None if whole is None else min(whole, 1.0)


def _is_number(text: str) -> bool:
    return bool(text) and _BEFORE_THE_END.fullmatch(text) is not None


def _value(text: str, own: str, rest: float) -> float:
    """The number that begins with the text, where the answer's own begins with `own`, and `rest` follows on average."""
    if text.startswith("1"):
        return 1.0
    if own.startswith("1"):
        return _HIGH
    return _as_float(text) + (rest if _digits(text) == _digits(own) else 0.0)


def _digits(text: str) -> int:
    return len(text.partition(".")[2])


def _as_float(text: str) -> float:
    return float(text) if text.strip(".") else 0.0
