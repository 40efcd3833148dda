"""Caption sets of a trained captioner, one file per method.

method = set_method("rs(temperature=0.7)")
make_sets(method, TrainedSpeaker(model, vocabulary, encoder=encoder), images, captions=10, seed=1)
"""

from __future__ import annotations

import re

from sacrecap.errors import UsageError, accepted_name
from sacrecap_captioning.decoding.sets.altered import GaussianNoise, RandomCrops
from sacrecap_captioning.decoding.sets.beams import Beam, DiverseBeam
from sacrecap_captioning.decoding.sets.latent import LatentDraws
from sacrecap_captioning.decoding.sets.make import make_sets
from sacrecap_captioning.decoding.sets.method import ImageBatch, SetMethod
from sacrecap_captioning.decoding.sets.sampling import RandomSampling
from sacrecap_captioning.decoding.sets.span import Span
from sacrecap_captioning.decoding.sets.speaker import Speaker, TrainedSpeaker
from sacrecap_captioning.decoding.sets.synonyms import SynonymSwitching

METHODS: dict[str, type[SetMethod]] = {
    method.name: method
    for method in (RandomSampling, Beam, DiverseBeam, RandomCrops, GaussianNoise, SynonymSwitching, LatentDraws)
}
"""Ways to make caption sets, by name."""

__all__ = [
    "METHODS",
    "Beam",
    "DiverseBeam",
    "GaussianNoise",
    "ImageBatch",
    "LatentDraws",
    "RandomCrops",
    "RandomSampling",
    "SetMethod",
    "Span",
    "Speaker",
    "SynonymSwitching",
    "TrainedSpeaker",
    "make_sets",
    "set_method",
]


def set_method(text: str) -> SetMethod:
    """A way to make caption sets from its text: `rs`, `rs(temperature=0.7, top_k=20)`.

    Raises:
        UsageError: no such method, parameter or value; names are suggested.
    """
    match = re.fullmatch(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        raise UsageError(f"{text!r} is not a way to make caption sets; write rs or rs(temperature=0.7, top_k=20)")
    name, inside = match[1].lower(), match[2] or ""
    accepted_name("the way to make caption sets", name, list(METHODS))
    values: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in inside.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise UsageError(f"{name}: {part!r} is not a parameter with its value, such as temperature=0.7")
        values[key.replace("-", "_")] = value
    return METHODS[name].with_parameters(values)
