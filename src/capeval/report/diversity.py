"""Scores of caption sets in each of the formats of `--format`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from capeval.report.formats import percent

if TYPE_CHECKING:
    from capeval.scoring.diversity_result import Diversity, SystemDiversity
    from capeval.scoring.result import Score


def render(result: Diversity, format_: str, *, colour: bool = False) -> str:
    """The result as text in the format of that name; a table in colour where it is asked for."""
    if format_ != "table":
        return _RENDERERS[format_](result)
    from capeval.report.text import grid

    head, rows = _cells(result)
    body = grid(_title(result), head, rows, colour=colour)
    return "\n".join([body, *_tests(result), *_notes(result)])


def _cells(result: Diversity) -> tuple[list[str], list[list[str]]]:
    """A row a figure, a column a system; people are the last column."""
    everybody = result.everybody()
    figures = {key: figure for system in everybody for key, figure in system.items()}
    rows = [
        [_label(figure), *(_cell(system.figures.get(key)) for system in everybody)] for key, figure in figures.items()
    ]
    rows.append(["Vocabulary", *(f"{system.vocabulary:,}" for system in everybody)])
    rows.append(["Captions an image", *(_count(system) for system in everybody)])
    return ["", *(system.name for system in everybody)], rows


def _label(figure: Score) -> str:
    """The figure's label, with an arrow where low is good."""
    return f"{figure.label} ↓" if figure.metric.lower_is_better else figure.label


def _cell(figure: Score | None) -> str:
    if figure is None:
        return ""
    if figure.interval is None:
        return f"{figure.value:.4f}"
    return f"{figure.value:.4f} ({figure.interval[0]:.4f} to {figure.interval[1]:.4f})"


def _count(system: SystemDiversity) -> str:
    count = system.captions_per_image
    return f"{count}" if isinstance(count, int) else f"{count['min']} to {count['max']}, mean {count['mean']:.2f}"


def _title(result: Diversity) -> str:
    first = next(iter(result.values()))
    images = "1 image" if len(first.image_ids) == 1 else f"{len(first.image_ids):,} images"
    level = "" if result.level is None else f"; {percent(result.level)} intervals over images"
    return f"{images}, {first.corpus.tokenizer} tokens{level}"


def _tests(result: Diversity) -> list[str]:
    """The differences of the two figures that sum up the others, where there are several systems."""
    lines = [
        f"  {pair.a} − {pair.b}: {pair.metric} {pair.delta:+.4f} "
        f"({pair.interval[0]:+.4f} to {pair.interval[1]:+.4f}), p = {pair.p_corrected:.3g}"
        for pair in result.pairs
        if pair.metric in ("self-cider", "accuracy", "f") and pair.interval is not None
    ]
    return ["", "paired bootstrap over images, p corrected (Holm)", *lines] if lines else []


def _notes(result: Diversity) -> list[str]:
    return [f"note: {system.name}: {note}" for system in result.everybody() for note in system.notes]


def _json(result: Diversity) -> str:
    import json

    return json.dumps(result.to_dict(), ensure_ascii=False, indent=1)


def _csv(result: Diversity) -> str:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["system", "metric", "score", "lower", "upper", "signature"])
    for system in result.everybody():
        for key, figure in system.items():
            bounds = ("", "") if figure.interval is None else map(repr, figure.interval)
            writer.writerow([system.name, key, repr(figure.value), *bounds, figure.signature])
        writer.writerow([system.name, "vocabulary", system.vocabulary, "", "", ""])
    return text.getvalue()


def _markdown(result: Diversity) -> str:
    head, rows = _cells(result)
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def _latex(result: Diversity) -> str:
    """A booktabs table."""
    head, rows = _cells(result)
    escape = str.maketrans(
        {"_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "β": r"$\beta$", "²": "$^2$", "↓": r"$\downarrow$", "−": "--"}
    )
    lines = [" & ".join(cell.translate(escape) for cell in line) + r" \\" for line in (head, *rows)]
    columns = "l" + "r" * (len(head) - 1)
    head_line, *body = lines
    begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    return "\n".join([begin, r"\toprule", head_line, r"\midrule", *body, r"\bottomrule", end])


_RENDERERS: dict[str, Callable[[Diversity], str]] = {
    "json": _json,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}
