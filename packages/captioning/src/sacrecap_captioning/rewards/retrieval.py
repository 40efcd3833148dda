"""How well a sampled caption retrieves its image among those of the batch.

Luo, Price, Cohen, Shakhnarovich, *Discriminability objective for training descriptive captions* (CVPR 2018), section 4:
the negative of the retrieval model's loss is the reward. Of the two directions, we use the one that depends only on the
caption, caption to image:

    r(c) = − [α + max_i' s(i', c) − s(i, c)]₊,   i' the other images of the batch

which is 0 if the caption separates its image from all others by the margin α, and falls to −2 − α.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sacrecap.data.source import PathLike
from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.checkpoints import read_tensors, write_tensors
from sacrecap_captioning.models.image_sentence_space import MARGIN, ImageSentenceSpace, similarities
from sacrecap_captioning.vocabulary import UNKNOWN, Vocabulary

_KIND = "sacrecap retrieval model"
_EXPECTED = {"kind", "data", "words", "sizes", "space", "images"}


class RetrievalReward:
    """The reward of a trained space, which is not trained further.

    Args:
        space: the trained space.
        images: (I, E) the training images in it.
        words: vocabulary of the space.
        vocabulary: of the captioner; its words are looked up in the other by their text.
        device: where samples are, and rewards will be.
    """

    on_host = False

    def __init__(
        self,
        space: ImageSentenceSpace,
        images: Tensor,
        words: Vocabulary,
        vocabulary: Vocabulary,
        *,
        device: torch.device | str = "cpu",
    ) -> None:
        self._space = space.eval().requires_grad_(False).to(device)
        self._images = images.to(device)
        numbers = {word: number for number, word in enumerate(words.words)}
        self._numbers = torch.tensor([numbers.get(word, UNKNOWN) for word in vocabulary.words], device=device)

    @torch.no_grad()
    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        """(N,) rewards from −2.2 to 0.

        Raises `UsageError` if the batch has one image: there is nothing to choose among.
        """
        if len(images) < 2:
            raise UsageError(
                "retrieval chooses among the images of a batch, and this batch has one; make batches larger"
            )
        sentences = self._space.sentences(self._numbers[words])  # (N, E)
        cosines = similarities(self._images[images].to(sentences.dtype), sentences)  # (B, N)
        owners = torch.arange(len(images), device=words.device).repeat_interleave(len(words) // len(images))
        mine = owners[None, :] == torch.arange(len(images), device=words.device)[:, None]  # (B, N)
        own = cosines.gather(0, owners[None, :]).squeeze(0)  # (N,)
        hardest = cosines.masked_fill(mine, -2).amax(0)
        return -(MARGIN + hardest - own).clamp(min=0)


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
        if content.get("kind") != _KIND or not content.keys() >= _EXPECTED:
            raise DataError(f"{path}: is not a retrieval model; sacrecap caption retrieval trains one")
        space = ImageSentenceSpace(**content["sizes"])
        space.load_state_dict(content["space"])
        return cls(space, Vocabulary(tuple(content["words"])), content["images"].float(), content["data"])

    def reward(self, data: str, vocabulary: Vocabulary, device: torch.device | str = "cpu") -> RetrievalReward:
        """The reward for captioners of this vocabulary, trained on the data set of this checksum.

        Raises `DataError` if the model was trained on other data: its images are not those of the training split.
        """
        if data != self.data:
            raise DataError(
                f"the retrieval model was trained on other images, splits or captions (checksum {self.data}, not "
                f"{data}); train one on these: sacrecap caption retrieval RUN"
            )
        return RetrievalReward(self.space, self.images, self.words, vocabulary, device=device)
