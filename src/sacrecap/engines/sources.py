"""Where an engine's captions come from: captions that were read, or rows of files that are read piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from sacrecap.corpus.corpus import Corpus, align, as_references
from sacrecap.engines.plan import Piece

if TYPE_CHECKING:
    from sacrecap.choices import Tokenizer
    from sacrecap.corpus.corpus import Aligned, CandidateSource, CaptionSource

ROWS = 16_384
"""Images of a piece: more are counted faster, and take more memory."""


class PieceSource(Protocol):
    """Captions that an engine takes piece by piece, as often as it has passes."""

    images: int | None
    """How many there are, as far as that is known before they are read."""

    def pieces(self) -> Iterator[Piece]:
        """The pieces, in the order of the images."""

    def corpora(self, image_ids: list[str], tokenizer: Tokenizer) -> dict[str, Corpus]:
        """A corpus of each system, of these images, in their order, with what single captions are taken from."""


class Held:
    """Captions in memory, as text: what is made of them is not."""

    def __init__(
        self,
        references: CaptionSource,
        systems: Mapping[str, CandidateSource],
        called: Mapping[str, str],
        on_missing: str,
    ) -> None:
        self._aligned = align(references, systems, called, on_missing)
        self.images: int | None = len(self._aligned.images)

    def pieces(self) -> Iterator[Piece]:
        """Pieces of `ROWS` images."""
        every = self._aligned.references.image_ids
        for start in range(0, len(self._aligned.images), ROWS):
            yield piece_of(self._aligned, slice(start, start + ROWS), every)

    def corpora(self, image_ids: list[str], tokenizer: Tokenizer) -> dict[str, Corpus]:  # noqa: ARG002
        """The captions themselves, which are encoded when they are needed."""
        return {name: Corpus.unencoded(self._aligned, name, tokenizer=tokenizer) for name in self._aligned.systems}


def piece_of(aligned: Aligned, chosen: slice, image_ids: list[str]) -> Piece:
    """The chosen ones of the images that are scored; `image_ids` are those of the references."""
    images = aligned.images[chosen]
    ids = [image_ids[image] for image in images]
    systems = {name: own.aligned(ids, aligned.places[name][chosen]) for name, own in aligned.systems.items()}
    return Piece(aligned.references.aligned(ids, images), systems)


class CountedReferences:
    """References alone, whose n-grams are counted."""

    def __init__(self, references: CaptionSource) -> None:
        self._references = as_references(references)

    def pieces(self) -> Iterator[Piece]:
        """Pieces of `ROWS` images that have references."""
        ids, counts = self._references.image_ids, self._references.caption_counts()
        images = [image for image, count in enumerate(counts) if count]
        for start in range(0, len(images), ROWS):
            own = images[start : start + ROWS]
            yield Piece(self._references.aligned([ids[image] for image in own], own), {})
