"""SPICE, with the numbers behind it for each category of what captions say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import ClassVar

import numpy as np

from capeval import _core
from capeval.compat.captions import Captions, encoded, paired
from capeval.errors import DataError
from capeval.metrics import Spice as Metric
from capeval.resources.needs import Needs

_CATEGORIES = {
    "All": "all",
    "Object": "object",
    "Attribute": "attribute",
    "Relation": "relation",
    "Color": "color",
    "Cardinality": "count",
    "Size": "size",
}

Numbers = dict[str, float]
"""`pr`, `re` and `f`; `tp`, `fp` and `fn`, which they are made of; `numImages`, 1."""


class Spice:
    """SPICE of all that captions say, and of each category.

    `parser` says where scene graphs come from: `native`, the parser inside capeval, or `stanford`, the original
    program, which `capeval spice setup` sets up. Set it on the class: programs make their objects themselves.
    """

    parser: ClassVar[str] = "native"

    def compute_score(self, gts: Captions, res: Captions) -> tuple[np.float64, list[dict[str, Numbers]]]:
        """The mean score, and for each image, in the order of its sorted ids, the numbers of each category.

        Args:
            gts: `{image id: [reference, …]}`, tokens joined by blanks.
            res: `{image id: [candidate]}`.
        """
        try:
            order = sorted(gts)
        except TypeError:
            raise DataError(
                "SPICE's scores are in the order of the sorted image ids, and these cannot be sorted"
            ) from None
        names, candidates, references = paired({image: gts[image] for image in order}, res)
        metrics = [Metric(category=category, parser=self.parser) for category in _CATEGORIES.values()]
        corpus = encoded(candidates, references, names)
        ready = metrics[0].ready(corpus, Needs())
        graphs, synonyms = ready.own
        if self.parser == "native":
            graphs = _read_once(graphs, [*candidates, *chain.from_iterable(references)])
        calls = [(metric.key, metric.arithmetic, metric.kernel_parameters()) for metric in metrics]
        found = map(_numbers, _core.evaluate(ready.corpus, calls, [graphs, synonyms]))
        per_image = [dict(zip(_CATEGORIES, numbers, strict=True)) for numbers in zip(*found, strict=True)]
        return np.float64(np.mean([numbers["All"]["f"] for numbers in per_image])), per_image

    def method(self) -> str:
        """The name that is printed."""
        return "SPICE"


def _read_once(graphs: _core.SceneGraphs, captions: Sequence[str]) -> _core.SceneGraphs:
    """The graphs of these captions, made now: each category would make them again."""
    different = list(dict.fromkeys(" ".join(caption.split()) for caption in captions))
    made = graphs.graphs([caption.split() for caption in different])
    return _core.SceneGraphs.given([(caption, graph) for caption, (_, graph) in zip(different, made, strict=True)])


def _numbers(statistics: _core.Statistics) -> list[Numbers]:
    """What the original program tells of each image; F is NaN where the references say nothing of the category."""
    rows = np.frombuffer(statistics.values()).reshape(-1, statistics.width)
    return [
        {
            "pr": matched / said if said else 0.0,
            "re": matched / expected if expected else 0.0,
            "f": f if counted else math.nan,
            "fn": expected - matched,
            "numImages": 1.0,
            "fp": said - matched,
            "tp": matched,
        }
        for f, counted, matched, said, expected in rows.tolist()
    ]
