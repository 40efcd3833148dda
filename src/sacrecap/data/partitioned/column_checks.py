"""Columns of a batch as texts and lists of texts; operations on whole columns find the rows that cannot be scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sacrecap.data.cells import AS_ONE, EMPTY, SEPARATOR, WORDS, flat, listed, parts, undivided
from sacrecap.data.partitioned.files import import_pyarrow
from sacrecap.data.shapes import LONGEST_ID, no_ids
from sacrecap.errors import DataError, option

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow

    Numbers = npt.NDArray[np.int64]

_BLANK = 0x20
"""The byte of a blank; those of tabs and line ends are below."""
_SHORT = 32
"""Bytes of a text that may be a word for a missing caption, whatever blanks it has around."""
_IDS = "image ids"
LONGEST_CAPTION = 100_000
"""Bytes of the longest caption that is scored, as in the native core."""


class ColumnCheck:
    """Finds what is wrong with the values of a batch, and keeps the first reason for each row."""

    def __init__(
        self,
        *,
        is_table: bool,
        words: bool = False,
        needs_text: bool = False,
        has_lists: bool = True,
        separator: str | None = AS_ONE,
    ) -> None:
        """`needs_text`: a null is a caption that is no text, as in JSON of single captions that is read whole.
        `has_lists`: a caption that begins like a list that was written as text is one. `separator`: see
        `sacrecap.data.cells.divided`.
        """
        self.reasons: dict[int, str] = {}
        """What is wrong, by place in the batch."""
        self.left_out: list[int] = []
        """Places of references that are empty or missing, which are left out."""
        self._words = WORDS if words else ()
        self._null = "null" if is_table else "missing or null"
        self._needs_text = needs_text
        self._has_lists = has_lists
        self._separator = separator

    def bad(self, place: int | np.integer[Any], reason: str) -> None:
        """Notes that a row cannot be used."""
        self.reasons.setdefault(int(place), reason)

    def ids(self, column: pyarrow.Array, name: str) -> pyarrow.Array:
        """Image ids as text."""
        import numpy as np

        pyarrow = import_pyarrow()
        types = pyarrow.types
        column = _plain(column)
        if column.null_count:
            for place in _places(column.is_null()):
                self.bad(place, f"{name} is {self._null}; image ids must be strings or whole numbers")
        if types.is_floating(column.type):
            column = self._whole(column, name)
        if types.is_integer(column.type):
            return column.cast(pyarrow.string())
        column = _as_text(column, name, _IDS)
        if len(column) and np.diff(extents(column)[0]).max() > LONGEST_ID:
            raise no_ids(name)
        return self._decoded(column, name)

    def _whole(self, column: pyarrow.Array, name: str) -> pyarrow.Array:
        """Whole numbers that a table made floats of, which it does where one is missing."""
        import pyarrow
        import pyarrow.compute as pc

        whole = pc.equal(column, pc.trunc(column))
        for place in _places(pc.invert(whole)):
            self.bad(
                place, f"{name} is the number {column[place].as_py()!r}; image ids must be strings or whole numbers"
            )
        return pc.if_else(whole, column, None).cast(pyarrow.int64())

    def references(
        self, columns: Sequence[pyarrow.Array], names: Sequence[str], *, alone: bool = False
    ) -> pyarrow.Array:
        """References: a list per row, out of lists or texts in one column or in several.

        Where they stand `alone`, without candidates, other rows may have more of the same image.
        """
        return self._lists(columns, names, "reference", may_lack=alone)

    def captions(self, columns: Sequence[pyarrow.Array], names: Sequence[str]) -> pyarrow.Array:
        """A system's captions: a text per row, or a list where the file has lists or several columns."""
        column = _plain(columns[0])
        if len(columns) == 1 and self._has_lists:
            column = self._of_lists(column, names[0], single=True)
        if len(columns) > 1 or _is_list(column.type):
            return self._lists([column] if len(columns) == 1 else columns, names, "caption")
        return self._texts(column, names[0])

    def _decoded(self, column: pyarrow.Array, name: str, rows: Numbers | None = None) -> pyarrow.Array:
        """The texts, with null for those that are no UTF-8, whose rows are bad."""
        import pyarrow
        import pyarrow.compute as pc

        places = _not_utf8(column)
        if not places:
            return column
        for place in places:
            self.bad(
                place if rows is None else rows[place],
                f"{name}: not UTF-8; convert the file to UTF-8, or take {option('engine', 'local')} with "
                f"{option('encoding', 'cp1252')}",
            )
        is_text = [True] * len(column)
        for place in places:
            is_text[place] = False
        return pc.if_else(pyarrow.array(is_text), column, pyarrow.scalar(None, column.type))

    def _texts(self, column: pyarrow.Array, name: str) -> pyarrow.Array:
        """A text per row, empty where it is missing."""
        import pyarrow
        import pyarrow.compute as pc

        column = _as_text(column, name, "captions")
        self._refuse_null(column, name)
        column = self._decoded(column.fill_null(""), name)
        for place, reason in self._wrong(column):
            self.bad(place, f"{name}: {reason}")
        if self._words and (missing := _among(column, self._words)) is not None:
            column = pc.if_else(missing, pyarrow.scalar("", column.type), column)
        return column

    def _of_lists(self, column: Any, name: str, *, single: bool = False) -> Any:
        """The column, as lists where a text is a list that was written as one, or holds a separator; `single`: as texts
        if each has one.
        """
        import pyarrow
        import pyarrow.compute as pc

        sign = self._separator if self._separator != AS_ONE else None
        texts = column.flatten() if _is_list(column.type) else column
        is_cut = sign is not None and _is_text(texts.type) and _holding(texts, sign) is not None
        is_text = _is_text(column.type)
        if not is_cut and not (is_text and pc.any(pc.starts_with(pc.utf8_ltrim_whitespace(column), "[")).as_py()):
            return column
        cells = [listed(cell, "a row") for cell in (self._decoded(column, name) if is_text else column).to_pylist()]
        if is_cut and sign is not None:
            cells = [_cut(cell, sign) for cell in cells]
        if not any(isinstance(cell, list) for cell in cells):
            return column
        if single and all(len(cell) == 1 for cell in cells if isinstance(cell, list)):
            return pyarrow.array([*flat(cells)], pyarrow.large_string())
        lists = [[cell] if isinstance(cell, str) else cell for cell in cells]
        return pyarrow.array(lists, pyarrow.large_list(pyarrow.large_string()))

    def _wrong(self, column: pyarrow.Array) -> list[tuple[int, str]]:
        """Places of texts that are no caption, or may be several, and why."""
        found = _not_text(column)
        if self._separator is None and (held := _holding(column, SEPARATOR)) is not None:
            found += [(place, undivided(column[place].as_py())) for place in _places(held)]
        return found

    def _refuse_null(self, column: pyarrow.Array, name: str) -> None:
        if self._needs_text:
            for place in _places(column.is_null()):
                self.bad(place, f"{name} is {self._null}; captions must be strings")

    def _lists(
        self, columns: Sequence[pyarrow.Array], names: Sequence[str], what: str, *, may_lack: bool = False
    ) -> pyarrow.Array:
        """A list of texts per row; `may_lack`: it may be empty."""
        import numpy as np

        pieces = [
            self._listed(self._of_lists(_plain(column), name), name, what, len(columns) > 1)
            for column, name in zip(columns, names, strict=True)
        ]
        values, rows = pieces[0]
        if len(pieces) > 1:
            import pyarrow

            texts = [values.cast(pyarrow.large_string()) for values, _ in pieces]
            rows = np.concatenate([own for _, own in pieces])
            order = np.argsort(rows, kind="stable")
            values, rows = pyarrow.concat_arrays(texts).take(pyarrow.array(order)), rows[order]
        counts = np.bincount(rows, minlength=len(columns[0]))
        lacking = counts == 0
        if what == "caption":
            is_missing = lacking if len(columns) > 1 else lacking & np.asarray(columns[0].is_null())
            values, counts = _with_empty(values, counts, np.flatnonzero(is_missing))
            lacking &= ~is_missing
        for place in () if may_lack else np.flatnonzero(lacking):
            has = "have" if len(names) > 1 else "has"
            self.bad(place, f"{' and '.join(names)} {has} no {what}; add {what}s, or remove the row")
        return _list_array(values, counts)

    def _listed(
        self, column: pyarrow.Array, name: str, what: str, one_of_several: bool
    ) -> tuple[pyarrow.Array, Numbers]:
        """All texts of a column, and the place in the batch of each."""
        import numpy as np
        import pyarrow.compute as pc

        if column.null_count and what == "reference" and not one_of_several:
            self._refuse_null(column, name)
            self.left_out += _places(column.is_null())
        if _is_list(column.type):
            # `flatten` leaves out what stands under nulls.
            lengths = np.asarray(pc.list_value_length(column).fill_null(0))
            rows = np.repeat(np.arange(len(column), dtype=np.int64), lengths)
            values = _as_text(_plain(column.flatten()), name, f"{what}s")
        else:
            values, rows = _as_text(column, name, f"{what}s"), np.arange(len(column), dtype=np.int64)
        if values.null_count and (what == "reference" or one_of_several):
            present = np.asarray(values.is_valid())
            if _is_list(column.type) and not one_of_several:
                self.left_out += rows[~present].tolist()
            values, rows = values.drop_null(), rows[present]
        values = self._decoded(values.fill_null(""), name, rows)
        for place, reason in self._wrong(values):
            self.bad(rows[place], f"{name}: {reason}")
        absent = self._words or (EMPTY if what == "reference" else ())
        if absent and (missing := _among(values, absent)) is not None:
            gone = np.asarray(missing)
            if what == "reference":
                self.left_out += rows[gone].tolist()
            values, rows = values.filter(pc.invert(missing)), rows[~gone]
        return values, rows


def _plain(column: Any) -> Any:
    """The values themselves, where a column has numbers of them; bytes as text."""
    from pyarrow import large_string, string, types

    if types.is_dictionary(column.type):
        return column.dictionary_decode()
    if types.is_binary(column.type):
        return column.view(string())
    return column.view(large_string()) if types.is_large_binary(column.type) else column


def _cut(cell: Any, separator: str) -> Any:
    """The captions of a cell, cut at the separator; none of a null."""
    if cell is None:
        return None
    texts = cell if isinstance(cell, list) else [cell]
    return [*flat([parts(text, separator) if isinstance(text, str) else text for text in texts])]


def _holding(column: Any, text: str) -> Any:
    """Where the column's texts hold the text, as an Arrow array; None if nowhere."""
    import pyarrow.compute as pc

    held = pc.match_substring(column, text)
    return held if pc.any(held).as_py() else None


def _is_text(type: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(type) or types.is_large_string(type))


def _is_list(type: Any) -> bool:
    from pyarrow import types

    return any(
        getattr(types, name)(type)
        for name in ("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view")
        if hasattr(types, name)
    )


def _as_text(column: Any, name: str, what: str) -> Any:
    """The column as string or large string. Raises `DataError` for another type than text or bytes."""
    import pyarrow

    types = pyarrow.types
    if _is_text(column.type):
        return column
    if types.is_null(column.type) or str(column.type) == "string_view":
        return column.cast(pyarrow.large_string())
    accepted = "strings or whole numbers" if what == _IDS else "strings"
    raise DataError(f"the column {name} is of type {column.type}; {what} must be {accepted}")


def _places(mask: Any) -> list[int]:
    """Places where the mask, an Arrow array, is true."""
    import numpy as np

    return [int(place) for place in np.flatnonzero(np.asarray(mask.fill_null(False)))]


def extents(column: Any) -> tuple[Numbers, npt.NDArray[np.uint8]]:
    """Where each text begins and ends, from 0; and the bytes of all of them."""
    import numpy as np
    import pyarrow

    width = np.int64 if pyarrow.types.is_large_string(column.type) else np.int32
    _, offsets, data = column.buffers()
    if offsets is None or not len(column):
        return np.zeros(len(column) + 1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    found = np.frombuffer(offsets, dtype=width)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    if data is None:
        return found - found[0], np.zeros(0, dtype=np.uint8)
    return found - found[0], np.frombuffer(data, dtype=np.uint8)[found[0] : found[-1]]


def _not_text(column: Any) -> list[tuple[int, str]]:
    """Places of texts that cannot be scored, and what they are."""
    import numpy as np

    offsets, data = extents(column)
    if not len(data):
        return []
    found: list[tuple[int, str]] = []
    lengths = np.diff(offsets)
    if lengths.max() > LONGEST_CAPTION:
        found += [
            (
                int(place),
                (
                    f"a caption of {lengths[place]} bytes; captions may have up to {LONGEST_CAPTION}: shorten it, or "
                    "check that no lines were joined by mistake"
                ),
            )
            for place in np.flatnonzero(lengths > LONGEST_CAPTION)
        ]
    low = np.flatnonzero(data < 32) if data.min() < 32 else np.zeros(0, dtype=np.int64)
    # White space (tab, line feed, vertical tab, form feed, carriage return) is a blank to the tokenizers.
    controls = np.concatenate([low[(data[low] < 9) | (data[low] > 13)], np.flatnonzero(data == 127)])
    for place in np.sort(controls):
        row = int(np.searchsorted(offsets, place, side="right")) - 1
        control = f"the control character U+{data[place]:04X}"
        found.append((row, f"a caption with {control}; remove it (is the file in another encoding?)"))
    return found


def _not_utf8(column: Any) -> list[int]:
    """Places of texts that are no UTF-8, which a file may have where it says that it has text."""
    import pyarrow

    offsets, data = extents(column)
    if not len(data) or data.max() < 128:
        return []
    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        whole, places = data.tobytes(), []
        for place in range(len(column)):
            try:
                whole[offsets[place] : offsets[place + 1]].decode()
            except UnicodeDecodeError:
                places.append(place)
        return places
    return []


def _among(column: Any, words: Sequence[str]) -> Any:
    """Where the column has one of these words, in any case, with blanks around, as an Arrow array; None if nowhere."""
    import numpy as np
    import pyarrow
    import pyarrow.compute as pc

    offsets, data = extents(column)
    begins = np.zeros(len(column), dtype=bool)
    filled = offsets[:-1] < offsets[1:]
    begins[filled] = data[offsets[:-1][filled]] <= _BLANK
    # A longer text can only be one with blanks around.
    short = np.flatnonzero(begins | (np.diff(offsets) <= _SHORT))
    if not len(short):
        return None
    texts = column.take(pyarrow.array(short))
    values = pyarrow.array(words, type=column.type)
    are = pc.is_in(pc.utf8_lower(pc.utf8_trim_whitespace(texts)), value_set=values)
    if not pc.any(are).as_py():
        return None
    mask = np.zeros(len(column), dtype=bool)
    mask[short[np.asarray(are.fill_null(False))]] = True
    return pyarrow.array(mask)


def _with_empty(values: Any, counts: Numbers, gone: Numbers) -> tuple[Any, Numbers]:
    """An empty caption for each of these rows, which have none."""
    import numpy as np
    import pyarrow

    if not len(gone):
        return values, counts
    values = pyarrow.concat_arrays([values, pyarrow.array([""] * len(gone), type=values.type)])
    rows = np.concatenate([np.repeat(np.arange(len(counts)), counts), gone])
    order = np.argsort(rows, kind="stable")
    return values.take(pyarrow.array(order)), np.bincount(rows, minlength=len(counts))


def _list_array(values: Any, counts: Numbers) -> Any:
    """Lists of so many of the values each."""
    import numpy as np
    import pyarrow

    offsets = np.concatenate([[0], np.cumsum(counts)])
    large = pyarrow.types.is_large_string(values.type) or offsets[-1] >= 2**31
    kind, width = (pyarrow.LargeListArray, np.int64) if large else (pyarrow.ListArray, np.int32)
    return kind.from_arrays(pyarrow.array(offsets.astype(width)), values)
