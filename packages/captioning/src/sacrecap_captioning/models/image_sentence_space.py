"""VSE++: images and sentences in one space, where a sentence lies near the images that it describes.

Faghri, Fleet, Kiros, Fidler, *VSE++: Improving visual-semantic embeddings with hard negatives* (BMVC 2018).

    s(i, c) = x(i)·x(c),   x(i) = W·feature / ‖·‖,   x(c) = last state of a GRU over the words / ‖·‖      (section 2)
    L = Σ_(i,c) max_c' [α + s(i, c') − s(i, c)]₊ + max_i' [α + s(i', c) − s(i, c)]₊,   α = 0.2            (eq. 6)

where c' and i' are the other captions and images of the batch: the hardest counts alone. Eq. 5 sums over them all;
training begins with it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sacrecap_captioning.models.base import until_end

MARGIN = 0.2


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
        last = until_end(words).sum(1) - 1  # (N,): the end, or the last word of a caption that was cut
        at_last = states[torch.arange(len(words), device=words.device), last]
        return nn.functional.normalize(at_last, dim=1)


def similarities(images: Tensor, sentences: Tensor) -> Tensor:
    """(B, N) cosines of (B, E) images and (N, E) sentences."""
    return images @ sentences.T


def hinge(cosines: Tensor, *, margin: float = MARGIN, hardest: bool = True) -> Tensor:
    """(): mean loss of (B, B) cosines, an image's own caption on the diagonal: eq. 6, or 5 where not `hardest`."""
    own = cosines.diagonal()  # (B,)
    itself = torch.eye(len(cosines), dtype=torch.bool, device=cosines.device)
    sentences = (margin + cosines - own[:, None]).clamp(min=0).masked_fill(itself, 0)  # other captions of an image
    images = (margin + cosines - own[None, :]).clamp(min=0).masked_fill(itself, 0)  # other images of a caption
    if hardest:
        return (sentences.amax(1) + images.amax(0)).mean()
    return (sentences.sum(1) + images.sum(0)).mean()


def recalls(images: Tensor, sentences: Tensor, owners: Tensor, at: tuple[int, ...] = (1, 5, 10)) -> dict[str, float]:
    """Recall at k: the share of sentences with their image among the nearest k, and of images with one of theirs.

    `images`: (B, E); `sentences`: (N, E); `owners`: (N,) the image of each sentence.
    """
    cosines = similarities(images, sentences)  # (B, N)
    own = cosines[owners, torch.arange(len(owners))]  # (N,)
    rank_of_image = (cosines > own).sum(0)  # (N,): images nearer to the sentence than its own
    mine = owners[None, :] == torch.arange(len(images))[:, None]  # (B, N)
    best = cosines.masked_fill(~mine, -2).amax(1, keepdim=True)  # (B, 1)
    rank_of_sentence = ((cosines > best) & ~mine).sum(1)  # (B,)
    return {
        **{f"image R@{k}": (rank_of_image < k).float().mean().item() for k in at},
        **{f"caption R@{k}": (rank_of_sentence < k).float().mean().item() for k in at},
    }
