"""Folders of data sets: captioned images as they are released, a Karpathy split file, Flickr's token file, COCO's
`captions_*.json`; and others, in the Hugging Face Hub's layout. The image files themselves are not needed.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sacrecap.data.captions import CaptionFile
from sacrecap.data.objects import read_objects
from sacrecap.data.source import PathLike, Reading, content_of, display_name, files_of, read_bytes, reading
from sacrecap.data.unpack import Content
from sacrecap.errors import DataError, UsageError, naming, option, some

_SPLITS = {"restval": "train", "dev": "val", "valid": "val"}
"""Other names of splits; Karpathy's `restval` are validation images that are used for training by convention."""


@dataclass(frozen=True)
class CaptionedImage:
    """An image with what people say of it."""

    id: str
    """The image id, as in caption sets and references."""
    file: str
    """Name of its file."""
    split: str
    """`train`, `val` or `test`."""
    references: tuple[str, ...]
    objects: tuple[str, ...] = ()
    """Labels of its objects, if the data set has them."""


def read_captioned(path: PathLike) -> list[CaptionedImage]:
    """The images of a data set, in its order.

    Args:
        path: its folder, or its Karpathy split file.

    Raises:
        DataError: no data set is recognised there, or it is broken.
    """
    folder = Path(path) if os.path.isdir(path) else Path(path).parent
    images = of_folder(path) if os.path.isdir(path) else _of_json(Path(path), "karpathy", "filename")
    if images is None:
        raise DataError(
            f"{os.fspath(path)}: holds no captioned images; a folder has dataset*.json (Karpathy's splits), Flickr's "
            "token file with the lists of its splits, or COCO's annotations/captions_*.json"
        )
    objects: dict[str, dict[str, int]] = {}  # COCO's, in the folder of the captions
    for file in sorted([*folder.glob("instances_*.json"), *folder.glob("annotations/instances_*.json")]):
        objects |= read_objects(file, format="coco")
    labels = {image: tuple(Counter(counts).elements()) for image, counts in objects.items()}
    return [image if image.objects else replace(image, objects=labels.get(image.id, ())) for image in images]


def is_captioned(place: PathLike) -> bool:
    """Whether these are images with captions of people, as data sets are released, rather than images alone."""
    return os.fspath(place).endswith(".json") or (os.path.isdir(place) and of_folder(place) is not None)


def of_folder(folder: PathLike) -> list[CaptionedImage] | None:
    """The images of a folder, whose objects are not looked for; None if it has none of the forms."""
    path = Path(folder)
    karpathy, tokens, coco = _forms(path)
    if len(karpathy) > 1:
        raise DataError(f"{path}: holds several split files ({', '.join(p.name for p in karpathy)}); name one of them")
    if tokens and not karpathy:
        return _flickr(tokens[0], path)
    if karpathy:
        return _of_json(karpathy[0], "karpathy", "filename")
    return [image for file in coco for image in _of_json(file, "coco", "file_name")] if coco else None


def _forms(path: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """Karpathy's split files in a folder, Flickr's token files, and COCO's captions."""
    return (
        sorted(path.glob("dataset*.json")),
        sorted(p for p in path.iterdir() if re.search(r"\.token(\.txt)?$", p.name)),
        sorted([*path.glob("captions_*.json"), *path.glob("annotations/captions_*.json")]),
    )


def of_split(images: Collection[CaptionedImage], name: str) -> list[CaptionedImage]:
    """The images of a split.

    Raises:
        UsageError: none is in it; the message says which splits there are.
    """
    counts = Counter(image.split for image in images)
    if name not in counts:
        there = ", ".join(f"{split} ({count:,} images)" for split, count in counts.items())
        raise UsageError(f"no image is in the split {name!r}; the splits of these images are {there}")
    return [image for image in images if image.split == name]


def _of_json(path: Path, format: str, named: str) -> list[CaptionedImage]:
    """The images of a Karpathy split file, or of COCO's captions; the key of the names of their files is `named`."""
    file = CaptionFile(path, Reading(format))
    captions = file.captions("references").to_dict()
    files, splits, objects = (file.column(name) for name in (named, "split", "objects"))
    if format == "coco":  # its split is in the name of the captions' file: captions_train2017.json
        splits = dict.fromkeys(captions, re.sub(r"[0-9]+$", "", path.stem.removeprefix("captions_")))
    broken = [image for image in captions if not isinstance(files.get(image), str) or image not in splits]
    if broken:
        raise DataError(f'{path}: {some(broken)} without a "{named}", which is a text, or without a split')
    return [
        CaptionedImage(
            image,
            files[image],
            _SPLITS.get(str(splits[image]), str(splits[image])),
            (*texts,),
            (*objects.get(image, ()),),
        )
        for image, texts in captions.items()
    ]


def _flickr(tokens: Path, folder: Path) -> list[CaptionedImage]:
    """Flickr8k and Flickr30k: captions of the token file, of the images that the lists of the splits name."""
    captions = CaptionFile(tokens, Reading("flickr")).captions("references").to_dict()
    images, lists = [], sorted(folder.glob("*Images.txt"))
    for file in lists:
        match = re.search(r"(train|dev|val|test)Images\.txt$", file.name)
        split = _SPLITS.get(match[1], match[1]) if match else ""
        names = read_bytes(file).decode(errors="replace").split()
        unknown = [name for name in names if name not in captions]
        if unknown:
            raise DataError(f"{file}: {some(unknown)} have no caption in {tokens.name}")
        images += [CaptionedImage(name, name, split, tuple(captions[name])) for name in names if split]
    if not images:
        raise DataError(
            f"{folder}: there are no lists of splits next to {tokens.name}, such as Flickr_8k.trainImages.txt; "
            "put them there, or Karpathy's dataset_flickr30k.json"
        )
    return images


# Folders of other data sets

_METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
_SPLIT = re.compile(r"(train|val|valid|validation|dev|test)\b.*|.*-\d{5}-of-\d{5}")
"""What a file is called that holds a split, without its suffix."""


def contents_of(
    path: PathLike, split: str | None, format: str | None, *, held: bool = True
) -> tuple[dict[str, Content], str | None]:
    """The files to read, by name, and the split still to choose in them; of captioned images, one of a mapping."""
    files, left = _files_in_folder(path, split)
    if files:
        return {display_name(file): content_of(file, held=held) for file in files}, left
    name, images = os.fspath(path), of_folder(path) or []
    if format is not None:
        raise UsageError(f"{name}: is a folder of captioned images, whose form is recognised; leave the format out")
    splits = dict.fromkeys(image.split for image in images)
    if split is None and len(splits) > 1:
        raise _not_chosen(name, split, splits)
    if split is not None:
        with naming(f"{name}: "):
            images = of_split(images, split)
    return {name: Content(name, json.dumps({image.id: image.references for image in images}).encode())}, None


def _files_in_folder(path: PathLike, split: str | None) -> tuple[list[str], str | None]:
    """The files that a folder or a pattern stands for, and the split still to choose in them; none of images."""
    if not os.path.isdir(path):
        return files_of(os.fspath(path)), split
    name, place = os.fspath(path), Path(path)
    with reading(path):
        inside = sorted(os.listdir(path))
    metadata = [file for file in _METADATA if file in inside]
    if metadata:
        return [os.fspath(place / metadata[0])], split
    by_split: dict[str, list[str]] = {}
    has_splits = False
    for entry in [*(place / file for file in inside), *sorted((place / "data").glob("*"))]:
        if entry.suffix in (".parquet", ".arrow"):
            by_split.setdefault(entry.stem.partition("-")[0], []).append(os.fspath(entry))
            has_splits |= _SPLIT.fullmatch(entry.stem) is not None
        elif entry.is_dir() and "dataset_dict.json" in inside:  # Hugging Face's `DatasetDict`, of a folder per split
            by_split[entry.name], has_splits = sorted(map(os.fspath, entry.glob("*.arrow"))), True
        elif entry.is_dir() and (inner := [entry / file for file in _METADATA if (entry / file).is_file()]):
            by_split[entry.name], has_splits = [os.fspath(inner[0])], True
    if not has_splits:
        return ([] if not by_split and any(_forms(place)) else files_of(os.fspath(path))), split
    if split is not None and split in by_split:
        return by_split[split], None
    if len(by_split) > 1:
        raise _not_chosen(name, split, by_split)
    return next(iter(by_split.values())), split


def _not_chosen(name: str, split: str | None, splits: Iterable[str]) -> UsageError:
    problem = "no split is chosen" if split is None else f"no split is called {split!r}"
    choose = option("split", of="the readers in sacrecap.data")
    return UsageError(f"{name}: {problem}; the splits are {', '.join(splits)}: choose by {choose}")
