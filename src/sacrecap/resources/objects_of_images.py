"""The objects of images, for the metrics that compare captions with them: given, or found by sacrecap's detector.

What is found is kept in the user's cache folder, by detector and content of the image's file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from os import PathLike

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.data.objects import Labels, Located, ObjectSource, count_labels, read_objects
from sacrecap.errors import DataError, UsageError, option, some, warn
from sacrecap.resources.image_files import files_of_images
from sacrecap.resources.needs import Needs
from sacrecap.resources.networks import missing_of, share_teller
from sacrecap.vision.detector import Detection, Detector, detections, load_detector


def lacks_objects() -> str:
    """Ending of the message, after the metric's name, if a call gives no objects."""
    from_images = f"the images, in which they are found ({option('images', 'DIR')}, extra detect)"
    return f"needs the objects of each image: give {option('objects', 'FILE')}, or {from_images}"


def objects_of_images(needs: Needs, image_ids: Sequence[str]) -> list[dict[str, int]] | None:
    """The objects of each of the images, in their order; None if the call gives none. Warns if some images have none.

    Raises `DataError` if all lack them or an image's are unusable, `UsageError` for a threshold without a file.
    """
    named = known_objects(needs)
    if named is None:
        return None
    source: ObjectSource = needs.get("objects")
    images = list(dict.fromkeys(image_ids))
    absent = [image for image in images if image not in named]
    if absent and len(absent) == len(images):
        name = str(source) if isinstance(source, (str, PathLike)) else "the objects"
        apart = f"it has objects of {some(list(named))}, but not of any of the {some(images)} that are scored"
        raise DataError(f"{name}: {apart}; are these files of the same data set?")
    if absent:
        warn(f"no objects for {some(absent)}: they count as images without any")
    return [named.get(image, {}) for image in image_ids]


def known_objects(needs: Needs) -> dict[str, dict[str, int]] | None:
    """All objects that a call gives, by image id; None if it gives none. Raises as `objects_of_images`."""
    source: ObjectSource | None = needs.get("objects")
    if source is None:
        if "threshold" in needs and "images" not in needs:
            file = option("objects", "FILE")
            raise UsageError(f"{option('threshold')} is for the detections of {file}, which was not given")
        return None
    return needs.once("objects", lambda: objects_by_image(source, needs.get("threshold")))


def objects_by_image(source: ObjectSource, threshold: float | None) -> dict[str, dict[str, int]]:
    """Labels with counts, by image id: read from a file, or checked. Raises `DataError` if they are unusable."""
    if isinstance(source, (str, PathLike)):
        return read_objects(source, threshold=threshold)
    if threshold is not None:
        raise UsageError("a threshold is for a file of detections with scores; the objects given here are a mapping")
    rows: list[tuple[object, Labels]] = list(source.items()) if isinstance(source, Mapping) else []
    if not isinstance(source, Iterable):
        raise DataError(
            f"the objects are of type {type(source).__name__}; accepted are {{image id: {{label: count}}}}, {{image "
            "id: [label, …]}, rows like {'image_id': …, 'objects': …}, and the path of a file"
        )
    for number, row in enumerate(() if isinstance(source, Mapping) else source):
        if not isinstance(row, Mapping) or not {"image_id", "objects"} <= row.keys():
            raise DataError(f"the objects: item {number} has no 'image_id' and 'objects'; each row needs both")
        rows.append((row["image_id"], row["objects"]))
    ids = _core.image_ids([image for image, _ in rows])
    return {image: count_labels(labels, f"image {image}") for image, (_, labels) in zip(ids, rows, strict=True)}


def are_found(needs: Needs) -> bool:
    """Whether the objects of a call have to be found in its images."""
    return "objects" not in needs and "images" in needs


def lack(needs: Needs) -> bool:
    """Whether a call gives neither objects nor images in which they can be found, or lacks the detector."""
    images = needs.get("images")
    can_be_found = images is not None and not (isinstance(images, str) and "://" in images)
    return "objects" not in needs and not (can_be_found and find_spec("sacrecap_detector"))


def objects_of(corpus: Corpus, needs: Needs, *, find: bool) -> list[dict[str, int]] | None:
    """The objects of the images of a corpus; with `find`, those that are not given are found in the call's images."""
    find = find and are_found(needs)
    of_images = found_in_images if find else objects_of_images
    return needs.once(("objects of images", find), lambda: of_images(needs, needs.images(corpus)), of=corpus)


def digest_of_objects(corpus: Corpus, needs: Needs, *, counts: bool) -> int:
    """The digest of the labels of the corpus' images; with how often each is there, where a metric reads that."""
    images, every = needs.images(corpus), objects_of(corpus, needs, find=True) or ()
    rows = [(image, *item) for image, labels in zip(images, every, strict=True) for item in labels.items()]
    texts = [f"{label} {count}" if counts else label for _, label, count in rows]
    return _core.digest([image for image, _, _ in rows], texts)


def found_in_images(needs: Needs, image_ids: Sequence[str]) -> list[dict[str, int]]:
    """What the detector finds in each image: labels with counts. Warns about images that cannot be read, and have none.

    Raises `UnfitImages` where some have no file, `MissingDependencyError` without the extra `detect`.
    """
    files, detector, lowest = files_of_images(needs, image_ids), _detector(needs), threshold_of(needs)
    by_image: dict[str, list[Detection]] = needs.once(("detections", detector.name), dict)
    missing = sorted(missing_of(by_image, files), key=lambda image: files[image].order)
    tell, done, broken = share_teller(needs, "finding objects", len(missing)), 0, list[str]()
    for batch in detections(detector, {image: files[image] for image in missing}):
        for image, detected in batch.items():
            broken += [image] if isinstance(detected, DataError) else []
            by_image[image] = [] if isinstance(detected, DataError) else detected
        done += len(batch)
        tell(done)
    if broken:
        warn(f"no objects were found in {some(broken)}, which cannot be read: they count as images without any")
    located: dict[str, list[Detection]] = needs.once("located objects", dict)
    for image, every in by_image.items():
        located[image] = [detection for detection in every if detection.score >= lowest]
    labels = {image: [detection.label for detection in detected] for image, detected in located.items()}
    counts = {image: count_labels(labels_of_image, f"image {image}") for image, labels_of_image in labels.items()}
    return [counts[image] for image in image_ids]


def located_objects(needs: Needs) -> Mapping[str, Sequence[Located]]:
    """Where the objects are that metrics took, by image id: those of a file with boxes, or those that were found."""
    if "objects" in needs:
        return getattr(known_objects(needs), "located", {})
    return needs.once("located objects", dict)


def threshold_of(needs: Needs) -> float:
    """The least score of an object that was found: the call's, or the detector's own."""
    threshold: float | None = needs.get("threshold")
    return _detector(needs).threshold if threshold is None else threshold


def signature_of_found(needs: Needs) -> str:
    """What a score's signature says of objects that were found: `detector:nanodet-g@.4`."""
    return f"detector:{_detector(needs).name}@{f'{threshold_of(needs):g}'.removeprefix('0') or 0}"


def _detector(needs: Needs) -> Detector:
    return needs.once("detector", lambda: load_detector(threads=needs.threads))
