"""Every metric on every judgment: agreement on several data sets, whose scores are kept, so that a run goes on.

Figures that papers print of metrics on judgments, each with its source, stand beside what is measured here.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from sacrecap import _core
from sacrecap.above import Printable
from sacrecap.errors import UsageError
from sacrecap.judgments.agreement_result import Agreement
from sacrecap.judgments.datasets.read import read_judgments
from sacrecap.judgments.judged_rows import Pairs, Ratings
from sacrecap.judgments.measure import agreement
from sacrecap.metrics import Metric
from sacrecap.resources.needs import Needs
from sacrecap.scoring.intervals import Resampling

PROTOCOLS = {
    "flickr8k-expert": "Kendall's τ-c, each rating a data point (Hodosh et al. 2013; Anderson et al. 2016)",
    "flickr8k-cf": "Kendall's τ-b with the share of yes (Hodosh et al. 2013; Hessel et al. 2021)",
    "thumb": "Kendall's τ-b with the rating (Kasai et al. 2022)",
    "pascal-50s": "accuracy where people chose between two captions (Vedantam et al. 2015)",
    "abstract-50s": "accuracy where people chose between two captions (Vedantam et al. 2015)",
    "d-foil": "accuracy between a caption and the same with a wrong detail (Lin et al. 2025)",
    "foil": "accuracy between a caption and the same with a wrong word (Shekhar et al. 2017)",
    "msvd-eval": "Kendall's τ-c with the mean of four aspects, each person's a data point (Tong et al. 2025)",
    "polaris": "Kendall's τ-c with the rating (Wada et al. 2024)",
    "nebula": "Kendall's τ-c with the rating (Matsuda et al. 2024)",
    "composite": "Kendall's τ-c with the rating (Aditya et al. 2015)",
    "pairs": "accuracy where people chose between two captions",
    "ratings": "Kendall's τ-c with the rating",
}
"""What is measured on judgments of each data set or format, and who did so first."""


class PrintedFigure(NamedTuple):
    """A printed figure."""

    metric: str
    value: float
    source: str


@cache
def published(dataset: str) -> tuple[PrintedFigure, ...]:
    """What is printed of metrics on a data set, by its name."""
    text = files("sacrecap.judgments").joinpath("published.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["dataset"] == dataset]
    return tuple(PrintedFigure(row["metric"], float(row["value"]), row["source"]) for row in rows)


@dataclass(frozen=True, eq=False)
class Meta(Printable):
    """The result of [`sacrecap.judgments.meta`][]."""

    version: str
    agreements: dict[str, Agreement] = field(repr=False)
    """By the name of the data set."""

    @property
    def resampling(self) -> Resampling:
        """How the intervals were made."""
        return next(iter(self.agreements.values())).resampling

    def protocol(self, name: str) -> str:
        """What is measured on a data set, with its source."""
        kind = "pairs" if isinstance(self.agreements[name].judgments, Pairs) else "ratings"
        return PROTOCOLS.get(name, PROTOCOLS[kind])

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap meta`."""
        return {
            "sacrecap": self.version,
            "datasets": {
                name: {
                    "protocol": self.protocol(name),
                    "statistic": agreement.primary,
                    **agreement.to_dict(),
                    "published": [figure._asdict() for figure in published(name)],
                }
                for name, agreement in self.agreements.items()
            },
        }


def meta(
    judgments: Mapping[str, Pairs | Ratings | str | os.PathLike[str]],
    metrics: str | Metric | Iterable[str | Metric] = "all",
    *,
    results: str | os.PathLike[str],
    needs: Needs | None = None,
    resampling: Resampling | None = None,
    threads: int = 0,
) -> Meta:
    """Measures every metric on every judgment.

    Args:
        judgments: by the name of the data set, a path or what
            [`read_judgments`][sacrecap.judgments.read_judgments] read. Metrics that were fitted to a data set of this
            name are marked, and figures that papers print are those of this name.
        metrics: as for [`sacrecap.score`][]; those that cannot be computed here are left out, with a warning.
        results: the folder where each metric's scores on each data set are kept; a run that was cut off goes on there.
        needs: as for [`sacrecap.score`][].
        resampling: as for [`sacrecap.judgments.agreement`][].
        threads: number of threads; 0 means one per core.

    Raises:
        DataError: the judgments cannot be used.
        UsageError: an unknown name, or no judgments.
    """
    if not judgments:
        raise UsageError("no judgments were given; name files or folders of data sets")
    os.makedirs(results, exist_ok=True)
    agreements = {}
    for name, source in judgments.items():
        read = read_judgments(source) if isinstance(source, (str, os.PathLike)) else source
        agreements[name] = agreement(
            replace(read, dataset=name),
            metrics,
            needs=needs,
            resampling=resampling,
            threads=threads,
            kept_in=os.fspath(results),
        )
    return Meta(_core.__version__, agreements)
