"""Today's captioners as speakers: image-to-text checkpoints of transformers, from a folder or the hub.

Vision-language models with a chat template (LLaVA, Qwen-VL, SmolVLM, PaliGemma …) are asked by a prompt; captioners
without one (BLIP, GIT, encoder-decoders) are given the image alone.

Sampling and diverse beam search choose every word here, inside the library's own loop, so that a seed means the same as
for other captioners; beam search is the library's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoImageProcessor, AutoModelForImageTextToText, AutoProcessor, AutoTokenizer, LogitsProcessor

from sacrecap.errors import DataError, UsageError
from sacrecap.vision.checkpoint_parts import load_part
from sacrecap_captioning.captioner import PLAIN, Sampling
from sacrecap_captioning.set_methods import in_sets, uniform

if TYPE_CHECKING:
    from PIL.Image import Image

_FILES = "config.json, preprocessor_config.json, the tokenizer's files and the weights"
_load = partial(load_part, what="image-to-text checkpoint", files=_FILES)
_UNCHANGED: dict[str, Any] = {
    "do_sample": True,
    "num_beams": 1,
    "temperature": 1.0,
    "top_k": 0,
    "top_p": 1.0,
    "min_p": 0.0,
    "typical_p": 1.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
    "repetition_penalty": 1.0,
    "encoder_repetition_penalty": 1.0,
    "no_repeat_ngram_size": 0,
    "encoder_no_repeat_ngram_size": 0,
    "min_length": 0,
    "min_new_tokens": 0,
    "guidance_scale": 1.0,
}
"""Whatever a checkpoint's configuration changes in its distribution is off. The library samples from what a processor
leaves of it, which is one word: see `_Choice`.
"""


PROMPT = "Describe this image in one sentence."
"""The default question to a vision-language model."""
CHAT_LIMIT, LIMIT = 64, 20
"""Most tokens of a caption by default: of a model that is asked in words, and of a captioner."""


class TransformersSpeaker:
    """A checkpoint that `AutoModelForImageTextToText` can load, with its image processor and tokenizer."""

    def __init__(
        self, name: str, *, limit: int | None = None, device: torch.device | None = None, prompted: bool = False
    ) -> None:
        """Loads the checkpoint, with its weights as they were saved.

        Files that were fetched from the hub before are taken from the cache, without a new request.

        Args:
            name: a folder, or a name on the hub, such as `Salesforce/blip-image-captioning-base`.
            limit: the most tokens of a caption; by default 64 with a chat template, else 20. `captions` counts those
                made, and `cut` those of them that came to no end.
            device: where to compute.
            prompted: whether it will be asked in words.

        Raises:
            DataError: no such checkpoint, or it lacks a part; the message says which files to put where.
            UsageError: words for a checkpoint that takes none.
        """
        self.name = name
        self.device = device or torch.device("cpu")
        try:
            chat = _load(AutoProcessor, name)
        except DataError:
            chat = None  # the parts are loaded one by one, and say what is missing
        if not getattr(chat, "chat_template", None):
            chat = None
        self.limit = limit or (LIMIT if chat is None else CHAT_LIMIT)
        self.captions = self.cut = 0
        if chat is None and prompted:
            raise UsageError(f"{name}: has no chat template, and so takes no prompt; leave the prompt out")
        self._processor: Any = _load(AutoImageProcessor, name) if chat is None else chat
        self._tokenizer: Any = _load(AutoTokenizer, name) if chat is None else chat.tokenizer
        self._question: str | None = None
        if chat is not None:
            self.ask(PROMPT)
            self._tokenizer.padding_side = "left"  # what is said follows the question at once, in every row
        self._model: Any = _load(AutoModelForImageTextToText, name, dtype="auto").to(self.device).eval()

    def ask(self, prompt: str) -> None:
        """From now on a checkpoint with a chat template is asked this; `PROMPT` before."""
        content = [{"type": "image"}, {"type": "text", "text": prompt}]
        message = [{"role": "user", "content": content}]
        self._question = self._processor.apply_chat_template(message, add_generation_prompt=True)

    @property
    def side(self) -> int:
        """Pixels of the square that the processor makes of an image."""
        from PIL import Image

        # Found out with an example: processors name their sizes in many ways.
        pixels = self.see([Image.new("RGB", (64, 64))])["pixel_values"]
        if pixels.ndim < 4:
            raise UsageError(
                f"{self.name}: takes images of any size, and rci and gnc change images of one size; choose another "
                "method"
            )
        return int(pixels.shape[-1])

    def see(self, images: Sequence[Image]) -> dict[str, Tensor]:
        """What the checkpoint takes: pixels, and the question where it has a chat template."""
        question = {} if self._question is None else {"text": [self._question] * len(images), "padding": True}
        batch = self._processor(images=list(images), return_tensors="pt", **question)
        kind = self._model.dtype
        return {
            name: value.to(self.device, kind if value.is_floating_point() else None) for name, value in batch.items()
        }

    def sample(
        self,
        inputs: dict[str, Tensor],
        chances: Sequence[np.random.Generator],
        samples: int,
        *,
        sampling: Sampling = PLAIN,
    ) -> list[list[str]]:
        chance = uniform(chances, samples, self.limit).to(self.device)
        choice = _Choice(lambda step, _, log_probs: sampling.choose(log_probs, chance[:, step]))
        return self._generated(inputs, samples, **_UNCHANGED, num_return_sequences=samples, logits_processor=[choice])

    def beam(
        self,
        inputs: dict[str, Tensor],
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
            choice = _Choice(partial(_apart, width=width, penalty=penalty, ends=self._ends()))
            return self._generated(inputs, width, **_UNCHANGED, num_return_sequences=width, logits_processor=[choice])
        if groups > 1:
            raise UsageError(
                f"diverse beam search of a transformers checkpoint has one group per caption, got {groups} groups for "
                f"{width} captions; leave the groups out"
            )
        search = {"num_beams": width, "num_return_sequences": width, "length_penalty": 0.0} if width > 1 else {}
        return self._generated(inputs, width, do_sample=False, **search)

    def _generated(self, inputs: dict[str, Tensor], size: int, **options: Any) -> list[list[str]]:
        words = self._model.generate(**inputs, max_new_tokens=self.limit, **options)
        if "input_ids" in inputs:
            words = words[:, inputs["input_ids"].shape[1] :]  # behind the question
        self.captions += len(words)
        ends = torch.tensor(self._ends(), device=words.device)
        self.cut += int((~torch.isin(words[:, 1:], ends).any(1)).sum())  # some begin with what is an end, too
        texts: list[str] = self._tokenizer.batch_decode(words, skip_special_tokens=True)
        return in_sets([" ".join(text.split()) for text in texts], size)

    def _ends(self) -> list[int]:
        """Ids after which a caption says nothing."""
        settings, tokenizer = self._model.generation_config, self._tokenizer
        ends = settings.eos_token_id if isinstance(settings.eos_token_id, list) else [settings.eos_token_id]
        ends += [tokenizer.eos_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id]
        return [number for number in ends if number is not None]


class _Choice(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Leaves one word of each row, so that any way of sampling takes it.

    Args:
        choose: of the number of the step, the (N, t) ids said so far and (N, V) log-probabilities, (N,) words.
    """

    def __init__(self, choose: Callable[[int, Tensor, Tensor], Tensor]) -> None:
        self.step = 0
        self.choose = choose

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """(N, t) ids said so far, (N, V) logits -> (N, V): 0 for the chosen word, −∞ for others."""
        chosen = self.choose(self.step, input_ids, scores.float().log_softmax(1))
        self.step += 1
        return torch.full_like(scores, -torch.inf).scatter(1, chosen[:, None], 0.0)


def _apart(step: int, words: Tensor, log_probs: Tensor, *, width: int, penalty: float, ends: Sequence[int]) -> Tensor:
    """(N,) words by diverse beam search whose groups are single captions: each is greedy, but for words that cost."""
    log_probs = log_probs.view(-1, width, log_probs.shape[1])  # (B, W, V)
    ended = torch.isin(words[:, -1], torch.tensor(ends, device=words.device)).view(-1, width)
    speaks = ~ended if step else torch.ones_like(ended)  # what stands before the first word is not an end
    used = torch.zeros_like(log_probs[:, 0])  # (B, V)
    chosen = []
    for number in range(width):
        word = (log_probs[:, number] - penalty * used).argmax(1, keepdim=True)
        used = used.scatter_add(1, word, speaks[:, number, None].to(used))
        chosen.append(word)
    return torch.cat(chosen, 1).flatten()
