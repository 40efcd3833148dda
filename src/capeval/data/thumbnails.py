"""Small copies of images, to be shown beside captions: bytes in, bytes out."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from capeval.errors import DataError, MissingDependencyError

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 320
"""Longest side of a thumbnail, in pixels."""
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
_MOST_PIXELS = 100_000_000
_QUALITY = 72


def check_pillow() -> None:
    """Raises `MissingDependencyError` where Pillow is not installed."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise MissingDependencyError("showing images", extra="images") from None


def thumbnail(content: bytes, name: str, side: int = SIDE) -> bytes:
    """The image as a small WebP file, turned as its camera says, transparent parts white, without its metadata.

    It may be called by several threads at once. Pillow may warn of an odd file.

    Args:
        content: an image file: JPEG, PNG, WebP, GIF, BMP or TIFF. Of several pictures, the first.
        name: what messages call it.
        side: the longest side in pixels; a smaller image keeps its size.

    Raises:
        DataError: it is broken, no such image, or has more than 100 million pixels.
        MissingDependencyError: Pillow is not installed.
    """
    check_pillow()
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise DataError(f"{name}: has {image.width:,} × {image.height:,} pixels, which is too many")
            image.draft("RGB", (side, side))
            upright = ImageOps.exif_transpose(image)
            upright.thumbnail((side, side), Image.Resampling.BICUBIC, reducing_gap=2.0)
            small = _opaque(upright)
        written = io.BytesIO()
        small.save(written, "WEBP", quality=_QUALITY, method=2)
    except DataError:
        raise
    # Broken files make Pillow's readers fail in many ways.
    except Exception as error:  # noqa: BLE001
        reason = "no image of a known format" if isinstance(error, UnidentifiedImageError) else str(error)
        raise DataError(f"{name}: cannot be shown: {reason or type(error).__name__}") from None
    return written.getvalue()


def _opaque(image: Image) -> Image:
    from PIL import Image as Pillow

    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    white = Pillow.new("RGBA", layer.size, "white")
    white.alpha_composite(layer)
    return white.convert("RGB")
