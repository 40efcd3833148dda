"""The charts of an agreement with people: by the number of references, by system, and judgment by judgment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import StatisticsError, linear_regression

from sacrecap.judgments.agreement_result import Agreement, band
from sacrecap.judgments.agreement_statistics import ALL, LABELS, merged
from sacrecap.judgments.judged_rows import Pairs
from sacrecap.report.pictures.charts import Axis, Chart, LeftOutError, Row, Segment
from sacrecap.report.printing.table import Number

PEOPLE = "people"
_FEW = 10
"""A cloud over so many ratings or fewer would be bars of points: it is drawn as a box for each."""


def curve(agreement: Agreement) -> Chart:
    """Agreement by the number of references, of pairs in a panel for all and for each category: of each metric the mean
    over draws with the band that holds 95% of them, or the value with the first references.

    Raises `LeftOutError` for a single number of references.
    """
    if len({measured.references for measured in agreement.measured}) < 2:
        raise LeftOutError("it needs several numbers of references")
    pairs = isinstance(agreement.judgments, Pairs)
    what = "accuracy" if pairs else LABELS[agreement.primary]
    kinds = [name for name in agreement.statistics if name != ALL]
    panels = ([ALL, *kinds] if len(kinds) > 1 else [ALL]) if pairs else [agreement.primary]
    labels = {name: f"{what}, {name}" if len(panels) > 1 else what for name in panels}
    rows: list[Row] = []
    for name, label in labels.items():
        for measured in sorted(agreement.measured, key=lambda measured: measured.references or 0):
            value = measured.statistics[name].value
            mean, low, high = band(measured.draws[name]) if measured.draws else (value, value, value)
            if not math.isfinite(mean):
                mean, low, high = value, value, value
            if math.isfinite(mean):
                named = {"system": measured.label, "kind": "system", "measure": label}
                ends = {"agreement": mean, "agreement_lower": low, "agreement_upper": high}
                rows.append({**named, "references": measured.references, **ends})
    drawn = [name for name in panels if any(row["measure"] == labels[name] for row in rows)]
    if not drawn:
        raise LeftOutError(f"{what} is undefined")
    several = any(measured.draws for measured in agreement.measured)
    return Chart(
        "curve",
        ("system", "kind", "measure", "references", "agreement", "agreement_lower", "agreement_upper"),
        rows,
        "lines",
        Axis("references", "References", scale="log counts" if all(row["references"] for row in rows) else "counts"),
        [Axis("agreement", labels[name]) for name in drawn],
        note="The interval holds 95% of the draws of references." if several else "",
        said={"references": "references", "agreement": what},
        band=True,
        panel="measure",
        panels=[labels[name] for name in drawn],
        titles=drawn if len(panels) > 1 else (),
    )


def wins(agreement: Agreement) -> Chart:
    """Each system's share of wins over the others, by people and by each metric (CIDEr paper, figure 4).

    Raises `LeftOutError` without systems, and for ratings, whose scale is not that of the metrics.
    """
    systems = agreement.systems
    if systems is None or not isinstance(agreement.judgments, Pairs):
        raise LeftOutError("wins are of three systems or more, which the pairs name")
    labels = {measured.name: measured.label for measured in agreement.measured}
    shares = [("system", labels[name], share) for name, share in systems.metrics.items()]
    rows = [
        {"system": name, "kind": kind, "measure": system, "number": number, "wins": share[system]}
        for kind, name, share in [*shares, ("people", PEOPLE, systems.people)]
        for number, system in enumerate(systems.people)
    ]
    pearson = [f"{labels[name]} {Number(values['pearson'], '.2f')}" for name, values in systems.agreement.items()]
    return Chart(
        "wins",
        ("system", "kind", "measure", "wins"),
        rows,
        "points",
        Axis("number", "", scale="measures"),
        [Axis("wins", "Share of wins over the others", scale="zero")],
        note=f"Pearson’s r with people over systems: {', '.join(pearson)}.",
        said={"measure": "system", "wins": "share of wins"},
    )


def scatter(agreement: Agreement) -> Chart:
    """Each metric's scores against people's ratings, with the line of least squares: a panel per metric; scores of
    which less is better have a minus sign.

    Of several numbers of references, the last. Raises `LeftOutError` for pairs, which have no ratings.
    """
    judgments = agreement.judgments
    if isinstance(judgments, Pairs):
        raise LeftOutError("people chose, and rated nothing")
    ratings = merged(judgments.ratings, agreement.raters)
    last = agreement.measured[-1].references
    rows: list[Row] = []
    labels, titles, fitted = [], [], []
    for measured in agreement.measured:
        scored = zip(ratings, measured.scores["caption"].tolist(), strict=True)
        points = [(value, score) for rated, score in scored if not math.isnan(score) for value in rated]
        if not points or measured.references != last:
            continue
        label = f"−{measured.label}" if measured.lower_is_better else measured.label
        named = {"system": measured.label, "kind": "system", "measure": label}
        rows += [{**named, "rating": value, "score": score} for value, score in points]
        r, rho = (Number(measured.statistics[name].value, ".3f") for name in ("pearson", "spearman"))
        labels.append(label)
        titles.append(f"{label}: r {r}, ρ {rho}")
        fitted.append(_line(points))
    if not rows:
        raise LeftOutError("no caption has a score")
    few = len({row["rating"] for row in rows}) <= _FEW
    boxes = "A box holds half of the scores, around the median; its line, 90 %. " if few else ""
    people = "Rating" if agreement.raters == "each" else f"{agreement.raters.capitalize()} rating"
    return Chart(
        "scatter",
        ("system", "kind", "measure", "rating", "score"),
        rows,
        "boxes" if few else "cloud",
        Axis("rating", f"{people} by people", scale="counts" if few else "around"),
        [Axis("score", label) for label in labels],
        note=f"{boxes}The line across is that of least squares.",
        said={"number": "ratings", "score": "median"},
        panel="measure",
        panels=labels,
        titles=titles,
        fitted=fitted,
    )


def _line(points: Sequence[tuple[float, float]]) -> Segment | None:
    """The line of least squares as far as there are ratings and scores like that; None if all have one rating."""
    try:
        slope, intercept = linear_regression(*zip(*points, strict=True))
    except StatisticsError:
        return None
    if math.isnan(slope):
        return None
    left, right = min(points)[0], max(points)[0]
    if slope:
        scores = [score for _, score in points]
        first, last = sorted((end - intercept) / slope for end in (min(scores), max(scores)))
        left, right = max(left, first), min(right, last)
    return (left, intercept + slope * left), (right, intercept + slope * right)
