"""Vision-language checkpoints: a tiny LLaVA with a chat template, its prompt, its batches."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import speakers
import torch

from sacrecap.errors import UsageError
from sacrecap.example.tiny_llava import write_tiny_llava
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.generation import TransformersSpeaker, caption_sets, make_sets
from sacrecap_captioning.set_methods import set_method

CAPTIONS = ["a red circle left of a blue square", "Describe this image in one sentence ."]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llava(tmp_path_factory.mktemp("llava"), CAPTIONS)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> CaptionedImages:
    return speakers.scenes(tmp_path_factory.mktemp("scenes"))


@pytest.mark.parametrize("method", ["rs", "beam", "diverse-beam", "rci"])
def test_sets_do_not_hold_the_question_and_are_the_same_whatever_the_batch(
    checkpoint: Path, images: CaptionedImages, method: str
) -> None:
    speaker = TransformersSpeaker(str(checkpoint), limit=5)

    def made(batch: int) -> dict[str, list[str]]:
        return make_sets(set_method(method), speaker, images[:4], captions=2, seed=1, batch=batch)

    sets = made(4)
    assert made(1) == made(3) == sets
    said = [caption for captions in sets.values() for caption in captions]
    assert all(len(caption.split()) <= 5 for caption in said)
    assert not any("Describe this image" in caption for caption in said)
    assert len(set(said)) > 1


def test_plain_sampling_is_of_the_model_s_own_distribution(checkpoint: Path, images: CaptionedImages) -> None:
    """Whatever its configuration adds for those who generate with the library alone."""
    speaker = TransformersSpeaker(str(checkpoint), limit=8)

    def made() -> dict[str, list[str]]:
        return make_sets(set_method("rs"), speaker, images[:3], captions=3, seed=1)

    plain = made()
    configuration = speaker._model.generation_config
    configuration.update(temperature=0.3, top_k=2, top_p=0.4, min_p=0.3, typical_p=0.4, repetition_penalty=5.0)
    configuration.update(epsilon_cutoff=0.2, eta_cutoff=0.2, no_repeat_ngram_size=1, min_new_tokens=7)
    assert made() == plain


def test_captions_that_are_cut_are_counted(checkpoint: Path, images: CaptionedImages) -> None:
    speaker = TransformersSpeaker(str(checkpoint))
    assert speaker.limit == 64
    sets = make_sets(set_method("rs"), speaker, images[:4], captions=5, seed=1)
    whole = [len(caption.split()) for captions in sets.values() for caption in captions]
    assert (speaker.captions, speaker.cut) == (20, sum(words == 64 for words in whole))
    short = TransformersSpeaker(str(checkpoint), limit=1)
    assert make_sets(set_method("beam"), short, images[:4], captions=1, seed=1)
    assert (short.captions, short.cut) == (4, 4)


def test_the_prompt_and_the_numbers_of_the_weights_matter(
    checkpoint: Path, images: CaptionedImages, tmp_path: Path
) -> None:
    usual, other = TransformersSpeaker(str(checkpoint)), TransformersSpeaker(str(checkpoint))
    other.ask("a red circle")
    pictures = [images.open(images[0])]
    assert usual.see(pictures)["input_ids"].shape[1] > other.see(pictures)["input_ids"].shape[1]
    assert torch.equal(usual.see(pictures)["pixel_values"], other.see(pictures)["pixel_values"])
    shutil.copytree(checkpoint, tmp_path / "half")
    usual._model.to(torch.float16).save_pretrained(tmp_path / "half")
    half = TransformersSpeaker(str(tmp_path / "half"))
    assert half.see(pictures)["pixel_values"].dtype == half._model.dtype == torch.float16
    assert len(make_sets(set_method("rs"), half, images[:1], captions=2)[images[0].id]) == 2


def test_several_prompts_share_out_the_captions(checkpoint: Path, images: CaptionedImages) -> None:
    """Each prompt's captions are those of the prompt alone, where nothing is drawn."""
    prompts = ["a red circle", "Describe this image in one sentence."]
    speaker = TransformersSpeaker(str(checkpoint), limit=6)

    def made(prompts: list[str], captions: int, method: str = "beam") -> list[list[str]]:
        sets = make_sets(set_method(method), speaker, images[:3], captions=captions, prompts=prompts)
        return list(sets.values())

    apart = [made([prompt], 2) for prompt in prompts]
    assert made(prompts, 4) == [[*one, *other] for one, other in zip(*apart, strict=True)]
    assert {len(captions) for captions in made(prompts, 4, "rs")} == {4}
    with pytest.raises(UsageError, match="2 prompts cannot share out 3 captions"):
        caption_sets(str(checkpoint), images, captions=3, prompts=prompts)
