"""Cost of the CIDEr-D reward in a training step on a CPU: made-up scenes, 50 images × 5 samples, hidden 512.

Features are random numbers of the size that the encoder `small` gives; captions and vocabulary are those of the scenes.
Per captioner, loss and baseline: processor time of a step (sampling, reward, backward, Adam), that of the native scorer
in it, and its share. Processor time, not time on the clock: what else runs on the machine changes it less.
"""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor

import sacrecap
from measure import machine
from sacrecap_captioning.data.scenes import make_scenes
from sacrecap_captioning.models import Features, Sizes, build
from sacrecap_captioning.training.data import trimmed
from sacrecap_captioning.training.losses import Objective, TrainingBatch
from sacrecap_captioning.training.rewards import Reward, TrainingCaptions, load_reward
from sacrecap_captioning.vocabulary import Vocabulary

IMAGES, SAMPLES, STEPS = 50, 5, 5
FEATURE, REGIONS, LENGTH = 128, 16, 20
"""Of the encoder `small`; most words of a caption."""


class Timed:
    """A reward, and the processor time that it takes."""

    def __init__(self, reward: Reward) -> None:
        self.reward = reward
        self.seconds = 0.0

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        started = time.thread_time()
        found = self.reward(words, images)
        self.seconds += time.thread_time() - started
        return found


def main() -> None:
    torch.set_num_threads(1)
    scenes = make_scenes(4000)
    tokens = [sacrecap.tokenize(scene.captions) for scene in scenes]
    training = TrainingCaptions(Vocabulary.build([caption for image in tokens for caption in image]), tokens)
    print(machine())
    print(f"vocabulary {len(training.vocabulary)}, {len(scenes):,} images, torch with one thread")
    print(f"{'captioner':10}{'loss':18}{'baseline':10}{'step':>9}{'reward':>11}{'share':>8}")
    for name in ("fc", "att2in"):
        for loss in ("cider-d", "xe + 5*cider-d"):
            for baseline in ("greedy", "others"):
                row = measure(name, loss, baseline, training)
                print(f"{name:10}{loss:18}{baseline:10}{row}")


def measure(name: str, loss: str, baseline: str, training: TrainingCaptions) -> str:
    """One row of the table."""
    reward = Timed(load_reward("cider-d", training))
    objective = Objective(loss, {"cider-d": reward}, samples=SAMPLES, baseline=baseline, limit=LENGTH + 1)
    torch.manual_seed(0)
    model = build(name, Sizes(len(training.vocabulary), FEATURE))
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-4)
    for step in range(25):  # captions get the lengths that captions have, and nothing is measured cold
        learn(Objective("xe"), model, optimiser, batch_of(training, 1000 + step), step)
    reward.seconds = 0.0
    batches = [batch_of(training, step) for step in range(STEPS)]
    started = time.process_time()
    for step, batch in enumerate(batches):
        learn(objective, model, optimiser, batch, step)
    whole = time.process_time() - started
    each = whole / STEPS * 1e3, reward.seconds / STEPS * 1e3
    return f"{each[0]:6.0f} ms{each[1]:8.2f} ms{each[1] / each[0]:8.2%}"


def learn(objective: Objective, model: Any, optimiser: torch.optim.Optimizer, batch: TrainingBatch, step: int) -> None:
    total = objective(model, batch, step).total
    optimiser.zero_grad()
    total.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()


def batch_of(training: TrainingCaptions, step: int) -> TrainingBatch:
    images = torch.arange(step * IMAGES, (step + 1) * IMAGES) % len(training.references)
    generator = torch.Generator().manual_seed(step)
    features = Features(
        torch.randn(IMAGES, FEATURE, generator=generator), torch.randn(IMAGES, REGIONS, FEATURE, generator=generator)
    )
    rows = [
        (training.vocabulary.encode(training.references[image][each % 5], LENGTH) + [0] * LENGTH)[: LENGTH + 1]
        for image in images.tolist()
        for each in range(SAMPLES)
    ]
    return TrainingBatch(images, features, trimmed(torch.tensor(rows)))


if __name__ == "__main__":
    main()
