"""Accuracy and diversity follow the weights of a reward: a captioner of made-up scenes, in minutes on one core.

usage: reward_weights.py FOLDER

A captioner learns by cross-entropy once. From it, for each weight w, one more learns by policy gradient on the reward
`cider-d + w*self-cider` of `sacrecap.rewards.SetReward`, in a loop of plain PyTorch: 6 captions per image, each
compared with the mean of the others. Then each makes 10 captions per validation image. Printed: accuracy (CIDEr-D) and
diversity (Self-CIDEr) of these sets, with the guards of the last batch; written: the plane of both, and all other
pictures of `sacrecap diversity --plots`, into FOLDER/pictures.
"""

from __future__ import annotations

import argparse
import copy
import time
from pathlib import Path

import torch

import sacrecap
from measure import machine
from sacrecap.report.pictures import write_pictures
from sacrecap.rewards import CaptionReward, SetReward
from sacrecap_captioning.data.captioned_images import CaptionedImages
from sacrecap_captioning.data.scenes import write_scenes
from sacrecap_captioning.models import Captioner
from sacrecap_captioning.models.search import sample
from sacrecap_captioning.settings import Settings
from sacrecap_captioning.training.data import Split, prepare
from sacrecap_captioning.training.losses import others, policy_gradient
from sacrecap_captioning.training.run_folder import RunFolder
from sacrecap_captioning.training.training import train
from sacrecap_captioning.vocabulary import Vocabulary

WEIGHTS, STEPS = (0, 0.6, 2, 6, 20), 200
SAMPLES, LIMIT, BATCH, CAPTIONS = 6, 20, 16, 10
DEVICE = torch.device("cpu")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    folder = options.parse_args().folder
    torch.set_num_threads(1)
    print(machine())
    began = time.process_time()
    run, training, validation, people = warmed(folder)
    print(f"cross-entropy: {time.process_time() - began:.0f} s")
    references = {image: people[image] for image in training.ids}
    sets = {"xe": captions(run.captioner(), validation, run.vocabulary)}
    guards = {}
    for weight in WEIGHTS:
        began = time.process_time()
        text = f"cider-d + {weight:g}*self-cider" if weight else "cider-d"
        kind = SetReward if weight else CaptionReward
        reward = kind(references, text, num_generations=SAMPLES, end=False)
        model = rewarded(run.captioner(), training, run.vocabulary, reward)
        sets[f"w = {weight:g}"] = captions(model, validation, run.vocabulary)
        guards[f"w = {weight:g}"] = reward.last
        print(f"{text}: {time.process_time() - began:.0f} s")
    described = {image: people[image] for image in validation.ids}
    result = sacrecap.diversity(sets, described, metrics="self-cider, distinct")
    for name, system in [*result.items(), ("people", result.human)]:
        if system is not None:
            figures = "  ".join(f"{key} {system[key].value:.3f}" for key in ("accuracy", "self-cider", "distinct"))
            print(f"{name:8} {figures}  {guards.get(name, '')}")
    print("written:", *write_pictures(result, folder / "pictures"))


def warmed(folder: Path) -> tuple[RunFolder, Split, Split, dict[str, list[str]]]:
    """A captioner that learned by cross-entropy, the splits, and what people said; all are kept in the folder."""
    scenes, place = folder / "scenes", folder / "xe"
    if not place.exists():
        write_scenes(scenes, 600, shapes=2)
        settings = Settings(
            str(scenes),
            weights="words",
            steps=400,
            batch=32,
            hidden=256,
            embedding=256,
            rate=1e-3,
            length=LIMIT,
            device="cpu",
        )
        train(settings, place, cache=folder / "cache")
    run = RunFolder.open(place)
    read = CaptionedImages.read(scenes)
    data = prepare(read, run.encoder(), run.settings, cache=folder / "cache")
    return run, data.train, data.val, read.references()


def rewarded(start: Captioner, split: Split, vocabulary: Vocabulary, reward: CaptionReward | SetReward) -> Captioner:
    """The captioner after some steps of policy gradient."""
    model = copy.deepcopy(start).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-4)
    generator = torch.Generator().manual_seed(0)
    for _ in range(STEPS):
        numbers = torch.randperm(len(split), generator=generator)[:BATCH]
        state = model.begin(split.seen(numbers, DEVICE).repeated(SAMPLES))
        found = sample(model, state, limit=LIMIT, generator=generator)
        texts = [vocabulary.text(row) for row in found.words.tolist()]
        images = [split.ids[number] for number in numbers.repeat_interleave(SAMPLES).tolist()]
        rewards = torch.tensor(reward(texts, images))
        optimiser.zero_grad()
        policy_gradient(found.log_probs, found.words, rewards - others(rewards, SAMPLES)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return model.eval()


@torch.no_grad()
def captions(model: Captioner, split: Split, vocabulary: Vocabulary) -> dict[str, list[str]]:
    """Sampled captions of each image."""
    features = split.seen(torch.arange(len(split)), DEVICE).repeated(CAPTIONS)
    generator = torch.Generator().manual_seed(1)
    found = sample(model.eval(), model.begin(features), limit=LIMIT, generator=generator)
    texts = [vocabulary.text(row) for row in found.words.tolist()]
    return {image: texts[n * CAPTIONS : (n + 1) * CAPTIONS] for n, image in enumerate(split.ids)}


if __name__ == "__main__":
    main()
