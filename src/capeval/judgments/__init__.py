"""Agreement with people: what people judged, and how well metrics predict it."""

from capeval.judgments.datasets.read import DATASETS, read_judgments
from capeval.judgments.measure import agreement
from capeval.judgments.ranking import Ranking, rank_references
from capeval.judgments.result import Agreement
from capeval.judgments.rows import Pairs, Ratings

__all__ = ["DATASETS", "Agreement", "Pairs", "Ranking", "Ratings", "agreement", "rank_references", "read_judgments"]
