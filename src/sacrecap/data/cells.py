"""What stands in a cell: a text, a list of texts, a list that was written as text, or what is deeper in a document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sacrecap._core import Captions
from sacrecap.errors import DataError, option

LISTS = ("['", '["', '[{"')
"""How a list begins that was written as text."""
_KEYS = ("caption", "text", "raw")
"""What the captions are called in a list of objects."""
_DEPTH = 8
"""Objects in objects in which names are looked for."""
_ROWS = 20
"""Objects of a list whose names are looked at."""


def listed(cell: Any, where: str) -> Any:
    """The captions of a cell that holds a list, or one as text; any other cell unchanged.

    Raises `DataError` for a list as text that ends early.
    """
    if isinstance(cell, list):
        return [_of_object(one) for one in cell] if any(isinstance(one, Mapping) for one in cell) else cell
    if not isinstance(cell, str) or not cell.lstrip().startswith((*LISTS, "[]")):
        return cell
    found = _parsed(cell.strip())
    if found is not None:
        return listed(found, where)
    if "]" in cell:
        return cell  # a caption that begins with a bracket
    raise DataError(f"{where} has a text that begins like a list of captions, but ends early: {cell[:40]!r}")


def _parsed(text: str) -> list[Any] | None:
    """A list in the syntax of JSON, Python or NumPy, of which the last has no commas; None for any other text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        import ast
        import io
        import tokenize

        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
        if isinstance(found, list) and all(isinstance(one, str) for one in found):
            # Python joins the texts between which NumPy writes no comma.
            tokens = tokenize.generate_tokens(io.StringIO(text).readline)
            found = [ast.literal_eval(one.string) for one in tokens if one.type == tokenize.STRING]
    return found if isinstance(found, list) else None


def _of_object(value: Any) -> Any:
    """The caption in an object of a list."""
    if not isinstance(value, Mapping):
        return value
    return next((value[key] for key in _KEYS if key in value), value)


def with_lists(captions: Captions) -> Captions:
    """The captions, with those of lists as text in place of these."""
    if not captions.have_bracket():
        return captions
    found: dict[str, list[Any]] = {}
    changed = False
    for image, texts in captions.to_dict().items():
        cells = [listed(text, f"image {image}") for text in texts]
        changed |= cells != texts
        found[image] = [*flat(cells)]
    return Captions.from_dict(found) if changed else captions


def flat(cells: Sequence[Any]) -> Iterator[Any]:
    """The cells, and what is in lists among them."""
    for cell in cells:
        if isinstance(cell, list):
            yield from cell
        else:
            yield cell


def single(value: Any) -> Any:
    """The value, or the only one of a list."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def paths(value: Mapping[str, Any], outer: str = "", depth: int = _DEPTH) -> Iterator[str]:
    """The names of all values in an object: `doc.id` in an object, `sentences[*].raw` in those of a list."""
    for key, inner in value.items():
        name = f"{outer}{key}"
        if isinstance(inner, Mapping) and inner and depth:
            yield from paths(inner, f"{name}.", depth - 1)
        elif isinstance(inner, list) and inner and isinstance(inner[0], Mapping) and depth:
            every = (
                path
                for one in inner[:_ROWS]
                if isinstance(one, Mapping)
                for path in paths(one, f"{name}[*].", depth - 1)
            )
            yield from dict.fromkeys(every)
        else:
            yield name


def at(value: Any, path: str) -> Any:
    """The value at a path: `doc.id`, `messages.1.content` or `messages[1].content`, `sentences[*].raw` for all of a
    list, `turns[from=gpt|bot].value` for the one that says one of these, `choices[].text` for the only one.

    None where there is nothing. Raises `DataError` where not exactly one of a list is meant.
    """
    if isinstance(value, Mapping) and path in value:
        return value[path]
    if not path or value is None:
        return value
    step, rest = _step(path)
    if isinstance(value, Mapping):
        return at(value.get(step), rest)
    if isinstance(value, str) and path.startswith("[type="):
        return value
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    inside = step.strip("[]")
    if inside == "*":
        return [*flat([at(one, rest) for one in value])]
    if inside.isdecimal():
        return at(value[int(inside)], rest) if int(inside) < len(value) else None
    key, _, wanted = inside.partition("=")
    named = wanted.split("|")
    meant = [one for one in value if not inside or (isinstance(one, Mapping) and one.get(key) in named)]
    if len(meant) != 1:
        raise DataError(
            f"has {len(meant)} parts{f' with {inside}' if inside else ''}, where one is read; name one by its place, "
            f"from 0 on, by {option('caption_column', of='the readers in sacrecap.data')}"
        )
    return at(meant[0], rest)


def is_deep(path: str) -> bool:
    """Whether a path leads into a list."""
    return "[" in path or re.search(r"\.[0-9]+(\.|$)", path) is not None


def _step(path: str) -> tuple[str, str]:
    """The first key or bracket of a path, and the rest."""
    found = re.match(r"(\[[^\]]*\]|[^.\[]+)\.?", path)
    return (found[1], path[found.end() :]) if found else (path, "")
