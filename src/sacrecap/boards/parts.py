"""The private part of a contest's images: teams see scores of the others until the end, then of these.

What a team learns about the references of the public images from its scores does not help it with the private ones.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import secrets
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from sacrecap.data.source import reading
from sacrecap.errors import DataError

FEWEST = 2
"""Images of a part; one says nothing of others."""


class PrivatePart(NamedTuple):
    """The images that are drawn, and what shows afterwards that they were not changed."""

    images: frozenset[str]
    path: str
    """The file that has them, with the seed of the draw and a nonce. Without that, whoever guesses the images, such as
    those of a known split, could see in the checksum that they are right."""
    data: bytes
    """What the file has: nobody's business before the end."""

    @property
    def checksum(self) -> str:
        """SHA-256 of the file, which is told from the beginning."""
        return hashlib.sha256(self.data).hexdigest()


def private_part(path: str, images: Sequence[str], share: int) -> PrivatePart:
    """The private images of a file.

    Args:
        path: where there is no file, images are drawn, and written there.
        images: all ids.
        share: per cent of the images that are private.

    Raises:
        DataError: the file cannot be read or written, or has another draw than of these images and this share.
    """
    count = round(len(images) * share / 100)
    if min(count, len(images) - count) < FEWEST:
        raise DataError(f"{path}: a private part of {share} % of {len(images):,} images leaves a part without two")
    if not os.path.exists(path):
        _write(path, images, count)
    with reading(path), open(path, "rb") as file:
        data = file.read()
    try:
        listed = json.loads(data)["images"]
        private = frozenset(map(str, listed))
    except (ValueError, KeyError, TypeError):
        raise DataError(
            f"{path}: not the file of a private part; take it away, and the images are drawn anew"
        ) from None
    if len(private) != count or not private <= set(images):
        raise DataError(
            f"{path}: has {len(private):,} images that were drawn from other references or by another share than "
            f"{share} % of {len(images):,}; restore those, or take it away before the contest starts"
        )
    return PrivatePart(private, path, data)


def drawn(images: Sequence[str], count: int, seed: int) -> set[str]:
    """The private images that a seed draws: whoever has the seed can draw them again."""
    return set(random.Random(seed).sample(sorted(images), count))


def _write(path: str, images: Sequence[str], count: int) -> None:
    """Draws, and writes whole; a file that another process has written meanwhile stays."""
    seed = secrets.randbits(62)
    private = drawn(images, count, seed)
    document = {"nonce": secrets.token_hex(16), "seed": seed, "images": [each for each in images if each in private]}
    try:
        descriptor, beside = tempfile.mkstemp(prefix=".sacrecap-", dir=os.path.dirname(path))
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump(document, file)
                file.flush()
                os.fsync(descriptor)
            os.link(beside, path)
        except FileExistsError:
            pass
        finally:
            os.unlink(beside)
    except OSError as error:
        raise DataError(f"{path}: the private part cannot be written: {error.strerror}") from None
