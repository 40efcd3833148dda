"""Metrics as rewards for training.

`CaptionReward` and `SetReward` take strings, as trainers of language models do; `CiderDReward` takes token ids.
"""

from sacrecap.rewards.caption_reward import CaptionReward, SetReward
from sacrecap.rewards.guards import Guards
from sacrecap.rewards.host import CiderDReward

__all__ = ["CaptionReward", "CiderDReward", "Guards", "SetReward"]
__dir__ = __all__.copy
