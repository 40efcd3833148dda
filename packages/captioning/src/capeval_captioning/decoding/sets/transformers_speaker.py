"""Today's captioners as speakers: image-to-text checkpoints of transformers, from a folder or the hub.

Sampling and diverse beam search choose every word here, inside the library's own loop, so that a seed means the same as
for other captioners; beam search is the library's.
"""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import transformers
from safetensors import SafetensorError
from torch import Tensor
from transformers import AutoImageProcessor, AutoModelForImageTextToText, AutoTokenizer, LogitsProcessor

from capeval.errors import DataError, UsageError
from capeval_captioning.decoding.search import PLAIN, Sampling
from capeval_captioning.decoding.sets.speaker import in_sets, uniform

if TYPE_CHECKING:
    from PIL.Image import Image

_FILES = "config.json, preprocessor_config.json, the tokenizer's files and the weights, as save_pretrained writes them"
_UNCHANGED = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "num_beams": 1}
"""The library samples from what a processor leaves of a distribution, which is one word: see `_Choice`."""


class TransformersSpeaker:
    """A checkpoint that `AutoModelForImageTextToText` can load, with its image processor and tokenizer."""

    def __init__(self, name: str, *, limit: int = 20, device: torch.device | None = None) -> None:
        """Loads the checkpoint; what the hub was asked for before is taken from the cache, without asking again.

        Args:
            name: a folder, or a name on the hub, such as `Salesforce/blip-image-captioning-base`.
            limit: the most tokens of a caption.
            device: where to compute.

        Raises:
            DataError: no such checkpoint, or it lacks a part; the message says which files to put where.
        """
        self.name = name
        self.limit = limit
        self.device = device or torch.device("cpu")
        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call, unused-ignore]
        self._processor: Any = _load(AutoImageProcessor, name)
        self._tokenizer: Any = _load(AutoTokenizer, name)
        self._model: Any = _load(AutoModelForImageTextToText, name).to(self.device).eval()

    @property
    def side(self) -> int:
        """Pixels of the square that the processor makes of an image."""
        from PIL import Image

        # Asked by example: processors spell their sizes in many ways.
        return int(self.see([Image.new("RGB", (64, 64))]).shape[-1])

    def see(self, images: Sequence[Image]) -> Tensor:
        """(B, 3, H, W) pixels as the checkpoint wants them."""
        pixels: Tensor = self._processor(images=list(images), return_tensors="pt")["pixel_values"]
        return pixels.to(self.device)

    def sample(
        self,
        seen: Tensor,
        chances: Sequence[np.random.Generator],
        samples: int,
        *,
        sampling: Sampling = PLAIN,
    ) -> list[list[str]]:
        """See `Speaker`."""
        chance = uniform(chances, samples, self.limit).to(self.device)
        choice = _Draw(chance, sampling)
        return self._generated(seen, samples, **_UNCHANGED, num_return_sequences=samples, logits_processor=[choice])

    def beam(
        self,
        seen: Tensor,
        chances: Sequence[np.random.Generator],  # noqa: ARG002
        width: int,
        *,
        groups: int = 1,
        penalty: float = 0.5,
    ) -> list[list[str]]:
        """See `Speaker`.

        Raises:
            UsageError: groups of more captions than one, which recent versions of the library do not search.
        """
        if groups == width > 1:
            choice = _Diverse(width, penalty, self._ends())
            return self._generated(seen, width, **_UNCHANGED, num_return_sequences=width, logits_processor=[choice])
        if groups > 1:
            raise UsageError(
                f"diverse beam search of a transformers checkpoint has a group a caption, got {groups} groups for "
                f"{width} captions; leave the groups out"
            )
        search = {"num_beams": width, "num_return_sequences": width, "length_penalty": 0.0} if width > 1 else {}
        return self._generated(seen, width, do_sample=False, **search)

    def _generated(self, seen: Tensor, each: int, **options: Any) -> list[list[str]]:
        words = self._model.generate(pixel_values=seen, max_new_tokens=self.limit, **options)
        texts: list[str] = self._tokenizer.batch_decode(words, skip_special_tokens=True)
        return in_sets([" ".join(text.split()) for text in texts], each)

    def _ends(self) -> list[int]:
        """Ids after which a caption says nothing."""
        settings, tokenizer = self._model.generation_config, self._tokenizer
        ends = settings.eos_token_id if isinstance(settings.eos_token_id, list) else [settings.eos_token_id]
        ends += [tokenizer.eos_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id]
        return [number for number in ends if number is not None]


class _Choice(LogitsProcessor, ABC):  # type: ignore[misc, unused-ignore]
    """Leaves one word of each row, so that any way of sampling takes it."""

    def __init__(self) -> None:
        self.step = 0

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """(N, t) ids said so far, (N, V) logits -> (N, V): 0 for the chosen word, −∞ for others."""
        chosen = self.choose(input_ids, scores.float().log_softmax(1))
        self.step += 1
        return torch.full_like(scores, -torch.inf).scatter(1, chosen[:, None], 0.0)

    @abstractmethod
    def choose(self, said: Tensor, log_probs: Tensor) -> Tensor:
        """(N,) words."""


class _Draw(_Choice):
    """Draws as `decoding.sample` does."""

    def __init__(self, chance: Tensor, sampling: Sampling) -> None:
        super().__init__()
        self.chance, self.sampling = chance, sampling

    def choose(self, said: Tensor, log_probs: Tensor) -> Tensor:  # noqa: ARG002
        return self.sampling.choose(log_probs, self.chance[:, self.step])


class _Diverse(_Choice):
    """Diverse beam search whose groups are single captions: each is greedy, but for the words that cost more."""

    def __init__(self, width: int, penalty: float, ends: Sequence[int]) -> None:
        super().__init__()
        self.width, self.penalty, self.ends = width, penalty, ends

    def choose(self, said: Tensor, log_probs: Tensor) -> Tensor:
        log_probs = log_probs.view(-1, self.width, log_probs.shape[1])  # (B, W, V)
        ended = torch.isin(said[:, -1], torch.tensor(self.ends, device=said.device)).view(-1, self.width)
        speaks = ~ended if self.step else torch.ones_like(ended)  # what stands before the first word is not an end
        used = torch.zeros_like(log_probs[:, 0])  # (B, V)
        chosen = []
        for number in range(self.width):
            word = (log_probs[:, number] - self.penalty * used).argmax(1, keepdim=True)
            used = used.scatter_add(1, word, speaks[:, number, None].to(used))
            chosen.append(word)
        return torch.cat(chosen, 1).flatten()


def _load(factory: Any, name: str) -> Any:
    """Part of the checkpoint: from the folder or the cache, else from the hub. Code in it is never run."""
    if os.path.isdir(name):
        return _attempt(factory, name, local=True)
    hub = logging.getLogger("huggingface_hub")
    level = hub.level
    hub.setLevel(logging.CRITICAL)  # it logs each try; the error says what came of them
    try:
        return _attempt(factory, name, local=True)
    except DataError:
        return _attempt(factory, name, local=False)
    finally:
        hub.setLevel(level)


def _attempt(factory: Any, name: str, *, local: bool) -> Any:
    try:
        return factory.from_pretrained(name, local_files_only=local)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:300]
    if os.path.isdir(name):
        remedy = f"it needs {_FILES}"
    else:
        remedy = f"download the files of https://huggingface.co/{name} into a folder ({_FILES}) and give the folder"
    raise DataError(f"{name}: no image-to-text checkpoint could be loaded ({reason}); {remedy}")
