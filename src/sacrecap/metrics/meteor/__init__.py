"""METEOR: the metric, its tables, and the alignments that explain its scores."""

from sacrecap.metrics.meteor.metric import Meteor

__all__ = ["Meteor"]
