"""Rows with named columns, from any bytes that hold them: one function per format.

Lines, tables and columnar files are read piece by piece, documents of JSON and spreadsheets whole.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

from sacrecap.data.cells import at, paths
from sacrecap.data.fields import json_type
from sacrecap.data.source import PathLike, display_name, reading
from sacrecap.data.unpack import MATLAB, Content, text_of
from sacrecap.errors import DataError, SacrecapError, first_of, naming, of_extra

_LOOKED_AT = 100
"""How many rows are read for the names of columns: others that later rows have are ignored."""
_ROWS = 10_000
"""Rows that are read together."""
DELIMITERS = "\t,;|"
"""What may stand between the fields of a table, the surest first."""
UNNAMED = "Unnamed: "
"""What a column without a name is called, before its place, as by pandas, which writes its index so."""
_FLICKR = ["image_name", "comment_number", "comment"]
"""The columns of Flickr30k's `results.csv`; in one line the bar between number and comment is missing."""
_BLANK = re.compile(r"[ \t\r\n]*")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\r?\n?")
"""The line of dashes below the header of a table of Markdown."""


@dataclass(frozen=True)
class Rows:
    """Rows of one file, or of several."""

    names: list[str]
    """The columns. A part of an object inside a row is named by a path: `doc.question_id`."""
    batches: Callable[[Sequence[str]], Iterator[list[list[Any]]]]
    """The values of these columns, the image ids first, batch by batch. Raises `DataError` for unusable rows."""
    is_text: bool = False
    """Whether cells are text, so that none is null."""
    is_json: bool = False
    """Whether cells are values of JSON, of which a null caption may be a call of a model that failed."""
    images: Sequence[Any] = ()
    """Ids of images, in their order, of which there may be no row."""
    by_place: bool = False
    """Whether image ids are places in the file, which several files cannot have together."""
    of_splits: Sequence[str] = ()
    """Splits in which the rows stand apart, so that one has to be chosen."""


def of_records(records: Sequence[Mapping[str, Any]], *, is_json: bool = False) -> Rows:
    """Rows that are in memory, as JSON objects."""

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        yield _columns(records, names, 1)

    return Rows(names_of(records), batches, is_json=is_json)


def _columns(records: Sequence[Mapping[str, Any]], names: Sequence[str], first: int) -> list[list[Any]]:
    """The values of these columns in records, of which the first has this number."""
    return [
        [record.get(name) for record in records]
        if name.isidentifier()
        else [_of_row(record, name, number) for number, record in enumerate(records, first)]
        for name in names
    ]


def names_of(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of all values in the first rows."""
    return list(dict.fromkeys(path for record in records[:_LOOKED_AT] for path in paths(record)))


def _of_row(record: Mapping[str, Any], name: str, number: int) -> Any:
    """The value of a column in a row. Raises `DataError` where a path into lists leads nowhere, or to several."""
    try:
        value = at(record, name)
    except DataError as error:
        why = f"{name} {error}"
    else:
        if value is not None or not re.search(r"\[|\.[0-9]+(\.|$)", name):
            return value
        why = f"has nothing at {name}; leave such rows out, or add what they lack"
    first = next(iter(record.values()), None)
    raise DataError(f"row {number} {f'({first}) ' if isinstance(first, str | int) else ''}{why}")


def of_columns(columns: Mapping[str, list[Any]], *, is_json: bool = False) -> Rows:
    """Columns that are in memory."""

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        rows = len(next(iter(columns.values()), []))
        yield [columns[name] if name in columns else [None] * rows for name in names]

    return Rows(list(columns), batches, is_json=is_json)


def of_files(files: Mapping[str, Rows]) -> Rows:
    """Rows of several files by their names, one after the other; the columns are those that all have."""

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        for name, file in files.items():
            with naming(f"{name}: "):
                yield from file.batches(names)

    placed = [name for name, table in files.items() if table.by_place]
    if placed and len(files) > 1:
        raise DataError(
            f"{first_of(placed)}: captions without image ids, and places in one of several files are none; give them "
            "ids, or write them into one file"
        )
    first, *rest = files.values()
    names = [name for name in first.names if all(name in table.names for table in rest)]
    images = [image for table in files.values() for image in table.images]
    return Rows(names, batches, first.is_text, first.is_json, images)


# JSON


def of_lines(content: Content) -> Rows:
    """JSON lines: an object per line. Raises `DataError` for lines that are none as they are read."""

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        lines, number = enumerate(content.lines(), 1), 1
        while chunk := list(islice(lines, _ROWS)):
            records = objects_of_lines([(place, line) for place, line in chunk if line.strip()])
            yield _columns(records, names, number)
            number += len(records)

    return Rows(names_of(first_records(content.start)), batches, is_json=True)


def objects_of_lines(lines: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
    """The objects of numbered lines. Raises `DataError` for a line that is none; the message does not name the file."""
    try:
        records = json.loads(f"[{','.join(line for _, line in lines)}]")
        if len(records) == len(lines) and all(type(record) is dict for record in records):
            return records  # type: ignore[no-any-return]
    except (ValueError, RecursionError):
        pass
    objects: list[dict[str, Any]] = []
    for number, line in lines:  # of which one is none
        try:
            record = json.loads(line)
        except (RecursionError, ValueError) as error:
            raise DataError(f"line {number}: not a row of JSON ({error})") from None
        if not isinstance(record, dict):
            raise DataError(f"line {number}: is {json_type(record)}, where the others are objects")
        objects.append(record)
    return objects


def first_records(start: bytes) -> list[dict[str, Any]]:
    """The objects of the first lines, as far as they are such."""
    lines = (line for line in io.BytesIO(start.removeprefix(b"\xef\xbb\xbf")) if line.strip())
    records: list[dict[str, Any]] = []
    with contextlib.suppress(DataError, UnicodeDecodeError):
        for line in islice(lines, _LOOKED_AT):
            records += objects_of_lines([(0, line.decode())])
    return records


def parsed(data: bytes, *, strict: bool = False) -> Any:
    """A JSON document; several as a list. Raises `DataError`, if `strict` also for NaN and keys that stand twice."""
    text = text_of(data)
    decoder = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_unique) if strict else json.JSONDecoder()
    documents: list[Any] = []
    place = 0
    while (place := _BLANK.match(text, place).end()) < len(text) or not documents:  # type: ignore[union-attr]
        try:
            document, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            where, rest = f"line {error.lineno}, column {error.colno}", text[error.pos :]
            if not rest.strip() or error.msg.startswith("Unterminated string"):
                problem = "the JSON ends early, as if the file were cut off; write or download it again"
            else:
                hint = "; JSON strings stand in double quotes" if rest.startswith("'") else ""
                problem = f"not JSON ({error.msg}){hint}"
            raise DataError(f"{where}: {problem}") from None
        except RecursionError:
            raise DataError("is JSON that is nested too deeply") from None
        except DataError:
            raise
        except ValueError as error:
            raise DataError(f"a number of JSON is too long ({error})") from None
        if documents and not (isinstance(documents[0], dict) and isinstance(document, dict)):
            line = text.count("\n", 0, place) + 1
            raise DataError(f"line {line}: is {json_type(document)}, where the others are objects")
        documents.append(document)
    return documents if len(documents) > 1 else documents[0]


def _no_number(word: str) -> Any:
    raise DataError(f"{word} is not a JSON number; replace it")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise DataError(f"{twice!r} occurs twice in one object; keep one")
    return unique


# Text


def of_table(content: Content, known: Sequence[str] | None = None, delimiter: str = ",") -> Rows:
    """A text table under a header line, or without one: of columns and with a delimiter that are `known`."""
    columns, delimiter = table_header(content) if known is None else ([*known], delimiter)

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        check_single(columns, names)
        places = [columns.index(name) if name in columns else None for name in names]
        rows = table_rows(content, columns, delimiter, has_header=known is None)
        while chunk := [row for _, row in islice(rows, _ROWS)]:
            yield [[row[place] for row in chunk] if place is not None else [""] * len(chunk) for place in places]

    return Rows(columns, batches, is_text=True)


def delimiter_of(header: str) -> str | None:
    """What stands between the names in the header of a text table: what is most often there; None where nothing is."""
    delimiter = max(DELIMITERS, key=header.count)
    return delimiter if delimiter in header else None


def fields_of(lines: Iterable[str], delimiter: str) -> Any:
    """The fields of each row, as `csv.reader`. Between bars, as in Flickr30k's table, quotes are those of captions."""
    bars = delimiter == "|"
    return csv.reader(lines, delimiter=delimiter, strict=True, quoting=csv.QUOTE_NONE if bars else csv.QUOTE_MINIMAL)


def table_header(content: Content) -> tuple[list[str], str]:
    """The columns of a text table, all named, and its delimiter. Raises `DataError` for a text without header."""
    first = next((line for line in content.lines() if line.strip()), "")
    delimiter = delimiter_of(first)
    if delimiter is None:
        raise DataError("has no header line with columns")
    names = enumerate(next(csv.reader([first], delimiter=delimiter)))
    return [name.strip() or f"{UNNAMED}{place}" for place, name in names], delimiter


def table_rows(
    content: Content, columns: list[str], delimiter: str, *, has_header: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table, each with its line. They have to fit the header, and their quotes RFC 4180."""
    csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))  # a column of pictures as text
    lines, before = content.lines(), 0
    if has_header:
        before = 1 + next(number for number, line in enumerate(lines) if line.strip())
    bars = delimiter == "|"
    reader = fields_of(lines, delimiter)
    number, line, width = 0, before + 1, len(columns)
    ids: set[str] = set()
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(f"row {number + 1} (line {line}): {quoting(error)}") from None
        start, line = line, before + reader.line_num + 1
        if not row or (bars and number == 0 and _RULE.fullmatch(delimiter.join(row))):
            continue
        number += 1
        if len(row) != width:
            first, _, comment = row[-1].strip().partition(" ")
            if columns == _FLICKR and len(row) == 2 and first.isdecimal():
                row = [row[0], first, comment]  # 2199200615.jpg| 4   A dog …
            if len(row) != width:
                raise DataError(
                    f"row {number} (line {start}): has {len(row)} fields where the header has {width}; put a caption "
                    "that holds the delimiter in double quotes"
                )
        ids.add(row[0])
        if line - start > 1 and not bars and any(holds_rows(field, delimiter, ids) for field in row):
            raise DataError(
                f"row {number} (line {start}): a double quote opens a field that holds the lines below it; double the "
                "quotes inside a field"
            )
        yield start, [field.strip() for field in row] if bars else row


def quoting(error: csv.Error) -> str:
    """What is wrong with the quotes of a row."""
    if "unexpected end of data" in str(error):
        return "a double quote is opened in this row and never closed; double the quotes inside a field"
    if "expected after" in str(error):
        return (
            "text follows the double quote that closes a field; double the quotes inside a field, also where a program "
            'wrote \\" for them'
        )
    return f"the table cannot be read: {error}"


def holds_rows(field: str, delimiter: str, ids: Container[str]) -> bool:
    """Whether a field of several lines holds what looks like further rows of these ids: a quote is open by mistake."""
    parts = (line.partition(delimiter) for line in field.split("\n")[1:])
    return any(sign and (delimiter == "\t" or first in ids) for first, sign, _ in parts)


def check_single(columns: Sequence[str], names: Sequence[str]) -> None:
    """Raises `DataError` if one of the names stands for several columns."""
    for name in names:
        if columns.count(name) > 1:
            raise DataError(f"has {columns.count(name)} columns called {name}; give each a name of its own")


def text_lines(content: Content) -> Rows:
    """One line per image, with its captions; tabs separate several. The position in the file is the id, from 1."""

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        lines, number = content.lines("\n"), 1
        while chunk := [line.removesuffix("\n").removesuffix("\r") for line in islice(lines, _ROWS)]:
            columns: dict[str, list[Any]] = {
                "id": [*range(number, number + len(chunk))],
                "caption": [line.split("\t") if "\t" in line else line for line in chunk],
            }
            yield [columns.get(name, [None] * len(chunk)) for name in names]
            number += len(chunk)

    return Rows(["id", "caption"], batches, by_place=True)


# Tables of programs


def spreadsheet(data: bytes) -> Rows:
    """The first sheet of an Excel file."""
    with of_extra("files", "reading Excel files"):
        from openpyxl import load_workbook
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        lines = iter(book.worksheets[0].iter_rows(values_only=True))
        names = [None if name is None else str(name).strip() for name in next(lines, ())]
        rows = [row for row in lines if any(cell is not None for cell in row)]
    except Exception as error:  # noqa: BLE001 - openpyxl lets those of zip and XML through
        reason = str(error).partition("\n")[0]
        raise DataError(f"is no Excel file that can be read ({reason}); write it again, or as CSV") from None
    named = [(place, name) for place, name in enumerate(names) if name]
    return of_columns({name: [row[place] if place < len(row) else None for row in rows] for place, name in named})


def of_arrow(content: Content, format: str) -> Rows:
    """The rows of a Parquet or Arrow file or stream, batch by batch; parts of a struct by paths: `image.path`."""
    with whole(format), content.open() as file:
        known: list[str] = [path for field in _opened(content, file, format)[0] for path in _paths(field)]

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        # Of a path into a list, the whole column is read.
        columns = [name if name in known and "[" not in name else re.split(r"[.\[]", name)[0] for name in names]
        stored = [name for name in dict.fromkeys(columns) if any(word.startswith(name) for word in known)]
        with whole(format), content.open() as file:
            for batch in _opened(content, file, format, stored)[1]:
                yield [_column(batch, name) for name in names]

    return Rows(known, batches)


def _opened(
    content: Content, file: IO[bytes], format: str, columns: Sequence[str] | None = None
) -> tuple[Any, Iterator[Any]]:
    """Schema and batches of a Parquet or Arrow file, or an Arrow stream; of Parquet, only these columns."""
    import pyarrow

    if format == "arrow" and not content.start.startswith(b"ARROW1"):
        stream = pyarrow.ipc.open_stream(file)
        return stream.schema, iter(stream)
    # A file in which pyarrow may go to any place.
    places = pyarrow.PythonFile(file, "r") if file.seekable() else pyarrow.py_buffer(content.read())
    if format == "parquet":
        from pyarrow import parquet

        stored = parquet.ParquetFile(places)
        return stored.schema_arrow, stored.iter_batches(batch_size=_ROWS, columns=columns)
    table = pyarrow.ipc.open_file(places)
    return table.schema, map(table.get_batch, range(table.num_record_batches))


@contextlib.contextmanager
def whole(format: str, source: str = "") -> Iterator[None]:
    """Turns errors of pyarrow about a file into a `DataError`, which begins with `source`."""
    with of_extra("parquet", "reading Parquet and Arrow files"):
        import pyarrow
    try:
        yield
    except (SacrecapError, FileNotFoundError):
        raise
    except (pyarrow.ArrowException, OSError, ValueError, EOFError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"{source}not a whole {format} file ({reason}); write or download it again") from None


def _paths(field: Any, outer: str = "") -> list[str]:
    """The columns of a field: parts of a struct go by paths, in a list by `sentences[*].raw`; bytes have none."""
    from pyarrow import types

    name, type_ = f"{outer}{field.name}", field.type
    if types.is_struct(type_):
        return [path for number in range(type_.num_fields) for path in _paths(type_.field(number), f"{name}.")]
    if types.is_list(type_) and types.is_struct(type_.value_type):
        inner = type_.value_type
        return [path for number in range(inner.num_fields) for path in _paths(inner.field(number), f"{name}[*].")]
    return [] if not outer and (types.is_binary(type_) or types.is_large_binary(type_)) else [name]


def _column(batch: Any, path: str) -> list[Any]:
    """The values of a column of a batch, or of what is in one; None for a column that is not there."""
    from pyarrow import compute, types

    if path in batch.schema.names:
        return batch.column(path).to_pylist()  # type: ignore[no-any-return]
    outer, inner = re.split(r"[.\[]", path, maxsplit=1)[0], path.partition(".")[2]
    values = batch.column(outer)
    if types.is_struct(values.type) and values.type.get_field_index(inner) >= 0:
        return compute.struct_field(values, inner).to_pylist()  # type: ignore[no-any-return]
    return [_of_row({outer: value}, path, number) for number, value in enumerate(values.to_pylist(), 1)]


# MATLAB, as the data of the CIDEr paper are released


def is_matlab(path: PathLike) -> bool:
    """Whether a file begins like a MATLAB file."""
    if path == "-":
        return False
    with reading(path), open(path, "rb") as file:
        return file.read(len(MATLAB)) == MATLAB


def load_matlab(path: PathLike, *names: str) -> dict[str, Any]:
    """The variables of these names; without names, the names of all, without values."""
    with reading(path), open(path, "rb") as file, naming(f"{display_name(path)}: "):
        return _matlab(file, *names)


def matlab_references(content: Content) -> Rows:
    """The rows of `pascal50S.mat`: a struct array `refs` of `image` and its sentences, `sent`."""
    with content.open() as file:
        refs = _matlab(file, "refs")["refs"].ravel()
    if not {"image", "sent"} <= set(refs.dtype.names or ()):
        raise DataError("refs must have the fields image and sent; is this the right file?")
    images = [str(unwrap(struct["image"])) for struct in refs]
    sentences = [[str(unwrap(text)).strip() for text in struct["sent"].ravel()] for struct in refs]
    return of_records([{"image_id": i, "references": texts} for i, texts in zip(images, sentences, strict=True)])


def _matlab(file: IO[bytes], *names: str) -> dict[str, Any]:
    with of_extra("study", "reading MATLAB files"):
        import scipy.io
    try:
        contents = scipy.io.loadmat(file) if names else {name: None for name, _, _ in scipy.io.whosmat(file)}
    except Exception as error:  # noqa: BLE001 - a broken file makes SciPy raise many kinds of errors
        raise DataError(f"no MATLAB file, or a broken one ({error}); download it again") from None
    missing = [name for name in names if name not in contents]
    if missing:
        held = ", ".join(name for name in contents if not name.startswith("__")) or "nothing"
        raise DataError(f"no variable {missing[0]!r} in it, it holds {held}; is this the right file?")
    return {name: contents[name] for name in names or contents}


def unwrap(value: Any) -> Any:
    """The single value inside nested arrays; an empty text for an empty array."""
    import numpy as np

    while isinstance(value, np.ndarray):
        value = value.ravel()[0] if value.size else ""
    return value
