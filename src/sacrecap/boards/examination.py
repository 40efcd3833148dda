"""Everything that is wrong with a submitted file, row by row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from sacrecap._core import Captions
from sacrecap.boards import leaks
from sacrecap.boards.leaks import CaptionLimits
from sacrecap.data import fields
from sacrecap.errors import SacrecapError

MOST_PROBLEMS = 100
"""Lines listed; the others are counted."""
MOST_PLACES = 10
"""Images or entries named in the line of one problem; the others are counted."""
LONGEST_CAPTION = 2000
"""Characters: METEOR's search grows with the product of the lengths."""
_PACKED = {b"\x1f\x8b": "gzip", b"PK": "zip", b"BZh": "bzip2", b"\xfd7z": "xz", b"7z": "7z", b"PAR1": "Parquet"}

# The words for one image, and for several.
_FOREIGN = ("Image {} is not part of this contest.", "{} images are not part of this contest: {}.")
_BARE = ("Image {} has an empty list of captions; give one.", "{} images have an empty list of captions; give one: {}.")
_SEVERAL = ("Image {} has several captions; give one.", "{} images have several captions; give one: {}.")
_LONG = (
    f"The caption of image {{}} is longer than {LONGEST_CAPTION} characters.",
    f"The captions of {{}} images are longer than {LONGEST_CAPTION} characters: {{}}.",
)
_MISSING = ("Image {} has no caption.", "{} images have no caption: {}.")


class _Problems:
    """Problems with their places: those of the same words become one line."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], list[str]] = {}

    def add(self, words: tuple[str, str], place: str) -> None:
        """`words` for one place and for several, the latter with the number of places and their list."""
        self._places.setdefault(words, []).append(place)

    def lines(self) -> list[str]:
        return _limited([_line(words, places) for words, places in self._places.items()])


def _line(words: tuple[str, str], places: list[str]) -> str:
    one, several = words
    if len(places) == 1:
        return one.format(places[0])
    shown = ", ".join(places[:MOST_PLACES])
    more = f" and {len(places) - MOST_PLACES:,} more" if len(places) > MOST_PLACES else ""
    return several.format(f"{len(places):,}", shown + more)


def problems(data: bytes, images: Sequence[str], limits: CaptionLimits) -> list[str]:
    """A sentence for each problem; none where the file has one caption for each image, and few degenerate ones.

    The reader stops at its first complaint: a file of JSON that it cannot read is gone through entry by entry.
    """
    for start, name in _PACKED.items():
        if data.startswith(start):
            return [f"This is a {name} file. Send the captions as plain JSON, JSON lines, CSV or TSV."]
    try:
        captions = Captions.parse(data, None, None)
    except SacrecapError as error:
        return _examined(data, images, str(error))
    if misfits := _misfits(captions, images):
        return misfits
    return leaks.problems((captions.captions(each)[0] for each in images), limits)


def _misfits(captions: Captions, images: Sequence[str]) -> list[str]:
    """Captions that can be read, but do not fit the images."""
    found = _Problems()
    wanted = set(images)
    for image, count in zip(captions.image_ids, captions.caption_counts(), strict=True):
        if image not in wanted:
            found.add(_FOREIGN, _short(image))
        elif count != 1:
            found.add(_SEVERAL if count else _BARE, _short(image))
        elif len(captions.captions(image)[0]) > LONGEST_CAPTION:
            found.add(_LONG, _short(image))
    given = set(captions.image_ids)
    for image in images:
        if image not in given:
            found.add(_MISSING, _short(image))
    return found.lines()


def _examined(data: bytes, images: Sequence[str], first: str) -> list[str]:
    """The problems of each entry of a JSON list, a JSON object, or JSON lines; `first` is the reader's complaint."""
    try:
        entries = list(_entries(data))
    except (ValueError, RecursionError):
        return [first]
    found = _Problems()
    seen: Counter[str] = Counter()
    explained = False
    for place, entry in entries:
        for problem in _entry_problems(entry, seen):
            explained = True
            words = problem.replace("{", "{{").replace("}", "}}")
            found.add((f"{{}}: {words}", f"{{}} times, at {{}}: {words}"), place)
    wanted = set(images)
    for image, count in seen.items():
        if image not in wanted:
            found.add(_FOREIGN, _short(image))
        if count > 1:
            found.add(_SEVERAL, _short(image))
    for image in images if seen else ():
        if image not in seen:
            found.add(_MISSING, _short(image))
    return found.lines() if explained else _limited([first, *found.lines()])


def _entries(data: bytes) -> Iterator[tuple[str, object]]:
    """Each entry with its place."""
    text = data.decode()
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        if len(lines) < 2:
            raise
        for number, line in lines:
            yield f"Line {number}", _json_or_text(line)
        return
    if isinstance(whole, dict):
        for image, caption in whole.items():
            yield f"Image {_short(image)}", {"image_id": image, "caption": caption}
    elif isinstance(whole, list):
        for number, entry in enumerate(whole, 1):
            yield f"Entry {number}", entry


def _json_or_text(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return line


def _entry_problems(entry: object, seen: Counter[str]) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield 'it is not an object {"image_id": …, "caption": "…"}.'
        return
    image = entry.get("image_id")
    if "image_id" not in entry:
        yield "there is no image_id."
    else:
        try:
            seen[fields.name(image)] += 1
        except fields.Invalid as problem:
            yield f"its image_id {problem}."
    caption = entry.get("caption")
    if "caption" not in entry:
        yield "there is no caption."
    elif not isinstance(caption, str):
        yield f"its caption {fields.Invalid.of(caption, 'text')}."
    elif len(caption) > LONGEST_CAPTION:
        yield f"its caption is longer than {LONGEST_CAPTION} characters."


def _short(image: str) -> str:
    return repr(image if len(image) <= 80 else image[:80] + "…")


def _limited(problems: list[str]) -> list[str]:
    if len(problems) <= MOST_PROBLEMS:
        return problems
    return [*problems[:MOST_PROBLEMS], f"… and {len(problems) - MOST_PROBLEMS:,} more problems."]
