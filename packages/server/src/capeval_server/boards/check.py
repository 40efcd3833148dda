"""Everything that is wrong with a submitted file, before it is accepted.

A file that capeval can read only has to fit the images, which is checked here and now. One that it cannot read is gone
through entry by entry in a child process: the reader stops at its first complaint, and hostile JSON costs memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from capeval._core import Captions
from capeval.data import fields
from capeval.errors import CapevalError
from capeval_server.jobs.child import ChildFailedError, ResourceLimits, run_child

MOST_PROBLEMS = 1000
"""Problems listed; the others are counted."""
LONGEST_CAPTION = 2000
"""Characters: METEOR's search grows with the product of the lengths."""
_PACKED = {b"\x1f\x8b": "gzip", b"PK": "zip", b"BZh": "bzip2", b"\xfd7z": "xz", b"7z": "7z", b"PAR1": "Parquet"}
_LIMITS = ResourceLimits(seconds=20, memory=2048)


def problems_of(data: bytes, images: Sequence[str]) -> list[str]:
    """One sentence a problem; none where the file has exactly one caption for each image."""
    for start, name in _PACKED.items():
        if data.startswith(start):
            return [f"This is a {name} file. Send the captions as plain JSON, JSON lines, CSV or TSV."]
    try:
        captions = Captions.parse(data, None, None)
    except CapevalError as error:
        found, explained = _entry_by_entry(data, images)
        return _limited(found if explained else [str(error), *found])
    return _limited(list(_misfits(captions, images)))


def _misfits(captions: Captions, images: Sequence[str]) -> Iterator[str]:
    """Captions that can be read, but do not fit the images."""
    wanted = set(images)
    for image, count in zip(captions.image_ids, captions.caption_counts(), strict=True):
        if image not in wanted:
            yield f"Image {_short(image)} is not part of this benchmark."
        elif count == 0:
            yield f"Image {_short(image)} has an empty list of captions; give one."
        elif count > 1:
            yield f"Image {_short(image)} has {count} captions; give one."
        elif len(captions.captions(image)[0]) > LONGEST_CAPTION:
            yield f"The caption of image {_short(image)} is longer than {LONGEST_CAPTION} characters."
    given = set(captions.image_ids)
    yield from (f"Image {_short(image)} has no caption." for image in images if image not in given)


def _entry_by_entry(data: bytes, images: Sequence[str]) -> tuple[list[str], bool]:
    """The problems, and whether they explain why the file cannot be read."""
    try:
        answer = run_child(
            "capeval_server.boards.check:examine", {"images": list(images)}, [data], _LIMITS, lambda _: None
        )
    except ChildFailedError:
        return [], False
    return answer["problems"], answer["explained"]


def examine(header: dict[str, Any], files: list[bytes], _: Callable[[str], None]) -> dict[str, Any]:
    """The child's part: the problems of each entry of a JSON list, a JSON object, or JSON lines."""
    try:
        entries = list(_entries(files[0]))
    except (ValueError, RecursionError):
        return {"problems": [], "explained": False}
    problems: list[str] = []
    seen: Counter[str] = Counter()
    for place, entry in entries:
        problems += (f"{place}: {problem}" for problem in _entry_problems(entry, seen))
    explained = bool(problems)
    wanted = set(header["images"])
    problems += (f"Image {_short(image)} is not part of this benchmark." for image in seen if image not in wanted)
    problems += (f"Image {_short(image)} has {count} captions; give one." for image, count in seen.items() if count > 1)
    if seen:
        problems += (f"Image {_short(image)} has no caption." for image in header["images"] if image not in seen)
    return {"problems": _limited(problems), "explained": explained}


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
        yield 'is not an object {"image_id": …, "caption": "…"}.'
        return
    image = entry.get("image_id")
    if "image_id" not in entry:
        yield "has no image_id."
    else:
        try:
            seen[fields.name(image)] += 1
        except fields.Invalid as problem:
            yield f"its image_id {problem}."
    caption = entry.get("caption")
    if "caption" not in entry:
        yield "has no caption."
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
