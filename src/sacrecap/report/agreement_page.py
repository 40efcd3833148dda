"""The page of an agreement with people.

It shows the table that terminals print, and below it the judged captions, first those on which a metric and people
disagree most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from sacrecap.judgments.judged_rows import Pairs, usual_metrics
from sacrecap.report.agreement_formats import lines, missing, ordered, systems_tables, table
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.agreement_charts import PEOPLE, curve, scatter, wins
from sacrecap.report.pictures.charts import Chart, LeftOutError
from sacrecap.report.pictures.style import look
from sacrecap.report.pictures.svg import figures, plots
from sacrecap.report.score_page import DECIMALS, SAMPLED, first_and_sample, fitting, known

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.judgments.agreement_result import Agreement, Measured
    from sacrecap.judgments.judged_rows import Ratings

    Floats = npt.NDArray[np.float64]

MOST_ITEMS = 10_000
"""Most judged captions or pairs on the page: with more, it would be slow to open; the others are left out."""
EXTREMES = 2_000
"""Number of those on the page on which a metric and people disagree most; the others are sampled."""
MOST_POINTS = 1_000
"""Most points of a picture of scores and ratings on the page."""
_MOST_RATINGS = 10
"""Most ratings of one caption that are listed."""


class JudgedMetric(TypedDict):
    """A metric, its scores of the candidates on the page, column by column, and its distance from people.

    `gaps`: for pairs, the score of the caption that people chose minus the score of the other; for ratings, the
    caption's place among all captions by the metric (a share from 0 to 1) minus its place by people. If `turned`, lower
    scores are better, and scores have a minus sign. None means no score, and the gap of such a caption.
    """

    label: str
    turned: bool
    scores: list[list[float | None]]
    gaps: list[float | None]


class JudgedItem(TypedDict):
    """A rated caption, or a pair with the caption that people chose first.

    `image` and `references` are indices of the page's lists. `people` is what people said of each candidate; `mean`
    is the mean rating. `systems` names who wrote each candidate, if the file says so.
    """

    image: int
    references: int
    candidates: list[str]
    systems: list[str]
    people: list[str]
    mean: float | None
    category: str


class JudgedImage(TypedDict):
    """An image, and the address of its photo."""

    id: str
    photo: str | None


class AgreementPage(TypedDict):
    """What the list shows."""

    pairs: bool
    metrics: list[JudgedMetric]
    images: list[JudgedImage]
    references: list[list[str]]
    items: list[JudgedItem]


def page(agreement: Agreement, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of an agreement."""
    agreement = ordered(agreement)
    data, drawn = agreement_data(agreement), _plots(agreement)
    judgments = agreement.judgments
    pairs = isinstance(judgments, Pairs)
    total, pictured = len(_judged(judgments)[0]), len({row.image_id for row in judgments.rows})
    count = agreement.measured[-1].references
    against = "" if count is None else f", against {count:,} references"
    what = "sets" if usual_metrics(judgments) == "diversity" else "captions"
    explained = (
        "The caption that people chose is blue. The metric is wrong if it gives the other caption the higher score"
        if pairs
        else "Disagreement is the caption’s place among all captions by the metric, from 0 (lowest) to 1, minus its "
        "place by people"
    )
    part = ""
    if len(data["items"]) < total:
        size = len(data["items"])
        part = (
            f"This page holds {size:,} of the {total:,} {'pairs' if pairs else 'captions'} of {pictured:,} images: the "
            f"{min(EXTREMES, size):,} on which a metric and people disagree most, and {SAMPLED}. The table above is of "
            "all of them."
        )
    return ReportPage(
        "agreement",
        "Agreement of metrics with people",
        judgments.dataset,
        agreement.version,
        {
            "Data set": judgments.dataset,
            "Decided pairs" if pairs else f"Rated {what}": f"{total:,}",
            "Images": f"{pictured:,}",
            "Documents": agreement.documents,
        },
        [
            Section("agreement", "Metrics against people", table=replace(table(agreement), notes=lines(agreement))),
            *(Section("systems", table.title, table=replace(table, title="")) for table in systems_tables(agreement)),
            *([Section("plots", "Pictures", drawn=drawn)] if drawn else []),
            Section("images", "Where a metric and people disagree", [("", f"{explained}{against}.")], notes=[part]),
        ],
        data,
        [
            "The metric that [agrees best](howto/measure-agreement/) with people is first: by what has an interval.",
            "In the last row people predict people.",
            "A row of the list opens to the references and to all metrics.",
        ],
        missing(agreement),
    )


def agreement_data(agreement: Agreement) -> AgreementPage:
    """What the list shows, without photos."""
    judgments = agreement.judgments
    # Of several numbers of references, the scores against the last are shown.
    last = agreement.measured[-1].references
    measured = [metric for metric in agreement.measured if metric.references == last]
    judged, preferred = _judged(judgments)
    scores = [_by_candidate(metric, judged, preferred) for metric in measured]
    gaps = [_gaps(values, judgments) for values in scores]
    columns = list(judgments.candidates().values())
    rows = judgments.rows
    most = fitting(
        MOST_ITEMS,
        [str(number) for number in judged],
        lambda number: [*(column[int(number)] for column in columns), *rows[int(number)].references],
    )
    chosen = first_and_sample(_most_disputed(gaps, isinstance(judgments, Pairs)), EXTREMES, most)
    numbers = [judged[place] for place in chosen]
    images = list(dict.fromkeys(rows[number].image_id for number in numbers))
    references = list(dict.fromkeys(tuple(rows[number].references) for number in numbers))
    image_of = {image: place for place, image in enumerate(images)}
    references_of = {texts: place for place, texts in enumerate(references)}
    return {
        "pairs": isinstance(judgments, Pairs),
        "metrics": [
            {
                "label": metric.label,
                "turned": metric.lower_is_better,
                "scores": known(values[:, chosen].round(DECIMALS)),
                "gaps": known(gap[chosen].round(DECIMALS)),
            }
            for metric, values, gap in zip(measured, scores, gaps, strict=True)
        ],
        "images": [{"id": image, "photo": None} for image in images],
        "references": [list(texts) for texts in references],
        "items": [
            _item(judgments, number, image_of[rows[number].image_id], references_of[tuple(rows[number].references)])
            for number in numbers
        ],
    }


def _plots(agreement: Agreement) -> str:
    names = [*dict.fromkeys(metric.label for metric in agreement.measured), PEOPLE]
    systems = [look(number, name, people=number == len(names) - 1) for number, name in enumerate(names)]
    drawn, with_people = [], False
    for describe, name in ((curve, "Agreement by references"), (wins, "Wins of each system"), (scatter, "")):
        try:
            chart = _thinned(describe(agreement))
        except LeftOutError:
            continue
        groups = dict.fromkeys((row["system"], row["kind"]) for row in chart.rows)
        places = [len(names) - 1 if kind == "people" else names.index(system) for system, kind in groups]
        drawn.append(figures(chart, [name], places, [systems[number] for number in places]))
        with_people = with_people or len(names) - 1 in places
    return plots(systems if with_people else systems[:-1], "In the pictures", *drawn) if drawn else ""


def _thinned(chart: Chart) -> Chart:
    """The chart with at most `MOST_POINTS` points in a panel of a cloud, evenly taken; its line is of all."""
    panels = [[row for row in chart.rows if row["measure"] == up.label] for up in chart.y]
    most = max(map(len, panels), default=0)
    if chart.kind != "cloud" or most <= MOST_POINTS:
        return chart
    step = math.ceil(most / MOST_POINTS)
    return replace(
        chart,
        rows=[row for panel in panels for row in panel[::step]],
        note=f"{chart.note[:-1]} of all {most:,} points.",
    )


def _judged(judgments: Pairs | Ratings) -> tuple[list[int], npt.NDArray[np.int64]]:
    """Indices of the judgments in which people decided, and of the candidate that they chose in each."""
    if not isinstance(judgments, Pairs):
        return list(range(len(judgments.rows))), np.zeros(len(judgments.rows), dtype=np.int64)
    decided = [number for number, preferred in enumerate(judgments.preferred) if preferred]
    return decided, np.array([int(judgments.preferred[number] < 0) for number in decided], dtype=np.int64)


def _by_candidate(measured: Measured, judged: list[int], preferred: npt.NDArray[np.int64]) -> Floats:
    """Scores of shape (candidates, judgments), those of the candidates that people chose first."""
    columns = np.array(list(measured.scores.values()), dtype=np.float64)[:, judged]
    order = (np.arange(len(columns))[:, None] + preferred) % len(columns)
    return np.asarray(np.take_along_axis(columns, order, axis=0))


def _gaps(scores: Floats, judgments: Pairs | Ratings) -> Floats:
    """The distance of the metric from people, as `JudgedMetric` defines it."""
    if isinstance(judgments, Pairs):
        return np.asarray(np.nan_to_num(scores[0] - scores[1], nan=0.0))
    scored = ~np.isnan(scores[0])
    people = np.array(list(map(fmean, judgments.ratings)))
    gaps: Floats = np.full(len(people), np.nan)
    gaps[scored] = _places(scores[0][scored]) - _places(people[scored])
    return gaps


def _places(values: Floats) -> Floats:
    """For each value, the share of lower values plus half the share of equal ones."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(((counts.cumsum() - counts / 2) / len(values))[place])


def _most_disputed(gaps: Sequence[Floats], pairs: bool) -> list[int]:
    """Indices of the judgments, first those on which a metric disagrees most.

    A judgment is placed by the metric that ranks it highest, because gaps of different metrics have no common scale.
    """
    disputes = np.array(gaps) if pairs else -np.abs(np.nan_to_num(gaps, nan=0.0))
    ranks = disputes.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    order: list[int] = ranks.min(axis=0).argsort(kind="stable").tolist()
    return order


def _item(judgments: Pairs | Ratings, number: int, image: int, references: int) -> JudgedItem:
    candidates = [column[number] for column in judgments.candidates().values()]
    systems = [column[number] for column in (judgments.systems() or {}).values()]
    mean, category = None, ""
    if isinstance(judgments, Pairs):
        category = judgments.categories[number]
        kinds = (("votes", judgments.votes), ("direct votes", judgments.direct))
        counted = [(name, votes[number]) for name, votes in kinds if votes and votes[number]]
        people = [
            " · ".join(f"{votes.count(side)} of {len(votes)} {name}" for name, votes in counted) for side in (1, -1)
        ]
        if judgments.preferred[number] < 0:
            candidates, systems, people = candidates[::-1], systems[::-1], people[::-1]
    else:
        ratings = judgments.ratings[number]
        mean = round(fmean(ratings), DECIMALS)
        if judgments.votes is not None:
            yes, no = judgments.votes[number]
            people = [f"{yes} of {yes + no} votes for yes"]
        elif len(ratings) > _MOST_RATINGS:
            people = [f"{len(ratings)} ratings"]
        else:
            people = [f"rated {', '.join(f'{rating:g}' for rating in ratings)}"]
    return {
        "image": image,
        "references": references,
        "candidates": candidates,
        "systems": systems,
        "people": people,
        "mean": mean,
        "category": category,
    }
