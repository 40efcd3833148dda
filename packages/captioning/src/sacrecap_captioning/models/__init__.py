"""Captioners by name, in a file per kind."""

from sacrecap.errors import accepted_name
from sacrecap_captioning.models.attention import AdapAtt, Att2in, SoftAtt
from sacrecap_captioning.models.captioner import Captioner, Features, Sizes, State, cross_entropy, until_end
from sacrecap_captioning.models.latent import CGAN, CVAE, GMMCVAE, LatentCaptioner
from sacrecap_captioning.models.recurrent import FC, NIC

MODELS: dict[str, type[Captioner]] = {
    model.name: model for model in (NIC, FC, SoftAtt, Att2in, AdapAtt, CVAE, GMMCVAE, CGAN)
}
"""Every captioner by its name on the command line."""

__all__ = [
    "CGAN",
    "CVAE",
    "FC",
    "GMMCVAE",
    "MODELS",
    "NIC",
    "AdapAtt",
    "Att2in",
    "Captioner",
    "Features",
    "LatentCaptioner",
    "Sizes",
    "SoftAtt",
    "State",
    "build",
    "cross_entropy",
    "until_end",
]


def build(name: str, sizes: Sizes) -> Captioner:
    """A captioner with weights drawn from torch's global generator.

    Raises:
        UsageError: no such name; or sizes that this captioner cannot do with.
    """
    accepted_name("the model", name, list(MODELS))
    return MODELS[name](sizes)
