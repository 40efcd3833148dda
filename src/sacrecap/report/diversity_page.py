"""The page of caption sets: figures, tests, pictures, and each image with its sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from sacrecap.metrics import Lsa
from sacrecap.report.comparison_page import names
from sacrecap.report.diversity_formats import notes, table, tested
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.charts import ON_THE_PAGE, Axis, Chart, LeftOutError, Line
from sacrecap.report.pictures.charts import spread as spread_of
from sacrecap.report.pictures.single_images import SetTopics, chosen_images, ends_of, ranked, scale, set_topics, spectra
from sacrecap.report.pictures.style import look
from sacrecap.report.printing.figures import Figures
from sacrecap.report.printing.table import Cell, Column, Number, Table
from sacrecap.report.score_formats import percent
from sacrecap.report.score_page import held, sampled

if TYPE_CHECKING:
    from sacrecap.scoring.diversity_result import Diversity, SetSpectrum, SystemDiversity
    from sacrecap.scoring.result import Score

MOST_CAPTIONS = 250_000
"""Most captions on the page; with more, it holds only the most and the least diverse images."""
MOST_SETS = 1_200
"""Most sets with similarities, positions and topics on the page: the most and the least diverse images have them."""
_DECIMALS = 4
"""Decimals of figures of single images, positions and loads."""
_CHART_DECIMALS = 6


class SetsSystem(TypedDict):
    """A system, its colour and its mark."""

    name: str
    people: bool
    colour: str
    mark: str


class TopicWord(TypedDict):
    """A word of a topic, and whether it belongs to the captions with a negative load."""

    word: str
    against: bool


class TopicFigure(TypedDict):
    """A latent topic of a set: its share of the spectrum, its words, and each caption's load."""

    share: float
    words: list[TopicWord]
    loads: list[float]


class CaptionMark(TypedDict):
    """A position in the plane, and the system and captions there, by index."""

    system: int
    x: float
    y: float
    captions: tuple[int, ...]


class SetsDrawing(TypedDict):
    """The drawings of an image: of each system the similarities in percent (the upper triangle, row by row) and the
    topics; the positions of all captions, and the share of their distances that the plane shows.
    """

    similarities: list[list[int] | None]
    topics: list[list[TopicFigure] | None]
    marks: list[CaptionMark]
    share: float


class SetsImage(TypedDict):
    """An image: the captions and the figures of each system; None if people lack it."""

    id: str
    captions: list[list[str] | None]
    diversity: list[float | None]
    accuracy: list[float | None]
    drawn: SetsDrawing | None


class SetsChart(TypedDict):
    """A panel of a chart, as `sacrecap.report.pictures.charts` describes it: its marks, field by field.

    `systems` are those of the marks, by index; `said` the fields that a mark tells, and what they are called; `fitted`
    the ends of a straight line.
    """

    kind: str
    note: str
    x: Axis
    y: Axis | None
    said: list[tuple[str, str]]
    beta2: float | None
    fitted: list[tuple[float, float]]
    systems: list[int]
    fields: dict[str, list[float | str | None]]


class SetsPicture(TypedDict):
    """A chart, or why there is none."""

    title: str
    chart: SetsChart | None
    left_out: str


class SetsPage(TypedDict):
    """What the blocks show."""

    spread: str | None
    accuracy: str | None
    systems: list[SetsSystem]
    pictures: list[SetsPicture]
    drawn: int
    images: list[SetsImage]
    photos: list[str | None] | None


def page(result: Diversity, draw: Sequence[str] = ()) -> ReportPage:
    """The page of caption sets; the images `draw` are drawn in any case."""
    data = diversity_data(result, draw)
    ids = [image["id"] for image in data["images"]]
    everybody = result.everybody()
    first = everybody[0]
    level = result.resampling.interval
    below = "" if level is None else f" Below each figure its {percent(level)} interval."
    ways = f"↓: less is more diverse; of the others, more is more diverse, or more accurate.{below}"
    figures = Section(
        "figures", "Systems", table=replace(table(result, Figures()), notes=[ways, *notes(result), *sampled(first)])
    )
    part = ""
    if len(ids) < len(first.image_ids) == first.images:
        part = (
            f"{held(ids, first)}: those with the most and the least diverse captions. All figures and pictures above "
            "are of all images."
        )
    return ReportPage(
        "diversity",
        "Diversity of caption sets",
        names(result),
        result.version,
        {"Images": f"{first.images:,}", "Systems": f"{len(result):,}", "Tokenizer": first.corpus.tokenizer},
        [figures, *_tests(result), Section("plots", "Pictures"), Section("images", "Images", notes=[part])],
        data,
        ids,
        compressed=True,
    )


def _tests(result: Diversity) -> list[Section]:
    """The differences of every two systems, if there are several."""
    by_pair: dict[tuple[str, str], list[Cell]] = {}
    figures = Figures()
    for pair in result.pairs:
        bounds = figures.interval(*pair.interval, signed=True) if pair.interval else None
        p = Cell(Number(pair.p_corrected, ".3g"))
        by_pair.setdefault((pair.a, pair.b), []).append(Cell(figures.difference(pair.delta), beside=bounds, below=p))
    if not by_pair:
        return []
    labels = [next(iter(result.values()))[key].label for key in dict.fromkeys(pair.metric for pair in result.pairs)]
    tests = Table(
        [Column("difference, interval, p", align="left", names=True), *map(Column, labels)],
        [[f"{a} − {b}", *cells] for (a, b), cells in by_pair.items()],
    )
    said = f"A {tested(result)} over images; p is two-sided, corrected (Holm) for the number of pairs of systems."
    return [Section("tests", "Differences", [("", said)], tests)]


def diversity_data(result: Diversity, draw: Sequence[str] = ()) -> SetsPage:
    """What the blocks show, without photos; the images `draw` are drawn in any case.

    Raises `UsageError` for an unknown one.
    """
    everybody = result.everybody()
    first = everybody[0]
    spread = _or_none(lambda: spread_of(result))
    shown, drawn = _shown(result, chosen_images(result, draw))
    return {
        "spread": spread.label if spread else None,
        "accuracy": first["accuracy"].label if "accuracy" in first.figures else None,
        "systems": [_system(number, system, result) for number, system in enumerate(everybody)],
        "pictures": [
            picture for describe, titles in ON_THE_PAGE.items() for picture in _pictures(result, describe, titles)
        ],
        "drawn": len(drawn),
        "images": _images(result, shown, drawn, spread.key if spread else None),
        "photos": None,
    }


def _or_none(make: Callable[[], Score]) -> Score | None:
    try:
        return make()
    except LeftOutError:
        return None


def _pictures(
    result: Diversity, describe: Callable[[Diversity], Chart], titles: Sequence[str]
) -> Iterator[SetsPicture]:
    """The panels of a chart, or why there is none."""
    named = [title.format(beta2=result.beta2) for title in titles]
    try:
        chart = describe(result)
    except LeftOutError as reason:
        for title in named:
            yield {"title": title, "chart": None, "left_out": str(reason)}
        return
    numbers = {(one.name, one is result.human): number for number, one in enumerate(result.everybody())}
    yield from panels_of(chart, named, numbers)


def panels_of(chart: Chart, titles: Sequence[str], numbers: Mapping[tuple[str, bool], int]) -> Iterator[SetsPicture]:
    """The panels of a chart with these titles; `numbers` are those of the systems, by name and whether it is people."""
    panels: Sequence[Axis | None] = chart.y or [None]
    lines = chart.fitted or [None] * len(panels)
    for title, up, line in zip(titles, panels, lines, strict=True):
        own = [row for row in chart.rows if up is None or not chart.measures or row["measure"] == up["label"]]
        data = _chart(replace(chart, rows=own), up, line, numbers)
        yield {"title": title, "chart": data, "left_out": ""}


def _chart(chart: Chart, up: Axis | None, line: Line | None, numbers: Mapping[tuple[str, bool], int]) -> SetsChart:
    shown = {chart.x["field"], *([up["field"]] if up else []), *chart.said}
    fields = [name for name in chart.rows[0] if name.removesuffix("_lower").removesuffix("_upper") in shown]
    return {
        "kind": chart.kind,
        "note": chart.note,
        "x": chart.x,
        "y": up,
        "said": list(chart.said.items()),
        "beta2": chart.beta2,
        "fitted": list(line or ()),
        "systems": [numbers[row["system"], row["kind"] == "people"] for row in chart.rows],
        "fields": {name: [_rounded(row[name]) for row in chart.rows] for name in fields},
    }


def _rounded(value: float | str | None) -> float | str | None:
    return round(value, _CHART_DECIMALS) if isinstance(value, float) else value


def _shown(result: Diversity, chosen: list[str]) -> tuple[list[str], set[str]]:
    """The images on the page, in the result's order, and those that are drawn."""
    everybody = result.everybody()
    order = ranked(result)
    captions = sum(sum(system.corpus.counts) for system in everybody)
    most = len(order) if captions <= MOST_CAPTIONS else max(len(order) * MOST_CAPTIONS // captions, 1)
    drawn = {*chosen, *ends_of(order, max(MOST_SETS // len(everybody), 1))}
    shown = {*drawn, *ends_of(order, most)}
    return [image for image in everybody[0].image_ids if image in shown], drawn


def _system(number: int, system: SystemDiversity, result: Diversity) -> SetsSystem:
    people = system is result.human
    seen = look(number, system.name, people=people)
    return {"name": "people" if people else system.name, "people": people, "colour": seen.colour, "mark": seen.mark}


def _images(result: Diversity, shown: list[str], drawn: set[str], spread: str | None) -> list[SetsImage]:
    everybody = result.everybody()
    places = [{image: number for number, image in enumerate(system.image_ids)} for system in everybody]
    diversity, accuracy = (
        [system[key].per_image.round(_DECIMALS).tolist() if key in system else None for system in everybody]
        for key in (spread or "", "accuracy")
    )

    def of(values: list[list[float] | None], image: str) -> list[float | None]:
        return [
            column[place[image]] if column and image in place else None
            for column, place in zip(values, places, strict=True)
        ]

    return [
        {
            "id": image,
            "captions": [
                system.corpus.set_of(image) if image in place else None
                for system, place in zip(everybody, places, strict=True)
            ],
            "diversity": of(diversity, image),
            "accuracy": of(accuracy, image),
            "drawn": _drawn(result, image, len(everybody)) if image in drawn else None,
        }
        for image in shown
    ]


def _drawn(result: Diversity, image: str, systems: int) -> SetsDrawing:
    sets = spectra(result, image)
    plane = scale(image, sets)
    topics = {one.system: _topics(one) for one in set_topics(image, spectra(result, image, Lsa(stop=False)))}
    return {
        "similarities": [_similarities(sets[number]) if number in sets else None for number in range(systems)],
        "topics": [topics.get(number) for number in range(systems)],
        "marks": [
            {
                "system": mark.system,
                "x": round(mark.x, _DECIMALS),
                "y": round(mark.y, _DECIMALS),
                "captions": mark.captions,
            }
            for mark in plane.marks
        ],
        "share": round(plane.share, _DECIMALS),
    }


def _similarities(spectrum: SetSpectrum) -> list[int]:
    percent = (100 * spectrum.matrix).round().astype(int).tolist()
    return [value for number, row in enumerate(percent) for value in row[number:]]


def _topics(one: SetTopics) -> list[TopicFigure]:
    return [
        {
            "share": round(topic.share, _DECIMALS),
            "words": [{"word": word, "against": load < 0} for word, load in topic.words],
            "loads": [round(load, _DECIMALS) for load in topic.captions],
        }
        for topic in one.topics
    ]
