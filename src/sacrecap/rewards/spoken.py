"""What a policy says, out of what it writes: without its thinking, the marks of chat templates, and openings.

CaptionReward(references, text="answer")                    # <think>a beach …</think><answer>a dog runs</answer>
CaptionReward(references, text=["after-thinking", "caption"])
CaptionReward(references, text=str.lower)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

from sacrecap.errors import UsageError, accepted_name

Text: TypeAlias = "str | Callable[[str], str] | Iterable[str | Callable[[str], str]]"
"""A way to find the caption in a completion: a name of `WAYS`, a function, or several, one after the other."""

_ANSWER = re.compile(r"<answer>(.*?)(?:</answer>|<answer>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"</?(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_MARKS = re.compile(r"<\|[^|<>]*\|>|</?s>|<(?:eos|bos|pad|end_of_turn|start_of_turn|end_of_utterance)>|\[/?INST\]")
_OPENING = re.compile(
    r"\s*(?:assistant\b\s*:?\s*)?"
    r"(?:(?:sure|certainly|of course|okay|ok|absolutely)\b[^:.!\n]{0,40}[.!,]\s*)?"
    r"(?:[^:.!?\n]{0,60}\b(?:caption|description|answer|sentence)\b[^:.!?\n]{0,60}:\s*)?",
    re.IGNORECASE,
)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"))


def answer(written: str) -> str:
    """The text of the last `<answer>`, also of one that was cut; nothing without one."""
    found = _ANSWER.findall(written)
    return found[-1].strip() if found else ""


def after_thinking(written: str) -> str:
    """What follows the last `</think>`; nothing while it still thinks; all of it where there are no such tags."""
    tags = list(_THOUGHT.finditer(written))
    if not tags:
        return written
    return written[tags[-1].end() :].strip() if tags[-1][0].startswith("</") else ""


def caption(written: str) -> str:
    """Without marks of chat templates, marks of Markdown, an opening such as `Sure! Here is a caption:`, and quotes."""
    plain = re.sub(r"\*\*|__|`|^#+ ", "", _MARKS.sub(" ", written), flags=re.MULTILINE)
    opening = _OPENING.match(plain)
    said = plain[opening.end() :].strip() if opening else plain.strip()
    for first, last in _QUOTES:
        if len(said) > 1 and said[0] == first and said[-1] == last and said.count(first) + said.count(last) in (2, 4):
            return said[1:-1].strip()
    return said


WAYS: dict[str, Callable[[str], str]] = {"answer": answer, "after-thinking": after_thinking, "caption": caption}
"""Ready-made ways by name."""


def ways_of(text: Text | None) -> tuple[Callable[[str], str], ...]:
    """The functions that a completion goes through. Raises `UsageError` for an unknown name, or what is neither."""
    if text is None:
        return ()
    found = []
    for way in [text] if isinstance(text, str) or callable(text) else text:
        if isinstance(way, str):
            accepted_name("text", way, list(WAYS))
            found.append(WAYS[way])
        elif callable(way):
            found.append(way)
        else:
            raise UsageError(f"text takes {', '.join(WAYS)}, or a function from text to text, got {way!r}")
    return tuple(found)
