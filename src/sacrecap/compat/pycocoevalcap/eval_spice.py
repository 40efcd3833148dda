"""SPICE alone on the captions of two COCO objects, as coco-caption has it."""

from __future__ import annotations

from typing import Any

from sacrecap.compat.pycocoevalcap.eval import COCOEvalCap
from sacrecap.compat.pycocoevalcap.spice.spice import Spice


class COCOEvalCapSpice(COCOEvalCap):
    """SPICE of the captions of `cocoRes` by those of `coco`; several captions of an image are scored by what they say
    together.
    """

    def scorers(self) -> list[tuple[Any, list[str]]]:
        return [(Spice(), ["SPICE"])]
