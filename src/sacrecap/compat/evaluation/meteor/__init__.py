"""Meteor."""

from sacrecap.compat.evaluation.meteor.meteor import Meteor

__all__ = ["Meteor"]
