"""Caches what is computed from a board, until the board changes; and the images of a benchmark, which never do.

Every process has its own. The revision in the key comes from the database with each request, so no process answers
with what another has changed.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from sacrecap._core import Captions
from sacrecap_server.boards import board_view as boards
from sacrecap_server.boards import parts
from sacrecap_server.boards.board_view import BoardView, Entry
from sacrecap_server.boards.catalogue import is_open, is_over
from sacrecap_server.store import blobs
from sacrecap_server.store.models import Benchmark

T = TypeVar("T")
_MOST = 256
"""Boards, tables and pages that are kept, of all benchmarks."""


@dataclass(frozen=True)
class KeptAnswer:
    """An answer that is ready to be sent."""

    data: bytes
    etag: str

    @classmethod
    def of(cls, text: str | bytes) -> KeptAnswer:
        """With the tag that says what is in it."""
        data = text.encode() if isinstance(text, str) else text
        return cls(data, f'"{hashlib.sha256(data).hexdigest()[:32]}"')


class BoardCache:
    """Values by benchmark and name; one of an older revision is made again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, Hashable], tuple[Hashable, Any]] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[tuple[int, Hashable], threading.Lock] = {}

    def board(
        self, session: Session, benchmark: Benchmark, sort: str | None = None, part: str | None = None
    ) -> BoardView:
        """As `sacrecap_server.boards.board_view.board` has it."""
        sort = boards.chosen_metric(benchmark, sort)
        return self.get(benchmark, ("board", sort, part), lambda: boards.board(session, benchmark, sort, part))

    def entries(self, session: Session, benchmark: Benchmark) -> list[Entry]:
        """All scored submissions, by scores of the part that people see, the earliest scored first."""
        return self.get(benchmark, "entries", lambda: boards.entries(session, benchmark))

    def part(self, session: Session, benchmark: Benchmark, asked_for: str | None = None, *, owner: bool = False) -> str:
        """The part of the images to show, by default the one that people see now; `Refused` as `parts.check` says."""
        shown = self.get(benchmark, "part", lambda: parts.shown(session, benchmark))
        if asked_for is None or asked_for == shown:
            return shown
        parts.check(session, benchmark, asked_for, owner=owner)
        return asked_for

    def get(self, benchmark: Benchmark, name: Hashable, make: Callable[[], T]) -> T:
        """The value of that name for the benchmark as it is now; `make` makes it, in one thread at a time."""
        key = (benchmark.id, name)
        state = (benchmark.revision, is_open(benchmark), is_over(benchmark))
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and kept[0] == state:
                self._kept.move_to_end(key)
                value: T = kept[1]
                return value
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                kept = self._kept.get(key)
            if kept is not None and kept[0] == state:
                held: T = kept[1]
                return held
            value = make()
            with self._lock:
                self._kept[key] = (state, value)
                self._kept.move_to_end(key)
                while len(self._kept) > _MOST:
                    self._making.pop(self._kept.popitem(last=False)[0], None)
        return value


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
