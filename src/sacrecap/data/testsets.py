"""Named test sets: `coco-karpathy-test` instead of a file of references, `coco-train` instead of one of document
frequencies. Fetched once, then kept.

The files come from their publishers. Checksums are those that TensorFlow Datasets has published, of ABSTRACT-50S one of
its authors' repository; if there is none, that of the first download is kept, and compared with later ones.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from sacrecap._core import Captions
from sacrecap.data.source import in_cache, opened, read_bytes
from sacrecap.data.unpack import Content
from sacrecap.data.writers import atomic_write
from sacrecap.errors import DataError, SacrecapWarning, UsageError, did_you_mean, naming, warn

_PIECE = 1 << 18
FOLDER = "SACRECAP_TEST_SETS"
"""The environment variable that names the folder of test sets, instead of one in the user's cache folder."""

Progress = Callable[[str, int, int], object]
"""Takes a file's name, the number of bytes fetched, and the number of all bytes as far as the server says it."""


@dataclass(frozen=True)
class PublishedFile:
    """A published file: its URL, and its SHA-256 if that is published."""

    url: str
    sha256: str | None = None

    @property
    def name(self) -> str:
        """Its name, the same here as at the publisher."""
        return os.path.basename(self.url)


def save(url: str, path: str, progress: Callable[[int, int], object] | None = None, sha256: str | None = None) -> str:
    """Puts what a server answers into a file, whole or not at all; returns its SHA-256. Messages name no URL."""
    from http.client import HTTPException

    checksum = hashlib.sha256()
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with opened(url) as response, atomic_write(path, "wb") as file:
            size = int(response.headers["Content-Length"] or 0)
            while piece := response.read(_PIECE):
                checksum.update(piece)
                file.write(piece)
                if progress is not None:
                    progress(file.tell(), max(size, file.tell()))
            if file.tell() < size:
                raise DataError(f"it ends after {file.tell():,} of {size:,} bytes")
            if sha256 not in (None, checksum.hexdigest()):
                raise DataError(f"it is not the published file: its SHA-256 is {checksum.hexdigest()}, not {sha256}")
    except (OSError, HTTPException) as error:
        raise DataError(str(error)) from None
    return checksum.hexdigest()


def download(source: PublishedFile, folder: str, progress: Progress | None = None) -> None:
    """Puts the file into the folder. Of one without published checksum, that of the first download lies beside it."""
    path = os.path.join(folder, source.name)
    known = source.sha256
    if known is None:
        with contextlib.suppress(DataError, ValueError, IndexError):  # as `sha256sum` writes it
            known = read_bytes(f"{path}.sha256").decode("ascii").split()[0]
    try:
        checksum = save(source.url, path, progress and (lambda done, size: progress(source.name, done, size)), known)
    except DataError as error:
        raise DataError(
            f"{source.url}: cannot be fetched ({error}); run the command again, or fetch {source.name} on another "
            f"machine and give its folder by {FOLDER}=DIR"
        ) from None
    if known is None:
        with atomic_write(f"{path}.sha256") as note:
            note.write(f"{checksum}  {source.name}\n")
        warn(
            f"{source.url}: nobody has published a checksum of it; that of this download, {checksum}, is "
            f"kept in {path}.sha256, and is compared with later ones",
            SacrecapWarning,
        )


@dataclass(frozen=True)
class TestSet:
    """The references of a part of a data set, or document frequencies."""

    __test__: ClassVar[bool] = False  # tells pytest that this is not a test class

    name: str
    summary: str
    source: PublishedFile
    images: int
    member: str | None = None
    """The file inside the source, if that is a zip file; else the name of another form of it."""
    split: str | None = None
    counts: Literal["words", "stems", "pickle"] | None = None
    """Of document frequencies: what is counted of its references, or a `pickle` of counts."""


_KARPATHY = PublishedFile(
    "https://cs.stanford.edu/people/karpathy/deepimagesent/caption_datasets.zip",
    "4cfd70132527b80933105e5829dc9034eaab9573482e2e680abbab6130244817",
)
_COCO_2014 = PublishedFile(
    "http://images.cocodataset.org/annotations/annotations_trainval2014.zip",
    "031296bbc80c45a1d1f76bf9a90ead27e94e99ec629208449507a4917a3bf009",
)
_COCO_2017 = PublishedFile(
    "http://images.cocodataset.org/annotations/annotations_trainval2017.zip",
    "113a836d90195ee1f884e704da6304dfaaecff1f023f49b6ca93c4aaae470268",
)
_NOCAPS = PublishedFile("https://nocaps.s3.amazonaws.com/nocaps_val_4500_captions.json")
_CIDER = "https://raw.githubusercontent.com/vrama91/cider/f281464c60d496b8fabb89a7a8c120f655a3a2bd/data"
"""The files of CIDEr's authors, as they last left them."""
_PASCAL_50S = PublishedFile(
    "https://raw.githubusercontent.com/vrama91/cider-matlab/734089da05b495bb7a36cece2cd8ddb548d128aa/data/pascal50S.mat",
    "f927c038104d9579ce89be6b8c1a10415b41ce02519becc28238b6fb75a145ac",
)
_ABSTRACT_50S = PublishedFile(
    f"{_CIDER}/abstract48S.json", "dcce550703d975d64307d0df85eacf73c3e80b17172b1564aec91ca2a6b37405"
)

_VALIDATION = PublishedFile(f"{_CIDER}/coco-val-df.p")


def _karpathy(data: str, split: str, images: int, summary: str) -> TestSet:
    """A split of COCO, Flickr8k or Flickr30k as Karpathy has made them."""
    name = f"{data}-karpathy-{split}"
    return TestSet(name, summary, _KARPATHY, images, member=f"dataset_{data}.json", split=split)


_TRAINING = _karpathy("coco", "train", 113_287, "document frequencies of COCO, Karpathy's split, training")

TEST_SETS: dict[str, TestSet] = {
    test_set.name: test_set
    for test_set in (
        _karpathy("coco", "test", 5_000, "COCO, Karpathy's split: what papers report"),
        _karpathy("coco", "val", 5_000, "COCO, Karpathy's split, validation"),
        _karpathy("flickr8k", "test", 1_000, "Flickr8k, Karpathy's split"),
        _karpathy("flickr8k", "val", 1_000, "Flickr8k, Karpathy's split, validation"),
        _karpathy("flickr30k", "test", 1_000, "Flickr30k, Karpathy's split"),
        _karpathy("flickr30k", "val", 1_014, "Flickr30k, Karpathy's split, validation"),
        TestSet("coco-val2014", "COCO 2014, validation", _COCO_2014, 40_504, member="captions_val2014.json"),
        TestSet("coco-val2017", "COCO 2017, validation", _COCO_2017, 5_000, member="captions_val2017.json"),
        TestSet("nocaps-val", "nocaps, validation", _NOCAPS, 4_500),
        TestSet("pascal-50s", "PASCAL-50S: 50 references of each image", _PASCAL_50S, 1_000, "pascal50S.json"),
        TestSet("abstract-50s", "ABSTRACT-50S: 48 references of each drawn scene", _ABSTRACT_50S, 500),
        replace(_TRAINING, name="coco-train", counts="words"),
        replace(_TRAINING, name="coco-train-stems", counts="stems", summary=f"{_TRAINING.summary}, of stems"),
        TestSet("coco-val-df", "document frequencies of COCO 2014, validation", _VALIDATION, 40_504, counts="pickle"),
    )
}
NEAR = 0.75
"""The least share of letters in common with the name of a test set which may be meant."""


def folder() -> str:
    """The folder of test sets: the one that the environment names, else one in the user's cache folder."""
    return os.environ.get(FOLDER) or in_cache("test-sets")


def find(name: str, progress: Progress | None = None) -> str | None:
    """The file of references of the test set of this name, fetched if it is not here; None if there are none."""
    test_set = TEST_SETS.get(name)
    if test_set is None or test_set.counts is not None:
        return None
    path = place_of(test_set)
    if not os.path.isfile(path):
        captions = captions_of(test_set, progress)
        with atomic_write(path) as file:
            json.dump(captions.to_dict(), file, ensure_ascii=False)
    return path


def named(name: str) -> TestSet:
    """The test set of this name. Raises `UsageError` if there is none."""
    if name not in TEST_SETS:
        hint = did_you_mean(name, TEST_SETS, cutoff=NEAR)
        raise UsageError(f"no test set is called {name!r}{hint}; sacrecap testsets lists them")
    return TEST_SETS[name]


def place_of(test_set: TestSet) -> str:
    """Where the references alone, or the counts, lie after the first use: the published file may be far larger."""
    return os.path.join(folder(), f"{test_set.name}.{'json' if test_set.counts is None else 'df'}")


def _sources(test_set: TestSet) -> list[str]:
    """Possible places of the published file, unpacked or not."""
    return [os.path.join(folder(), name) for name in (test_set.member, test_set.source.name) if name is not None]


def captions_of(test_set: TestSet, progress: Progress | None = None) -> Captions:
    """The references, from the published file, which is fetched if it is not here. Raises as `find`."""
    from sacrecap.data.recognise import recognised

    unpacked = _sources(test_set)[0]
    source = unpacked if os.path.isfile(unpacked) else file_of(test_set.source, progress)
    if test_set.member is None or not source.endswith(".zip"):
        data = read_bytes(source)
    else:
        import zipfile
        import zlib

        remedy = "remove it; then it is fetched again"
        try:
            with zipfile.ZipFile(source) as archive:
                names = [path for path in archive.namelist() if path.rpartition("/")[2] == test_set.member]
                if not names:
                    raise DataError(f"{source}: has no file {test_set.member}; {remedy}")
                data = archive.read(names[0])
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, RuntimeError) as error:
            raise DataError(f"{source}: cannot be unpacked ({error}); {remedy}") from None
    with naming(f"{source}: "):
        file = recognised(Content(source, data))
        captions = file.shape.read(file.rows, "references", test_set.split)
    if captions.image_count != test_set.images:
        raise DataError(
            f"{source}: has {captions.image_count:,} images of {test_set.name}, where there should be "
            f"{test_set.images:,}; remove it; then it is fetched again"
        )
    return captions


def file_of(source: PublishedFile, progress: Progress | None = None) -> str:
    """The published file in the folder of test sets; it is fetched if it is not here. Raises as `find`."""
    path = os.path.join(folder(), source.name)
    if not os.path.isfile(path):
        download(source, folder(), progress)
    return path


def describe(test_set: TestSet) -> dict[str, Any]:
    """The description of a test set, as JSON; `here`: whether it is available without the network."""
    return {
        "name": test_set.name,
        "summary": test_set.summary,
        "images": test_set.images,
        "url": test_set.source.url,
        "here": any(os.path.isfile(path) for path in (place_of(test_set), *_sources(test_set))),
        "checksum": "published" if test_set.source.sha256 else "of the first download",
    }
