"""Caption sets of images: by the captioner of a run folder, a checkpoint of transformers, or an endpoint.

caption_sets("runs/att2in", method="rs(temperature=0.7)", captions=10, seed=1)
caption_sets("Salesforce/blip-image-captioning-base", images_to_caption("photos"), method="beam")
caption_sets(Endpoint("http://localhost:8000/v1", "qwen2.5-vl"), images_to_caption("photos/*.jpg"))

Two kinds of sets need no captioner, and every captioner has to beat them: captions for any image, and copied ones.

Today's captioners are image-to-text checkpoints of transformers, from a folder or the hub. Vision-language models with
a chat template (LLaVA, Qwen-VL, SmolVLM, PaliGemma …) are asked by a prompt; captioners without one (BLIP, GIT,
encoder-decoders) are given the image alone. Sampling and diverse beam search choose every word here, inside the
library's own loop, so that a seed means the same as for other captioners; beam search is the library's.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, cast

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from transformers import AutoImageProcessor, AutoModelForImageTextToText, AutoProcessor, AutoTokenizer, LogitsProcessor

import sacrecap
from sacrecap import Endpoint
from sacrecap.errors import DataError, UsageError, warn
from sacrecap.resources.endpoint import Question
from sacrecap.rewards import CaptionReward
from sacrecap.rewards.completions import CompletionBatch
from sacrecap.vision.checkpoint_parts import load_part
from sacrecap.vision.devices import choose_device
from sacrecap_captioning.captioned_images import CaptionedImages, counted, given_features, images_of_run
from sacrecap_captioning.captioner import PLAIN, Sampling
from sacrecap_captioning.encoders import Encoder, FeatureRows, enough_memory
from sacrecap_captioning.set_methods import (
    Beam,
    Chances,
    ImageBatch,
    Neighbours,
    RandomSampling,
    Seen,
    SetMethod,
    Speaker,
    TrainedSpeaker,
    in_sets,
    near_words,
    set_method,
    uniform,
)
from sacrecap_captioning.settings import PathLike, Progress, kind_of, silent
from sacrecap_captioning.training_run import RunFolder, frozen_features, tokenised

_load = partial(
    load_part,
    what="image-to-text checkpoint",
    files="config.json, preprocessor_config.json, the tokenizer's files and the weights",
)
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
        """Loads the checkpoint, a folder or a name on the hub, with its weights as they were saved; what was fetched
        before is taken from the cache, without a new request.

        `limit` is the most tokens of a caption, by default 64 with a chat template, else 20; `captions` counts those
        made, and `cut` those of them that came to no end. `prompted`: whether it will be asked in words.

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
        # Found out with an example: processors name their sizes in many ways.
        pixels = self.see([Image.new("RGB", (64, 64))])["pixel_values"]
        if pixels.ndim < 4:
            raise UsageError(
                f"{self.name}: takes images of any size, and rci and gnc change images of one size; choose another "
                "method"
            )
        return int(pixels.shape[-1])

    def see(self, images: Sequence[Image.Image]) -> dict[str, Tensor]:
        """What the checkpoint takes: pixels, and the question where it has a chat template."""
        question = {} if self._question is None else {"text": [self._question] * len(images), "padding": True}
        batch = self._processor(images=list(images), return_tensors="pt", **question)
        kind = self._model.dtype
        return {
            name: value.to(self.device, kind if value.is_floating_point() else None) for name, value in batch.items()
        }

    def sample(
        self, inputs: dict[str, Tensor], chances: Chances, samples: int, *, sampling: Sampling = PLAIN
    ) -> list[list[str]]:
        chance = uniform(chances, samples, self.limit).to(self.device)
        choice = _Choice(lambda step, _, log_probs: sampling.choose(log_probs, chance[:, step]))
        return self._generated(inputs, samples, **_UNCHANGED, num_return_sequences=samples, logits_processor=[choice])

    def beam(
        self, inputs: dict[str, Tensor], _: Chances, width: int, *, groups: int = 1, penalty: float = 0.5
    ) -> list[list[str]]:
        """Raises `UsageError` for groups of more captions than one, which the library does not search any more."""
        if groups == width > 1:

            def apart(step: int, words: Tensor, log_probs: Tensor) -> Tensor:
                """(N,) words: each caption, a group of its own, is greedy, but for words that cost."""
                log_probs = log_probs.view(-1, width, log_probs.shape[1])  # (B, W, V)
                ended = torch.isin(words[:, -1], torch.tensor(self._ends(), device=words.device)).view(-1, width)
                speaks = ~ended if step else torch.ones_like(ended)  # what stands before the first word is not an end
                used = torch.zeros_like(log_probs[:, 0])  # (B, V)
                chosen = []
                for number in range(width):
                    word = (log_probs[:, number] - penalty * used).argmax(1, keepdim=True)
                    used = used.scatter_add(1, word, speaks[:, number, None].to(used))
                    chosen.append(word)
                return torch.cat(chosen, 1).flatten()

            processors = [_Choice(apart)]
            return self._generated(inputs, width, **_UNCHANGED, num_return_sequences=width, logits_processor=processors)
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
    """Leaves one word of each row, so that any way of sampling takes it."""

    def __init__(self, choose: Callable[[int, Tensor, Tensor], Tensor]) -> None:
        """`choose`: of the number of the step, the (N, t) ids said so far and (N, V) log-probabilities, (N,) words."""
        self.step, self.choose = 0, choose

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """(N, t) ids said so far, (N, V) logits -> (N, V): 0 for the chosen word, −∞ for others."""
        chosen = self.choose(self.step, input_ids, scores.float().log_softmax(1))
        self.step += 1
        return torch.full_like(scores, -torch.inf).scatter(1, chosen[:, None], 0.0)


def caption_sets(
    speaker: RunFolder | Endpoint | PathLike,
    images: CaptionedImages | None = None,
    *,
    split: str = "test",
    method: str | SetMethod = "rs",
    captions: int = 10,
    limit: int | None = None,
    seed: int = 0,
    batch: int = 32,
    device: str = "auto",
    prompts: Sequence[str] = (),
    cache: PathLike | None = None,
    progress: Progress | None = None,
) -> dict[str, list[str]]:
    """Caption sets by image id, of a speaker.

    Args:
        speaker: a captioner of `sacrecap caption train`, or its folder; an image-to-text checkpoint of transformers:
            its folder, or owner/name on the hub; or an OpenAI-compatible endpoint: vLLM, SGLang, Ollama, clouds.
        images: of all splits, from `images_to_caption`; of a captioner those of its run by default.
        split: whose images are captioned; methods that learn do so from the captions of the split `train`.
        method: a way to make caption sets, as `set_method` reads it.
        captions: number per image.
        limit: most words of a caption, by default as in training; of others most tokens, by default 64 of those that
            are asked in words, else 20.
        seed: of everything random.
        batch: images at a time.
        device: `cpu`, `cuda`, `cuda:1`; `auto` is the GPU when there is one.
        prompts: questions to a model, which share out the captions of a set; by default one for a sentence.
        cache: folder of the features of frozen encoders; the user's cache folder by default.
        progress: called while features are read, and captions made.

    Raises:
        UsageError: a name or number that is not accepted, or a speaker that cannot be used with the method.
        DataError: the speaker or the data set does not exist or is damaged.
        SacrecapError: an endpoint does not answer, or the budget is spent.
    """
    if prompts and captions % len(prompts):
        raise UsageError(f"{len(prompts)} prompts cannot share out {captions} captions; give a multiple (--captions)")
    chosen, run = set_method(method), speaker if isinstance(speaker, RunFolder) else None
    if isinstance(speaker, (str, os.PathLike)) and kind_of(speaker) == "captioner":
        run = RunFolder.open(speaker)
    if images is None:
        if run is None:
            raise UsageError(f"{speaker}: knows no images; give some")
        images = images_of_run(run.path, run.settings, split=split)
    part = images.split(split)
    progress = progress or silent
    show = counted(progress, "captioning", part)
    if isinstance(speaker, Endpoint):
        return _answered(speaker, part, chosen, captions, limit or CHAT_LIMIT, seed, prompts or (PROMPT,), show)
    place, features, tokenizer = choose_device(device), None, "ptb"
    loaded: TrainedSpeaker | TransformersSpeaker
    if run is None:
        loaded = TransformersSpeaker(str(speaker), limit=limit, device=place, prompted=bool(prompts))
    else:
        settings, encoder, tokenizer = run.settings, run.encoder().to(place), run.settings.tokenizer
        check_sees_changes(chosen, settings.features)
        loaded = TrainedSpeaker(
            run.captioner().to(place),
            run.vocabulary,
            # As in validation: one more than the words in training, for the end.
            limit=limit or settings.length + 1,
            encoder=encoder if isinstance(encoder, Encoder) else None,
        )
        chosen.check(loaded, captions)
        if not (settings.train_encoder or chosen.alters_images):
            read = counted(progress, "reading", part)
            features = frozen_features(part, encoder, given_features(settings), cache, read)
    sets = make_sets(
        chosen,
        loaded,
        part,
        features=features,
        training=lambda: [list(text) for image in tokenised(images.split("train"), tokenizer) for text in image],
        captions=captions,
        seed=seed,
        batch=batch,
        prompts=prompts,
        progress=show,
    )
    if isinstance(loaded, TransformersSpeaker):
        _warn_of_cut(loaded.cut, loaded.captions, loaded.limit)
    return sets


CHUNK = 512
"""Questions that are put to an endpoint together: what waits for an answer takes memory."""


def _answered(
    endpoint: Endpoint,
    images: CaptionedImages,
    method: SetMethod,
    captions: int,
    limit: int,
    seed: int,
    prompts: Sequence[str],
    progress: Callable[[int], None],
) -> dict[str, list[str]]:
    """An image's captions are answers to one question, or to several that share them out, with seeds that follow each
    other. The endpoint keeps every answer in a database, so that nothing is asked twice, whatever breaks. A caption is
    empty where the endpoint refuses it, of which a warning tells.
    """
    by_prompt = captions // len(prompts)
    if isinstance(method, RandomSampling) and not method.top_k:
        sampling = Sampling(method.temperature, nucleus=method.nucleus)
    elif isinstance(method, Beam) and by_prompt == 1:
        sampling = Sampling(0.0)  # the likeliest answer
    else:
        raise UsageError(
            "an endpoint samples with a temperature and top-p, rs(temperature=0.7, nucleus=0.9), or gives the "
            f"likeliest answer to each prompt, --method beam --captions 1; got {method} for {by_prompt} captions by a "
            "prompt"
        )
    sets: dict[str, list[str]] = {}
    ends: list[str] = []
    together = max(1, CHUNK // captions)
    for start in range(0, len(images), together):
        chunk = images[start : start + together]
        answers = endpoint.ask(
            [
                Question(
                    prompts[number // by_prompt],
                    images=(partial(chunk.read, image),),
                    tokens=limit,
                    temperature=sampling.temperature,
                    top_p=sampling.nucleus,
                    seed=seed + number if sampling.temperature else None,
                )
                for image in chunk
                for number in range(captions)
            ]
        )
        ends += [answer.end for answer in answers]
        texts = [" ".join(answer.text.split()) if answer.end in {"stop", "length"} else "" for answer in answers]
        sets |= zip((image.id for image in chunk), in_sets(texts, captions), strict=True)
        progress(len(sets))
    refused = len(ends) - ends.count("stop") - ends.count("length")
    if refused:
        warn(f"{refused:,} of {len(ends):,} captions are empty: the endpoint refused them, or did not accept the image")
    _warn_of_cut(ends.count("length"), len(ends), limit)
    return sets


def _warn_of_cut(cut: int, captions: int, limit: int) -> None:
    if cut:
        warn(f"{cut:,} of {captions:,} captions were cut at {limit} tokens; give a larger --limit")


def make_sets(
    method: SetMethod,
    speaker: Speaker,
    images: CaptionedImages,
    *,
    features: FeatureRows | None = None,
    training: Callable[[], Sequence[Sequence[str]]] | None = None,
    captions: int = 10,
    seed: int = 0,
    batch: int = 32,
    prompts: Sequence[str] = (),
    progress: Callable[[int], None] = silent,
) -> dict[str, list[str]]:
    """Several captions of each image, by image id.

    An image's captions depend on the speaker, the method, the seed and the image, not on the batch (up to what rounding
    does to nearly equal likelihoods).

    `features` are of these images in their order, where they are known; else images are opened and encoded. `training`
    gives the tokenised training captions, for methods that learn from them. `prompts` is what a `TransformersSpeaker`
    is asked, in turn: each for as many captions of a set. `progress` is called with the number of finished images.
    Other arguments are those of `caption_sets`.

    Raises:
        UsageError: no captions are requested, or the speaker cannot be used with this method.
        DataError: an image cannot be read, or the batch does not fit into memory.
    """
    if captions < 1:
        raise UsageError(f"a caption set has one caption or more, got {captions}")
    by_prompt = captions // max(1, len(prompts))
    method.check(speaker, by_prompt)

    @cache
    def near(count: int, least: int) -> Neighbours:
        if training is None:
            raise UsageError(f"{method} learns words' neighbours from training captions; give some")
        return near_words(training(), count, least)

    def captioned(start: int) -> Iterator[tuple[str, list[str]]]:
        """The sets of a batch, each behind its image's id."""
        part = images[start : start + batch]

        def pictures() -> list[Image.Image]:
            return [part.open(image) for image in part]

        def inputs() -> Seen:
            return speaker.see(pictures()) if features is None else features(torch.arange(start, start + len(part)))

        digests = (hashlib.sha256(image.id.encode()).digest() for image in part)
        chances = [np.random.default_rng([seed, int.from_bytes(digest[:16], "big")]) for digest in digests]
        image_batch = ImageBatch(inputs, pictures, chances, near)
        captions_of = [list[str]() for _ in part]
        for prompt in prompts or [""]:
            if prompt:
                cast("TransformersSpeaker", speaker).ask(prompt)
            for so_far, more in zip(captions_of, method.sets(speaker, image_batch, by_prompt), strict=True):
                so_far.extend(more)
        return zip((image.id for image in part), captions_of, strict=True)

    sets: dict[str, list[str]] = {}
    for start in range(0, len(images), batch):
        with enough_memory(f"{batch} images with {captions} captions each do not fit into memory; use a smaller batch"):
            sets |= captioned(start)
        progress(len(sets))
    return sets


def check_sees_changes(method: SetMethod, features: PathLike | None) -> None:
    """Raises `UsageError` for a method that changes images, if the features come from a file and cannot change."""
    if features is not None and method.alters_images:
        raise UsageError(
            f"{method.name} changes the images, and the captioner is given features of a file ({features}), "
            "which stay what they are; choose another method"
        )


TYPICAL, NEAREST = "most typical captions", "captions of the nearest images"
BLIND = {name: f"{name.replace(' ', '-')}.json" for name in (TYPICAL, NEAREST)}
"""The files of their sets in the folder of a sweep."""
_CAPTIONS, _IMAGES = 200, 300
"""How many training captions are tried, and on how many training images."""
_TOGETHER = 256


def blind_sets(
    images: CaptionedImages, split: str, number: int, run: RunFolder | None = None, cache: PathLike | None = None
) -> dict[str, dict[str, list[str]]]:
    """Sets of so many captions for the images of a split, by name, from the captions of the split `train`.

    Which images are near is what the features of the run's encoder say; without a run it is not known.
    """
    train, part = images.split("train"), images.split(split)
    typical = typical_captions(train, number)
    sets = {TYPICAL: {image.id: typical for image in part}}
    if run is not None:
        file, encoder = given_features(run.settings), run.encoder()
        of_train, of_part = (frozen_features(split_images, encoder, file, cache) for split_images in (train, part))
        sets[NEAREST] = nearest_captions(train, part, of_train, of_part, number)
    return sets


def typical_captions(train: CaptionedImages, number: int) -> list[str]:
    """The training captions, of a sample, with the highest mean CIDEr-D on a sample of the training images."""
    draws = random.Random(0)
    images = draws.sample(list(train), min(_IMAGES, len(train)))
    texts = sorted({text for image in train for text in image.references})
    tried = draws.sample(texts, min(_CAPTIONS, len(texts)))
    ids = [image.id for image in images]
    reward = CaptionReward({image.id: list(image.references) for image in images}, "cider-d", end=False)
    # Not as a reward is called, which would warn that a policy says the same of all images.
    words = dict(zip(tried, sacrecap.tokenize(tried), strict=True))
    means = {text: reward.rewards(CompletionBatch([tokens] * len(ids), ids)).mean() for text, tokens in words.items()}
    return sorted(tried, key=lambda text: -means[text])[:number]


def nearest_captions(
    train: CaptionedImages, part: CaptionedImages, of_train: FeatureRows, of_part: FeatureRows, number: int
) -> dict[str, list[str]]:
    """For each image the captions of the training images whose features have the greatest cosine with its own."""

    def directions(features: FeatureRows, rows: Tensor) -> Tensor:
        """(rows, D) vectors of length 1."""
        return torch.nn.functional.normalize(features(rows).pooled.cpu().flatten(1))

    of_all = torch.cat([directions(of_train, rows) for rows in torch.split(torch.arange(len(train)), _TOGETHER)])
    sets = {}
    for rows in torch.split(torch.arange(len(part)), _TOGETHER):
        likely = (directions(of_part, rows) @ of_all.T).topk(min(number, len(train))).indices.tolist()  # (B, k)
        for row, places in zip(rows.tolist(), likely, strict=True):
            copied = [text for place in places for text in train[place].references]
            sets[part[row].id] = copied[:number]
    return sets
