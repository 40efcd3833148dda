"""Rewards by name: CIDEr-D on ids, any other registered metric, retrieval."""

from __future__ import annotations

import torch

from sacrecap.errors import UsageError
from sacrecap.metrics import CiderD
from sacrecap.metrics.registry import parse_metrics
from sacrecap_captioning.mixture import RETRIEVAL
from sacrecap_captioning.rewards.base import Reward, TrainingCaptions
from sacrecap_captioning.rewards.cider_d import CiderDOfIds, CiderDOnDevice
from sacrecap_captioning.rewards.metric import MetricOfText

__all__ = ["CiderDOfIds", "CiderDOnDevice", "MetricOfText", "Reward", "TrainingCaptions", "load_reward"]


def load_reward(name: str, training: TrainingCaptions, *, device: torch.device | str = "cpu") -> Reward:
    """The reward of this name for a captioner on `device`: `retrieval`, or a registered metric.

    Raises:
        UsageError: no such metric, one that no single caption can be rewarded with, or no retrieval model is given.
        DataError: the document frequencies do not fit the vocabulary.
    """
    if name == RETRIEVAL:
        if training.retrieval is None:
            raise UsageError(
                "the reward retrieval needs a trained retrieval model: sacrecap caption retrieval trains one"
            )
        return training.retrieval
    [metric] = parse_metrics(name)
    if isinstance(metric, CiderD):
        device = torch.device(device)
        return CiderDOfIds(training, metric) if device.type == "cpu" else CiderDOnDevice(training, metric, device)
    return MetricOfText(training, metric)
