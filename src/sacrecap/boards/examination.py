"""Everything that is wrong with a submitted file, row by row."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sacrecap._core import Captions, CaptionsBuilder
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
_NONE = ("Image {} has an empty list of captions; give one.", "{} images have an empty list of captions; give one: {}.")
_SEVERAL = ("Image {} has several captions; give one.", "{} images have several captions; give one: {}.")
_TOO_LONG = (f"The caption of image {{}} is {_LONG}.", f"The captions of {{}} images are {_LONG}: {{}}.")
_MISSING = ("Image {} has no caption.", "{} images have no caption: {}.")

_Places: TypeAlias = defaultdict[tuple[str, str], list[str]]
"""Where problems are, by their words: those of the same words become one line."""


@dataclass(frozen=True)
class CaptionLimits:
    """Of the captions of a file, at most these percentages may be degenerate, and one and the same.

    Real systems are far below the defaults: of ten systems' and people's captions of COCO, Flickr8k and abstract
    scenes, the worst has 0.4 % empty ones, 13 % that are the same, no caption of more than 49 words, and none whose
    half is one word.
    """

    most_degenerate: int = 5
    most_same: int = 30
    longest_words: int = 100
    fewest_words: int = 1
    """The longest n-gram of a BLEU among the metrics: it hangs on the captions that have one."""


def problems(data: bytes, images: Sequence[str], limits: CaptionLimits) -> list[str]:
    """A sentence for each problem; none where the file has one caption for each image, and few degenerate ones.

    The reader stops at its first complaint: a file of JSON that it cannot read is gone through entry by entry.
    """
    for start, name in _PACKED.items():
        if data.startswith(start):
            return [f"This is a {name} file. Send the captions as plain JSON, JSON lines, CSV or TSV."]
    places: _Places = defaultdict(list)
    lines: list[str] = []
    try:
        captions = read_data(data, "candidates", "")
    except SacrecapError as error:
        try:
            captions = _by_entry(data, places)
        except (ValueError, RecursionError):
            return [str(error)]
        lines = [] if places else [str(error)]
    if len(captions) or not lines:
        _add_misfits(places, captions, images)
    for (single, several), named in places.items():
        more = f" and {len(named) - MOST_PLACES:,} more" if len(named) > MOST_PLACES else ""
        listed = ", ".join(named[:MOST_PLACES]) + more
        lines.append(single.format(listed) if len(named) == 1 else several.format(f"{len(named):,}", listed))
    if len(lines) > MOST_PROBLEMS:
        lines[MOST_PROBLEMS:] = [f"… and {len(lines) - MOST_PROBLEMS:,} more problems."]
    if lines:
        return lines
    by_image = {image: captions.captions(image)[0] for image in images}
    try:
        Corpus({image: ["a"] for image in images}, by_image)  # what scoring refuses, such as a zero byte
    except DataError as error:
        return [str(error)]
    return degenerate(by_image.values(), limits)


def _add_misfits(places: _Places, captions: Captions, images: Sequence[str]) -> None:
    """What has no or several captions, or a long one; a caption and no references, or references and no caption."""
    described = captions.image_ids
    for image, count in zip(described, captions.caption_counts(), strict=True):
        if count != 1:
            places[_SEVERAL if count else _NONE].append(_short(image))
        elif len(captions.captions(image)[0]) > LONGEST_CAPTION:
            places[_TOO_LONG].append(_short(image))
    expected, there = set(images), set(described)
    for words, some, those_known in ((_FOREIGN, described, expected), (_MISSING, images, there)):
        for image in some:
            if image not in those_known:
                places[words].append(_short(image))


def _by_entry(data: bytes, places: _Places) -> Captions:
    """The captions in a JSON list, a JSON object, or JSON lines; adds what is wrong with entries.

    Raises `ValueError` for a file that is none of these.
    """
    builder = CaptionsBuilder(lenient=True)
    for number, entry in enumerate(_entries(data.decode()), 1):
        wrong = []
        if isinstance(entry, dict):
            caption = entry.get("caption")
            if not isinstance(caption, str):
                wrong.append(f"its caption {fields.Invalid.of(caption, 'text')}.")
                caption = ""  # and the image is there
            try:
                builder.extend([fields.name(entry.get("image_id"))], [caption])
            except fields.Invalid as error:
                wrong.append(f"its image_id {error}.")
        else:
            wrong.append('it is not an object {"image_id": …, "caption": "…"}.')
        for problem in wrong:
            words = problem.replace("{", "{{").replace("}", "}}")
            places[f"{{}}: {words}", f"{{}} times, at {{}}: {words}"].append(f"Entry {number}")
    return builder.finish()


def _entries(text: str) -> Iterator[object]:
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                yield line
        return
    if isinstance(whole, dict):
        whole = [{"image_id": image, "caption": caption} for image, caption in whole.items()]
    yield from whole if isinstance(whole, list) else ()


def _short(image: str) -> str:
    return repr(image if len(image) <= 80 else image[:80] + "…")


def degenerate(captions: Collection[str], limits: CaptionLimits) -> list[str]:
    """One sentence for each limit that the captions exceed, with the counts."""
    kinds: Counter[str] = Counter()
    same: Counter[str] = Counter()
    count = len(captions)
    for caption in captions:
        words = re.findall(r"[^\W_]+", caption.lower())
        if not words:
            kinds["without a letter or digit"] += 1
            continue
        same[" ".join(words)] += 1
        if len(words) > limits.longest_words:
            kinds[f"of more than {limits.longest_words} words"] += 1
        elif len(words) < limits.fewest_words:
            kinds[f"of fewer than {limits.fewest_words} words"] += 1
        elif len(words) >= 6 and 2 * max(Counter(words).values()) > len(words):  # a shorter one may repeat a word
            kinds["of which one word is more than half"] += 1

    def allowed(percent: int, least: int) -> int:
        """How many captions a percentage allows; a few in a small file, unless the limit is 0 %."""
        return max(least, count * percent // 100) if percent else 0

    sentences = []
    if kinds.total() > allowed(limits.most_degenerate, least=1):
        sentences.append(
            f"{kinds.total():,} of {count:,} captions are degenerate, and this board takes "
            f"{limits.most_degenerate} %: {', '.join(f'{number:,} {kind}' for kind, number in kinds.most_common())}."
        )
    for caption, number in same.most_common(1):
        if number > allowed(limits.most_same, least=2):
            sentences.append(
                f"{number:,} of {count:,} captions are the same, {caption[:60]!r}, and this board takes "
                f"{limits.most_same} %."
            )
    return sentences
