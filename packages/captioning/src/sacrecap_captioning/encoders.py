"""Encoders by name: pixels to features, one vector for the image and one per region of its grid, standardised.

`small` is for pictures as small as the made-up scenes. Other names are vision models of transformers.

Features are read where they are asked for: of a frozen encoder, of a learning one, or computed elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import pickle
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from PIL.Image import Image
from torch import Tensor, nn

from sacrecap.data import atomic_write
from sacrecap.data.captioned import CaptionedImage
from sacrecap.data.source import reading
from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap.vision.checkpoint_parts import load_part
from sacrecap_captioning.captioned_images import CaptionedImages, FeatureFile
from sacrecap_captioning.captioner import Features, evaluating
from sacrecap_captioning.settings import AUTO, RANDOM, SMALL, PathLike, check_encoder, make_folder, silent


def write_tensors(path: PathLike, content: Mapping[str, Any]) -> None:
    """Writes tensors, numbers and texts in dictionaries and lists. Raises `DataError` if it cannot be written."""
    with atomic_write(path, "wb") as file:
        torch.save(dict(content), file)


def read_tensors(
    path: PathLike,
    take: Callable[[dict[str, Any]], object] | None = None,
    problem: str = "is not a checkpoint of sacrecap, or damaged",
    remedy: str = "",
) -> dict[str, Any]:
    """Reads what `write_tensors` wrote, onto the CPU.

    Raises `DataError` for a missing or damaged file, or one whose content `take` cannot take.
    """
    try:
        with reading(path), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        if take is not None:
            take(content)
    except DataError:
        raise
    except (RuntimeError, pickle.UnpicklingError, EOFError, TypeError, AttributeError, KeyError, ValueError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"{path}: {problem} ({reason}){remedy}") from None
    return content


@contextlib.contextmanager
def enough_memory(otherwise: str) -> Iterator[None]:
    """Turns running out of memory, on a GPU or not, into a `DataError` with this message."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # Where it is the CPU's memory, torch has no class for it.
        if not isinstance(error, MemoryError | torch.OutOfMemoryError) and "allocate memory" not in str(error):
            raise
        raise DataError(otherwise) from None


_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Mean and deviation of ImageNet's channels."""


class Standardisation(nn.Module):
    """Features brought to mean 0 and deviation 1 by what `measure` has measured; before that they are as they come.

    Captioners learn several times faster from such features. This class alone stands for features that were computed
    elsewhere.

    Attributes:
        name: what tells the source of the features from others, such as `microsoft/resnet-18`.
        side: pixels of the side of the square that the source takes; 0 if it takes none.
        feature: D, the size of a feature.
    """

    pooled_mean: Tensor
    pooled_deviation: Tensor
    grid_mean: Tensor
    grid_deviation: Tensor

    def __init__(self, feature: int) -> None:
        super().__init__()
        self.name, self.side = "features", 0
        self._begin(feature)

    def _begin(self, feature: int) -> None:
        self.feature = feature
        for part in Features._fields[:2]:
            self.register_buffer(f"{part}_mean", torch.zeros(feature))
            self.register_buffer(f"{part}_deviation", torch.ones(feature))

    def standard(self, features: Features) -> Features:
        """The features standardised."""
        return Features(
            (features.pooled - self.pooled_mean) / self.pooled_deviation,
            (features.grid - self.grid_mean) / self.grid_deviation,
        )

    @torch.no_grad()
    def measure(self, batches: Iterable[Features]) -> None:
        """From now on features have mean 0 and deviation 1 over these."""
        features = list(batches)
        for part, rows in (
            ("pooled", torch.cat([batch.pooled for batch in features])),
            ("grid", torch.cat([batch.grid.flatten(0, 1) for batch in features])),
        ):
            getattr(self, f"{part}_mean").copy_(rows.mean(0))
            getattr(self, f"{part}_deviation").copy_(rows.std(0) + 1e-3)

    @property
    def standardised(self) -> bool:
        """Whether `measure` was called, on this one or on the one whose weights it has."""
        return bool(self.pooled_mean.any())

    @property
    def checksum(self) -> str:
        """The same for the same name, side and weights."""
        digest = hashlib.sha256(f"{self.name} {self.side}".encode())
        for name, weights in self.state_dict().items():
            digest.update(name.encode())
            digest.update(weights.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]


class Encoder(Standardisation):
    """(B, 3, H, W) pixels in [0, 1] to `Features`, standardised once `standardise` was called."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, name: str, body: nn.Module, side: int, *, colours: tuple[Tensor, Tensor] | None = None) -> None:
        """`body` gives maps (B, D, h, w), or `Features`; `colours` are mean and deviation of its pixels, (3,) each.

        Without `colours` they are ImageNet's; given ones are saved with the weights.
        """
        nn.Module.__init__(self)  # the size of a feature is found out with the body
        self.name, self.side, self.body = name, side, body
        mean, deviation = colours or (torch.tensor(_MEAN), torch.tensor(_DEVIATION))
        self.register_buffer("mean", mean.view(3, 1, 1), persistent=colours is not None)
        self.register_buffer("deviation", deviation.view(3, 1, 1), persistent=colours is not None)
        try:
            with evaluating(self), torch.no_grad():
                size = self._measured(torch.zeros(1, 3, side, side)).pooled.shape[1]
        except RuntimeError as error:
            raise UsageError(f"pictures of {side} × {side} pixels are too small for {name}: {error}") from None
        self._begin(int(size))

    def forward(self, pixels: Tensor) -> Features:
        """Pooled and grid features."""
        return self.standard(self._measured(pixels))

    @torch.no_grad()
    def standardise(self, pixels: Iterable[Tensor]) -> None:
        """From now on features have mean 0 and deviation 1 over these pictures, batches of (B, 3, H, W)."""
        with evaluating(self):
            self.measure(self._measured(batch.to(self.mean.device)) for batch in pixels)

    def _measured(self, pixels: Tensor) -> Features:
        """Features as they come."""
        maps = self.body((pixels - self.mean) / self.deviation)
        if isinstance(maps, Features):
            return maps
        grid = maps.flatten(2).transpose(1, 2)  # (B, R, D) of (B, D, h, w), R = h·w
        return Features(grid.mean(1), grid)


def to_pixels(image: Image, side: int) -> Tensor:
    """(3, side, side) in [0, 1]: the whole image, resized to a square."""
    resized = image if image.size == (side, side) else image.resize((side, side), 2)  # 2: bilinear
    return torch.from_numpy(np.array(resized)).permute(2, 0, 1).contiguous().float().div(255)


def load_encoder(name: str, *, weights: str = AUTO, side: int | None = None) -> Encoder:
    """An encoder of this name with weights: `auto` (a checkpoint's own, else `random`), `random` (drawn from torch's
    global generator), or the file of an encoder's state dict. `side` is by default 64 for `small`, else the
    checkpoint's own.

    Raises:
        UsageError: no such encoder or weights, or too small a side.
        DataError: the weights cannot be fetched or read.
    """
    check_encoder(name, weights)
    if name != SMALL:
        encoder = load_vision_checkpoint(name, side)
    else:  # four convolutions, each of which halves the picture: 64 pixels become a grid of 4 × 4
        layers: list[nn.Module] = []
        for before, after in ((3, 24), (24, 48), (48, 96), (96, 128)):
            layers += [nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
        encoder = Encoder(SMALL, nn.Sequential(*layers), side or 64)
    if weights not in {AUTO, RANDOM}:
        problem, remedy = f"is not a state dict of the encoder {name}", "; save it with torch.save(model.state_dict())"
        read_tensors(weights, encoder.load_state_dict, problem, remedy)
    return encoder


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
    from transformers import AutoImageProcessor, AutoModel  # which takes seconds, and `small` needs none of it

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
    if of_timm := getattr(processor, "data_config", None):
        usual_side, mean, deviation = of_timm["input_size"][-1], of_timm["mean"], of_timm["std"]
    else:
        size = processor.crop_size if getattr(processor, "do_center_crop", False) else processor.size
        usual_side = next((size[key] for key in ("height", "shortest_edge", "longest_edge") if size.get(key)), 224)
        mean, deviation = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
        if getattr(processor, "do_normalize", False):
            mean, deviation = processor.image_mean, processor.image_std
    colours = (torch.tensor(mean), torch.tensor(deviation))
    return Encoder(name, _Tower(tower, pools=not untrained), side or int(usual_side), colours=colours)


class _Tower(nn.Module):
    """(B, 3, H, W) normalised pixels to features."""

    def __init__(self, tower: nn.Module, *, pools: bool) -> None:
        super().__init__()
        self.tower = tower
        self.pools = pools
        self._interpolates = "interpolate_pos_encoding" in inspect.signature(tower.forward).parameters

    def forward(self, pixels: Tensor) -> Features:
        config: Any = self.tower.config
        interpolates = self._interpolates and getattr(config, "image_size", None) != pixels.shape[-1]
        options = {"interpolate_pos_encoding": True} if interpolates else {}
        output = self.tower(pixel_values=pixels, **options)
        hidden: Tensor = output.last_hidden_state
        if hidden.ndim == 4:  # (B, D, h, w), of a convolutional network; some of timm's have D last
            if str(getattr(getattr(self.tower, "timm_model", None), "output_fmt", "")) == "NHWC":
                hidden = hidden.permute(0, 3, 1, 2)
            before, grid = 0, hidden.flatten(2).transpose(1, 2)
        else:  # (B, class token and the like + patches, D)
            if (of_timm := getattr(self.tower, "timm_model", None)) is not None:
                before = int(getattr(of_timm, "num_prefix_tokens", 0))
            else:
                size = config.patch_size
                patches = (pixels.shape[-1] // (size if isinstance(size, int) else size[0])) ** 2
                before = max(0, hidden.shape[1] - patches)  # patches are more where a model joins them on the way
            grid = hidden[:, before:]
        pooled = getattr(output, "pooler_output", None) if self.pools else None
        if pooled is not None and pooled.flatten(1).shape[1] == grid.shape[2]:
            return Features(pooled.flatten(1), grid)
        return Features(hidden[:, 0] if before else grid.mean(1), grid)


FeatureRows: TypeAlias = Callable[[Tensor], Features]
"""Features of many images, read on request: of the images of (B,) indices, in float32."""


def given_rows(file: FeatureFile, images: CaptionedImages, standard: Standardisation) -> FeatureRows:
    """Features of a file, in the order of the images, standardised.

    Raises `DataError` if the file's vectors have another size than those of `standard`. The function returned raises
    it for a number that is infinite or NaN.
    """
    if file.feature != standard.feature:
        raise DataError(
            f"{file.path}: has vectors of {file.feature:,} numbers, where the captioner was trained with "
            f"{standard.feature:,}; give features of the same model"
        )
    ids = [image.id for image in images]

    def rows(numbers: Tensor) -> Features:
        pooled, grid = map(torch.from_numpy, file.rows([ids[number] for number in numbers.tolist()]))
        return standard.standard(Features(pooled, grid).to(standard.pooled_mean.device))

    return rows


def read_pixels(images: CaptionedImages, chosen: Sequence[CaptionedImage], side: int) -> Tensor:
    """(B, 3, side, side) in [0, 1], of these images, which several threads open: the encoder waits for nothing else."""
    with ThreadPoolExecutor() as pool:
        return torch.stack(list(pool.map(lambda image: to_pixels(images.open(image), side), chosen)))


def read_bytes_of_pixels(images: CaptionedImages, side: int, progress: Callable[[int], None] = silent) -> Tensor:
    """(images, 3, side, side) uint8."""
    pixels = torch.empty(len(images), 3, side, side, dtype=torch.uint8)
    for number, image in enumerate(images):
        pixels[number] = to_pixels(images.open(image), side).mul(255).round().byte()
        progress(number + 1)
    return pixels


def encode(images: CaptionedImages, encoder: Encoder, *, batch: int = 64) -> Iterator[Features]:
    """Features by the encoder in its current state, computed on its device, batch after batch on the CPU.

    They are the same for every batch size up to rounding.
    """
    for first in range(0, len(images), batch):
        pixels = read_pixels(images, images[first : first + batch], encoder.side)
        with evaluating(encoder), torch.inference_mode():
            features: Features = encoder(pixels.to(encoder.mean.device))
        yield features.to(torch.device("cpu"))


def cached_features(
    images: CaptionedImages,
    encoder: Encoder,
    folder: PathLike,
    *,
    batch: int = 64,
    progress: Callable[[int], None] = silent,
) -> FeatureRows:
    """Features of all images: computed by the encoder in its current state, on its device, or left in the folder by a
    call with the same encoder, weights and files. `progress` is called with the number of finished images.

    Raises:
        DataError: the folder cannot be made, written or read; or a feature is not a number.
    """
    digest = hashlib.sha256(encoder.checksum.encode())
    for image in images:
        digest.update(f"{image.file}\0{images.stamp(image)}\0".encode())
    label = re.sub(r"[^\w.-]+", "_", encoder.name)
    path = Path(folder) / f"{label}-{digest.hexdigest()[:16]}.npy"
    if not path.exists():
        make_folder(folder)
        with atomic_write(path, "wb") as file:  # batch by batch: memory holds one
            written = 0
            for features in encode(images, encoder, batch=batch):
                rows = torch.cat([features.pooled[:, None], features.grid], 1).numpy()  # (B, 1 + R, D)
                whole = np.isfinite(rows).all((1, 2))
                if not whole.all():
                    image = images[written + int(np.argmin(whole))]
                    raise DataError(
                        f"image {image.id!r} ({image.file}): {encoder.name} gives features that are infinite or none "
                        "(NaN); use other weights"
                    )
                if not written:
                    shape = (len(images), *rows.shape[1:])
                    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
                file.write(rows.astype("<f4", copy=False).tobytes())
                written += len(rows)
                progress(written)
    with reading(path):  # mapped into memory: only the requested ones are read
        array: npt.NDArray[np.float32] = np.load(path, mmap_mode="r")

    def rows_of(numbers: Tensor) -> Features:
        chosen = torch.from_numpy(np.asarray(array[numbers.numpy()]))
        return Features(chosen[:, 0].contiguous(), chosen[:, 1:].contiguous())

    return rows_of
