"""Flickr8k: expert ratings and crowd votes of captions retrieved for images (Hodosh, Young, Hockenmaier, JAIR 2013).

Both name captions of the token file by `image.jpg#number`. Expert: image, caption, three ratings from 1 (does not
describe the image) to 4 (describes it without error). CrowdFlower: image, caption, share of yes, votes for yes and no.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError, option
from sacrecap.judgments.datasets.judgment_forms import JudgmentForm, RatedCaption, WhatToRead
from sacrecap.judgments.datasets.records import READER, Record, read_lines

TOKENS = "Flickr8k.token.txt"

_EXPERT = ("image", "caption", "first rating", "second rating", "third rating")
_CROWD = ("image", "caption", "share of yes", "votes for yes", "votes for no")
_SHARE_TOLERANCE = 1e-6


def columns_of(line: str) -> set[str]:
    """The columns of the file that a line is of, if it is one of the two."""
    parts = line.split("\t")
    if len(parts) != 5 or "#" not in parts[1]:
        return set()
    share, *votes = parts[2:]
    # Ratings are whole numbers from 1; a share is a fraction, 0, or 1 if all votes are yes.
    is_share = "." in share or "0" in (share, *votes)
    return set(_CROWD if is_share else _EXPERT)


def _records(path: PathLike, wanted: WhatToRead) -> list[Record]:
    """The lines, with the captions that they are about, and the references of their images by id.

    The token file is in the folder of the judgments, unless `captions` is given.
    """
    source, records = display_name(path), []
    sentences = _sentences(path, wanted.captions)
    for number, line in read_lines(path):
        parts = line.split("\t")
        if len(parts) != 5:
            raise DataError(
                f"{source}, line {number}: {len(parts)} columns, expected 5: image, caption id, and three "
                "numbers, with tabs between"
            )
        image, name, *numbers = parts
        record = Record(source, number, {"image": image, "id": name, "numbers": numbers})
        if image not in sentences:
            raise record.refuse(f"no captions of image {image!r} in the token file; add them or remove the row")
        text = sentences.get(name.partition("#")[0], {}).get(name)
        if text is None:
            raise record.refuse(f"no caption {name!r} in the token file; add it or remove the row")
        record.fields |= {"caption": text, "references": sentences[image]}
        records.append(record)
    if not records:
        raise DataError(f"{source}: no judgment in it")
    return records


def _sentences(path: PathLike, captions: PathLike | None) -> dict[str, dict[str, str]]:
    """Captions by id (`image.jpg#0`), by image."""
    file = captions or os.path.join(os.path.dirname(os.fspath(path)), TOKENS)
    if captions is None and not os.path.exists(file):
        raise DataError(
            f"{display_name(path)}: the captions are in {TOKENS}, which is not in the same folder; put it there, "
            f"or name it with {option('captions', 'FILE', of=READER)}"
        )
    source = display_name(file)
    sentences: dict[str, dict[str, str]] = {}
    for number, line in read_lines(file):
        name, tab, text = line.partition("\t")
        if not tab or "#" not in name:
            raise DataError(f"{source}, line {number}: expected image.jpg#0, a tab and a caption")
        sentences.setdefault(name.partition("#")[0], {})[name] = text.strip()
    return sentences


def _is_own(record: Record) -> bool:
    """Whether the caption is one of the image's own references."""
    return bool(record.fields["id"].partition("#")[0] == record.fields["image"])


def _by_experts(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    image, references = record.fields["image"], tuple(record.fields["references"].values())
    ratings = tuple(float(_count(record, number, "a rating", 1, 4)) for number in record.fields["numbers"])
    if not _is_own(record):
        yield RatedCaption(image, references, record.fields["caption"], ratings)


def _crowd_records(path: PathLike, wanted: WhatToRead) -> list[Record]:
    """The lines; judged captions are removed from the references of their own image."""
    records = _records(path, wanted)
    repeated = _own(records)
    for record in records:
        record.fields["references"] = {
            id_: text for id_, text in record.fields["references"].items() if id_ not in repeated
        }
    return records


def _own(records: Sequence[Record]) -> set[str]:
    return {record.fields["id"] for record in records if _is_own(record)}


def _removed(records: Sequence[Record]) -> list[str]:
    repeated = _own(records)
    return [f"judged captions removed from the references of their own image: {len(repeated):,}"] if repeated else []


def _by_crowd(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    """The share of yes."""
    image, references = record.fields["image"], tuple(record.fields["references"].values())
    if not references:
        raise record.refuse(f"every reference of image {image!r} is itself judged, so no reference is left")
    share, *counts = record.fields["numbers"]
    yes, no = (_count(record, count, "a number of votes", 0, None) for count in counts)
    rating = (_share(record, share, yes, no),)
    yield RatedCaption(image, references, record.fields["caption"], rating, votes=(yes, no))


EXPERT = JudgmentForm(
    "flickr8k-expert",
    _EXPERT,
    _by_experts,
    _records,
    reads_captions=True,
    left_out="rows left out whose caption is one of the image's own references",
)
CROWD = JudgmentForm("flickr8k-cf", _CROWD, _by_crowd, _crowd_records, remarks=_removed, reads_captions=True)


def _count(record: Record, text: str, what: str, least: int, most: int | None) -> int:
    value = int(text) if text.strip().isdecimal() else -1
    if value < least or (most is not None and value > most):
        bounds = f"a whole number from {least} to {most}" if most is not None else f"a whole number of at least {least}"
        raise record.refuse(f"{what} must be {bounds}, got {text!r}")
    return value


def _share(record: Record, text: str, yes: int, no: int) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise record.refuse(f"the share of yes must be a number from 0 to 1, got {text!r}")
    if yes + no == 0 or abs(share - yes / (yes + no)) > _SHARE_TOLERANCE:
        raise record.refuse(f"a share of {text} does not follow from {yes} votes for yes and {no} for no")
    return share
