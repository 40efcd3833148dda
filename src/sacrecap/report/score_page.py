"""The page of one system: scores, the best and the worst images, histograms, captions of the images on the page."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from sacrecap.report.explanation_pictures import explanation_figures
from sacrecap.report.html import ReportPage, Section
from sacrecap.report.pictures.panels import columns, round_step
from sacrecap.report.pictures.svg import svg
from sacrecap.report.printing.table import Cell, Figures, Table
from sacrecap.report.score_formats import groups_table, scores_table
from sacrecap.resources.objects_of_images import located_objects
from sacrecap.scoring.diversity_result import SystemDiversity
from sacrecap.scoring.findings import Finding, SystemResult
from sacrecap.scoring.result import Result, finite, images_of, left_out, missing

MOST_IMAGES = 20_000
"""Larger corpora are not on the page as a whole: it would be slow to open."""
MOST_TEXT = 12_000_000
"""Bytes of captions on the page: corpora of long captions show fewer images."""
EXTREMES = 1_000
"""Number of best and of worst images of a larger corpus on the page; the others are sampled."""
MOST_EXPLAINED = 100
"""Images with METEOR's alignment and the like, half of them the best: each is computed anew, in milliseconds."""
SAMPLE_SEED = 0
SAMPLED = f"a random sample of the others (seed {SAMPLE_SEED})"
DECIMALS = 6
"""Decimals of scores of single images; enough for every figure on the page, and half the size of full precision."""


def page(result: Result, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of one system's scores."""
    scores = {key: np.round(score.per_image, DECIMALS) for key, score in result.items()}
    scored = {key: values[~np.isnan(values)] for key, values in scores.items()}
    leading = lead(result)
    by_lead = list(scores.values())[leading]
    most = fitting(MOST_IMAGES, result.image_ids, lambda image: captions_of([result], image))
    # On the page are all images, or the extremes and a sample of the others.
    order = _ordered(by_lead, range(len(by_lead)))
    ends = min(EXTREMES, most // 2, len(order) // 2)
    rest = len(order) - ends
    chosen = first_and_sample([*order[:ends], *order[rest:], *order[ends:rest]], 2 * ends, most)
    order, half = _ordered(by_lead, chosen), MOST_EXPLAINED // 2
    extreme = {*order[:half], *order[half - MOST_EXPLAINED :]} if result.explains else set()
    explained = {at: result.explain(result.image_ids[number]) for at, number in enumerate(chosen) if number in extreme}
    of_objects = any("objects" in score.metric.needs for score in result.values())
    located = located_objects(result.needs) if of_objects else {}
    by_statements = "statement" in result.explains
    label = list(result.values())[leading].label
    unexplained = (
        f"Figures that explain scores are on the page for {len(explained)} images, the best and the worst by {label}; "
        "sacrecap score --explain shows any other."
    )
    data = {
        "lead": leading,
        "unexplained": unexplained if 0 < len(explained) < len(chosen) else "",
        "marked": {at: parts["statement"].marked() for at, parts in explained.items()} if by_statements else None,
        "metrics": [
            {
                "label": score.metric.label,
                "lower_is_better": score.metric.lower_is_better,
                "unscored": score.unscored,
                "median": float(np.median(scored[key])) if len(scored[key]) else None,
                "scores": known(scores[key][chosen]),
            }
            for key, score in result.items()
        ],
        "images": [page_image([result], result.image_ids[number]) for number in chosen],
    }
    legend = " words occur in no reference (words compared in lower case, as written)."
    if by_statements:
        legend = " words say what no reference says, as coverage, precision and long-f1 count it."
    marked = [("marked", "Marked"), ("", legend)]
    bars = "A bar is a range of scores; click it to see its images below. The vertical line is the corpus score."
    which = (
        f"the {ends:,} best and the {ends:,} worst by {label}, and {SAMPLED}. Scores, intervals and distributions are "
        "of all images; the table, and the best and worst by other metrics, are of the images on this page."
    )
    return ReportPage(
        "captions",
        result.version,
        facts({"": result}),
        [
            Section("scores", "Scores", table=_table(result)),
            *(
                Section("groups", f"Scores {table.title}", table=table)
                for table in groups_table({"": result}, Figures())
            ),
            Section("extremes", "Best and worst images", marked if any(result.corpus.reference_counts) else ()),
            Section("histograms", "Distribution over images", [("", bars)], drawn=_histograms(result, scored)),
            Section("images", "Images", notes=[part(len(chosen), result, which)]),
        ],
        data,
        [
            "A metric’s name leads to what it measures, “interval” to what an [interval](explanation/intervals/) says.",
            "The bars choose images, a column of the list sorts them, and a row opens to the references.",
        ],
        doubts({"": result}, result.findings),
        drawings={at: explanation_figures(parts) for at, parts in explained.items()},
        located=[located.get(result.image_ids[number], ()) for number in chosen],
    )


def _histograms(result: Result, scored: Mapping[str, npt.NDArray[np.float64]]) -> str:
    """For each metric the numbers of images with scores in each range."""
    drawn = ""
    for key, score in result.items():
        panel = columns(*histogram(scored[key], score.metric.largest), finite(score.value))
        what = f"{score.metric.label}: images by score; arrow keys move between bars"
        drawn += (
            f'<figure class="histogram"><figcaption><strong>{escape(score.metric.label)}</strong></figcaption>'
            f"{svg(panel, what, width=300, height=130, focus=True)}</figure>"
        )
    return f'<div class="histograms">{drawn}</div>'


def _table(result: Result) -> Table:
    """The printed table, with what each metric is."""
    figures, doubtful = Figures(), Cell("doubtful: see above")
    printed = scores_table(result, figures)
    doubted = {key for finding in result.findings for key in finding.metrics}
    above = {*map(str, result.findings)}
    rows = [
        [
            Cell(score.metric.label, below=Cell(score.metric.summary), term=score.key),
            Cell(figures.number(score.value), below=doubtful) if key in doubted else number,
            *cells,
        ]
        for (key, score), (_, number, *cells) in zip(result.items(), printed.rows, strict=True)
    ]
    return replace(printed, rows=rows, notes=[note for note in printed.notes if note not in above])


def facts_of_images(systems: Mapping[str, SystemResult]) -> dict[str, str]:
    """How many images were scored, of how many."""
    return {"Images": images_of(next(iter(systems.values()))).rpartition(" ")[0]}


def doubts(systems: Mapping[str, Result], findings: Iterable[Finding]) -> list[str]:
    """What was left out, what has no score, and what was found."""
    return [left_out(systems), "; ".join(missing(systems)), *map(str, findings)]


def facts(systems: Mapping[str, Result]) -> dict[str, str]:
    """What was scored and how."""
    result = next(iter(systems.values()))
    least, most = result.corpus.reference_counts
    return {
        **facts_of_images(systems),
        **({"References per image": f"{least:,}" if least == most else f"{least:,} to {most:,}"} if most else {}),
        "Tokenizer": result.corpus.tokenizer,
    }


def part(number: int, system: Result | SystemDiversity, which: str) -> str:
    """The sentence about a page with so many of the images; none about a page with all."""
    if number == len(system.image_ids):
        return ""
    return f"This page holds {number:,} of the {system.images:,} images: {which}"


def fitting(most: int, paged: Sequence[Any], texts_of: Callable[[Any], list[str]]) -> int:
    """Number of what is shown, at most `most`, that keep the page below `MOST_TEXT`, by the mean of every k-th."""
    looked = paged[:: max(len(paged) // 500, 1)]
    size = sum(len(text.encode("utf-8", "replace")) for item in looked for text in texts_of(item))
    return max(min(most, int(MOST_TEXT * len(looked) / max(size, 1))), 2)


def captions_of(systems: Iterable[Result], image_id: str) -> list[str]:
    """All captions of the image."""
    image = page_image(systems, image_id)
    return [*(candidate or "" for candidate in image["candidates"]), *image["references"]]


def page_image(systems: Iterable[Result], image_id: str) -> dict[str, Any]:
    """The image with the captions of all systems, without a photo."""
    captions = [result.corpus.captions(image_id) for result in systems]
    candidates = [candidate for candidate, _ in captions]
    return {"id": image_id, "candidates": candidates, "references": captions[0][1], "photo": None}


def histogram(scores: npt.NDArray[np.float64], upper: float | None) -> tuple[list[float], list[int]]:
    """The edges of some 30 bins, multiples of 1, 2, 2.5 or 5 times a power of ten, and how many scores are in each.

    A bin holds its lower edge, the last bin both. They end at the metric's `upper` bound if scores come near it: charts
    of similar metrics have the same axes.
    """
    if not len(scores):
        return [0.0, upper or 1.0], [0]
    least, most = min(0.0, float(scores.min())), float(scores.max())
    if upper is not None and upper / 2 < most <= upper:
        most = upper
    elif most <= 0:
        most = upper or 1.0
    step = round_step((most - least) / 30)
    first, last = math.floor(round(least / step, 9)), math.ceil(round(most / step, 9))
    edges = [float(f"{number * step:.12g}") for number in range(first, last + 1)]
    counts, _ = np.histogram(np.clip(scores, edges[0], edges[-1]), edges)
    return edges, counts.tolist()


def lead(result: Result) -> int:
    """The index of CIDEr-D among the metrics, or of the first."""
    names = [score.metric.name for score in result.values()]
    return names.index("cider-d") if "cider-d" in names else 0


def first_and_sample(order: list[int], first: int, most: int) -> list[int]:
    """At most that many indices in ascending order: the first ones of an order, and a random sample of the others."""
    most = min(most, len(order))
    first = min(first, most)
    return sorted([*order[:first], *random.Random(SAMPLE_SEED).sample(order[first:], most - first)])


def _ordered(scores: npt.NDArray[np.float64], chosen: Sequence[int]) -> list[int]:
    """The indices of these images by score; images without a score are in the middle: neither best nor worst."""
    known = sorted((number for number in chosen if not math.isnan(scores[number])), key=scores.tolist().__getitem__)
    unknown = [number for number in chosen if math.isnan(scores[number])]
    return [*known[: len(known) // 2], *unknown, *known[len(known) // 2 :]]


def known(scores: npt.NDArray[np.float64]) -> Any:
    """The scores for JSON, in nested lists like the array: None if an image has no score."""
    return np.where(np.isnan(scores), None, scores.astype(object)).tolist()  # type: ignore[call-overload]
