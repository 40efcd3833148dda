"""A comparison in each of the formats of `--format`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from capeval.report.formats import percent

if TYPE_CHECKING:
    from capeval.scoring.comparison import Comparison


def render_comparison(comparison: Comparison, format_: str, *, colour: bool = False, width: int | None = None) -> str:
    """The comparison as text in the format of that name; a table in colour, and cut to a width, where asked for."""
    if format_ != "table":
        return _RENDERERS[format_](comparison)
    from capeval.report.comparison_text import tables

    return tables(comparison, colour=colour, width=width)


def tested(comparison: Comparison) -> str:
    """How the differences were tested, in words."""
    test = {"permutation": "paired permutation test", "bootstrap": "paired bootstrap test"}[comparison.test]
    pairs = len(comparison) * (len(comparison) - 1) // 2
    holm = f", Holm over {pairs} pairs a metric" if comparison.correction == "holm" and pairs > 1 else ""
    return f"{test}, {comparison.samples:,} samples{holm}"


def p_text(p: float) -> str:
    """A p-value to three decimals; one below that as a bound."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def rank_text(ranks: tuple[int, int]) -> str:
    """A rank or a range of ranks: 1, 2–3."""
    return f"{ranks[0]}" if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


def best_and_worse(comparison: Comparison, metric: str) -> tuple[set[str], set[str]]:
    """The systems of the highest score, and those significantly worse than the first of these."""
    best = comparison.ranking(metric)[0]
    highest = {system for system in comparison if comparison[system][metric].value == comparison[best][metric].value}
    return highest, {
        system for system in comparison if system not in highest and comparison.pair(best, system, metric).significant
    }


def _json(comparison: Comparison) -> str:
    import json

    return json.dumps(comparison.to_dict(), ensure_ascii=False, indent=1)


def _csv(comparison: Comparison) -> str:
    """A row a pair and metric, in full precision."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = ["score_a", "score_b", "delta", "lower", "upper", "p", "p_corrected"]
    writer.writerow(["metric", "a", "b", *columns, "significant"])
    for pair in comparison.pairs:
        values = (comparison[pair.a][pair.metric].value, comparison[pair.b][pair.metric].value, pair.delta)
        bounds = ("", "") if pair.interval is None else map(repr, pair.interval)
        numbers = (*map(repr, values), *bounds, repr(pair.p), repr(pair.p_corrected))
        writer.writerow([pair.metric, pair.a, pair.b, *numbers, "yes" if pair.significant else "no"])
    return text.getvalue()


def _markdown(comparison: Comparison) -> str:
    labels = [metric.label for metric in comparison.metrics.values()]
    marks = {metric: best_and_worse(comparison, metric) for metric in comparison.metrics}

    def cell(system: str, metric: str) -> str:
        score = comparison[system][metric]
        best, worse = marks[metric]
        value = f"**{score.value:.4f}**" if system in best else f"{score.value:.4f}" + "†" * (system in worse)
        return value if score.interval is None else f"{value} ({score.interval[0]:.4f} to {score.interval[1]:.4f})"

    rows = [[name.replace("|", "\\|"), *(cell(name, metric) for metric in marks)] for name in comparison]
    lines = [["system", *labels], ["---", *["---:"] * len(labels)], *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{_note(comparison, bold='**Bold**', dagger='†')}"


def _latex(comparison: Comparison) -> str:
    """A booktabs table; intervals stand below the scores, and a comment says what a caption should."""
    marks = {metric: best_and_worse(comparison, metric) for metric in comparison.metrics}

    def value(system: str, metric: str) -> str:
        text = f"{comparison[system][metric].value:.4f}"
        best, worse = marks[metric]
        return rf"\textbf{{{text}}}" if system in best else text + r"$^{\dagger}$" * (system in worse)

    def bounds(system: str, metric: str) -> str:
        interval = comparison[system][metric].interval
        return "" if interval is None else rf"{{\scriptsize [{interval[0]:.4f}, {interval[1]:.4f}]}}"

    lines = [
        "System & " + " & ".join(escape_latex(metric.label) for metric in comparison.metrics.values()),
        r"\midrule",
    ]
    for system in comparison:
        lines.append(" & ".join([escape_latex(system), *(value(system, metric) for metric in marks)]))
        if comparison.level is not None:
            lines.append(" & ".join(["", *(bounds(system, metric) for metric in marks)]).lstrip())
    rows = [line if line == r"\midrule" else rf"{line} \\" for line in lines]
    note = "% " + _note(comparison, bold="Bold", dagger=r"$^{\dagger}$").replace("%", r"\%")
    begin = rf"\begin{{tabular}}{{l{'r' * len(marks)}}}"
    return "\n".join([note, begin, r"\toprule", *rows, r"\bottomrule", r"\end{tabular}"])


def _note(comparison: Comparison, *, bold: str, dagger: str) -> str:
    level = "" if comparison.level is None else f" Intervals: {percent(comparison.level)}, bootstrap over images."
    return f"{bold}: best. {dagger}: worse than the best, p ≤ {comparison.alpha:g} ({tested(comparison)}).{level}"


def escape_latex(text: str) -> str:
    """Text whose special characters LaTeX prints as they are."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(c, rf"\{c}" if c in "&%$#_{}" else c) for c in text)


_RENDERERS: dict[str, Callable[[Comparison], str]] = {
    "json": _json,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}
