"""METEOR 1.5: words aligned with a reference by form, stem, synonym and paraphrase, and how well their order agrees.

Denkowski and Lavie, *Meteor Universal: Language Specific Translation Evaluation for Any Target Language* (WMT 2014),
as the COCO caption evaluation code runs it.

    P = Σ_i w_i (δ m_i(c_content) + (1 − δ) m_i(c_function)) / (δ |c_content| + (1 − δ) |c_function|);  R likewise
    F = P R / (α P + (1 − α) R)
    METEOR = max_j F · (1 − γ (chunks / matches)^β)

Where papers and programs differ: docs/reference/metrics/meteor.md.

For English. The tables (function words, synonyms, paraphrases) are not part of sacrecap: `pip install
'sacrecap[meteor]'` installs them as the package `sacrecap-meteor`, compressed. They are unpacked into a copy in the
user's cache folder, which is mapped into memory. The name of the copy comes from the content, so all environments of a
user share it. It is written to a temporary file and renamed, so two processes may start at once; a damaged copy is made
again; a new copy takes the place of older ones. Where no copy can be written, the tables are unpacked in memory.

To check a copy means to read all of its 65 MB, so it is done when the copy is new, and then once a day. A note beside
the copy says which state of the file was checked: its inode, its size, and the times when its content and its status
last changed; no program on POSIX systems can set back the latter. In any other state it is checked again. The tables
that were opened last stay open until the package's file changes.
"""

from __future__ import annotations

import contextlib
import gzip
import math
import os
import re
import stat
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import starmap
from typing import Any, ClassVar

from sacrecap import _core
from sacrecap._core import METEOR_TASKS
from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import Corpus, tokenize
from sacrecap.data.source import in_cache
from sacrecap.errors import DataError, MissingDependencyError, warn
from sacrecap.metrics.base import Bears, Metric, Ready, Status
from sacrecap.metrics.declared import parameter
from sacrecap.resources.needs import Needs

_TASKS = {task: dict(parameters) for task, parameters in METEOR_TASKS}
"""Parameters by task; the first task is the default."""


def _tuned(meaning: str, most: float | None = 1.0) -> Any:
    return parameter(f"{meaning}; the task's by default", default=None, kind=float, least=0.0, most=most)


class Meteor(Metric):
    """METEOR with the parameters of a `task`; each can be replaced."""

    task: str = parameter(
        "what the parameters were tuned for: rank (the default of the program and of the COCO suite), adq (adequacy), "
        "hter (edit rate) or li (for any language)",
        default="rank",
        choices=tuple(_TASKS),
    )
    alpha: float = _tuned("weight of recall in F")
    beta: float = _tuned("exponent of the fragmentation", most=None)
    gamma: float = _tuned("largest penalty for fragmentation")
    delta: float = _tuned("weight of content words; function words weigh 1 − delta")
    exact: float = _tuned("weight of words of the same form")
    stem: float = _tuned("weight of words of the same stem")
    synonym: float = _tuned("weight of words of a common WordNet synonym set")
    paraphrase: float = _tuned("weight of phrases of the paraphrase table")

    title = "METEOR"
    summary = "The candidate's words match a reference's, also as synonyms and paraphrases, in order."
    equation = "METEOR = max_j F · (1 − γ (chunks/matches)^β),  F = P R / (α P + (1 − α) R)"
    source = "Denkowski and Lavie, WMT 2014; METEOR 1.5; COCO caption evaluation"
    cites = ("denkowski2014meteor",)
    upper = 1.0
    needs = ("references",)
    explains = "alignment"
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0", "empty reference": "0", "no word in common": "0"}
    bears = Bears(0.3, math.inf, 0.7)

    def complete(self) -> None:
        """Fills in the task's parameters; the checks refuse unknown names."""
        values: dict[str, Any] = vars(self)
        task = values["task"] if isinstance(values["task"], str) else ""
        for name, value in _TASKS.get(task, _TASKS["rank"]).items():
            values[name] = value if values[name] is None else values[name]

    def status(self, needs: Needs) -> Status:  # noqa: ARG002
        if missing() is None:
            return Status()
        return Status("not installed", "its tables are not installed; pip install 'sacrecap[meteor]'")

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:  # noqa: ARG002
        """Takes METEOR's tables."""
        tables = load()
        return Ready(corpus._core, (tables,), (f"tables:{tables.checksum:08x}",), own=tables)

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Alignment | None:
        """The alignment of the image's candidate with its best reference; None for an image without words."""
        candidates, references = corpus.texts(corpus.image_ids[image])
        return self._aligned(ready.own, candidates[0], references)

    @property
    def largest(self) -> float | None:
        return max(self.exact, self.stem, self.synonym, self.paraphrase)

    def explain(self, candidate: str, references: Sequence[str], *, tokenizer: Tokenizer = "ptb") -> Alignment | None:
        """Shows which words of the candidate were matched with which words of its best reference, and how; printable.

        None without references. Raises `MissingDependencyError` without METEOR's tables.
        """
        texts = [" ".join(tokens) for tokens in tokenize([candidate, *references], tokenizer=tokenizer)]
        return self._aligned(load(), texts[0], texts[1:])

    def _aligned(self, tables: _core.MeteorTables, candidate: str, references: Sequence[str]) -> Alignment | None:
        """The alignment of tokenised sentences; None without references."""
        aligned = tables.explain(candidate, references, [getattr(self, name) for name in _TASKS["rank"]])
        if aligned is None:
            return None
        number, tokens, reference, links, (precision, recall, mean, penalty, score), chunks = aligned
        sides = tuple(tokens), tuple(reference)
        return Alignment(number, *sides, tuple(starmap(Link, links)), precision, recall, mean, penalty, score, chunks)


@dataclass(frozen=True)
class Link:
    """A match of tokens of the candidate with tokens of the reference. Spans are (start, end)."""

    module: str
    """exact, stem, synonym or paraphrase."""
    candidate: tuple[int, int]
    reference: tuple[int, int]


@dataclass(frozen=True)
class Alignment:
    """A candidate and its best reference, token by token. `print` draws it."""

    number: int
    """The reference's number among those given, from 0."""
    candidate: tuple[str, ...]
    reference: tuple[str, ...]
    links: tuple[Link, ...]
    """Matches, in the order of the reference."""
    precision: float
    recall: float
    mean: float
    """F: the harmonic mean of precision and recall, weighted by α."""
    penalty: float
    """Share of F that is lost by fragmentation."""
    score: float
    chunks: int
    """Runs of matches that are contiguous and in order on both sides."""

    def __str__(self) -> str:
        chunks: list[int] = []
        pairs: dict[str, list[str]] = {}
        ends = None
        for link in self.links:
            chunks.append((chunks or [0])[-1] + (ends != (link.candidate[0], link.reference[0])))
            ends = link.candidate[1], link.reference[1]
            mine = " ".join(self.candidate[slice(*link.candidate)])
            theirs = " ".join(self.reference[slice(*link.reference)])
            pairs.setdefault(link.module, []).append(mine if mine == theirs else f"{mine} = {theirs}")
        formula = f"{self.score:.4f} = F {self.mean:.4f} · (1 − penalty {self.penalty:.4f})"
        parts = f"P {self.precision:.4f}, R {self.recall:.4f}, {self.chunks} chunk{'s' * (self.chunks != 1)}"
        lines = [
            f"candidate  {_bracketed(self.candidate, [link.candidate for link in self.links], chunks)}",
            f"reference  {_bracketed(self.reference, [link.reference for link in self.links], chunks)}",
            *(f"{module:<10} {', '.join(matched)}" for module, matched in pairs.items()),
            f"score      {formula};  {parts}",
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return asdict(self)


def _bracketed(tokens: Sequence[str], spans: list[tuple[int, int]], chunks: list[int]) -> str:
    """The sentence with each chunk in brackets with its number: `[1 a] man is [2 riding a horse]`."""
    chunk_of = {position: chunk for span, chunk in zip(spans, chunks, strict=True) for position in range(*span)}
    text = list(tokens)
    for position, chunk in chunk_of.items():
        opens, closes = (chunk_of.get(place) != chunk for place in (position - 1, position + 1))
        text[position] = f"{f'[{chunk} ' * opens}{tokens[position]}{']' * closes}"
    return " ".join(text)


PACKAGE = "sacrecap_meteor"
FILE = "english.tables.gz"

_COPY = r"meteor-(?P<version>\d+)-[0-9a-f]{16}\.tables"
"""The name of a copy: version of the file's format, content of the package's file."""


def missing() -> str | None:
    """Explains why METEOR's tables are not available and what to do; None if they are available."""
    try:
        packed_file()
    except MissingDependencyError as error:
        return str(error)
    return None


def packed_file() -> str:
    """The path of the compressed tables. Raises `MissingDependencyError` where the package is not installed."""
    package = find_spec(PACKAGE)  # located, not imported: it is data alone
    if package is None or not package.submodule_search_locations:
        raise MissingDependencyError("METEOR", extra="meteor")
    return os.path.join(next(iter(package.submodule_search_locations)), "data", FILE)


def load() -> _core.MeteorTables:
    """The tables: those that are open, else those in a copy that is good, else unpacked.

    Raises `MissingDependencyError` without sacrecap-meteor, `DataError` if its file is damaged or of another version.
    """
    path = packed_file()
    with _reading(path):
        status = os.stat(path)
    state = f"{path} {status.st_size} {status.st_mtime_ns}"
    if state in _open:
        return _open[state]
    with _reading(path), open(path, "rb") as file:
        file.seek(-8, os.SEEK_END)  # a gzip file ends with the CRC-32 and the length of what is in it
        content = file.read().hex()
    copy = in_cache(f"meteor-{_core.MeteorTables.VERSION}-{content}.tables")
    tables = _copied(copy)
    if tables is None:
        with _reading(path), gzip.open(path) as packed:
            unpacked = packed.read()
        try:
            tables = _core.MeteorTables(unpacked)
        except DataError as error:
            raise DataError(f"{path}: {error}; install sacrecap and sacrecap-meteor again") from error
        with contextlib.suppress(OSError, DataError):  # unpacking takes a third of a second: nothing to warn of
            _keep(tables, copy)
    _open.clear()
    _open[state] = tables
    return tables


_open: dict[str, _core.MeteorTables] = {}
"""The open tables, by the state of the package's file.

No lock: if two threads come first at the same time, both open the tables, and one result is kept. A forked process
shares the memory of its parent.
"""


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    """Turns the errors of a damaged installation into a `DataError` that says so."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: METEOR's tables cannot be read: {error}; install them again") from error


def _copied(copy: str) -> _core.MeteorTables | None:
    """The tables in the copy; None if it is not there, may not be read, or is damaged."""
    try:
        status = os.stat(copy)
        is_checked = _was_checked(copy, status)
        tables = _core.MeteorTables.load(copy, known_good=is_checked)
    except OSError:
        return None
    except DataError as error:
        warn(f"{error}; METEOR's tables are made again")
        return None
    # Not of a copy that may have changed since without a change of its times.
    if not is_checked and time.time() - max(status.st_mtime, status.st_ctime) > _TICK:
        with contextlib.suppress(OSError), open(copy + _NOTE, "w", encoding="ascii") as note:
            note.write(_described(status))
    return tables


_NOTE = ".checked"
"""What the name of the note has after the name of its copy."""
_TICK = 2
"""Seconds in which a file may change twice without a change of its times: FAT counts them in twos."""


def _was_checked(copy: str, status: os.stat_result) -> bool:
    """Whether the copy was checked today, in this state."""
    try:
        with open(copy + _NOTE, encoding="ascii", errors="replace") as note:
            age = abs(time.time() - os.fstat(note.fileno()).st_mtime)
            return note.read() == _described(status) and age < 24 * 60 * 60
    except OSError:
        return False


def _described(status: os.stat_result) -> str:
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}\n"


def _keep(tables: _core.MeteorTables, copy: str) -> None:
    """Writes the copy, then removes those whose place it takes. Raises `OSError` or `DataError`."""
    from sacrecap.data.writers import atomic_write

    folder, name = os.path.split(copy)
    os.makedirs(folder, exist_ok=True)
    with atomic_write(copy, "wb") as file:
        file.write(tables.to_bytes())
    new = re.fullmatch(_COPY, name)
    for older in os.listdir(folder):
        old, place = re.fullmatch(_COPY, older), os.path.join(folder, older)
        # A newer format stays: the installation that reads it would write it again, and remove this one.
        if older == name or not (new and old and int(old["version"]) <= int(new["version"])):
            continue
        # Windows does not remove a file that a process has mapped. It stays until the next copy is written.
        with contextlib.suppress(OSError):
            if not stat.S_ISREG(os.lstat(place).st_mode):  # nothing else of such a name
                continue
            with open(place, "rb") as old_file:
                is_ours = old_file.read(8) == b"sacre\0me"  # how each file of tables begins
            if is_ours:
                os.remove(place)
                os.remove(place + _NOTE)
