"""Images as models behind endpoints take them: PNG, JPEG, GIF or WebP, and no larger than one wants to pay for."""

from __future__ import annotations

import base64
import io

from sacrecap.data.thumbnails import check_pillow, thumbnail
from sacrecap.errors import DataError

_KINDS = {b"\x89PNG": "png", b"GIF8": "gif", b"RIFF": "webp", b"\xff\xd8": "jpeg"}
"""The first bytes of image files that endpoints take."""
_CONVERTED = (b"BM", b"II*\0", b"MM\0*")
"""Those of BMP and TIFF, which are sent as PNG."""


def _kind(content: bytes) -> str | None:
    kind = next((kind for start, kind in _KINDS.items() if content.startswith(start)), None)
    return None if kind == "webp" and content[8:12] != b"WEBP" else kind


def is_taken(content: bytes) -> bool:
    """Whether endpoints take files of this format."""
    return _kind(content) is not None


def is_known(content: bytes) -> bool:
    """Whether the file is of a format that is sent, or converted."""
    return is_taken(content) or content.startswith(_CONVERTED)


def sendable(content: bytes, name: str, side: int | None) -> bytes:
    """The file as it is sent: converted, if endpoints do not take its format; made smaller, if a side is longer.

    Raises:
        DataError: it is broken, and has to be converted or made smaller; the message begins with its name.
        MissingDependencyError: the same, and Pillow is not installed.
    """
    kind = _kind(content)
    if kind is not None and (side is None or max(_size(content, name)) <= side):
        return content
    return thumbnail(content, name, side or 1 << 20, kind="JPEG" if kind == "jpeg" else "PNG")


def _size(content: bytes, name: str) -> tuple[int, int]:
    check_pillow()
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content)) as image:
            return image.size  # type: ignore[no-any-return]
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"{name}: cannot be read: {error}") from None


def as_url(content: bytes) -> str:
    """The file as the address of its own content."""
    return f"data:image/{_kind(content)};base64,{base64.b64encode(content).decode()}"
