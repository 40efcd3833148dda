"""A sweep as tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias

from sacrecap.report.pictures import write_drawings
from sacrecap.report.pictures.style import Look, look
from sacrecap.report.pictures.tables import FRow, MeasureRow, Table, TradeOffRow, VocabularyRow, measures, ranking
from sacrecap.report.printing import Printed
from sacrecap.report.printing import table as tables
from sacrecap_captioning.sweep.curves import ONLY
from sacrecap_captioning.sweep.result import FIGURES, MEASURES

if TYPE_CHECKING:
    from sacrecap.report.pictures import Drawn
    from sacrecap_captioning.sweep.result import Place, SweepResult

Spread: TypeAlias = "tuple[float, float | None, float | None]"


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
    if result.people:
        rows.append(["people", *(_number(name, result.people[name]) for name in FIGURES)])
    return tables.Table(
        [tables.Column("captioner", align="left", names=True), *map(tables.Column, FIGURES.values())],
        rows,
        notes=[*findings(result), *result.left_out],
    )


def _records(result: SweepResult) -> tables.Table:
    """A row per captioner and seed."""
    heads = ("model", "curve", "weight", "loss", "method", "seed", *MEASURES)
    rows: list[list[tables.Value]] = [
        [
            place.model,
            place.curve,
            place.weight,
            place.loss,
            place.method,
            tables.Number(seed),
            *map(tables.Number, figures),
        ]
        for place in result.places
        for seed, figures in enumerate(zip(*(place.figures[name] for name in MEASURES), strict=True))
    ]
    return tables.Table(list(map(tables.Column, heads)), rows)


def findings(result: SweepResult) -> list[str]:
    """Each finding on one line."""
    return [
        f"{_line(result, one.model, one.curve, one.method)}: Spearman of λ with accuracy {one.accuracy:.2f}, with "
        f"Self-CIDEr {one.diversity:.2f}; smallest vocabulary: λ = {one.smallest_vocabulary}"
        for one in result.findings
    ]


def _captioners(result: SweepResult) -> list[tuple[str, Place]]:
    """The captioners, each once, though its loss be on several curves, by name: `fc, λ 5`, `fc, reward only`; with
    several curves `fc, xe + 5*cider-d`; with several methods `fc, λ 5, rs`; of one loss `fc`.
    """
    several, methods = len(result.sweep.curves) > 1, len(result.sweep.methods) > 1
    found: dict[str, Place] = {}
    for place in result.places:
        loss = place.loss if several else _weight(place.weight)
        found.setdefault(", ".join(filter(None, [place.model, loss, place.method if methods else ""])), place)
    return list(found.items())


def _weight(weight: str) -> str:
    return "reward only" if weight == ONLY else f"λ {weight}" if weight else ""


def _line(result: SweepResult, model: str, curve: str, method: str) -> str:
    """The name of a curve of a captioner: with what is swept besides λ."""
    several, methods = len(result.sweep.curves) > 1, len(result.sweep.methods) > 1
    return ", ".join([model, *([method] if methods else []), *([curve] if several else [])])


def write_pictures(result: SweepResult, folder: str | PathLike[str]) -> None:
    """Writes the plane of diversity and accuracy, F, vocabulary, measures and ranking: PNG, SVG, and data as CSV.

    Measures and ranking compare captioners: they are left out of a sweep that has one and no people.

    Raises:
        DataError: the folder cannot be written in.
        MissingDependencyError: matplotlib is not installed.
    """
    from sacrecap.report.pictures import draw

    plane, f, vocabulary = _plane(result), _f(result), _vocabulary(result)
    drawn: list[Drawn] = [
        (plane, lambda: draw.trade_off(plane, "Self-CIDEr", "CIDEr-D", beta2=5.0, looks=_looks(result))),
        (f, lambda: draw.f(f, "F")),
        (vocabulary, lambda: draw.vocabulary(vocabulary, "Self-CIDEr")),
    ]
    if len(_named(result)) > 1:
        compared = measures(_measures(result, ("self-cider", "lsa", "mbleu-mix", "div-2")))
        ranked = ranking(_measures(result, ("accuracy", "self-cider", "lsa", "mbleu-mix", "div-2", "f")))
        drawn += [(compared, lambda: draw.measures(compared)), (ranked, lambda: draw.ranking(ranked))]
    write_drawings(drawn, folder)


def _looks(result: SweepResult) -> dict[str, Look]:
    """The look of each line of the plane: a colour per model and a mark per method, where both are several."""
    sweep = result.sweep
    lines = dict.fromkeys((place.model, place.curve, place.method) for place in result.places)
    apart = len(sweep.models) > 1 and len(sweep.methods) > 1 and len(sweep.curves) == 1
    return {
        (name := _line(result, model, curve, method)): look(
            sweep.models.index(model) if apart else number,
            name,
            people=False,
            mark=sweep.methods.index(method) if apart else None,
        )
        for number, (model, curve, method) in enumerate(lines)
    }


def _plane(result: SweepResult) -> Table[TradeOffRow]:
    """A row per captioner: mean, least and greatest of its seeds."""
    columns = ("line", "weight", "diversity", "least", "greatest", "accuracy", "least", "greatest")
    places: list[tuple[str, str | None, Spread, Spread]] = [
        (
            _line(result, place.model, place.curve, place.method),
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


def _measures(result: SweepResult, names: Sequence[str]) -> list[MeasureRow]:
    """Each captioner and people by each measure, mean over seeds."""
    return [
        {
            "system": who,
            "kind": kind,
            "measure": MEASURES[name],
            "value": place.mean(name) if place else result.people[name],
        }
        for name in names
        for who, kind, place in _named(result)
    ]


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


def _named(result: SweepResult) -> list[tuple[str, str, Place | None]]:
    """The captioners by name, and at last people, where they were scored."""
    captioners: list[tuple[str, str, Place | None]] = [(name, "system", place) for name, place in _captioners(result)]
    return [*captioners, ("people", "people", None)] if result.people else captioners


def _spread(place: Place, figure: str) -> Spread:
    """Mean, least and greatest of the seeds."""
    return place.mean(figure), min(place.figures[figure]), max(place.figures[figure])


def _number(figure: str, value: float) -> tables.Number:
    return tables.Number(value, ",.0f" if figure == "vocabulary" else ".3f")
