"""Models that map images and texts into one space (CLIP, SigLIP and similar ones), and the images of a corpus."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap import _core
from sacrecap.data.cache import digest, kept_features
from sacrecap.data.images import ImageFile, ImageSource
from sacrecap.errors import DataError, UnfitImages, UsageError, some
from sacrecap.resources.learned.checkpoint import Checkpoint, Network, parts
from sacrecap.resources.learned.texts import Tokenizer, Tokens, by_length, missing_of, read_limit, share_teller
from sacrecap.vision.checkpoint_parts import load_part

if TYPE_CHECKING:
    from sacrecap.data.cache import Vector
    from sacrecap.resources.needs import Needs

KIND = "model of images and texts"
_IMAGES_AT_ONCE = 64
"""Number of images that are open at the same time."""


class Clip(Network):
    """A loaded model of images and texts."""

    def __init__(self, checkpoint: Checkpoint, device: Any) -> None:
        super().__init__(checkpoint, device)
        from transformers import AutoImageProcessor

        model, self._tokenizer, self.commit = parts(checkpoint, what=KIND)
        if not (hasattr(model, "get_text_features") and hasattr(model, "get_image_features")):
            raise DataError(
                f"{checkpoint} is a {type(model).__name__}, which does not map images and texts into one space; "
                "accepted are models with features of both, such as CLIP, SigLIP, ALIGN, AltCLIP, ChineseCLIP or BLIP"
            )
        self._processor: Any = load_part(
            AutoImageProcessor,
            checkpoint.name,
            what=KIND,
            files="preprocessor_config.json next to the model's files",
            revision=checkpoint.revision,
        )
        self._model = model.to(device)
        text_config = getattr(model.config, "text_config", model.config)
        self.limit = read_limit(model, self._tokenizer, text_config)
        """The most tokens that the model has positions for."""
        self._siglip = str(model.config.model_type).startswith("siglip")
        """SigLIP was trained on texts that are padded to its length, and its output depends on the padding."""

    def tokenizer(self, limit: int | None) -> Tokenizer:
        """The tokenizer, which cuts at `limit` tokens, or at the model's last position."""
        most = self.limit if limit is None else min(limit, self.limit)
        return Tokenizer(self._tokenizer, most, padded=self._siglip)

    def vectors(self, tokens: Sequence[Tokens], needs: Needs) -> list[Vector]:
        """Unit vectors of texts."""

        def run(ids: Any) -> Any:
            import torch

            mask = {} if self._siglip else {"attention_mask": torch.ones_like(ids)}
            return _unit(self._model.get_text_features(input_ids=ids, **mask))

        return by_length(self, tokens, run, needs)

    def images(self, pictures: Sequence[Any]) -> list[Vector]:
        """Unit vectors of Pillow images."""
        import torch

        inputs = [self._processor(images=[picture], return_tensors="pt") for picture in pictures]

        def run(chosen: list[int]) -> Any:
            batch = {name: torch.cat([inputs[number][name] for number in chosen]).to(self.device) for name in inputs[0]}
            batch["pixel_values"] = batch["pixel_values"].to(self._model.dtype)
            with torch.inference_mode():
                return _unit(self._model.get_image_features(**batch))

        shapes = [tuple((name, tuple(value.shape)) for name, value in tensors.items()) for tensors in inputs]
        return self.in_batches(shapes, run)


def _unit(output: Any) -> Any:
    """Rows of length 1, in float32, on the CPU; transformers 5 returns the features inside an output."""
    rows = (output if hasattr(output, "norm") else output.pooler_output).float()
    return (rows / rows.norm(dim=-1, keepdim=True)).cpu().numpy()


class LookedAt(NamedTuple):
    """An image as a model sees it."""

    vector: Vector
    """Its unit vector."""
    digest: bytes
    """That of its file."""


def looked_at(clip: Clip, files: Mapping[str, ImageFile], needs: Needs) -> Mapping[str, LookedAt]:
    """Images by id, including those that `needs` remembers.

    Earlier results are taken from the cache, by the content of the file.

    Raises `DataError` for a file that cannot be read, or is not an image.
    """
    from sacrecap.vision.image_folder import decoded

    scope = f"image {clip.identity} {clip.checkpoint.precision}"
    seen: dict[str, LookedAt] = needs.once((scope, str(clip.device)), dict)
    missing = sorted(missing_of(seen, files), key=lambda image: files[image].order)
    tell = share_teller(needs, "looking at images", len(missing))
    cache = kept_features(scope)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(missing), _IMAGES_AT_ONCE):
            piece = missing[start : start + _IMAGES_AT_ONCE]
            contents = [files[image].read() for image in piece]
            digests = [digest(content) for content in contents]
            vectors = cache.find(list(dict.fromkeys(digests)))
            rest = {file_digest: number for number, file_digest in enumerate(digests) if file_digest not in vectors}
            names = [files[piece[number]].name for number in rest.values()]
            # Pillow warns about unusual files. Warnings are switched off here, because doing so in threads is not safe.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                opened = [io.BytesIO(contents[number]) for number in rest.values()]
                pictures = list(pool.map(decoded, opened, names))
            new = dict(zip(rest, clip.images(pictures), strict=True))
            cache.keep(new)
            vectors |= new
            for image, file_digest in zip(piece, digests, strict=True):
                seen[image] = LookedAt(vectors[file_digest], file_digest)
            tell(start + len(piece))
    return seen


def digest_of_pictures(needs: Needs, image_ids: Sequence[str]) -> dict[str, int]:
    """The digest of the images' files, for signatures. Raises as `files_of_images`, and `DataError`."""
    files = files_of_images(needs, image_ids)
    contents = {image: digest(file.read()).hex() for image, file in files.items()}
    return {"pictures": _core.digest(image_ids, [contents[image] for image in image_ids])}


def files_of_images(needs: Needs, image_ids: Sequence[str]) -> dict[str, ImageFile]:
    """The file of each image.

    Raises `UnfitImages` if some have none, `UsageError` for addresses on the web, which sacrecap does not load.
    """
    place = needs.get("images")
    source: ImageSource = needs.once("image source", lambda: ImageSource.open(place))
    if source.are_addresses:
        raise UsageError(
            f"{source.description}: sacrecap loads no images from the network; give a folder or a tar file with them"
        )
    images = list(dict.fromkeys(image_ids))
    files = source.find_all(images)
    absent = [image for image in images if image not in files]
    if absent:
        raise UnfitImages(
            f"{source.description}: no file was found for {some(absent)}; looked for {source.looked_for(absent[0])}; "
            "add the images, or leave their captions out",
            [place for place, image in enumerate(image_ids) if image not in files],
        )
    return files
