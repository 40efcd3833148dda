"""Vision models of transformers as encoders: tiny ViT, CLIP, DINOv2 with registers, SigLIP, ConvNeXt, ResNet."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from PIL import Image
from transformers.utils import logging

from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap_captioning.encoders import Encoder, load_encoder, to_pixels
from sacrecap_captioning.generation import caption_sets
from sacrecap_captioning.scenes import write_scenes
from sacrecap_captioning.settings import Settings
from sacrecap_captioning.training import train
from sacrecap_captioning.training_run import RunFolder

SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "image_size": 32,
    "patch_size": 8,
}
TEXT = {"vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}


def vit() -> Any:
    return transformers.ViTModel(transformers.ViTConfig(**SIZES)), transformers.ViTImageProcessor


def clip() -> Any:
    config = transformers.CLIPConfig(text_config=TEXT, vision_config=SIZES, projection_dim=8)
    return transformers.CLIPModel(config), transformers.CLIPImageProcessor


def siglip() -> Any:
    config = transformers.SiglipConfig(text_config=TEXT, vision_config=SIZES)
    return transformers.SiglipModel(config), transformers.SiglipImageProcessor


def dinov2() -> Any:
    config = transformers.Dinov2WithRegistersConfig(**SIZES, num_register_tokens=3)
    return transformers.Dinov2WithRegistersModel(config), transformers.BitImageProcessor


def convnext() -> Any:
    config = transformers.ConvNextConfig(hidden_sizes=[4, 4, 8, 16], depths=[1, 1, 1, 1], image_size=32, patch_size=4)
    return transformers.ConvNextModel(config), transformers.ConvNextImageProcessor


def resnet() -> Any:
    config = transformers.ResNetConfig(embedding_size=4, hidden_sizes=[4, 4, 8, 16], depths=[1, 1, 1, 1])
    return transformers.ResNetModel(config), transformers.ConvNextImageProcessor


def save(make: Callable[[], Any], folder: Path) -> Path:
    torch.manual_seed(1)
    logging.disable_progress_bar()
    model, processor = make()
    model.save_pretrained(folder)
    size = {"height": 32, "width": 32} if make in (vit, siglip) else {"shortest_edge": 32}
    processor(
        size=size, crop_size={"height": 32, "width": 32}, image_mean=[0.1, 0.2, 0.3], image_std=[0.4, 0.5, 0.6]
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Callable[[], Any]], Path]:
    """The folder of each, saved once."""
    saved: dict[Callable[[], Any], Path] = {}

    def folder(make: Callable[[], Any]) -> Path:
        if make not in saved:
            saved[make] = save(make, tmp_path_factory.mktemp(make.__name__))
        return saved[make]

    return folder


@pytest.mark.parametrize(
    ("make", "regions"), [(vit, 16), (clip, 16), (siglip, 16), (dinov2, 16), (convnext, 1), (resnet, 1)]
)
def test_patches_and_pooled_vector(make: Callable[[], Any], regions: int, checkpoint: Any) -> None:
    folder = checkpoint(make)
    encoder = load_encoder(str(folder)).eval()
    assert (encoder.side, encoder.feature) == (32, 16)
    pixels = torch.rand(2, 3, 32, 32)
    found = encoder(pixels)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tower = getattr(model, "vision_model", model)
    colours = torch.tensor([0.1, 0.2, 0.3]).view(3, 1, 1), torch.tensor([0.4, 0.5, 0.6]).view(3, 1, 1)
    expected = tower(pixel_values=(pixels - colours[0]) / colours[1])
    hidden = expected.last_hidden_state
    if hidden.ndim == 4:
        hidden = hidden.flatten(2).transpose(1, 2)
    torch.testing.assert_close(found.grid, hidden[:, -regions:])
    torch.testing.assert_close(found.pooled, expected.pooler_output.flatten(1))


def save_of_timm(architecture: str, side: int, folder: Path, **arguments: Any) -> Path:
    """Random weights, as the checkpoints of timm on the hub are saved."""
    pytest.importorskip("timm")
    torch.manual_seed(1)
    logging.disable_progress_bar()
    colours = {"mean": [0.1, 0.2, 0.3], "std": [0.4, 0.5, 0.6]}
    config = transformers.TimmWrapperConfig(
        architecture=architecture,
        num_classes=0,
        model_args=arguments,
        pretrained_cfg={"architecture": architecture, "input_size": [3, side, side], **colours},
    )
    transformers.TimmWrapperModel(config).save_pretrained(folder)
    return folder


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("architecture", "side", "feature", "regions", "arguments"),
    [
        ("vgg11", 64, 512, 4, {"mlp_ratio": 0.001}),
        pytest.param("inception_v3", 75, 2048, 1, {}, marks=pytest.mark.soak),
        ("vit_tiny_patch16_224", 32, 16, 4, {"embed_dim": 16, "depth": 1, "num_heads": 2, "img_size": 32}),
    ],
)
def test_models_of_timm(
    architecture: str, side: int, feature: int, regions: int, arguments: dict[str, Any], tmp_path: Path
) -> None:
    """The pixels are normalised as the checkpoint says, at its size and at another."""
    folder = save_of_timm(architecture, side, tmp_path, **arguments)
    encoder = load_encoder(str(folder)).eval()
    assert (encoder.side, encoder.feature) == (side, feature)
    pixels = torch.rand(2, 3, side, side)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    colours = torch.tensor([0.1, 0.2, 0.3]).view(3, 1, 1), torch.tensor([0.4, 0.5, 0.6]).view(3, 1, 1)
    hidden = model(pixel_values=(pixels - colours[0]) / colours[1]).last_hidden_state
    hidden = hidden.flatten(2).transpose(1, 2) if hidden.ndim == 4 else hidden
    torch.testing.assert_close(encoder(pixels).grid, hidden[:, -regions:])
    assert encoder(pixels).grid.shape == (2, regions, feature)
    if architecture == "vgg11":
        other = load_encoder(str(folder), side=96)
        assert other.mean.flatten().tolist() == pytest.approx([0.1, 0.2, 0.3])
        assert other(torch.rand(1, 3, 96, 96)).grid.shape == (1, 9, 512)


@pytest.mark.filterwarnings("ignore")
def test_without_timm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save_of_timm("vgg11", 32, tmp_path, mlp_ratio=0.001)

    def load(*_: Any, **__: Any) -> Any:
        raise ImportError("TimmWrapperModel requires the timm library but it was not found")

    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", load)
    with pytest.raises(MissingDependencyError, match="is a model of timm, which is not installed: pip install timm"):
        load_encoder(str(folder))


def test_other_sides_interpolate_the_places_of_patches(checkpoint: Any) -> None:
    found = load_encoder(str(checkpoint(vit)), side=48)(torch.rand(1, 3, 48, 48))
    assert found.grid.shape == (1, 36, 16)
    with pytest.raises(UsageError, match="pictures of 4 × 4 pixels are too small"):
        load_encoder(str(checkpoint(vit)), side=4)


def test_a_pooled_output_that_was_not_trained_is_not_used(checkpoint: Any, tmp_path: Path) -> None:
    """As of a classifier, whose checkpoint has none: the library would draw it at random."""
    torch.manual_seed(2)
    model = transformers.ViTForImageClassification(transformers.ViTConfig(**SIZES))
    model.save_pretrained(tmp_path)
    for file in checkpoint(vit).glob("preprocessor*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    first, second = load_encoder(str(tmp_path)).eval(), load_encoder(str(tmp_path)).eval()
    pixels = torch.rand(1, 3, 32, 32)
    assert torch.equal(first(pixels).pooled, second(pixels).pooled)
    hidden = model.vit((pixels - first.mean) / first.deviation).last_hidden_state
    torch.testing.assert_close(first(pixels).pooled, hidden[:, 0])


def test_a_captioner_learns_from_one(checkpoint: Any, tmp_path: Path) -> None:
    write_scenes(tmp_path / "scenes", 40, seed=1)
    settings = Settings(
        str(tmp_path / "scenes"),
        "att2in",
        encoder=str(checkpoint(clip)),
        hidden=8,
        embedding=8,
        attention=8,
        batch=8,
        captions=2,
        steps=2,
        least=1,
        device="cpu",
    )
    train(settings, tmp_path / "run", cache=tmp_path / "features")
    encoder = RunFolder.open(tmp_path / "run").encoder()
    assert isinstance(encoder, Encoder)
    assert encoder.standardised
    assert encoder.mean.flatten().tolist() == pytest.approx([0.1, 0.2, 0.3])
    for method in ("rs", "rci", "gnc"):
        sets = caption_sets(tmp_path / "run", method=method, captions=2, device="cpu", cache=tmp_path / "features")
        assert len(sets) == 4
    pixels = to_pixels(Image.new("RGB", (50, 20), "red"), encoder.side)
    assert encoder(pixels[None]).grid.shape == (1, 16, 16)


def test_what_is_refused(checkpoint: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither a file nor 'auto': .* is a checkpoint, which has its own"):
        load_encoder(str(checkpoint(vit)), weights="DEFAULT")
    with pytest.raises(DataError, match="no vision checkpoint could be loaded .* it needs config.json, preprocessor"):
        load_encoder(str(tmp_path))
    text = transformers.BertModel(transformers.BertConfig(**TEXT))
    text.save_pretrained(tmp_path)
    for file in checkpoint(vit).glob("preprocessor*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(DataError, match="is no vision model: BertModel does not take pixels"):
        load_encoder(str(tmp_path))


@pytest.mark.filterwarnings("ignore")
def test_weights_that_lack_a_part_are_refused(checkpoint: Any, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = checkpoint(vit)
    weights = load_file(folder / "model.safetensors")
    del weights[next(name for name in weights if "patch_embeddings.projection.weight" in name)]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    for file in folder.glob("*.json"):
        (tmp_path / file.name).write_text(json.dumps(json.loads(file.read_text())))
    with pytest.raises(DataError, match=r"its weights lack .*patch_embeddings.projection.weight .*1 parts in all"):
        load_encoder(str(tmp_path))
