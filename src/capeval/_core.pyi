"""The native core: captions are parsed, kept and counted in Rust."""

from collections.abc import Mapping, Sequence

from typing_extensions import Buffer, Self, final

__all__ = ["CAPTION_FORMATS", "Captions", "CaptionsBuilder", "__version__"]

__version__: str

CAPTION_FORMATS: list[str]
"""Names of the caption formats that `Captions.parse` reads."""

@final
class Captions:
    """Captions of many images, in the order of the file they came from. Read-only."""

    @staticmethod
    def parse(data: Buffer, format: str | None = None, split: str | None = None) -> Captions:
        """Read the bytes of a caption file; the format is recognised from them unless it is given.

        Args:
            data: the whole file, as bytes or anything with a buffer (only bytes are not copied).
            format: one of `CAPTION_FORMATS`.
            split: keep only the images of this split of a Karpathy file.

        Raises:
            DataError: the file cannot be used; the message says where and why.
            UsageError: no such format, or no such split.
        """

    @staticmethod
    def from_dict(
        captions: Mapping[str, str | Sequence[str]] | Mapping[int, str | Sequence[str]],
    ) -> Captions:
        """Take a mapping from image id, text or whole number, to a caption or a list of captions.

        Raises:
            DataError: an id is neither, a caption is not a string, or ``5`` and ``"5"`` are both there.
        """

    def to_dict(self) -> dict[str, list[str]]:
        """All captions, by image id."""

    def captions(self, image_id: str | int) -> list[str]:
        """The captions of one image.

        Raises:
            DataError: no image has this id.
        """

    @property
    def image_ids(self) -> list[str]:
        """The image ids, in order."""

    def caption_counts(self) -> list[int]:
        """How many captions each image has, in the order of `image_ids`."""

    @property
    def image_count(self) -> int:
        """Number of images, with or without captions."""

    @property
    def caption_count(self) -> int:
        """Number of captions over all images."""

    def __len__(self) -> int:
        """Number of images."""

@final
class CaptionsBuilder:
    """Collects captions from the columns of a table, batch by batch."""

    def __new__(cls) -> Self: ...
    def extend(self, image_ids: list[object], captions: list[object]) -> None:
        """Add rows: an image id each, and a caption or a list of captions each."""

    def finish(self) -> Captions:
        """All captions; the builder is empty afterwards.

        Raises:
            DataError: some id or caption was of another type.
        """
