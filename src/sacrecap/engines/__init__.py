"""Engines: the same scores of more images than fit into memory, from a stream on one machine or from a cluster.

A metric is statistics, a row per image, and a formula over sums of rows. So an engine maps two functions over the parts
of the input and adds up what comes back: the first counts document frequencies, where a metric weighs words by the
corpus; the second turns rows into statistics and folds them. Sums are exact and bootstrap samples depend on image ids
alone, so the results are the same bits for any parts, any order and any number of machines.
"""

from sacrecap.choices import ENGINES
from sacrecap.engines.engine_options import EngineOptions
from sacrecap.engines.plan import Engine
from sacrecap.engines.stream import StreamEngine

__all__ = ["ENGINES", "Engine", "EngineOptions", "StreamEngine"]
__dir__ = __all__.copy
