"""The engine of one machine: part after part, so that memory does not grow with the input."""

from __future__ import annotations

import contextlib
import pickle
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar

from sacrecap.errors import DataError

if TYPE_CHECKING:
    from sacrecap.data.partitioned import Part
    from sacrecap.engines.plan import Shuffle

Value = TypeVar("Value")


@dataclass(frozen=True)
class Here(Generic[Value]):
    """A value of this process."""

    value: Value

    def get(self) -> Value:
        """The value."""
        return self.value


class OnDisk:
    """Values in a file that nobody else sees, and that goes with it."""

    def __init__(self) -> None:
        with _no_room():
            self._file: IO[bytes] = tempfile.TemporaryFile(prefix="sacrecap-")  # noqa: SIM115 - closed as this object goes
        weakref.finalize(self, self._file.close)

    def add(self, value: object) -> None:
        """Adds a value."""
        with _no_room():
            pickle.dump(value, self._file, protocol=5)

    def all(self) -> Iterator[Any]:
        """The values, in order."""
        with _no_room():
            self._file.seek(0)
        with contextlib.suppress(EOFError):
            while True:
                yield pickle.load(self._file)  # noqa: S301 - ours

    def get(self) -> Any:
        """The first value."""
        return next(self.all())


class StreamEngine:
    """Works on one part after another; the cores share the work on a batch."""

    name = "stream"
    in_order = True

    def __init__(self, threads: int = 0) -> None:
        self.threads = threads

    def share(self, value: Value) -> Here[Value]:
        """The value itself: there is one process."""
        return Here(value)

    def map(
        self,
        function: Callable[[Part], Any],
        parts: Sequence[Part],
        *,
        gpus: float = 0,  # noqa: ARG002
        shuffle: Shuffle | None = None,
    ) -> Iterator[tuple[Part, Any]]:
        """The function's result for each part, in order; pieces of a shuffle go to disk."""
        for part in parts:
            made = function(part)
            if shuffle is not None:
                made, *pieces = made
                shuffle.kept = shuffle.kept or [OnDisk() for _ in pieces]
                for shard, piece in zip(shuffle.kept, pieces, strict=True):
                    shard.add(piece)
            yield part, made

    def gather(self, shuffle: Shuffle) -> Iterator[tuple[Any, OnDisk]]:
        """What the shuffle finishes each shard to; what is kept of it goes to disk."""
        while shuffle.kept:
            told, value = shuffle.finish(*shuffle.kept.pop(0).all())
            kept = OnDisk()
            kept.add(value)
            yield told, kept

    def call(self, function: Callable[..., tuple[Any, Value]], *given: Any) -> Here[Value]:
        """What the function keeps of these values."""
        return Here(function(*(value.get() for value in given))[1])

    def close(self) -> None:
        """Nothing was started."""


@contextlib.contextmanager
def _no_room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{tempfile.gettempdir()}: what memory has no room for cannot be put there: {error.strerror or error}; "
            "free some, or choose another folder with TMPDIR"
        ) from error
