"""The numbers behind each picture of caption sets: for the CSV file of the picture, and for the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypedDict, TypeVar

from sacrecap.errors import SacrecapError, option

if TYPE_CHECKING:
    from sacrecap.report.pictures.single_images import Scaling, SetTopics
    from sacrecap.scoring.diversity_result import Diversity, SystemDiversity
    from sacrecap.scoring.result import Score

MOST_WORDS = 5000
"""Number of a system's commonest words in the curve of word frequencies, as in the paper."""
SPREADS = ("self-cider", "lsa", "mbleu-mix", "div-2", "div-1")
"""Metrics that can be the axis of diversity (more is more diverse), the preferred first."""

Row = TypeVar("Row", bound=Mapping[str, object])


class PlaneRow(TypedDict):
    """A system, or people, in the plane of diversity and accuracy, with intervals."""

    system: str
    kind: str
    diversity: float
    diversity_lower: float | None
    diversity_upper: float | None
    accuracy: float
    accuracy_lower: float | None
    accuracy_upper: float | None


class TradeOffRow(TypedDict):
    """A captioner of a sweep in that plane: its line, its weight, and mean, smallest and largest value over seeds.

    The weight is empty for a line of one point, and None for people.
    """

    line: str
    weight: str | None
    diversity: float
    diversity_lower: float | None
    diversity_upper: float | None
    accuracy: float
    accuracy_lower: float | None
    accuracy_upper: float | None


class FRow(TypedDict):
    """F of a system or of people, with its interval."""

    system: str
    kind: str
    f: float
    lower: float | None
    upper: float | None


class VocabularyRow(TypedDict):
    """Distinct words (a mean, for a sweep) and diversity of a system or of people, with its interval."""

    system: str
    kind: str
    vocabulary: float
    captions: int | None
    diversity: float
    lower: float | None
    upper: float | None


class WordRow(TypedDict):
    """One of a system's commonest words."""

    system: str
    kind: str
    rank: int
    word: str
    count: int
    per_thousand_words: float


class CaptionsRow(TypedDict):
    """Diversity and accuracy of the K most accurate captions of each set of a system."""

    system: str
    kind: str
    captions: int
    diversity: float
    accuracy: float


class MeasureRow(TypedDict):
    """A system, or people, by one measure."""

    system: str
    kind: str
    measure: str
    value: float


class RankingRow(TypedDict):
    """The rank of a system, or of people, among all by one measure."""

    system: str
    kind: str
    measure: str
    value: float
    rank: float
    """1 for the most; ties get the mean of their ranks."""


class ScalingRow(TypedDict):
    """Equal captions of a system in the plane of an image's captions."""

    image_id: str
    system: str
    kind: str
    x: float
    y: float
    captions: int
    caption: str


class TopicRow(TypedDict):
    """How strongly a caption is about a topic of its set."""

    image_id: str
    system: str
    kind: str
    number: int
    caption: str
    topic: int
    load: float
    words: str


@dataclass(frozen=True)
class Table(Generic[Row]):
    """A picture's data: one row per mark."""

    name: str
    """The picture's name: that of its files, without a suffix."""
    columns: tuple[str, ...]
    """Column names of the CSV file, in the order of the rows' fields."""
    rows: list[Row]

    def csv(self) -> str:
        """The table as CSV; numbers in full precision, an empty field for None."""
        import csv
        import io

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([repr(cell) if isinstance(cell, float) else cell for cell in row.values()])
        return text.getvalue()


class LeftOutError(SacrecapError):
    """A picture cannot be drawn from this result; the message says what it lacks."""


def spread(result: Diversity) -> Score:
    """The figure for the axis of diversity, of the first system: Self-CIDEr, or else the next preferred one.

    Raises `LeftOutError` if no score was computed that grows with diversity.
    """
    figures = next(iter(result.values())).figures
    for family in SPREADS:
        for key, figure in figures.items():
            if key.partition("(")[0] == family:
                return figure
    raise LeftOutError(f"no diversity was scored; add one of {', '.join(SPREADS)} to {option('metrics')}")


def plane(result: Diversity) -> Table[PlaneRow]:
    """Diversity and accuracy of each system and of people, with intervals."""
    if "accuracy" not in next(iter(result.values())).figures:
        raise LeftOutError(f"accuracy is scored against references; give {option('references')}")
    key = spread(result).key
    rows: list[PlaneRow] = []
    for name, kind, system in _named(result):
        (x, left, right), (y, low, high) = _figure(system[key]), _figure(system["accuracy"])
        rows.append(
            {
                "system": name,
                "kind": kind,
                "diversity": x,
                "diversity_lower": left,
                "diversity_upper": right,
                "accuracy": y,
                "accuracy_lower": low,
                "accuracy_upper": high,
            }
        )
    return Table("plane", ("system", "kind", *_bounded(key), *_bounded("accuracy")), rows)


def f(result: Diversity) -> Table[FRow]:
    """F of each system and of people."""
    if "f" not in next(iter(result.values())).figures:
        more = f"give {option('references')}, and self-cider among {option('metrics')}"
        raise LeftOutError(f"F joins Self-CIDEr and accuracy; {more}")
    rows: list[FRow] = []
    for name, kind, system in _named(result):
        value, lower, upper = _figure(system["f"])
        rows.append({"system": name, "kind": kind, "f": value, "lower": lower, "upper": upper})
    return Table("f", ("system", "kind", *_bounded("f")), rows)


def vocabulary(result: Diversity) -> Table[VocabularyRow]:
    """Number of distinct words and diversity, of each system and of people."""
    key = spread(result).key
    rows: list[VocabularyRow] = []
    for name, kind, system in _named(result):
        value, lower, upper = _figure(system[key])
        rows.append(
            {
                "system": name,
                "kind": kind,
                "vocabulary": system.vocabulary,
                "captions": sum(system.corpus.counts),
                "diversity": value,
                "lower": lower,
                "upper": upper,
            }
        )
    return Table("vocabulary", ("system", "kind", "vocabulary", "captions", *_bounded(key)), rows)


def words(result: Diversity) -> Table[WordRow]:
    """The commonest words of each system and of people, by rank."""
    rows: list[WordRow] = []
    for name, kind, system in _named(result):
        counts = system.word_counts()
        total = sum(count for _, count in counts)
        rows.extend(
            {
                "system": name,
                "kind": kind,
                "rank": rank,
                "word": word,
                "count": count,
                "per_thousand_words": 1000 * count / total,
            }
            for rank, (word, count) in enumerate(counts[:MOST_WORDS], start=1)
        )
    if not rows:
        raise LeftOutError("the captions have no word")
    return Table("words", ("system", "kind", "rank", "word", "count", "per_thousand_words"), rows)


def captions(result: Diversity) -> Table[CaptionsRow]:
    """Diversity and accuracy of the K most accurate captions of each set, by K up to all; for people, only of all."""
    if "accuracy" not in next(iter(result.values())).figures:
        raise LeftOutError(f"captions are ranked by their accuracy; give {option('references')}")
    if not any(system.curve for system in result.values()):
        raise LeftOutError(f"it needs sets of two captions or more, and all their captions: leave {option('top')} out")
    key = spread(result).key
    rows: list[CaptionsRow] = [
        {"system": name, "kind": kind, "captions": most, "diversity": figures[key], "accuracy": figures["accuracy"]}
        for name, kind, system in _named(result)
        for most, figures in _curve(system).items()
    ]
    return Table("captions", ("system", "kind", "captions", key, "accuracy"), rows)


def _curve(system: SystemDiversity) -> dict[int, dict[str, float]]:
    """The system's curve, continued to all captions if all sets have the same number."""
    count = system.captions_per_image
    whole = {key: figure.value for key, figure in system.items()}
    return {**system.curve, **({count: whole} if isinstance(count, int) else {})}


def measures(rows: Sequence[MeasureRow]) -> Table[MeasureRow]:
    """Every system by several measures of diversity; the first is on the x axis.

    Raises `LeftOutError` if there is nothing to compare: one measure, or one system.
    """
    if len({row["measure"] for row in rows}) < 2:
        more = f"add another of {', '.join(SPREADS)} to {option('metrics')}"
        raise LeftOutError(f"it compares measures of diversity; {more}")
    _check_several(rows)
    return Table("measures", ("system", "kind", "measure", "value"), list(rows))


def ranking(rows: Sequence[MeasureRow]) -> Table[RankingRow]:
    """The order of the systems by each measure; more is better, or more diverse. Raises as `measures`."""
    if not rows:
        more = f"give {option('references')}, or add {SPREADS[0]} to {option('metrics')}"
        raise LeftOutError(f"it needs accuracy or diversity; {more}")
    _check_several(rows)
    ranked: list[RankingRow] = []
    for measure in dict.fromkeys(row["measure"] for row in rows):
        own = [row for row in rows if row["measure"] == measure]
        values = [row["value"] for row in own]
        ranked.extend(
            {**row, "rank": sum(value > row["value"] for value in values) + (values.count(row["value"]) + 1) / 2}
            for row in own
        )
    return Table("ranking", ("system", "kind", "measure", "value", "rank"), ranked)


def _check_several(rows: Sequence[MeasureRow]) -> None:
    if len({(row["system"], row["kind"]) for row in rows}) < 2:
        raise LeftOutError("it compares systems, and there is only one")


def by_measure(result: Diversity, families: Sequence[str]) -> list[MeasureRow]:
    """Each system and people by the measures of these families that were scored, in that order."""
    figures = next(iter(result.values())).figures
    chosen = [(key, figures[key].label) for family in families for key in figures if key.partition("(")[0] == family]
    return [
        {"system": name, "kind": kind, "measure": label, "value": system[key].value}
        for key, label in chosen
        for name, kind, system in _named(result)
    ]


def scaling(result: Diversity, planes: list[Scaling]) -> Table[ScalingRow]:
    """Positions of the captions of some images, one row per mark: equal captions of a system share a mark."""
    names = [(name, kind) for name, kind, _ in _named(result)]
    rows: list[ScalingRow] = [
        {
            "image_id": plane.image_id,
            "system": names[mark.system][0],
            "kind": names[mark.system][1],
            "x": mark.x,
            "y": mark.y,
            "captions": len(mark.captions),
            "caption": mark.text,
        }
        for plane in planes
        for mark in plane.marks
    ]
    return Table("scaling", ("image_id", "system", "kind", "x", "y", "captions", "caption"), rows)


def topics(result: Diversity, name: str, sets: list[SetTopics]) -> Table[TopicRow]:
    """How strongly each caption of one image is about each latent topic of its set, with the topic's words."""
    names = [(name, kind) for name, kind, _ in _named(result)]
    rows: list[TopicRow] = [
        {
            "image_id": one.image_id,
            "system": names[one.system][0],
            "kind": names[one.system][1],
            "number": number,
            "caption": text,
            "topic": place,
            "load": load,
            "words": " ".join(word for word, _ in topic.words),
        }
        for one in sets
        for place, topic in enumerate(one.topics, start=1)
        for number, (text, load) in enumerate(zip(one.captions, topic.captions, strict=True), start=1)
    ]
    return Table(name, ("image_id", "system", "kind", "number", "caption", "topic", "load", "words"), rows)


def diversities(result: Diversity) -> dict[str, float]:
    """Each image's diversity, the mean over systems."""
    key = spread(result).key
    columns = [system[key].per_image.tolist() for system in result.values()]
    ids = next(iter(result.values())).image_ids
    return {image: sum(row) / len(row) for image, *row in zip(ids, *columns, strict=True)}


def _named(result: Diversity) -> Iterator[tuple[str, str, SystemDiversity]]:
    for system in result.everybody():
        yield system.name, "people" if system is result.human else "system", system


def _bounded(key: str) -> tuple[str, str, str]:
    return key, f"{key}_lower", f"{key}_upper"


def _figure(figure: Score) -> tuple[float, float | None, float | None]:
    return (figure.value, *(figure.interval or (None, None)))
