"""What a model says, out of what it writes: behind its thoughts, in tags, in a box, in JSON that is nearly right.

Judges and rewards read with this. Nothing is guessed: what a model writes while it thinks is no answer, above all where
the thought was cut before its end, and of several values that differ none is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_WORDS = r"(?:seed:|ant:?)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratchpad)"
_MARK = re.compile(
    r"(?P<close>"
    rf"[<\[◁]\|?(?:/|end_(?:of_)?){_WORDS}\|?[>\]▷]"
    r"|<\|?channel\|?>\s*final(?:\s*<\|message\|>)?|<channel\|>|<unused95>|\bassistantfinal|^here is my response:"
    r")|(?P<open>"
    rf"[<\[◁]\|?(?:(?:begin|start)_(?:of_)?)?{_WORDS}(?:\s[^<>]*)?\|?[>\]▷]"
    r"|<\|?channel\|?>\s*(?:analysis|thought|commentary)(?:\s*<\|message\|>)?|<unused94>(?:thought)?"
    r"|\Aanalysis(?=[A-Z])|^here is my thought process:"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
"""The marks of thoughts: `<think>`, `[THINK]`, `◁think▷`, those of gpt-oss, Gemma, Granite, Command and others."""


def text_of(content: object) -> str | None:
    """The text of a message: itself, or its parts that are text; None where there is none. Thoughts are no text."""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, Mapping) else content if isinstance(content, list) else []
    texts = [
        part if isinstance(part, str) else part.get("text")
        for part in parts
        if isinstance(part, str) or (isinstance(part, Mapping) and part.get("type", "text") in ("text", "output_text"))
    ]
    return "".join(text for text in texts if isinstance(text, str)) if texts else None


def after_thoughts(written: str) -> str:
    """What follows the last thought; nothing where one has no end; all of it where there is none.

    Examples:
        >>> after_thoughts('[THINK]a draft: {"score": 20}[/THINK]{"score": 85}')
        '{"score": 85}'
        >>> after_thoughts("<think>a dog runs")
        ''
    """
    marks = list(_MARK.finditer(written))
    if not marks:
        return written
    return written[marks[-1].end() :].strip() if marks[-1]["close"] is not None else ""


def tagged(written: str, name: str) -> str | None:
    """The text of the last element of that name, also of one that was cut; None without one."""
    tag = re.escape(name)
    elements = re.findall(rf"<{tag}>(.*?)(?:</{tag}>|(?=<{tag}>)|\Z)", written, re.DOTALL | re.IGNORECASE)
    return elements[-1].strip() if elements else None


def boxed(written: str) -> str | None:
    r"""What stands in the last `\boxed{…}`, without `\text{…}`; None without one, or without its end."""
    start = written.rfind("\\boxed{")
    if start < 0:
        return None
    depth, first = 0, start + len("\\boxed{")
    for place in range(first - 1, len(written)):
        depth += {"{": 1, "}": -1}.get(written[place], 0)
        if depth == 0:
            inner = written[first:place].strip()
            text = re.fullmatch(r"\\text(?:bf|it|rm)?\{(.*)\}", inner, re.DOTALL)
            return (text[1] if text else inner).strip()
    return None


_QUOTED = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
_LIST = rf"\[(?:\s*(?:{_QUOTED})\s*,)*\s*(?:{_QUOTED})?\s*\]"
_VALUE = rf"{_QUOTED}|{_LIST}|-?\d+(?:\.\d+)?(?:\s*(?:/\s*100\b|%))?|[A-Za-z]+"
_ENDS = r"\s*(?:\}|\n|\Z(?<=[\"'\]])|,\s*(?:[\"']?[A-Za-z_][\w ]*[\"']?\s*:|\}|[\"']?(?:[A-Za-z_]\w*)?\Z))"
"""What follows a value that is whole. The form in a prompt, `"better": 1, 2 or "tie"`, has no such end."""


def values(written: str, name: str) -> list[Any]:
    """The values of that name in the JSON objects of a text, also in objects inside, in lists, and in broken ones.

    A broken object (single quotes, a comma too many, no end) is read for the name alone: then values are text, or lists
    of texts.

    Examples:
        >>> values('Sure: {"result": {"score": 85}} and {"score": 10, "reason": "the', "score")
        [85, '10']
    """
    decoder = json.JSONDecoder(strict=False)
    broken = re.compile(rf"(?<!\\)([\"']?)\b{re.escape(name)}\1\s*:\s*({_VALUE})(?={_ENDS})", re.IGNORECASE)
    read: list[Any] = []
    place = written.find("{")
    while place >= 0:
        try:
            document, end = decoder.raw_decode(written, place)
        except (ValueError, RecursionError):
            end = place + 1
            following = written.find("{", end)
            text = written[place : following if following >= 0 else None]
            read += [_unquoted(value[2]) for value in broken.finditer(text)]
        else:
            read += _inside(document, name)
        place = written.find("{", end)
    return read


def _inside(document: object, name: str) -> Iterator[Any]:
    """The values of that name in an object, and in what it holds."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key.strip().lower() == name:
                yield value
            else:
                yield from _inside(value, name)
    elif isinstance(document, list):
        for value in document:
            yield from _inside(value, name)


def _unquoted(value: str) -> str | list[str]:
    if value.startswith("["):
        return [each[0][1:-1] for each in re.finditer(_QUOTED, value)]
    return value[1:-1] if value[0] in "\"'" else value
