"""Vision models of transformers as encoders: ViT, the towers of CLIP and SigLIP, DINOv2, Swin, ConvNeXt and others; and
those of timm, which has VGG and Inception.

The regions of the grid are the patches of the last layer. The vector of the whole image is the model's pooled output;
where it has none that was trained, its class token; without one, the mean of the patches.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoImageProcessor, AutoModel

from sacrecap.errors import DataError, MissingDependencyError
from sacrecap.vision.checkpoint_parts import load_part
from sacrecap_captioning.data.encoder import Encoder
from sacrecap_captioning.models.captioner import Features

_load = partial(load_part, what="vision checkpoint", files="config.json, preprocessor_config.json and the weights")
_TOWERS = ("vision_model", "vision_tower")
"""What models of image and text call the part that sees."""


def load_vision_checkpoint(name: str, side: int | None = None) -> Encoder:
    """The encoder of a checkpoint that `AutoModel` can load; of a model of image and text, its vision tower.

    Size, mean and deviation of its pixels are those of its image processor. The whole image is resized to the square,
    as for every encoder: the processor's crop is left out.

    Raises:
        DataError: it cannot be loaded, is no vision model, or its weights are not complete.
        UsageError: it does not take pictures of this side.
        MissingDependencyError: it is of timm, which is not installed.
    """
    try:
        processor: Any = _load(AutoImageProcessor, name)
        model, report = _load(AutoModel, name, dtype=torch.float32, output_loading_info=True)
    except ImportError as error:
        if "timm" not in str(error):
            raise
        raise MissingDependencyError(f"{name} is a model of timm, which is not installed: pip install timm") from None
    part = next((part for part in _TOWERS if hasattr(model, part)), None)
    tower: nn.Module = model if part is None else getattr(model, part)
    if "pixel_values" not in inspect.signature(tower.forward).parameters:
        raise DataError(f"{name}: is no vision model: {type(model).__name__} does not take pixels")
    missing = [key for key in report["missing_keys"] if part is None or key.startswith(f"{part}.")]
    untrained = [key for key in missing if "pooler" in key.split(".")]
    if lacking := sorted(set(missing) - set(untrained)):
        some = ", ".join(lacking[:3])
        raise DataError(f"{name}: its weights lack {some} ({len(lacking):,} parts in all); save them whole")
    body = _Tower(tower, pools=not untrained)
    return Encoder(name, body, side or _side(processor), colours=_colours(processor))


class _Tower(nn.Module):
    """(B, 3, H, W) normalised pixels to features."""

    def __init__(self, tower: nn.Module, *, pools: bool) -> None:
        super().__init__()
        self.tower = tower
        self.pools = pools
        self._interpolates = "interpolate_pos_encoding" in inspect.signature(tower.forward).parameters

    def forward(self, pixels: Tensor) -> Features:
        config: Any = self.tower.config
        options = {}
        if self._interpolates and getattr(config, "image_size", None) != pixels.shape[-1]:
            options["interpolate_pos_encoding"] = True
        found = self.tower(pixel_values=pixels, **options)
        hidden: Tensor = found.last_hidden_state
        if hidden.ndim == 4:  # (B, D, h, w), of a convolutional network; some of timm's have D last
            if str(getattr(getattr(self.tower, "timm_model", None), "output_fmt", "")) == "NHWC":
                hidden = hidden.permute(0, 3, 1, 2)
            before, grid = 0, hidden.flatten(2).transpose(1, 2)
        else:  # (B, class token and the like + patches, D)
            of_timm = getattr(self.tower, "timm_model", None)
            known = None if of_timm is None else int(getattr(of_timm, "num_prefix_tokens", 0))
            before = max(0, hidden.shape[1] - _patches(config, pixels.shape[-1])) if known is None else known
            grid = hidden[:, before:]
        pooled = getattr(found, "pooler_output", None) if self.pools else None
        if pooled is not None and pooled.flatten(1).shape[1] == grid.shape[2]:
            return Features(pooled.flatten(1), grid)
        return Features(hidden[:, 0] if before else grid.mean(1), grid)


def _patches(config: Any, side: int) -> int:
    """Patches of a picture of this side; more than there are tokens where a model joins them on the way."""
    size = config.patch_size
    return (side // (size if isinstance(size, int) else size[0])) ** 2


def _colours(processor: Any) -> tuple[Tensor, Tensor]:
    """Mean and deviation of the pixels that the processor gives."""
    if of_timm := _timms(processor):
        return torch.tensor(of_timm["mean"]), torch.tensor(of_timm["std"])
    if not getattr(processor, "do_normalize", False):
        return torch.zeros(3), torch.ones(3)
    return torch.tensor(processor.image_mean), torch.tensor(processor.image_std)


def _timms(processor: Any) -> dict[str, Any]:
    """What a checkpoint of timm says of its pixels; nothing of others."""
    return dict(getattr(processor, "data_config", None) or {})


def _side(processor: Any) -> int:
    """Pixels of the square that the processor makes."""
    if of_timm := _timms(processor):
        return int(of_timm["input_size"][-1])
    size = processor.crop_size if getattr(processor, "do_center_crop", False) else processor.size
    sides = [size[name] for name in ("height", "shortest_edge", "longest_edge") if size.get(name)]
    return int(sides[0]) if sides else 224
