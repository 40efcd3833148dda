"""The page of caption sets: figures, tests, pictures, and each image with its sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sacrecap.report.comparison_formats import test_name
from sacrecap.report.diversity_formats import notes, table
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.charts import (
    ON_THE_PAGE,
    LeftOutError,
    by_score,
    chosen_images,
    ends_of,
    in_plane,
    ranked,
    scaling,
    topics,
)
from sacrecap.report.pictures.charts import spread as spread_of
from sacrecap.report.pictures.panels import looks_of, panels_of
from sacrecap.report.pictures.single_images import spectra
from sacrecap.report.pictures.style import Look, look
from sacrecap.report.pictures.svg import figure, figures, plots
from sacrecap.report.printing.table import Cell, Column, Figures, Number, Table, percent
from sacrecap.report.score_page import facts_of_images, part
from sacrecap.scoring.diversity_result import Diversity
from sacrecap.scoring.result import counted, left_out

MOST_CAPTIONS = 250_000
"""Most captions on the page; with more, it holds only the most and the least diverse images."""
MOST_SETS = 1_200
"""Most sets with similarities, positions and topics on the page: the most and the least diverse images have them."""
MATTER = ("self-cider", "accuracy", "f", "vocabulary")
"""The figures that stand first."""
_DECIMALS = 4
"""Decimals of figures of single images, positions and loads."""


def page(result: Diversity, draw: Sequence[str] = ()) -> ReportPage:
    """The page of caption sets; the images `draw` are drawn in any case."""
    result = by_score(result)
    chosen = chosen_images(result, draw)
    data = diversity_data(result, chosen)
    first = result.everybody()[0]
    level = result.resampling.interval
    below = "" if level is None else f" Below each figure its {percent(level)} interval."
    whole = table(result, Figures())
    rows = [row for row in whole.cells() if row[0].term in MATTER]
    few = replace(whole, rows=rows, signatures=[], notes=notes(result)[len(result.findings) :])
    whole = replace(whole, notes=[f"↓: less is more diverse; of the others, more is.{below}"])
    which = "those with the most and the least diverse captions. All figures and pictures above are of all images."
    return ReportPage(
        f"{counted(len(result), 'system')} on {counted(first.images, 'image')}",
        result.version,
        {**facts_of_images(result), "Systems": f"{len(result):,}", "Tokenizer": first.corpus.tokenizer},
        [
            Section("figures", "Systems", table=few),
            _plots(result, chosen),
            *_tests(result),
            Section("more", "All figures", table=whole, kind="figures", folded=True),
            Section("images", "Images", notes=[part(len(data["images"]), first, which)]),
        ],
        data,
        [
            "[Self-CIDEr](reference/metrics/self-cider/) is how varied the captions of an image are.",
            "Accuracy is how close each is to the references. F joins both: the system with the largest is first.",
            "A row of the images opens to all captions, and to what they are about.",
        ],
        [left_out(result), *map(str, result.findings)],
        {
            number: _drawn(result, image["id"])
            for number, image in enumerate(data["images"])
            if image["similarities"] is not None
        },
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
    how = test_name(result.test, result.resampling)
    explained = f"A {how} over images; p is two-sided, corrected (Holm) for the number of pairs of systems."
    return [Section("tests", "Differences", [("", explained)], tests, folded=True)]


def diversity_data(result: Diversity, chosen: list[str]) -> dict[str, Any]:
    """What the blocks show, without photos; the chosen images are drawn in any case."""
    everybody = result.everybody()
    first = everybody[0]
    try:
        spread = spread_of(result)
    except LeftOutError:
        spread = None
    order = ranked(result)
    captions = sum(sum(system.corpus.counts) for system in everybody)
    most = len(order) if captions <= MOST_CAPTIONS else max(len(order) * MOST_CAPTIONS // captions, 1)
    drawn = {*chosen, *ends_of(order, max(MOST_SETS // len(everybody), 1))}
    paged = {*drawn, *ends_of(order, most)}
    similarities: dict[str, list[list[int] | None]] = {image: [None] * len(everybody) for image in drawn}
    for image, of_systems in similarities.items():
        for number, spectrum in spectra(result, image).items():
            rows = (100 * spectrum.matrix).round().astype(int).tolist()
            of_systems[number] = [value for n, row in enumerate(rows) for value in row[n:]]
    present = [set(system.image_ids) for system in everybody]
    diversity, accuracy = (
        [
            dict(zip(system.image_ids, system[key].per_image.round(_DECIMALS).tolist(), strict=True))
            if key in system
            else {}
            for system in everybody
        ]
        for key in (spread.key if spread else "", "accuracy")
    )
    return {
        "spread": spread.label if spread else None,
        "accuracy": first["accuracy"].label if "accuracy" in first.figures else None,
        "systems": [{"name": named.name, "people": named.people} for named in _looks(result)],
        "drawn": len(drawn),
        "images": [
            {
                "id": image,
                "captions": [
                    system.corpus.set_of(image) if image in images else None
                    for system, images in zip(everybody, present, strict=True)
                ],
                "diversity": [values.get(image) for values in diversity],
                "accuracy": [values.get(image) for values in accuracy],
                "similarities": similarities.get(image),
                "photo": None,
            }
            for image in first.image_ids
            if image in paged
        ],
    }


def _plots(result: Diversity, chosen: list[str]) -> Section:
    """The charts, and for each that cannot be drawn the reason."""
    numbers = {(system.name, system is result.human): number for number, system in enumerate(result.everybody())}
    drawn, left_out = [], []
    for describe, titles in ON_THE_PAGE.items():
        named = [title.format(beta2=result.beta2) for title in titles]
        try:
            chart = describe(result)
        except LeftOutError as reason:
            left_out += [f"{title} is left out: {reason}." for title in named]
            continue
        systems = list(dict.fromkeys(numbers[row["system"], row["kind"] == "people"] for row in chart.rows))
        drawn.append(figures(chart, named, systems))
    drawn.append(figures(scaling(result, chosen), ["Captions by similarity"], []))
    return Section("plots", "Pictures", drawn=plots(_looks(result), "Systems shown", *drawn, first=3), notes=left_out)


def _looks(result: Diversity) -> list[Look]:
    """Those of the systems and of people, by their whole names."""
    return [
        look(number, "", people=system is result.human)._replace(
            name="people" if system is result.human else system.name
        )
        for number, system in enumerate(result.everybody())
    ]


def _drawn(result: Diversity, image: str) -> str:
    """The plane of all captions, and of each system two radars of the topics."""
    looks, plane, radars = _looks(result), in_plane(result, [image]), topics(result, "topics", image)
    drawn = figure(panels_of(plane)[0], "Captions by similarity", looks, range(len(looks)), note=plane.note)
    for (number, kind), panel in zip(radars.panels, panels_of(radars), strict=True):
        if kind:  # the list of captions is on the page
            drawn += figure(panel, panel.title, looks_of(radars), [number], focus=False)
    return drawn
