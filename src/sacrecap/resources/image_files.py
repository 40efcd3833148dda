"""The files of the images that are scored, for whoever looks at them: networks, detectors, judges."""

from __future__ import annotations

from collections.abc import Sequence

from sacrecap import _core
from sacrecap.data.cache import digest
from sacrecap.data.images import ImageFile, ImageSource
from sacrecap.errors import UnfitImages, UsageError, some
from sacrecap.resources.needs import Needs


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
        remedy = "give a folder or a tar file with them"
        raise UsageError(f"{source.description}: sacrecap loads no images from the network; {remedy}")
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
