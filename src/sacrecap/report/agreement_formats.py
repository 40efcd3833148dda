"""Agreement with people, in each of the formats of `--format`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sacrecap.judgments.agreement_result import band, other_ties
from sacrecap.judgments.agreement_statistics import LABELS
from sacrecap.judgments.judged_rows import Pairs, liked_otherwise
from sacrecap.report.printing import Views
from sacrecap.report.printing.table import Cell, Column, Interval, Number, Table, records
from sacrecap.report.score_formats import percent

if TYPE_CHECKING:
    from sacrecap.judgments.agreement_result import Agreement, Measured
    from sacrecap.judgments.bootstrap import Estimate
    from sacrecap.report.printing.table import Value


def _records(agreement: Agreement) -> Table:
    parts = [(measured.name, measured.references, measured.statistics) for measured in agreement.measured]
    if agreement.people is not None:
        parts.append(("people", None, agreement.people[1]))
    level = agreement.resampling.interval
    return records(
        ("metric", "references", "statistic", "value", "lower", "upper"),
        [
            (name, references, statistic, estimate.value, *(estimate.interval(level) or (None, None)))
            for name, references, statistics in parts
            for statistic, estimate in statistics.items()
        ],
    )


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


def liked_tables(agreement: Agreement) -> list[Table]:
    """The pairs of which people like another caption than the human-like one; the references that voted for that."""
    names = ("image_id", "human_like", "liked")
    rows: list[list[Value]] = [
        [*(pair[name] for name in names), "; ".join(pair["references"])]
        for pair in liked_otherwise(agreement.judgments)
    ]
    heads = ("image", "human-like", "liked", "references")
    columns = [Column(head, align="left", names=True) for head in heads]
    return [Table(columns, rows, title="Human-like, and liked")] if rows else []


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


render = Views(
    _records,
    lambda agreement, _: [table(agreement), *systems_tables(agreement), *liked_tables(agreement)],
    lambda agreement, _: [
        replace(table(agreement), notes=["", *lines(agreement)]),
        *systems_tables(agreement),
        *liked_tables(agreement),
    ],
).render
"""An agreement as text in the format of a name."""
