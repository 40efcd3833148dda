"""The private part of a contest's images: teams see scores of the others until the end, then of these.

What a team learns about the references of the public images from its scores does not help it with the private ones.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import secrets
from collections.abc import Sequence
from typing import NamedTuple

from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError

FEWEST = 2
"""Images of a part; one says nothing of others."""


class PrivatePart(NamedTuple):
    """The images that are drawn, and what shows afterwards that they were not changed."""

    images: frozenset[str]
    data: bytes
    """Their file, nobody's business before the end. It has the seed of the draw, `random.Random(seed).sample` of the
    sorted ids, and a nonce: without that, whoever guesses the images could see in the checksum that they are right."""

    @property
    def checksum(self) -> str:
        """SHA-256 of the file, which is told from the beginning."""
        return hashlib.sha256(self.data).hexdigest()


def private_part(path: str, images: Sequence[str], share: int, contest: str) -> PrivatePart:
    """The private images of a file; where there is none, so many per cent are drawn, and written there.

    Raises `DataError`: the file cannot be read or written, or has another draw than of these images, this share and the
    contest whose folder has this name: the contest that ends first would tell the private images of the others.
    """
    count = round(len(images) * share / 100)
    if min(count, len(images) - count) < FEWEST:
        raise DataError(f"{path}: a private part of {share} % of {len(images):,} images leaves a part without two")
    if not os.path.exists(path):
        _draw(path, images, count, contest)
    data = read_bytes(path)
    try:
        document = json.loads(data)
        private, drawn_for = frozenset(map(str, document["images"])), document.get("contest", contest)
    except (ValueError, KeyError, TypeError):
        private, drawn_for = frozenset(), contest
    if drawn_for != contest:
        raise DataError(
            f"{path}: was drawn for the contest {drawn_for!r}, and this is {contest!r}; put a copy of the references "
            "into another folder, or give the contest's folder its name again"
        )
    if len(private) != count or not private <= set(images):
        raise DataError(
            f"{path}: has {len(private):,} images, no draw of {share} % of the {len(images):,} of the references; "
            "restore these and the share, or take it away before the contest starts"
        )
    return PrivatePart(private, data)


def _draw(path: str, images: Sequence[str], count: int, contest: str) -> None:
    """Draws, and writes whole; a file that another process has written meanwhile stays."""
    seed = secrets.randbits(62)
    private = set(random.Random(seed).sample(sorted(images), count))
    drawn = [image for image in images if image in private]
    document = {"contest": contest, "nonce": secrets.token_hex(16), "seed": seed, "images": drawn}
    beside = f"{path}.{secrets.token_hex(4)}"
    try:
        with atomic_write(beside) as file:
            json.dump(document, file)
        with contextlib.suppress(FileExistsError):
            os.link(beside, path)
        os.unlink(beside)
    except OSError as error:
        raise DataError(f"{path}: the private part cannot be written: {error.strerror}") from None
