"""Document frequencies by what `document_frequency=` and `--df` take: a file, or one of the test sets' entries that are
counts, which is made on first use and kept beside the test sets.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias

from sacrecap.choices import CORPUS
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.data import testsets
from sacrecap.errors import DataError, UsageError, did_you_mean, spelled

if TYPE_CHECKING:
    from sacrecap.data.download import Progress
    from sacrecap.data.testsets import TestSet

FrequencySource: TypeAlias = "DocumentFrequency | str | os.PathLike[str]"
"""Document frequencies, their name, or the path of their file."""


def chosen(source: object, progress: Progress | None = None) -> DocumentFrequency | None:
    """The frequencies that `document_frequency=` and `--df` take: a `DocumentFrequency`, a name or a path; None for
    `corpus`, the references being scored.

    Raises what `find` raises, and `UsageError` for a value of another type.
    """
    if source is None or isinstance(source, DocumentFrequency):
        return source
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError(
            f"document_frequency must be {CORPUS!r}, a name, the path of a file or a sacrecap.DocumentFrequency, got a "
            f"{type(source).__name__}"
        )
    if source == CORPUS:
        return None
    return find(os.fspath(source), progress)


def all_chosen(sources: object, progress: Progress | None = None) -> tuple[DocumentFrequency, ...]:
    """The frequencies of `document_frequency=` and of a repeated `--df`: those of one value, or of several.

    Raises what `chosen` raises, and `UsageError` for `corpus` among several.
    """
    several = sources if isinstance(sources, (list, tuple)) else [sources]
    counts = tuple(frequency for frequency in (chosen(each, progress) for each in several) if frequency is not None)
    if len(counts) < len(several):
        raise UsageError(
            f"document_frequency takes {CORPUS!r} alone, or one or several files or names, got {sources!r}"
        )
    return counts


def find(text: str, progress: Progress | None = None) -> DocumentFrequency:
    """The frequencies of a file's path or a name; neither hides the other.

    Raises:
        DataError: it is neither, the file cannot be used, or the counts of the name cannot be made.
        UsageError: it is both.
    """
    is_name, is_path = text in names(), os.path.exists(text)
    if is_name and is_path:
        raise UsageError(
            f"{text} is a file here and the name of document frequencies; write {os.path.join(os.curdir, text)} for "
            "the file, or work in another folder for the name"
        )
    if is_name:
        return of_set(testsets.TEST_SETS[text], progress)
    if not is_path and not os.path.splitext(text)[1]:  # a file's name has a message of its own
        raise DataError(f"{text}: no such file, and {_unknown(text)}")
    return DocumentFrequency.load(text)


def names() -> list[str]:
    """The names of document frequencies."""
    return [name for name, test_set in testsets.TEST_SETS.items() if test_set.counts is not None]


def of_set(test_set: TestSet, progress: Progress | None = None) -> DocumentFrequency:
    """The counts of an entry, memory-mapped. They are made once, from its file, which is fetched if it is not here.

    Raises `DataError` if the file cannot be fetched, or is not the published one.
    """
    path = testsets.place_of(test_set)
    if not os.path.isfile(path):
        if test_set.counts == "pickle":
            counts = DocumentFrequency.import_pickle(testsets.file_of(test_set.source, progress))
        else:
            counts = DocumentFrequency.build(testsets.captions_of(test_set, progress), stem=test_set.counts == "stems")
        counts.save(path)
    try:
        frequencies = DocumentFrequency.load(path)
    except DataError as error:
        raise DataError(f"{error}; remove it; then it is made again") from None
    frequencies.source = test_set.name
    return frequencies


def _unknown(text: str) -> str:
    counts = spelled(
        python="sacrecap.DocumentFrequency.build(references).save(FILE)", command="sacrecap df build REFERENCES -o FILE"
    )
    question = did_you_mean(text, names())
    return f"no document frequencies of this name{question}; names: {', '.join(names())}; make a file with {counts}"
