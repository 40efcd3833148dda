"""Div-n and the share of distinct captions: how little a set repeats itself.

Li, Galley, Brockett, Gao, Dolan, *A diversity-promoting objective function for neural conversation models* (NAACL
2016); for caption sets: Shetty, Rohrbach, Hendricks, Fritz, Schiele, *Speaking the same language* (ICCV 2017).

    Div-n    = distinct n-grams of the set / words of the set
    distinct = distinct captions / captions

Where papers and programs differ: docs/reference/metrics/self-cider.md.
"""

from typing import ClassVar

from sacrecap.metrics.base import SetMetric
from sacrecap.metrics.declared import parameter


class Div(SetMetric):
    """Distinct n-grams of a caption set over its words; corpus score = mean over images."""

    n: int = parameter("the length of the n-grams", default=1, least=1, most=4, in_name=True)
    over: str = parameter("the denominator", default="words", choices=("words", "ngrams"))

    family: ClassVar[str] = "div"
    title: ClassVar[str] = "Div"
    summary: ClassVar[str] = "Each n-gram occurs only once in a set."
    equation: ClassVar[str] = "distinct n-grams of the set / words of the set"
    source: ClassVar[str] = "Li et al., NAACL 2016; Shetty et al., ICCV 2017"
    cites: ClassVar[tuple[str, ...]] = ("li2016diversity", "shetty2017speaking")
    nothing: ClassVar[dict[str, str]] = {"no word": "0", "captions shorter than n words": "0"}
    arithmetic: ClassVar[str] = "div"


class Distinct(SetMetric):
    """Share of distinct captions in a caption set; corpus score = mean over images."""

    family: ClassVar[str] = "distinct"
    title: ClassVar[str] = "Distinct"
    summary: ClassVar[str] = "No caption of a set repeats another."
    equation: ClassVar[str] = "distinct captions / captions"
    source: ClassVar[str] = "Wang and Chan, CVPR 2019"
    cites: ClassVar[tuple[str, ...]] = ("wang2019describing",)
    nothing: ClassVar[dict[str, str]] = {"one caption": "1", "equal captions": "1/m"}
    arithmetic: ClassVar[str] = "distinct"
