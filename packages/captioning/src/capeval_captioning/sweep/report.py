"""A sweep as tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias

from capeval.report.pictures import write_drawings
from capeval.report.pictures.tables import FRow, Table, TradeOffRow, VocabularyRow
from capeval.report.printing import Printed
from capeval.report.printing import table as tables
from capeval_captioning.sweep.grid import ONLY
from capeval_captioning.sweep.result import FIGURES

if TYPE_CHECKING:
    from capeval_captioning.sweep.result import Place, SweepResult

Spread: TypeAlias = "tuple[float, float | None, float | None]"


def render(result: SweepResult, format_: str, *, colour: bool = False, width: int | None = None) -> str:
    """The figures, means over seeds, and the findings as text in the format of that name; a table in colour, and fitted
    to a width, where asked for.
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
    """A row per captioner, and one of people."""
    rows: list[list[tables.Value]] = [
        [named(result, place), *(_number(name, place.mean(name)) for name in FIGURES)] for place in result.places
    ]
    if result.people:
        rows.append(["people", *(_number(name, result.people[name]) for name in FIGURES)])
    return tables.Table(
        [tables.Column("captioner", align="left", names=True), *map(tables.Column, FIGURES.values())],
        rows,
        notes=findings(result),
    )


def _records(result: SweepResult) -> tables.Table:
    """A row per captioner and seed."""
    heads = ("model", "lambda", "method", "seed", *FIGURES)
    rows: list[list[tables.Value]] = [
        [place.model, place.weight, place.method, tables.Number(seed), *map(tables.Number, figures)]
        for place in result.places
        for seed, figures in enumerate(zip(*(place.figures[name] for name in FIGURES), strict=True))
    ]
    return tables.Table(list(map(tables.Column, heads)), rows)


def findings(result: SweepResult) -> list[str]:
    """Each finding in a line."""
    several = len(result.sweep.methods) > 1
    return [
        f"{one.model}{f', {one.method}' if several else ''}: Spearman of λ with accuracy {one.accuracy:.2f}, with "
        f"Self-CIDEr {one.diversity:.2f}; smallest vocabulary: λ = {one.smallest_vocabulary}"
        for one in result.findings
    ]


def named(result: SweepResult, place: Place) -> str:
    """A captioner in a table: `fc, λ 5`, `fc, reward only`."""
    weight = "reward only" if place.weight == ONLY else f"λ {place.weight}"
    method = f", {place.method}" if len(result.sweep.methods) > 1 else ""
    return f"{place.model}, {weight}{method}"


def write_pictures(result: SweepResult, folder: str | PathLike[str]) -> None:
    """Writes the plane of diversity and accuracy, F, and vocabulary: PNG, SVG, and their data as CSV.

    Raises:
        DataError: the folder cannot be written in.
        MissingDependencyError: matplotlib is not installed.
    """
    from capeval.report.pictures import draw

    plane, f, vocabulary = _plane(result), _f(result), _vocabulary(result)
    write_drawings(
        [
            (plane, lambda: draw.trade_off(plane, "Self-CIDEr", "CIDEr-D", beta2=5.0)),
            (f, lambda: draw.f(f, "F")),
            (vocabulary, lambda: draw.vocabulary(vocabulary, "Self-CIDEr")),
        ],
        folder,
    )


def _plane(result: SweepResult) -> Table[TradeOffRow]:
    """A row per captioner: mean, least and greatest of its seeds."""
    columns = ("line", "lambda", "diversity", "least", "greatest", "accuracy", "least", "greatest")
    several = len(result.sweep.methods) > 1
    places: list[tuple[str, str | None, Spread, Spread]] = [
        (
            f"{place.model}, {place.method}" if several else place.model,
            place.weight,
            _spread(place, "self-cider"),
            _spread(place, "accuracy"),
        )
        for place in result.places
    ]
    if result.people:
        people = result.people
        places.append(("people", None, (people["self-cider"], None, None), (people["accuracy"], None, None)))
    rows: list[TradeOffRow] = [
        {
            "line": line,
            "weight": weight,
            "diversity": x,
            "diversity_lower": left,
            "diversity_upper": right,
            "accuracy": y,
            "accuracy_lower": low,
            "accuracy_upper": high,
        }
        for line, weight, (x, left, right), (y, low, high) in places
    ]
    return Table("plane", columns, rows)


def _f(result: SweepResult) -> Table[FRow]:
    rows: list[FRow] = []
    for name, kind, place in _named(result):
        value, lower, upper = _spread(place, "f") if place else (result.people["f"], None, None)
        rows.append({"system": name, "kind": kind, "f": value, "lower": lower, "upper": upper})
    return Table("f", ("system", "kind", "f", "least", "greatest"), rows)


def _vocabulary(result: SweepResult) -> Table[VocabularyRow]:
    rows: list[VocabularyRow] = []
    for name, kind, place in _named(result):
        value, lower, upper = _spread(place, "self-cider") if place else (result.people["self-cider"], None, None)
        rows.append(
            {
                "system": name,
                "kind": kind,
                "vocabulary": place.mean("vocabulary") if place else result.people["vocabulary"],
                "captions": None,
                "diversity": value,
                "lower": lower,
                "upper": upper,
            }
        )
    return Table("vocabulary", ("system", "kind", "vocabulary", "captions", "self-cider", "least", "greatest"), rows)


def _named(result: SweepResult) -> Iterator[tuple[str, str, Place | None]]:
    """The captioners by name, and at last people, where they were scored."""
    for place in result.places:
        yield named(result, place), "system", place
    if result.people:
        yield "people", "people", None


def _spread(place: Place, figure: str) -> Spread:
    """Mean, least and greatest of the seeds."""
    return place.mean(figure), min(place.figures[figure]), max(place.figures[figure])


def _number(figure: str, value: float) -> tables.Number:
    return tables.Number(value, ",.0f" if figure == "vocabulary" else ".3f")
