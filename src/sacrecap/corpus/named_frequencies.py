"""Document frequencies that have a name: made once, kept in the user's data folder, and found from any folder. Those of
`published_frequencies` make themselves when they are first asked for.

A name is two files of that folder: `NAME.df`, the counts, and `NAME.json`, which says where they come from. The counts'
checksum is in both, so that two files that do not belong together are detected.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from sacrecap.choices import CORPUS
from sacrecap.corpus.document_frequency import DocumentFrequency, checksum, checksum_of_file
from sacrecap.corpus.published_frequencies import PICKLES, PUBLISHED, SPLITS, STEMS
from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError, UsageError, option, spelled

if TYPE_CHECKING:
    from sacrecap.data.testsets import Progress

FrequencySource: TypeAlias = "DocumentFrequency | str | os.PathLike[str]"
"""Document frequencies, their name, or the path of their file."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
"""Has no dot, so that a file's name with its suffix is never taken for a name."""


@dataclass(frozen=True)
class NamedFrequencies:
    """Description of named document frequencies, read without opening the counts."""

    name: str
    source: str
    """The file that was counted, or imported."""
    images: int
    """Number of documents."""
    n: int
    """The longest n-gram counted."""
    tokenizer: str
    stem: bool
    checksum: str
    """CRC-32 of the counts, eight hexadecimal digits: equal counts have equal checksums, on any machine."""


def folder() -> str:
    """The folder of the files."""
    from platformdirs import user_data_dir

    return os.path.join(user_data_dir("sacrecap"), "document-frequencies")


def check_name(name: str) -> None:
    """Raises `UsageError` for what cannot be a name."""
    if name == CORPUS:
        raise UsageError(f"{CORPUS} already means the references being scored; choose another name")
    if not _NAME.fullmatch(name):
        raise UsageError(
            "a name of document frequencies is up to 64 lower-case letters, digits, - and _, the first a letter or "
            f"digit; got {name!r}"
        )


def keep(frequencies: DocumentFrequency, name: str, *, source: str, force: bool = False) -> NamedFrequencies:
    """Keeps the counts under the name.

    Args:
        frequencies: the counts.
        name: up to 64 lower-case letters, digits, `-` and `_`.
        source: where the counts come from, for `sacrecap df list`.
        force: whether to replace counts that have this name already.

    Raises:
        UsageError: the name is invalid, or is taken.
        DataError: the folder cannot be written.
    """
    check_free(name, force=force)
    data = frequencies._core.to_bytes()
    named = NamedFrequencies(
        name, source, frequencies.documents, frequencies.n, frequencies.tokenizer, frequencies.stem, checksum(data)
    )
    try:
        os.makedirs(folder(), exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder()}: cannot be made: {error}; choose another place by XDG_DATA_HOME") from None
    with atomic_write(_counts(name), "wb") as file:
        file.write(data)
    with atomic_write(_description(name)) as file:
        json.dump(asdict(named), file, ensure_ascii=False, indent=1)
    return named


def check_free(name: str, *, force: bool) -> None:
    """Raises `UsageError`, before anything is counted, for what is not a name, or one that is taken."""
    check_name(name)
    if not force and os.path.exists(_counts(name)):
        raise UsageError(
            f"there are document frequencies named {name} already ({_in_words(name)}); choose another name, or replace "
            f"them with {option('force', True)}"
        )


def describe(name: str, progress: Progress | None = None) -> NamedFrequencies:
    """The description of a name; a published one is made if it is not here.

    Raises `DataError` if the name is unknown, its files do not belong together, or its source cannot be fetched.
    """
    if not _known(name):
        raise DataError(f"{name}: {_unknown(name)}")
    if not os.path.exists(_counts(name)):
        _make(name, progress)
    again = f"make it again: {_made(name, force=True)}"
    if name in PUBLISHED:
        again = "remove both; then they are made again"
    try:
        fields: dict[str, Any] = json.loads(read_bytes(_description(name)))
        named = NamedFrequencies(**fields)
    except (DataError, ValueError, TypeError):
        raise DataError(f"{_description(name)}: does not say what {_counts(name)} is; {again}") from None
    if checksum_of_file(_counts(name)) != named.checksum:
        raise DataError(f"{_counts(name)}: is not what {_description(name)} describes; {again}")
    return named


def _make(name: str, progress: Progress | None) -> None:
    try:
        frequencies, source = _counted(name, progress)
    except DataError as error:
        raise DataError(
            f"the document frequencies {name} are not in {folder()} yet, and cannot be made: {error}"
        ) from None
    keep(frequencies, name, source=source)


def _counted(name: str, progress: Progress | None) -> tuple[DocumentFrequency, str]:
    """The counts of one of these names, and what they are made of; files are fetched if they are not here.

    Raises `DataError` if a file cannot be fetched, or is not the published one.
    """
    from sacrecap.data.testsets import captions_of, file_of

    if name in PICKLES:
        return DocumentFrequency.import_pickle(file_of(PICKLES[name], progress)), PICKLES[name].url
    split = SPLITS[name.removesuffix(STEMS)]
    return DocumentFrequency.build(captions_of(split, progress), stem=name.endswith(STEMS)), split.summary


def names() -> list[str]:
    """The names that are in this user's folder, sorted."""
    try:
        files = os.listdir(folder())
    except OSError:
        return []
    return sorted(stem for stem, suffix in map(os.path.splitext, files) if suffix == ".df" and _NAME.fullmatch(stem))


def load(name: str, progress: Progress | None = None) -> DocumentFrequency:
    """The counts of that name, memory-mapped. Raises what `describe` raises."""
    named = describe(name, progress)
    frequencies = DocumentFrequency.load(_counts(name))
    frequencies.source = f"{name}@{named.checksum}"  # one user's name is not another's
    return frequencies


def find(text: str, progress: Progress | None = None) -> DocumentFrequency:
    """The frequencies of a file's path or a name; neither hides the other.

    Raises:
        DataError: it is neither, or the file cannot be used.
        UsageError: it is both.
    """
    return load(text, progress) if is_name(text) else DocumentFrequency.load(text)


def chosen(given: object, progress: Progress | None = None) -> DocumentFrequency | None:
    """The frequencies that `document_frequency=` and `--df` take: a `DocumentFrequency`, a name or a path; None for
    `corpus`, the references being scored.

    Raises what `find` raises, and `UsageError` for a value of another type.
    """
    if given is None or isinstance(given, DocumentFrequency):
        return given
    if not isinstance(given, (str, os.PathLike)):
        raise UsageError(
            f"document_frequency must be {CORPUS!r}, a name, the path of a file or a sacrecap.DocumentFrequency, got a "
            f"{type(given).__name__}"
        )
    if given == CORPUS:
        return None
    return find(os.fspath(given), progress)


def all_chosen(given: object, progress: Progress | None = None) -> tuple[DocumentFrequency, ...]:
    """The frequencies of `document_frequency=` and of a repeated `--df`: those of one value, or of several.

    Raises what `chosen` raises, and `UsageError` for `corpus` among several.
    """
    several = given if isinstance(given, (list, tuple)) else [given]
    found = tuple(one for one in (chosen(each, progress) for each in several) if one is not None)
    if len(found) < len(several):
        raise UsageError(f"document_frequency takes {CORPUS!r} alone, or one or several files or names, got {given!r}")
    return found


def is_name(text: str) -> bool:
    """Whether the text is a name, not a file.

    Raises:
        DataError: it could be a name, and is neither a name nor a file.
        UsageError: it is both.
    """
    if not _NAME.fullmatch(text):
        return False
    named, file = _known(text), os.path.exists(text)
    if named and file:
        raise UsageError(
            f"{text} is a file here and the name of document frequencies; write {os.path.join(os.curdir, text)} for "
            "the file, or work in another folder for the name"
        )
    if not named and not file:
        raise DataError(f"{text}: no such file, and {_unknown(text)}")
    return named


def _known(name: str) -> bool:
    return name in PUBLISHED or (_NAME.fullmatch(name) is not None and os.path.exists(_counts(name)))


def _unknown(name: str) -> str:
    import difflib

    known = sorted({*names(), *PUBLISHED})
    near = difflib.get_close_matches(name, known, n=1)
    suggestion = f" (did you mean {near[0]!r}?)" if near else ""
    return f"no document frequencies of this name{suggestion}; names: {', '.join(known)}; make one with {_made('NAME')}"


def _made(name: str, *, force: bool = False) -> str:
    """How document frequencies of a name are made, for messages."""
    quoted = name if name.isupper() else repr(name)
    return spelled(
        python=f"sacrecap.DocumentFrequency.build(references).keep({quoted}{', force=True' if force else ''})",
        command=f"sacrecap df build REFERENCES --name {name}{' --force' if force else ''}",
    )


def _in_words(name: str) -> str:
    """A short description of an existing name, for messages; also works if its files are damaged."""
    try:
        named = describe(name)
    except DataError:
        return "damaged"
    return f"{named.images:,} {'image' if named.images == 1 else 'images'}, from {named.source}"


def _counts(name: str) -> str:
    return os.path.join(folder(), f"{name}.df")


def _description(name: str) -> str:
    return os.path.join(folder(), f"{name}.json")
