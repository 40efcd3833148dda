"""Train the network on the teacher's parses.

    python -m scripts.spice_model.train DATA CHECKPOINT [--epochs N] [--seed N] [--threads N]

DATA: the folder that split.py wrote. CHECKPOINT: the file that export.py reads.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter, defaultdict
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from scripts.spice_model.conll import Sentence, read
from scripts.spice_model.features import buckets, vocabulary
from scripts.spice_model.network import Network, Shape

Example = tuple[Tensor, Tensor, Tensor, Tensor]  # words as numbers of `Names.rows`, tags, heads, relations


class Names:
    """Numbers of words, tags and relations."""

    def __init__(self, words: list[str], tags: list[str], relations: list[str]) -> None:
        self.words, self.tags, self.relations = words, tags, relations
        self.word = {word: 3 + number for number, word in enumerate(words)}
        self.tag = {tag: number for number, tag in enumerate(tags)}
        self.relation = {relation: number for number, relation in enumerate(relations)}
        self.number: dict[str, int] = {}
        self.rows: list[list[int]] = []

    def of_word(self, word: str) -> int:
        """A number for any word; `rows[number]` are the rows of the network's table whose sum it is, 0 for none."""
        if word not in self.number:
            self.number[word] = len(self.rows)
            first = 3 + len(self.words)
            self.rows.append([self.word.get(word, 0), *(first + bucket for bucket in buckets(word))])
        return self.number[word]


def by_length(sentences: list[Sentence], names: Names) -> dict[int, Example]:
    """The sentences of each length as tensors."""
    groups: dict[int, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        groups[len(sentence.words)].append(sentence)
    return {
        length: (
            torch.tensor([[names.of_word(word) for word in s.words] for s in group]),
            torch.tensor([[names.tag.get(tag, 0) for tag in s.tags] for s in group]),
            torch.tensor([s.heads for s in group]),
            torch.tensor([[names.relation.get(relation, 0) for relation in s.relations] for s in group]),
        )
        for length, group in sorted(groups.items())
    }


def accuracy(network: Network, groups: dict[int, Example], all_rows: Tensor) -> dict[str, float]:
    """Shares of right tags, heads and heads with relation; each word takes its best head, tree or not."""
    total = tags_right = heads_right = both_right = 0
    with torch.no_grad():
        for words, tags, heads, relations in groups.values():
            for start in range(0, len(words), 500):
                part = slice(start, start + 500)
                x = network.encode(all_rows[words[part]])
                found = network.arcs(x).argmax(2)
                labels = network.relations(x, found).argmax(2)
                right = found == heads[part]
                total += right.numel()
                tags_right += int((network.tag(x).argmax(2) == tags[part]).sum())
                heads_right += int(right.sum())
                both_right += int((right & (labels == relations[part])).sum())
    return {"tag": tags_right / total, "uas": heads_right / total, "las": both_right / total}


def main() -> None:
    """Read the arguments, train, write the checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--epochs", type=float, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=2000, help="words per step")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--shape", type=json.loads, default={}, help="sizes of the network, as JSON")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    draw = random.Random(arguments.seed)

    training = list(read(arguments.data / "train.conll"))
    words = vocabulary([s.words for s in training], least=2)
    names = Names(words, sorted({t for s in training for t in s.tags}), sorted({r for s in training for r in s.relations}))
    count = Counter(word for s in training for word in s.words)
    # A rare word is now and then hidden, so that its parts learn to stand for it.
    hidden = torch.zeros(3 + len(words))
    hidden[3:] = torch.tensor([0.5 / (0.5 + count[word]) + 0.01 for word in words])
    groups = by_length(training, names)
    tune = by_length(list(read(arguments.data / "tune.conll")), names)
    all_rows = torch.tensor(names.rows)
    shape = Shape(**arguments.shape)
    network = Network(shape, len(words), len(names.tags), len(names.relations))
    print(f"{len(training):,} captions, {len(words):,} words, {sum(p.numel() for p in network.parameters()):,} weights")

    batches: list[tuple[int, int]] = []
    sizes = {length: max(1, arguments.tokens // length) for length in groups}
    steps_per_epoch = sum(-(-len(example[0]) // sizes[length]) for length, example in groups.items())
    steps = int(arguments.epochs * steps_per_epoch)
    optimizer = torch.optim.AdamW(network.parameters(), lr=arguments.rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    warm = 300
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm)))
    )
    average = {name: value.detach().clone() for name, value in network.state_dict().items()}
    order: dict[int, Tensor] = {}
    started, losses = time.time(), []
    for step in range(steps):
        if not batches:
            order = {length: torch.randperm(len(example[0])) for length, example in groups.items()}
            batches = [(length, at) for length in groups for at in range(0, len(order[length]), sizes[length])]
            draw.shuffle(batches)
        length, at = batches.pop()
        chosen = order[length][at : at + sizes[length]]
        numbers, tags, heads, relations = (tensor[chosen] for tensor in groups[length])
        rows = all_rows[numbers]
        first = rows[..., 0]
        rows[..., 0] = torch.where(torch.rand(first.shape) < hidden[first], 0, first)
        x = network.encode(rows)
        loss = (
            functional.cross_entropy(network.arcs(x).flatten(0, 1), heads.flatten(), reduction="sum")
            + functional.cross_entropy(network.relations(x, heads).flatten(0, 1), relations.flatten(), reduction="sum")
            + 0.5 * functional.cross_entropy(network.tag(x).flatten(0, 1), tags.flatten(), reduction="sum")
        ) / arguments.tokens
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
        if step % 4 == 0:
            share = max(0.008, 9 / (step + 10))
            with torch.no_grad():
                for name, value in network.state_dict().items():
                    average[name].lerp_(value, share)
        if (step + 1) % steps_per_epoch == 0 or step + 1 == steps:
            now = {name: value.clone() for name, value in network.state_dict().items()}
            network.load_state_dict(average)
            measured = accuracy(network, tune, all_rows)
            saved = {
                "shape": asdict(shape),
                "words": words,
                "tags": names.tags,
                "relations": names.relations,
                "state": network.state_dict(),
                "tune": measured,
            }
            torch.save(saved, arguments.checkpoint)
            network.load_state_dict(now)
            figures = ", ".join(f"{name} {value:.4f}" for name, value in measured.items())
            print(
                f"epoch {(step + 1) / steps_per_epoch:.1f}: loss {sum(losses) / len(losses):.4f}, tune {figures}, "
                f"{time.time() - started:.0f} s",
                flush=True,
            )
            losses = []


if __name__ == "__main__":
    main()
