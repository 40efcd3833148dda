"""RS: words drawn one by one from the captioner's distribution, with temperature, top-k and nucleus.

Wang, Chan (CVPR 2019), section 5.2. Top-k: Fan, Lewis, Dauphin (ACL 2018). Nucleus: Holtzman et al. (ICLR 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sacrecap_captioning.decoding.sets.method import ImageBatch, SetMethod, parameter
from sacrecap_captioning.decoding.sets.speaker import Speaker
from sacrecap_captioning.models.search import Sampling


@dataclass(frozen=True)
class RandomSampling(SetMethod):
    """Each caption is an independent sample."""

    name: ClassVar[str] = "rs"
    summary: ClassVar[str] = "random sampling, word by word"
    temperature: float = parameter(1.0, "divides the logits; below 1, likely words become more likely", above=0)
    top_k: int = parameter(0, "draw among that many likeliest words; 0 is all", least=0)
    nucleus: float = parameter(
        1.0, "draw among the fewest likeliest words that reach this probability", above=0, most=1
    )

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        sampling = Sampling(self.temperature, self.top_k, self.nucleus)
        return speaker.sample(images.seen(), images.chances, captions, sampling=sampling)
