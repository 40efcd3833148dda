"""`sacrecap calibrate`: what people would say of all captions."""

from __future__ import annotations

from typing import Any

import click

from sacrecap.cli.agreement import rating_range, words
from sacrecap.cli.group import Command, takes
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import Output, output


@click.command(cls=Command, values=(output(scores=False, report=True),))
@click.argument("scores")
@click.argument("ratings")
@takes(
    """
    --witness NAME  A column of SCORES to use; all by default.
    --rating NAME  Which rating, where captions have several.
    --rating-range LOW,HIGH  The scale, where all ratings are equal.
    --raters PATTERN  The columns of one rater each, such as 'R*'; columns like rater_1 are found without.
    --words LIST  What words of other tools stand for, such as model_a=b,model_b=c,unsure=tie.
    --interval LEVEL  Confidence level of the intervals.
    --plan  Also tell how long the interval would be with other numbers of ratings.
    """,
    witness={"name": "witnesses", "multiple": True},
    rating_range={"type": rating_range},
    words={"type": words},
    interval={"type": click.FloatRange(0, 1, min_open=True, max_open=True), "default": 0.95},
    plan={"is_flag": True},
)
def command(scores: str, ratings: str, witnesses: tuple[str, ...], output: Output, **how: Any) -> None:
    """Tell what people would say of all captions of SCORES, from the RATINGS of a few.

    SCORES has a row per caption, with image_id, system or caption, and a column per metric or judge (Parquet, CSV, JSON
    lines), as sacrecap compare --per-image writes. RATINGS has image_id, system or caption, and rating; or it is the
    export of a study, of ratings or of choices. The rated captions must be drawn at random; where not all were drawn
    alike, a column inclusion has what the probability of each draw is proportional to.
    """
    from sacrecap.judgments import calibrate

    output.check()
    stage.text = "calibrating"
    calibration = calibrate(scores, ratings, witnesses=witnesses or None, **how)
    output.finish(calibration)
