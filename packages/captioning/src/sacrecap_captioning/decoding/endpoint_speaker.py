"""Caption sets by a model behind an OpenAI-compatible endpoint: vLLM, SGLang, Ollama, llama.cpp, clouds.

An image's captions are answers to one question, or to several that share them out, with seeds that follow each other.
The endpoint keeps every answer in a database, so that nothing is asked twice, whatever breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sacrecap.errors import UsageError, warn
from sacrecap.resources.endpoint import Endpoint, Question
from sacrecap_captioning.decoding.methods import Beam, RandomSampling, SetMethod
from sacrecap_captioning.decoding.speaker import in_sets
from sacrecap_captioning.decoding.transformers_speaker import PROMPT
from sacrecap_captioning.models.search import Sampling

if TYPE_CHECKING:
    from sacrecap.data.captioned import CaptionedImage
    from sacrecap_captioning.data.captioned_images import CaptionedImages
CHUNK = 512
"""Questions that are asked together: what waits for an answer takes memory."""


def endpoint_sets(
    endpoint: Endpoint,
    images: CaptionedImages,
    method: SetMethod,
    *,
    captions: int,
    limit: int,
    seed: int,
    prompts: Sequence[str] = (PROMPT,),
    progress: Callable[[int], None] | None = None,
) -> dict[str, list[str]]:
    """Captions of each image, by image id; empty where the endpoint refuses one, of which a warning tells.

    Raises:
        UsageError: a method other than sampling with a temperature and top-p, or the likeliest answer to each prompt.
        SacrecapError: the endpoint does not answer, or the budget is spent; what was answered is kept.
    """
    each = captions // len(prompts)
    sampling = _sampling(method, each)
    sets: dict[str, list[str]] = {}
    ends: list[str] = []
    together = max(1, CHUNK // captions)
    for start in range(0, len(images), together):
        chunk = images[start : start + together]
        questions = [
            Question(
                prompts[number // each],
                images=(partial(_bytes, images, image),),
                tokens=limit,
                temperature=sampling.temperature,
                top_p=sampling.nucleus,
                seed=seed + number if sampling.temperature else None,
            )
            for image in chunk
            for number in range(captions)
        ]
        answers = endpoint.ask(questions)
        ends += [answer.end for answer in answers]
        said = (answer.text if answer.end in {"stop", "length"} else "" for answer in answers)
        made = in_sets([" ".join(text.split()) for text in said], captions)
        sets |= zip((image.id for image in chunk), made, strict=True)
        if progress is not None:
            progress(len(sets))
    unsaid = len(ends) - ends.count("stop") - ends.count("length")
    if unsaid:
        warn(f"{unsaid:,} of {len(ends):,} captions are empty: the endpoint refused them, or did not accept the image")
    tell_of_cut(ends.count("length"), len(ends), limit)
    return sets


def tell_of_cut(cut: int, captions: int, limit: int) -> None:
    """Warns of captions that were cut at the limit."""
    if cut:
        warn(f"{cut:,} of {captions:,} captions were cut at {limit} tokens; give a larger --limit")


def _bytes(images: CaptionedImages, image: CaptionedImage) -> bytes:
    """The file of an image, as it is."""
    if images.files is None:
        raise UsageError("an endpoint looks at images, and only their features are known")
    return images.files.read(image.file)


def _sampling(method: SetMethod, captions: int) -> Sampling:
    """How words are drawn, for this many captions by one prompt; the temperature 0 is for the likeliest answer."""
    if isinstance(method, RandomSampling) and not method.top_k:
        return Sampling(method.temperature, nucleus=method.nucleus)
    if isinstance(method, Beam) and captions == 1:
        return Sampling(0.0)
    raise UsageError(
        "an endpoint samples with a temperature and top-p, rs(temperature=0.7, nucleus=0.9), or gives the likeliest "
        f"answer to each prompt, --method beam --captions 1; got {method} for {captions} captions by a prompt"
    )
