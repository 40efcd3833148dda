"""Captioners by name, one file an idea."""

from capeval.captioning.models.base import Captioner, Features, Sizes, State, cross_entropy, until_end
from capeval.captioning.models.fc import FC

__all__ = ["FC", "Captioner", "Features", "Sizes", "State", "cross_entropy", "until_end"]
