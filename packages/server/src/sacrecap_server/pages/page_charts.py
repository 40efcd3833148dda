"""The pictures of pages: what is in them; `sacrecap.report.pictures.svg` draws them, and the sheets colour them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from sacrecap.report.pictures.panels import AXIS, MARK, Line, Mark, Panel, empty, round_values
from sacrecap.report.pictures.svg import svg
from sacrecap_studies.alpha import RELIABLE, TENTATIVE
from sacrecap_studies.quality import SECONDS

Body = dict[str, Any]
"""The fields of `sacrecap_studies.quality.Quality`, or a part of them."""
JUDGMENTS = {"low": ("too low", "bad"), "tentative": ("tentative", "fair"), "reliable": ("reliable", "good")}
"""The page's words for a judgment of α, and the class of its colour."""
_MAIN, _OTHER, _BAD, _FAIR, _GOOD = range(5)
"""The looks, as the sheets colour them."""
_ROW = 26


COURSES = {"hour": "Answers per hour, UTC", "day": "Answers per day, UTC", "week": "Answers per week, UTC"}
"""What the picture of the course shows, by its unit."""


def alpha(quality: Body) -> Markup:
    """α with its interval between the thresholds, and α without each person."""
    without = [one["alpha_without"] for one in quality["people"] if one["alpha_without"] is not None]
    interval = quality["alpha_interval"]
    lowest = min([quality["alpha"], *without, *(interval or []), 0.0])
    low = -1.0 if lowest < -0.5 else -0.5 if lowest < 0 else 0.0
    bands = {
        (low, TENTATIVE): ("low", _BAD),
        (TENTATIVE, RELIABLE): ("tentative", _FAIR),
        (RELIABLE, 1.0): ("reliable", _GOOD),
    }
    lines = [
        _line([(begin, -0.5), (end, -0.5), (end, 1.5), (begin, 1.5)], look, "area")
        for (begin, end), (_, look) in bands.items()
    ]
    marks: list[Mark] = [{**MARK, "x": one, "y": 1.0, "look": _OTHER, "size": 0.4} for one in without]
    for (begin, end), (name, look) in bands.items():
        word = JUDGMENTS[name][0]
        if (end - begin) / (1 - low) > len(word) / 75:  # else it would reach into the next one's
            marks.append({**MARK, "x": (begin + end) / 2, "y": -0.5, "look": look, "size": 0.0, "text": word})
    judged = JUDGMENTS[quality["alpha_judgment"]][0]
    label = f"α: {quality['alpha']:.2f}{_interval(interval)}; {judged}"
    return _estimates([("", quality["alpha"], interval)], label, low=low, rows=2, lines=lines, marks=marks)


def strengths(group: list[Body]) -> Markup:
    """The strengths of a group of systems."""
    return _of_systems(
        [(one["system"], one["strength"], one["interval"]) for one in group if one["strength"] is not None]
    )


def ratings(rows: list[Body]) -> Markup:
    """The systems' mean ratings."""
    return _of_systems([(one["system"], one["mean"], one["interval"]) for one in rows])


def first(share: Body) -> Markup:
    """The share of choices of what stood first, beside one half."""
    value = share["hits"] / share["trials"]
    found = f"{100 * value:.0f} %{_interval(share['interval'])}"
    label = f"Chose what stood first: {found}; 50 % without an effect"
    return _estimates([("", value, share["interval"])], label, lines=[_line([(0.5, -0.5), (0.5, 0.5)], None)])


def seconds(quality: Body) -> Markup:
    """How many answers took how long; those that are too fast are marked."""
    limit = quality["fast_below"]
    counts = zip(SECONDS, quality["seconds"], strict=True)
    found = [(f"{begin:g}", count, _BAD if begin < limit else _MAIN) for begin, count in counts]
    return _columns(found, f"Answers by seconds; bars below {limit:g} seconds are marked")


def course(quality: Body) -> Markup:
    """Answers per hour, day or week."""
    form = "%m-%d %H:00" if quality["course_unit"] == "hour" else "%m-%d"
    found = [(dt.datetime.fromisoformat(begin).strftime(form), count, _MAIN) for begin, count in quality["course"]]
    return _columns(found, COURSES[quality["course_unit"]])


Estimate = tuple[str, float, Sequence[float] | None]
"""A name, a value, and its interval if there is one."""


def _of_systems(found: list[Estimate]) -> Markup:
    return _estimates(found, "; ".join(f"{name} {value:.2f}{_interval(interval)}" for name, value, interval in found))


def _estimates(
    found: Sequence[Estimate],
    label: str,
    *,
    low: float = 0.0,
    rows: int = 0,
    lines: Sequence[Line] = (),
    marks: Sequence[Mark] = (),
) -> Markup:
    """A row per estimate on one scale from `low` to 1, over lines and marks of other kinds; `rows` with theirs."""
    rows = rows or len(found)
    own: list[Mark] = [
        {**MARK, "x": value, "y": row, "across": (interval[0], interval[1]) if interval else None}
        for row, (_, value, interval) in enumerate(found)
    ]
    made: Panel = {**empty("plot"), "lines": list(lines), "marks": [*own, *marks]}
    made["x"] = {**AXIS, "ends": (low, 1.0), "ticks": [(tick, f"{tick:g}") for tick in round_values(low, 1.0, 5)]}
    made["y"] = {
        **AXIS,
        "ends": (rows - 0.5, -0.5),
        "ticks": [(row, one[0]) for row, one in enumerate(found) if one[0]],
    }
    return _drawn(made, label, height=40 + _ROW * rows)


def _columns(found: Sequence[tuple[str, int, int]], label: str) -> Markup:
    """A column for each label and count, in its look."""
    most = max((count for _, count, _ in found), default=0) or 1
    marks: list[Mark] = [
        {**MARK, "x": place, "y": count, "across": (place, place + 1), "look": look, "said": f"{name}: {count:,}"}
        for place, (name, count, look) in enumerate(found)
    ]
    made: Panel = {**empty("columns"), "marks": marks}
    names = [(place + 0.5, name) for place, (name, _, _) in enumerate(found)]
    made["x"] = {**AXIS, "ends": (0.0, float(max(len(found), 1))), "ticks": names}
    made["y"] = {**AXIS, "ends": (0.0, float(most)), "ticks": [(0.0, "0"), (most, f"{most:,}")]}
    return _drawn(made, label)


def _line(points: Sequence[tuple[float, float]], look: int | None, kind: Any = "open") -> Line:
    return {"look": look, "points": list(points), "kind": kind, "said": ""}


def _drawn(made: Panel, label: str, **size: int) -> Markup:
    return Markup(svg(made, label, **size))  # noqa: S704  (all text in it is escaped)


def _interval(interval: Any) -> str:
    return "" if interval is None else f" [{interval[0]:.2f}, {interval[1]:.2f}]"
