"""Everything that is wrong with a submitted file, row by row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from sacrecap.boards import leaks
from sacrecap.boards.leaks import CaptionLimits
from sacrecap.corpus.corpus import Corpus
from sacrecap.data import fields
from sacrecap.data.captions import read_data
from sacrecap.errors import DataError, SacrecapError

MOST_PROBLEMS = 100
"""Lines listed; the others are counted."""
MOST_PLACES = 10
"""Images or entries named in the line of one problem; the others are counted."""
LONGEST_CAPTION = 2000
"""Characters: METEOR's search grows with the product of the lengths."""
_PACKED = {b"\x1f\x8b": "gzip", b"PK": "zip", b"BZh": "bzip2", b"\xfd7z": "xz", b"7z": "7z", b"PAR1": "Parquet"}
_LONG = f"longer than {LONGEST_CAPTION} characters"

# The words for one image, and for several.
_FOREIGN = ("Image {} is not part of this contest.", "{} images are not part of this contest: {}.")
_BARE = ("Image {} has an empty list of captions; give one.", "{} images have an empty list of captions; give one: {}.")
_SEVERAL = ("Image {} has several captions; give one.", "{} images have several captions; give one: {}.")
_TOO_LONG = (f"The caption of image {{}} is {_LONG}.", f"The captions of {{}} images are {_LONG}: {{}}.")
_MISSING = ("Image {} has no caption.", "{} images have no caption: {}.")


def problems(data: bytes, images: Sequence[str], limits: CaptionLimits) -> list[str]:
    """A sentence for each problem; none where the file has one caption for each image, and few degenerate ones.

    The reader stops at its first complaint: a file of JSON that it cannot read is gone through entry by entry.
    """
    for start, name in _PACKED.items():
        if data.startswith(start):
            return [f"This is a {name} file. Send the captions as plain JSON, JSON lines, CSV or TSV."]
    try:
        captions = read_data(data, "candidates", "")
    except SacrecapError as error:
        return _unread(data, images, str(error))
    found = _Places()
    for image, count in zip(captions.image_ids, captions.caption_counts(), strict=True):
        if count != 1:
            found.add(_SEVERAL if count else _BARE, _short(image))
        elif len(captions.captions(image)[0]) > LONGEST_CAPTION:
            found.add(_TOO_LONG, _short(image))
    found.add_misfits(captions.image_ids, images)
    if misfits := found.lines():
        return misfits
    of_them = {image: captions.captions(image)[0] for image in images}
    try:
        Corpus({image: ["a"] for image in images}, of_them)  # what scoring refuses, such as a zero byte
    except DataError as error:
        return [str(error)]
    return leaks.problems(of_them.values(), limits)


class _Places(dict[tuple[str, str], list[str]]):
    """Where problems are, by their words: those of the same words become one line."""

    def add(self, words: tuple[str, str], place: str) -> None:
        self.setdefault(words, []).append(place)

    def add_misfits(self, described: Sequence[str], images: Sequence[str]) -> None:
        """What has a caption and no references, and the other way round."""
        wanted, given = set(images), set(described)
        for image in dict.fromkeys(described):
            if image not in wanted:
                self.add(_FOREIGN, _short(image))
        for image in images:
            if image not in given:
                self.add(_MISSING, _short(image))

    def lines(self) -> list[str]:
        found = []
        for (one, several), places in self.items():
            more = f" and {len(places) - MOST_PLACES:,} more" if len(places) > MOST_PLACES else ""
            listed = ", ".join(places[:MOST_PLACES]) + more
            found.append(one.format(listed) if len(places) == 1 else several.format(f"{len(places):,}", listed))
        return _limited(found)


def _unread(data: bytes, images: Sequence[str], first: str) -> list[str]:
    """The problems of each entry of a JSON list, a JSON object, or JSON lines; `first` is the reader's complaint."""
    try:
        entries = list(_entries(data))
    except (ValueError, RecursionError):
        return [first]
    found = _Places()
    seen: Counter[str] = Counter()
    for place, entry in entries:
        for problem in _of_entry(entry, seen):
            words = problem.replace("{", "{{").replace("}", "}}")
            found.add((f"{{}}: {words}", f"{{}} times, at {{}}: {words}"), place)
    is_explained = bool(found)
    for image, count in seen.items():
        if count > 1:
            found.add(_SEVERAL, _short(image))
    if seen:
        found.add_misfits(list(seen), images)
    return found.lines() if is_explained else _limited([first, *found.lines()])


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
            try:
                yield f"Line {number}", json.loads(line)
            except ValueError:
                yield f"Line {number}", line
        return
    if isinstance(whole, dict):
        for image, caption in whole.items():
            yield f"Image {_short(image)}", {"image_id": image, "caption": caption}
    elif isinstance(whole, list):
        for number, entry in enumerate(whole, 1):
            yield f"Entry {number}", entry


def _of_entry(entry: object, seen: Counter[str]) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield 'it is not an object {"image_id": …, "caption": "…"}.'
        return
    for key in ("image_id", "caption"):
        if key not in entry:
            yield f"there is no {key}."
    try:
        if "image_id" in entry:
            seen[fields.name(entry["image_id"])] += 1
    except fields.Invalid as problem:
        yield f"its image_id {problem}."
    caption = entry.get("caption", "")
    if not isinstance(caption, str):
        yield f"its caption {fields.Invalid.of(caption, 'text')}."
    elif len(caption) > LONGEST_CAPTION:
        yield f"its caption is {_LONG}."


def _short(image: str) -> str:
    return repr(image if len(image) <= 80 else image[:80] + "…")


def _limited(found: list[str]) -> list[str]:
    more = len(found) - MOST_PROBLEMS
    return found if more <= 0 else [*found[:MOST_PROBLEMS], f"… and {more:,} more problems."]
