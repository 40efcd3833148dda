"""A captioner that is rewarded by CIDEr-D alone says a few captions of all images; the guards of rewards warn of it.

usage: reward_collapse.py FLICKR8K FOLDER [--device cuda] [--steps 3000]

FLICKR8K holds Flickr8k.token.txt, Flickr_8k.*Images.txt and a tar file of the images. Features are made by hand, so
that nothing is fetched: colours and oriented gradients, 128 main components. `nic` learns by cross-entropy for 1,200
steps of 40 images × 3 captions, then by policy gradient on CIDEr-D of 16 images × 5 samples, each compared with the
mean of the others. A `CaptionReward` looks at all samples. Printed: greedy and sampled captions of 1,000 images that
were not seen, and the warnings. Written into FOLDER: features.npz, guards.jsonl, collapse.png.
"""

from __future__ import annotations

import argparse
import io
import json
import tarfile
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

import sacrecap
from measure import machine
from sacrecap.metrics import CiderD
from sacrecap.rewards import CaptionReward
from sacrecap_captioning.models import Captioner, Features, Sizes, build
from sacrecap_captioning.models.search import greedy, sample
from sacrecap_captioning.training.data import trimmed
from sacrecap_captioning.training.losses import others, policy_gradient
from sacrecap_captioning.training.rewards import CiderDOfIds, TrainingCaptions
from sacrecap_captioning.vocabulary import END, Vocabulary

WARM_STEPS, LENGTH = 1200, 20
LOOKED_AT = (100, 200, 300, 420, 600, 800, 1100, 1500, 2000, 2500, 3000)
DRAWN = ("vocabulary", "distinct", "between", "within")


class Flickr8k:
    """Features and captions, by split."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.said: dict[str, list[str]] = defaultdict(list)
        for line in (source / "Flickr8k.token.txt").read_text(encoding="utf-8").splitlines():
            name, _, text = line.partition("\t")
            self.said[name.partition("#")[0]].append(text)
        listed = {split: (source / f"Flickr_8k.{split}Images.txt").read_text().split() for split in ("train", "dev")}
        kept = folder / "features.npz"
        if not kept.exists():
            write_features(source, kept, listed["train"], {name for names in listed.values() for name in names})
        stored = np.load(kept)
        self._rows = {name: row for row, name in enumerate(stored["ids"].tolist())}
        self._pooled = torch.from_numpy(stored["pooled"].astype(np.float32))
        self.train, self.unseen = ([name for name in names if name in self._rows] for names in listed.values())

    def see(self, names: list[str], device: torch.device) -> Features:
        pooled = self._pooled[[self._rows[name] for name in names]].to(device)
        return Features(pooled, pooled[:, None])


def write_features(source: Path, path: Path, train: list[str], wanted: set[str]) -> None:
    found = {}
    for place in sorted(source.glob("*.tar")):
        with tarfile.open(place) as tar:
            for member in tar:
                name, file = Path(member.name).name, tar.extractfile(member)
                if name in wanted and file is not None:
                    found[name] = np.concatenate(list(described(file.read())))
    names = sorted(found)
    rows = np.stack([found[name] for name in names])
    learned = rows[np.isin(names, train)]
    basis = np.linalg.svd(learned - learned.mean(0), full_matrices=False)[2][:128]
    low = (rows - learned.mean(0)) @ basis.T
    np.savez_compressed(path, ids=names, pooled=(low / low.std(0)).astype(np.float16))


def described(data: bytes) -> Iterator[Any]:
    """Gradients, colours and contrast of each of 4 × 4 parts of a picture."""
    picture = np.asarray(Image.open(io.BytesIO(data)).convert("RGB").resize((64, 64), 2), dtype=np.float32) / 255
    grey = picture.mean(2)
    down, right = np.gradient(grey)
    size, angle = np.hypot(down, right), ((np.arctan2(down, right) % np.pi) / np.pi * 9).astype(int) % 9
    for top in range(0, 64, 16):
        for left in range(0, 64, 16):
            part = (slice(top, top + 16), slice(left, left + 16))
            yield np.bincount(angle[part].ravel(), size[part].ravel(), 9) / (size[part].sum() + 1e-3)
            yield from (np.histogram(picture[part][..., colour], 8, (0, 1))[0] / 256 for colour in range(3))
            yield grey[part].std()[None]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("source", type=Path)
    options.add_argument("folder", type=Path)
    options.add_argument("--device", default="cpu")
    options.add_argument("--steps", type=int, default=3000)
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    device = torch.device(given.device)
    torch.manual_seed(0)
    print(machine())
    data = Flickr8k(given.source, given.folder)
    names = [*data.train, *data.unseen]
    tokens = {name: [tuple(words) for words in sacrecap.tokenize(data.said[name])] for name in names}
    vocabulary = Vocabulary.build(words for name in data.train for words in tokens[name])
    model = build("nic", Sizes(len(vocabulary), 128, hidden=256, embedding=256)).to(device)
    draws = np.random.default_rng(0)

    def step(loss: Tensor, optimiser: torch.optim.Optimizer) -> None:
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()

    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0)
    for _ in range(WARM_STEPS):
        chosen = draws.choice(data.train, 40, replace=False).tolist()
        drawn = [
            tokens[name][number] for name in chosen for number in draws.choice(len(tokens[name]), 3, replace=False)
        ]
        rows = [vocabulary.encode(words, LENGTH) for words in drawn]
        captions = trimmed(torch.tensor([row + [END] * (LENGTH + 1 - len(row)) for row in rows])).to(device)
        step(model.loss(data.see(chosen, device).repeated(3), captions).total, optimiser)
    print(0, said_of(model, data, vocabulary, tokens, device))

    reward = CiderDOfIds(TrainingCaptions(vocabulary, [tokens[name] for name in data.train]), CiderD())
    guard = CaptionReward({name: data.said[name] for name in data.train}, num_generations=5)
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.0)
    told: list[tuple[int, str]] = []
    with (given.folder / "guards.jsonl").open("w") as log:
        for number in range(1, given.steps + 1):
            chosen = draws.choice(len(data.train), 16, replace=False).tolist()
            ids = [data.train[image] for image in chosen]
            found = sample(model, model.begin(data.see(ids, device).repeated(5)), limit=LENGTH + 1)
            rewards = reward(found.words, torch.tensor(chosen))
            step(policy_gradient(found.log_probs, found.words, rewards - others(rewards, 5)), optimiser)
            texts = [vocabulary.text(row) for row in found.words.tolist()]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                guard(texts, np.repeat(ids, 5), finished=(found.words == END).any(1).tolist())
            told += [(number, str(each.message).partition(": ")[2].partition(". Look")[0]) for each in caught]
            for each in caught:
                print(number, each.message)
            log.write(json.dumps({"step": number, **asdict(guard.last or {})}) + "\n")  # type: ignore[call-overload]
            if number in LOOKED_AT:
                print(number, said_of(model, data, vocabulary, tokens, device))
    draw(given.folder, told)


@torch.no_grad()
def said_of(
    model: Captioner,
    data: Flickr8k,
    vocabulary: Vocabulary,
    tokens: dict[str, list[tuple[str, ...]]],
    device: torch.device,
) -> str:
    """CIDEr-D of greedy captions of unseen images, and how many different captions they get."""
    state = model.eval().begin(data.see(data.unseen, device))
    likeliest, drawn = (
        [vocabulary.text(row) for row in way(model, state, limit=LENGTH + 1).words.tolist()] for way in (greedy, sample)
    )
    model.train()
    references = {name: [" ".join(words) for words in tokens[name]] for name in data.unseen}
    candidates = dict(zip(data.unseen, likeliest, strict=True))
    result = sacrecap.score(references, candidates, metrics="cider-d", tokenizer="whitespace", interval=None)
    return (
        f"CIDEr-D {result['cider-d'].value:.3f}, different captions of {len(likeliest):,} images: "
        f"{len(set(likeliest)):,} greedy, {len(set(drawn)):,} sampled; {likeliest[0]!r}"
    )


def draw(folder: Path, told: list[tuple[int, str]], steps: int = 600) -> None:
    """The figures over the first steps, as shares of what they are at the beginning, with the warnings."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    rows = [json.loads(line) for line in (folder / "guards.jsonl").read_text().splitlines()][:steps]
    figure, axes = plt.subplots(figsize=(7.5, 4.2), dpi=160, layout="constrained")
    place = np.arange(len(rows))
    for name, colour in zip(DRAWN, ("#1b6ca8", "#c4572b", "#2d8a5f", "#7a4fa3"), strict=True):
        values = np.array([row[name] for row in rows], dtype=float)
        smooth = np.array([np.nanmean(values[max(0, at - 9) : at + 1]) for at in place])
        smooth /= np.nanmean(values[4:24])
        axes.plot(place[4:] + 1, smooth[4:], color=colour, linewidth=1.8, label=name)
        for number, text in told:
            if text.startswith(f"{name} is") and number <= len(rows):
                axes.plot(number, smooth[number - 1], "o", color=colour)
                axes.annotate(
                    f"warns at {number}",
                    (number, smooth[number - 1]),
                    (6, 6),
                    textcoords="offset points",
                    color=colour,
                    fontsize=8,
                )
    for name in ("repetition", "bad_endings"):
        axes.plot(place + 1, [row[name] for row in rows], color="#888888", linewidth=0.8)
    axes.annotate("repetition, bad endings", (len(rows) * 0.55, 0.05), color="#666666", fontsize=9)
    axes.legend(frameon=False, loc="upper right")
    axes.set(xlabel="step", ylabel="share of the beginning", xlim=(0, len(rows)), ylim=(-0.02, 1.1))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / "collapse.png")


if __name__ == "__main__":
    main()
