"""Annotations of PASCAL VOC: a folder with an XML file per image."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError

_LABEL = ("annotation", "object", "name")


def read_folder(folder: Path) -> dict[str, list[str]]:
    """Labels by image id, which is the name of the XML file without suffix, as in VOC's image lists.

    Raises:
        DataError: there is no XML file, or one cannot be used; the message names file and line.
    """
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".xml")
    if not files:
        raise DataError(f"{folder}: holds no .xml file; give VOC's Annotations folder")
    return {path.stem: _labels(path) for path in files}


def _labels(path: Path) -> list[str]:
    """The name of each object of one file."""
    reader = _AnnotationReader(path)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    # Entities can be declared only in a document type: without one there is nothing to expand or fetch.
    parser.StartDoctypeDeclHandler = reader.doctype
    reader.parser = parser
    try:
        parser.Parse(read_bytes(path), True)
    except expat.ExpatError as error:
        raise DataError(
            f"{path}, line {error.lineno}: not XML ({expat.ErrorString(error.code)}); correct the file"
        ) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}: its encoding cannot be read ({error}); convert it to UTF-8") from None
    return reader.labels


class _AnnotationReader:
    """Collects the texts of annotation/object/name; parts of an object also have names, on deeper levels."""

    parser: Any

    def __init__(self, path: Path) -> None:
        self.path = path
        self.labels: list[str] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.named = True

    def start(self, tag: str, _: dict[str, str]) -> None:
        if not self.open and tag != "annotation":
            self.fail(f"the outermost element is <{tag}>, where VOC has <annotation>")
        if tag == "object" and len(self.open) == 1:
            self.named = False
        self.open.append(tag)
        self.words = []

    def text(self, text: str) -> None:
        self.words.append(text)

    def end(self, _: str) -> None:
        if tuple(self.open) == _LABEL:
            label = "".join(self.words).strip()
            if not label:
                self.fail("the name of an object is empty; give its label")
            self.labels.append(label)
            self.named = True
        elif tuple(self.open) == _LABEL[:2] and not self.named:
            self.fail("an object has no <name>; give its label")
        self.open.pop()

    def doctype(self, *_: object) -> None:
        self.fail("declares a document type, which may hold entities, and is not read; remove the <!DOCTYPE …>")

    def fail(self, why: str) -> None:
        raise DataError(f"{self.path}, line {self.parser.CurrentLineNumber}: {why}")
