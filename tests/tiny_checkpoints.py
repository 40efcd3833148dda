"""Checkpoints of a few thousand random weights, with their tokenizers, as `save_pretrained` writes them."""

# ruff: noqa: S106

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

WORDS = """
    a the dog dogs runs run running on beach red bus two birds cats city city's long way with and in of at is along
    brown yellow . , A photo depicts
""".split()
SMALL = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4}


def words_tokenizer(special: Iterable[str], begin: str, end: str, words: Iterable[str] = WORDS, **roles: str) -> Any:
    """A tokenizer of whole words, between two special tokens; its vocabulary begins with the special ones."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = list(special)
    vocabulary = {word: number for number, word in enumerate([*special, *dict.fromkeys(words)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=roles["unk_token"]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, vocabulary[begin]), (end, vocabulary[end])]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **roles)


def write_clip(folder: Path, *, positions: int = 77, seed: int = 0) -> Path:
    """A CLIP that reads so many tokens and images of 28 by 28."""
    import torch
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel

    tokenizer = words_tokenizer(
        ["<pad>", "<unk>", "<start>", "<end>"],
        "<start>",
        "<end>",
        pad_token="<pad>",
        unk_token="<unk>",
        bos_token="<start>",
        eos_token="<end>",
        model_max_length=positions,
    )
    torch.manual_seed(seed)
    text = {
        **SMALL,
        "vocab_size": len(tokenizer),
        "num_hidden_layers": 2,
        "max_position_embeddings": positions,
        "bos_token_id": 2,
        "eos_token_id": 3,
        "pad_token_id": 0,
    }
    vision = {**SMALL, "num_hidden_layers": 2, "image_size": 28, "patch_size": 14}
    model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=24))
    spread(model)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    CLIPImageProcessor(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}).save_pretrained(folder)
    return folder


def write_owl(folder: Path) -> Path:
    """An OWLv2 that reads images of 32 by 32."""
    import torch
    from transformers import Owlv2Config, Owlv2ForObjectDetection, Owlv2ImageProcessor, Owlv2Processor

    special = ["<pad>", "<unk>", "<start>", "<end>"]
    roles = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<start>", "eos_token": "<end>"}
    tokenizer = words_tokenizer(special, "<start>", "<end>", model_max_length=16, **roles)
    torch.manual_seed(6)
    ids = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0, "max_position_embeddings": 16}
    text = {**SMALL, "vocab_size": len(tokenizer), "num_hidden_layers": 1, **ids}
    vision = {**SMALL, "num_hidden_layers": 1, "image_size": 32, "patch_size": 16}
    model = Owlv2ForObjectDetection(Owlv2Config(text_config=text, vision_config=vision, projection_dim=32))
    model.save_pretrained(folder)
    size = {"height": 32, "width": 32}
    Owlv2Processor(Owlv2ImageProcessor(size=size), tokenizer).save_pretrained(folder)
    return folder


def spread(model: Any) -> None:
    """Makes the random weights larger: else all captions would be alike."""
    import torch

    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "embedding" not in name:
                weights.mul_(8)


def write_siglip(folder: Path, *, seed: int = 4) -> Path:
    """A SigLIP, whose texts are filled up to twelve tokens."""
    import torch
    from transformers import SiglipConfig, SiglipImageProcessor, SiglipModel

    tokenizer = words_tokenizer(
        ["<pad>", "<unk>", "<start>", "<end>"],
        "<start>",
        "<end>",
        pad_token="<pad>",
        unk_token="<unk>",
        eos_token="<end>",
        model_max_length=12,
    )
    torch.manual_seed(seed)
    text = {
        **SMALL,
        "vocab_size": len(tokenizer),
        "num_hidden_layers": 2,
        "max_position_embeddings": 12,
        "bos_token_id": 2,
        "eos_token_id": 3,
        "pad_token_id": 0,
        "projection_size": 32,
    }
    vision = {**SMALL, "num_hidden_layers": 2, "image_size": 28, "patch_size": 14}
    model = SiglipModel(SiglipConfig(text_config=text, vision_config=vision))
    spread(model)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    SiglipImageProcessor(size={"height": 28, "width": 28}).save_pretrained(folder)
    return folder


def write_bert(folder: Path, *, positions: int = 16) -> Path:
    """A BERT of four layers."""
    import torch
    from transformers import BertConfig, BertModel

    tokenizer = words_tokenizer(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]"],
        "[CLS]",
        "[SEP]",
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=positions,
    )
    torch.manual_seed(2)
    config = BertConfig(
        **SMALL,
        vocab_size=len(tokenizer),
        num_hidden_layers=4,
        max_position_embeddings=positions,
        initializer_range=0.3,
    )
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def write_roberta(folder: Path) -> Path:
    """A RoBERTa of two layers, whose tokens are pieces of words with the blank before them, and which reads 20."""
    import torch
    from tokenizers import ByteLevelBPETokenizer, processors
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

    pieces = ByteLevelBPETokenizer()
    pieces.train_from_iterator(
        [" ".join(WORDS)] * 2, vocab_size=360, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False
    )
    pieces._tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces._tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
    )
    torch.manual_seed(3)
    config = RobertaConfig(
        **SMALL,
        vocab_size=len(tokenizer),
        num_hidden_layers=2,
        max_position_embeddings=22,
        pad_token_id=1,
        type_vocab_size=1,
        initializer_range=0.3,
    )
    RobertaModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def write_images(folder: Path, names: Iterable[str]) -> Path:
    """An image of coloured rectangles for each name."""
    import random

    from PIL import Image

    folder.mkdir(exist_ok=True)
    for name in names:
        chance = random.Random(name)
        image = Image.new("RGB", (chance.randrange(30, 60), 40), "white")
        for _ in range(6):
            left, top = chance.randrange(30), chance.randrange(25)
            image.paste(tuple(chance.randrange(256) for _ in range(3)), (left, top, left + 12, top + 14))
        image.save(folder / f"{name}.png")
    return folder
