"""Flickr8k: expert ratings and crowd votes of captions retrieved for images (Hodosh, Young, Hockenmaier, JAIR 2013).

Both name captions of the token file by `image.jpg#number`. Expert: image, caption, three ratings from 1 (does not
describe the image) to 4 (describes it without error). CrowdFlower: image, caption, share of yes, votes for yes and no.
"""

from __future__ import annotations

import os

from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError, option
from sacrecap.judgments.datasets.records import READER, read_lines
from sacrecap.judgments.judged_rows import Ratings, Row

TOKENS = "Flickr8k.token.txt"

_SHARE_TOLERANCE = 1e-6


def read_expert(path: PathLike, captions: PathLike | None = None) -> Ratings:
    """The expert ratings, each a data point. Rows whose caption is one of the image's own references are left out.

    `captions`: the token file; by default the one in the folder of the ratings. Raises `DataError`.
    """
    source, lines = _lines(path)
    sentences = _sentences(path, captions)
    rows, texts, ratings, own = [], [], [], 0
    for place, (number, (image, name, *scores)) in enumerate(lines):
        where = f"{source}, line {number}"
        references, text = _look_up(where, image, name, sentences)
        values = tuple(_count(where, score, "a rating", 1, 4) for score in scores)
        if name.partition("#")[0] == image:
            own += 1
            continue
        rows.append(Row(image, tuple(references.values()), place))
        texts.append(text)
        ratings.append(tuple(map(float, values)))
    notes = [f"rows left out whose caption is one of the image's own references: {own:,}"] if own else []
    if not rows:
        raise DataError(f"{source}: no judgment left: every caption is one of the image's own references")
    return Ratings("flickr8k-expert", source, rows, texts, ratings, in_file=len(lines), notes=notes)


def read_crowd(path: PathLike, captions: PathLike | None = None) -> Ratings:
    """The share of yes votes of each row. A judged caption that is a reference of the image is removed from these.

    Arguments and errors as for `read_expert`.
    """
    source, lines = _lines(path)
    sentences = _sentences(path, captions)
    own: dict[str, set[str]] = {}
    for _, (image, name, *_) in lines:
        if name.partition("#")[0] == image:
            own.setdefault(image, set()).add(name)
    rows, texts, votes = [], [], []
    ratings: list[tuple[float, ...]] = []
    for place, (number, (image, name, share, *counts)) in enumerate(lines):
        where = f"{source}, line {number}"
        references, text = _look_up(where, image, name, sentences)
        kept = tuple(sentence for key, sentence in references.items() if key not in own.get(image, ()))
        if not kept:
            raise DataError(f"{where}: every reference of image {image!r} is itself judged, so no reference is left")
        yes, no = (_count(where, count, "a number of votes", 0, None) for count in counts)
        rows.append(Row(image, kept, place))
        texts.append(text)
        ratings.append((_share(where, share, yes, no),))
        votes.append((yes, no))
    notes = []
    if own:
        dropped = sum(map(len, own.values()))
        notes.append(f"judged captions removed from the references of their own image: {dropped:,}")
    return Ratings("flickr8k-cf", source, rows, texts, ratings, in_file=len(lines), votes=votes, notes=notes)


def kind(line: str) -> str | None:
    """Which of the two files a line is of: `flickr8k-expert`, `flickr8k-cf`, or None."""
    parts = line.split("\t")
    if len(parts) != 5 or "#" not in parts[1]:
        return None
    share, *votes = parts[2:]
    # Ratings are whole numbers from 1; a share is a fraction, 0, or 1 if all votes are yes.
    is_share = "." in share or "0" in (share, *votes)
    return "flickr8k-cf" if is_share else "flickr8k-expert"


def _lines(path: PathLike) -> tuple[str, list[tuple[int, list[str]]]]:
    """The file's name, and its numbered rows of five columns."""
    source = display_name(path)
    rows = [(number, line.split("\t")) for number, line in read_lines(path)]
    for number, parts in rows:
        if len(parts) != 5:
            raise DataError(
                f"{source}, line {number}: {len(parts)} columns, expected 5: image, caption id, and three "
                "numbers, with tabs between"
            )
    if not rows:
        raise DataError(f"{source}: no judgment in it")
    return source, rows


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


def _look_up(where: str, image: str, name: str, sentences: dict[str, dict[str, str]]) -> tuple[dict[str, str], str]:
    """References of the image by id, and the judged caption."""
    if image not in sentences:
        raise DataError(f"{where}: no captions of image {image!r} in the token file; add them or remove the row")
    text = sentences.get(name.partition("#")[0], {}).get(name)
    if text is None:
        raise DataError(f"{where}: no caption {name!r} in the token file; add it or remove the row")
    return sentences[image], text


def _count(where: str, text: str, what: str, least: int, most: int | None) -> int:
    value = int(text) if text.strip().isdecimal() else -1
    if value < least or (most is not None and value > most):
        bounds = f"a whole number from {least} to {most}" if most is not None else f"a whole number of at least {least}"
        raise DataError(f"{where}: {what} must be {bounds}, got {text!r}")
    return value


def _share(where: str, text: str, yes: int, no: int) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise DataError(f"{where}: the share of yes must be a number from 0 to 1, got {text!r}")
    if yes + no == 0 or abs(share - yes / (yes + no)) > _SHARE_TOLERANCE:
        raise DataError(f"{where}: a share of {text} does not follow from {yes} votes for yes and {no} for no")
    return share
