"""A vision-language checkpoint of a few thousand weights, with its processor and chat template, made on the spot."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sacrecap.errors import MissingDependencyError

PAD, END, UNKNOWN, IMAGE = "<pad>", "<eos>", "<unk>", "<image>"
TEMPLATE = (
    "{% for m in messages %}{{ m['role'].upper() }} {% if m['content'] is string %}{{ m['content'] }} {% else %}"
    "{% for p in m['content'] %}{% if p['type'] == 'image' %}<image> {% else %}{{ p['text'] }} {% endif %}{% endfor %}"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}ASSISTANT {% endif %}"
)


def write_tiny_llava(folder: Path, captions: Iterable[str]) -> Path:
    """Saves a LLaVA with random weights whose words are those of the captions."""
    try:
        import torch
        from tokenizers import Tokenizer, models, pre_tokenizers
        from transformers import (
            CLIPImageProcessor,
            CLIPVisionConfig,
            LlamaConfig,
            LlavaConfig,
            LlavaForConditionalGeneration,
            LlavaProcessor,
            PreTrainedTokenizerFast,
        )
    except ModuleNotFoundError as error:
        raise MissingDependencyError("a vision-language checkpoint", extra="learned") from error

    special = [PAD, END, UNKNOWN, IMAGE]
    words = sorted({"USER", "ASSISTANT", "describe", "this", "image", *(w for text in captions for w in text.split())})
    vocabulary = {word: number for number, word in enumerate([*special, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens([IMAGE, PAD, END])
    fast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call, unused-ignore]
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        extra_special_tokens={"image_token": IMAGE},
    )
    small: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    torch.manual_seed(0)
    model = LlavaForConditionalGeneration(
        LlavaConfig(  # type: ignore[call-arg, unused-ignore]
            vision_config=CLIPVisionConfig(
                **small, num_hidden_layers=2, image_size=28, patch_size=14, projection_dim=16
            ),
            text_config=LlamaConfig(
                **small,
                vocab_size=len(vocabulary),
                num_hidden_layers=1,
                max_position_embeddings=64,
                pad_token_id=0,
                eos_token_id=1,
                bos_token_id=1,
            ),
            image_token_index=3,
            image_token_id=3,
        )
    )
    if model.generation_config is None:
        raise TypeError("a model of this kind has a configuration of generation")
    model.generation_config.suppress_tokens = [vocabulary[IMAGE]]  # random weights would say it
    model.save_pretrained(folder)
    LlavaProcessor(  # type: ignore[no-untyped-call, unused-ignore]
        CLIPImageProcessor(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}),
        fast,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE,
        image_token=IMAGE,
        num_additional_image_tokens=1,
    ).save_pretrained(folder)
    return folder
