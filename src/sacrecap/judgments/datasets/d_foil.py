"""D-FOIL: long captions of a vision-language model, with a wrong detail and corrected (Lin et al., DiscoSG, 2025).

A list of `{"image_id", "caption", "hall_caption", "human_corrected_hall_caption"}`: the description of the image by
people is the reference; the corrected caption is preferred. Pairs that were not corrected are left out.
"""

from __future__ import annotations

from sacrecap.data.source import PathLike, display_name
from sacrecap.judgments.datasets.records import read_records
from sacrecap.judgments.judged_rows import Pairs, Row

CORRECTED = "human_corrected_hall_caption"
"""The field by which the file is recognised."""


def read_d_foil(path: PathLike) -> Pairs:
    """Reads the pairs. Raises `DataError`."""
    records = read_records(path)
    read = [
        (
            Row(one.name("image_id"), [one.caption("caption")], place),
            one.caption(CORRECTED),
            one.caption("hall_caption"),
        )
        for place, one in enumerate(records)
    ]
    kept = [(row, corrected, wrong) for row, corrected, wrong in read if corrected != wrong]
    return Pairs(
        "d-foil",
        display_name(path),
        rows=[row for row, _, _ in kept],
        b=[corrected for _, corrected, _ in kept],
        c=[wrong for _, _, wrong in kept],
        preferred=[1] * len(kept),
        categories=[""] * len(kept),
        in_file=len(records),
        notes=[f"captions in which nothing was corrected, left out: {len(read) - len(kept):,}"],
    )
