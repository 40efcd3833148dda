"""Agreement with people: what people judged, and how well metrics predict it."""

from capeval.study.judgments import Pairs, Ratings
from capeval.study.measure import agreement
from capeval.study.ranking import Ranking, rank_references
from capeval.study.read import DATASETS, read_judgments
from capeval.study.result import Agreement

__all__ = ["DATASETS", "Agreement", "Pairs", "Ranking", "Ratings", "agreement", "rank_references", "read_judgments"]
