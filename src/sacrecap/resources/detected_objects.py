"""The objects that the detector of sacrecap finds in the images of a call, where nobody gave objects.

What was found is kept in the user's cache folder, by detector and content of the image's file.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap import _core
from sacrecap.data.places import in_cache
from sacrecap.errors import DataError, some, warn
from sacrecap.resources.cache import Cache
from sacrecap.resources.learned.corpus_images import files_of_images
from sacrecap.resources.learned.kept_features import digest
from sacrecap.resources.learned.texts import missing_of, told
from sacrecap.resources.objects_of_images import objects_of_images
from sacrecap.vision.detector import Detection, load_detector
from sacrecap.vision.image_folder import open_image

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.data.images import ImageFile
    from sacrecap.resources.needs import Needs
    from sacrecap.vision.detector import Detector

_AT_ONCE = 32
"""Number of images that are open at the same time."""
_EDITION = 1
"""Changes where the same weights find other things."""


class KeptDetections(Cache[bytes, list[Detection]]):
    """Detections by the digest of an image's file, within a scope: the detector."""

    what: ClassVar[str] = "detected objects"
    again: ClassVar[str] = "what is found now will be looked for again next time"
    table: ClassVar[str] = "detections"
    columns: ClassVar[tuple[str, str, str]] = ("scope TEXT", "digest BLOB", "found TEXT")

    def stored(self, value: list[Detection]) -> str:
        return json.dumps(value)

    def loaded(self, stored: Any) -> list[Detection]:
        return [Detection(label, score, tuple(box)) for label, score, box in json.loads(stored)]


def are_found(needs: Needs) -> bool:
    """Whether the objects of a call have to be found in its images."""
    return "objects" not in needs and "images" in needs


def lack(needs: Needs) -> bool:
    """Whether a call gives neither objects nor images in which they can be found, or lacks the detector."""
    images = needs.get("images")
    found = images is not None and not (isinstance(images, str) and "://" in images)
    return "objects" not in needs and not (found and find_spec("sacrecap_detector"))


def objects_of(corpus: Corpus, needs: Needs, *, find: bool) -> list[dict[str, int]] | None:
    """The objects of the images of a corpus, in their order; None if the call gives none.

    `find`: those that are not given are found in the call's images. Warns and raises as `objects_of_images`.
    """
    find = find and are_found(needs)
    of_images = found_in_images if find else objects_of_images
    return needs.once(("objects of images", find), lambda: of_images(needs, needs.images(corpus)), of=corpus)


def digest_of_objects(corpus: Corpus, needs: Needs, *, counts: bool) -> int:
    """The digest of the labels of the corpus' images; with how often each is there, where a metric reads that."""
    images, every = needs.images(corpus), objects_of(corpus, needs, find=True) or ()
    rows = [
        (image, f"{label} {count}" if counts else label)
        for image, own in zip(images, every, strict=True)
        for label, count in own.items()
    ]
    return _core.digest([image for image, _ in rows], [label for _, label in rows])


def found_in_images(needs: Needs, image_ids: Sequence[str]) -> list[dict[str, int]]:
    """What the detector finds in each of the images, in their order: labels with counts.

    Warns about images that cannot be read, which count as images without objects. Raises `UnfitImages` where some have
    no file, `MissingDependencyError` without the extra `detect`.
    """
    from sacrecap.data.objects import count_labels

    files = files_of_images(needs, image_ids)
    detector = _detector(needs)
    lowest = threshold_of(needs)
    found = _detections(needs, detector, files)
    counts = {
        image: count_labels([one.label for one in detections if one.score >= lowest], f"image {image}")
        for image, detections in found.items()
    }
    return [counts[image] for image in image_ids]


def threshold_of(needs: Needs) -> float:
    """The least score of an object that was found: the call's, or the detector's own."""
    given: float | None = needs.get("threshold")
    return _detector(needs).threshold if given is None else given


def signature_of_found(needs: Needs) -> tuple[str, ...]:
    """What a score's signature says of objects that were found, `detector:nanodet-g@.4`; nothing if they were given."""
    if not are_found(needs):
        return ()
    return (f"detector:{_detector(needs).name}@{f'{threshold_of(needs):g}'.removeprefix('0') or 0}",)


def _detector(needs: Needs) -> Detector:
    return needs.once("detector", lambda: load_detector(threads=needs.threads))


def _detections(needs: Needs, detector: Detector, files: dict[str, ImageFile]) -> dict[str, list[Detection]]:
    """All detections in each file, whatever their score, by image: those that are kept, and new ones."""
    found: dict[str, list[Detection]] = needs.once(("detections", detector.name), dict)
    missing = sorted(missing_of(found, files), key=lambda image: files[image].order)
    tell, kept = told(needs, "finding objects", len(missing)), KeptDetections(_path(), f"{detector.name} {_EDITION}")
    broken: list[str] = []
    for start in range(0, len(missing), _AT_ONCE):
        opened, digests = {}, {}
        for image in missing[start : start + _AT_ONCE]:
            try:
                content = files[image].read()
                digests[image] = digest(content)
                opened[digests[image]] = content, files[image].name
            except DataError:
                broken.append(image)
        known = kept.find(list(opened))
        new = _new(detector, {own: opened[own] for own in opened if own not in known})
        kept.keep(new)
        known |= new
        broken += [image for image, own in digests.items() if own not in known]
        found.update({image: known.get(own, []) for image, own in digests.items()})
        tell(start + _AT_ONCE)
    found.update({image: [] for image in broken})
    if broken:
        warn(f"no objects were found in {some(broken)}, which cannot be read: they count as images without any")
    return found


def _new(detector: Detector, files: dict[bytes, tuple[bytes, str]]) -> dict[bytes, list[Detection]]:
    """Detections of those files that can be read."""
    pictures = {}
    for own, (content, name) in files.items():
        try:
            pictures[own] = open_image(io.BytesIO(content), name)
        except DataError:
            continue
    return dict(zip(pictures, detector.detect(list(pictures.values())), strict=True))


def _path() -> str:
    """The database in the user's cache folder."""
    return in_cache("objects.sqlite")
