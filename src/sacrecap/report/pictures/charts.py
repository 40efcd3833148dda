"""Charts, described once: pages and files draw them alike, and CSV files hold them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from sacrecap.errors import SacrecapError, UsageError, option, some
from sacrecap.judgments.agreement_statistics import plain
from sacrecap.metrics import Lsa
from sacrecap.metrics.caption_sets import SelfCider
from sacrecap.report.pictures.single_images import scale, set_topics, spectra
from sacrecap.report.pictures.style import shown_name
from sacrecap.report.printing import separated
from sacrecap.report.printing.table import percent
from sacrecap.scoring.diversity_result import Diversity, SystemDiversity
from sacrecap.scoring.result import Score

MOST_WORDS = 5000
"""Number of a system's commonest words in the curve of word frequencies, as in the paper."""
SPREADS = ("self-cider", "lsa", "mbleu-mix", "div-2", "div-1")
"""Metrics that can be the axis of diversity (more is more diverse), the preferred first."""
MEASURES = (*SPREADS[:3], "mbleu-1", "mbleu-2", "mbleu-3", "mbleu-4", *SPREADS[3:])
"""Measures that are set beside the first."""

Segment: TypeAlias = tuple[tuple[float, float], tuple[float, float]]
"""The ends of a straight line."""
Row: TypeAlias = dict[str, Any]
"""A mark: its `system`, whether that is a system or people (`kind`), and fields for the axes."""


class Axis(NamedTuple):
    """What an axis shows; by default the surroundings of the values. The ends of a value's interval, where it has one,
    are in `FIELD_lower` and `FIELD_upper`.
    """

    field: str
    label: str
    better: str = ""
    """What more of it means, if that is good."""
    scale: Literal["around", "zero", "log", "counts", "log counts", "measures", "places", "plane"] = "around"
    """Around the values, from 0 on, logarithmic, at whole numbers, both of these; at measures; at places, of which 1 is
    on top; or of a plane, where only distances mean something.
    """
    most: float | None = None
    """The largest possible value."""


@dataclass(frozen=True)
class Chart:
    """A chart: the numbers behind it, a row per mark, which fields its axes show, and how."""

    name: str
    """That of its files, without a suffix."""
    columns: Mapping[str, str] | Sequence[str]
    """The fields that the CSV file has, in their order, and their heads there, if they differ."""
    rows: list[Row]
    kind: Literal["points", "lines", "bars", "radar", "cloud", "boxes"]
    """The lines of a radar are closed around its spokes, which are on the x axis; the points of a cloud are many; a box
    is for all points with one value on the x axis.
    """
    x: Axis
    y: Sequence[Axis]
    """A panel for each, or one for all panels; bars have none."""
    note: str = ""
    """How to read it, and how it differs from the paper's."""
    said: Mapping[str, str] = field(default_factory=dict)
    """The fields that a mark tells when it is pointed at, and what they are called there."""
    label: str | None = None
    """The field with the text beside a mark."""
    beta2: float | None = None
    """β² of the lines of equal F, if it has them."""
    band: bool = False
    """Whether intervals are drawn as a band along the line."""
    colour: str = "system"
    """The field whose values have a colour and a mark each."""
    size: str = ""
    """The field with the area of a mark, if areas differ."""
    panel: str = ""
    """The field that says in which panel a row is, if panels have rows of their own."""
    panels: Sequence[Any] = ()
    """Its values, in the order of the panels; one without rows is a panel of text."""
    titles: Sequence[str] = ()
    """Of the panels, if they have any."""
    fitted: Sequence[Segment | None] = ()
    """A straight line in each panel, if there are any."""
    below: Sequence[str] = ()
    """Texts below the panels, if they have any."""

    def csv(self) -> str:
        """The rows as CSV; numbers in full precision, an empty field for None."""
        heads = self.columns.values() if isinstance(self.columns, Mapping) else self.columns
        text = io.StringIO()
        separated.write(text, heads, ([row[field] for field in self.columns] for row in self.rows))
        return text.getvalue()


class LeftOutError(SacrecapError):
    """A picture cannot be drawn from this result; the message says what it lacks."""


def of_diversity(label: str) -> Axis:
    """The axis of the diversity with this label: none is above 1."""
    return Axis("diversity", f"Diversity: {label}", "more varied", most=1.0)


def of_accuracy(label: str) -> Axis:
    """The axis of the accuracy with this label."""
    return Axis("accuracy", label, "closer to the references")


def of_f(label: str) -> Axis:
    """The axis of F with this label."""
    return Axis("f", label, "better", "zero")


def of_vocabulary() -> Axis:
    """The axis of the number of distinct words."""
    return Axis("vocabulary", "Vocabulary (distinct words)", scale="zero")


def by_score(result: Diversity) -> Diversity:
    """The same with the system first that has the largest F, or else the largest of what is scored instead."""
    key = next((key for key in ("f", "self-cider") if key in _figures(result)), "")
    names = sorted(result, key=lambda name: -result[name][key].value) if key else list(result)
    return replace(result, systems={name: result[name] for name in names})


def spread(result: Diversity, families: Sequence[str] = SPREADS) -> Score:
    """The figure for the axis of diversity, of the first system: Self-CIDEr, or else the next preferred one.

    Raises `LeftOutError` if no score was computed that grows with diversity.
    """
    for figure in _of_families(result, families):
        return figure
    raise LeftOutError(f"no diversity was scored; add one of {', '.join(families)} to {option('metrics')}")


def plane(result: Diversity, families: Sequence[str] = SPREADS, name: str = "plane") -> Chart:
    """Accuracy and diversity of each system and of people, with intervals; lines join points of equal F."""
    figures = _figures(result)
    if "accuracy" not in figures:
        raise LeftOutError(f"accuracy is scored against references; give {option('references')}")
    diversity, accuracy = spread(result, families), figures["accuracy"].label
    heads, rows = _scored(result, diversity=diversity.key, accuracy="accuracy")
    curves = "f" in figures and diversity.metric.family == SelfCider.family
    crosses = f" Crosses are {percent(result.resampling.interval)} intervals." if result.resampling.interval else ""
    return Chart(
        name,
        heads,
        rows,
        "points",
        of_accuracy(accuracy),
        [of_diversity(diversity.label)],
        note=f"Up and right is better.{crosses}{' Dashed lines join places of equal F.' if curves else ''}",
        said={"diversity": diversity.label, "accuracy": accuracy},
        beta2=result.beta2 if curves else None,
    )


def f(result: Diversity) -> Chart:
    """F of each system and of people, as bars."""
    figures = _figures(result)
    if "f" not in figures:
        more = f"give {option('references')}, and self-cider among {option('metrics')}"
        raise LeftOutError(f"F joins Self-CIDEr and accuracy; {more}")
    note = "Diversity and accuracy in one number; more is better."
    return Chart("f", *_scored(result, f="f"), "bars", of_f(figures["f"].label), [], note, {"f": "F"})


def vocabulary(result: Diversity) -> Chart:
    """Number of distinct words and diversity, of each system and of people."""
    diversity = spread(result)
    heads, rows = _scored(result, diversity=diversity.key)
    for row, system in zip(rows, result.everybody(), strict=True):
        row.update(vocabulary=system.vocabulary, captions=sum(system.corpus.counts))
    return Chart(
        "vocabulary",
        {**_NAMED, "vocabulary": "vocabulary", "captions": "captions", **heads},
        rows,
        "points",
        of_diversity(diversity.label),
        [of_vocabulary()],
        "More distinct words, and captions of an image that differ.",
        {"vocabulary": "distinct words", "captions": "captions", "diversity": diversity.label},
    )


def words(result: Diversity) -> Chart:
    """The commonest words of each system and of people, by rank; a line ends with the vocabulary."""
    rows: list[Row] = []
    for named, system in _named(result):
        counts = system.word_counts()
        total = sum(count for _, count in counts)
        rows.extend(
            {**named, "rank": rank, "word": word, "count": count, "per_thousand_words": 1000 * count / total}
            for rank, (word, count) in enumerate(counts[:MOST_WORDS], start=1)
        )
    if not rows:
        raise LeftOutError("the captions have no word")
    return Chart(
        "words",
        (*_NAMED, "rank", "word", "count", "per_thousand_words"),
        rows,
        "lines",
        Axis("rank", "Rank of the word, the commonest first", scale="log"),
        [Axis("per_thousand_words", "Occurrences in 1,000 words", scale="log")],
        "Both axes are logarithmic; a line ends at the last word of the vocabulary, or at the 5,000th.",
        {"word": "word", "rank": "rank", "per_thousand_words": "in 1,000 words"},
    )


def captions(result: Diversity) -> Chart:
    """Diversity and accuracy of the K most accurate captions of each set, by K up to all; for people, only of all."""
    figures = _figures(result)
    if "accuracy" not in figures:
        raise LeftOutError(f"captions are ranked by their accuracy; give {option('references')}")
    if not any(system.curve for system in result.values()):
        raise LeftOutError(f"it needs sets of two captions or more, and all their captions: leave {option('top')} out")
    diversity, accuracy = spread(result), figures["accuracy"].label
    rows: list[Row] = []
    for named, system in _named(result):
        curve, count = dict(system.curve), system.captions_per_image
        if isinstance(count, int):
            curve[count] = {key: figure.value for key, figure in system.items()}
        for most, values in curve.items():
            scores = {"diversity": values[diversity.key], "accuracy": values["accuracy"]}
            rows.append({**named, "captions": most, **scores})
    return Chart(
        "captions",
        {**_NAMED, "captions": "captions", "diversity": diversity.key, "accuracy": "accuracy"},
        rows,
        "lines",
        Axis("captions", "The K most accurate captions of each set", scale="counts"),
        [Axis("diversity", diversity.label, "more varied", "zero"), Axis("accuracy", accuracy, "closer", "zero")],
        "Of the K most accurate captions of each set; people have all of theirs.",
        {"captions": "captions", "diversity": diversity.label, "accuracy": accuracy},
    )


ON_THE_PAGE: dict[Callable[[Diversity], Chart], Sequence[str]] = {
    plane: ["Diversity and accuracy"],
    f: ["F (β² = {beta2:g})"],
    vocabulary: ["Vocabulary and diversity"],
    words: ["Words by rank"],
    captions: ["Diversity by number of captions", "Accuracy by number of captions"],
}
"""The charts that the report has too, and the titles of their panels there."""


def measures(rows: Sequence[Row]) -> Chart:
    """Every system by several measures of diversity: a panel for each but the first, which is on the x axis; and their
    rank correlation.

    Raises `LeftOutError` if there is nothing to compare: one measure, or one system.
    """
    if len({row["measure"] for row in rows}) < 2:
        more = f"add another of {', '.join(SPREADS)} to {option('metrics')}"
        raise LeftOutError(f"it compares measures of diversity; {more}")
    by_measure = _by_measure(rows)
    first, *names = by_measure
    x, titles = [row["value"] for row in by_measure[first]], []
    for name in names:
        y = [row["value"] for row in by_measure[name]]
        undefined = len(x) < 3 or len(set(x)) == 1 or len(set(y)) == 1
        titles.append("" if undefined else f"Spearman's ρ {plain(x, y)['spearman']:.2f}")
    return Chart(
        "measures",
        (*_NAMED, "measure", "value"),
        [{**row, "first": at} for members in by_measure.values() for row, at in zip(members, x, strict=True)],
        "points",
        Axis("first", first),
        [Axis("value", name) for name in names],
        said={"first": first, "value": "the other measure"},
        panel="measure",
        panels=names,
        titles=titles,
    )


def ranking(rows: Sequence[Row]) -> Chart:
    """The order of the systems by each measure; more is better, or more diverse. Raises as `measures`.

    `rank` is 1 for the most; ties get the mean of their ranks.
    """
    if not rows:
        more = f"give {option('references')}, or add {SPREADS[0]} to {option('metrics')}"
        raise LeftOutError(f"it needs accuracy or diversity; {more}")
    ranked: list[Row] = []
    for number, members in enumerate(_by_measure(rows).values()):
        values = [row["value"] for row in members]
        for row, value in zip(members, values, strict=True):
            rank = sum(other > value for other in values) + (values.count(value) + 1) / 2
            ranked.append({**row, "rank": rank, "number": number})
    axes = Axis("number", "", scale="measures"), [Axis("rank", "Place (1: the most)", scale="places")]
    return Chart("ranking", (*_NAMED, "measure", "value", "rank"), ranked, "lines", *axes)


def _by_measure(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Each measure's rows. Raises `LeftOutError` if there is nothing to compare."""
    if len({(row["system"], row["kind"]) for row in rows}) < 2:
        raise LeftOutError("it compares systems, and there is only one")
    by_measure: dict[str, list[Row]] = {}
    for row in rows:
        by_measure.setdefault(row["measure"], []).append(row)
    return by_measure


def by_measure(result: Diversity, families: Sequence[str]) -> list[Row]:
    """Each system and people by the measures of these families that were scored, in that order.

    Where less is more diverse, the value is 1 minus the score, as in the paper.
    """
    rows = []
    for figure in _of_families(result, families):
        turned = figure.metric.lower_is_better
        label = f"1 − {figure.label}" if turned else figure.label
        for named, system in _named(result):
            value = system[figure.key].value
            rows.append({**named, "measure": label, "value": 1 - value if turned else value})
    return rows


def scaling(result: Diversity, images: Sequence[str]) -> Chart:
    """The captions of these images in one plane, a panel per system: a mark is all equal captions of an image."""
    named = [row for row, _ in _named(result)]
    chart = in_plane(result, images)
    return replace(
        chart,
        note=f"Captions of {len(images)} images in one plane, the same in all panels; a colour and a mark is an image. "
        + chart.note,
        said={"image_id": "image", **chart.said},
        colour="image_id",
        panel="number",
        panels=range(len(named)),
        titles=[shown_name(row) for row in named],
    )


def in_plane(result: Diversity, images: Sequence[str]) -> Chart:
    """The captions of these images in one plane, in the colours of the systems."""
    named = [row for row, _ in _named(result)]
    marks, share = scale({image: spectra(result, image) for image in images})
    rows = []
    for mark in marks:
        placed = {"image_id": mark.image_id, "x": mark.x, "y": mark.y, "caption": mark.text, "members": mark.captions}
        rows.append({**named[mark.system], "number": mark.system, "captions": len(mark.captions), **placed})
    return Chart(
        "scaling",
        ("image_id", *_NAMED, "x", "y", "captions", "caption"),
        rows,
        "points",
        Axis("x", "", scale="plane"),
        [Axis("y", "", scale="plane")],
        f"Near is similar (the distance is 1 − similarity), a larger mark is a repeated caption. The plane shows "
        f"{share:.0%} of the variance of the distances.",
        {"caption": "", "captions": "times"},
        size="captions",
    )


def topics(result: Diversity, name: str, image: str) -> Chart:
    """The captions of an image over the five leading topics of their set: of each system a radar by LSA, one by
    Self-CIDEr, and the captions. The `load` of a caption is its entry in the unit eigenvector.
    """
    named = [row for row, _ in _named(result)]
    spaces = {"LSA": spectra(result, image, Lsa(stop=False)), "Self-CIDEr": spectra(result, image)}
    rows, panels, titles, below = [], [], [], []
    for number, of_system in spaces["LSA"].items():
        for kind, sets in spaces.items():
            leading = set_topics(sets[number])
            for spoke, (loads, words) in enumerate(leading):
                topic = {"space": kind, "topic": spoke + 1, "words": words, "spoke": spoke, "panel": (number, kind)}
                for caption, (text, load) in enumerate(zip(sets[number].captions, loads, strict=True), start=1):
                    of_caption = {"number": caption, "caption": text, "load": load}
                    rows.append({"image_id": image, **named[number], **topic, **of_caption})
            panels.append((number, kind))
            titles.append(f"{kind}: {shown_name(named[number])}")
            below.append(" · ".join(f"{spoke}: {words}" for spoke, (_, words) in enumerate(leading, start=1)))
        panels.append((number, ""))
        titles.append("")
        below.append("\n".join(f"{n}. {text}" for n, text in enumerate(of_system.captions, start=1)))
    return Chart(
        name,
        ("image_id", *_NAMED, "space", "number", "caption", "topic", "load", "words"),
        rows,
        "radar",
        Axis("spoke", "topic"),
        [Axis("load", "v")],
        f"Image {image}. Captions over the five leading topics of their set: v, the entries of the unit eigenvectors, "
        "from negative at the centre through 0 on the middle ring; LSA is without stop words. The sign of a topic is "
        "chosen so that its entries add up to 0 or more.",
        colour="number",
        panel="panel",
        panels=panels,
        titles=titles,
        below=below,
    )


CHOSEN = 10
"""Number of images in the pictures by default, as in the paper: half of them the most diverse, half the least."""


def check_images(requested: Sequence[str], known: Sequence[str]) -> None:
    """Raises `UsageError` if one of the requested images is unknown."""
    unknown = sorted(set(requested) - set(known), key=requested.index)
    if unknown:
        raise UsageError(
            f"{option('images', flag='--draw')} names {some(unknown)} without caption sets; the first image that has "
            f"them is {known[0]!r}"
        )


def chosen_images(result: Diversity, requested: Iterable[str] = ()) -> list[str]:
    """The requested images, or the most and the least diverse by the mean over systems, the most diverse first.

    Raises `UsageError` for an image without caption sets.
    """
    chosen = list(dict.fromkeys(requested))
    check_images(chosen, next(iter(result.values())).image_ids)
    return chosen or ends_of(ranked(result), CHOSEN)


def ranked(result: Diversity) -> list[str]:
    """All images, the most diverse first; ties, and all images if no diversity was scored, in the result's order."""
    images = next(iter(result.values())).image_ids
    figures = _of_families(result, SPREADS)
    if not figures:
        return images
    sums = sum(system[figures[0].key].per_image for system in result.values())
    return [images[number] for number in np.argsort(-sums / len(result), kind="stable")]


def ends_of(order: list[str], most: int) -> list[str]:
    """That many from both ends of an order, in that order."""
    if len(order) <= most:
        return order
    return [*order[: (most + 1) // 2], *order[len(order) - most // 2 :]]


_NAMED = {"system": "system", "kind": "kind"}


def _named(result: Diversity) -> Iterator[tuple[Row, SystemDiversity]]:
    for system in result.everybody():
        yield {"system": system.name, "kind": "people" if system is result.human else "system"}, system


def _figures(result: Diversity) -> Mapping[str, Score]:
    return next(iter(result.values())).figures


def _of_families(result: Diversity, families: Sequence[str]) -> list[Score]:
    """The figures of the first system whose metrics are of these families, in that order."""
    figures = _figures(result).items()
    return [figure for family in families for key, figure in figures if key.partition("(")[0] == family]


def _scored(result: Diversity, **keys: str) -> tuple[dict[str, str], list[Row]]:
    """The scores of each system and of people: the heads of the fields, and a row for each with their intervals."""
    rows = []
    for row, system in _named(result):
        for name, key in keys.items():
            lower, upper = system[key].interval or (None, None)
            row.update({name: system[key].value, f"{name}_lower": lower, f"{name}_upper": upper})
        rows.append(row)
    ends = ("", "_lower", "_upper")
    return {**_NAMED, **{f"{name}{end}": f"{key}{end}" for name, key in keys.items() for end in ends}}, rows
