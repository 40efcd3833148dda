"""The pictures of pages: what is in them; `sacrecap.report.pictures` draws them, and the sheets colour them."""

from __future__ import annotations

import datetime as dt
import statistics
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from sacrecap.report.pictures.panels import Mark, Panel, PanelAxis
from sacrecap.report.pictures.svg import Strip, strips, svg
from sacrecap_studies.estimation import RELIABLE, TENTATIVE
from sacrecap_studies.quality import SECONDS

Body = dict[str, Any]
"""The fields of `sacrecap_studies.quality.Quality`, or a part of them."""
JUDGMENTS = {"low": ("too low", "bad"), "tentative": ("tentative", "fair"), "reliable": ("reliable", "good")}
"""The page's words for a judgment of α, and the class of its colour."""
_PLAIN, _, _BAD = range(3)
"""Looks, as the sheets colour them."""
COURSES = {"hour": "Answers per hour, UTC", "day": "Answers per day, UTC", "week": "Answers per week, UTC"}
"""What the picture of the course shows, by its unit."""


def alpha(quality: Body) -> Markup:
    """α with its interval between the thresholds, and α without each person."""
    without = [person["alpha_without"] for person in quality["people"] if person["alpha_without"] is not None]
    rows = [Strip("α", quality["alpha"], quality["alpha_interval"])]
    if without:
        rows.append(Strip("without one", statistics.median(without), (min(without), max(without)), 1))
    lowest = min(end for row in rows for end in row.interval or [row.value])
    low = -1.0 if lowest < -0.5 else -0.5 if lowest < 0 else 0.0
    return _rows(rows, JUDGMENTS[quality["alpha_judgment"]][0], low=low, guides=(TENTATIVE, RELIABLE))


def systems(rows: list[Body], value: str, what: str) -> Markup:
    """The systems' strengths, or mean ratings, as far as they are known."""
    return _rows([Strip(row["system"], row[value], row["interval"]) for row in rows if row[value] is not None], what)


def first(share: Body) -> Markup:
    """The share of choices of what stood first, beside one half."""
    row = Strip("", share["hits"] / share["trials"], share["interval"])
    return _rows([row], "Share of choices of what stood first; one half without an effect", guides=(0.5,))


def seconds(quality: Body) -> Markup:
    """How many answers took how long; those that are too fast are marked."""
    limit = quality["fast_below"]
    counts = zip(SECONDS, quality["seconds"], strict=True)
    columns = [(f"{begin:g}", count, _BAD if begin < limit else _PLAIN) for begin, count in counts]
    return _columns(columns, f"Answers by seconds; bars below {limit:g} seconds are marked")


def course(quality: Body) -> Markup:
    """Answers per hour, day or week."""
    form = "%m-%d %H:00" if quality["course_unit"] == "hour" else "%m-%d"
    columns = [(dt.datetime.fromisoformat(begin).strftime(form), count, _PLAIN) for begin, count in quality["course"]]
    return _columns(columns, COURSES[quality["course_unit"]])


def _rows(rows: Sequence[Strip], what: str, *, low: float = 0.0, guides: Sequence[float] = ()) -> Markup:
    return Markup(strips(rows, what, ends=(low, 1.0), guides=guides))  # noqa: S704  (all text in it is escaped)


def _columns(columns: Sequence[tuple[str, int, int]], label: str) -> Markup:
    """A column for each label and count, in its look."""
    most = max((count for _, count, _ in columns), default=0) or 1
    marks = [
        Mark(place, count, look, (place, place + 1), said=f"{name}: {count:,}")
        for place, (name, count, look) in enumerate(columns)
    ]
    names = [(place + 0.5, name) for place, (name, _, _) in enumerate(columns)]
    x = PanelAxis("", (0.0, float(max(len(columns), 1))), names)
    y = PanelAxis("", (0.0, float(most)), [(0.0, "0"), (most, f"{most:,}")])
    panel = Panel("columns", x, y, marks=marks)
    return Markup(svg(panel, label))  # noqa: S704
