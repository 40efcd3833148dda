"""What a policy says, out of what it writes: without its thinking, the marks of chat templates, and openings.

CaptionReward(references, text="answer")                    # <think>a beach …</think><answer>a dog runs</answer>
CaptionReward(references, text="json:caption")              # {"caption": "a dog runs"}
CaptionReward(references, text=str.lower)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias

from sacrecap.errors import UsageError, accepted_name
from sacrecap.resources.model_text import after_thoughts, boxed, tagged, values

Text: TypeAlias = "str | Callable[[str], str] | Iterable[str | Callable[[str], str]]"
"""A way to find the caption in a completion: a name of `WAYS`, a function, or several, one after the other."""

_MARKS = re.compile(r"<\|[^|<>]*\|>|</?s>|<(?:eos|bos|pad|end_of_turn|start_of_turn|end_of_utterance)>|\[/?INST\]")
_OPENING = re.compile(
    r"\s*(?:assistant\b\s*:?\s*)?"
    r"(?:(?:sure|certainly|of course|okay|ok|absolutely)\b[^:.!\n]{0,40}[.!,]\s*)?"
    r"(?:[^:.!?\n]{0,60}\b(?:caption|description|answer|sentence)\b[^:.!?\n]{0,60}:\s*)?",
    re.IGNORECASE,
)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"))


def of_tag(written: str, name: str) -> str:
    """The text of the last element of that name behind all thoughts, also of one that was cut; nothing without one."""
    return tagged(after_thoughts(written), name) or ""


def of_box(written: str) -> str:
    r"""What stands in the last `\boxed{…}` behind all thoughts; nothing without one."""
    return boxed(after_thoughts(written)) or ""


def of_json(written: str, name: str) -> str:
    """The text of that name in JSON, also in JSON that is nearly right; nothing without one, or with several."""
    contents = values(after_thoughts(written), name.lower())
    return (
        contents[0].strip()
        if contents and isinstance(contents[0], str) and contents.count(contents[0]) == len(contents)
        else ""
    )


def caption(written: str) -> str:
    r"""Behind all thoughts, and out of `<caption>`, `\boxed{}` or the JSON of a caption, if it is in one of these;
    without marks of chat templates, marks of Markdown, an opening such as `Sure! Here is a caption:`, and quotes.
    """
    written = after_thoughts(written)
    for packed in (tagged(written, "caption"), boxed(written), of_json(written, "caption")):
        written = packed or written
    plain = re.sub(r"\*\*|__|`|^#+ ", "", _MARKS.sub(" ", written), flags=re.MULTILINE)
    opening = _OPENING.match(plain)
    spoken = plain[opening.end() :].strip() if opening else plain.strip()
    for first, last in _QUOTES:
        if (
            len(spoken) > 1
            and spoken[0] == first
            and spoken[-1] == last
            and spoken.count(first) + spoken.count(last) in (2, 4)
        ):
            return spoken[1:-1].strip()
    return spoken


WAYS: dict[str, Callable[[str], str]] = {
    "answer": partial(of_tag, name="answer"),
    "after-thinking": after_thoughts,
    "caption": caption,
    "boxed": of_box,
}
"""Ready-made ways by name."""
_NAMED: dict[str, Callable[..., str]] = {"tag": of_tag, "json": of_json}
"""Those that take a name, as in `tag:caption` and `json:caption`."""


def ways_of(text: Text | None) -> tuple[Callable[[str], str], ...]:
    """The functions that a completion goes through. Raises `UsageError` for an unknown name, or what is neither."""
    if text is None:
        return ()
    readers: list[Callable[[str], str]] = []
    for way in [text] if isinstance(text, str) or callable(text) else text:
        if isinstance(way, str):
            kind, _, name = way.partition(":")
            if kind in _NAMED and name:
                readers.append(partial(_NAMED[kind], name=name))
                continue
            accepted_name("text", way, [*WAYS, *(f"{kind}:NAME" for kind in _NAMED)])
            readers.append(WAYS[way])
        elif callable(way):
            readers.append(way)
        else:
            raise UsageError(
                f"text takes {', '.join(WAYS)}, tag:NAME, json:NAME, or a function from text to text, got {way!r}"
            )
    return tuple(readers)
