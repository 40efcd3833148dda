"""DRV: a captioner with a latent vector, or noise, says something else for each draw of it.

Wang, Chan (CVPR 2019), section 5.2: CVAE and GMM-CVAE, standard deviations 1 … 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

from sacrecap.errors import UsageError
from sacrecap_captioning.decoding.sets.method import ImageBatch, SetMethod, parameter
from sacrecap_captioning.decoding.sets.span import Span
from sacrecap_captioning.decoding.sets.speaker import Speaker, TrainedSpeaker
from sacrecap_captioning.models import MODELS, LatentCaptioner


@dataclass(frozen=True)
class LatentDraws(SetMethod):
    """Each caption is the likeliest for another latent vector."""

    name: ClassVar[str] = "drv"
    summary: ClassVar[str] = "a caption of each of several draws of the latent vector (cvae, gmm-cvae, cgan)"
    spread: Span = parameter(Span(1, 10), "standard deviation of the draws, times that of the prior", least=0)
    width: int = parameter(1, "width of the beam that finds each caption; 1 is greedy", least=1)

    def check(self, speaker: Speaker, captions: int) -> None:  # noqa: ARG002
        """See `SetMethod`."""
        latent = ", ".join(name for name, model in MODELS.items() if issubclass(model, LatentCaptioner))
        if not isinstance(speaker, TrainedSpeaker):
            raise UsageError(f"drv draws latent vectors, which a checkpoint does not have; these do: {latent}; try rs")
        if not isinstance(speaker.model, LatentCaptioner):
            raise UsageError(f"drv draws latent vectors, which {speaker.model.name} does not have; these do: {latent}")

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        trained = cast("TrainedSpeaker", speaker)
        return trained.draw(images.seen(), images.chances, self.spread.over(captions), width=self.width)
