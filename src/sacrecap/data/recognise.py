"""What a file is: the one place that decides how it is read, and so whose message a user sees.

A file is told by its first bytes, a document of JSON by its structure, rows by the names of their columns, which are in
the table of `shapes`. What comes out is always the same: rows, and which of their columns hold what. First come the
functions that make rows of what is none: each gives None for what is of another form.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple, TypeGuard

from sacrecap.data import rows as readers
from sacrecap.data import shapes
from sacrecap.data.cells import LISTS
from sacrecap.data.rows import Rows, of_columns, of_records
from sacrecap.data.shapes import SHAPES, Shape, accepted, is_envelope, is_plain, shape_of_columns
from sacrecap.data.unpack import Content, binary_format, text_of
from sacrecap.errors import DataError, cut_off, first_of, naming

_SPLITS = {"train", "val", "valid", "validation", "dev", "test", "restval"}
_FIRST = 65
"""Images after which an object is a mapping, whatever comes later."""
_LINES = 100
"""Lines that tell what a text without header is."""
_ID = re.compile(r"\S*([0-9]|\.(jpe?g|png|webp|gif|mp4|avi|webm|wav|flac|mp3))\S*", re.IGNORECASE)
"""An id in a table without header: it has a digit, or is a file's name."""
_CLIP = re.compile(r"\S+_[0-9.]+_[0-9.]+")
"""A clip of MSVD: the video, and the seconds where it begins and ends."""
_MSVD = ("VideoID", "Start", "End", "Language", "Description")
"""Columns of MSVD's corpus; a clip is named by its video, begin and end."""
_TEXT_OF_TAR = ("txt", "caption", "text")


# JSON


def coco(document: Any) -> Rows | None:
    """COCO's annotations; `images`, where present, gives the order of the images, and those without captions."""
    annotations = document.get("annotations") if isinstance(document, dict) else None
    if not isinstance(annotations, list) or not all(isinstance(record, dict) for record in annotations):
        return None
    known = readers.names_of(annotations)
    captions = [name for name in ("caption", "captions") if name in known]
    if annotations and ("image_id" not in known or len(captions) != 1):
        return None
    images = document.get("images") or []
    if not isinstance(images, list) or not all(isinstance(image, dict) and "id" in image for image in images):
        raise DataError('each of "images" must be an object with "id"')
    marks = [name for name in known if shapes.excludes(name)]
    names = ["image_id", *(captions or ["caption"]), *marks]
    return replace(of_records(annotations, is_json=True), names=names, images=[image["id"] for image in images])


def karpathy(document: Any) -> Rows | None:
    """The split files that Karpathy published. An image goes by its `cocoid`, or else its `filename` or `imgid`."""
    images = document.get("images") if isinstance(document, dict) else None
    if not _are_objects(images) or "sentences" not in images[0]:
        return None
    records = []
    for number, image in enumerate(images, 1):
        try:
            texts = [sentence["raw"] for sentence in image["sentences"]]
        except (KeyError, TypeError):
            raise DataError(f'row {number} of "images" must have "sentences", a list of objects with "raw"') from None
        if not _are(texts, str):
            raise DataError(f'row {number} of "images" has a sentence whose "raw" is no text')
        name = next((image[name] for name in ("cocoid", "filename", "imgid") if name in image), None)
        records.append({"image_id": name, "captions": texts, "split": image.get("split")})
    return of_records(records, is_json=True)


def mapping(document: Any) -> Rows | None:
    """Captions, or lists of them, by image id; an object with the names of columns is a row."""
    if not isinstance(document, dict):
        return None
    values = [value if isinstance(value, list) else [value] for value in document.values()]
    unfit = next((n for n, texts in enumerate(values) if any(isinstance(text, dict | list) for text in texts)), None)
    if unfit is not None and unfit < _FIRST:
        return None
    has_one_list = sum(isinstance(value, list) for value in document.values()) == 1
    if len(document) < _FIRST and (shape_of_columns([*document]).is_known or (has_one_list and is_envelope(document))):
        return None
    if unfit is not None:
        image, value = next(islice(document.items(), unfit, None))
        kind = "an object" if isinstance(value, dict) else "a list of objects or lists"
        raise DataError(f"the caption of image {cut_off(image)} is {kind}; captions must be strings")
    return of_columns({"image_id": [*document], "caption": [*document.values()]}, is_json=True)


def rows_in(document: Any) -> Rows | None:
    """The rows of a document: a list, columns, rows by image, what pandas writes, or any of these inside objects."""
    if document == []:
        return of_columns({"image_id": [], "caption": []})
    direct = _rows_of(document)
    if direct is not None and shape_of_columns(direct.names).is_known:
        return direct
    row = of_records([document]) if isinstance(document, dict) else None
    is_row = row is not None and shape_of_columns(row.names).is_known
    inside = dict(_inside(document, 3, envelopes=not is_row)) if isinstance(document, dict) else {}
    known = {path: table for path, table in inside.items() if shape_of_columns(table.names).is_known}
    if len(known) > 1 and {*known} <= _SPLITS:
        records = [{"split": split, **record} for split in inside for record in document[split]]
        return replace(of_records(records), of_splits=[*inside])
    if len(known) > 1:
        places = " and ".join(known)
        raise DataError(f"has rows with captions under {places}; write those that are meant to a file of their own")
    if known or len(inside) == 1:
        return next(iter((known or inside).values()))
    return row if direct is None and is_row else direct


def _rows_of(document: Any) -> Rows | None:
    """The rows of a document, not of what is inside it."""
    if _are_objects(document):
        # Each row of the Hugging Face Hub's is in an object.
        inner = [row["row"] if "row_idx" in row and isinstance(row.get("row"), dict) else row for row in document]
        return of_records(inner, is_json=True)
    if not isinstance(document, dict) or not document:
        return None
    values = [*document.values()]
    if _are(values, list) and len({*map(len, values)}) == 1:
        if any(isinstance(cell, dict) for column in values for cell in column):
            return _by_image(document)
        return of_columns(document) if shape_of_columns([*document]).is_known else None
    if {"columns", "data"} <= document.keys() and _are(document["data"], list) and _are(document["columns"], str):
        return of_columns(dict(zip(document["columns"], map(list, zip(*document["data"], strict=True)), strict=False)))
    if not _are(values, dict):
        return _by_image(document) if _are(values, list) else None
    keys = [*values[0]]
    if all(entry.keys() == values[0].keys() for entry in values) and shape_of_columns(["key", *document]).is_known:
        return of_columns({"key": keys, **{name: [entry[key] for key in keys] for name, entry in document.items()}})
    return of_records([{"key": key, **value} for key, value in document.items()])


def _by_image(document: dict[str, list[Any]]) -> Rows | None:
    """`{id: [{"caption"}, …], …}`, as pycocoevalcap's `gts` and `res` are; an image may have none."""
    if not (shapes.WRAPPERS | _SPLITS).isdisjoint(document) or not any(document.values()):
        return None
    pairs = [(image, row) for image, records in document.items() for row in records]
    if not all(isinstance(row, dict) for _, row in pairs):
        return None
    # A row may have no id of another image, but an `id` may be the caption's.
    if any(str(row[name]) != image for image, row in pairs for name in shapes.IDS if name in row and name != "id"):
        return None
    none: dict[str, Any] = {name: [] for _, row in pairs for name in row}
    return of_records([{**row, "image_id": image} for image, records in document.items() for row in records or [none]])


def _inside(document: Any, depth: int, path: str = "", *, envelopes: bool) -> Iterator[tuple[str, Rows]]:
    """Rows under the keys of a document, and the keys of those in it; with `envelopes`, also lists of captions."""
    for key, value in document.items():
        name = f"{path}.{key}" if path else str(key)
        table = _rows_of(value)
        is_wrapper = table is None and key in shapes.WRAPPERS and isinstance(value, dict)
        if is_wrapper and all(isinstance(text, str) or _are(text, str) for text in value.values()):
            table = of_columns({"key": [*value], "caption": [*value.values()]})
        if table is None and envelopes and key in shapes.ENVELOPES and isinstance(value, list):
            table = lists(value)
        known = table is not None and (isinstance(value, list) or shape_of_columns(table.names).is_known)
        if table is not None and known:
            yield name, table
        elif isinstance(value, dict) and depth > 1:
            yield from _inside(value, depth - 1, name, envelopes=envelopes)


def _are_objects(document: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(document, list) and bool(document) and _are(document, dict)


def _are(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(item, kind) for item in values)


def msrvtt(document: Any) -> Rows | None:
    """The sentences of MSR-VTT, each with the split, the category and what else is known of its video."""
    sentences = document.get("sentences") if isinstance(document, dict) else None
    if not _are_objects(sentences) or not all("video_id" in sentence for sentence in sentences):
        return None
    videos = document.get("videos")
    listed = [video for video in videos if isinstance(video, dict)] if isinstance(videos, list) else []
    known = {str(video.get("video_id")): video for video in listed}
    return of_records([{**known.get(str(sentence["video_id"]), {}), **sentence} for sentence in sentences])


def activitynet(document: Any) -> Rows | None:
    """A paragraph per video: its sentences, in the order of the file; also of predictions, and of YouCook2."""
    videos = document.get("results", document.get("database", document)) if isinstance(document, dict) else None
    if not isinstance(videos, dict) or not videos:
        return None
    records = []
    for video, entry in videos.items():
        # {"sentences": [text, …], "timestamps"}, or a list of {"sentence", "timestamp"}
        is_object = isinstance(entry, dict)
        parts = entry.get("annotations") if is_object else entry
        sentences: Any = entry.get("sentences") if is_object and "timestamps" in entry else None
        if _are_objects(parts) and all("timestamp" in part or "segment" in part for part in parts):
            sentences = [part.get("sentence") for part in parts]
        if not _are(sentences, str):
            return None
        records.append({"video_id": video, "caption": " ".join(map(str.strip, sentences))})
        if is_object and "subset" in entry:
            records[-1]["split"] = entry["subset"]
    return of_records(records)


def lmms_eval(document: Any) -> Rows | None:
    """Id, prediction and references of logged samples; older versions write a list of them under "logs"."""
    samples = document.get("logs") if isinstance(document, dict) and "logs" in document else document
    samples = [samples] if isinstance(samples, dict) else samples
    if not _are_objects(samples) or not all({"doc_id", "filtered_resps"} <= sample.keys() for sample in samples):
        return None
    records = []
    for sample in samples:
        # The image's id is in the task's data, or in a metric's record.
        inside = [record for record in (sample.get("doc"), *sample.values()) if isinstance(record, Mapping)]
        names = ("image_id", "question_id", "file_name")
        image = next((record[name] for name in names for record in inside if name in record), sample["doc_id"])
        response = sample["filtered_resps"]
        while isinstance(response, list):  # of one for each repetition, each of which may be inside another list
            response = response[0] if response else None
        records.append({"id": image, "prediction": response, "references": sample.get("target")})
    return of_records(records)


def lists(document: Any) -> Rows | None:
    """Captions without image ids: the position in the list is the id, counted from 1. Or pairs of id and caption."""
    if not isinstance(document, list) or not document or not all(isinstance(item, str | list) for item in document):
        return None
    if all(isinstance(item, list) and _is_pair(item) for item in document):
        return of_columns({"id": [image for image, _ in document], "caption": [captions for _, captions in document]})
    records = [{"id": number, "caption": caption} for number, caption in enumerate(document, 1)]
    return replace(of_records(records), by_place=True)


# Tables and archives


def _token(line: str) -> tuple[str, str] | None:
    """Image and caption of a line of Flickr8k's or Flickr30k's: `name.jpg#0`, a tab, the caption."""
    name, tab, caption = line.partition("\t")
    image, _, number = name.rpartition("#")
    return (image, caption) if tab and image and number.isascii() and number.isdigit() else None


def flickr(content: Content) -> Rows:
    """A token file, in which the image goes by its file name. Raises `DataError` for other lines as it is read."""

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        lines = [line.removesuffix("\n").removesuffix("\r") for line in content.lines("\n")]
        tokens = {number: _token(line) for number, line in enumerate(lines, 1) if line.strip()}
        wrong = [number for number, token in tokens.items() if token is None]
        if wrong:
            also = f" (also line {first_of(wrong[1:])})" if wrong[1:] else ""
            text = cut_off(lines[wrong[0] - 1])
            raise DataError(f'line {wrong[0]}: "{text}" is not name.jpg#0, a tab and a caption{also}')
        columns = dict(zip(("image_id", "caption"), zip(*filter(None, tokens.values()), strict=True), strict=True))
        yield [[*columns[name]] if name in columns else [None] * len(tokens) for name in names]

    return Rows(["image_id", "caption"], batches)


def without_header(content: Content) -> Rows | None:
    """A table of ids and captions (or lists of them) without a header line; or MSVD's descriptions, with comments.

    Malformed quotes are an error only in a short table.
    """
    lines = content.lines()
    first = [line for line in islice(lines, _LINES) if line.strip() and not line.startswith("#")]
    if first and all(_CLIP.fullmatch(line.split(None, 1)[0]) and len(line.split(None, 1)) == 2 for line in first):
        clips = [line.split(None, 1) for line in chain(first, lines) if line.strip() and not line.startswith("#")]
        return of_columns({"id": [clip[0] for clip in clips], "caption": [clip[-1].strip() for clip in clips]})
    for delimiter in readers.DELIMITERS if first else ():
        reader, line, are_pairs = readers.fields_of(first, delimiter), 1, True
        try:
            for row in reader:
                are_pairs, line = are_pairs and _is_pair(row), reader.line_num + 1
        except csv.Error as error:
            if len(first) < _LINES and _is_pair(next(csv.reader(first[:1], delimiter=delimiter))):
                raise DataError(f"line {line}: {readers.quoting(error)}") from None
            are_pairs = False
        if are_pairs:
            return readers.of_table(content, ["id", "caption"], delimiter)
    return None


def _is_pair(row: Sequence[Any]) -> bool:
    """Whether these are an id and a caption, or captions."""
    if len(row) != 2 or not isinstance(row[0], str | int) or not _ID.fullmatch(str(row[0])):
        return False
    return isinstance(row[1], list) or (isinstance(row[1], str) and (" " in row[1].strip() or row[1].startswith(LISTS)))


def webdataset(data: bytes) -> Rows:
    """The captions of a tar of samples: the lines of `name.txt`, or what `name.json` holds."""
    import tarfile

    samples: dict[str, dict[str, Any]] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                folder, slash, file = member.name.removeprefix("./").rpartition("/")
                stem, _, suffix = file.partition(".")
                content = archive.extractfile(member) if suffix in (*_TEXT_OF_TAR, "json") else None
                if content is not None:
                    samples.setdefault(f"{folder}{slash}{stem}", {})[suffix] = content.read().decode()
    except (tarfile.TarError, UnicodeDecodeError, EOFError) as error:
        raise DataError(f"is no tar that can be read ({error}); write or download it again") from None
    if not samples:
        raise DataError("is a tar without captions; those of a sample are in NAME.txt or NAME.json")
    records = []
    for key, sample in samples.items():
        text = next((sample[suffix] for suffix in _TEXT_OF_TAR if suffix in sample), None)
        if text is None:
            try:
                document = json.loads(sample["json"])
            except ValueError as error:
                raise DataError(f"{key}.json is not JSON ({error})") from None
        else:
            lines = [line for line in text.splitlines() if line.strip()]
            document = lines if len(lines) > 1 else text
        records.append({**(document if isinstance(document, dict) else {"caption": document}), "image_id": key})
    return of_records(records)


# What a file is


_DOCUMENTS: dict[str, Callable[[Any], Rows | None]] = {
    "coco": coco,
    "karpathy": karpathy,
    "msrvtt": msrvtt,
    "activitynet": activitynet,
    "lmms-eval": lmms_eval,
    "lists": lists,
    "mapping": mapping,
    "rows": rows_in,
}
"""Shapes of a document of JSON, in the order in which they are tried."""
_TABLES = {"csv": ",;", "tsv": "\t"}
"""Formats of tables of text, by what stands between their fields."""


class Recognised(NamedTuple):
    """What a file is."""

    name: str
    shape: Shape
    rows: Rows
    document: Any = None
    """What it is in JSON, if it is one document."""
    problem: str = ""
    """Why no captions are found where nobody names columns."""

    @property
    def every(self) -> Rows:
        """The rows with all columns, as which somebody who names some sees them. Raises `DataError` if it has none."""
        if self.name not in ("coco", "karpathy", "mapping") or self.document is None:
            return self.rows
        inside = rows_in(self.document)
        if inside is None and isinstance(self.document, dict):
            inside = of_records([self.document])
        return self.rows if inside is None else inside


def recognised(content: Content, format: str | None = None) -> Recognised:
    """What the file is; `format` is one of `SHAPES`, if somebody says so. Messages do not name the file."""
    file = _recognised(content, format)
    if format in (None, "rows", file.name, "text"):
        return file
    layouts: Sequence[str] = ()  # formats that only say how the rows are written
    if file.document is not None:
        layouts = ("list", "jsonl") if isinstance(file.document, list) else ()
    elif file.rows.is_text:
        delimiter = readers.table_header(content)[1]
        layouts = [name for name, delimiters in _TABLES.items() if delimiter in delimiters]
    else:
        layouts = ("jsonl",) if binary_format(content.start) is None else shapes.TABLE_FORMATS
    if format in layouts:
        return file
    raise DataError(f"is not of format {format}, which is {SHAPES[format or '']}, but of format {file.name}")


def of_several(files: Mapping[str, Content], format: str | None = None) -> Recognised:
    """The rows of several files, one after the other; files that are empty are left out. Errors name the file."""
    by_name: dict[str, Rows] = {}
    for name, content in files.items():
        with naming(f"{name}: "):
            if content.start:
                by_name[name] = recognised(content, format).rows
    if not by_name:
        raise DataError("all files are empty")
    every = readers.of_files(by_name)
    return Recognised("rows", shape_of_columns(every.names), every)


def _recognised(content: Content, format: str | None) -> Recognised:
    start = content.start
    match binary_format(start):
        case None:
            pass
        case "spreadsheet":
            return _known("rows", readers.spreadsheet(content.read()))
        case "matlab":
            return _known("rows", readers.matlab_references(content))
        case "webdataset":
            return _known("webdataset", webdataset(content.read()))
        case table_format:
            return _known("rows", readers.of_arrow(content, table_format))
    if format == "text":
        return _known("text", readers.text_lines(content))
    if not content.is_utf8():
        text_of(content.read())
    if not start.decode(errors="replace").removeprefix("\ufeff").strip():
        raise DataError(f"the file is empty; {accepted()}")
    if format == "flickr":
        return _known("flickr", flickr(content))
    if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[") and format not in (*_TABLES, "pairs"):
        return _of_json(content, format)
    return _known(*_of_text(content, format))


def _known(name: str, table: Rows, document: Any = None, problem: str = "") -> Recognised:
    shape = shape_of_columns(table.names)
    if name in ("rows", "jsonl") and is_plain(shape):
        name = "list" if isinstance(document, list) else name
    elif name in ("rows", "jsonl"):
        name, table = "rows", replace(table, is_json=False)
    return Recognised(name, shape, table, document, problem)


def _of_json(content: Content, format: str | None) -> Recognised:
    """A document, or lines of JSON."""
    first = readers.first_records(content.start)
    is_lines = len(first) > 1 or (bool(first) and (format == "jsonl" or b"\n" in content.start.strip()))
    if is_lines and format in (None, "rows", "jsonl") and not any("filtered_resps" in record for record in first):
        return _known("jsonl", readers.of_lines(content))
    document = readers.parsed(content.read())
    named = {format: _DOCUMENTS[format]} if format in _DOCUMENTS and format != "rows" else {}
    for name, make in {**named, **_DOCUMENTS}.items():
        table = make(document)
        if table is not None:
            if name == "mapping":
                images: set[str] = set()  # of two that are equal, Python keeps the second
                for image in json.loads(content.read(), object_pairs_hook=lambda pairs: [pair[0] for pair in pairs]):
                    if image in images:
                        raise DataError(
                            f"image {cut_off(image)} stands twice in the mapping; put its captions in one list"
                        )
                    images.add(image)
            return _known(name, table, document)
    if not isinstance(document, dict):
        kinds: dict[type, str] = {str: "texts", dict: "objects", list: "lists"}
        inside = dict.fromkeys(kinds.get(type(item), "numbers, null, true or false") for item in document)
        raise DataError(f"found a list of {' and '.join(inside)}; {accepted()}")
    keys = ", ".join(map(cut_off, [*document][:8])) + (", …" if len(document) > 8 else "")
    problem = f"found an object with the keys {keys}; {accepted()}"
    return _known("rows", of_records([document]), document, problem)


def _of_text(content: Content, format: str | None) -> tuple[str, Rows]:
    """A table, with a header or without, or a token file."""
    if format is None and _token(next((line for line in content.lines("\n") if line.strip()), "")) is not None:
        return "flickr", flickr(content)
    try:
        table = None if format == "pairs" else readers.of_table(content)
    except DataError:
        table = None
    if format in _TABLES:
        if table is None:
            raise DataError(f"is not of format {format}, which is {SHAPES[format or '']}")
        return "rows", table
    if table is None or not shape_of_columns(table.names).is_known:
        pairs = without_header(content)
        if pairs is not None:
            return "pairs", pairs
    if table is None:
        line = next(line for line in content.lines() if line.strip()).strip()
        raise DataError(
            f'found a text that begins "{cut_off(line)}"; {accepted()}; where each line is a caption, choose '
            "the format text"
        )
    if not {*_MSVD} <= {*table.names}:
        return "rows", table
    english = [row for batch in table.batches(_MSVD) for row in zip(*batch, strict=True) if row[3] == "English"]
    ids = [f"{video}_{start}_{end}" for video, start, end, *_ in english]
    return "msvd", of_columns({"id": ids, "caption": [row[4] for row in english]})
