"""What stands in a cell: a text, a list of texts, a list that was written as text, what is deeper, or nothing.

Captions are missing by one rule for every shape, format and engine:

- Where a format has a null, only null is missing (NaN and pandas' NA, too, in Python). A text table has none: there, an
  empty cell is missing, and a word that programs write for one.
- A null is an empty caption, also in a list; an empty list is an image without captions. Only of several columns does
  each row fill as many as it has.
- An empty candidate counts as what it is. An empty reference says nothing of the image, and is left out with a warning.

The text that a program wrote of an object is read as what was written: `['a dog']`, `('a dog',)`, `b'a dog'`,
`array(['a dog'])`. `{"caption": …}` and `[a dog]`, which may be anything, are left to the findings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

from sacrecap._core import Captions
from sacrecap.errors import DataError, DataWarning, UsageError, cut_off, first_of, naming, option, some, spelled, warn

_KEYS = ("caption", "text", "raw")
"""What the captions are called in a list of objects."""
_ARRAY = re.compile(r"array\((?P<list>\[.*\])\s*(,\s*dtype=.*)?\)", re.DOTALL)
_BEGINS = re.compile(r"""\s*(\[\s*(['"\]\[{]|b['"])|\(\s*(['"()\[]|b['"])|\{\s*['"]|b['"]|array\()""")
_LIST = re.compile(r"""\s*\[\s*(['"]|\{")""")


def written(text: str) -> list[Any] | None:
    """The captions in the text of a list, tuple, set, array or bytes; None for any other text.

    Raises `DataError` for the text of a list that ends early.

    Examples:
        >>> from sacrecap.data.cells import written
        >>> written("('a dog', 'a cat')"), written("array(['a dog'], dtype='<U5')"), written("a dog (left)")
        (['a dog', 'a cat'], ['a dog'], None)
    """
    if not _BEGINS.match(text):
        return None
    array = _ARRAY.fullmatch(text.strip())
    inner = array["list"] if array else text.strip()
    try:
        return _listed(json.loads(inner))
    except (ValueError, RecursionError):
        pass
    import ast
    import io
    import tokenize

    captions = None
    try:
        tree = ast.parse(inner, mode="eval").body
        if isinstance(tree, ast.Set):  # a set has no order, its text has one
            return _listed([ast.literal_eval(element) for element in tree.elts])
        captions = _listed(ast.literal_eval(tree))
        if isinstance(tree, ast.List) and all(isinstance(getattr(item, "value", None), str) for item in tree.elts):
            # Python joins the texts between which NumPy writes no comma.
            tokens = tokenize.generate_tokens(io.StringIO(inner).readline)
            return [ast.literal_eval(token.string) for token in tokens if token.type == tokenize.STRING]
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        captions = None
    if captions is None and _LIST.match(text) and "]" not in text:
        raise DataError(f"a text that begins like a list of captions, but ends early: {text[:40]!r}")
    return captions


def _listed(value: Any) -> list[Any] | None:
    """The captions of a list, of a batch of one list, or of bytes; None for anything else."""
    if isinstance(value, bytes):
        return [value.decode()]
    if not isinstance(value, list | tuple):
        return None
    if len(value) == 1 and isinstance(value[0], list | tuple):
        return _listed(value[0])
    if any(isinstance(item, list | tuple) for item in value):
        return None
    return [caption_of(item) for item in value]


def caption_of(value: Any) -> Any:
    """The caption in an object of a list, or in bytes; anything else unchanged."""
    if isinstance(value, Mapping):
        return next((value[key] for key in _KEYS if key in value), value)
    return value.decode() if isinstance(value, bytes) else value


LISTS = ("['", '["', '[{"')
"""How a list begins that was written as text."""
SEPARATOR = "|||"
"""What programs write between several captions in one cell, and what nobody says."""
AS_ONE = "none"
"""In the place of a separator: each text is one caption, whatever it holds."""
WORDS = ("", "nan", "none", "null", "<na>")
"""Texts of a text table that stand for no caption, in small letters and without blanks around."""


def listed(cell: Any, where: str) -> Any:
    """The captions of a cell that holds a list, or an object as text; any other cell unchanged."""
    if isinstance(cell, list):
        return [caption_of(item) for item in cell] if any(isinstance(item, Mapping) for item in cell) else cell
    if not isinstance(cell, str):
        return cell
    with naming(f"{where} has "):
        captions = written(cell)
    return cell if captions is None else captions


def unwritten(captions: Captions, unfit: dict[str, str] | None = None) -> Captions:
    """The captions, with those in texts of objects in place of these; `unfit` takes what ends early, by its image."""
    images = captions.that_begin_written()
    if not images:
        return captions
    every: dict[str, list[Any]] = captions.to_dict()
    for image in dict.fromkeys(images):
        try:
            read = [(text, written(text)) for text in every[image]]
        except DataError as error:
            if unfit is None:
                raise DataError(f"image {image} has {error}") from None
            unfit[image] = f"has {error}"
            continue
        every[image] = [caption for text, texts in read for caption in ([text] if texts is None else texts)]
    return captions.with_texts(every)


def divided(captions: Captions, separator: str | None) -> Captions:
    """The captions, cut where the separator stands; without one, captions that hold `SEPARATOR` are an error."""
    if separator == "":
        raise UsageError(f"separator is empty; name the text between captions, or {AS_ONE}")
    sign = separator or SEPARATOR
    images = [] if separator == AS_ONE else captions.that_hold(sign)
    if not images:
        return captions
    if separator is None:
        text = next(text for text in captions.captions(images[0]) if SEPARATOR in text)
        there, as_one = (
            spelled(
                python=option("separator", value, of="the readers in sacrecap.data"),
                command=f"the format 'auto(separator={value})'",
            )
            for value in (SEPARATOR, AS_ONE)
        )
        raise DataError(
            f"{some(list(dict.fromkeys(images)))} with a caption that holds {SEPARATOR}, which mostly stands between "
            f"several ({cut_off(text)!r}); cut captions there by {there}, or take each as one by {as_one}"
        )
    every = captions.to_dict()
    for image in images:
        every[image] = [part for text in captions.captions(image) for part in parts(text, separator)]
    return captions.with_texts(every)


def parts(text: str, separator: str) -> list[str]:
    """The captions between which a separator stands; one that is empty counts only where all are."""
    if separator not in text:
        return [text]
    return [caption for part in text.split(separator) if (caption := part.strip())] or [""]


def flat(cells: Sequence[Any]) -> Iterator[Any]:
    """The cells, and what is in lists among them."""
    for cell in cells:
        if isinstance(cell, list):
            yield from cell
        else:
            yield cell


def paths(value: Mapping[str, Any], outer: str = "", depth: int = 8) -> Iterator[str]:
    """The names of all values in an object: `doc.id` in an object, `sentences[*].raw` in those of a list."""
    for key, inner in value.items():
        name = f"{outer}{key}"
        if isinstance(inner, Mapping) and inner and depth:
            yield from paths(inner, f"{name}.", depth - 1)
        elif isinstance(inner, list) and inner and isinstance(inner[0], Mapping) and depth:
            every = (
                path
                for item in inner[:20]
                if isinstance(item, Mapping)
                for path in paths(item, f"{name}[*].", depth - 1)
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
    match = re.match(r"(\[[^\]]*\]|[^.\[]+)\.?", path)
    step, rest = (match[1], path[match.end() :]) if match else (path, "")  # its first key or bracket
    if isinstance(value, Mapping):
        return at(value.get(step), rest)
    if isinstance(value, str) and path.startswith("[type="):
        return value
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    inside = step.strip("[]")
    if inside == "*":
        return [*flat([at(item, rest) for item in value])]
    if inside.isdecimal():
        return at(value[int(inside)], rest) if int(inside) < len(value) else None
    key, _, text = inside.partition("=")
    named = text.split("|")
    meant = [item for item in value if not inside or (isinstance(item, Mapping) and item.get(key) in named)]
    if len(meant) != 1:
        raise DataError(
            f"has {len(meant)} parts{f' with {inside}' if inside else ''}, where one is read; name one by its place, "
            f"from 0 on, by {option('caption_column', of='the readers in sacrecap.data')}"
        )
    return at(meant[0], rest)


def is_missing(value: Any, *, words: bool = False) -> bool:
    """Whether a value stands for no caption: it is None, NaN or pandas' NA; in a text table, also one of `WORDS`."""
    is_nan = isinstance(value, Real) and value != value  # noqa: PLR0124
    is_word = words and isinstance(value, str) and value.strip().lower() in WORDS
    return value is None or is_nan or is_word or type(value).__name__ == "NAType"


def without_empty(captions: Captions, name: str) -> Captions:
    """References without empty ones, of which it warns; an image may have none left."""
    described, empty = captions.without_empty()
    if empty:
        warn_of_empty(name, "image", empty)
    return described


def warn_of_empty(name: str, kind: str, places: Sequence[object]) -> None:
    """Warns of references that are empty, and left out: in which rows or images, as `kind` says."""
    many = f"{len(places):,} references are" if len(places) > 1 else "1 reference is"
    different = [*dict.fromkeys(places)]
    which = f"{kind}s" if len(different) > 1 else kind
    warn(f"{name}: {many} empty or missing ({which} {first_of(different)}); left out", DataWarning)
