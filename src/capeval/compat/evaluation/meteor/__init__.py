"""Meteor."""

from capeval.compat.evaluation.meteor.meteor import Meteor

__all__ = ["Meteor"]
