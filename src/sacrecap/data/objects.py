"""Which objects are in each image: gold annotations, plain lists, and what `sacrecap detect` writes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sacrecap.data import fields
from sacrecap.data.fields import checked, json_type
from sacrecap.data.rows import parsed
from sacrecap.data.source import PathLike, display_name, read_bytes
from sacrecap.data.writers import write_list
from sacrecap.errors import DataError, DataWarning, accepted_name, naming, some, warn

Objects = dict[str, dict[str, int]]
"""Labels and how often each is in the image, by image id, in the file's order."""
Labels: TypeAlias = "Mapping[str, int] | Iterable[str]"
Located: TypeAlias = tuple[str, float, tuple[float, ...]]
"""A label, the score of its detection, and its box: left, top, right, bottom in pixels; empty where it has none."""
ObjectSource: TypeAlias = "Mapping[Any, Labels] | Iterable[Mapping[str, Any]] | PathLike"


OBJECT_FORMATS = ("coco", "list", "mapping", "detections", "voc")
"""Names of the formats of objects."""


class DetectedObjects(Objects):
    """Objects of a file of detections, and where each is, by image id."""

    located: dict[str, list[Located]]


_ONE_THING = """
airplane aeroplane | motorcycle motorbike | couch sofa | potted-plant pottedplant houseplant | tv television tvmonitor
dining-table diningtable kitchen-&-dining-room-table | cow cattle | frisbee flying-disc | skis ski | donut doughnut
mouse computer-mouse | keyboard computer-keyboard | remote remote-control | cell-phone mobile-phone
microwave microwave-oven | hair-drier hair-dryer | sports-ball ball
"""
"""Names of one thing in the label sets of COCO, VOC and Open Images."""
_COCOS_NAME = {
    "".join(name.split("-")): names.split()[0].replace("-", "")
    for line in _ONE_THING.split("\n")
    for names in line.split("|")
    for name in names.split()
}

_SHAPES = (
    "COCO instances ({images, annotations, categories}), a list or JSON lines of {image_id, objects} or "
    "{image_id, detections}, {image id: [label, …]}, or a folder of VOC XML files"
)


def read_objects(source: PathLike, threshold: float | None = None, format: str | None = None) -> Objects:
    """Read the objects of each image, in any of `OBJECT_FORMATS`.

    An image may have none. Labels of an image that mean one thing are one, by the name that comes first: see `meaning`.
    Crowd annotations of COCO (``iscrowd``: 1), which mark an uncounted number of things,
    count as one object each. VOC's difficult objects count like all others.

    Args:
        source: the file, gzip or not, or the folder of VOC; ``-`` is standard input.
        threshold: keep only detections with at least this score, 0 to 1; needs a file that has scores.
        format: one of `OBJECT_FORMATS`; recognised from the content when not given.

    Raises:
        DataError: the file cannot be used; the message names the file, the place and the remedy.
        UsageError: no such format.
    """
    if format is not None:
        accepted_name("the format of objects", format, OBJECT_FORMATS)
    if threshold is not None:
        check_threshold(threshold)
    is_folder = source != "-" and os.path.isdir(source)
    if not is_folder and format != "voc":
        data = read_bytes(source)
        with naming(f"{display_name(source)}: "):
            return _of_file(data, format, threshold)
    with naming(f"{display_name(source)}: "):
        _refuse_threshold(threshold, "voc")
        if not is_folder:
            raise DataError("format voc is a folder of XML files; give the folder")
        if format not in (None, "voc"):
            raise DataError(f"is a folder, where format {format} is a file; name a file in it")
    # Of PASCAL VOC: an image's id is the name of its file, as in VOC's lists of images.
    objects, folder = {}, Path(source)
    for path in sorted(path for path in folder.iterdir() if path.suffix.lower() == ".xml"):
        data = read_bytes(path)
        with naming(f"{path}: "):
            objects[path.stem] = _counted(_labels_of_xml(data))
    if not objects:
        raise DataError(f"{folder}: holds no .xml file; give VOC's Annotations folder")
    return objects


def _of_file(data: bytes, format: str | None, threshold: float | None) -> Objects:
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if not start:
        raise DataError(f"is empty; accepted: {_SHAPES}")
    if start == b"<":
        raise DataError("looks like XML; for VOC annotations give the folder that holds the XML files")
    try:
        document = parsed(data, strict=True)
    except DataError as error:
        raise DataError(f"{error}; accepted: {_SHAPES}") from None
    format = format or _recognise(document)
    if format == "detections":
        return _detections(document, threshold)
    _refuse_threshold(threshold, format)
    if format != "list" and not isinstance(document, dict):
        raise DataError(f"is {json_type(document)}, where format {format} is an object; accepted: {_SHAPES}")
    if format == "coco":
        return _coco(document)
    if format == "list":
        return {image: count_labels(labels, f"image {image}") for image, labels in _images(document, "objects")}
    return {_image_id(image, "a key"): count_labels(labels, f"image {image}") for image, labels in document.items()}


def check_threshold(threshold: float) -> None:
    """Raises `DataError` unless it is a score, 0 to 1."""
    if not 0 <= threshold <= 1:
        raise DataError(f"the threshold must be a score between 0 and 1, got {threshold!r}")


def _refuse_threshold(threshold: float | None, format: str) -> None:
    if threshold is not None:
        raise DataError(f"a threshold needs detections with scores, and format {format} has none; leave it out")


def _recognise(document: Any) -> str:
    """The format of a parsed document."""
    if isinstance(document, dict):
        if "annotations" in document and "categories" in document:
            return "coco"
        if isinstance(document.get("annotations"), list):
            raise DataError(
                "has annotations but no categories, like a caption file; give the instances file of the data set"
            )
        if isinstance(document.get("image_id"), str | int):
            return "detections" if "detections" in document else "list"
        return "mapping"
    if isinstance(document, list):
        return "detections" if any(isinstance(row, dict) and "detections" in row for row in document) else "list"
    raise DataError(f"is {json_type(document)}; accepted: {_SHAPES}")


def _coco(document: dict[str, Any]) -> Objects:
    """COCO instances: labels are the names of the categories; `images` lists also images without annotation."""

    def rows(key: str) -> list[dict[str, Any]]:
        inside = document.get(key)
        if not isinstance(inside, list) or not all(isinstance(row, dict) for row in inside):
            raise DataError(f"{key} is not a list of objects; accepted: {_SHAPES}")
        return inside

    names = {}
    for category in rows("categories"):
        if "id" not in category or not isinstance(category["id"], str | int):
            raise DataError("a category has no id; each needs an id and a name")
        names[category["id"]] = _label(category.get("name"), f"category {category['id']}")
    by_image: dict[str, list[str]] = {}
    if "images" in document:
        for row in rows("images"):
            image = _image_id(row.get("id"), "an entry of images")
            if image in by_image:
                raise DataError(f"image {image} is listed twice under images; keep one")
            by_image[image] = []
    listed = len(by_image)
    for row in rows("annotations"):
        image = _image_id(row.get("image_id"), "an annotation")
        identifier = row.get("category_id")
        if not isinstance(identifier, str | int) or identifier not in names:
            raise DataError(
                f"image {image}: its category_id {identifier!r} is not among the categories; add the category"
            )
        if listed and image not in by_image:
            raise DataError(f"image {image} has an annotation but is not under images; add it there")
        by_image.setdefault(image, []).append(names[identifier])
    return {image: _counted(labels) for image, labels in by_image.items()}


def _detections(document: Any, threshold: float | None) -> Objects:
    """Rows of an image id and scored detections; those under the threshold are left out."""
    located: dict[str, list[Located]] = {}
    for image, detections in _images(document, "detections"):
        if not isinstance(detections, list):
            kind = json_type(detections)
            raise DataError(f"image {image}: its detections are {kind}; give a list of {{label, score}}")
        located[image] = []
        for detection in detections:
            if not isinstance(detection, dict):
                kind = json_type(detection)
                raise DataError(f"image {image}: a detection is {kind}; it must be an object {{label, score}}")
            label, score = _label(detection.get("label"), f"image {image}"), detection.get("score")
            confidence = checked(f"image {image}: the score of {label!r}", fields.number, score, least=0, most=1)
            if threshold is None or confidence >= threshold:
                box = detection.get("box")
                sides = tuple(side for side in box if isinstance(side, int | float)) if isinstance(box, list) else ()
                located[image].append((label, confidence, sides if len(sides) == 4 else ()))
    objects = DetectedObjects({image: _counted(label for label, *_ in rows) for image, rows in located.items()})
    objects.located = located
    return objects


def _labels_of_xml(data: bytes) -> Iterator[str]:
    from xml.etree import ElementTree

    class Builder(ElementTree.TreeBuilder):
        """Entities can be declared only in a document type: without one there is nothing to expand or fetch."""

        def doctype(self, *_: object) -> None:
            raise DataError("declares a document type, which may hold entities, and is not read; remove it")

    try:
        root = ElementTree.XML(data, ElementTree.XMLParser(target=Builder()))  # noqa: S314 - no entities, see above
    except ElementTree.ParseError as error:
        raise DataError(f"not XML ({error}); correct the file") from None
    except LookupError as error:
        raise DataError(f"its encoding cannot be read ({error}); convert it to UTF-8") from None
    if root.tag != "annotation":
        raise DataError(f"the outermost element is <{root.tag}>, where VOC has <annotation>")
    for number, element in enumerate(root.findall("object"), 1):
        label = (element.findtext("name") or "").strip()
        if not label:
            raise DataError(f"object {number} has no <name>, or an empty one; give its label")
        yield label


def _images(document: Any, key: str) -> Iterator[tuple[str, Any]]:
    """The image id of each row, and what is under the key."""
    rows = [document] if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise DataError(f"is {json_type(document)}; accepted: {_SHAPES}")
    images = set()
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise DataError(f"row {number} is {json_type(row)}; each row is an object with image_id and {key}")
        image = _image_id(row.get("image_id"), f"row {number}")
        if key not in row:
            raise DataError(f"image {image} (row {number}) has no {key}; each row has image_id and {key}")
        if image in images:
            raise DataError(f"image {image} is listed twice; keep one row for each image")
        images.add(image)
        yield image, row[key]


def count_labels(objects: object, where: str) -> dict[str, int]:
    """How often each label is in an image, from a list of labels or labels with counts; those of count 0 are none."""
    if isinstance(objects, Mapping):
        counts = {
            _label(label, where): checked(f"{where}: the count of {label!r}", fields.whole, count, least=0)
            for label, count in objects.items()
        }
        return _counted(counts, counts)
    if not isinstance(objects, Iterable) or isinstance(objects, str):
        raise DataError(f"{where}: its objects are {json_type(objects)}; give a list of labels or {{label: count}}")
    return _counted(_label(label, where) for label in objects)


def meaning(label: str) -> str:
    """What a label is called, to be compared: case, blanks, `_` and `-` do not count; of names of one thing COCO's."""
    plain = re.sub(r"[\s_-]+", "", label.casefold())
    return _COCOS_NAME.get(plain, plain)


def _counted(labels: Iterable[str], counts: Mapping[str, int] | None = None) -> dict[str, int]:
    """How often each thing is there, by the first of its labels; each counts once, or as often as `counts` says."""
    known: dict[str, str] = {}
    names: dict[str, int] = {}
    for label in labels:
        if count := 1 if counts is None else counts[label]:
            first = known.setdefault(meaning(label), label)
            names[first] = names.get(first, 0) + count
    return names


def _image_id(value: object, where: str) -> str:
    return checked(f"{where}: the image id", fields.name, value)


def _label(value: object, where: str) -> str:
    return checked(f"{where}: a label", fields.text, value)


def write_objects(path: PathLike, objects: Mapping[str, Mapping[str, int] | Sequence[str]]) -> None:
    """Write a list of ``{"image_id", "objects"}``, one row per line: labels with counts, or only labels.

    Args:
        path: the file to write; ``-`` is standard output. The file appears when it is complete.
        objects: by image id, counts by label, or labels.

    Raises:
        DataError: the file cannot be written.
    """
    plain = ((image, dict(of) if isinstance(of, Mapping) else list(of)) for image, of in objects.items())
    write_list(path, ({"image_id": image, "objects": of} for image, of in plain))


def unite(sources: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, list[str]]:
    """The unique things in each image by any of the sources, each by the label that comes first: see `meaning`. Counts
    of several sources cannot be added.

    Warns:
        DataWarning: an image is missing in a source; it counts as having no objects there.
    """
    files = list(sources)
    images = dict.fromkeys(image for objects in files for image in objects)
    partly = [image for image in images if any(image not in objects for objects in files)]
    if partly:
        warn(f"not in every file, and counted as without objects there: {some(partly)}", DataWarning)
    united: dict[str, dict[str, str]] = {image: {} for image in images}
    for image, labels in (entry for objects in files for entry in objects.items()):
        for label in labels:
            united[image].setdefault(meaning(label), label)
    return {image: list(labels.values()) for image, labels in united.items()}
