"""Conditions on the scores of an image: `clipscore > 0.28 and rouge-l >= 0.3`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sacrecap.errors import UsageError, engine_option

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

EVERY = "all"
"""The condition that holds for all images."""
_TERM = re.compile(r"(.+?)\s*(>=|<=|>|<)\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)")


@dataclass(frozen=True)
class Condition:
    """What has to hold for an image: every term, as (key of a score, comparison, number); none for all images."""

    text: str
    terms: tuple[tuple[str, str, float], ...]

    @classmethod
    def parse(cls, text: str) -> Condition:
        """The condition in these words. Raises `UsageError` for other words."""
        terms = []
        for term in [] if text.strip() == EVERY else text.split(" and "):
            found = _TERM.fullmatch(term.strip())
            try:
                terms.append((found[1], found[2], float(found[3])) if found else ("", "", float("x")))
            except ValueError:
                raise UsageError(
                    f"{engine_option('keep')}: {term.strip()!r} is no condition; write as 'rouge-l > 0.3', several "
                    f"joined by and, or {EVERY}"
                ) from None
        return cls(text, tuple(terms))

    def check(self, keys: Collection[str]) -> None:
        """Raises `UsageError` if it is about a score that there is not."""
        for key, *_ in self.terms:
            if key not in keys:
                raise UsageError(f"{engine_option('keep')}: there is no score {key!r}; there are {', '.join(keys)}")

    def holds(self, scores: Mapping[str, npt.NDArray[np.float64]], rows: int) -> Any:
        """For which images it holds; it does not for one that has no score."""
        import numpy as np

        compare = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}
        kept = np.ones(rows, dtype=bool)
        for key, sign, number in self.terms:
            kept &= compare[sign](scores[key], number)
        return kept
