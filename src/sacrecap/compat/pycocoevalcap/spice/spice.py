"""SPICE, with the numbers behind it for each category of what captions say."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import cache

import numpy as np

from sacrecap import _core
from sacrecap.compat.encoded_captions import Captions, SuiteMetric, caption_list, check_images, encoded
from sacrecap.errors import DataError
from sacrecap.metrics import Spice as Metric
from sacrecap.resources.needs import Needs

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


class Spice(SuiteMetric):
    """SPICE of all that captions say, and of each category."""

    printed = "SPICE"

    def compute_score(self, gts: Captions, res: Captions) -> tuple[np.float64, list[dict[str, Numbers]]]:
        """The mean score, and for each image, in the order of the sorted ids, the numbers of each category.

        Args:
            gts: `{image id: [reference, …]}`, tokens joined by blanks.
            res: `{image id: [candidate]}`. Several candidates of an image are scored by what they say together.
        """
        try:
            order = sorted(gts)
        except TypeError:
            raise DataError(
                "SPICE's scores are in the order of the sorted image ids, and these cannot be sorted"
            ) from None
        check_images(gts, res)
        candidates = [caption_list(res[image], f"res[{image!r}]") for image in order]
        references = [caption_list(gts[image], f"gts[{image!r}]") for image in order]
        _say_once()
        metrics = [Metric(category=category, sentences="one") for category in _CATEGORIES.values()]
        corpus = encoded([_as_one(captions) for captions in candidates], references, list(map(str, order)))
        ready = metrics[0].ready(corpus, Needs())
        graphs, synonyms = ready.own
        graphs = _read_once(graphs, [*candidates, *([caption] for captions in references for caption in captions)])
        calls = [(metric.key, metric.arithmetic, metric.kernel_parameters()) for metric in metrics]
        categories = map(_numbers, _core.evaluate(ready.corpus, calls, [graphs, synonyms]))
        per_image = [dict(zip(_CATEGORIES, numbers, strict=True)) for numbers in zip(*categories, strict=True)]
        return np.float64(np.mean([numbers["All"]["f"] for numbers in per_image])), per_image


@cache
def _say_once() -> None:
    """Programs that change nothing but the import expect the Java program's numbers."""
    print(
        "sacrecap.compat: SPICE is by the parser inside sacrecap, so its numbers are near those of the Java program, "
        "and not equal",
        file=sys.stderr,
    )


def _as_one(captions: Sequence[str]) -> str:
    """The text that stands for these captions together: itself, or with a sign before several."""
    return captions[0] if len(captions) == 1 else " ".join(["\N{OBJECT REPLACEMENT CHARACTER}", *captions])


def _read_once(graphs: _core.SceneGraphs, groups: Sequence[Sequence[str]]) -> _core.SceneGraphs:
    """The graphs of these groups of captions, each by the text that stands for it: what they say, one after the other.

    Made once: each category would make them again.
    """
    different = list(dict.fromkeys(caption for captions in groups for caption in captions))
    graph_of = dict(zip(different, graphs.graphs([(caption.split(), []) for caption in different]), strict=True))
    by_text: dict[str, _core._SceneGraphParts] = {}
    for captions in groups:
        graph: _core._SceneGraphParts = [], [], []
        objects, attributes, relations = graph
        for _, (names, qualities, links) in (graph_of[caption] for caption in captions):
            first = len(objects)
            objects += ((name, words) for name, words, _ in names)
            attributes += ((first + number, name, words) for number, name, words, _ in qualities)
            relations += ((first + start, name, first + end, words) for start, name, end, words, _ in links)
        by_text[" ".join(_as_one(captions).split())] = graph
    return _core.SceneGraphs.given(list(by_text.items()))


def _numbers(statistics: _core.Statistics) -> list[Numbers]:
    """What the original program tells of each image; F is NaN if the references say nothing of the category."""
    rows = np.frombuffer(statistics.values()).reshape(-1, statistics.width)
    return [
        {
            "pr": matched / stated if stated else 0.0,
            "re": matched / expected if expected else 0.0,
            "f": f if counted else math.nan,
            "fn": expected - matched,
            "numImages": 1.0,
            "fp": stated - matched,
            "tp": matched,
        }
        for f, counted, matched, stated, expected, *_ in rows.tolist()
    ]
