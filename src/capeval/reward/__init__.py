"""CIDEr-D as a reward for reinforcement learning: on token ids in memory, or on tensors of a device."""

from capeval.reward.host import CiderDReward

__all__ = ["CiderDReward"]
