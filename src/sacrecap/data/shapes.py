"""What the columns of caption files are called: one table for all readers and all engines.

To add a name, write it into one of the texts below, an example into `tests/data/projects`, and, for a data set
or a program, a line into `docs/reference/files.md`. Where rows must first be made from a document, write a function in
`recognise`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from sacrecap._core import Captions, CaptionsBuilder, whole_ids
from sacrecap.data.cells import flat, is_missing, listed
from sacrecap.errors import DataError, UsageError, cut_off, first_of, option

if TYPE_CHECKING:
    from sacrecap.data.rows import Rows

Names = str | Iterable[str] | None
"""A column, several of them, or none. A column may be a pattern, such as `caption_*`."""
Families = tuple[tuple[str, ...], ...]
"""Sets of columns of which each could serve; those of one set belong together, as `caption_1` and `caption_2`."""

IDS = """
    image_id image_ids video_id video_ids vid_id audio_id youtube_id ytid cocoid image/key example_id clip_id photo_id
    file_name image_file image_file_name image_path img_path image_name video_path video_name file_path filepath file_id
    custom_id question_id sample_id img_id img_ids imgid
    image image.path img video audio audio.path images images[*].path videos audios vid clip photo picture
    vars.image_id vars.image inputs.image_id inputs.image doc.image_id doc.image data.image_id data.image
    metadata.image_id metadata.image meta.image_id meta.image
    key id ids uid doc_id index idx name record_id request_id image_url image_urls coco_url url urls
""".split()
"""Columns of image ids, the best first: that of the picture before that of a row."""
CANDIDATES = """
    candidate candidates prediction predictions pred preds predict predicted res result response responses output
    outputs hypothesis hypotheses hyp hyps gen generated generation generations generated_caption generated_captions
    generated_text pred_response predicted_text
    predicted_caption caption_predicted pred_caption caption_pred output_caption output_text model_output
    model_response model_answer completion completions
""".split()
REFERENCES = """
    reference references ref refs gt gts gold golds ground_truth ground_truths gt_caption gt_captions gt_caption_*
    gt_response gt_text reference_output reference_outputs
    reference_caption reference_captions caption_reference ground_truth_caption ground_truth_captions
    human_caption human_captions
""".split()
ANSWERS = "label labels target targets answer answers".split()
"""Columns of references where no others are; but a label may be a class, and an answer one about the image."""
CAPTIONS = """
    caption captions report caption_str caption_text cap caps sentence sentences sentences_raw annotations_captions
    encap iiw
    response.body.choices[].message.content response.body.output[type=message].content[type=output_text].text
    output[type=message].content[type=output_text].text response.choices[].message.content choices[].message.content
    result.message.content[type=text].text model_output.content[type=text].text message.content[type=text].text
    response.candidates[].content.parts[].text choices[].text
    annotations[*].result[*].value.text
""".split()
"""Columns of captions of either kind. In a path, `[type=message]` is the one part of a list that says so."""
RIVALS = """
    text texts description descriptions
    conversations[from=gpt|assistant|model].value messages[role=assistant|model].content[type=text].text
""".split()
"""Columns of captions, or of prompts and other texts: beside captions, nobody knows."""
TEXTS = "raw comment title txt content[type=text].text".split()
"""Columns of captions where nothing else can be."""
LIKELY = ("caption", "sentence", "description")
"""Parts of the names of columns that may well be captions: beside rivals and texts, nobody knows."""
INSIDE = """
    caption captions text texts sentence sentences raw content completion output response prediction generated_text
    generated_caption description
""".split()
"""What captions are called in an object, or in the objects of a list, that is in such a column: `output.caption`."""

TABLE_FORMATS = ("parquet", "arrow")
SHAPES = {
    "coco": '{"images": […], "annotations": [{"image_id", "caption"}, …]}',
    "karpathy": '{"images": [{"split", "filename", "sentences": [{"raw"}, …]}, …]}',
    "list": '[{"image_id", "caption" or "captions"}, …]',
    "mapping": "{id: caption or [caption, …], …}",
    "jsonl": 'lines of {"image_id", "caption" or "captions"}',
    "csv": "a header line with image_id,caption",
    "tsv": "a header line with image_id and caption, tabs between",
    "flickr": "lines of name.jpg#0, a tab, the caption",
    "parquet": "a table of Parquet",
    "arrow": "a table of Arrow",
    "rows": "rows of an image id and captions, in any file of rows, or in an object",
    "msrvtt": '{"videos": [{"video_id", "split"}, …], "sentences": [{"video_id", "caption"}, …]}',
    "activitynet": '{video id: {"timestamps", "sentences": […]}, …}; a paragraph per video',
    "lmms-eval": 'samples as lines of {"doc_id", "target", "filtered_resps"}',
    "lists": "[caption or [caption, …], …]",
    "msvd": "the table of MSVD's corpus",
    "pairs": "a table of ids and captions without a header line",
    "webdataset": "a tar of NAME.txt or NAME.json",
    "text": "a line per image; tabs between several captions",
}
"""The shapes of files, which options such as ``--reference-format`` take, and what they look like."""


def accepted() -> str:
    """The usual shapes, the first ones, for a message."""
    return "accepted are " + ", ".join(f"{name} ({looks})" for name, looks in [*SHAPES.items()][:8])


WRAPPERS = {
    *"annotations data database images items results rows samples videos".split(),
    *(*CANDIDATES, *REFERENCES, *ANSWERS, *CAPTIONS),
}
"""Keys under which captions by image ids may be."""
ENVELOPES = WRAPPERS | {"values"}
"""Keys under which a list of captions without ids may be."""
POSITION = "\0"
"""The column of image ids of rows that have none: their numbers."""
_TRAINED = "restval", "train"
"""Images of COCO's validation part that are used for training by convention."""
_SHOWN = 20
"""Columns that a message names; the others are left out."""
_PARTS = "[type=text].text"
"""The end of a path to the text of a message, which may be in parts."""
_BRACKETS = re.compile(r"\[[^\]]*\]|\.[0-9]+(?=\.|\[|$)")
"""One part of a list in a path, in whose place `[*]` is any: `conversations.1.value`, `conversations[*].value`."""
_OBJECT = re.compile(r"(?P<outer>[^.\[]+)(\[\*\])?\.(?P<inner>[^.\[]+)")
_NUMBER = re.compile(r"\.?[0-9]+$")
_JOINS = str.maketrans("", "", "_ -")


class NoColumnError(DataError):
    """A file does not have the columns that are needed."""


class NoIdsError(NoColumnError):
    """A column does not hold ids of images."""


@dataclass(frozen=True)
class Shape:
    """Which columns of a file hold image ids and captions."""

    names: tuple[str, ...]
    ids: tuple[str, ...]
    """Those that could be image ids, the best first."""
    kinds: Mapping[str, Families]
    """The others by the text above that names them: `candidates`, …; and `likely` ones."""
    absent: tuple[str, ...] = ()
    """Columns that were asked for by name, and are not there."""

    def families(self, part: str) -> Families:
        """Sets of columns of which each could be the part's captions."""
        kinds = self.kinds
        answers, captions, rivals = kinds["answers"], kinds["captions"], kinds["rivals"]
        if part == "references":
            rest, named = kinds["candidates"], kinds["references"] or answers + captions
        else:
            rest, named = kinds["references"] + answers, kinds["candidates"] or captions
        if captions and named in (captions, answers + captions):
            return named + rivals
        unsure = rivals or kinds["texts"]
        return named or (unsure + kinds["likely"] if unsure else ()) + rest

    def of_part(self, part: str) -> tuple[str, ...]:
        """The columns of the part's captions; none if it has none. Raises `DataError` where several could serve."""
        families = self.families(part)
        if len(families) > 1:
            could = " and ".join(cut_off(", ".join(family)) for family in families[:_SHOWN])
            is_of_both = part == "references" and (self.kinds["candidates"] or self.absent)
            named = option("references_column") if is_of_both else _captions_option()
            raise DataError(f"has several columns that could be the {part}, {could}; name one by {named}")
        return families[0] if families else ()

    @property
    def image(self) -> str | None:
        """The column of image ids; the position where rows hold references and candidates, and no ids."""
        return next(iter(self.ids), POSITION if self.holds_both else None)

    @property
    def holds_both(self) -> bool:
        """Whether there are references and a system's captions, in different columns."""
        parts = [{*chain.from_iterable(self.families(part))} for part in ("references", "candidates")]
        return all(parts) and parts[0].isdisjoint(parts[1])

    @property
    def is_known(self) -> bool:
        """Whether image ids and captions are recognised."""
        return self.image is not None and bool(self.families("candidates"))

    def read(self, rows: Rows, part: str, split: str | None = None, left_out: list[str] | None = None) -> Captions:
        """The captions of the rows; missing ones are empty. Arguments and errors are those of `batches`."""
        builder = CaptionsBuilder()
        builder.extend([*rows.images], [[]] * len(rows.images))
        for ids, values in self.batches(rows, [part], split, left_out):
            builder.extend(ids, values)
        return builder.finish()

    def batches(
        self, rows: Rows, parts: Sequence[str], split: str | None = None, left_out: list[str] | None = None
    ) -> Iterator[list[list[Any]]]:
        """The image ids and the captions of the rows, batch by batch: of each part a caption, or a list of them.

        Only the images of the split are given. Rows that the data set itself excludes are left out, and their images
        added to `left_out`; None keeps them. Messages do not name the file.
        """
        image, families = self.image, [self.of_part(part) for part in parts]
        for part, family in zip(parts, families, strict=True):
            if image is None or not family or self.absent:
                raise self.lacking(part)
        if split is not None and "split" not in rows.names:
            raise UsageError("has no column split, and so no splits; leave the split out")
        if split is None and rows.of_splits:
            choose = option("split", of="the readers in sacrecap.data")
            raise UsageError(f"has rows under {' and '.join(rows.of_splits)}; choose a split by {choose}")
        marks = [] if left_out is None else [name for name in rows.names if excludes(name)]
        may_fail = rows.is_json and image == "image_id" and families == [("caption",)]
        splits, seen = Counter[str](), 0
        are_floats: bool | None = None
        names = [image or "", *chain(*families), *marks, *([] if split is None else ["split"])]
        for batch in _with_content(rows, names, {*chain(*families)} - {*rows.names}):
            columns = iter(batch)
            ids, cells_of = next(columns), [[*islice(columns, len(family))] for family in families]
            try:
                if image == POSITION:
                    ids = [*range(seen + 1, seen + 1 + len(ids))]
                else:
                    ids, are_floats = _ids(ids, image or "", seen, are_floats)
            except NoIdsError:
                if seen or len(self.ids) < 2:
                    raise
                yield from replace(self, ids=self.ids[1:]).batches(rows, parts, split, left_out)
                return
            cells = [_values(cells, seen, words=rows.is_text, may_fail=may_fail, ids=ids) for cells in cells_of]
            every = [ids, *cells]
            excluded = [*islice(columns, len(marks))]
            chosen: Sequence[int] = range(len(ids))
            if split is not None:
                stated = next(columns)
                splits.update(str(value) for value in stated if value is not None)
                chosen = [n for n, value in enumerate(stated) if value == split or (value, split) == _TRAINED]
            if left_out is not None and excluded:
                marked = [[m.strip().lower() if isinstance(m, str) else m for m in column] for column in excluded]
                out = [n for n in chosen if any(column[n] in (True, "true", "1", "yes") for column in marked)]
                left_out += [str(ids[n]) for n in out]
                chosen = [*filter(frozenset(chosen).difference(out).__contains__, chosen)] if out else chosen
            yield every if len(chosen) == len(ids) else [[column[n] for n in chosen] for column in every]
            seen += len(ids)
        if split is not None and split not in splits and not (split == _TRAINED[1] and _TRAINED[0] in splits):
            known = ", ".join(sorted(splits)) or "none"
            raise UsageError(f"no image is in the split {split!r}; the splits are {known}")

    def lacking(self, part: str) -> NoColumnError:
        """The error about columns that are missing, with the options that name them."""
        is_of_both = part == "references" and self.kinds["candidates"]
        captions = option("references_column") if is_of_both else _captions_option()
        options = [("image ids", option("id_column"))] if self.image is None else []
        options += [] if self.families(part) else [(part, captions)]
        what = " and ".join(name for name, _ in options)
        keywords = [*dict.fromkeys(keyword for _, keyword in options)] or [option("id_column"), captions]
        columns, named = some_columns(self.names), " and ".join(keywords)
        if self.absent:
            return NoColumnError(
                f"has the columns {columns}, and not {' and '.join(self.absent)}; name others by {named}"
            )
        return NoColumnError(f"has the columns {columns}, of which none is known to hold {what}; name it by {named}")


def shape_of_columns(names: Sequence[str]) -> Shape:
    """What columns with these names hold."""
    outer = {name[: end.start()] for name in names for end in re.finditer(r"[.\[](?![0-9])", name)}
    paths = {plain: path for path in (*IDS, *CAPTIONS, *RIVALS) if "[" in path for plain in _of_table(path)}
    known = [_known_as(name, names, paths) for name in names if name not in outer]
    ids = tuple(name for word in IDS for plain in _of_table(word) for called, name in known if called == plain)
    kinds: dict[str, Families] = {}
    for kind, table in _TABLES.items():
        families: list[list[str]] = []  # columns with numbers belong together
        for word in table:
            for plain in _of_table(word):
                families += [[column] for name, column in known if name == plain]
                families.append([column for name, column in known if name != plain and _NUMBER.sub("", name) == plain])
            if word.endswith("*"):
                families.append([column for _, column in known if fnmatchcase(column.lower(), word)])
        kinds[kind] = tuple(dict.fromkeys(tuple(family) for family in families if family))
    used = {*ids, *(name for families in kinds.values() for family in families for name in family)}
    likely = [name for _, name in known if name not in used and any(part in _plain(name) for part in LIKELY)]
    return Shape(tuple(names), ids, {**kinds, "likely": tuple((name,) for name in likely)})


def _known_as(name: str, names: Sequence[str], paths: Mapping[str, str]) -> tuple[str, str]:
    """The plain name of a column, and its name with what the table says of its brackets.

    A caption in an object, or in those of a list, goes by the column that has these: of a system, a list has one.
    """
    parts = _OBJECT.fullmatch(name)
    if parts is not None and _plain(parts["inner"]) in map(_plain, INSIDE):
        outer = parts["outer"]
        plain = _plain(outer) if {f"{outer}[*].image_id", f"{outer}[*].video_id"}.isdisjoint(names) else ""
        if plain == "annotations":
            return "captions", name
        if plain in map(_plain, CANDIDATES):
            return plain, name.replace("[*]", "[]")
        if plain in map(_plain, (*REFERENCES, *ANSWERS, *CAPTIONS)):
            return plain, name
    path = paths.get(_plain(name))
    if path is None:
        return _plain(name), name
    brackets = iter(re.findall(r"\[[^\]]*\]", path))
    filled = re.sub(r"\[\*\]", lambda _: next(brackets), name)
    return _plain(name), filled + (_PARTS if path.endswith(_PARTS) and not filled.endswith(_PARTS) else "")


_TABLES = {
    "candidates": CANDIDATES,
    "references": REFERENCES,
    "answers": ANSWERS,
    "captions": CAPTIONS,
    "rivals": RIVALS,
    "texts": TEXTS,
}


@dataclass(frozen=True)
class NamedColumns:
    """Columns that somebody names: patterns, and paths such as `conversations.1.value`."""

    ids: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    def within(self, names: Sequence[str], part: str | None = None, *, both: bool = False) -> Shape:
        """These columns, and known ones for what is not named; `both`: of one file of both parts. It may lack some."""
        known = shape_of_columns(names)
        ids = [name for word in self.ids for name in _called(word, names)][:1] if self.ids else known.ids
        captions, references = _all_called(self.captions, names), _all_called(self.references, names)
        kinds = {**known.kinds}
        if self.captions and not self.references and not both:
            kinds = {**dict.fromkeys(kinds, ()), "captions": (captions,) if captions else ()}
        elif self.captions or self.references:
            named = {*captions, *references}
            kinds = {kind: tuple(filter(named.isdisjoint, kinds[kind])) for kind in _TABLES}
            either, kinds["likely"] = kinds["captions"], ()
            if self.captions:
                kinds |= {"candidates": (captions,) if captions else (), "captions": (), "rivals": (), "texts": ()}
            if self.references:
                kinds |= {"references": (references,) if references else (), "answers": ()}
            elif not kinds["references"] + kinds["answers"]:
                kinds["references"] = either
        of_part = self.references if part == "references" and self.references else self.captions
        lacking = () if part is None or _all_called(of_part, names) else of_part
        return Shape(tuple(names), tuple(ids), kinds, absent=(*(() if ids else self.ids), *lacking))


def columns_named(ids: Names, captions: Names = None, references: Names = None) -> NamedColumns | None:
    """The columns with these names; None if no column is named."""
    named = [
        () if columns is None else (columns,) if isinstance(columns, str) else tuple(columns)
        for columns in (ids, captions, references)
    ]
    return NamedColumns(*named) if any(named) else None


def _all_called(patterns: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for word in patterns for name in _called(word, names)))


def _called(pattern: str, names: Sequence[str]) -> list[str]:
    """The columns that a name, a pattern or a path stands for."""
    if pattern in names:
        return [pattern]
    matching = [name for name in names if fnmatchcase(name, pattern)]
    if matching:
        return matching
    structure = _BRACKETS.sub("[*]", pattern)
    outer = re.split(r"[.\[]", pattern, maxsplit=1)[0]
    inside = any(name.startswith((f"{outer}.", f"{outer}[")) for name in names)
    return [pattern] if pattern != outer and (structure in names or (outer in names and not inside)) else []


def _plain(name: str) -> str:
    return name.lower().translate(_JOINS)


@cache
def _of_table(word: str) -> tuple[str, ...]:
    """The plain names of a word of the table."""
    variants = (word, word.removesuffix(_PARTS))
    return tuple(dict.fromkeys(_plain(_BRACKETS.sub("[*]", variant)) for variant in variants))


def is_plain(shape: Shape) -> bool:
    """Whether rows hold an image id and captions by the first names of the table, and nothing that could be others."""
    families = {shape.families(part) for part in ("references", "candidates")}
    return shape.ids[:1] == ("image_id",) and families in ({(("caption",),)}, {(("captions",),)})


def excludes(name: str) -> bool:
    """Whether the data set itself excludes captions by this column: VizWiz-Captions, spam and those of the form."""
    return _plain(name) in ("isrejected", "isprecanned")


def is_envelope(names: Iterable[str]) -> bool:
    """Whether a list of captions by their places is in an object that says more about it: `{"language", "values"}`."""
    keys = {*names}
    return not keys.isdisjoint(ENVELOPES) and not any(letter.isdigit() for key in keys for letter in key)


def some_columns(names: Sequence[str]) -> str:
    """The first columns, for a message."""
    return ", ".join(map(cut_off, names[:_SHOWN])) + (", …" if len(names) > _SHOWN else "") if names else "none"


def _captions_option() -> str:
    return option("caption_column", of="the readers in sacrecap.data")


def _ids(values: Sequence[Any], column: str, seen: int, are_floats: bool | None) -> tuple[list[Any], bool | None]:
    """The ids of a batch after `seen` rows, also lists of one, and whether a program wrote all whole numbers as floats,
    which the first batch says for all. Raises `NoIdsError` for what is no id: long texts, lists of several.
    """
    ids = []
    for value in values:
        what = f"lists of {len(value)}" if isinstance(value, list) and len(value) != 1 else ""
        image = value[0] if isinstance(value, list) and value else value
        if isinstance(image, str) and len(image) > 512:  # a picture as text
            what = what or "long texts"
        if what:
            named = option("id_column")
            raise NoIdsError(f"the column {column} holds no image ids but {what}; name another by {named}")
        ids.append(image)
    ids = whole_numbers(ids)
    if are_floats is False or not ids or "" in ids:  # an empty id is refused where captions are built
        return ids, are_floats
    may_be_floats = [isinstance(image, str) and image.isascii() for image in ids]
    whole = whole_ids(ids) if all(may_be_floats) else ids
    if are_floats and whole == ids:
        place = next(n for n, image in enumerate(ids) if not may_be_floats[n] or whole_ids([image]) == [image])
        raise DataError(
            f"the image id of row {seen + place + 1} is {ids[place]!r}, where those above are whole numbers, written "
            "as floats (1.0); write all as whole numbers, without .0"
        )
    return whole, whole != ids


def _with_content(rows: Rows, names: Sequence[str], paths: set[str]) -> Iterator[list[list[Any]]]:
    """The batches of the columns. Raises `DataError` after them if a path into cells leads to nothing in any row."""
    count = 0
    for batch in rows.batches(names):
        for name, column in zip(names, batch, strict=True):
            # An empty caption is one; tables of text have empty cells where they have no such column.
            if name in paths and any(cell or (cell == "" and not rows.is_text) for cell in column):
                paths.discard(name)
        count += len(batch[0])
        yield batch
    if paths and count:
        raise DataError(f"has nothing at {min(paths)} in any row; name another by {_captions_option()}")


def whole_numbers(values: Iterable[Any]) -> list[Any]:
    """Image ids as whole numbers again, if a table made floats of them; above 2⁵³ a float has lost digits."""
    return [
        int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
        for value in values
    ]


def _values(columns: Sequence[list[Any]], seen: int, *, words: bool, may_fail: bool, ids: Sequence[Any]) -> list[Any]:
    """The content of each row: a caption, or a list of captions from several columns or one cell.

    Of several columns, those that are not missing. A null is an error where it `may_fail`: a call that failed.
    """

    def is_absent(cell: Any) -> bool:
        return cell is None or ((words or type(cell) is not str) and is_missing(cell, words=words))

    def content(cell: Any, n: int) -> Any:
        is_plain = type(cell) is str and cell[:1].isalpha()
        return cell if is_plain else listed(cell, f"row {seen + n + 1}")

    columns = [[content(cell, n) for n, cell in enumerate(column)] for column in columns]
    if len(columns) > 1:
        rows = zip(*columns, strict=True)
        return [[cell for cell in flat(cells) if not is_absent(cell)] or [""] for cells in rows]
    absent = [n for n, cell in enumerate(columns[0]) if is_absent(cell)]
    if absent and may_fail:
        first, more = absent[0], [f"row {seen + n + 1}" for n in absent[1:]]
        also = f" (also {first_of(more)})" if more else ""
        raise DataError(
            f"the caption of image {ids[first]} (row {seen + first + 1}) is missing or null; captions must be strings"
            f"{also}"
        )
    for n in absent:
        columns[0][n] = ""
    return columns[0]
