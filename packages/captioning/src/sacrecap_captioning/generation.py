"""Caption sets of images: by the captioner of a run folder, a checkpoint of transformers, or an endpoint.

captioner_sets("runs/att2in", method="rs(temperature=0.7)", captions=10, seed=1)
checkpoint_sets("Salesforce/blip-image-captioning-base", images_to_caption("photos"), method="beam")
endpoint_sets(Endpoint("http://localhost:8000/v1", "qwen2.5-vl"), images_to_caption("photos/*.jpg"))

Two kinds of sets need no captioner, and every captioner has to beat them: captions for any image, and copied ones.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import torch
from torch import Tensor

import sacrecap
from sacrecap import Endpoint
from sacrecap.errors import UsageError, warn
from sacrecap.resources.endpoint import Question
from sacrecap.rewards import CaptionReward
from sacrecap.rewards.completions import CompletionBatch
from sacrecap.vision.devices import choose_device
from sacrecap_captioning.captioned_images import CaptionedImages, given_features, images_of_run
from sacrecap_captioning.captioner import Sampling
from sacrecap_captioning.encoders import Encoder, FeatureRows, enough_memory
from sacrecap_captioning.run_folder import RunFolder
from sacrecap_captioning.set_methods import (
    Beam,
    ImageBatch,
    Neighbours,
    RandomSampling,
    SetMethod,
    Speaker,
    TrainedSpeaker,
    in_sets,
    near_words,
    set_method,
)
from sacrecap_captioning.settings import PathLike
from sacrecap_captioning.training_data import frozen_features, tokenised
from sacrecap_captioning.transformers_speaker import CHAT_LIMIT, PROMPT, TransformersSpeaker

if TYPE_CHECKING:
    from PIL.Image import Image

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the current step, the number of finished images, and the number of all images."""


def captioner_sets(
    run: RunFolder | PathLike,
    images: CaptionedImages | None = None,
    *,
    split: str = "test",
    method: str | SetMethod = "rs",
    captions: int = 10,
    limit: int | None = None,
    seed: int = 0,
    batch: int = 32,
    device: str = "auto",
    cache: PathLike | None = None,
    progress: Progress | None = None,
) -> dict[str, list[str]]:
    """Caption sets by image id, of a captioner of `sacrecap caption train`.

    Args:
        run: the captioner, or its folder.
        images: of all splits, from `images_to_caption`; those of the run by default.
        split: whose images are captioned; methods that learn do so from the captions of the split `train`.
        method: a way to make caption sets, as `set_method` reads it.
        captions: number per image.
        limit: most words of a caption; by default as in training.
        seed: of everything random.
        batch: images at a time.
        device: `cpu`, `cuda`, `cuda:1`; `auto` is the GPU when there is one.
        cache: folder of the features of frozen encoders; the user's cache folder by default.
        progress: called while features are read, and captions made.

    Raises:
        UsageError: a name or number that is not accepted, or a captioner that cannot be used with the method.
        DataError: the captioner or the data set does not exist or is damaged.
    """
    chosen, place = set_method(method), choose_device(device)
    run = run if isinstance(run, RunFolder) else RunFolder.open(run)
    settings = run.settings
    check_sees_changes(chosen, settings.features)
    images = images_of_run(run.path, settings, split=split) if images is None else images
    part, encoder = images.split(split), run.encoder().to(place)
    speaker = TrainedSpeaker(
        run.captioner().to(place),
        run.vocabulary,
        # As in validation: one more than the words in training, for the end.
        limit=limit or settings.length + 1,
        encoder=encoder if isinstance(encoder, Encoder) else None,
    )
    chosen.check(speaker, captions)
    features = None
    if not (settings.train_encoder or chosen.alters_images):
        read = _counted(progress, "reading", part)
        features = frozen_features(part, encoder, given_features(settings), cache, read)
    return make_sets(
        chosen,
        speaker,
        part,
        features=features,
        training=partial(_training_captions, images, settings.tokenizer),
        captions=captions,
        seed=seed,
        batch=batch,
        progress=_counted(progress, "captioning", part),
    )


def checkpoint_sets(
    name: PathLike,
    images: CaptionedImages,
    *,
    split: str = "test",
    method: str | SetMethod = "rs",
    captions: int = 10,
    limit: int | None = None,
    seed: int = 0,
    batch: int = 32,
    device: str = "auto",
    prompts: Sequence[str] = (),
    progress: Progress | None = None,
) -> dict[str, list[str]]:
    """Caption sets by image id, of an image-to-text checkpoint of transformers: its folder, or owner/name on the hub.

    Arguments and errors are those of `captioner_sets`; but `limit` counts tokens, by default 64 with a chat template,
    else 20, and `prompts` are questions to a vision-language model, which share out the captions of a set, by default
    one for a sentence about the image.
    """
    check_shared_out(captions, prompts)
    chosen, part = set_method(method), images.split(split)
    speaker = TransformersSpeaker(str(name), limit=limit, device=choose_device(device), prompted=bool(prompts))
    sets = make_sets(
        chosen,
        speaker,
        part,
        training=partial(_training_captions, images),
        captions=captions,
        seed=seed,
        batch=batch,
        prompts=prompts,
        progress=_counted(progress, "captioning", part),
    )
    _warn_of_cut(speaker.cut, speaker.captions, speaker.limit)
    return sets


CHUNK = 512
"""Questions that are put to an endpoint together: what waits for an answer takes memory."""


def endpoint_sets(
    endpoint: Endpoint,
    images: CaptionedImages,
    *,
    split: str = "test",
    method: str | SetMethod = "rs",
    captions: int = 10,
    limit: int | None = None,
    seed: int = 0,
    prompts: Sequence[str] = (),
    progress: Progress | None = None,
) -> dict[str, list[str]]:
    """Caption sets by image id, of a model behind an OpenAI-compatible endpoint: vLLM, SGLang, Ollama, clouds.

    An image's captions are answers to one question, or to several that share them out, with seeds that follow each
    other. The endpoint keeps every answer in a database, so that nothing is asked twice, whatever breaks. A caption is
    empty where the endpoint refuses it, of which a warning tells. Arguments are those of `checkpoint_sets`.

    Raises:
        UsageError: a method other than sampling with a temperature and top-p, or the likeliest answer to each prompt.
        SacrecapError: the endpoint does not answer, or the budget is spent.
    """
    check_shared_out(captions, prompts)
    questions, limit, part = prompts or (PROMPT,), limit or CHAT_LIMIT, images.split(split)
    by_prompt, chosen = captions // len(questions), set_method(method)
    if isinstance(chosen, RandomSampling) and not chosen.top_k:
        sampling = Sampling(chosen.temperature, nucleus=chosen.nucleus)
    elif isinstance(chosen, Beam) and by_prompt == 1:
        sampling = Sampling(0.0)  # the likeliest answer
    else:
        raise UsageError(
            "an endpoint samples with a temperature and top-p, rs(temperature=0.7, nucleus=0.9), or gives the "
            f"likeliest answer to each prompt, --method beam --captions 1; got {chosen} for {by_prompt} captions by a "
            "prompt"
        )
    counted = _counted(progress, "captioning", part)
    sets: dict[str, list[str]] = {}
    ends: list[str] = []
    together = max(1, CHUNK // captions)
    for start in range(0, len(part), together):
        chunk = part[start : start + together]
        answers = endpoint.ask(
            [
                Question(
                    questions[number // by_prompt],
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
        if counted is not None:
            counted(len(sets))
    refused = len(ends) - ends.count("stop") - ends.count("length")
    if refused:
        warn(f"{refused:,} of {len(ends):,} captions are empty: the endpoint refused them, or did not accept the image")
    _warn_of_cut(ends.count("length"), len(ends), limit)
    return sets


def _warn_of_cut(cut: int, captions: int, limit: int) -> None:
    if cut:
        warn(f"{cut:,} of {captions:,} captions were cut at {limit} tokens; give a larger --limit")


def _counted(progress: Progress | None, step: str, images: CaptionedImages) -> Callable[[int], None] | None:
    """Tells the number of finished images of a step."""
    return None if progress is None else lambda finished: progress(step, finished, len(images))


def _training_captions(images: CaptionedImages, tokenizer: str = "ptb") -> list[list[str]]:
    """The tokenised captions of the split `train`."""
    return [list(text) for image in tokenised(images.split("train"), tokenizer) for text in image]


def check_shared_out(captions: int, prompts: Sequence[str]) -> None:
    """Raises `UsageError` if the prompts cannot share out the captions."""
    if prompts and captions % len(prompts):
        raise UsageError(f"{len(prompts)} prompts cannot share out {captions} captions; give a multiple (--captions)")


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
    progress: Callable[[int], None] | None = None,
) -> dict[str, list[str]]:
    """Several captions of each image, by image id.

    An image's captions depend on the speaker, the method, the seed and the image, not on the batch (up to what rounding
    does to nearly equal likelihoods).

    `features` are of these images in their order, where they are known; else images are opened and encoded. `training`
    gives the tokenised training captions, for methods that learn from them. `prompts` is what a `TransformersSpeaker`
    is asked, in turn: each for as many captions of a set. `progress` is called with the number of finished images.
    Other arguments are those of `captioner_sets`.

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

    sets: dict[str, list[str]] = {}
    too_large = f"{batch} images with {captions} captions each do not fit into memory; use a smaller batch"
    for start in range(0, len(images), batch):
        part = images[start : start + batch]
        pictures = partial(_opened, part)
        if features is None:
            inputs = partial(_seen, speaker, part)
        else:
            inputs = partial(features, torch.arange(start, start + len(part)))
        chances = [_chance(seed, image.id) for image in part]
        with enough_memory(too_large):
            image_batch = ImageBatch(inputs, pictures, chances, near)
            captions_of = [list[str]() for _ in part]
            for prompt in prompts or [""]:
                if prompt:
                    cast("TransformersSpeaker", speaker).ask(prompt)
                for so_far, more in zip(captions_of, method.sets(speaker, image_batch, by_prompt), strict=True):
                    so_far.extend(more)
        sets |= zip((image.id for image in part), captions_of, strict=True)
        if progress is not None:
            progress(len(sets))
    return sets


def _opened(images: CaptionedImages) -> list[Image]:
    return [images.open(image) for image in images]


def _seen(speaker: Speaker, images: CaptionedImages) -> Any:
    return speaker.see(_opened(images))


def _chance(seed: int, image: str) -> np.random.Generator:
    """The generator of an image's random numbers."""
    digest = hashlib.sha256(image.encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:16], "big")])


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
