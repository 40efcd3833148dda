"""Agreement with people: what people judged, and how well metrics predict it."""

from sacrecap.choices import DATASETS
from sacrecap.judgments.agreement_result import Agreement
from sacrecap.judgments.calibration.calibrate import calibrate
from sacrecap.judgments.calibration.estimates import Calibration
from sacrecap.judgments.datasets.read import read_judgments
from sacrecap.judgments.judged_rows import Pairs, Ratings
from sacrecap.judgments.measure import agreement
from sacrecap.judgments.meta import Meta, meta
from sacrecap.judgments.ranking import Ranking, rank_references

__all__ = [
    "DATASETS",
    "Agreement",
    "Calibration",
    "Meta",
    "Pairs",
    "Ranking",
    "Ratings",
    "agreement",
    "calibrate",
    "meta",
    "rank_references",
    "read_judgments",
]
__dir__ = __all__.copy
