"""A benchmark's public and private images: teams see scores of the first until the closing date, then of the others.

What a team learns about the references of the public images from its scores does not help it with the private ones.

A benchmark without such parts may have a second set of references, as the COCO server had five of each image and forty
of some: the scores against it are one more part.
"""

from __future__ import annotations

import json
import random
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from sacrecap._core import Captions
from sacrecap_server.boards.catalogue import is_over
from sacrecap_server.errors import Refused
from sacrecap_server.store import blobs
from sacrecap_server.store.models import Benchmark, BenchmarkSplit
from sacrecap_studies.messages import Message

ALL, PUBLIC, PRIVATE = "all", "public", "private"
_FEWEST = 2
"""Images of a part; one says nothing of others."""


@dataclass(frozen=True)
class ImageParts:
    """What people may know of the parts: how many images each has, and afterwards how they were drawn."""

    public: int
    private: int
    commitment: str
    """SHA-256 of `revealed`: a proof afterwards that the private images were not changed."""
    revealed: str
    """The private images' ids and a nonce, as JSON; empty until the closing date. Without the nonce, whoever guesses
    the images, such as those of a known split, could see that they are right."""
    seed: int | None
    """Of the draw; None if the organiser gave the images, and until the closing date."""
    given: bool
    """Whether the organiser gave the private images."""


def problems(images: Sequence[str], share: int, given: bytes) -> list[str]:
    """Problems of a wish for parts: the per cent of images to draw for the private part, or a file of their ids."""
    if share and given:
        return [Message("Private part: give either a share to draw, or the images, not both.")]
    if not 0 <= share <= 95:
        return [Message("Private part: the share must be from 0 to 95 per cent, not %(share)s.", share=share)]
    try:
        private = _ids(given) if given else set(images[: _count(images, share)])
    except ValueError:
        return [Message("Private part: the file must be text with an image id on each line, or a JSON list of ids.")]
    if not private:
        return [Message("Private part: the file names no image.")] if given else []
    found: list[str] = []
    if unknown := private - set(images):
        found.append(
            Message(
                "Private part: images that have no references, such as %(example)s: %(number)s.",
                number=len(unknown),
                example=repr(min(unknown)),
            )
        )
    left = len(images) - len(private & set(images))
    if min(left, len(private)) < _FEWEST:
        found.append(
            Message(
                "Private part: both parts need %(least)s images or more; these have %(public)s (public), %(private)s.",
                least=_FEWEST,
                public=left,
                private=len(private),
            )
        )
    return found


def second_part(references: Captions) -> str:
    """The name of the part of a second set of references: `c40` where most images have 40."""
    [(most, _)] = Counter(references.caption_counts()).most_common(1)
    return f"c{most}"


def problems_of_second(references: Captions, images: Sequence[str]) -> list[str]:
    """Problems of a second set of references for a benchmark of these images."""
    unknown = set(references.image_ids) - set(images)
    if unknown:
        return [
            Message(
                "Second references: images that are not in the first, such as %(example)s: %(number)s.",
                number=len(unknown),
                example=repr(min(unknown)),
            )
        ]
    return []


def split(
    session: Session,
    benchmark: Benchmark,
    images: Sequence[str],
    share: int,
    given: bytes,
    like: Benchmark | None = None,
) -> None:
    """Draws or takes the private images of a new benchmark, and records them, where parts are wanted.

    A phase on the images of `like` has the same private ones: another draw would show scores of those.
    """
    if not share and not given:
        return
    known = session.get(BenchmarkSplit, like.id) if like is not None else None
    if known is not None and not given:
        session.add(
            BenchmarkSplit(
                benchmark_id=benchmark.id,
                private_sha=known.private_sha,
                private_images=known.private_images,
                seed=known.seed,
            )
        )
        return
    seed = None if given else secrets.randbits(62)
    private = _ids(given) if given else drawn(images, share, seed or 0)
    listed = [image for image in images if image in private]
    data = json.dumps({"nonce": secrets.token_hex(16), "images": listed}).encode()
    session.add(
        BenchmarkSplit(
            benchmark_id=benchmark.id, private_sha=blobs.keep(session, data), private_images=len(private), seed=seed
        )
    )


def drawn(images: Sequence[str], share: int, seed: int) -> set[str]:
    """The private images that a seed draws: whoever has the seed can draw them again."""
    return set(random.Random(seed).sample(sorted(images), _count(images, share)))


def _count(images: Sequence[str], share: int) -> int:
    return round(len(images) * share / 100)


def _ids(given: bytes) -> set[str]:
    text = given.decode("utf-8-sig").strip()
    ids = json.loads(text) if text.startswith("[") else text.splitlines()
    return {str(image).strip() for image in ids} - {""}


def of(session: Session, benchmark: Benchmark) -> ImageParts | None:
    """The parts of the benchmark; None if it has none."""
    found = session.get(BenchmarkSplit, benchmark.id)
    if found is None:
        return None
    return ImageParts(
        benchmark.images - found.private_images,
        found.private_images,
        found.private_sha,
        blobs.fetch(session, found.private_sha).decode() if is_over(benchmark) else "",
        found.seed if is_over(benchmark) else None,
        found.seed is None,
    )


def private_images(session: Session, benchmark: Benchmark) -> list[str] | None:
    """The ids of the private images, for scoring; None if there are no parts."""
    found = session.get(BenchmarkSplit, benchmark.id)
    return None if found is None else list(json.loads(blobs.fetch(session, found.private_sha))["images"])


def names(session: Session, benchmark: Benchmark) -> tuple[str, ...]:
    """The parts that submissions are scored on."""
    if session.get(BenchmarkSplit, benchmark.id) is not None:
        return (PUBLIC, PRIVATE)
    return (ALL, benchmark.second_part) if benchmark.second_part else (ALL,)


def shown(session: Session, benchmark: Benchmark) -> str:
    """The part whose scores people see now."""
    if session.get(BenchmarkSplit, benchmark.id) is None:
        return ALL
    return PRIVATE if is_over(benchmark) else PUBLIC


def choosing(session: Session, benchmark: Benchmark) -> str:
    """The part by which a team's best submission is chosen.

    Never the private one, which would flatter whoever tried most.
    """
    return ALL if session.get(BenchmarkSplit, benchmark.id) is None else PUBLIC


def check(session: Session, benchmark: Benchmark, part: str, *, owner: bool) -> None:
    """Raises `Refused`: 422 for a part that the benchmark does not have, 403 for private scores before the closing
    date, which only the owner sees.
    """
    if part not in names(session, benchmark):
        raise Refused(422, "The benchmark has the parts %(names)s.", names=", ".join(names(session, benchmark)))
    if part == PRIVATE and not (owner or is_over(benchmark)):
        raise Refused(403, "Scores on the private images are shown after the closing date.")
