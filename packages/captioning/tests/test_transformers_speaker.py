"""Caption sets from tiny checkpoints of transformers with random weights: BLIP, GIT, vision-encoder-decoder."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import speakers
import torch
import transformers
from transformers.utils import logging

from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.generation import TransformersSpeaker, make_sets
from sacrecap_captioning.set_methods import set_method
from sets import score

SAID = ["a", "the", "red", "blue", "green", "circle", "square", "ring", "on", "left", "right", "of", "and"]
WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", *SAID]
TEXT = {
    "vocab_size": len(WORDS),
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
VISION = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "image_size": 32,
    "patch_size": 16,
}


def blip() -> Any:
    text = {**TEXT, "sep_token_id": 2, "encoder_hidden_size": 16, "is_decoder": True}
    config = transformers.BlipConfig(text_config=text, vision_config=VISION, projection_dim=16)
    return transformers.BlipForConditionalGeneration(config), transformers.BlipImageProcessor


def git() -> Any:
    return transformers.GitForCausalLM(
        transformers.GitConfig(vision_config=VISION, **TEXT)
    ), transformers.CLIPImageProcessor


def vision_encoder_decoder() -> Any:
    decoder = transformers.BertConfig(**TEXT, is_decoder=True, add_cross_attention=True)
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(
        transformers.ViTConfig(**VISION), decoder
    )
    config.decoder_start_token_id, config.pad_token_id, config.eos_token_id = 1, 0, 2
    return transformers.VisionEncoderDecoderModel(config), transformers.ViTImageProcessor


@pytest.fixture(scope="module", params=[blip, git, vision_encoder_decoder], ids=lambda make: make.__name__)
def checkpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `save_pretrained` writes it."""
    folder = tmp_path_factory.mktemp(request.param.__name__)
    torch.manual_seed(1)
    logging.disable_progress_bar()
    model, processor = request.param()
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(4)  # sharp enough that captions differ
    model.save_pretrained(folder)
    size = {"height": 32, "width": 32} if processor is not transformers.CLIPImageProcessor else {"shortest_edge": 32}
    processor(size=size, crop_size={"height": 32, "width": 32}).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def speaker(checkpoint: Path) -> TransformersSpeaker:
    return TransformersSpeaker(str(checkpoint), limit=6)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> CaptionedImages:
    return speakers.scenes(tmp_path_factory.mktemp("scenes"))


# What a method does to images or words is the same for all checkpoints; how words are drawn and searched is theirs.
METHODS = ["rs", "beam", "diverse-beam", "rs(temperature=0.5, top_k=5)", "rci", "gnc", "ss"]
PAIRS = [
    *((blip, text) for text in METHODS),
    *((make, text) for make in (git, vision_encoder_decoder) for text in METHODS[:3]),
]


@pytest.mark.parametrize(
    ("checkpoint", "text"), PAIRS, indirect=["checkpoint"], ids=lambda each: getattr(each, "__name__", each)
)
def test_sets_are_valid_and_the_same_whatever_the_batch(
    text: str, speaker: TransformersSpeaker, images: CaptionedImages
) -> None:
    def made(batch: int) -> dict[str, list[str]]:
        training = partial(speakers.tokens, images)
        return make_sets(set_method(text), speaker, images[:4], captions=3, seed=1, batch=batch, training=training)

    sets = made(4)
    assert list(sets) == [image.id for image in images[:4]]
    assert all(len(captions) == 3 for captions in sets.values())
    if text != "ss":
        assert {word for captions in sets.values() for caption in captions for word in caption.split()} <= set(
            WORDS[4:]
        )
    assert made(3) == sets  # a batch of three, and one of one
    assert 0 <= score(sets)["self-cider"].value <= 1


def test_samples_follow_the_model(speaker: TransformersSpeaker, images: CaptionedImages) -> None:
    cold = make_sets(set_method("rs(temperature=0.0001)"), speaker, images[:3], captions=1)
    greedy = make_sets(set_method("gnc(sigma=0)"), speaker, images[:3], captions=1)
    narrow = make_sets(set_method("rs(top_k=1)"), speaker, images[:3], captions=1)
    assert cold == greedy == narrow


def test_first_words_come_as_often_as_they_are_likely(speaker: TransformersSpeaker, images: CaptionedImages) -> None:
    said = make_sets(set_method("rs"), speaker, images[:1], captions=1500)[images[0].id]
    firsts = Counter((caption.split() or [""])[0] for caption in said)
    seen = speaker.see([images.open(images[0])])
    settings = {"max_new_tokens": 1, "output_logits": True, "return_dict_in_generate": True}
    likely = speaker._model.generate(**seen, **settings).logits[0][0].softmax(0)
    assert max(likely[len(WORDS) - len(SAID) :]) > 0.01
    for number, word in enumerate(WORDS):
        if word in SAID:  # others are not text
            later = firsts[word] / 1500
            assert later >= float(likely[number]) - 0.03


def test_groups_avoid_each_others_first_words(speaker: TransformersSpeaker, images: CaptionedImages) -> None:
    free = make_sets(set_method("diverse-beam(penalty=0)"), speaker, images[:3], captions=4)
    assert all(len(set(captions)) == 1 for captions in free.values())
    costly = make_sets(set_method("diverse-beam(penalty=1000)"), speaker, images[:3], captions=4)
    firsts = [[caption.split()[0] for caption in captions if caption] for captions in costly.values()]
    assert all(len(set(first)) == len(first) for first in firsts)


def test_groups_of_several_captions_are_refused(speaker: TransformersSpeaker, images: CaptionedImages) -> None:
    with pytest.raises(UsageError, match="one group per caption, got 2 groups for 4 captions"):
        make_sets(set_method("diverse-beam(groups=2)"), speaker, images, captions=4)


def test_a_checkpoint_has_no_latent_vector(speaker: TransformersSpeaker, images: CaptionedImages) -> None:
    with pytest.raises(UsageError, match="which a checkpoint does not have; these do: cvae, gmm-cvae, cgan; try rs"):
        make_sets(set_method("drv"), speaker, images)


def test_what_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no image-to-text checkpoint .* it needs config.json"):
        TransformersSpeaker(str(tmp_path))
