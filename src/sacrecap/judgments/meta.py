"""Every metric on every judgment: agreement on several data sets, whose scores are kept, so that a run goes on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sacrecap import _core
from sacrecap.above import Printable
from sacrecap.errors import UsageError
from sacrecap.judgments.datasets.read import read_judgments
from sacrecap.judgments.judged_rows import Pairs
from sacrecap.judgments.measure import agreement
from sacrecap.judgments.published import PROTOCOLS, published

if TYPE_CHECKING:
    from sacrecap.judgments.agreement_result import Agreement
    from sacrecap.judgments.judged_rows import Ratings
    from sacrecap.metrics import Metric
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.intervals import Resampling


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
