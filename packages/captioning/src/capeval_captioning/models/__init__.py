"""Captioners by name, one file an idea."""

from capeval.captioning.models.adaptive_attention import AdapAtt
from capeval.captioning.models.att2in import Att2in
from capeval.captioning.models.base import Captioner, Features, Sizes, State, cross_entropy, until_end
from capeval.captioning.models.cgan import CGAN
from capeval.captioning.models.cvae import CVAE
from capeval.captioning.models.fc import FC
from capeval.captioning.models.gmm_cvae import GMMCVAE
from capeval.captioning.models.latent import LatentCaptioner
from capeval.captioning.models.nic import NIC
from capeval.captioning.models.soft_attention import SoftAtt
from capeval.errors import accepted_name

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
