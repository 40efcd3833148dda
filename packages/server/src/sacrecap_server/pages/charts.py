"""The pictures of the quality page, from the fields of `sacrecap_studies.quality.Quality`."""

from __future__ import annotations

import datetime as dt
from typing import Any

from markupsafe import Markup

from sacrecap_server.web.charts import Band, CountBar, EstimateRow, bars, estimates
from sacrecap_studies.agreement import RELIABLE, TENTATIVE
from sacrecap_studies.quality import SECONDS

Body = dict[str, Any]
JUDGMENTS = {"low": ("too low", "bad"), "tentative": ("tentative", "fair"), "reliable": ("reliable", "good")}
"""The page's words for a judgment of α, and the class of its colour."""


def alpha(quality: Body) -> Markup:
    """α with its interval between the thresholds, and α without each person."""
    without = [one["alpha_without"] for one in quality["people"] if one["alpha_without"] is not None]
    interval = quality["alpha_interval"]
    lowest = min([quality["alpha"], *without, *(interval or []), 0.0])
    low = -1.0 if lowest < -0.5 else -0.5 if lowest < 0 else 0.0
    bands = (
        Band(low, TENTATIVE, *JUDGMENTS["low"]),
        Band(TENTATIVE, RELIABLE, *JUDGMENTS["tentative"]),
        Band(RELIABLE, 1.0, *JUDGMENTS["reliable"]),
    )
    label = f"α is {quality['alpha']:.2f}{_interval(interval)}; {JUDGMENTS[quality['alpha_judgment']][0]}"
    return estimates([EstimateRow("", quality["alpha"], interval)], label, low=low, bands=bands, dots=without)


def strengths(group: list[Body]) -> Markup:
    """The strengths of a group of systems."""
    rows = [
        EstimateRow(one["system"], one["strength"], one["interval"]) for one in group if one["strength"] is not None
    ]
    return estimates(rows, "; ".join(f"{row.name} {row.value:.2f}{_interval(row.interval)}" for row in rows))


def ratings(rows: list[Body]) -> Markup:
    """The systems' mean ratings."""
    found = [EstimateRow(one["system"], one["mean"], one["interval"]) for one in rows]
    return estimates(found, "; ".join(f"{row.name} {row.value:.2f}{_interval(row.interval)}" for row in found))


def first(share: Body) -> Markup:
    """The share of choices of what stood first, beside one half."""
    value = share["hits"] / share["trials"]
    label = f"{100 * value:.0f} % chose what stood first{_interval(share['interval'])}; 50 % without an effect"
    return estimates([EstimateRow("", value, share["interval"])], label, line=0.5)


def seconds(quality: Body) -> Markup:
    """How many answers took how long; those that are too fast are marked."""
    limit = quality["fast_below"]
    found = [
        CountBar(f"{begin:g}", count, marked=begin < limit)
        for begin, count in zip(SECONDS, quality["seconds"], strict=True)
    ]
    return bars(found, f"Answers by seconds; bars below {limit:g} seconds are marked")


def course(quality: Body) -> Markup:
    """Answers per hour, day or week."""
    form = "%d %b %H:00" if quality["course_unit"] == "hour" else "%d %b"
    found = [CountBar(dt.datetime.fromisoformat(begin).strftime(form), count) for begin, count in quality["course"]]
    return bars(found, f"Answers per {quality['course_unit']}, UTC")


def _interval(interval: Any) -> str:
    return "" if interval is None else f", interval {interval[0]:.2f} to {interval[1]:.2f}"
