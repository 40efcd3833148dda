"""Agreement with people, in each of the formats of `--format`, and as a page.

The page shows the table that terminals print, and below it the judged captions, first those on which a metric and
people disagree most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from sacrecap.judgments.agreement_result import Agreement, Measured, band, other_ties
from sacrecap.judgments.agreement_statistics import LABELS
from sacrecap.judgments.bootstrap import Estimate, Floats
from sacrecap.judgments.judged_rows import Pairs, Ratings, liked_otherwise, usual_metrics
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.agreement_charts import PEOPLE, curve, scatter, wins
from sacrecap.report.pictures.charts import Chart, LeftOutError
from sacrecap.report.pictures.style import look
from sacrecap.report.pictures.svg import figures, plots
from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Cell, Column, Figures, Interval, Number, Records, Table, Value, percent
from sacrecap.report.score_page import DECIMALS, SAMPLED, first_and_sample, fitting, known

MOST_ITEMS = 10_000
"""Most judged captions or pairs on the page: with more, it would be slow to open; the others are left out."""
EXTREMES = 2_000
"""Number of those on the page on which a metric and people disagree most; the others are sampled."""
MOST_POINTS = 1_000
"""Most points of a picture of scores and ratings on the page."""
_MOST_RATINGS = 10
"""Most ratings of one caption that are listed."""


def _records(agreement: Agreement) -> Records:
    parts = [(measured.name, measured.references, measured.statistics) for measured in agreement.measured]
    if agreement.people is not None:
        parts.append(("people", None, agreement.people[1]))
    level = agreement.resampling.interval
    return ("metric", "references", "statistic", "value", "lower", "upper"), [
        (name, references, statistic, estimate.value, *(estimate.interval(level) or (None, None)))
        for name, references, statistics in parts
        for statistic, estimate in statistics.items()
    ]


def ordered(agreement: Agreement) -> Agreement:
    """The same with the metric first that agrees best, among those with the same number of references."""
    counts = list(dict.fromkeys(measured.references for measured in agreement.measured))

    def place(measured: Measured) -> tuple[int, float]:
        value = measured.statistics[agreement.primary].value
        return counts.index(measured.references), -value if math.isfinite(value) else math.inf

    return replace(agreement, measured=sorted(agreement.measured, key=place))


def table(agreement: Agreement) -> Table:
    """One row per metric and number of references, the best first; people are the last row."""
    agreement = ordered(agreement)
    rows, primary, level = agreement.measured, agreement.primary, agreement.resampling.interval
    statistics = [row.statistics for row in rows] + ([agreement.people[1]] if agreement.people else [])
    label = LABELS.get(primary, primary)
    columns: list[tuple[Column, Sequence[Value]]] = []  # each with its cells; those of people are last, if it has any
    names = [Cell(f"{row.label} (fitted to these)" if row.fitted else row.label, term=row.name) for row in rows]
    columns.append((Column("metric", align="left", names=True), [*names, Cell("people", kind="people")]))
    if any(row.references is not None for row in rows):
        counts = ["all" if row.references is None else str(row.references) for row in rows]
        columns.append((Column("references", names=True), counts))
    for name in agreement.statistics:
        values = [Number(part[name].value) for part in statistics]
        columns.append((Column(LABELS.get(name, name), term="agreement"), values))
    if level is not None:
        intervals = [part[primary].interval(level) for part in statistics]
        head = Column(f"{percent(level)} interval of {label}", term="interval")
        columns.append((head, [str(Interval(*ends)) if ends else "" for ends in intervals]))
        columns.append((Column("p against best"), [_against_best(agreement, row) for row in rows]))
    if isinstance(agreement.judgments, Pairs):
        head = Column(f"{label}, ties {other_ties(agreement.ties)}")
        columns.append((head, ["" if row.otherwise is None else Number(row.otherwise[primary]) for row in rows]))
        columns.append((Column("ties"), ["" if row.ties is None else str(row.ties[primary]) for row in rows]))
    if any(row.draws for row in rows):
        bands = [str(Interval(*band(row.draws[primary])[1:])) if row.draws else "" for row in rows]
        columns.append((Column("95% of the draws"), bands))
    cells = [[*values, ""][: len(statistics)] for _, values in columns]
    title = "; ".join(missing(agreement))
    return Table([column for column, _ in columns], list(zip(*cells, strict=True)), title=title)


def missing(agreement: Agreement) -> list[str]:
    """Of how many captions or pairs a metric has no score, and what becomes of them: the first line."""
    of_all = f"of {len(agreement.judgments.rows):,}"
    if isinstance(agreement.judgments, Pairs):
        what, effect = "pairs", "count as ties"
    else:
        what, effect = "captions", "are left out"
        effect += ", and their images of the means of systems" if agreement.systems else ""
    return [
        f"{measured.label}: {measured.unscored:,} {of_all} {what} have no score and {effect}"
        for measured in agreement.measured
        if measured.unscored
    ]


def systems_tables(agreement: Agreement) -> list[Table]:
    """Each system by people and by each metric, and how the metrics correlate with people; none without systems."""
    systems = agreement.systems
    if systems is None:
        return []
    labels = {measured.name: measured.label for measured in agreement.measured}
    rows: list[list[Value]] = [
        [system, Number(people), *(Number(scores[system]) for scores in systems.metrics.values())]
        for system, people in systems.people.items()
    ]
    for statistic in ("pearson", "spearman"):
        correlations = [Number(systems.agreement[name][statistic]) for name in systems.metrics]
        rows.append([f"{LABELS[statistic]} with people", "", *correlations])
    heads = [Column("people", kind="people"), *(Column(labels[name]) for name in systems.metrics)]
    what = "Share of wins" if isinstance(agreement.judgments, Pairs) else "Mean rating, and mean scores,"
    return [Table([Column("system", align="left", names=True), *heads], rows, title=f"{what} of each system")]


def _against_best(agreement: Agreement, measured: Measured) -> str:
    """The p of the difference from the metric that agrees best, with the same number of references.

    A metric that was fitted to these judgments is not compared, and cannot be the best.
    """
    if measured.fitted:
        return ""
    rivals = [other for other in agreement.measured if other.references == measured.references and not other.fitted]
    defined = [other for other in rivals if math.isfinite(other.statistics[agreement.primary].value)]
    best = max(defined, key=lambda other: other.statistics[agreement.primary].value, default=measured)
    if best is measured:
        return "best"
    tested = (
        f"{pair.p:.3f}"
        for count, pair in agreement.comparisons
        if (count, pair.statistic) == (measured.references, agreement.primary)
        and {pair.a, pair.b} == {best.name, measured.name}
        and pair.p is not None
    )
    return next(tested, "")


def lines(agreement: Agreement) -> list[str]:
    """The lines below the table: what its numbers are, in sentences."""
    judgments = agreement.judgments
    images = len({row.image_id for row in judgments.rows})
    merged = "" if agreement.raters == "each" else f"{agreement.raters} "
    what = "decided pairs" if isinstance(judgments, Pairs) else f"{merged}ratings"
    weighed = "judged rows" if agreement.documents == "rows" else "images"
    counted = f"{judgments.dataset}: {agreement.n:,} {what} of {images:,} images"
    lines = [f"{counted}; words are weighed by the {weighed} that have them", *judgments.notes]
    if isinstance(judgments, Pairs):
        if undecided := judgments.preferred.count(0):
            lines.append(f"pairs left out because people were undecided: {undecided:,}")
        lines.append("a tie of the metric counts as " + ("wrong" if agreement.ties == "wrong" else "half right"))
    elif judgments.aspect != "rating":
        lines.append(f"rating: {judgments.aspect}")
    lines += [
        f"{label}: fitted to these judgments, so it agrees with others less well; here it cannot be the best"
        for label in dict.fromkeys(measured.label for measured in agreement.measured if measured.fitted)
    ]
    if agreement.people is not None:
        lines.append(f"people: {agreement.people[0]}; a metric above them agrees with people better than people do")
    if (reliable := agreement.reliability) is not None:
        shares = ", ".join(f"{name} {Number(share)}" for name, share in reliable.items())
        lines.append(f"among raters: {shares} (1: all agree; 0: as by chance)")
    if agreement.usage is not None:
        lines.append(f"judge: {agreement.usage}")
    if agreement.direct is not None and judgments.votes is not None:  # else it is the row of people
        lines.append(f"direct votes prefer what the consensus prefers: {_by_category(agreement.direct)}")
    if agreement.halves is not None:
        labels = {measured.name: measured.label for measured in agreement.measured}
        lines += ["", "half of the references judge, the other half predict:"]
        lines += [f"{labels.get(name, name):<12}{_by_category(part)}" for name, part in agreement.halves.items()]
    return lines


def _by_category(statistics: dict[str, Estimate]) -> str:
    return "  ".join(f"{category} {Number(estimate.value)}" for category, estimate in statistics.items())


def _tables(agreement: Agreement, _: Figures, *, in_paper: bool) -> list[Table]:
    liked: list[list[Value]] = [
        [pair["image_id"], pair["human_like"], pair["liked"], "; ".join(pair["references"])]
        for pair in liked_otherwise(agreement.judgments)
    ]
    columns = [Column(head, align="left", names=True) for head in ("image", "human-like", "liked", "references")]
    liked_tables = [Table(columns, liked, title="Human-like, and liked")] if liked else []
    notes = [] if in_paper else ["", *lines(agreement)]
    return [replace(table(agreement), notes=notes), *systems_tables(agreement), *liked_tables]


render = Views(_records, partial(_tables, in_paper=True), partial(_tables, in_paper=False)).render
"""An agreement as text in the format of a name."""


# The page


def page(agreement: Agreement, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of an agreement."""
    agreement = ordered(agreement)
    data, drawn = agreement_data(agreement), _plots(agreement)
    judgments = agreement.judgments
    pairs = isinstance(judgments, Pairs)
    total = sum(map(bool, judgments.preferred)) if isinstance(judgments, Pairs) else len(judgments.rows)
    pictured = len({row.image_id for row in judgments.rows})
    count = agreement.measured[-1].references
    against = "" if count is None else f", against {count:,} references"
    what = "sets" if usual_metrics(judgments) == "diversity" else "captions"
    explained = (
        "The caption that people chose is blue. The metric is wrong if it gives the other caption the higher score"
        if pairs
        else "Disagreement is the caption’s place among all captions by the metric, from 0 (lowest) to 1, minus its "
        "place by people"
    )
    part = ""
    if len(data["items"]) < total:
        size = len(data["items"])
        part = (
            f"This page holds {size:,} of the {total:,} {'pairs' if pairs else 'captions'} of {pictured:,} images: the "
            f"{min(EXTREMES, size):,} on which a metric and people disagree most, and {SAMPLED}. The table above is of "
            "all of them."
        )
    return ReportPage(
        judgments.dataset,
        agreement.version,
        {
            "Data set": judgments.dataset,
            "Decided pairs" if pairs else f"Rated {what}": f"{total:,}",
            "Images": f"{pictured:,}",
            "Documents": agreement.documents,
        },
        [
            Section("agreement", "Metrics against people", table=replace(table(agreement), notes=lines(agreement))),
            *(Section("systems", table.title, table=table) for table in systems_tables(agreement)),
            *([Section("plots", "Pictures", drawn=drawn)] if drawn else []),
            Section("images", "Where a metric and people disagree", [("", f"{explained}{against}.")], notes=[part]),
        ],
        data,
        [
            "The metric that [agrees best](howto/measure-agreement/) with people is first: by what has an interval.",
            "In the last row people predict people.",
            "A row of the list opens to the references and to all metrics.",
        ],
        missing(agreement),
    )


def agreement_data(agreement: Agreement) -> dict[str, Any]:
    """What the list shows, without photos."""
    judgments, rows = agreement.judgments, agreement.judgments.rows
    # Of several numbers of references, the scores against the last are shown.
    last = agreement.measured[-1].references
    measured = [metric for metric in agreement.measured if metric.references == last]
    preferred = np.array(judgments.preferred if isinstance(judgments, Pairs) else [1] * len(rows), dtype=np.int64)
    judged = np.flatnonzero(preferred).tolist()  # people decided
    scores: list[Floats] = []  # of shape (candidates, judgments), those of the candidates that people chose first
    for metric in measured:
        columns = np.array(list(metric.scores.values()), dtype=np.float64)[:, judged]
        scores.append(np.where(preferred[judged] < 0, columns[::-1], columns))
    gaps: list[Floats]  # between metric and people; nan without a score
    if isinstance(judgments, Pairs):
        gaps = [np.nan_to_num(chosen - other, nan=0.0) for chosen, other in scores]
    else:
        people = np.array(list(map(fmean, judgments.ratings)))
        gaps = [np.full(len(people), np.nan) for _ in scores]
        for gap, (values,) in zip(gaps, scores, strict=True):
            scored = ~np.isnan(values)
            gap[scored] = _places(values[scored]) - _places(people[scored])
    captions = list(judgments.candidates().values())
    most = fitting(
        MOST_ITEMS, judged, lambda number: [*(column[number] for column in captions), *rows[number].references]
    )
    # A judgment is placed by the metric that ranks it highest: gaps of different metrics have no common scale.
    disputes = np.array(gaps) if isinstance(judgments, Pairs) else -np.abs(np.nan_to_num(gaps, nan=0.0))
    ranks = disputes.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    chosen = first_and_sample(ranks.min(axis=0).argsort(kind="stable").tolist(), EXTREMES, most)
    images: dict[str, int] = {}
    references: dict[tuple[str, ...], int] = {}
    items = [
        {
            "image": images.setdefault(rows[number].image_id, len(images)),
            "references": references.setdefault(tuple(rows[number].references), len(references)),
            **_item(judgments, number),
        }
        for number in (judged[place] for place in chosen)
    ]
    return {
        "pairs": isinstance(judgments, Pairs),
        "metrics": [
            {
                "label": metric.label,
                "turned": metric.lower_is_better,
                "scores": known(values[:, chosen].round(DECIMALS)),
                "gaps": known(gap[chosen].round(DECIMALS)),
            }
            for metric, values, gap in zip(measured, scores, gaps, strict=True)
        ],
        "images": [{"id": image, "photo": None} for image in images],
        "references": [list(texts) for texts in references],
        "items": items,
    }


def _plots(agreement: Agreement) -> str:
    names = [*dict.fromkeys(metric.label for metric in agreement.measured), PEOPLE]
    systems = [look(number, name, people=number == len(names) - 1) for number, name in enumerate(names)]
    drawn, with_people = [], False
    for describe, name in ((curve, "Agreement by references"), (wins, "Wins of each system"), (scatter, "")):
        try:
            chart = _thinned(describe(agreement))
        except LeftOutError:
            continue
        groups = dict.fromkeys((row["system"], row["kind"]) for row in chart.rows)
        places = [len(names) - 1 if kind == "people" else names.index(system) for system, kind in groups]
        drawn.append(figures(chart, [name], places, [systems[number] for number in places]))
        with_people = with_people or len(names) - 1 in places
    return plots(systems if with_people else systems[:-1], "In the pictures", *drawn) if drawn else ""


def _thinned(chart: Chart) -> Chart:
    """The chart with at most `MOST_POINTS` points in a panel of a cloud, evenly taken; its line is of all."""
    panels = [[row for row in chart.rows if row["measure"] == up.label] for up in chart.y]
    most = max(map(len, panels), default=0)
    if chart.kind != "cloud" or most <= MOST_POINTS:
        return chart
    rows = [row for panel in panels for row in panel[:: math.ceil(most / MOST_POINTS)]]
    return replace(chart, rows=rows, note=f"{chart.note[:-1]} of all {most:,} points.")


def _places(values: Floats) -> Floats:
    """For each value, the share of lower values plus half the share of equal ones."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(((counts.cumsum() - counts / 2) / len(values))[place])


def _item(judgments: Pairs | Ratings, number: int) -> dict[str, Any]:
    """The candidates of a judgment, the one that people chose first, and what people said of each."""
    candidates = [column[number] for column in judgments.candidates().values()]
    systems = [column[number] for column in (judgments.systems() or {}).values()]
    mean, category = None, ""
    if isinstance(judgments, Pairs):
        category = judgments.categories[number]
        kinds = (("votes", judgments.votes), ("direct votes", judgments.direct))
        counted = [(name, votes[number]) for name, votes in kinds if votes and votes[number]]
        people = [
            " · ".join(f"{votes.count(side)} of {len(votes)} {name}" for name, votes in counted) for side in (1, -1)
        ]
        if judgments.preferred[number] < 0:
            candidates, systems, people = candidates[::-1], systems[::-1], people[::-1]
    else:
        ratings = judgments.ratings[number]
        mean = round(fmean(ratings), DECIMALS)
        if judgments.votes is not None:
            yes, no = judgments.votes[number]
            people = [f"{yes} of {yes + no} votes for yes"]
        elif len(ratings) > _MOST_RATINGS:
            people = [f"{len(ratings)} ratings"]
        else:
            people = [f"rated {', '.join(f'{rating:g}' for rating in ratings)}"]
    return {"candidates": candidates, "systems": systems, "people": people, "mean": mean, "category": category}
