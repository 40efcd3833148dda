"""CIDEr-D as a reward for reinforcement learning: on token ids in memory, or on tensors of a device."""

from capeval.rewards.host import CiderDReward

__all__ = ["CiderDReward"]
