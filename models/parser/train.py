"""Train the network on the teacher's parses.

    python -m parser.train DATA CHECKPOINT [--epochs N] [--seed N] [--threads N]

DATA: the folder that split.py wrote. CHECKPOINT: the file that export.py reads.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from parser.conll import Sentence, read
from parser.features import buckets, vocabulary
from parser.network import Network, Shape

Answers = tuple[Tensor, Tensor, Tensor]  # tags, heads, relations
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
                predicted = network.arcs(x).argmax(2)
                labels = network.relations(x, predicted).argmax(2)
                right = predicted == heads[part]
                total += right.numel()
                tags_right += int((network.tag(x).argmax(2) == tags[part]).sum())
                heads_right += int(right.sum())
                both_right += int((right & (labels == relations[part])).sum())
    return {"tag": tags_right / total, "uas": heads_right / total, "las": both_right / total}


class Course:
    """Training: the network, its optimizer, the average of its weights over the last steps, which is what is kept."""

    def __init__(self, network: Network, steps: int, rate: float) -> None:
        self.network, self.step = network, 0
        self.optimizer = torch.optim.AdamW(
            network.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True
        )
        warm = max(1, min(300, steps // 2))
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm)))
        )
        self.average = {name: value.detach().clone() for name, value in network.state_dict().items()}

    def learn(self, rows: Tensor, answers: Answers, words: int) -> float:
        """One step on sentences of one length; the loss per word of a full step of so many words."""
        tags, heads, relations = answers
        x = self.network.encode(rows)
        loss = (
            summed(self.network.arcs(x), heads)
            + summed(self.network.relations(x, heads), relations)
            + 0.5 * summed(self.network.tag(x), tags)
        ) / words
        self.optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        if self.step % 4 == 0:
            share = max(0.008, 9 / (self.step + 10))
            with torch.no_grad():
                for name, value in self.network.state_dict().items():
                    self.average[name].lerp_(value, share)
        self.step += 1
        return float(loss.detach())

    @contextmanager
    def averaged(self) -> Iterator[Network]:
        """The network with its averaged weights, for as long as the block lasts."""
        now = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.network.load_state_dict(self.average)
        yield self.network
        self.network.load_state_dict(now)


def summed(scores: Tensor, right: Tensor) -> Tensor:
    """The cross entropy of all words."""
    return functional.cross_entropy(scores.flatten(0, 1), right.flatten(), reduction="sum")


def batches(groups: dict[int, Example], words: int, draw: random.Random) -> Iterator[Example]:
    """All sentences once, in random order, of one length and about so many words at a time."""
    order = {length: torch.randperm(len(example[0])) for length, example in groups.items()}
    size = {length: max(1, words // length) for length in groups}
    starts = [(length, at) for length in groups for at in range(0, len(order[length]), size[length])]
    draw.shuffle(starts)
    for length, at in reversed(starts):
        chosen = order[length][at : at + size[length]]
        numbers, tags, heads, relations = groups[length]
        yield numbers[chosen], tags[chosen], heads[chosen], relations[chosen]


def hiding(training: list[Sentence], words: list[str]) -> Tensor:
    """How often each row's word is hidden, so that its parts learn to stand for it: the rarer the more often."""
    count = Counter(word for sentence in training for word in sentence.words)
    hidden = torch.zeros(3 + len(words))
    hidden[3:] = torch.tensor([0.5 / (0.5 + count[word]) + 0.01 for word in words])
    return hidden


def main() -> None:
    """Read the arguments, train, write the checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--epochs", type=int, default=6)
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
    tags = sorted({tag for s in training for tag in s.tags})
    names = Names(words, tags, sorted({relation for s in training for relation in s.relations}))
    hidden = hiding(training, words)
    groups = by_length(training, names)
    tune = by_length(list(read(arguments.data / "tune.conll")), names)
    all_rows = torch.tensor(names.rows)
    shape = Shape(**arguments.shape)
    network = Network(shape, len(words), len(names.tags), len(names.relations))
    print(f"{len(training):,} captions, {len(words):,} words, {sum(p.numel() for p in network.parameters()):,} weights")
    per_epoch = sum(-(-len(of[0]) // max(1, arguments.tokens // length)) for length, of in groups.items())
    course = Course(network, arguments.epochs * per_epoch, arguments.rate)
    for epoch in range(1, arguments.epochs + 1):
        started, loss = time.monotonic(), 0.0
        for numbers, tag, head, relation in batches(groups, arguments.tokens, draw):
            rows = all_rows[numbers]
            first = rows[..., 0]
            rows[..., 0] = torch.where(torch.rand(first.shape) < hidden[first], 0, first)
            loss += course.learn(rows, (tag, head, relation), arguments.tokens)
        with course.averaged() as averaged:
            measured = accuracy(averaged, tune, all_rows)
            saved = {"shape": asdict(shape), "words": words, "tags": names.tags, "relations": names.relations}
            torch.save(saved | {"state": averaged.state_dict(), "tune": measured}, arguments.checkpoint)
        figures = ", ".join(f"{name} {value:.4f}" for name, value in measured.items())
        seconds = time.monotonic() - started
        print(f"epoch {epoch}: loss {loss / per_epoch:.4f}, tune {figures}, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
