"""Columns of a batch as texts and lists of texts; operations on whole columns find the rows that need a second look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap import _core
from sacrecap.data.cells import AS_ONE, EMPTY, SEPARATOR, WORDS, flat, listed, parts, undivided
from sacrecap.data.fields import json_type
from sacrecap.data.shapes import LONGEST_ID, no_ids
from sacrecap.errors import DataError, of_extra, option, spelled

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow

    Numbers = npt.NDArray[np.int64]

_IDS = "image ids"


class _About(NamedTuple):
    """What is known of a column of captions."""

    name: str
    what: str
    """`reference` or `caption`."""
    is_text: bool
    """Whether it has texts, not lists."""
    several: bool
    """Whether it is one of several."""


class ColumnCheck:
    """Finds what is wrong with the values of a batch, and keeps the first reason for each row.

    The native core looks at all texts of a column. A row in which something is missing or stands for several captions
    goes through `sacrecap.data.cells`, by itself, as in a file that is read whole.
    """

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
        self._sign = None if separator == AS_ONE else separator

    def bad(self, place: int | np.integer[Any], reason: str) -> None:
        """Notes that a row cannot be used."""
        self.reasons.setdefault(int(place), reason)

    def ids(self, column: pyarrow.Array, name: str) -> pyarrow.Array:
        """Image ids as text."""
        with of_extra("parquet", "scoring columns"):
            import pyarrow
        import pyarrow.compute as pc

        types = pyarrow.types
        column = _plain(column)
        for place in _places(column.is_null()):
            self.bad(place, f"{name} is {self._null}; image ids must be strings or whole numbers")
        if types.is_floating(column.type):
            column = self._whole(column, name)
        if types.is_integer(column.type):
            return column.cast(pyarrow.string())
        column = _as_text(column, name, _IDS)
        if (pc.max(pc.binary_length(column)).as_py() or 0) > LONGEST_ID:
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
        import pyarrow.compute as pc

        lists = self._lists(columns, names, "caption")
        is_single = len(columns) == 1 and not _is_list(_plain(columns[0]).type)
        return (
            lists.flatten()
            if is_single and pc.all(pc.equal(pc.list_value_length(lists), 1), min_count=0).as_py()
            else lists
        )

    def _lists(
        self, columns: Sequence[pyarrow.Array], names: Sequence[str], what: str, *, may_lack: bool = False
    ) -> pyarrow.Array:
        """A list of texts per row; `may_lack`: it may be empty."""
        import numpy as np
        import pyarrow
        import pyarrow.compute as pc

        several = len(columns) > 1
        plain = [_plain(column) for column in columns]
        abouts = [_About(name, what, not _is_list(own.type), several) for name, own in zip(names, plain, strict=True)]
        lists = _side_by_side([self._texts(own, about) for own, about in zip(plain, abouts, strict=True)])
        lacking = pc.equal(pc.list_value_length(lists), 0)
        if several and what == "caption":
            places = pc.if_else(lacking, len(lists), pyarrow.array(np.arange(len(lists))))
            return pyarrow.concat_arrays([lists, pyarrow.array([[""]], lists.type)]).take(places)
        for place in () if may_lack else _places(lacking):
            has = "have" if several else "has"
            self.bad(place, f"{' and '.join(names)} {has} no {what}; add {what}s, or remove the row")
        return lists

    def _texts(self, column: Any, about: _About) -> pyarrow.Array:
        """The texts of each row of a column, without those that are missing."""
        import numpy as np
        import pyarrow
        import pyarrow.compute as pc

        values, lengths = column, np.ones(len(column), dtype=np.int64)
        if not about.is_text:
            # `flatten` leaves out what stands under nulls.
            values, lengths = column.flatten(), np.asarray(pc.list_value_length(column).fill_null(0))
        rows = np.repeat(np.arange(len(column)), lengths)
        values = _as_text(_plain(values), about.name, f"{about.what}s").cast(pyarrow.large_string())
        values = self._decoded(values, about.name, rows)
        lists, seen = _seen(values.fill_null(""), lengths)
        odd = {*rows[_places(values.is_null())].tolist(), *_places(column.is_null())}
        odd |= {*map(int, seen.that_are(self._absent(about)))}
        for sign in (self._sign, "[" if self._may_be_list(about) else None):
            odd |= {*map(int, seen.that_hold(sign))} if sign is not None else set()
        if odd:
            given, places = _list_array(values, lengths), np.arange(len(column))
            cells: list[list[str]] = []
            for place in sorted(odd):
                places[place] = len(column) + len(cells)
                cells.append(self._cell(place, given[place].as_py() if column[place].is_valid else None, about))
            lists = pyarrow.concat_arrays([lists, pyarrow.array(cells, lists.type)]).take(pyarrow.array(places))
            lists, seen = _seen(lists.flatten(), np.asarray(pc.list_value_length(lists)))
        for row, reason in seen.problems():
            self.bad(int(row), f"{about.name}: {reason}")
        for row in map(int, seen.that_hold(SEPARATOR) if self._separator is None else ()):
            text = next(own for own in lists[row].as_py() if SEPARATOR in own)
            self.bad(row, f"{about.name}: {undivided(text)}")
        return lists

    def _absent(self, about: _About) -> Sequence[str]:
        """Texts that stand for no caption."""
        return self._words or (EMPTY if about.what == "reference" else ())

    def _may_be_list(self, about: _About) -> bool:
        """Whether a text may be a list that was written as one."""
        return about.is_text and (self._has_lists or about.several or about.what == "reference")

    def _cell(self, place: int, cell: list[Any] | None, about: _About) -> list[str]:
        """The captions of a cell, by the rules of `sacrecap.data.cells`."""
        texts = cell or [None]
        if self._may_be_list(about):
            texts = [*flat([listed(texts[0], "a row")])]
        if self._sign is not None:
            texts = [*flat([parts(one, self._sign) if isinstance(one, str) else one for one in texts])]
        is_reference, found = about.what == "reference", []
        if cell is None and self._needs_text and not about.several and (about.is_text or is_reference):
            self.bad(place, f"{about.name} is {self._null}; captions must be strings")
        for text in texts:
            if text is not None and not isinstance(text, str):
                self.bad(place, f"{about.name} is {json_type(text)}; captions must be strings")
            elif text is not None and text.strip().lower() not in self._absent(about):
                found.append(text)
            elif is_reference and (text is not None or not about.several):
                self.left_out.append(place)
            elif not is_reference and not about.several and (text is None or (about.is_text and len(texts) == 1)):
                found.append("")
        return found

    def _decoded(self, column: pyarrow.Array, name: str, rows: Numbers | None = None) -> pyarrow.Array:
        """The texts, with null for those that are no UTF-8, whose rows are bad."""
        import pyarrow

        try:
            column.validate(full=True)
        except pyarrow.ArrowInvalid:
            places = [None if _is_damaged(text) else place for place, text in enumerate(column)]
            for place in (place for place, own in enumerate(places) if own is None):
                self.bad(
                    place if rows is None else rows[place],
                    f"{name}: not UTF-8; convert the file to UTF-8, or take {option('engine', 'local')} with "
                    f"{spelled(python=option('encoding', 'cp1252'), command='the format auto(encoding=cp1252)')}",
                )
            return column.take(pyarrow.array(places, pyarrow.int64()))
        return column


def _plain(column: Any) -> Any:
    """The values themselves, where a column has numbers of them; bytes as text."""
    from pyarrow import large_string, string, types

    if types.is_dictionary(column.type):
        return column.dictionary_decode()
    if types.is_binary(column.type):
        return column.view(string())
    return column.view(large_string()) if types.is_large_binary(column.type) else column


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
    if types.is_string(column.type) or types.is_large_string(column.type):
        return column
    if types.is_null(column.type) or str(column.type) == "string_view":
        return column.cast(pyarrow.large_string())
    accepted = "strings or whole numbers" if what == _IDS else "strings"
    raise DataError(f"the column {name} is of type {column.type}; {what} must be {accepted}")


def _places(mask: Any) -> list[int]:
    """Places where the mask, an Arrow array, is true."""
    import numpy as np

    return np.flatnonzero(np.asarray(mask.fill_null(False))).tolist()  # type: ignore[no-any-return]


def _is_damaged(text: Any) -> bool:
    """Whether a value of Arrow is no UTF-8, which a file may have where it says that it has text."""
    try:
        text.as_py()
    except UnicodeDecodeError:
        return True
    return False


def _seen(values: Any, lengths: Numbers) -> tuple[Any, Any]:
    """Lists of so many of the texts each, and the same for the native core, where the ids are places."""
    import numpy as np
    import pyarrow

    lists = _list_array(values, lengths)
    return lists, _core.Captions.of_arrow(pyarrow.array(np.arange(len(lists))), lists)


def _list_array(values: Any, counts: Numbers) -> Any:
    """Lists of so many of the values each."""
    import numpy as np
    import pyarrow

    return pyarrow.LargeListArray.from_arrays(pyarrow.array(np.concatenate([[0], np.cumsum(counts)])), values)


def _side_by_side(columns: Sequence[Any]) -> Any:
    """The lists of each row in all columns, one after the other."""
    import numpy as np
    import pyarrow
    import pyarrow.compute as pc

    if len(columns) == 1:
        return columns[0]
    counts = [np.asarray(pc.list_value_length(lists)) for lists in columns]
    rows = np.concatenate([np.repeat(np.arange(len(own)), own) for own in counts])
    values = pyarrow.concat_arrays([lists.flatten() for lists in columns])
    return _list_array(values.take(pyarrow.array(np.argsort(rows, kind="stable"))), np.sum(counts, axis=0))
