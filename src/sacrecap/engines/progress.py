"""How far an engine is: images, images per second, time left."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from sacrecap.resources.needs import WorkShare

if TYPE_CHECKING:
    from sacrecap.engines.plan import Piece


LOG = logging.getLogger("sacrecap.engines")
"""Where progress is logged, for programs that have handlers: an event at level INFO, its figures as fields."""
LOG_SECONDS = 10.0
"""Seconds between two events."""


class Progress:
    """Tells a pass over the pieces to whoever watches, and to the log."""

    def __init__(self, what: str, images: int | None, tell: Callable[[float], object] | None) -> None:
        self._what, self._all, self._tell, self._done = what, images, tell, 0
        self._started = self._logged = time.monotonic()
        if tell is not None:
            tell(WorkShare(0.0, what))

    def watched(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The pieces; one is done as the next is taken."""
        for piece in pieces:
            yield piece
            self._count(
                next((captions.image_count for captions in piece.systems.values()), piece.references.image_count)
            )

    def _count(self, images: int) -> None:
        self._done += images
        now = time.monotonic()
        share = self._done / self._all if self._all else 0.0
        rate = self._done / max(now - self._started, 1e-9)
        left = (self._all - self._done) / rate if self._all else None
        if share >= 1 or now - self._logged >= LOG_SECONDS:
            self._logged = now
            figures = {"images": self._done, "images_per_second": rate, "seconds_left": left, "share": share}
            LOG.info("%s", self._what, extra=figures)
        if self._tell is not None:
            text = f"{self._what}: {self._done:,} images, {rate:,.0f} per second"
            text += f", {duration(left)} left" if left else ""
            self._tell(WorkShare(min(share, 0.999_999), text))


def duration(seconds: float) -> str:
    """A time as people say it: 40 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
