"""Counts metrics that are written in Python, by any author: names their exceptions and wrong results."""

from __future__ import annotations

import itertools
import math
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.corpus.sets import SetCorpus, encode_sets
from sacrecap.errors import DataError, SacrecapError
from sacrecap.metrics.base import Metric, PythonMetric, Ready
from sacrecap.metrics.registry import OWN, origin_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sacrecap.resources.needs import Needs


def counted_in_python(metric: PythonMetric, corpus: Corpus, ready: Ready, needs: Needs) -> _core.Statistics:
    """The statistics of a metric that is written in Python.

    Raises `DataError`, which names the metric, for what it raises, and for statistics that cannot be believed.
    """
    rows = _rows(metric, corpus, ready)
    own_formula = type(metric).formula is not PythonMetric.formula
    if not own_formula and rows.shape[1] != 2:
        raise DataError(
            f"{metric.key}: rows of {rows.shape[1]} numbers need a formula; without one, a row is (score, 1)"
        )
    _check_alone(metric, corpus, needs, rows)
    own_rows = type(metric).row_formula is not PythonMetric.row_formula
    return _core.Statistics.of_rows(
        metric.key,
        rows.tobytes(),
        rows.shape[1],
        Watched(metric, "formula") if own_formula else None,
        Watched(metric, "row_formula") if own_rows else None,
    )


def _rows(metric: PythonMetric, corpus: Corpus, ready: Ready) -> npt.NDArray[np.float64]:
    """The rows of the metric's statistics.

    Raises `DataError`, which names the metric, for what it raises, and for rows that cannot be used.
    """
    import numpy as np

    try:
        values = metric.statistics(corpus, ready)
    except SacrecapError:
        raise
    except Exception as error:
        raise failed(metric, error) from error
    try:
        rows = np.ascontiguousarray(values, dtype="<f8")
    except (TypeError, ValueError) as error:
        raise DataError(f"{metric.key}: its statistics are not rows of numbers: {error}") from error
    expected = len(corpus) if metric.scores_sets else corpus.candidate_count
    if rows.ndim != 2 or len(rows) != expected or rows.shape[1] == 0:
        raise DataError(
            f"{metric.key}: its statistics have shape {rows.shape}; they must be {expected:,} rows, one per "
            f"{'image' if metric.scores_sets else 'candidate'}, all of one width"
        )
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        image = next(image for image, place in _places(metric, corpus).items() if row in place)
        raise DataError(
            f"{metric.key}: the statistics of image {image!r} are {', '.join(map(str, rows[row]))}; they must be "
            "finite numbers"
        )
    return rows


def failed(metric: Metric, error: Exception) -> DataError:
    """The error of a metric of others, with its name and the line of its code that raised."""
    frames = traceback.extract_tb(error.__traceback__)
    package = Path(__file__).parents[1]
    outside = [frame for frame in frames if package not in Path(frame.filename).parents]
    at = f" at {outside[-1].filename}, line {outside[-1].lineno}" if outside else ""
    return DataError(f"{metric.key} ({origin_of(metric)}) raised {type(error).__name__}{at}: {error}")


class Watched:
    """A formula of a metric, which names the metric where it raises or does not give a number."""

    def __init__(self, metric: PythonMetric, name: str) -> None:
        self._metric = metric
        self._name = name

    def __call__(self, sums: list[float]) -> float:
        try:
            score = float(getattr(self._metric, self._name)(sums))
        except SacrecapError:
            raise
        except Exception as error:
            raise failed(self._metric, error) from error
        if math.isfinite(score) or (math.isnan(score) and self._name == "row_formula"):
            return score
        raise DataError(f"{self._metric.key}: its {self._name} gave {score} for {sums}; it must give a finite number")


def _places(metric: Metric, corpus: Corpus) -> dict[str, range]:
    """The rows of each image."""
    counts = corpus.counts if isinstance(corpus, SetCorpus) and not metric.scores_sets else [1] * len(corpus)
    ends = itertools.accumulate(counts)
    return {image: range(end - count, end) for image, count, end in zip(corpus.image_ids, counts, ends, strict=True)}


TOLERANCE: Final = 1e-4
"""Largest relative difference between an image's score in the corpus and alone: half precision needs this much."""


def _check_alone(metric: PythonMetric, corpus: Corpus, needs: Needs, rows: npt.NDArray[np.float64]) -> None:
    """Raises `DataError` if a metric of others gives an image other statistics alone than among the others.

    The first, the middle and the last image are tried.
    """
    import numpy as np

    excused = metric.trained_on_references or metric.uses_document_frequency or corpus.tokenizer == "ptb-stream"
    if excused or len(corpus) < 2 or origin_of(metric) == OWN:
        return
    places = _places(metric, corpus)
    for image in dict.fromkeys(corpus.image_ids[place] for place in (0, len(corpus) // 2, -1)):
        alone = _of_one_image(corpus, image)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = _rows(metric, alone, metric.ready(alone, needs))
        among = rows[places[image]]
        if table.shape != among.shape or not np.allclose(table, among, rtol=TOLERANCE, atol=TOLERANCE):
            raise DataError(
                f"{metric.key} ({origin_of(metric)}) gives image {image!r} {_spelled(among)} among {len(corpus):,} "
                f"images and {_spelled(table)} alone; the score of an image must depend on its own captions, unless "
                "the metric is declared with trained_on_references=True"
            )


def _of_one_image(corpus: Corpus, image: str) -> Corpus:
    candidates, references = corpus.given(image)
    described = {image: references} if references else None
    if corpus.holds_sets:
        return encode_sets({"one": {image: candidates}}, described, tokenizer=corpus.tokenizer)["one"]
    captions = _core.Captions.from_dict({image: candidates[0]})
    about = None if described is None else _core.Captions.from_dict(described)
    [alone] = Corpus.of_part(about, {"": captions}, tokenizer=corpus.tokenizer).values()
    return alone


def _spelled(rows: npt.NDArray[np.float64]) -> str:
    return " ".join(str(tuple(map(float, row))) for row in rows.round(6))
