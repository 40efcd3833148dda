"""The engine of one machine: part after part, so that memory does not grow with the input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from sacrecap.data.partitioned import Part

Value = TypeVar("Value")


@dataclass(frozen=True)
class Here(Generic[Value]):
    """A value of this process."""

    value: Value

    def get(self) -> Value:
        """The value."""
        return self.value


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
        function: Callable[[Part], Value],
        parts: Sequence[Part],
        *,
        gpus: float = 0,  # noqa: ARG002
    ) -> Iterator[tuple[Part, Value]]:
        """The function's result for each part, in order."""
        for part in parts:
            yield part, function(part)

    def close(self) -> None:
        """Nothing was started."""
