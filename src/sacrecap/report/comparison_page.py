"""The page of a comparison: scores, tests, image by image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from sacrecap.report.comparison_formats import differences, ordered, scores, signatures, tested
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.panels import Line, Panel, from_zero
from sacrecap.report.pictures.svg import svg
from sacrecap.report.printing.table import Figures
from sacrecap.report.score_formats import groups_table
from sacrecap.report.score_page import (
    DECIMALS,
    SAMPLED,
    captions_of,
    doubts,
    facts,
    first_and_sample,
    fitting,
    known,
    lead,
    page_image,
    part,
)
from sacrecap.scoring.comparison import Comparison

MOST_CAPTIONS = 60_000
"""Most candidates on the page: with more, it would be slow to open; only some images are shown then."""
EXTREMES = 1_000
"""Number of images on the page that are chosen because the systems differ most; the others are sampled."""


def page(comparison: Comparison, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of a comparison."""
    comparison = ordered(comparison)
    first = next(iter(comparison.values()))
    data = comparison_data(comparison)
    marks = (
        f"Bold, *: the best. †: worse than the best, corrected p ≤ {comparison.alpha:g}. Before a score: the ranks the "
        "system may have; systems that no test separates share them."
    )
    keys = [
        ("key first", "first better"),
        ("key second", "second better"),
        ("", "stronger: smaller p (0.05, 0.01, 0.001); !: significant. Click a cell to choose what is shown below."),
    ]
    number, label = len(data["images"]), data["metrics"][data["lead"]]["label"]
    which = (
        f"the {min(EXTREMES, number):,} on which the systems differ most by {label}, and {SAMPLED}. "
        "Scores, intervals and tests are of all images."
    )
    printed = scores(comparison, Figures())
    notes = [marks, *comparison.notes]
    compared = differences(comparison, Figures())
    frames = []  # for each metric the axes and the line of equal scores, between which the page puts the images
    for metric in data["metrics"]:
        axis = replace(from_zero(metric["most"]), label="-")
        panel = Panel("plot", axis, axis, [Line([(end, end) for end in axis.ends])])
        frames.append(svg(panel, metric["label"], height=400))
    drawn = f'<div id="frames" hidden>{"".join(frames)}</div>'
    return ReportPage(
        f"{len(comparison):,} systems on {first.images:,} images",
        first.version,
        {"Systems": f"{len(comparison):,}", **facts(comparison), "Test": tested(comparison)},
        [
            Section("systems", "Scores", table=replace(printed, notes=notes, signatures=signatures(comparison))),
            *(Section("groups", f"Scores {table.title}", table=table) for table in groups_table(comparison, Figures())),
            Section("pairs", "Differences and their p", keys, replace(compared, notes=[], signatures=[])),
            Section("scatter", "Image by image", drawn=drawn),
            Section("images", "Where they differ", notes=[part(number, first, which)]),
        ],
        data,
        [
            "The best system is first. Before a score stand its [ranks](explanation/intervals/#ranks).",
            "Below it stands its [interval](explanation/intervals/).",
            "A cell of the differences chooses two systems and a metric: below, each image is a point, and opens.",
        ],
        doubts(comparison, comparison.findings),
    )


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """What the blocks show, without photos."""
    first = next(iter(comparison.values()))
    leading = lead(first)
    by_metric = {
        key: np.array([result[key].per_image for result in comparison.values()]).round(DECIMALS)
        for key in comparison.metrics
    }
    most = max(MOST_CAPTIONS // len(comparison), 2 * EXTREMES)
    most = fitting(most, first.image_ids, lambda image: captions_of(comparison.values(), image))
    leads = list(by_metric.values())[leading]
    order = np.argsort(leads.min(axis=0) - leads.max(axis=0), kind="stable").tolist()
    chosen = first_and_sample(order, EXTREMES, most)
    return {
        "lead": leading,
        "systems": list(comparison),
        "metrics": [
            {
                "label": metric.label,
                "most": from_zero(float(np.nanmax(by_metric[key], initial=0.0))).ends[1],
                "scores": known(by_metric[key][:, chosen]),
            }
            for key, metric in comparison.metrics.items()
        ],
        "pairs": list(combinations(range(len(comparison)), 2)),
        "images": [page_image(comparison.values(), first.image_ids[number]) for number in chosen],
    }
