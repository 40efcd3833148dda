"""A sweep as tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

from sacrecap.report.pictures import write_charts
from sacrecap.report.pictures.charts import (
    Chart,
    Row,
    measures,
    of_accuracy,
    of_diversity,
    of_f,
    of_vocabulary,
    ranking,
)
from sacrecap.report.pictures.style import Look, look
from sacrecap.report.printing import Printed
from sacrecap.report.printing import table as tables
from sacrecap_captioning.sweep.curves import ONLY
from sacrecap_captioning.sweep.sweep_result import FIGURES, MEASURES, PEOPLE

if TYPE_CHECKING:
    from sacrecap_captioning.sweep.sweep_result import Place, SweepResult


def render(result: SweepResult, format_: str, *, colour: bool = False, width: int | None = None) -> str:
    """The figures, means over seeds, and the findings as text in the format of that name; a table may be in colour, and
    fitted to a width.
    """
    seeds = result.sweep.seeds
    title = f"Caption sets, mean of {seeds} seeds" if seeds > 1 else "Caption sets"
    return Printed(
        result.to_dict,
        lambda: _records(result),
        lambda: [_table(result)],
        lambda: [replace(_table(result), title=title)],
    ).render(format_, colour=colour, width=width)


def _table(result: SweepResult) -> tables.Table:
    """One row per captioner, and one of people."""
    rows: list[list[tables.Value]] = [
        [name, *(_number(figure, place.mean(figure)) for figure in FIGURES)] for name, place in _captioners(result)
    ]
    return tables.Table(
        [tables.Column("captioner", align="left", names=True), *map(tables.Column, FIGURES.values())],
        rows,
        notes=[*findings(result), *result.left_out, *(f"note: {note}" for note in result.notes)],
    )


def _records(result: SweepResult) -> tables.Table:
    """A row per captioner and seed."""
    heads = ("model", "curve", "weight", "loss", "method", "seed", *MEASURES)
    return tables.records(
        heads,
        [
            (place.model, place.curve, place.weight, place.loss, place.method, seed, *figures)
            for place in result.places
            for seed, figures in enumerate(zip(*(place.figures[name] for name in MEASURES), strict=True))
        ],
    )


def findings(result: SweepResult) -> list[str]:
    """Each finding on one line."""
    return [
        f"{_line(result, one.model, one.curve, one.method)}: at {one.steps} steps of λ accuracy rises {one.rises} "
        f"times, Self-CIDEr falls {one.falls} times; smallest vocabulary: λ = {one.smallest_vocabulary}"
        for one in result.findings
    ]


def _captioners(result: SweepResult) -> list[tuple[str, Place]]:
    """The captioners, each once, though its loss be on several curves, by name: `fc, λ 5`, `fc, reward only`; with
    several curves `fc, xe + 5*cider-d`; with several methods `fc, λ 5, rs`; of one loss `fc`. Then captions
    that need no captioner, and at last people, where they were scored.
    """
    several, methods = len(result.sweep.curves) > 1, len(result.sweep.methods) > 1
    found: dict[str, Place] = {}
    for place in result.places:
        loss = place.loss if several else _weight(place.weight)
        found.setdefault(", ".join(filter(None, [place.model, loss, place.method if methods else ""])), place)
    blind = [(place.model, place) for place in result.blind]
    return [*found.items(), *blind, *([("people", result.people)] if result.people else [])]


def _weight(weight: str) -> str:
    return "reward only" if weight == ONLY else f"λ {weight}" if weight else ""


def _line(result: SweepResult, model: str, curve: str, method: str) -> str:
    """The name of a curve of a captioner: with what is swept besides λ."""
    several, methods = len(result.sweep.curves) > 1, len(result.sweep.methods) > 1
    return ", ".join([model, *([method] if methods else []), *([curve] if several else [])])


def write_pictures(result: SweepResult, folder: str | PathLike[str]) -> None:
    """Writes the planes of accuracy and diversity (Self-CIDEr, LSA), F, vocabulary, measures and ranking: PNG, SVG, and
    data as CSV.

    Measures and ranking compare captioners: they are left out of a sweep that has one and no people.

    Raises:
        DataError: the folder cannot be written in.
        MissingDependencyError: matplotlib is not installed.
    """
    described = [_plane(result, "self-cider"), _plane(result, "lsa"), _f(result), _vocabulary(result)]
    if len(_captioners(result)) > 1:
        described.append(measures(_measures(result, ("self-cider", "lsa", "mbleu-mix", "div-2"))))
        described.append(ranking(_measures(result, ("accuracy", "self-cider", "lsa", "mbleu-mix", "div-2", "f"))))
    write_charts(described, folder, dict.fromkeys(("plane", "plane-lsa"), _looks(result)))


def _looks(result: SweepResult) -> list[Look]:
    """The look of each line of the plane, and of people: a mark per model and a colour per method, where both are
    several.
    """
    sweep = result.sweep
    lines = dict.fromkeys((place.model, place.curve, place.method) for place in result.places)
    apart = len(sweep.models) > 1 and len(sweep.methods) > 1 and len(sweep.curves) == 1
    looks = [
        look(
            sweep.methods.index(method) if apart else number,
            _line(result, model, curve, method),
            people=False,
            mark=sweep.models.index(model) if apart else None,
        )
        for number, (model, curve, method) in enumerate(lines)
    ]
    blind = [look(-1 - number, place.model, people=False) for number, place in enumerate(result.blind)]
    return [*looks, *blind, *([look(0, PEOPLE, people=True)] if result.people else [])]


def _plane(result: SweepResult, measure: str) -> Chart:
    """A line per captioner through a point per weight: mean, least and greatest of its seeds."""
    rows: list[Row] = []
    written: set[tuple[float, float]] = set()  # lines may share a point: its weight is written once
    for place in (*result.places, *result.blind, *([result.people] if result.people else [])):
        at = (place.mean(measure), place.mean("accuracy"))
        rows.append(
            {
                "system": _line(result, place.model, place.curve, place.method) if place.curve else place.model,
                "kind": PEOPLE if place is result.people else "system",
                "weight": place.weight if place.curve else None,
                "label": "" if at in written else _weight(place.weight),
                **_bounded("diversity", place, measure),
                **_bounded("accuracy", place, "accuracy"),
            }
        )
        written.add(at)
    first = measure == "self-cider"
    return Chart(
        "plane" if first else f"plane-{measure}",
        {"system": "line", "weight": "weight", **_SEEDS["diversity"], **_SEEDS["accuracy"]},
        rows,
        "lines",
        of_accuracy("CIDEr-D"),
        [of_diversity(MEASURES[measure])],
        "Up and right is better."
        + (" Dashed lines join places of equal F." if first else "")
        + (" Crosses are the least and the greatest of the seeds." if result.sweep.seeds > 1 else ""),
        label="label",
        beta2=5.0 if first else None,
    )


def _measures(result: SweepResult, names: Sequence[str]) -> list[Row]:
    """Each captioner and people by each measure, mean over seeds."""
    return [
        {**row, "measure": MEASURES[name], "value": place.mean(name)} for name in names for row, place in _rows(result)
    ]


def _f(result: SweepResult) -> Chart:
    rows = [{**row, **_bounded("f", place, "f")} for row, place in _rows(result)]
    return Chart("f", {"system": "system", "kind": "kind", **_SEEDS["f"]}, rows, "bars", of_f("F"), [])


def _vocabulary(result: SweepResult) -> Chart:
    rows = [
        {**row, "vocabulary": place.mean("vocabulary"), "captions": None, **_bounded("diversity", place, "self-cider")}
        for row, place in _rows(result)
    ]
    columns = {name: name for name in ("system", "kind", "vocabulary", "captions")}
    columns |= {**_SEEDS["diversity"], "diversity": "self-cider"}
    return Chart("vocabulary", columns, rows, "points", of_diversity("Self-CIDEr"), [of_vocabulary()])


_SEEDS = {
    name: {name: name, f"{name}_lower": "least", f"{name}_upper": "greatest"} for name in ("diversity", "accuracy", "f")
}
"""Fields of a figure, and their heads in CSV files: of the seeds the mean, the least and the greatest."""


def _bounded(name: str, place: Place, figure: str) -> Row:
    """The fields of a figure; people have no seeds."""
    seeds = place.figures[figure]
    ends = (min(seeds), max(seeds)) if place.curve else (None, None)
    return {name: place.mean(figure), f"{name}_lower": ends[0], f"{name}_upper": ends[1]}


def _rows(result: SweepResult) -> list[tuple[Row, Place]]:
    """The mark of each captioner, and of people."""
    return [
        ({"system": name, "kind": PEOPLE if place.model == PEOPLE else "system"}, place)
        for name, place in _captioners(result)
    ]


def _number(figure: str, value: float) -> tables.Number:
    return tables.Number(value, ",.0f" if figure == "vocabulary" else ".3f")
