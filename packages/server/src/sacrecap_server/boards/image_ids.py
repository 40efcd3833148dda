"""The images of a benchmark, whose ids are public: teams need them."""

from __future__ import annotations

from sqlalchemy.orm import Session

from sacrecap._core import Captions
from sacrecap_server.store import blobs
from sacrecap_server.store.models import Benchmark

_MOST_KEPT = 100


class ImageIds:
    """Image ids by references; reading them from the file each time would make every upload slow."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def of(self, session: Session, benchmark: Benchmark) -> tuple[str, ...]:
        """The images to caption, in the order of the references."""
        sha = benchmark.references_sha
        if sha not in self._known:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[sha] = tuple(Captions.parse(blobs.fetch(session, sha), None, None).image_ids)
        return self._known[sha]
