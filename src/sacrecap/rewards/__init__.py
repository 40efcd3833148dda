"""Metrics as rewards for training.

`CaptionReward` and `SetReward` take strings, as trainers of language models do; `CiderDReward` takes token ids in
memory, and `capeval.rewards.device.CiderDReward` tensors of a device.
"""

from capeval.rewards.captions import CaptionReward
from capeval.rewards.completions import Guards
from capeval.rewards.host import CiderDReward
from capeval.rewards.sets import SetReward

__all__ = ["CaptionReward", "CiderDReward", "Guards", "SetReward"]
