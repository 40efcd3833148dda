"""A parameter that may go through a range along a set's captions: `3`, `1..10`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sacrecap.errors import UsageError


@dataclass(frozen=True)
class Span:
    """A range from the first caption of a set to its last, in equal steps; constant if both ends are equal."""

    first: float
    last: float

    @classmethod
    def parse(cls, text: str) -> Span:
        """`3` or `1..10`.

        Raises:
            UsageError: it is neither.
        """
        first, dots, last = text.partition("..")
        try:
            return cls(float(first), float(last if dots else first))
        except ValueError:
            raise UsageError(f"{text!r} is neither a number nor a range such as 1..10") from None

    def over(self, captions: int) -> npt.NDArray[np.float64]:
        """(captions,) the value for each."""
        return np.linspace(self.first, self.last, captions)

    def __str__(self) -> str:
        return f"{self.first:g}" if self.first == self.last else f"{self.first:g}..{self.last:g}"
