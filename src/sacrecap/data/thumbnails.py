"""Small copies of images, to show next to captions: bytes in, bytes out."""

from __future__ import annotations

import io

from sacrecap.errors import DataError, of_extra

SIDE = 320
"""Longest side of a thumbnail, in pixels."""
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")


def check_pillow() -> None:
    """Raises `MissingDependencyError` if Pillow is not installed."""
    with of_extra("images", "showing images"):
        import PIL.Image  # noqa: F401


def thumbnail(content: bytes, name: str, side: int = SIDE, *, kind: str = "WEBP") -> bytes:
    """The image as a small file without metadata: rotated as its camera noted, with white for transparent parts.

    Several threads may call it at once. Pillow may warn about an unusual file.

    Args:
        content: an image file: JPEG, PNG, WebP, GIF, BMP or TIFF. If it holds several pictures, the first is used.
        name: its name in messages.
        side: the longest side in pixels; a smaller image keeps its size.
        kind: of the file: `WEBP`, small and rough; `JPEG` or `PNG` for models to look at.

    Raises:
        DataError: it is broken, not an image of these formats, or has more than 100 million pixels.
        MissingDependencyError: Pillow is not installed.
    """
    check_pillow()
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            if image.width * image.height > 100_000_000:
                raise DataError(f"{name}: has {image.width:,} × {image.height:,} pixels, which is too many")
            image.draft("RGB", (side, side))
            upright = ImageOps.exif_transpose(image)
            upright.thumbnail((side, side), Image.Resampling.BICUBIC, reducing_gap=2.0)
            if upright.has_transparency_data:
                layer = upright.convert("RGBA")
                upright = Image.new("RGBA", layer.size, "white")
                upright.alpha_composite(layer)
            small = upright.convert("RGB")
        written = io.BytesIO()
        how = {"WEBP": {"quality": 72, "method": 2}, "JPEG": {"quality": 95}, "PNG": {}}[kind]
        small.save(written, kind, **how)
    except DataError:
        raise
    # Broken files make Pillow's readers fail in many ways.
    except Exception as error:  # noqa: BLE001
        reason = "no image of a known format" if isinstance(error, UnidentifiedImageError) else str(error)
        raise DataError(f"{name}: cannot be shown: {reason or type(error).__name__}") from None
    return written.getvalue()


def upright_size(content: bytes) -> tuple[int, int]:
    """Width and height, in pixels, of an image of which `thumbnail` makes a copy: rotated as its camera noted."""
    from PIL import ExifTags, Image

    with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
        width, height = image.size
        return (height, width) if image.getexif().get(ExifTags.Base.Orientation) in (5, 6, 7, 8) else (width, height)
