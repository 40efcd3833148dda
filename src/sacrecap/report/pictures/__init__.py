"""Pictures as files: of caption sets as PNG and SVG, with their data as CSV; and one of an agreement."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike

from sacrecap.data.writers import atomic_write, check_writable
from sacrecap.errors import DataError, MissingDependencyError, UsageError, spelled
from sacrecap.judgments.agreement_result import Agreement
from sacrecap.judgments.agreement_statistics import systems_by_people
from sacrecap.judgments.judged_rows import Pairs, Ratings
from sacrecap.report.pictures import charts
from sacrecap.report.pictures.agreement_charts import curve, scatter, wins
from sacrecap.report.pictures.charts import Chart
from sacrecap.report.pictures.style import Look
from sacrecap.report.pictures.svg import document
from sacrecap.scoring.diversity_result import Diversity


def check_pictures(folder: str | PathLike[str]) -> None:
    """Makes the folder if it does not exist, and raises early what would prevent pictures after the scoring.

    Raises:
        DataError: the folder cannot be made or written in.
        MissingDependencyError: vl-convert is not installed.
    """
    check_converter()
    try:
        os.makedirs(folder, exist_ok=True)
    except FileExistsError as error:
        raise DataError(f"{os.fspath(folder)}: it is a file; pictures go into a folder") from error
    except OSError as error:
        raise DataError(f"{os.fspath(folder)}: this folder cannot be made: {error.strerror}") from error
    check_writable(os.path.join(folder, "plane.png"))


def check_converter() -> None:
    """Raises `MissingDependencyError` if vl-convert, which makes PNG and PDF of SVG, is not installed."""
    try:
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError("drawing pictures", extra="plots") from error


def write_pictures(result: Diversity, folder: str | PathLike[str], images: Iterable[str] = ()) -> list[str]:
    """Writes every picture for which the result has the numbers: `NAME.png`, `NAME.svg` and `NAME.csv`.

    The same result gives the same bytes. Pictures of single images show the requested ones, or the most and the least
    diverse ones.

    Returns:
        For each picture left out, a line that says why.

    Raises:
        DataError: the folder cannot be written in.
        MissingDependencyError: vl-convert is not installed.
        UsageError: an image without caption sets is asked for.
    """
    check_pictures(folder)
    result = charts.by_score(result)
    left_out = []
    for name, make in _pictures(result, charts.chosen_images(result, images)):
        try:
            write_charts([make()], folder)
        except charts.LeftOutError as reason:
            left_out.append(f"{name} is left out: {reason}")
    return left_out


def write_charts(
    described: Iterable[Chart], folder: str | PathLike[str], looks: Mapping[str, Sequence[Look]] = {}
) -> None:
    """Writes each chart: `NAME.png`, `NAME.svg` and `NAME.csv`. Raises as `write_pictures`.

    `looks`: by name of the chart, those of its systems, if they are not those of their order.
    """
    check_pictures(folder)
    for chart in described:
        drawn = document(chart, looks.get(chart.name, ()))
        place = os.path.join(folder, chart.name)
        for suffix in ("png", "svg"):
            with atomic_write(f"{place}.{suffix}", "wb") as file:
                file.write(_rendered(drawn, suffix))
        with atomic_write(f"{place}.csv") as file:
            file.write(chart.csv())


def check_plot(path: str, judgments: Pairs | Ratings, references: Sequence[int]) -> None:
    """Raises `UsageError` if there is nothing to draw, or the file's suffix is unknown."""
    suffixes = (".svg", ".png", ".pdf")
    if os.path.splitext(path)[1] not in suffixes:
        raise UsageError(f"{path}: the suffix gives the format; end the name in {', '.join(suffixes)}")
    if len(set(references)) < 2 and isinstance(judgments, Pairs) and systems_by_people(judgments) is None:
        raise UsageError(
            f"a curve needs at least two numbers of references, and {judgments.source} does not name three systems, "
            "whose wins could be drawn; name numbers, such as "
            + spelled(python="references=[1, 5, 48]", command="--references 1,5,48")
        )


def write_plot(agreement: Agreement, path: str) -> None:
    """Draws the agreement of each metric by the number of references; of a single number, every rating with its score,
    or the wins of each system.

    Raises `MissingDependencyError` without vl-convert, unless it is SVG; `DataError` if the file cannot be written.
    """
    suffix = os.path.splitext(path)[1][1:]
    if suffix != "svg":
        check_converter()
    describe = wins if isinstance(agreement.judgments, Pairs) else scatter
    if len({measured.references for measured in agreement.measured}) > 1:
        describe = curve
    content = _rendered(document(describe(agreement)), suffix)
    with atomic_write(path, "wb") as file:
        file.write(content)


def _pictures(result: Diversity, chosen: list[str]) -> Iterator[tuple[str, Callable[[], Chart]]]:
    """The pictures by name, each with its function, which raises `LeftOutError` if the result lacks the numbers."""
    for describe in charts.ON_THE_PAGE:
        yield describe.__name__, partial(describe, result)
    if "lsa" in next(iter(result.values())):
        yield "plane-lsa", partial(charts.plane, result, ["lsa"], "plane-lsa")
    yield "measures", lambda: charts.measures(charts.by_measure(result, charts.MEASURES))
    yield "ranking", lambda: charts.ranking(charts.by_measure(result, ("accuracy", *charts.SPREADS, "f")))
    yield "scaling", lambda: charts.scaling(result, chosen)
    for number, image in enumerate(charts.ends_of(chosen, 6), start=1):  # each in a file of its own
        yield f"topics-{number}", partial(charts.topics, result, f"topics-{number}", image)


def _rendered(drawn: str, format_: str) -> bytes:
    """The drawing as a file; the same picture is the same bytes."""
    if format_ == "svg":
        return drawn.encode()
    import vl_convert

    image: bytes = vl_convert.svg_to_png(drawn, scale=2.0) if format_ == "png" else vl_convert.svg_to_pdf(drawn)
    return image
