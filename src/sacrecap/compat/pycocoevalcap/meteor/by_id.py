"""METEOR with the scores of the images in the order of their sorted ids, as some ports of the suite give them."""

from __future__ import annotations

from sacrecap.compat.encoded_captions import Captions
from sacrecap.compat.pycocoevalcap.meteor import meteor


class Meteor(meteor.Meteor):
    """METEOR with its defaults for English."""

    def compute_score(self, gts: Captions, res: Captions) -> tuple[float, list[float]]:
        return super().compute_score({image: gts[image] for image in sorted(gts)}, res)
