"""Captioners by name, one file per idea."""

from capeval.errors import accepted_name
from capeval_captioning.models.adaptive_attention import AdapAtt
from capeval_captioning.models.att2in import Att2in
from capeval_captioning.models.base import Captioner, Features, Sizes, State, cross_entropy, until_end
from capeval_captioning.models.cgan import CGAN
from capeval_captioning.models.cvae import CVAE
from capeval_captioning.models.fc import FC
from capeval_captioning.models.gmm_cvae import GMMCVAE
from capeval_captioning.models.latent import LatentCaptioner
from capeval_captioning.models.nic import NIC
from capeval_captioning.models.soft_attention import SoftAtt

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
