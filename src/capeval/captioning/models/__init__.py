"""Captioners by name, one file an idea."""

from capeval.captioning.models.base import Captioner, Features, Sizes, State, cross_entropy, until_end
from capeval.captioning.models.fc import FC
from capeval.errors import accepted_name

MODELS: dict[str, type[Captioner]] = {model.name: model for model in (FC,)}
"""Every captioner by its name on the command line."""


def build(name: str, sizes: Sizes) -> Captioner:
    """A captioner with weights drawn from torch's global generator.

    Raises:
        UsageError: no such name; or sizes that this captioner cannot do with.
    """
    accepted_name("the model", name, list(MODELS))
    return MODELS[name](sizes)


__all__ = [
    "FC",
    "MODELS",
    "Captioner",
    "Features",
    "Sizes",
    "State",
    "build",
    "cross_entropy",
    "until_end",
]
