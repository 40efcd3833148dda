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
    without = [person["alpha_without"] for person in quality["people"] if person["alpha_without"] is not None]
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
    marks: list[Mark] = [{**MARK, "x": alpha, "y": 1.0, "look": _OTHER, "size": 0.4} for alpha in without]
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
        [
            (system["system"], system["strength"], system["interval"])
            for system in group
            if system["strength"] is not None
        ]
    )


def ratings(rows: list[Body]) -> Markup:
    """The systems' mean ratings."""
    return _of_systems([(row["system"], row["mean"], row["interval"]) for row in rows])


def first(share: Body) -> Markup:
    """The share of choices of what stood first, beside one half."""
    value = share["hits"] / share["trials"]
    share_text = f"{100 * value:.0f} %{_interval(share['interval'])}"
    label = f"Chose what stood first: {share_text}; 50 % without an effect"
    return _estimates([("", value, share["interval"])], label, lines=[_line([(0.5, -0.5), (0.5, 0.5)], None)])


def seconds(quality: Body) -> Markup:
    """How many answers took how long; those that are too fast are marked."""
    limit = quality["fast_below"]
    counts = zip(SECONDS, quality["seconds"], strict=True)
    columns = [(f"{begin:g}", count, _BAD if begin < limit else _MAIN) for begin, count in counts]
    return _columns(columns, f"Answers by seconds; bars below {limit:g} seconds are marked")


def course(quality: Body) -> Markup:
    """Answers per hour, day or week."""
    form = "%m-%d %H:00" if quality["course_unit"] == "hour" else "%m-%d"
    columns = [(dt.datetime.fromisoformat(begin).strftime(form), count, _MAIN) for begin, count in quality["course"]]
    return _columns(columns, COURSES[quality["course_unit"]])


Estimate = tuple[str, float, Sequence[float] | None]
"""A name, a value, and its interval if there is one."""


def _of_systems(estimates: list[Estimate]) -> Markup:
    return _estimates(
        estimates, "; ".join(f"{name} {value:.2f}{_interval(interval)}" for name, value, interval in estimates)
    )


def _estimates(
    estimates: Sequence[Estimate],
    label: str,
    *,
    low: float = 0.0,
    rows: int = 0,
    lines: Sequence[Line] = (),
    marks: Sequence[Mark] = (),
) -> Markup:
    """A row per estimate on one scale from `low` to 1, over lines and marks of other kinds; `rows` with theirs."""
    rows = rows or len(estimates)
    of_estimates: list[Mark] = [
        {**MARK, "x": value, "y": row, "across": (interval[0], interval[1]) if interval else None}
        for row, (_, value, interval) in enumerate(estimates)
    ]
    panel: Panel = {**empty("plot"), "lines": list(lines), "marks": [*of_estimates, *marks]}
    panel["x"] = {**AXIS, "ends": (low, 1.0), "ticks": [(tick, f"{tick:g}") for tick in round_values(low, 1.0, 5)]}
    panel["y"] = {
        **AXIS,
        "ends": (rows - 0.5, -0.5),
        "ticks": [(row, estimate[0]) for row, estimate in enumerate(estimates) if estimate[0]],
    }
    return _drawn(panel, label, height=40 + _ROW * rows)


def _columns(columns: Sequence[tuple[str, int, int]], label: str) -> Markup:
    """A column for each label and count, in its look."""
    most = max((count for _, count, _ in columns), default=0) or 1
    marks: list[Mark] = [
        {**MARK, "x": place, "y": count, "across": (place, place + 1), "look": look, "said": f"{name}: {count:,}"}
        for place, (name, count, look) in enumerate(columns)
    ]
    panel: Panel = {**empty("columns"), "marks": marks}
    names = [(place + 0.5, name) for place, (name, _, _) in enumerate(columns)]
    panel["x"] = {**AXIS, "ends": (0.0, float(max(len(columns), 1))), "ticks": names}
    panel["y"] = {**AXIS, "ends": (0.0, float(most)), "ticks": [(0.0, "0"), (most, f"{most:,}")]}
    return _drawn(panel, label)


def _line(points: Sequence[tuple[float, float]], look: int | None, kind: Any = "open") -> Line:
    return {"look": look, "points": list(points), "kind": kind, "said": ""}


def _drawn(panel: Panel, label: str, height: int = 0) -> Markup:
    return Markup(svg(panel, label, height=height))  # noqa: S704  (all text in it is escaped)


def _interval(interval: Any) -> str:
    return "" if interval is None else f" [{interval[0]:.2f}, {interval[1]:.2f}]"
