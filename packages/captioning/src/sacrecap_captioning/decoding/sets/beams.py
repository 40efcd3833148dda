"""Beam search and diverse beam search: a set is the whole beam.

Diverse: Vijayakumar et al., *Diverse beam search* (AAAI 2018), with Hamming diversity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sacrecap.errors import UsageError
from sacrecap_captioning.decoding.sets.method import ImageBatch, SetMethod, parameter
from sacrecap_captioning.decoding.sets.speaker import Speaker


@dataclass(frozen=True)
class Beam(SetMethod):
    """The likeliest captions, each once."""

    name: ClassVar[str] = "beam"
    summary: ClassVar[str] = "beam search; the set is the beam"

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        return speaker.beam(images.seen(), images.chances, captions)


@dataclass(frozen=True)
class DiverseBeam(SetMethod):
    """Groups of a beam that avoid each other's words, step by step."""

    name: ClassVar[str] = "diverse-beam"
    summary: ClassVar[str] = "diverse beam search; the set is the beam"
    groups: int = parameter(0, "groups of the beam, which divide the captions; 0 is one group per caption", least=0)
    penalty: float = parameter(0.5, "cost of a word for each time earlier groups have just used it", least=0)

    def check(self, speaker: Speaker, captions: int) -> None:  # noqa: ARG002
        """See `SetMethod`."""
        if captions % self._groups(captions):
            raise UsageError(
                f"diverse-beam: the groups must divide the {captions} captions of a set, got {self.groups}"
            )

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        groups = self._groups(captions)
        return speaker.beam(images.seen(), images.chances, captions, groups=groups, penalty=self.penalty)

    def _groups(self, captions: int) -> int:
        return self.groups or captions
