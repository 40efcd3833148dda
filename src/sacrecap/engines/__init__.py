"""Engines: where the statistics of images are made, of all captions at once (`local`), piece by piece on one machine
(`stream`), or on a cluster (`ray`).

A metric is statistics, a row per image, and a formula over sums of rows. An engine maps two functions over pieces of
the captions: the first counts document frequencies, where a metric weighs words by the corpus; the second turns
captions into rows. Rows one after the other are those of the whole corpus, so all that follows exists once, in
`sacrecap.scoring`.
"""

from sacrecap.choices import ENGINES
from sacrecap.engines.calls import EngineOptions
from sacrecap.engines.passes import Engine, StreamEngine

__all__ = ["ENGINES", "Engine", "EngineOptions", "StreamEngine"]
__dir__ = __all__.copy
