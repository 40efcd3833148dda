"""The retrieval model, VSE++, and the reward that it gives: how well a sampled caption finds its image in the batch.

Faghri, Fleet, Kiros, Fidler, *VSE++: Improving visual-semantic embeddings with hard negatives* (BMVC 2018).

    s(i, c) = x(i)·x(c),   x(i) = W·feature / ‖·‖,   x(c) = last state of a GRU over the words / ‖·‖      (section 2)
    L = Σ_(i,c) max_c' [α + s(i, c') − s(i, c)]₊ + max_i' [α + s(i', c) − s(i, c)]₊,   α = 0.2            (eq. 6)

where c' and i' are the other captions and images of the batch: the hardest counts alone. Eq. 5 sums over them all;
training begins with it.

Luo, Price, Cohen, Shakhnarovich, *Discriminability objective for training descriptive captions* (CVPR 2018), section 4:
the negative of this loss is the reward. Of the two directions, we use the one that depends only on the caption:

    r(c) = − [α + max_i' s(i', c) − s(i, c)]₊

which is 0 if the caption separates its image from all others by the margin α, and falls to −2 − α.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages, read_images
from sacrecap_captioning.captioner import Vocabulary, at_last_word
from sacrecap_captioning.encoders import read_tensors, write_tensors
from sacrecap_captioning.objective import Reward
from sacrecap_captioning.settings import PathLike, silent
from sacrecap_captioning.training_run import Batches, RunFolder, Split, prepare

MARGIN = 0.2
_KIND = "sacrecap retrieval model"
_ROWS = 512
"""Images or captions put into the space at once."""


class ImageSentenceSpace(nn.Module):
    """Images and sentences as unit vectors of E numbers."""

    def __init__(self, vocabulary: int, feature: int, *, embedding: int = 300, space: int = 256) -> None:
        super().__init__()
        self.image = nn.Linear(feature, space)
        self.embed = nn.Embedding(vocabulary, embedding)
        self.sentence = nn.GRU(embedding, space, batch_first=True)
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)

    def images(self, pooled: Tensor) -> Tensor:
        """(B, D) pooled features -> (B, E)."""
        return nn.functional.normalize(self.image(pooled), dim=1)

    def sentences(self, words: Tensor) -> Tensor:
        """(N, T) ids, padded after their end -> (N, E)."""
        states, _ = self.sentence(self.embed(words))  # (N, T, E)
        return nn.functional.normalize(at_last_word(states, words), dim=1)


def hinge(cosines: Tensor, *, hardest: bool = True) -> Tensor:
    """(): mean loss of (B, B) cosines, an image's own caption on the diagonal: eq. 6, or 5 where not `hardest`."""
    matching = cosines.diagonal()  # (B,)
    itself = torch.eye(len(cosines), dtype=torch.bool, device=cosines.device)
    sentences = (MARGIN + cosines - matching[:, None]).clamp(min=0).masked_fill(itself, 0)  # other captions of an image
    images = (MARGIN + cosines - matching[None, :]).clamp(min=0).masked_fill(itself, 0)  # other images of a caption
    if hardest:
        return (sentences.amax(1) + images.amax(0)).mean()
    return (sentences.sum(1) + images.sum(0)).mean()


def recalls(images: Tensor, sentences: Tensor, owners: Tensor, at: tuple[int, ...] = (1, 5, 10)) -> dict[str, float]:
    """Recall at k: the share of sentences with their image among the nearest k, and of images with one of theirs.

    `images`: (B, E); `sentences`: (N, E); `owners`: (N,) the image of each sentence.
    """
    cosines = images @ sentences.T  # (B, N)
    matching = cosines[owners, torch.arange(len(owners))]  # (N,)
    rank_of_image = (cosines > matching).sum(0)  # (N,): images nearer to the sentence than its own
    mine = owners[None, :] == torch.arange(len(images))[:, None]  # (B, N)
    best = cosines.masked_fill(~mine, -2).amax(1, keepdim=True)  # (B, 1)
    rank_of_sentence = ((cosines > best) & ~mine).sum(1)  # (B,)
    return {
        **{f"image R@{k}": (rank_of_image < k).float().mean().item() for k in at},
        **{f"caption R@{k}": (rank_of_sentence < k).float().mean().item() for k in at},
    }


@dataclass(frozen=True)
class RetrievalModel:
    """A trained space, with the training images in it."""

    space: ImageSentenceSpace
    words: Vocabulary
    images: Tensor
    """(I, E): those of the training split, in its order."""
    data: str
    """Checksum of the data set."""

    def save(self, path: PathLike) -> None:
        """Writes the file, whole or not at all. Raises `DataError` if it cannot be written."""
        space = self.space
        sizes = {
            "vocabulary": space.embed.num_embeddings,
            "feature": space.image.in_features,
            "embedding": space.embed.embedding_dim,
            "space": space.image.out_features,
        }
        content = {"kind": _KIND, "data": self.data, "words": list(self.words.words), "sizes": sizes}
        write_tensors(path, {**content, "space": space.state_dict(), "images": self.images.half()})

    @classmethod
    def load(cls, path: PathLike) -> RetrievalModel:
        """Reads what `save` wrote. Raises `DataError` for a missing, foreign or damaged file."""
        content = read_tensors(path)
        if content.get("kind") != _KIND or not content.keys() >= {"data", "words", "sizes", "space", "images"}:
            raise DataError(f"{path}: is not a retrieval model; sacrecap caption retrieval trains one")
        space = ImageSentenceSpace(**content["sizes"])
        space.load_state_dict(content["space"])
        return cls(space, Vocabulary(tuple(content["words"])), content["images"].float(), content["data"])

    def reward(self, data: str, vocabulary: Vocabulary, device: torch.device | str = "cpu") -> Reward:
        """The reward, from −2.2 to 0, for captioners of this vocabulary, trained on the data set of this checksum.

        Words are looked up in those of the space by their text. The space is not trained further.

        Raises:
            DataError: the model was trained on other data: its images are not those of the training split. The reward
                raises `UsageError` if the batch has one image: there is nothing to choose among.
        """
        if data != self.data:
            raise DataError(
                f"the retrieval model was trained on other images, splits or captions (checksum {self.data}, not "
                f"{data}); train one on these: sacrecap caption retrieval RUN"
            )
        space, of_training = self.space.eval().requires_grad_(False).to(device), self.images.to(device)
        numbers = torch.tensor(self.words.encode(vocabulary.words, len(vocabulary)), device=device)

        @torch.no_grad()
        def reward(words: Tensor, images: Tensor) -> Tensor:
            if len(images) < 2:
                raise UsageError(
                    "retrieval chooses among the images of a batch, and this batch has one; make batches larger"
                )
            sentences = space.sentences(numbers[words])  # (N, E)
            cosines = of_training[images].to(sentences.dtype) @ sentences.T  # (B, N)
            owners = torch.arange(len(images), device=words.device).repeat_interleave(len(words) // len(images))
            mine = owners[None, :] == torch.arange(len(images), device=words.device)[:, None]  # (B, N)
            matching = cosines.gather(0, owners[None, :]).squeeze(0)  # (N,)
            hardest = cosines.masked_fill(mine, -2).amax(0)
            return -(MARGIN + hardest - matching).clamp(min=0)

        return reward


def train_retrieval(
    run: RunFolder,
    *,
    epochs: int = 30,
    batch: int = 64,
    rate: float = 2e-3,
    space: int = 256,
    seed: int = 0,
    images: CaptionedImages | None = None,
    cache: PathLike | None = None,
    device: torch.device | str = "cpu",
    progress: Callable[[int, float, dict[str, float]], None] | None = None,
) -> tuple[RetrievalModel, int, dict[str, float]]:
    """Trains on the images, features, tokens and vocabulary of a run of `sacrecap caption train`.

    The first half of the epochs counts all negatives (eq. 5), the second the hardest (eq. 6), at a tenth of the rate:
    from random weights the hardest alone draw all vectors into one. The best epoch by the sum of recalls on the
    validation split is kept. A pass has one caption of each image; `rate` is that of Adam, `space` E, the numbers of a
    vector, `cache` the folder of frozen features; `progress` is told after each epoch its number, loss and recalls.

    Returns:
        The model, its epoch, and the recalls of that epoch.

    Raises:
        DataError: the data are not those of the run, or have too few images.
    """
    settings = run.settings
    images = images or read_images(settings)
    if images.checksum != run.data_checksum:
        raise DataError(f"{settings.data}: its images, splits or captions are not those of the run {run.path}")
    data = prepare(images, run.encoder(), replace(settings, train_encoder=False), cache=cache)
    if len(data.train) < 2:
        raise DataError(f"{settings.data}: a retrieval model tells images apart, and the training split has one")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(torch.randint(2**31, (1,), generator=torch.Generator().manual_seed(seed))))
        model = ImageSentenceSpace(len(run.vocabulary), run.sizes.feature, space=space).to(device)
    encoded, val_captions = (split.encoded(run.vocabulary, settings.length) for split in (data.train, data.val))
    owners = torch.cat([torch.full((len(rows),), image) for image, rows in enumerate(val_captions)])
    batches = Batches(data.train, encoded, min(batch, len(data.train)), 1, seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    best: tuple[float, int, dict[str, float], dict[str, Tensor]] = (-1.0, 0, {}, {})
    for epoch in range(1, epochs + 1):
        hardest = epoch > (epochs + 1) // 2
        for group in optimiser.param_groups:
            group["lr"] = rate / 10 if hardest else rate
        model.train()
        losses = []
        for step in range((epoch - 1) * len(batches), epoch * len(batches)):
            images_and_captions = batches.at(step, model.image.weight.device)
            vectors = model.images(images_and_captions.features.pooled)
            loss = hinge(vectors @ model.sentences(images_and_captions.captions).T, hardest=hardest)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimiser.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            sentences = [model.sentences(part.to(device)) for part in torch.split(torch.cat(val_captions), _ROWS)]
        recalls_now = recalls(_embedded(model, data.val), torch.cat(sentences).cpu(), owners)
        if sum(recalls_now.values()) > best[0]:
            best = (sum(recalls_now.values()), epoch, recalls_now, copy.deepcopy(model.state_dict()))
        (progress or silent)(epoch, sum(losses) / len(losses), recalls_now)
    model.load_state_dict(best[3])
    model = model.eval().cpu()
    return RetrievalModel(model, run.vocabulary, _embedded(model, data.train), images.checksum), best[1], best[2]


@torch.no_grad()
def _embedded(model: ImageSentenceSpace, split: Split) -> Tensor:
    """(I, E): the images of the split, on the CPU."""
    device = model.image.weight.device
    parts = torch.split(torch.arange(len(split)), _ROWS)
    return torch.cat([model.images(split.features_of(numbers, device).pooled).cpu() for numbers in parts])
