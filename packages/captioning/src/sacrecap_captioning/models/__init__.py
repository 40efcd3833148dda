"""Captioners by name, one file per idea."""

from sacrecap.errors import accepted_name
from sacrecap_captioning.models.adaptive_attention import AdapAtt
from sacrecap_captioning.models.att2in import Att2in
from sacrecap_captioning.models.base import Captioner, Features, Sizes, State, cross_entropy, until_end
from sacrecap_captioning.models.cgan import CGAN
from sacrecap_captioning.models.cvae import CVAE
from sacrecap_captioning.models.fc import FC
from sacrecap_captioning.models.gmm_cvae import GMMCVAE
from sacrecap_captioning.models.latent import LatentCaptioner
from sacrecap_captioning.models.nic import NIC
from sacrecap_captioning.models.soft_attention import SoftAtt

MODELS: dict[str, type[Captioner]] = {
    model.name: model for model in (NIC, FC, SoftAtt, Att2in, AdapAtt, CVAE, GMMCVAE, CGAN)
}
"""Every captioner by its name on the command line."""


def build(name: str, sizes: Sizes) -> Captioner:
    """A captioner with weights drawn from torch's global generator.

    Raises:
        UsageError: no such name; or sizes that this captioner cannot do with.
    """
    accepted_name("the model", name, list(MODELS))
    return MODELS[name](sizes)


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
