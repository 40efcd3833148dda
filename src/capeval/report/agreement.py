"""Agreement with people, in each of the formats of `--format`."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from capeval.judgments.correlation import LABELS
from capeval.judgments.rows import Pairs
from capeval.report.comparison_formats import escape_latex
from capeval.report.formats import percent

if TYPE_CHECKING:
    from capeval.judgments.bootstrap import Estimate
    from capeval.judgments.result import Agreement, Measured


def render(agreement: Agreement, format_: str, *, colour: bool = False) -> str:
    """The agreement as text in the format of that name."""
    if format_ == "table":
        return _table(agreement, colour)
    return _RENDERERS[format_](agreement)


def _json(agreement: Agreement) -> str:
    return json.dumps(agreement.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)


def _csv(agreement: Agreement) -> str:
    """A row a statistic."""
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["metric", "references", "statistic", "value", "lower", "upper"])
    parts = [(measured.name, measured.references, measured.statistics) for measured in agreement.measured]
    if agreement.people is not None:
        parts.append(("people", None, agreement.people[1]))
    for name, references, statistics in parts:
        for statistic, estimate in statistics.items():
            bounds = estimate.interval(agreement.level) or ("", "")
            value = repr(estimate.value) if math.isfinite(estimate.value) else ""
            writer.writerow([name, references or "", statistic, value, *bounds])
    return text.getvalue()


def _head(agreement: Agreement) -> list[str]:
    head = ["metric"]
    if _several(agreement):
        head.append("references")
    head += [LABELS.get(name, name) for name in agreement.statistics]
    if agreement.level is not None:
        head.append(f"{percent(agreement.level)} interval of {LABELS.get(agreement.primary, agreement.primary)}")
        head.append("p against best")
    if isinstance(agreement.judgments, Pairs):
        head.append("ties")
    if any(measured.draws for measured in agreement.measured):
        head.append("95% of the draws")
    return head


def _rows(agreement: Agreement) -> list[list[str]]:
    rows = [_row(agreement, measured) for measured in agreement.measured]
    if agreement.people is not None:
        statistics = agreement.people[1]
        row = ["people", *([""] if _several(agreement) else []), *_values(agreement, statistics)]
        row += _interval(agreement, statistics)
        rows.append([*row, *[""] * (len(_head(agreement)) - len(row))])
    return rows


def _row(agreement: Agreement, measured: Measured) -> list[str]:
    row = [measured.label]
    if _several(agreement):
        row.append("all" if measured.references is None else str(measured.references))
    row += _values(agreement, measured.statistics) + _interval(agreement, measured.statistics)
    if agreement.level is not None:
        row.append(_against_best(agreement, measured))
    if measured.ties is not None:
        row.append(str(measured.ties[agreement.primary]))
    if measured.draws is None:
        row += [""] * (len(_head(agreement)) - len(row))
    else:
        from capeval.judgments.result import band

        _, low, high = band(measured.draws[agreement.primary])
        row.append(f"{low:.4f} to {high:.4f}")
    return row


def _values(agreement: Agreement, statistics: dict[str, Estimate]) -> list[str]:
    return [_number(statistics[name].value) for name in agreement.statistics]


def _interval(agreement: Agreement, statistics: dict[str, Estimate]) -> list[str]:
    if agreement.level is None:
        return []
    bounds = statistics[agreement.primary].interval(agreement.level)
    return ["" if bounds is None else f"{bounds[0]:.4f} to {bounds[1]:.4f}"]


def _against_best(agreement: Agreement, measured: Measured) -> str:
    """The p of the difference from the metric that agrees best, against as many references."""
    rivals = [other for other in agreement.measured if other.references == measured.references]
    defined = [other for other in rivals if math.isfinite(other.statistics[agreement.primary].value)]
    best = max(defined, key=lambda other: other.statistics[agreement.primary].value, default=measured)
    if best is measured:
        return "best"
    for count, found in agreement.comparisons:
        if (
            count == measured.references
            and found.statistic == agreement.primary
            and {found.a, found.b} == {best.name, measured.name}
            and found.p is not None
        ):
            return f"{found.p:.3f}"
    return ""


def _several(agreement: Agreement) -> bool:
    return any(measured.references is not None for measured in agreement.measured)


def _number(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else "–"


def notes(agreement: Agreement) -> list[str]:
    """What the numbers are about, in sentences."""
    judgments = agreement.judgments
    images = len({row.image_id for row in judgments.rows})
    what = "decided pairs" if isinstance(judgments, Pairs) else "ratings"
    found = [f"{judgments.dataset}: {agreement.n:,} {what} of {images:,} images; documents are {agreement.documents}"]
    found += judgments.notes
    if isinstance(judgments, Pairs):
        undecided = sum(preferred == 0 for preferred in judgments.preferred)
        if undecided:
            found.append(f"pairs left out on which people were undecided: {undecided:,}")
        found.append("a tie of the metric counts as " + ("wrong" if agreement.ties == "wrong" else "half right"))
    elif judgments.aspect != "rating":
        found.append(f"rating: {judgments.aspect}")
    if agreement.people is not None:
        found.append(f"people: {agreement.people[0]}")
    return found


def _table(agreement: Agreement, colour: bool) -> str:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from capeval.report.text import drawn

    grid = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for number, name in enumerate(_head(agreement)):
        grid.add_column(name, justify="right" if number else "left")
    for row in _rows(agreement):
        grid.add_row(*row)
    return "\n".join([drawn(grid, colour=colour), "", *notes(agreement), *_halves(agreement)])


def _halves(agreement: Agreement) -> list[str]:
    """Accuracy where half of the references predict the votes of the other half."""
    if agreement.halves is None:
        return []
    lines = ["", "half of the references judge, the other half predict:"]
    labels = {measured.name: measured.label for measured in agreement.measured}
    for name, statistics in agreement.halves.items():
        values = "  ".join(f"{category} {_number(estimate.value)}" for category, estimate in statistics.items())
        lines.append(f"{labels.get(name, name):<12}{values}")
    return lines


def _markdown(agreement: Agreement) -> str:
    head = _head(agreement)
    lines = [" | ".join(head), " | ".join(["---", *["---:"] * (len(head) - 1)])]
    return "\n".join(f"| {line} |" for line in [*lines, *map(" | ".join, _rows(agreement))])


def _latex(agreement: Agreement) -> str:
    """A booktabs table."""
    head = [_escape(name) for name in _head(agreement)]
    rows = [" & ".join(map(_escape, row)) + r" \\" for row in _rows(agreement)]
    columns = "l" + "r" * (len(head) - 1)
    top = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(head) + r" \\", r"\midrule"]
    return "\n".join([*top, *rows, r"\bottomrule", r"\end{tabular}"])


def _escape(text: str) -> str:
    return escape_latex(text).replace("τ", r"$\tau$").replace("ρ", r"$\rho$").replace("–", "--")


_RENDERERS: dict[str, Callable[[Agreement], str]] = {
    "json": _json,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}
