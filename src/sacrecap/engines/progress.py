"""How far an engine is: rows, rows per second, time left."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sacrecap.resources.needs import WorkShare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sacrecap.data.partitioned import Part


LOG = logging.getLogger("sacrecap.engines")
"""Where progress is logged, for programs that have handlers: an event at level INFO, its figures as fields."""
LOG_SECONDS = 10.0
"""Seconds between two events."""


class Progress:
    """Tells a pass over the parts to whoever watches, and to the log. Shares are of the input's bytes, which are known
    before its rows.
    """

    def __init__(self, what: str, parts: Sequence[Part], tell: Callable[[float], object] | None) -> None:
        self._what, self._tell = what, tell
        self._bytes, self._all = 0, max(sum(part.bytes for part in parts), 1)
        self._started = self._logged = time.monotonic()
        if tell is not None:
            tell(WorkShare(0.0, f"{what}: {len(parts):,} parts"))

    def done(self, part: Part, rows: int) -> None:
        """Notes that a part is done, and so many rows in all."""
        self._bytes += part.bytes
        now = time.monotonic()
        share, seconds = self._bytes / self._all, max(now - self._started, 1e-9)
        rate, left = rows / seconds, seconds * (1 - share) / share if share else None
        if share >= 1 or now - self._logged >= LOG_SECONDS:
            self._logged = now
            figures = {"rows": rows, "rows_per_second": rate, "seconds_left": left, "share": share}
            LOG.info("%s", self._what, extra=figures)
        if self._tell is not None:
            text = f"{self._what}: {rows:,} rows, {rate:,.0f} per second"
            if share < 1 and left is not None:
                text += f", {duration(left)} left"
            self._tell(WorkShare(min(share, 0.999_999), text))


def duration(seconds: float) -> str:
    """A time as people say it: 40 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
